#!/bin/bash
# Devices that are drained, devices on which jobs fail, and jobs that hold devices and do
# nothing, through a real daemon.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

shows() { # JOB REGEX
	stint show "$1" | grep -Eq -- "$2"
}

device() { # NUMBER STATE
	stint nodes | grep -Eq "^[^ ]+ +$1 +cpu .* $2( |\$)"
}

happened() { # KIND [REGEX]
	stint db export --format events | grep "\"kind\":\"$1\"" | grep -Eq -- "${2:-.}"
}

never() { # KIND REGEX
	! happened "$@"
}

metric() { # NAME VALUE
	fetch /metrics | grep -q "^$1 $2\$"
}

slots='until [ -e never ]; do sleep 0.05; done'

# ---- drained by hand
is "a daemon answers" daemon_start --slots 2 --no-cgroups
submit --name stays -- sh -c "$slots"
soon "a job runs" state 1 RUNNING
run stint nodes drain :0-1 --reason 'the fan is loud'
want 0 "devices are drained"
out '^2 devices of .* drained: 0,1$' "and named"
is "one that is in use is draining" device 0 draining
is "the other one is drained" device 1 drained
run stint nodes
out 'the fan is loud' "with the reason"
run stint nodes --json
out '"drained": *true' "also as JSON"
submit --name waits -- sh -c "$slots"
run stint explain 2
out 'drained' "who waits for them is told"
out 'of node .* are drained \(the fan is loud\)' "and why they are"
is "who has one keeps it" state 1 RUNNING
is "metrics count them" metric stint_drained_devices 2

daemon_crash
is "another daemon comes" daemon_start --slots 2 --no-cgroups
is "they are drained still" device 1 drained
run stint nodes
out 'the fan is loud' "for the same reason"
is "the job goes on" state 1 RUNNING
is "the other one waits" state 2 PENDING
run stint policy set fifo
is "another policy does not change that" device 1 drained
is "nor who waits" state 2 PENDING
run stint nodes resume :1
want 0 "one is given back"
soon "who waited has it" state 2 RUNNING
is "it is in use" device 1 busy
run stint nodes resume :0-1
is "events tell of both" happened drained 'the fan is loud'
is "and of their return" happened resumed

fails 3 'no device 7' "a device that is not there is not found" stint nodes drain :7
fails 3 'no such node' "nor a node" stint nodes drain elsewhere:0
fails 2 'not understood; write 0,2-3' "what is no number is wrong" stint nodes drain :x
fails 2 'which devices' "devices must be named" stint nodes drain
fails 2 'drain, resume or forget' "there are three words" stint nodes dance :0
run stint cancel 1 2
soon "the first is gone" state 1 CANCELLED
soon "so is the second" state 2 CANCELLED

# ---- a device on which a job fails
submit --retries 5 --name picky -- sh -c 'if [ "$STINT_DEVICES" = cpu-0 ]; then exit 3; fi; '"$slots"
picky=$job
# It runs on device 0, too, for a moment.
elsewhere() {
	shows "$picky" '^failed on +device 0, 2 times' && state "$picky" RUNNING
}
soon "a job that fails on a device goes to another" elsewhere
run stint show "$picky"
out '^failed on +device 0, 2 times \(avoided\)' "and says where it failed"
run stint show "$picky" --json
out '"failed_on"' "also as JSON"
run stint cancel "$picky"
soon "it is cancelled" state "$picky" CANCELLED
submit --name holds -- sh -c "$slots"
holds=$job
soon "one has device 0" state "$holds" RUNNING
for name in un deux trois; do
	submit --name "$name" -- sh -c '[ "$STINT_DEVICES" != cpu-1 ]'
	soon "$name fails on device 1" state "$job" FAILED
done
is "which is drained then" device 1 drained
run stint nodes
out '3 different jobs failed here in a row' "with the reason"
submit --name heedless -- true
is "nothing new goes there" state "$job" PENDING
run stint nodes resume :1
soon "until it is forgiven" state "$job" COMPLETED
run stint cancel --all
soon "all are gone" state "$holds" CANCELLED

# ---- idle jobs
kill "$daemon"
wait "$daemon" 2>/dev/null
is "a daemon watches jobs" daemon_start --slots 4 --no-cgroups --idle warn=2s,cores=0.001
submit --name busy -- sh -c 'while :; do :; done'
busy=$job
submit --name allowed --allow-idle -- sleep 3600
allowed=$job
soon "a busy one runs" state "$busy" RUNNING
submit --name lazy -- sleep 3600
lazy=$job
soon "one that sleeps is warned of" happened idle_warned "\"job\":$lazy\\b.*without any activity"
lazy_shown() {
	stint queue | grep -q 'has done nothing for' &&
		stint show "$lazy" --json | grep -q '"warned": *true' && stint nodes | grep -q ' idle '
}
soon "and is shown to be idle" lazy_shown
kill "$daemon"
wait "$daemon" 2>/dev/null
is "another daemon takes devices back" daemon_start --slots 4 --no-cgroups --idle warn=2s,reclaim=4s,then=hold,cores=0.001
soon "it is held later" shows "$lazy" 'reclaimed: held 1 device for .* without any activity; let it go with: stint release'
soon "its devices are free" shows "$lazy" '^state *PENDING'
run stint history "$lazy"
out 'reclaimed: held 1 device' "its history says so"
is "one that computes is not" state "$busy" RUNNING
is "nor was it warned of" never idle_warned "\"job\":$busy\\b"
is "nor is one that may sleep" state "$allowed" RUNNING
is "metrics count it" metric stint_idle_reclaims_total 1
run stint release "$lazy"
second_attempt() {
	stint show "$lazy" --json | grep -Eq '"attempts?": *2'
}
soon "it may run again" second_attempt
soon "until it is taken back again" shows "$lazy" '^state *PENDING'
fails 2 'is not understood' "a rule must be one" "$STINT" daemon --idle warn=often
fails 2 'comes before warn' "nobody is reclaimed before the warning" "$STINT" daemon --idle warn=2h,reclaim=1h

# ---- all of it comes again
run stint cancel --all
soon "all are gone again" state "$busy" CANCELLED
kill "$daemon"
wait "$daemon" 2>/dev/null
daemon=
run stint replay "$STINT_STATE"
want 0 "the record comes again, decision by decision"

finish
