#!/bin/bash
# Limits of users and tenants: queued jobs, bytes, submissions a second, what-ifs; and what the
# system can pass to a program at all.
# shellcheck disable=SC2016,SC2317,SC2059
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

restart() { # RULE
	[ -z "$daemon" ] || { kill "$daemon"; wait "$daemon"; }
	daemon_start --limits "$1"
}
post() { # PATH BODY: the status, and the answer in `answer`
	fetch --both answer "$@"
}
me=$(id -un)

fails 2 "limits: 'queue=3' is not understood; write queued=N" "a rule that is none is told" \
	stint daemon --limits queue=3 --state "$work/none" --no-http

# ---- queued
is "a daemon with limits that hold for admins, too" restart 'admins,queued=3'
submit --hold -- true
one=$job
submit --hold --array 0-1 -- true
fails 4 "user $me has 3 jobs queued, and 1 more would be above the limit of 3 \\(queued\\): wait until some have started, or cancel some" \
	"beyond the limit a job is refused" stint submit --hold -- true
fails 4 'and 4 more would be above' "and an array" stint submit --hold --array 1-4 -- true
is "with 403" [ "$(post /v1/jobs '{"command":["true"],"cwd":"/","hold":true}')" = 403 ]
run stint quota limits
out "^user +$me +3 of 3 " "what one has and may is shown"
run stint cancel "$one"
submit --hold -- true
is "room that was made can be used at once" [ -n "$job" ]
run stint release "$job"
is "a job that runs is not queued" stint wait "$job"
ran=$job
submit --hold -- true
fails 4 'above the limit of 3' "and the limit holds on" stint submit --hold -- true
fails 4 'above the limit of 3' "also for a job that shall run again" stint requeue "$ran"
restart 'admins,queued=3'
fails 4 "has 3 jobs queued" "also after another daemon has come" stint submit --hold -- true
restart 'queued=3'
submit --hold -- true
is "admins are free of it unless the rule says otherwise" [ -n "$job" ]
restart "admins,queued=1,user:$me:queued=100"
submit --hold -- true
is "a rule for one user goes before that of all" [ -n "$job" ]
restart "admins,tenant:red:queued=1,tenant:*:queued=50"
submit --hold --tenant red -- true
fails 4 'tenant red has 1 job queued' "a tenant has limits of its own" stint submit --hold --tenant red -- true
submit --hold --tenant blue -- true
stint cancel --all --quiet >/dev/null

# ---- bytes
restart 'admins,bytes=64K'
word=$(head -c 50000 /dev/zero | tr '\0' x)
submit --hold --export NONE -- true "$word"
fails 4 "the submissions of user $me hold 4.* KiB, and 4.* KiB more would be above the limit of 64 KiB \\(bytes\\)" \
	"what submissions hold is limited" stint submit --hold --export NONE -- true "$word"
