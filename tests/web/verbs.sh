#!/bin/bash
# What the page asks for, without a browser: timeline, fairness, policies, runs,
# and an address that logs in.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/cli/lib/check
. "$root/tests/cli/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$root/tests/clients/with_daemon"
export STINT_SOCKET=$work/socket

# get PATH: asks over the unix socket; the body on standard output, exit code 1 unless 200.
cat >get.py <<'END'
import http.client, os, socket, sys
class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ["STINT_SOCKET"])
c = Unix("x")
c.request("GET", sys.argv[1])
r = c.getresponse()
print(r.read().decode())
sys.exit(r.status != 200)
END
get() { python3 "$work/get.py" "$1"; }
# has EXPRESSION WHAT: of the last answer, d.
has() {
	python3 -c "import json; d = json.load(open('stdout')); assert $1" 2>>stderr
	report $? "$2"
}

"$STINT" daemon --slots 4 --no-gpus --policy fifo --quiet >daemon.log 2>&1 &
daemon=$!
soon "a daemon answers" stint nodes

run get /v1/timeline
want 0 "a timeline without jobs"
has "d['schema'] == 'timeline/1' and d['spans'] == [] and len(d['devices']) == 4" "has the devices"
run get /v1/fairness
has "d['schema'] == 'fairness/1' and d['tenants'] == []" "nobody has had anything"

stint submit --quiet --tenant a --name one --gpus 2 -- true >/dev/null
stint wait 1 >/dev/null
stint submit --quiet --tenant a --name '<b>two</b>' --gpus 3 -- sleep 600 >/dev/null
stint submit --quiet --tenant b --name three --gpus 4 -- sleep 600 >/dev/null
soon "one runs" state 2 RUNNING
run get /v1/timeline
has "[s['job'] for s in d['spans']] == [1, 2]" "who had devices and who has them"
has "d['spans'][0]['end'] == 'COMPLETED' and d['spans'][0]['to'] > d['spans'][0]['from']" "one has ended"
has "d['spans'][1]['to'] is None and d['spans'][1]['end'] is None and d['spans'][1]['devices'] == [0, 1, 2]" "one holds them"
has "d['spans'][1]['name'] == '<b>two</b>' and d['spans'][1]['tenant'] == 'a'" "with its name"
stint quota set a --weight 1 >/dev/null
run get /v1/fairness
has "sorted(t['name'] for t in d['tenants']) == ['a', 'b']" "tenants that were stated"
run get /v1/fairness?since_s=600
has "len(d['tenants']) == 2 and all(len(t[k]) == 120 for t in d['tenants'] for k in ('deserved', 'used', 'waiting'))" "steps of every tenant"
has "[t['used'][-1] for t in sorted(d['tenants'], key=lambda t: t['name'])] == [3, 0]" "who uses what now"
has "[t['waiting'][-1] for t in sorted(d['tenants'], key=lambda t: t['name'])] == [0, 4]" "who waits for what"
has "[t['deserved'][-1] for t in sorted(d['tenants'], key=lambda t: t['name'])] == [2, 2]" "half each"
has "any(w['tenant'] == 'b' and w['because_of'] == 'a' and w['seconds'] > 0 for w in d['waits'])" "b waits because of a"
stint hold --stop 2 >/dev/null
soon "another takes its place" state 3 RUNNING
run get /v1/timeline
has "[s['end'] for s in d['spans'] if s['job'] == 2] == ['HELD']" "a held job has left its devices"
run get "/v1/timeline?since_s=0"
want 1 "a time of nothing is refused"
out 'since_s: seconds back' "in words"

run get /v1/policies
has "{p['name'] for p in d['policies']} >= {'fifo', 'fair-share'} and all('options' in p for k in ('policies', 'placers', 'admissions') for p in d[k])" "rules and their options"

run get /v1/runs
has "d['schema'] == 'runs/1' and d['runs'] == []" "no runs yet"
mkdir "$STINT_STATE/runs"
stint sim "$root/examples/workload.csv" --cluster 4x4:v100 --policy las --out "$STINT_STATE/runs/las" --quiet >/dev/null
stint compare "$root/examples/workload.csv" --cluster 4x4:v100 --policy fifo,sjf --out "$STINT_STATE/runs/both" --quiet >/dev/null
mkdir "$STINT_STATE/runs/other" && echo '{' >"$STINT_STATE/runs/other/summary.json"
run get /v1/runs
has "[r['name'] for r in d['runs']] == ['both', 'both/fifo', 'both/sjf', 'las']" "runs and comparisons, and nothing else"
has "d['runs'][3]['jobs_finished'] == 400 and d['runs'][1]['of'] == 'both'" "with figures"
run get /v1/runs/las
has "len(d['jobs']) == 400 and len(d['devices']) == 16 and d['summary']['policy'].startswith('las')" "one run whole"
has "abs(sum(len(s['devices']) * (s['to'] - s['from']) for s in d['spans']) - d['summary']['held_gpu_s']) < 1" "its spans add up to the GPU time held"
run get /v1/runs/both%2Fsjf
has "d['name'] == 'both/sjf' and d['kind'] == 'run'" "one inside a comparison"
run get /v1/runs/both
has "d['kind'] == 'compare' and len(d['compare']['policies']) == 2" "the comparison"
for name in .. ..%2F..%2Fetc las%2F las%2F.. %2Fetc both%2Fsjf%2Fx .hidden nothing; do
	run get "/v1/runs/$name"
	want 1 "no run $name"
	out '"status":404' "is not found"
