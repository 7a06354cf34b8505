#!/bin/bash
# stint compare: the same at any number of threads, seeds that mean something.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

stint trace synth --jobs 150 --load 1.1 --seed 5 --cluster 4x8:v100 >trace.csv
cluster=(--cluster 4x8:v100)
policies=(--policy 'fifo,srtf,las' --policy tiresias:queues=2)

run stint compare trace.csv "${cluster[@]}" "${policies[@]}"
want 0 "compare runs"
for policy in fifo srtf las tiresias:queues=2; do
	out "^$policy " "the table has $policy"
done
err 'one seed' "one seed is said to give no intervals"

one() {
	rm -rf runs
	run stint compare trace.csv "${cluster[@]}" "${policies[@]}" --seeds 4 --out runs --html report.html "$@"
}
for threads in 1 2 3; do
	one --threads $threads
	want 0 "compare on $threads thread(s)"
	cp stdout table$threads && mv runs runs$threads && mv report.html report$threads.html
	rm -f runs$threads/*/summary.json # it has CPU times
done
err 'seed 0 is the trace itself; 3 more resample it' "it says what seeds do to a fixed trace"
is "two threads print the same table" cmp -s table1 table2
is "three threads print the same table" cmp -s table1 table3
is "two threads write the same files" diff -r runs1 runs2
is "three threads write the same files" diff -r runs1 runs3
is "two threads write the same report" cmp -s report1.html report2.html
is "there is a directory for each run" [ "$(find runs1 -name events.jsonl | wc -l)" = 16 ]
is "compare.json is JSON" valid_json runs1/compare.json compare/1
is "the report says what the seeds are" grep -q 'moving-block bootstrap' report1.html
is "the first seed is the trace itself" cmp -s <(cut -d, -f1 runs1/fifo-seed0/jobs.csv | sort) \
	<(sed 's/,.*//' trace.csv | sort)
is "another seed is another workload" [ "$(cut -d, -f6 runs1/fifo-seed0/jobs.csv)" != \
	"$(cut -d, -f6 runs1/fifo-seed1/jobs.csv)" ]
is "policies see the same workload" cmp -s <(cut -d, -f1,6 runs1/fifo-seed2/jobs.csv) \
	<(cut -d, -f1,6 runs1/srtf-seed2/jobs.csv)
run stint replay runs1/las-seed3
want 0 "a resampled run replays"

for form in json csv markdown; do
	run stint compare trace.csv "${cluster[@]}" --policy fifo,las --seeds 2 --$form --threads 1
	want 0 "compare --$form"
	cp stdout first
	run stint compare trace.csv "${cluster[@]}" --policy fifo,las --seeds 2 --$form --threads 2
	is "compare --$form is the same on two threads" cmp -s stdout first
done
run stint compare trace.csv "${cluster[@]}" --policy fifo,las --json --quiet
is "compare --json is JSON of its schema" valid_json stdout compare/1
is "--quiet says nothing" empty stderr

run stint compare trace.csv "${cluster[@]}" --policy fifo,srtf --seeds 3 --error 0.5
err 'change errors, failures and random choices' "seeds draw errors anew"
run stint compare trace.csv "${cluster[@]}" --policy fifo,srtf --seeds 3 --error 0.5 --resample yes
err 'resample it' "--resample yes resamples all the same"
run stint compare synth:jobs=60 "${cluster[@]}" --policy fifo,srtf --seeds 3 --out drawn
err 'draw 3 workloads' "seeds draw a generated workload anew"
run stint replay drawn/srtf-seed2
want 0 "a drawn run replays"
run stint compare synth:jobs=60,seed=7 "${cluster[@]}" --policy fifo --seeds 2 --out named
is "a named seed counts on" grep -q 'seed=8' named/fifo-seed1/manifest.json

# a terminal gets a bar on standard error and colours, unless they are not wanted
if command -v script >/dev/null; then
	on_terminal() { # ENVIRONMENT
		run env TERM=xterm "$1" script -qec "'$STINT' compare synth:jobs=60000 --cluster 4x8:v100 --policy fifo,las" /dev/null
	}
	on_terminal NO_COLOR=
	want 0 "compare on a terminal"
	out 'comparing \[' "shows a progress bar"
	out $'\033\\[1' "and colours"
	on_terminal NO_COLOR=1
	is "NO_COLOR turns them off" [ "$(grep -c $'\033\\[[0-9;]*m' stdout)" = 0 ]
else
	echo "skip - what a terminal gets: script(1) is not installed"
fi

# a failure in one policy leaves nothing
run stint compare trace.csv "${cluster[@]}" --policy fifo,tiresia --out nothing
want 2 "one bad policy stops all before anything runs"
is "nothing was written" [ ! -e nothing ]

stint trace synth --jobs 300000 --load 3 --cluster 4x8:v100 --out big.csv --quiet
interrupt 'stopped/.*/events*' "$STINT" compare big.csv "${cluster[@]}" --policy las,srtf --out stopped
if [ "$code" = 0 ]; then
	echo "skip - the comparison was over before it could be interrupted"
else
	want 130 "an interrupted comparison has exit code 130"
	is "it leaves nothing" [ ! -e stopped ]
fi

finish
