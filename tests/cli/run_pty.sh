#!/bin/bash
# `stint run --pty`: the job has a terminal, which is that of the person who runs it.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2329
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

command -v python3 >/dev/null || {
	echo "skip - there is no python3 to drive a terminal with"
	finish
}
terminal() { # STEP... -- FLAG... COMMAND...
	local steps=()
	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	shift
	run "$here/lib/terminal" "${steps[@]}" -- "$STINT" run --pty "$@"
}

is "a daemon" daemon_start --no-cgroups
forever='while :; do sleep 0.05; done'

# ---- what it sees
TERM=vt220 terminal -- sh -c 'tty; stty size; echo "$TERM"; test -t 0 && test -t 1 && test -t 2 && echo all three; exit 7'
want 7 "the exit code is the job's"
out '^/dev/pts/[0-9]+$' "it has a terminal"
out '^24 80$' "of the size of ours"
out '^vt220$' "and of its kind"
out '^all three$' "for input, output and errors"
out '^restored$' "our terminal is as it was before"
TERM=vt220 terminal -- --export NONE sh -c 'echo "$TERM"'
out '^vt220$' "its kind is known without any other variable, too"
terminal 'wait:up' 'size:50x132' 'wait:50 132' 'type:q\r' -- bash -c \
	'trap "stty size" WINCH; echo up; until read -rt 0.2 x; do :; done; exit 4'
want 4 "a window that changes its size changes the job's"
terminal 'wait:up' 'type:\x03' 'wait:caught' 'type:hello\r' -- bash -c \
	'trap "echo caught" INT; echo up; sleep 1000; read -r x; echo "[$x]"; exit 5'
want 5 "Ctrl-C reaches the job and not stint run"
out '^\[hello\]$' "so does what is typed"
terminal -- sh -c 'head -c 300000 /dev/zero | tr "\0" x; echo; echo last'
is "much output comes whole" [ "$(tr -cd x <stdout | wc -c)" = 300000 ]
out '^last$' "to its end"
terminal -- ./nothing-like-it
want 3 "a command that is not there"
terminal -- -- ./nothing-like-it
want 127 "also where only the job finds out"
out '^restored$' "leaves the terminal as it was"
is "no socket is left behind" [ -z "$(find "$STINT_STATE/jobs" -name terminal)" ]

# ---- the client goes away
terminal 'wait:up' 'signal:KILL' -- -J orphan bash -c 'trap "echo hung up >hup; exit 3" HUP; echo up; '"$forever"
want 137 "a client that is killed"
soon "the job is hung up" grep -q 'hung up' hup
orphan() { stint queue --all --json | grep -A8 '"name": "orphan"' | grep -q '"state": "FAILED"'; }
soon "and ends" orphan
run stint queue --all
out 'orphan .*its terminal went away' "with the reason"
terminal 'wait:up' 'signal:KILL' -- -J deaf --grace 1s bash -c 'trap "" HUP; trap "echo asked >asked; exit 6" TERM; echo up; '"$forever"
soon "a job that does not listen is stopped as usual" grep -q asked asked
terminal 'wait:up' 'close' -- bash -c 'echo up; '"$forever"
want 129 "a terminal that goes away ends stint run"
terminal 'wait:up' 'signal:TERM' -- -J ended bash -c 'echo up; '"$forever"
want 143 "SIGTERM cancels the job"
out 'CANCELLED' "and says so"
out '^restored$' "and restores the terminal"
terminal 'wait:up' 'signal:QUIT' 'signal:QUIT' -- --grace 5s bash -c 'trap "" TERM; echo up; '"$forever"
want 131 "a second signal leaves at once"
out '^restored$' "with the terminal restored"

# ---- while it waits
terminal 'wait:waits: ' 'type:\x03' -- --hold true
want 130 "Ctrl-C before it starts cancels it"

# ---- it runs once
terminal -- sh -c 'exit 85'
want 85 "a job on a terminal does not run again by itself"
out 'FAILED' "whatever it returns"
"$here/lib/terminal" 'wait:up' -- "$STINT" run --pty -J giving-way --gpus 2 \
	bash -c 'echo up >running; echo up; '"$forever" >driven 2>&1 &
driver=$!
soon "a job has all slots" test -s running
number=$(stint queue | awk '/giving-way/ { print $1 }')
fails 4 "job $number runs on a terminal and cannot run again" "it cannot be requeued" stint requeue "$number"
stint hold --stop "$number" >/dev/null
wait "$driver"
soon "one that is stopped ends, and is not kept" state "$number" PREEMPTED
fails 4 'cannot run again' "nor can it be requeued then" stint requeue "$number"
run stint logs "$number"
err 'has written nothing' "its output is not kept"

# ---- a daemon that comes back
"$here/lib/terminal" 'wait:up' 'wait:on' 'type:bye\r' -- "$STINT" run --pty \
	sh -c 'echo up >survives; echo up; until [ -e back ]; do sleep 0.05; done; echo on; read -r x; echo "<$x>"; exit 8' >survived 2>&1 &
driver=$!
soon "a job runs on its terminal" test -s survives
daemon_crash
is "the daemon comes back" daemon_start --no-cgroups
touch back
code=0
wait "$driver" || code=$?
cp survived stdout
want 8 "the terminal has outlived the daemon"
out '^<bye>$' "and what is typed reaches the job"

# ---- where it is refused
fails 2 'standard input is no terminal' "without a terminal" stint run --pty true
fails 2 'use stint run --pty instead' "in stint submit" stint submit --pty true
terminal -- --array 0-3 true
want 2 "for arrays"
terminal -- --retries 2 true
out 'pty: a job on a terminal runs once; leave out retries' "with retries"
terminal -- --output file true
out 'pty: the job writes to the terminal; leave out output' "with an output file"
terminal -- --min-gpus 1 --max-gpus 2 true
out 'pty: a job on a terminal keeps its size' "for elastic jobs"
run fetch /v1/jobs '{"command": ["true"], "pty": {"rows": 0, "cols": 80}}'
out 'pty: must be the size of a terminal' "and of no size"
run stint db check
want 0 "the record is sound"
run stint replay "$STINT_STATE"
want 0 "and is replayed"
finish
