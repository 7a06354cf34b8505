#!/bin/bash
# A copy of a state directory whose jobs still run: they stay the original's.  A directory that is moved keeps its jobs.
# shellcheck disable=SC2016,SC2317 # jobs expand their own words; functions are called by is() and soon()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

original=$STINT_STATE
copy=$work/copy
other=
in_copy() {
	STINT_STATE=$copy "$@"
}
begin_copy() {
	"$STINT" daemon --no-http --slots 3 --no-gpus --state "$copy" >>copy.log 2>&1 &
	other=$!
	for _ in $(seq 2400); do
		in_copy stint nodes >/dev/null 2>&1 && return
		kill -0 "$other" 2>/dev/null || break
		sleep 0.05
	done
	cat copy.log >&2
	return 1
}
stop_copy() {
	[ -n "$other" ] || return 0
	kill "$other"
	wait "$other" 2>/dev/null
	other=
}
trap 'stop_copy; daemon_gone; rm -rf "$work"' EXIT
waits_for() { # FILE: a job that counts its runs, and ends when the file is there
	submit --gpus 1 -- sh -c "echo run >>'$work/$1.runs'; while [ ! -e '$work/$1' ]; do sleep 0.05; done; echo done"
}
runs_of() { # FILE
	wc -l <"$1.runs"
}

# ---- a copy while two jobs run
is "a daemon" daemon_begin --slots 3 --no-gpus
waits_for go1; one=$job
soon "a job runs" state "$one" RUNNING
waits_for go2; two=$job
soon "another, too" state "$two" RUNNING
submit --gpus 1 -- echo ended before
ended=$job
soon "a third has ended" state "$ended" COMPLETED
cp -a "$original" "$copy"
is "a daemon on the copy" begin_copy
run in_copy stint foreign
out "^$one/1 .*another state directory, of which this one is a copy" "the first job is shown as foreign"
out "^$two/1 .*another state directory" "and so is the second"
run in_copy stint foreign --json
is "JSON of its schema" valid_json stdout foreign/1
run in_copy stint nodes
out "down.*used by attempt 1 of job $one of another state directory" "devices of the first are down"
out "down.*used by attempt 1 of job $two of another state directory" "and those of the second"
is "the log of the copy says so" grep -q "attempt 1 of job $one of another state directory runs here" copy.log
fails 4 'how it ends is written there' "it cannot be taken over" in_copy stint foreign adopt "$one/1"
run in_copy stint show "$ended"
out 'COMPLETED' "what ended before is known"
run in_copy stint logs "$ended"
out '^ended before$' "with its output"

# ---- nothing that is done to the copy reaches the original's jobs
run in_copy stint cancel "$two"
soon "the copy cancels its own idea of a job" in_copy state "$two" CANCELLED
submit --gpus 1 -- true
soon "the original goes on meanwhile" state "$job" COMPLETED
is "its jobs, too" state "$one" RUNNING
is "and the one that the copy cancelled" state "$two" RUNNING
stop_copy
is "a daemon starts on the copy again" begin_copy
run in_copy stint foreign
out "^$one/1 .*another state directory" "with the same answer"
out "^$two/1 .*another state directory" "for both"
is "no job was begun twice" [ "$(runs_of go1) $(runs_of go2)" = "1 1" ]

# ---- the job ends: the original has its ending, the copy does not know it and runs the job again
touch go1
soon "it ends in the original" state "$one" COMPLETED
run stint logs "$one"
out '^done$' "with its output"
soon "the copy runs its own again" in_copy state "$one" COMPLETED
is "after the other, once" [ "$(runs_of go1)" = 2 ]
run in_copy stint show "$two"
out 'CANCELLED' "what was cancelled there stays so"
run in_copy stint foreign end "$two/1" --now
gone() {
	in_copy stint foreign --json | grep -q '"attempts": \[\]'
}
soon "a person may end what is foreign" gone
soon "which the original sees" state "$two" FAILED
stop_copy
run stint replay "$copy"
want 0 "the copy replays"

# ---- a directory that is moved
waits_for go3; three=$job
soon "a job runs" state "$three" RUNNING
waits_for go4; four=$job
soon "another, too" state "$four" RUNNING
kill "$daemon"
wait "$daemon" 2>/dev/null
mv "$original" "$work/moved"
export STINT_STATE=$work/moved
touch go4
soon "one ends while no daemon runs" grep -q ended "$work/moved/jobs/$four/1/ended"
is "a daemon where it was moved to" daemon_begin --slots 3 --no-gpus
run stint show "$three"
out 'RUNNING' "has its job"
run stint foreign
out 'nothing runs here' "of which none is foreign"
soon "and the ending of the other" state "$four" COMPLETED
touch go3
soon "its job ends" state "$three" COMPLETED
is "no job was begun twice" [ "$(runs_of go3) $(runs_of go4)" = "1 1" ]
run stint replay "$work/moved"
want 0 "it replays"
is "the logs have no errors" [ "$(cat daemon.log copy.log | grep -c ' error: ')" = 0 ]

finish
