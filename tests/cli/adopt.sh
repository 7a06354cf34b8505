#!/bin/bash
# stint foreign adopt: an attempt that began after a backup is taken over with the devices that it runs on.
# shellcheck disable=SC2016,SC2317 # jobs expand their own words; functions are called by is() and soon()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

state_dir=$STINT_STATE
begin() {
	daemon_begin --slots "$slots" --no-gpus
}
stop() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}
held_job() { # FILE WORDS: a held job that runs until the file is there
	submit --hold --gpus 1 -- sh -c "echo run >>'$work/$1.runs'; while [ ! -e '$work/$1' ]; do sleep 0.05; done; echo $2"
}
on_device() { # JOB DEVICE
	stint show "$1" --json >shown && [ "$(grep -c "\"$2\"" shown)" != 0 ]
}
none_foreign() {
	stint foreign --json | grep -q '"attempts": \[\]'
}
device_of() { # JOB
	sed -n 's/.*"devices":\["\([^"]*\)".*/\1/p' "$state_dir/jobs/$1/1/grant"
}
# Runs a held job after a backup and puts the backup back.
go_back() { # JOB
	run stint db backup "copy-$1.db"
	want 0 "a backup while job $1 is held"
	run stint release "$1"
	soon "it begins after that" state "$1" RUNNING
	stop
	run stint db restore "copy-$1.db"
	want 0 "the backup is put back"
	is "a daemon starts" begin
}

# ---- the record gives the attempt another device than it runs on
slots=2
is "a daemon" begin
held_job go1 first; one=$job
go_back "$one"
runs_on=$(device_of "$one")
run stint nodes
out "down.*used by attempt 1 of job $one of another record" "what runs keeps its device"
fails 4 'is held.*release it first' "a held job is not taken over" stint foreign adopt "$one/1"
run stint release "$one"
given() {
	stint show "$one" --json | grep -q '"state": "launched"'
}
soon "the record gives it another device" given
run stint foreign adopt "$one/1"
want 0 "it is taken over all the same"
soon "it runs in the record" state "$one" RUNNING
is "nothing is foreign" none_foreign
run stint nodes
out "busy +$one +.*$runs_on\$" "on the device that it uses"
submit --gpus 1 -- sh -c 'echo $STINT_DEVICES'
soon "another job runs beside it" state "$job" COMPLETED
is "on another device" [ "$(device_of "$job")" != "$runs_on" ]
stop
is "a daemon starts again" begin
run stint show "$one"
out RUNNING "and still has it"
run stint history "$one"
out 'taken over with the devices it runs on' "its history says so"
touch go1
soon "it ends" state "$one" COMPLETED
run stint logs "$one"
out '^first$' "with its own output"
is "it ran once" [ "$(wc -l <go1.runs)" = 1 ]
run stint replay "$state_dir"
want 0 "all of it replays"
stop

# ---- the only device is the one that it uses, so the record could not give it any
slots=1
is "a daemon with one device" begin
held_job go2 second; two=$job
go_back "$two"
run stint release "$two"
is "its job waits" state "$two" PENDING
run stint foreign adopt "$two/1"
want 0 "it is taken over"
soon "it runs in the record" state "$two" RUNNING
run stint nodes
out "busy +$two " "on the device that it uses"
submit --gpus 1 -- echo third
three=$job
is "another job waits for it" state "$three" PENDING
daemon_crash
is "a daemon after a crash" begin
run stint show "$two"
out RUNNING "has it"
touch go2
soon "it ends" state "$two" COMPLETED
run stint logs "$two"
out '^second$' "with its own output"
soon "and the other runs" state "$three" COMPLETED
is "it ran once" [ "$(wc -l <go2.runs)" = 1 ]

# ---- what it cannot be
held_job go3 later; four=$job
go_back "$four"
run stint cancel "$four"
soon "a job that is cancelled in the record" state "$four" CANCELLED
fails 4 'not in this record, or has ended' "is not taken over" stint foreign adopt "$four/1"
run stint foreign end "$four/1" --now
want 0 "what runs is ended"
soon "and is gone" none_foreign
stop
run stint replay "$state_dir"
want 0 "all of it replays"
run stint db check
want 0 "the record is sound"
is "the log has no errors" [ "$(grep -c ' error: ' daemon.log)" = 0 ]

finish
