#!/bin/bash
# stint rounds: which length of rounds is best.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

stint trace synth --jobs 60 --load 1.5 --seed 3 --cluster 2x4:v100,2x4:p100 >trace.csv
cluster=(--cluster "2x4:v100,2x4:p100")

run stint rounds trace.csv "${cluster[@]}" --policy gavel:objective=max-min --rounds 60,10m,1h
want 0 "rounds tries lengths"
out '^gavel:objective=max-min on 2x4:v100,2x4:p100; trace.csv' "it says what and where"
out '^round +mean JCT +makespan' "there is a table"
for length in 60 360 600 3600; do
	out "^ *$length +[0-9]" "with a row for rounds of $length s"
done
is "and for no others" [ "$(grep -Ec '^ *[0-9]+ +[0-9]' stdout)" = 4 ]
out ' 360 .*own$' "the policy's own length is there, and named"
out '^60 s +.*[0-9]$' "there is a curve"
out '^Rounds of [0-9]+ s give the least mean completion time' "it says which is best"
is "nothing on standard error" empty stderr

run stint rounds trace.csv "${cluster[@]}"
out '^gavel on ' "without --policy it is gavel"
is "with seven lengths" [ "$(grep -Ec '^ *[0-9]+ +[0-9]' stdout)" = 7 ]
run stint rounds trace.csv "${cluster[@]}" --policy gavel:round_s=90 --rounds 60,60,1m
is "a length given twice is one" [ "$(grep -Ec '^ *[0-9]+ +[0-9]' stdout)" = 2 ]
out ' 90 .*own$' "the policy's own is what it was given"
run stint rounds trace.csv "${cluster[@]}" --policy srtf --rounds 1h
want 0 "any policy with round_s will do"

# costs, and what stint sim says of the same
run stint rounds trace.csv "${cluster[@]}" --rounds 60,360 --resume-cost 60 --json
is "rounds --json is JSON" valid_json stdout rounds/1
is "with nothing on standard error" empty stderr
for key in own_round_s best gain p close_from_s makespan_round_s rounds seeds overhead_gpu_s idle_gpu_s; do
	out "\"$key\":" "it has $key"
done
cp stdout first.json
if command -v python3 >/dev/null; then
	stint sim trace.csv "${cluster[@]}" --policy gavel:round_s=60 --resume-cost 60 --json >sim.json
	is "its figures are those of stint sim" python3 - first.json sim.json <<'EOF'
import json, sys
d, s = (json.load(open(f)) for f in sys.argv[1:])
point = d["rounds"][0]
assert point["round_s"] == 60
for key in "jct_mean_s", "makespan_s", "preemptions", "overhead_gpu_s", "utilisation":
    assert point[key]["mean"] == s[key], key
least = min(d["rounds"], key=lambda p: p["jct_mean_s"]["mean"])
assert d["best"]["round_s"] == least["round_s"]
assert d["rounds"][0]["overhead_gpu_s"]["mean"] > 0
EOF
fi
for threads in 1 3; do
	run stint rounds trace.csv "${cluster[@]}" --rounds 60,360 --resume-cost 60 --json --threads "$threads"
	is "the same bytes with --threads $threads" cmp -s stdout first.json
done

# several workloads
run stint rounds trace.csv "${cluster[@]}" --rounds 60,1h --seeds 3
want 0 "rounds --seeds"
out '^means of 3 workloads: the trace, and resamples of it' "it says what the seeds are"
is "and does not ask for seeds again" [ "$(grep -c -e '--seeds 10' stdout)" = 0 ]
run stint rounds synth:jobs=20 "${cluster[@]}" --rounds 60,1h --seeds 3 --json
want 0 "with a generator they are draws"
is "also as JSON" valid_json stdout rounds/1

# files
run stint rounds trace.csv "${cluster[@]}" --rounds 60,1h --svg curve.svg --html curve.html
want 0 "rounds --svg --html"
err '^wrote curve.svg$' "it says what it wrote"
is "the curve is SVG" grep -q '^<svg xmlns=' curve.svg
is "with a title and a description" grep -q '<title id="above-t">.*<desc id="above-d">Rounds of' curve.svg
is "the page is a page" grep -qi '<!doctype html' curve.html
is "it names the command that gives it again" grep -q 'stint rounds trace.csv --rounds 60,1h --cluster' curve.html
fails 1 "nowhere" "a path that cannot be written" \
	stint rounds trace.csv "${cluster[@]}" --svg nowhere/curve.svg

# what is wrong
fails 2 "fifo has no rounds.*these do: .*gavel" "a policy without rounds" \
	stint rounds trace.csv "${cluster[@]}" --policy fifo
fails 2 "did you mean 'gavel'" "a slip of a name" \
	stint rounds trace.csv "${cluster[@]}" --policy gavl
fails 2 "one policy and 2 are given" "two policies" \
	stint rounds trace.csv "${cluster[@]}" --policy gavel,isolated
fails 2 "one placer and 2 are given" "two placers" \
	stint rounds trace.csv "${cluster[@]}" --placer first-fit,best-fit
fails 2 "'soon' is no length" "a length that is none" \
	stint rounds trace.csv "${cluster[@]}" --rounds 60,soon
fails 2 "'' is no length" "a length that is missing" \
	stint rounds trace.csv "${cluster[@]}" --rounds 60,,90
fails 2 "'0' is no length" "no length" stint rounds trace.csv "${cluster[@]}" --rounds 0
fails 2 "wants LIST" "an empty list" stint rounds trace.csv "${cluster[@]}" --rounds ""
fails 2 "out of range" "a length that the policy does not take" \
	stint rounds trace.csv "${cluster[@]}" --rounds 1e9
fails 2 "no cluster is given" "no cluster" stint rounds trace.csv
fails 3 "no such file" "no trace" stint rounds nothing.csv "${cluster[@]}"
printf 'id,gpus,arrival_s,duration_s\na,64,5,100\n' >large.csv
run stint rounds large.csv "${cluster[@]}" --quiet
want 5 "a job that never fits"
err "no job can ever run" "it says so"
out "^No job finished" "there is no best then"

finish
