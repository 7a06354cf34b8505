#!/bin/bash
# Reports of progress: at most one row a second and job, and the last one always arrives.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

command -v python3 >/dev/null || { echo "skip - python3 is not installed" && exit; }

has_ended() { # JOB
	stint show "$1" 2>/dev/null | grep -q "^state *COMPLETED"
}
count() { # JOB: rows of its progress
	stint db export --state "$STINT_STATE" --quiet | grep '"kind":"progress"' | grep -c "\"job\":$1,"
}
is_at() { # JOB STEP
	stint show "$1" --json | grep -Eq "\"step\": *$2(\.0)?,?"
}

# Says how far it is N times without a pause; then waits for a file if one is named.
cat >report.py <<'PY'
import http.client, json, os, socket, sys, time

class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ["STINT_SOCKET"])

n = int(sys.argv[1])
began = time.monotonic()
line = Connection("localhost")
for step in range(1, n + 1):
    body = {"attempt": int(os.environ["STINT_ATTEMPT"]), "step": step, "metrics": {"loss": 1 / step}}
    if step == 1:
        body["total"] = n
    line.request("POST", f"/v1/jobs/{os.environ['STINT_JOB_ID']}/progress", json.dumps(body),
                 {"Content-Type": "application/json"})
    answer = line.getresponse()
    answer.read()
    assert answer.status == 200, answer.status
print("took", int(time.monotonic() - began) + 1, flush=True)
while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
PY

is "a daemon answers" daemon_start --slots 2 --no-cgroups
submit --name quick -- python3 report.py 300
soon "a job that reports 300 times ends" has_ended 1
is "its last report arrived" is_at 1 300
took=$(sed -n 's/^took //p' "$STINT_STATE/jobs/1/1/stdout")
rows=$(count 1)
last="$rows rows in $took s"
in_time() {
	[ "$rows" -ge 2 ] && [ "$rows" -le $((took + 2)) ]
}
is "in a row each second, the first and the last" in_time
run stint show 1 --json
out '"total": *300' "what only the first said stays"

submit --name slow -- python3 report.py 50 "$work/go"
soon "what is held is shown at once" is_at 2 50
soon "and is taken though nothing else happens" sh -c "'$STINT' db export --state '$STINT_STATE' --quiet | grep '\"kind\":\"progress\"' | grep -q '\"step\":50[,}]'"
kill "$daemon"
wait "$daemon" 2>/dev/null
is "the next daemon answers" daemon_start --slots 2 --no-cgroups
touch go
soon "the job ends" has_ended 2
run stint replay "$STINT_STATE"
want 0 "and all of it comes again"

finish
