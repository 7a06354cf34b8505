#!/bin/bash
# A copy of the record that is put back long after it was made.  What it knows as running and has ended and was
# pruned since holds no devices: it runs again, or is lost if it may not.  What was started since and still runs
# keeps its job from running twice.
# shellcheck disable=SC2016,SC2317 # jobs expand their own words; functions are called by is() and soon()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

stop() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}
state() { # JOB STATE
	stint show "$1" --json 2>/dev/null | grep -q "\"state\": \"$2\""
}
run_until() { # FILE FLAG...
	local file=$1
	shift
	submit "$@" -- sh -c "while [ ! -e '$work/$file' ]; do sleep 0.05; done; echo done"
}

is "a daemon" daemon_start
run_until go; again=$job
run_until go --no-requeue; once=$job
soon "a job runs" state "$again" RUNNING
soon "and another" state "$once" RUNNING
run stint db backup copy.db
want 0 "a backup"
touch go
soon "the first ends" state "$again" COMPLETED
soon "the second, too" state "$once" COMPLETED
submit -- true
soon "and one more, of which the last event is" state "$job" COMPLETED
run stint db prune --older 0s --yes
want 0 "they are pruned"
is "with their directories" [ ! -e "$STINT_STATE/jobs/$again" ]
stop
run stint db restore copy.db
want 0 "the backup is put back"
is "a daemon goes on" daemon_start
soon "what it has running runs again" state "$again" COMPLETED
run stint logs "$again"
out '^done$' "with its output"
soon "what may not run again is lost" state "$once" NODE_FAIL
is "and the log says so" grep -q "job $once, attempt 1: the record has it running.*counts as lost" daemon.log
run stint run --gpus 2 -- echo both
out '^both$' "no device is held"

# ---- two attempts since the copy: the job does not run beside the one that is left
runs_as() { # JOB ATTEMPT
	grep -qx "$2" "beats.$1" && state "$1" RUNNING
}
submit -- sh -c "echo \$STINT_ATTEMPT >>'$work/beats.'\$STINT_JOB_ID; while [ ! -e '$work/go2' ]; do sleep 0.05; done"
twice=$job
soon "a job runs" runs_as "$twice" 1
run stint db backup copy2.db
want 0 "another backup"
run stint requeue "$twice"
soon "it runs again" runs_as "$twice" 2
run stint requeue "$twice"
soon "and again" runs_as "$twice" 3
stop
run stint db restore copy2.db
want 0 "it is put back"
is "a daemon goes on" daemon_start
waits() {
	stint queue >queue.txt && grep -q "attempt 3 of this job .*still runs" queue.txt
}
soon "the job waits for its third attempt" waits
is "which is the only one" [ "$(grep -c . "beats.$twice")" = 3 ]
run stint foreign end "$twice/3" --now
want 0 "it is ended by hand"
soon "and the job goes on" runs_as "$twice" 2
touch go2
soon "to its end" state "$twice" COMPLETED
is "no attempt ran beside another" [ "$(tr '\n' ' ' <"beats.$twice")" = "1 2 3 2 " ]
stop

# ---- an older copy beside a newer log
many() { # N
	for _ in $(seq "$1"); do
		stint submit --parsable -- true || return
	done >numbers
	stint wait "$(tail -n 1 numbers)"
}
is "a daemon" daemon_start
many 15
run stint db backup old.db
want 0 "an old copy"
many 40
stop
is "a daemon after that" daemon_start
many 5
daemon_crash
cp "$STINT_STATE/stint.db" right.db
cp old.db "$STINT_STATE/stint.db"
fails 4 'does not fit its log.*stint db restore FILE' "the copy under the log of another moment is refused" \
	timeout 60 "$STINT" daemon --no-http --slots 2 --no-gpus
cp right.db "$STINT_STATE/stint.db"
is "with the right file it starts" daemon_start
soon "and has its jobs" state "$(tail -n 1 numbers)" COMPLETED
stop
run stint replay "$STINT_STATE"
want 0 "the record replays equal"
run stint db check --state "$STINT_STATE"
want 0 "and is sound"

finish
