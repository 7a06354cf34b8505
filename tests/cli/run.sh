#!/bin/bash
# What `stint run` says of a job that waits, what Ctrl-C does, and how commands are written.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2329
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

runner=
# In the background, with its signals as on a terminal.
begin_run() { # FLAG... -- COMMAND...
	set -m # else a script's background ignores Ctrl-C
	"$STINT" run "$@" >run.out 2>run.err </dev/null &
	runner=$!
	set +m
}

end_run() {
	last="stint run" code=0
	wait "$runner" || code=$?
	cp run.out stdout
	cp run.err stderr
}

# ---- how commands are written
usage='^usage: stint (run|submit) \[FLAGS\] \[--\] COMMAND \[ARG\.\.\.\]$'
run stint help run
out "$usage" "flags come before the command of run"
run stint help submit
out "$usage" "and of submit"
run stint help plan
out '^usage: stint plan \[FLAGS\] \[--\] submit' "and before a plan"
run stint man run
is "the manual page says so, too" grep -qzE '\[.fIFLAGS.fR\].*COMMAND' stdout

is "a daemon" daemon_start --no-cgroups

# ---- waiting
submit --gpus 2 --time 10m -- sh -c 'until [ -e go ]; do sleep 0.05; done'
first=$job
soon "a job has all slots" state "$first" RUNNING
begin_run --gpus 2 --time 10m -- sh -c 'echo here; until [ -e on ]; do sleep 0.05; done; exit 3'
soon "run says why its job waits, and when it is expected to start" \
	grep -Eq '^stint run: job 2 waits: it needs 2 devices and 0 are free; expected to start (in|now).*80 %' run.err
touch go
soon "then where it started" grep -Eq '^stint run: job 2 started on [^ ]+:0,1 after [0-9]' run.err
touch on
end_run
want 3 "and returns the job's exit code"
is "the reason is one line where there is no terminal" [ "$(grep -c waits stderr)" = 1 ]
out '^here$' "its output is standard output"
run stint run --gpus 2 -- true
is "a job that starts at once is not said to wait" [ "$(grep -c waits stderr)" = 0 ]
begin_run --quiet --hold -- sh -c 'exit 4'
soon "a held job" state 4 PENDING
run stint release 4
end_run
want 4 "a job that is released runs"
is "--quiet says nothing" empty stderr

# ---- waiting, on a terminal
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	last="stint run, on a terminal" code=0
	script -qfec "TERM=xterm '$STINT' run --hold -- echo here" typed </dev/null >/dev/null 2>&1 &
	runner=$!
	soon "on a terminal the line is drawn" grep -q $'\rstint run: job 5 waits: .*\033\\[K' typed
	soon "and drawn again in its place" grep -q 'waits: .*waits: ' typed
	run stint release 5
	wait "$runner"
	is "and wiped when the job starts" grep -q $'\r\033\\[Kstint run: job 5 started' typed
else
	echo "skip - no pseudo terminal can be had here"
	submit -- true
fi

# ---- Ctrl-C
begin_run --hold -- true
soon "a job waits" grep -q 'job 6 waits: ' run.err
kill -INT "$runner"
end_run
want 130 "Ctrl-C while the job waits returns 130"
err '^stint run: cancelling job 6; Ctrl-C once more leaves at once$' "and says what it does"
is "the job is cancelled" state 6 CANCELLED
begin_run -- sh -c 'trap "echo saved; exit 0" TERM; echo up; while :; do sleep 0.05; done'
soon "a job runs" grep -q up run.out
kill -TERM "$runner"
end_run
want 143 "SIGTERM while it runs returns 143, whatever the job returns"
out '^saved$' "once the job has ended"
is "it is cancelled, too" state 7 CANCELLED
begin_run --grace 10m -- sh -c 'trap "echo deaf" TERM; echo up; until [ -e end ]; do sleep 0.05; done'
soon "a job that does not listen runs" grep -q up run.out
kill -INT "$runner"
soon "Ctrl-C reaches it" grep -q deaf run.out
is "and run waits for it" kill -0 "$runner"
kill -INT "$runner"
end_run
want 130 "a second Ctrl-C leaves at once"
err '^stint run: left; job 8 stops by itself: stint show 8$' "and says so"
touch end
begin_run -- sh -c 'echo up; until [ -e alone ]; do sleep 0.05; done'
soon "a job runs on a terminal" grep -q up run.out
kill -HUP "$runner"
end_run
want 129 "a terminal that goes away"
is "leaves the job alone" state 9 RUNNING
touch alone
run stint run --quiet sh -c 'echo "$0 $*"; exit 6' --gpus 7
want 6 "a command needs no -- before it"
out '^--gpus 7$' "and has the flags that follow it"

# ---- Ctrl-C while no daemon answers
begin_run -- sh -c 'echo up; while :; do sleep 0.05; done'
soon "a job runs" grep -q up run.out
daemon_crash
kill -INT "$runner"
soon "it is said that it cannot be cancelled yet" grep -q 'cannot cancel job 11 yet, trying again' run.err
is "a daemon comes back" daemon_start --no-cgroups
end_run
want 130 "the job is cancelled then"
is "as asked" state 11 CANCELLED
begin_run -- sh -c 'echo up; until [ -e left ]; do sleep 0.05; done'
soon "another runs" grep -q up run.out
daemon_crash
kill -INT "$runner"
soon "it cannot be cancelled either" grep -q 'cannot cancel job 12 yet' run.err
kill -INT "$runner"
end_run
want 130 "who leaves before that"
err '^stint run: left; job 12 is not cancelled: stint cancel 12$' "hears that it goes on"
is "a daemon comes back again" daemon_start --no-cgroups
soon "and has it" state 12 RUNNING
touch left
finish
