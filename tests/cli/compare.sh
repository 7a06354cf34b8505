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

# where it goes: an earlier comparison is replaced whole, anything else is not
run stint compare trace.csv "${cluster[@]}" --policy fifo,las --seeds 2 --out again --html again/report.html
want 0 "a comparison with its report inside"
is "which is there" test -s again/report.html
run stint compare trace.csv "${cluster[@]}" --policy srtf --out again/
want 0 "a comparison replaces an earlier one"
err 'replaced the earlier comparison in again' "and says so"
is "nothing of it stays" [ "$(echo again/*)" = "again/compare.json again/srtf" ]
run stint compare trace.csv "${cluster[@]}" --policy srtf --out again --quiet
is "--quiet does not say so" empty stderr
is "compare.json ends its last line" [ -z "$(tail -c 1 again/compare.json)" ]
mkdir void precious && echo data >precious/thesis.txt
run stint compare trace.csv "${cluster[@]}" --policy fifo --out void/
want 0 "an empty directory is fine"
fails 4 "precious.*thesis.txt.*another directory" "a directory with something else is refused" \
	stint compare trace.csv "${cluster[@]}" --policy fifo --out precious
is "and left alone" [ "$(ls -A precious)" = thesis.txt ]
fails 4 "not a comparison" "so is one with a single run" stint compare trace.csv "${cluster[@]}" --out again/srtf
fails 2 "report.html" "another report inside" stint compare trace.csv "${cluster[@]}" --out again --html again/x.html
fails 3 "is a comparison: name one of its 1 runs, such as again/srtf" "replay of a comparison names its runs" \
	stint replay again

# several placers: every policy with each
run stint compare trace.csv "${cluster[@]}" --policy fifo,las --placer first-fit,spread --out placers
want 0 "several placers"
for label in 'fifo / first-fit' 'las / first-fit' 'fifo / spread' 'las / spread'; do
	out "^$label " "the table has $label"
done
run stint replay placers/las_spread
want 0 "such a run replays"
fails 2 "did you mean|no placer 'nobody'" "an unknown one among several" \
	stint compare trace.csv "${cluster[@]}" --placer first-fit,nobody
fails 2 "placer spread.* is given twice" "one placer twice" \
	stint compare trace.csv "${cluster[@]}" --placer spread --placer spread

# the width of the table
widest() {
	awk '{ if (length > most) most = length } END { print most }' stdout
}
wide=(stint compare trace.csv "${cluster[@]}" --policy 'fifo,srtf,las,gittins' --seeds 3 --quiet)
run "${wide[@]}"
is "a table in a file is not wider than 120" [ "$(widest)" -le 120 ]
out '^no room for: ' "and says what it left out"
COLUMNS=90 run "${wide[@]}"
is "COLUMNS makes it narrower" [ "$(widest)" -le 90 ]
COLUMNS=400 run "${wide[@]}"
is "or wider" [ "$(widest)" -gt 120 ]
is "and then there is room" [ "$(grep -c '^no room' stdout)" = 0 ]

# jobs that can never run
printf 'id,gpus,arrival_s,duration_s\nbig,64,0,10\nsmall,1,0,10\n' >mixed.csv
run stint compare mixed.csv "${cluster[@]}" --policy fifo,las --out mixed
want 5 "a refused job in any run has exit code 5"
err 'fifo: 1 of 2 jobs can never run' "which says how many"
is "the results are written" test -s mixed/compare.json
printf 'id,gpus,arrival_s,duration_s\na,1,0,100\n' >one.csv
run stint compare one.csv "${cluster[@]}" --policy fifo,las --until 10
want 0 "a job that time ran out for is no failure"
err 'up to 1 job of a run had not ended when time ran out' "but is told of"

# a failure in one policy leaves nothing
run stint compare trace.csv "${cluster[@]}" --policy fifo,tiresia --out nothing
want 2 "one bad policy stops all before anything runs"
is "nothing was written" [ ! -e nothing ]

stint trace synth --jobs 300000 --load 3 --cluster 4x8:v100 --out big.csv --quiet
interrupt '.stopped*/*/events*' "$STINT" compare big.csv "${cluster[@]}" --policy las,srtf --out stopped
if [ "$code" = 0 ]; then
	echo "skip - the comparison was over before it could be interrupted"
else
	want 130 "an interrupted comparison has exit code 130"
	is "it leaves nothing" [ -z "$(find . -maxdepth 1 -name '*stopped*')" ]
fi

finish
