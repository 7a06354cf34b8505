#!/bin/bash
# stint schedulers: several schedulers over one cluster.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

small=(--machines 1000 --rate 400 --schedulers 8 --duration 5)

run stint schedulers "${small[@]}"
want 0 "schedulers shows every mode"
out '^1000 machines of 2 slots, 8 schedulers, 8 partitions' "it says what was simulated"
out 'load 80 %' "and how full that makes the cluster"
for mode in static statesync quality latency adaptive; do
	out "^$mode +[0-9]" "$mode is among them"
done
out '^static .* 0\.0 ' "who has machines of its own has no conflicts"
is "nothing on standard error" empty stderr

run stint schedulers "${small[@]}" --mode latency,quality
want 0 "modes can be named"
is "and come in that order" [ "$(grep -oE '^(latency|quality)' stdout | tr '\n' ' ')" = "latency quality " ]
run stint schedulers "${small[@]}" --mode latency --mode quality
want 0 "also one by one"
is "two rows" [ "$(grep -cE '^(latency|quality) ' stdout)" = 2 ]

run stint schedulers "${small[@]}" --json
is "--json is JSON" valid_json stdout schedulers/1
cp stdout first.json
run stint schedulers "${small[@]}" --json
is "the same again gives the same bytes" cmp -s stdout first.json
run stint schedulers "${small[@]}" --json --seed 1
is "another seed gives others" [ "$(cmp -s stdout first.json; echo $?)" = 1 ]
if command -v python3 >/dev/null; then
	is "the figures agree with each other" python3 - first.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
m = {x["mode"]: x for x in d["modes"]}
assert list(m) == ["static", "statesync", "quality", "latency", "adaptive"]
for x in m.values():
    assert x["latency_mean_s"] >= d["usual_s"] - 1e-9
    assert x["latency_p50_s"] <= x["latency_p90_s"] <= x["latency_p99_s"] <= x["latency_max_s"]
    assert abs(x["conflicts"] - x["refused"] / (x["refused"] + x["granted"])) < 1e-12
    assert x["arrived"] == m["static"]["arrived"]
    assert 0 < x["quality"] <= 1 and x["keeps_up"]
    # As much is sent in every mode: each scheduler gets all machines in a period.
    assert abs(x["rows_per_s"] - d["machines"] * d["schedulers"] / d["period_s"]) < 1e-6
    assert x["refreshes"] == m["static"]["refreshes"]
assert m["static"]["refused"] == 0
assert m["latency"]["conflicts"] < m["quality"]["conflicts"] < m["statesync"]["conflicts"]
assert m["latency"]["quality"] < m["quality"]["quality"]
PY
	run stint schedulers --machines 100 --rate 40 --schedulers 1 --partitions 5 --json
	is "one scheduler alone has no conflicts" python3 -c '
import json
assert all(x["refused"] == 0 and x["granted"] > 0 for x in json.load(open("stdout"))["modes"])'
fi

run stint schedulers "${small[@]}" --csv
out '^mode,latency_mean_s,latency_p90_s' "--csv has keys"
out '^static,0\.00' "and numbers in seconds"
run stint schedulers "${small[@]}" --markdown
out '^\| mode \|' "--markdown is a table"
run stint schedulers "${small[@]}" --html page.html --mode quality
want 0 "--html writes a page"
err 'wrote page.html' "and says so"
is "with the command that makes it again" grep -q 'stint schedulers --machines 1000' page.html
run stint schedulers "${small[@]}" --html page.html --mode quality --quiet
is "--quiet says nothing" empty stderr

run stint schedulers "${small[@]}" --hot 4 --mode static,latency
out '^static does not keep up: [0-9]+ tasks wait' "a mode whose queues grow is named"
run stint schedulers "${small[@]}" --rate 600 --mode latency
err '2400 slots would be needed and there are 2000.*--rate' "too many tasks are said"
run stint schedulers "${small[@]}" --decision-ms 40 --mode latency
err 'think 2\.00 s in every second.*--schedulers' "and too much thinking"

fails 2 'make it 8 partitions or more' "fewer partitions than schedulers" \
	stint schedulers "${small[@]}" --partitions 4
fails 2 'add machines, or take 5 partitions at most' "fewer machines than partitions" \
	stint schedulers "${small[@]}" --machines 5
fails 2 'did you mean quality' "a mode that is none" stint schedulers --mode qualty
fails 2 'there are static, statesync' "nor near to one" stint schedulers --mode x
fails 2 'wants MODES' "an empty one" stint schedulers --mode ''
fails 2 'there are static' "an empty place in the list" stint schedulers --mode quality,,latency
fails 2 'given twice' "a mode twice" stint schedulers --mode latency,quality,latency
fails 2 'shorter than --period' "less than a period" stint schedulers --duration 0.5
fails 2 '1 to 10 classes' "more classes than levels" stint schedulers --classes 20
fails 2 'shorter --duration' "more tasks than memory" stint schedulers --rate 1e9
fails 2 'fewer of either' "more views than memory" stint schedulers --machines 90000000
fails 2 'give one' "two forms" stint schedulers --json --csv
fails 2 'must be 1 to' "no machines" stint schedulers --machines 0
fails 2 'must be' "no time" stint schedulers --decision-ms 0
fails 1 'cannot' "a page that cannot be written" stint schedulers "${small[@]}" --html /nowhere/x.html

finish
