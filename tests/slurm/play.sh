#!/bin/bash
# The bridge without a Slurm: its options, and a recorded conversation played again.
# shellcheck disable=SC2317 # functions are called by is
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"
need_bridge
talk=$here/day.talk

run "$bridge" --version
out '^stint-slurm [0-9.]+ \(protocol 1, Slurm [0-9.]+\)$' "which it is"
run "$bridge" --help
want 0 "what it is for"
for option in rate timeout record play; do
	out "^  --$option " "--$option is told of"
done
fails 2 'rate 0: a number from 1' "a rate of nothing" "$bridge" --rate 0
fails 2 'timeout soon: a number' "a time that is none" "$bridge" --timeout soon
fails 2 'no words are wanted' "a word too many" "$bridge" now
fails 2 'help' "an option too many" "$bridge" --fast
fails 1 'cannot read nowhere' "a recording that is not there" "$bridge" --play nowhere
fails 1 'cannot write nowhere/x' "a record that cannot be" "$bridge" --record nowhere/x
is "it links nothing of Stint's" [ -z "$(ldd "$bridge" | grep -iE 'clp|cbc|qhull|sqlite')" ]

# ---- as it was

sed -n 's/^> //p' "$talk" >requests
sed -n 's/^< //p' "$talk" >answers
play() { # REQUESTS
	last="--play <$1" code=0
	"$bridge" --play "$talk" <"$1" >stdout 2>stderr || code=$?
}
same() { # ANSWERS: as JSON
	python3 -c 'import json, sys
a, b = ([json.loads(line) for line in open(name)] for name in ("stdout", sys.argv[1]))
sys.exit(a != b)' "$1"
}
play requests
want 0 "a recording is played"
is "and is what was said" same answers
sed 's/"id": [0-9]*/"id": "x"/' requests >others
sed 's/"id":[0-9]*/"id":"x"/' answers >others.answers
play others
is "whoever asks" same others.answers
sed 's/7c1e/9999/g; s/"since": [1-9][0-9]*/"since": 5/' requests >later
play later
is "and whatever keys and times are today" same answers
printf '%s\n' '{"id":1,"op":"dance"}' '{"id":2,"op":"ping"}' '{"id":3,"op":"ping"}' '{"id":4,"op":"ping"}' 'nonsense' >few
play few
is "each answer is given once, in order" [ "$(sed 's/,"kind.*/}/' stdout | tr -d '\n')" = \
	'{"ok":false}{"id":2,"ok":true}{"id":3,"ok":false}{"ok":false}{"ok":false}' ]

finish
