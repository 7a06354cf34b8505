#!/bin/bash
# Notifications: rules, commands, and a receiver that checks signatures, refuses and hangs.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"
umask 022

# ---- rules
cat >good.yaml <<'RULES'
rules:
  - on: [failed, preempted]
    tenant: vision
    webhook: http://127.0.0.1:9/in/secret-path
    secret_file: key
  - on: [ended, gone-fishing]
    name: "train-*"
    command: [sh, -c, "cat >/dev/null"]
    timeout_s: 5
RULES
fails 1 'good.yaml:5: .*secret_file: .*No such file' "a secret that is not there" stint notify check good.yaml
(umask 077 && echo swordfish >key)
run stint notify check good.yaml
want 0 "rules are read"
out '^rule 1: on failed, preempted, of tenant vision$' "and said: what they are told of"
out '^  posts to http://127.0.0.1:9, signed$' "to whom, without what may be secret of the address"
out '^rule 2: on ended, gone-fishing, of jobs named train-\*$' "with patterns"
out '^  gone-fishing: not known by name' "and which names are not known"
run stint notify check good.yaml --json
want 0 "as JSON too"
is "with its schema" valid_json stdout notify-check/1
chmod 644 key
fails 1 'good.yaml:5: .*chmod 600' "a secret that others may read is refused" stint notify check good.yaml
chmod 600 key
chmod 666 good.yaml
fails 1 'good.yaml:8: .*chmod go-w' "commands in a file that others may write are refused" stint notify check good.yaml
chmod 644 good.yaml
sed 's/failed/faild/' good.yaml >bad.yaml
fails 1 'bad.yaml:2: rules #1 on #1: there is no event "faild"; did you mean "failed"' "slips are named" stint notify check bad.yaml
fails 1 'bad.yaml:2:' "also by the daemon, before it begins" stint daemon --slots 1 --no-gpus --no-http --notify bad.yaml
fails 3 'none.yaml' "a file that is not there" stint notify check none.yaml

# ---- trying them
run stint notify test good.yaml
want 1 "a receiver that is not there is a failure"
out '^rule 1: failed to http://127.0.0.1:9: failed, cannot connect' "with the reason"
out '^rule 2: ended to sh: delivered$' "and the others are told"
run stint notify test good.yaml --rule 2 --json
want 0 "one rule alone"
is "with its schema" valid_json stdout notify-test/1
fails 3 'has 2 rules, no rule 3' "one that is not there" stint notify test good.yaml --rule 3

# ---- a daemon and a command
cat >keep.sh <<'HOOK'
#!/bin/sh
{ cat; echo; } >>"$1"
HOOK
chmod +x keep.sh
cat >rules.yaml <<RULES
rules:
  - on: [submitted, started, finished, failed, cancelled]
    command: [$work/keep.sh, $work/all]
  - on: [failed]
    name: "special-*"
    command: [$work/keep.sh, $work/special]
  - on: [finished]
    command: [sh, -c, "echo it went wrong >&2; exit 3"]
  - on: [started]
    command: [sleep, "3600"]
    timeout_s: 0.2
RULES
has() { # FILE EVENT JOB...
	local file=$1 event=$2 job
	shift 2
	for job in "$@"; do
		grep -Eqs "\"event\":\"$event\",.*\"job\":$job," "$file" || return 1
	done
}
is "a daemon with rules answers" daemon_start --notify rules.yaml
run stint run --quiet --gpus 0 --name fine -- true
run stint run --quiet --gpus 0 --name special-one -- sh -c 'exit 3'
long=$(stint submit --parsable --gpus 0 -- sleep 600)
soon "what happens is told to the command" has all submitted 1 2 "$long"
soon "who starts" has all started 1 2 "$long"
soon "who ends well" has all finished 1
soon "who fails" has all failed 2
run stint cancel --quiet "$long"
soon "who is cancelled" has all cancelled "$long"
soon "another rule has its own" has special failed 2
is "and nothing else" [ "$(wc -l <special)" = 1 ]
is "with how it ended, in words" grep -q '"text":"job 2 (special-one) of [^"]*: failed, exit code 3"' special
is "with state, tenant and user" grep -Eq '"state":"FAILED","name":"special-one","tenant":"[^"]+","user":"[^"]+"' special
is "each is one line of JSON" grep -q '^{"schema":"notification/1",.*}$' all
soon "a command that fails is in the daemon's log" grep -q 'rule 3 could not tell sh of .finished.*exit code 3; it said: it went wrong' daemon.log
soon "so is one that hangs" grep -q 'rule 4 could not tell sleep of .started.*no end after 0.2 s: killed' daemon.log
counted() {
	fetch /metrics >metrics
	grep -Eq '^stint_notifications_total\{result="delivered"\} [1-9]' metrics &&
		grep -Eq '^stint_notifications_total\{result="failed"\} [1-9]' metrics
}
soon "both are counted" counted
daemon_gone

