#!/bin/bash
# Deadlines that are promised or refused, and nodes that are borrowed.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

# ---- afs
elastic=synth:jobs=60,load=1.5,elastic=0.8
run stint sim "$elastic" --cluster 4x4:v100 --policy afs --json
want 0 "afs runs elastic jobs"
out '"jobs_finished": 60' "and finishes them"

# ---- deadlines
cat >deadlines.csv <<'END'
id,submit_s,gpus,min_gpus,max_gpus,duration_s,deadline_s
a,0,1,1,2,3000,3000
b,0,1,1,4,3500,900
c,100,1,1,4,3000,6000
d,100,2,2,2,600,
END
run stint sim deadlines.csv --cluster 1x2:v100 --policy elasticflow --out refused
want 0 "elasticflow runs a trace with deadlines"
out '3 finished, 1 rejected' "one deadline cannot be promised"
out 'b .*its deadline is sooner than it can run even alone' "the refused job is named with the reason"
is "jobs.csv has the reason" grep -Eq '^b,.*,rejected,.*,deadline,"?its deadline is sooner than' refused/jobs.csv
is "and what would fit" grep -q 'one at .* could be' refused/jobs.csv
is "events have it, too" grep -q '"reject".*"job":"b","why":"deadline".*"fits_at":' refused/events.jsonl
out 'deadlines  *66.7 %' "the summary counts a refused deadline as missed"
run stint sim deadlines.csv --cluster 1x2:v100 --policy elasticflow --json --html refused.html
out '"deadline_met": 0.6666' "in JSON as well"
out '"deadlines_missed": 0' "and that whoever was let in was in time"
out '"reason": "its deadline is sooner than it can run even alone; one at' "with what was said to the refused one"
is "so does the report" grep -q '<td class="say">its deadline is sooner than' refused.html
run stint replay refused
want 0 "it can be replayed"
fits=$(sed -n 's/.*"job":"b".*"fits_at":\([0-9.]*\).*/\1/p' refused/events.jsonl)
sed "s/^b,\(.*\),900$/b,\1,$fits/" deadlines.csv >later.csv
run stint sim later.csv --cluster 1x2:v100 --policy elasticflow --json
out '"jobs_rejected": 0' "with the deadline that was named it is let in"
out '"deadline_met": 1' "and it is kept"

# ---- loans
cat >inference.csv <<'END'
time_s,servers
0,2
1h,0
2h,2
END
run stint sim "$elastic" --cluster 4x4:v100 --policy lyra --loan inference.csv --out loan
want 0 "lyra borrows nodes"
out '60 finished' "and finishes all jobs"
out 'nodes returned' "it says how many went back"
is "nodes that go back are in the events" grep -q '"node-down"' loan/events.jsonl
run stint replay loan
want 0 "a run with a loan can be replayed"
run stint compare "$elastic" --cluster 4x4:v100 --policy lyra,fifo,srtf,afs --loan inference.csv --json
want 0 "other policies have the same loan"
echo '3h,1' >>inference.csv
run stint replay loan
want 1 "a changed loan is a difference"
err 'loan inference.csv has changed' "and is named"
run stint sim "$elastic" --cluster 2x4:v100,2x4:t4 --policy lyra --loan inference.csv:type=t4
want 0 "the nodes of a type can be the pool"

fails() { # CODE TEXT WHAT LOAN
	run stint sim "$elastic" --cluster 2x4:v100 --policy lyra --loan "$4"
	want "$1" "$3"
	err "$2" "$3: it is said"
}
printf 'time_s,servers\n0,1\n10,-1\n' >negative.csv
printf 'time_s,servers\n10,1\n5,0\n' >backwards.csv
printf 'time_s,servers\n0,1\n9,7\n' >many.csv
printf 'time_s,servers\n0,1\n' >one.csv
fails 3 'nowhere.csv: no such file' "a loan from nowhere" nowhere.csv
fails 1 "negative.csv:3: servers '-1' is not a number of servers" "less than nothing" negative.csv
fails 1 'backwards.csv:3: time_s goes from 10 back to 5' "time that goes back" backwards.csv
fails 1 'many.csv:3: 7 servers are lent, but there are only 2' "more than there are" many.csv
fails 2 "no node of the cluster is of type 't4'; its types are v100" "an unknown type" one.csv:type=t4

# ---- live
is "a daemon with elasticflow answers" daemon_start --slots 2 --no-cgroups --no-gpus --policy elasticflow
run stint submit --gpus 2 --time 10h --deadline now+1h -- true
want 4 "a deadline that cannot be kept is refused"
err 'its deadline is sooner than it can run even alone' "with the reason"
err 'from now could be' "and what would do"
run stint submit --gpus 2 --time 1m --deadline now+1h --parsable -- true
want 0 "one that can is not"
run stint wait "$(cat stdout)"
want 0 "and its job runs"

# What came of it: goodput, what jobs held, and the figures by model.
run stint compare synth:jobs=20 --profiles catalogue --cluster 1x8:v100,1x8:a100 --policy optimus,fifo --html page.html --by-model
want 0 "figures by model"
out '^model +policy +jobs +mean JCT' "a table by model"
for section in goodput allocation models; do
	is "the page has $section" grep -q "<h2 id=\"$section\">" page.html
done
run stint sim synth:jobs=20 --profiles catalogue --cluster 1x8:v100,1x8:a100 --policy optimus --out trained
want 0 "training that was made up"
out '^training +efficiency ' "it has an efficiency"
is "jobs.csv has restarts and efficiency" grep -q ',deadline_met,restarts,held_gpu_s,efficiency$' trained/jobs.csv

finish
