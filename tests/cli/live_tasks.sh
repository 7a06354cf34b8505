#!/bin/bash
# Pipelines and labels with real jobs: dependencies of all kinds, chains in explain, the policies that
# look ahead, memory from what earlier jobs had.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

state_of() { # JOB
	"$STINT" show "$1" --json | sed -n 's/^ *"state": "\([A-Z_]*\)".*/\1/p' | head -n 1
}

is "a daemon answers" daemon_start --slots 4 --no-cgroups
waits='until [ -e go ]; do sleep 0.05; done'

# ---- a diamond, and a chain behind it
submit -J root -- sh -c "$waits"
root=$job
submit -J left -d "afterok:$root" -- sh -c 'echo left >>order'
left=$job
submit -J right -d "afterany:$root" -- sh -c 'echo right >>order; exit 3'
right=$job
submit -J sink -d "afterok:$left,afterany:$right" -- sh -c 'echo sink >>order'
sink=$job
submit -J after-bad -d "afternotok:$right" -- sh -c 'echo bad >>order'
bad=$job
submit -J never -d "afterok:$right" -- sh -c 'echo never >>order'
never=$job
submit -J started -d "after:$root" -- sh -c 'echo started >>early'
started=$job
submit -J tail -d "afterok:$sink" -- sh -c 'echo tail >>order'
tail=$job

run stint explain "$tail"
out "it follows job $sink, which has not ended: $tail after $sink after ($left|$right) after $root, which runs" \
	"explain names the open dependency and the whole chain"
run stint explain "$left"
out "it follows job $root, which has not ended" "and the one where there is but one"
run stint wait "$started"
want 0 "who waits for a start needs no end"
is "nobody else has begun" [ ! -e order ]

# ---- the policies that look ahead run it
run stint policy set moldable
want 0 "moldable takes over"
fails 3 "there is no job 9999" "a dependency must be there: so no circle can come in" \
	stint submit -d afterok:9999 -- true
touch go
run stint wait "$tail" "$bad"
want 0 "the rest follows"
is "in order" [ "$(grep -vc bad order)" = 4 ]
is "what follows both comes after both" [ "$(grep -v bad order | tail -n 2 | xargs)" = "sink tail" ]
is "afternotok ran, as it failed" grep -q bad order
is "afterok of it did not" [ "$(grep -c never order)" = 0 ]
run stint explain "$never"
out "dependency|never|can never" "and that is said"
run stint cancel "$never"
rm -f go order

run stint policy set ursa:order=srjf
want 0 "ursa takes over"
submit -J u1 -- sh -c 'echo 1 >>order'
submit -J u2 -d "afterok:$job" -- sh -c 'echo 2 >>order'
submit -J u3 -d "afterok:$job" -- sh -c 'echo 3 >>order'
run stint wait "$job"
want 0 "and runs a chain"
is "link by link" [ "$(xargs <order)" = "1 2 3" ]
run stint policy set fifo

# ---- labels
eat='x=$(head -c ${1}000000 /dev/zero | tr "\\0" x); sleep 0.6; test ${#x} = ${1}000000'
for _ in 1 2 3; do
	submit -J eater --mem auto:3 -- sh -c "$eat" sh 40
	run stint wait "$job"
	want 0 "a run to learn from"
done
run stint show "$job" --json
most=$(sed -n 's/^ *"mem_most": \([0-9]*\).*/\1/p' stdout)
mem=$(sed -n 's/^ *"mem_bytes": \([0-9]*\).*/\1/p' stdout)
is "these had the whole machine" [ -n "$mem" -a "$mem" = "$most" ]
submit -J eater --mem auto:3 -- sh -c "$eat" sh 40
run stint show "$job" --json
label=$(sed -n 's/^ *"mem_bytes": \([0-9]*\).*/\1/p' stdout)
is "the next gets what they had: $label bytes" [ "$label" -gt 40000000 -a "$label" -lt 400000000 ]
run stint wait "$job"
want 0 "which is enough"
# The first attempt stays until it is seen that it has too much.
submit -J eater --mem auto:3 -- sh -c "$eat; [ \$STINT_ATTEMPT -gt 1 ] || sleep 1000" sh 200
large=$job
run stint wait "$large"
want 0 "one that needs more completes all the same"
run stint show "$large" --json
out '"attempts": 2|"attempt": 2' "at its second attempt"
out "\"mem_bytes\": $most" "with the largest"
run stint show "$large"
out 'had 0\.[0-9]+ GiB of memory and may have 0\.[0-9]+' "and that is said"
submit -J other --mem auto -- true
run stint show "$job" --json
out "\"mem_bytes\": $most" "another name has its own history"
run stint wait "$job"
fails 2 "auto:N" "a number of runs must be one" stint submit --mem auto:x -- true

# ---- what was decided can be decided again
run stint replay "$STINT_STATE"
want 0 "the record replays"

finish