done

# Long lists are written in pieces: nobody is missing, nobody is there twice.
stint submit --quiet --tenant c --name many --gpus 4 --array 1-2000 -- sleep 600 >/dev/null
run get "/v1/jobs?limit=20000"
has "sorted(j['id'] for j in d['jobs']) == [2] + list(range(3, 2004)) and d['total'] == d['shown'] == 2002 and not d['more']" "everybody once"
has "d['jobs'][0]['id'] == 3 and all(j['state'] == 'PENDING' for j in d['jobs'][1:])" "who has devices first"
run get "/v1/jobs?limit=20000&brief=true"
has "len(d['jobs']) == 2002 and 'devices' in d['jobs'][0]" "the same in brief"
has "all(j['reason']['text'] and 'wait_s' in j and 'weight' not in j for j in d['jobs'][1:])" "with little but the reason of those that wait"
run get "/v1/jobs?limit=700&after=1000"
has "[j['id'] for j in d['jobs']] == list(range(1001, 1701)) and d['total'] == 1003 and d['more']" "from a number on"
run get "/v1/jobs?limit=20000&tenant=b"
has "[j['id'] for j in d['jobs']] == [3]" "of one tenant"
stint cancel --quiet 4 >/dev/null
soon "the array is gone" state 2003 CANCELLED
run get "/v1/jobs?state=ended&limit=1500"
has "[j['id'] for j in d['jobs']] == list(range(2003, 503, -1)) and d['more']" "the last that ended, in pieces too"
run get "/v1/jobs?state=ended&limit=1500&after=504"
has "[j['id'] for j in d['jobs']] == list(range(503, 3, -1)) + [1] and not d['more']" "and the rest"
run get "/v1/jobs?state=all&limit=20000"
has "[j['id'] for j in d['jobs']] == [3, 2] + list(range(2003, 3, -1)) + [1]" "all of them"
run get "/v1/jobs?state=cancelled&limit=250"
has "[j['id'] for j in d['jobs']] == list(range(2003, 1753, -1)) and d['more']" "by state"
run get /v1/quota
has "[(t['running'], t['pending']) for t in d['tenants'] if t['name'] == 'a'] == [(0, 1)] and d['devices'] == 4" "tenants and what they have"
run get /v1/report
has "d['jobs_live'] == 2 and d['jobs_cancelled'] == 2000 and d['jobs_finished'] == 1" "what was done lately"

# The curves of a job: what it reported, and what it did not.
run get /v1/jobs/3/series
has "d['schema'] == 'series/1' and d['reports'] == 0 and d['step'] == d['at'] == d['metrics'] == []" "a job that reported nothing"
stint cancel --quiet 3 >/dev/null
stint submit --quiet --tenant b --name trains -- python3 "$root/examples/live/train.py" --steps 200 --step-s 0.02 --checkpoint "$work/x.ckpt" >/dev/null
stint wait 2004 >/dev/null
run get /v1/jobs/2004/series
has "d['job'] == 2004 and d['total'] == 200 and d['step'][-1] == 200 and d['reports'] == len(d['step']) > 1" "steps of one that did"
has "len(d['at']) == len(d['attempt']) == len(d['step']) and sorted(d['at']) == d['at'] and set(d['attempt']) == {1}" "when, and in which attempt"
has "[len(m['values']) for m in d['metrics'] if m['name'] == 'loss'] == [len(d['step'])]" "and the loss"
stint submit --quiet --tenant b --name two --array 3-4 -- sleep 600 >/dev/null
soon "an array runs" state 2006 RUNNING
run get /v1/timeline
has "[(s['array_id'], s['array_index']) for s in d['spans'] if s['job'] > 2004] == [(2005, 3), (2005, 4)]" "elements of an array have their index in the timeline"
has "all('array_id' not in s for s in d['spans'] if s['job'] in (1, 2, 3, 2004))" "and other jobs none"
run get "/v1/forecast?fresh=true"
has "{(s['array_id'], s['array_index']) for s in d['spans'] if s['job'] > 2004} == {(2005, 3), (2005, 4)}" "and in the forecast"
run get /v1/jobs/9999/series
want 1 "no curves of no job"

run stint open --json
is "an address that logs in" valid_json stdout open/1
run stint open
out '^http://127\.0\.0\.1:[0-9]+/#code=[0-9a-f]{64}$' "as text"
err 'works once' "and what it is"
is "the daemon had nothing to complain of" empty daemon.log
[ "$failures" = 0 ]