# ---- a receiver
if ! command -v python3 >/dev/null; then
	echo "skip - a receiver of webhooks: there is no python3 (tests/hook has one in C)"
	finish
fi
cat >receiver.py <<'PY'
import hashlib, hmac, http.server, json, sys, threading, time
seen = {}
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/hangs":
            time.sleep(3600)
        signed = self.headers["X-Stint-Timestamp"].encode() + b"." + body
        right = "sha256=" + hmac.new(b"swordfish", signed, hashlib.sha256).hexdigest()
        ok = hmac.compare_digest(right, self.headers["X-Stint-Signature"])
        told = json.loads(body)
        delivery = self.headers["X-Stint-Delivery"]
        tries = seen[delivery] = seen.get(delivery, 0) + 1
        ok = ok and told["delivery"] == delivery and told["event"] == self.headers["X-Stint-Event"]
        status = 200 if self.path == "/well" or tries == 3 else 500
        with open("heard", "a") as f:
            f.write(f"{self.path} {told['event']} job={told.get('job')} {'right' if ok else 'WRONG'} try={tries} {status}\n")
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"thank you\n")
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
open("port.new", "w").write(str(server.server_port))
import os
os.rename("port.new", "port")
server.serve_forever()
PY
python3 receiver.py &
receiver=$!
trap 'kill $receiver 2>/dev/null; daemon_gone; chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
soon "a receiver listens" [ -s port ]
port=$(cat port)
cat >hooks.yaml <<RULES
rules:
  - on: [finished]
    webhook: http://127.0.0.1:$port/twice
    secret_file: key
  - on: [finished]
    webhook: http://127.0.0.1:$port/well
    secret_file: $work/key
  - on: [finished]
    webhook: http://127.0.0.1:$port/hangs
    timeout_s: 300
RULES
run stint notify test hooks.yaml --rule 2
want 0 "the receiver takes a sample"
out 'delivered, status 200' "and says so"
out 'it said: thank you' "in its words"
is "its signature is right" grep -q '^/well finished job=1 right try=1 200$' heard
rm heard
is "a daemon with webhooks answers" daemon_start --notify hooks.yaml
run stint run --quiet --gpus 0 -- true
job=$(stint queue --json --state all 2>/dev/null | grep -m1 -o '"id": *[0-9]*' | grep -o '[0-9]*')
soon "one is told at once" grep -q "^/well finished job=$job right try=1 200$" heard
soon "one that refuses twice is told the third time, by the same number" grep -q "^/twice finished job=$job right try=3 200$" heard
is "every signature was right" bash -c '! grep -q WRONG heard'
both_delivered() { # the receiver has answered; now the daemon knows
	fetch /metrics | grep -Eq '^stint_notifications_total\{result="delivered"\} 2$'
}
soon "the daemon knows of both" both_delivered
kill "$daemon"
stopped() {
	! kill -0 "$daemon" 2>/dev/null
}
soon "a daemon stops though a receiver hangs" stopped
is "and says what could not be sent" grep -Eq 'notifications: 1 could not be sent any more' daemon.log
wait "$daemon" 2>/dev/null
daemon=

finish
