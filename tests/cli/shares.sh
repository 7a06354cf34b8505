#!/bin/bash
# stint shares: what a policy would give whom at a moment.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

stint trace synth --jobs 60 --load 1.5 --seed 3 --cluster 2x4:v100,2x4:p100 >trace.csv
cluster=(--cluster "2x4:v100,2x4:p100")

run stint shares trace.csv "${cluster[@]}" --policy gavel:objective=max-min
want 0 "shares shows a policy"
out '^gavel:objective=max-min on 2x4:v100,2x4:p100' "it says what and where"
out '[0-9]+ jobs active at [0-9.]+ s.*, when most are' "it says when, and why then"
out '^job .*p100 +v100 +sum' "there is a column for each type"
out '^type +devices' "and a row for each type below"
is "nothing on standard error" empty stderr

run stint shares trace.csv "${cluster[@]}"
out '^gavel on ' "without --policy it is gavel"
run stint shares trace.csv "${cluster[@]}" --policy isolated --at 1h
want 0 "a time has units"
out 'active at 3600 s' "and is that time"
cp stdout hour
run stint shares trace.csv "${cluster[@]}" --policy isolated --at 3600
is "3600 is 1h" cmp -s stdout hour
run stint shares trace.csv "${cluster[@]}" --at 0
out '^1 job active at 0 s' "0 is right after the first arrival"

run stint shares trace.csv "${cluster[@]}" --top 2
out '^\.\.\. and [0-9]+ more jobs' "--top cuts the table and says so"
run stint shares trace.csv "${cluster[@]}" --top 2 --all
is "--all does not" [ "$(grep -c 'more jobs' stdout)" = 0 ]
run stint shares trace.csv "${cluster[@]}" --until 1h
out 'active at ([0-9]|[0-9][0-9]|[0-9][0-9][0-9]|[12][0-9]{3}|3[0-5][0-9]{2}|3600)(\.[0-9]+)? s' \
	"--until bounds the search for the fullest moment"

run stint shares trace.csv "${cluster[@]}" --json
is "shares --json is JSON" valid_json stdout shares/1
is "with nothing on standard error" empty stderr
for key in policy at_s active objective fallback types jobs pairs price used level bottleneck x; do
	out "\"$key\":" "it has $key"
done
cp stdout first.json
run stint shares trace.csv "${cluster[@]}" --json
is "the same again gives the same bytes" cmp -s stdout first.json
if command -v python3 >/dev/null; then
	is "shares obey the rules" python3 - first.json <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["active"] == len(d["jobs"]) > 1
for t in d["types"]:
    assert t["used"] <= t["devices"] * (1 + 1e-6), t
for j in d["jobs"]:
    assert 0 <= j["sum"] <= 1 + 1e-6, j
    assert abs(sum(j["x"].values()) + j["paired"] - j["sum"]) < 1e-9, j
for t in d["types"]:
    used = sum(j["gpus"] * j["x"][t["name"]] for j in d["jobs"])
    assert abs(used - t["used"]) < 1e-6, t
EOF
fi

# nobody there
run stint shares trace.csv "${cluster[@]}" --at 9000d
want 0 "nobody active is no failure"
out 'no job is active at 777600000 s.*the last one before ended at [0-9.]+ s.*none arrives later' \
	"it says when there were some"
run stint shares trace.csv "${cluster[@]}" --at 9000d --json
is "also as JSON" valid_json stdout shares/1
out '"jobs": \[\]' "with no jobs"
printf 'id,gpus,arrival_s,duration_s\na,1,0,100\nb,1,50000,100\n' >gap.csv
run stint shares gap.csv "${cluster[@]}" --at 20000
out 'the next one arrives at 50000 s' "between jobs it names the next"

sed 2d gap.csv >late.csv
fails 2 "before --until: the first does at 50000 s" "--until before the first" \
	stint shares late.csv "${cluster[@]}" --until 5
printf 'id,gpus,arrival_s,duration_s\na,64,5,100\n' >large.csv
fails 5 "no job can run on .*the only one was refused" "a job that never fits" \
	stint shares large.csv "${cluster[@]}"

# files
run stint shares trace.csv "${cluster[@]}" --svg map.svg --html map.html
want 0 "shares --svg --html"
err '^wrote map.svg$' "it says what it wrote"
is "the heat map is SVG" grep -q '^<svg xmlns=' map.svg
is "with a title and a description" grep -q '<title id="heat-t">.*<desc id="heat-d">[0-9]* jobs active' map.svg
is "the page is a page" grep -qi '<!doctype html' map.html
is "it names the command that gives it again" grep -q 'stint shares trace.csv --cluster' map.html
fails 1 "nowhere" "a path that cannot be written" \
	stint shares trace.csv "${cluster[@]}" --svg nowhere/map.svg

# what is wrong
fails 2 "fifo does not work by shares.*these do: .*gavel" "a policy without shares" \
	stint shares trace.csv "${cluster[@]}" --policy fifo
fails 2 "did you mean 'gavel'" "a slip of a name" \
	stint shares trace.csv "${cluster[@]}" --policy gavl
fails 2 "one policy and 2 are given" "two policies" \
	stint shares trace.csv "${cluster[@]}" --policy gavel,isolated
fails 2 "give one" "--at and --until" stint shares trace.csv "${cluster[@]}" --at 1h --until 2h
fails 2 "a time such as" "a time that is none" stint shares trace.csv "${cluster[@]}" --at noon
fails 2 "no cluster is given" "no cluster" stint shares trace.csv
fails 3 "no such file" "no trace" stint shares nothing.csv "${cluster[@]}"

# the figures of a policy in sim's summary
run stint sim trace.csv "${cluster[@]}" --policy gavel
out '^policy +share computations [0-9]+' "sim says what the policy counts"
run stint sim trace.csv "${cluster[@]}" --policy gavel --json
out '"policy_figures": \{' "and so does its JSON"
out '"share_computations": [0-9]+' "with the name of the figure"
run stint sim trace.csv "${cluster[@]}" --json
out '"policy_figures": \{\}' "a policy that counts nothing has none"

finish
