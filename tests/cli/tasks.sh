#!/bin/bash
# stint tasks: jobs of fine-grained tasks under several schedulers; DAGs in traces.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

run stint tasks synth
want 0 "tasks draws a workload and compares"
out '^synth:.* 20 jobs, .* 20 workers with 8 cpu, 4 net, 2 disk, 2 gpu, 64 GiB' "it says what was simulated"
for name in ursa slots tetris; do
	out "^$name +[0-9]" "$name is among them"
done
is "nothing on standard error" empty stderr
run stint tasks synth --json
is "--json is JSON" valid_json stdout tasks/1
cp stdout first.json
run stint tasks synth --json
is "the same again gives the same bytes" cmp -s stdout first.json
if command -v python3 >/dev/null; then
	is "ursa is ahead of both in makespan and completion time" python3 - first.json <<'PY'
import json, sys
s = {x["scheduler"]: x for x in json.load(open(sys.argv[1]))["schedulers"]}
for other in "slots", "tetris":
    assert s["ursa"]["makespan_s"] < s[other]["makespan_s"]
    assert s["ursa"]["mean_jct_s"] < s[other]["mean_jct_s"]
    assert s["ursa"]["monotasks"] == s[other]["monotasks"]
PY
fi
run stint tasks synth:jobs=3 --policy tetris,ursa --csv
is "named ones come in that order" [ "$(cut -d, -f1 stdout | tr '\n' ' ')" = "scheduler tetris ursa " ]

cat >jobs.csv <<'CSV'
job,stage,arrival_s,tasks,run,mem,after
q1,map,0,4,disk 1 | cpu 1,1G,
"q<2>",only,1,2,net 1 | cpu 3,1G,
CSV
run stint tasks jobs.csv --workers 2 --policy ursa --svg run.svg
want 0 "a file is read"
is "and drawn" grep -q '<svg xmlns' run.svg
is "with names that are no markup" grep -q 'q&lt;2&gt; only task 0' run.svg
fails 3 'nothing.csv: no such file' "a file that is not there" stint tasks nothing.csv
printf 'job,stage,run,after\na,s,cpu 1,t\na,t,cpu 1,s\n' >circle.csv
fails 1 "circle.csv:2: stages of job 'a' wait for each other in a circle: 's' \(line 2\) waits for 't' \(line 3\), which waits for 's'" \
	"stages in a circle are named" stint tasks circle.csv
fails 2 'needs gpu and workers have none' "a resource that is not there" stint tasks synth:training=1 --gpu 0
fails 2 'must be more than --interval' "an EPT that leaves gaps" stint tasks synth --ept 0.5
fails 2 "did you mean ursa" "a slip" stint tasks synth --policy ursaa

# ---- DAGs of jobs
run stint trace stats synth:jobs=80,dags=1,dag_form=chain,dag_jobs=4
out '^pipelines +20 of 80 jobs, up to 4 deep and 1 wide' "trace stats counts pipelines"
run stint trace check synth:jobs=80,dags=1,dag_form=chain,dag_jobs=4
out ': 20 pipelines of 80 jobs, up to 4 deep and 1 wide' "so does trace check"
run stint sim synth:jobs=60,dags=1,elastic=1,arrivals=static,resume_cost_s=0 --cluster 8x8:v100 --policy moldable
want 0 "moldable runs pipelines"
out 'bound proved 1, least makespan s [0-9.]+, planned makespan s [0-9.]+, makespan ratio [0-9.]+, ratio bound 5.16' \
	"and says how near the bound it came"
run stint sim synth:jobs=60,dags=1 --cluster 8x8:v100 --policy ursa:order=srjf
want 0 "so does ursa"
fails 2 'ept_s=1 must be more than interval_s=2' "ursa refuses an EPT that leaves gaps" \
	stint sim synth:jobs=6 --cluster 1x8:v100 --policy ursa:ept_s=1,interval_s=2

finish
