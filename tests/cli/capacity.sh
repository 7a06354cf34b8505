#!/bin/bash
# stint capacity: the fewest devices that meet a target.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

stint trace synth --jobs 150 --load 1.2 --seed 5 --cluster 4x8:v100 --quiet >trace.csv

# A case that can be counted: ten jobs of two devices at once, an hour each.
{
	echo id,gpus,arrival_s,duration_s
	for i in $(seq 10); do echo "j$i,2,0,3600"; done
} >ten.csv
one() {
	run stint capacity ten.csv --resample no --seeds 11 --types 2:v100 --json --quiet "$@"
}
nodes() {
	grep -o '"nodes": [0-9]*' stdout | head -n 1
}
one --target "p99 wait < 1s"
want 0 "nobody waits"
is "with ten nodes of two" [ "$(nodes)" = '"nodes": 10' ]
one --target "p99 wait <= 1h"
is "one after another on five" [ "$(nodes)" = '"nodes": 5' ]
one --target "mean wait < 3h"
is "four after another on three: a mean of 1.2 h" [ "$(nodes)" = '"nodes": 2' ]
one --target "makespan <= 10h"
is "one node has them all in ten hours" [ "$(nodes)" = '"nodes": 1' ]
one --target "p99 wait < 1s" --cluster 4x2:v100 --keep
is "beside four there must be six more" [ "$(nodes)" = '"nodes": 6' ]
one --target "p99 wait < 10h" --cluster 4x2:v100 --keep
is "or none" [ "$(nodes)" = '"nodes": 0' ]

run stint capacity trace.csv --types v100,4:a100 --target "p90 wait < 30min" --html c.html
want 0 "two types"
out '^v100 +[0-9]+x8 ' "nodes of eight where nobody says otherwise"
out '^a100 +[0-9]+x4 ' "nodes of four where somebody does"
out 'cheapest' "and the cheapest of them"
out 'per hour meet p90 wait < 30m' "in a sentence"
out 'in nine of ten of 11 seeds' "how sure that is"
out ' ok ' "and the curve"
err 'v100: [0-9]+ nodes?, p90 wait' "it says what it tries"
err 'the same on every type' "and that types are alike here"
is "a page" grep -q 'Sizes that were tried' c.html
cp stdout first
run stint capacity trace.csv --types v100,4:a100 --target "p90 wait < 30min" --threads 1 --quiet
is "the same on one thread" cmp -s stdout first
run stint capacity trace.csv --types v100,a100 --price a100=0.5 --target "p90 wait < 30min" --json --quiet
is "JSON of its schema" valid_json stdout capacity/1
out '"cheapest": "a100"' "prices decide"
is "--quiet says nothing" empty stderr

devices() { # TYPE
	grep -A 6 "\"type\": \"$1\"" stdout | sed -n 's/.*"devices": \([0-9]*\).*/\1/p' | head -n 1
}
run stint capacity trace.csv --types v100,k80 --measured-on v100 --target "p90 wait < 30min" --json --quiet
is "slower devices are needed in larger numbers" [ "$(devices k80)" -gt "$(devices v100)" ] 2>/dev/null
run stint capacity trace.csv --cluster 4x8:v100 --types v100,a100 --target "p90 wait < 30min"
is "where there is a cluster, run times are those on it" [ "$(grep -c 'same on every type' stderr)" = 0 ]

# targets that cannot be met say what can
fails_with_table() { # REGEX WHAT COMMAND...
	local regex=$1 what=$2
	shift 2
	run "$@"
	[ "$code" = 5 ] && grep -Eq -- "$regex" stdout
	report $? "$what"
}
fails_with_table 'p90 JCT is .* though nobody waits' "jobs take as long as they take" \
	stint capacity trace.csv --types v100 --target "p90 jct < 1s"
fails_with_table 'needed for the rest, and then utilisation is' "targets that contradict each other" \
	stint capacity trace.csv --types v100 --target "p99 wait < 1min and utilisation > 95%"
fails_with_table 'with 2 nodes; --most allows more' "a bound that is too low" \
	stint capacity trace.csv --types v100 --target "p99 wait < 1s" --most 2
printf 'id,gpus,arrival_s,duration_s,types\na,1,0,10,v100\n' >typed.csv
fails_with_table '1 of 1 jobs cannot run' "jobs that name another type" \
	stint capacity typed.csv --types a100 --target "wait < 1h"

fails 2 'what shall be reached' "no target" stint capacity trace.csv --types v100
fails 2 'which devices may be bought' "no types" stint capacity trace.csv --target "wait < 1h"
fails 2 'no max of wait' "a figure that is not there" stint capacity trace.csv --types v100 --target "max wait < 1h"
fails 2 'did you mean a100' "an unknown type" stint capacity trace.csv --types a1000 --target "wait < 1h"
fails 2 'TYPE=PER_HOUR' "no price" stint capacity trace.csv --types v100 --target "wait < 1h" --price v100
fails 2 'not among those' "a price of another type" stint capacity trace.csv --types v100 --target "wait < 1h" --price a100=2
fails 2 'one --policy' "two policies" stint capacity trace.csv --types v100 --target "wait < 1h" --policy fifo --policy las
fails 2 'no cluster is given' "--keep without a cluster" stint capacity trace.csv --types v100 --target "wait < 1h" --keep
finish
