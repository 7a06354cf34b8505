#!/bin/bash
# A copy of the record that is put back after what it knows as running has ended and was pruned: those jobs hold
# no devices; they run again, or are lost if they may not.
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
stop
run stint replay "$STINT_STATE"
want 0 "the record replays equal"
run stint db check --state "$STINT_STATE"
want 0 "and is sound"

finish