is "with 413" [ "$(post /v1/jobs "{\"command\":[\"true\",\"$word\"],\"cwd\":\"/\",\"hold\":true}")" = 413 ]
restart 'admins,bytes=64K'
fails 4 'above the limit of 64 KiB' "after a restart, too" stint submit --hold --export NONE -- true "$word"
run stint cancel "$job"
submit --hold --export NONE -- true "$word"
is "what has ended holds nothing" [ -n "$job" ]

# ---- submissions a second
restart 'admins,rate=0.0001,burst=3'
for _ in 1 2 3; do submit --hold --export NONE -- true; done
fails 4 "user $me submits faster than 0.0001 a second \\(limit rate, after 3 at once\\): try again in [0-9.]+ s, or submit many with one call" \
	"too many in a short time are refused" stint submit --hold -- true
is "with 429" [ "$(post /v1/jobs '{"command":["true"],"cwd":"/","hold":true}')" = 429 ]
is "and when to try again" [ "$(fetch --header Retry-After /v1/jobs '{"command":["true"],"cwd":"/","hold":true}')" -gt 1000 ]
run stint plan -- submit -- true
want 0 "plans are no submissions"
run stint queue
want 0 "and looking is free"

restart 'admins,rate=0'
is "a user who may submit nothing has 429" [ "$(post /v1/jobs '{"command":["true"],"cwd":"/"}')" = 429 ]
is "and need not try again" [ -z "$(fetch --header Retry-After /v1/jobs '{"command":["true"],"cwd":"/"}')" ]

# ---- a user that is not there, yet
restart 'user:nosuch-user:rate=1,user:4000001:rate=1,tenant:nosuch-tenant:queued=1'
is "a rule for a user whom the system does not know is a warning" grep -q "warning: --limits: this system has no user 'nosuch-user'; the rule holds once there is one" daemon.log
is "one for a number or a tenant is not" [ "$(grep -c 'this system has no' daemon.log)" = 1 ]

# ---- what-ifs
restart 'admins,whatifs=0'
is "what-ifs are limited with 429" [ "$(post /v1/whatif '{"add":"1:cpu"}')" = 429 ]
is "with when to ask again" [ "$(fetch --header Retry-After /v1/whatif '{"add":"1:cpu"}')" = 10 ]
is "and it is said whose" grep -q "user $me has 0 what-ifs being worked out, and the limit is 0" answer

# ---- what the system takes
restart off
python3 -c 'import json
print(json.dumps({"command": ["true"], "env": {"V%d" % i: "x" * 100000 for i in range(70)}}))' >env.jsonl
fails 4 'B of variables are above what this system passes to a program .*export fewer' \
	"an environment that no program can get is refused at submission" stint submit --batch env.jsonl
python3 -c 'import json
print(json.dumps({"command": ["true"], "env": {"V": "x" * 140000}}))' >env.jsonl
fails 4 'env: V has 140002 bytes, .* above what this system passes to a program in one piece .131071.; put it into a file' \
	"so is a variable that is too long" stint submit --batch env.jsonl
is "with the same status" [ "$(fetch --status /v1/jobs @env.jsonl)" = 413 ]
python3 -c 'import json
print(json.dumps({"command": ["echo", "x" * 140000]}))' >env.jsonl
fails 4 'command: one argument has 140000 bytes, .*put it into a file' "and an argument" stint submit --batch env.jsonl
is "with the same status" [ "$(fetch --status /v1/jobs @env.jsonl)" = 413 ]
python3 -c 'import json
print(json.dumps({"command": ["sh", "-c", "echo ${#V0} ${#V9}"], "env": {"PATH": "/bin:/usr/bin", **{"V%d" % i: "x" * 100000 for i in range(10)}}}))' >env.jsonl
run stint submit --parsable --batch env.jsonl
job=$(cat stdout)
run stint wait "$job"
want 0 "a million bytes of variables are well"
is "and all of them arrive" said "$job" '^100000 100000$'
kill "$daemon"
wait "$daemon"
daemon=
run stint replay "$STINT_STATE"
want 0 "all of this replays"

# ---- several users
if [ "$(id -u)" != 0 ] || ! setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
	echo "skip - limits of several users need root and setpriv"
	finish
fi
place=$(mktemp -d /tmp/stint-limits.XXXXXX)
trap 'daemon_gone; rm -rf "$place" "$work"' EXIT
chmod 755 "$place"
mkdir -m 755 "$place/bin" "$place/run"
cp "$STINT" "$(dirname "$STINT")/stint-guard" "$place/bin"
STINT=$place/bin/stint
export STINT_STATE=$place/state STINT_SOCKET=$place/run/socket
as() { # UID COMMAND...
	local uid=$1
	shift
	(cd / && exec env -u STINT_STATE HOME=/ setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$@")
}
is "a daemon for all users" daemon_start --system --limits queued=2,user:65533:queued=4
run as 65534 "$STINT" submit --hold --array 0-1 -- true
want 0 "a user has as many as the limit says"
fails 4 'user .* has 2 jobs queued, and 1 more would be above the limit of 2' "and no more" as 65534 "$STINT" submit --hold -- true
run as 65533 "$STINT" submit --hold --array 0-3 -- true
want 0 "another user is not kept by that"
fails 4 'above the limit of 4' "and has an own limit" as 65533 "$STINT" submit --hold -- true
run stint submit --hold --array 0-9 -- true
want 0 "root is free of it"
run as 65534 "$STINT" quota limits
out '2 of 2' "a user sees the own limits"
is "and no other user's" [ "$(grep -c '^user' stdout)" = 1 ]
run stint quota limits
out '4 of 4' "root sees all"
run stint cancel --all --user all --quiet
want 0 "and cancels what every user has"

finish
