#!/bin/bash
# Why jobs wait, and what would start them, through a real daemon.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

runs() { # JOB
	stint show "$1" | grep -q '^state *RUNNING'
}

is "a daemon answers" daemon_start --slots 4 --no-cgroups --policy priority
slots='until [ -e never ]; do sleep 0.05; done'

# ---- busy: job 1 has three of four
submit --gpus 0 -c 3 --estimate 10m --name first -- sh -c "$slots"
soon "the first runs" runs 1
run stint explain 1
want 0 "one that runs is explained"
out '^job 1, RUNNING: it runs on 3 devices' "by where it runs"
submit --gpus 0 -c 2 --name second -- sh -c "$slots"
run stint explain 2
want 0 "one that waits is explained"
out '^job 2, PENDING: it needs 2 devices and 1 is free' "in the words of the policy"
out '^ +1\. busy ' "the first cause is that devices are busy"
out 'job 1 .*has held 3 cpu for' "and who holds them"
out '^  - 1 CPU instead of 2: resubmit with --cpus-per-task 1$' "fewer would do"
out '^  - wait for 1 to end, believed to take another' "so would the end of the first"
out '^  - hold job 1, which stops it: stint hold --stop 1$' "which is one's own to hold"
run stint explain 2 --json
want 0 "and as JSON"
out '"schema": *"explain/1"' "with its schema"
out '"kind": *"wait"' "and the changes"

# ---- held
submit --gpus 0 -c 1 --hold -- sh -c "$slots"
run stint explain "$job"
out '^job 3, PENDING: it is held back until somebody lets it go; this would start it: let it go' "a hold is a cause"
out '^  - let it go: stint release 3$' "with the command that ends it"
run stint release 3
soon "which does start it" runs 3

# ---- what is suggested does start it
run stint hold --stop 1
soon "holding the first starts the second" runs 2
run stint explain 1
out 'stint release 1|held back' "the first is held now"

# ---- dependencies, begin, ends
submit --gpus 0 -c 1 --dependency afterany:2 -- true
run stint explain "$job"
out 'it follows job 2, which has not ended' "a dependency is a cause"
submit --gpus 0 -c 1 --begin now+2h -- true
run stint explain "$job"
out 'it may not start for another 2h' "so is a begin time"
run stint cancel 2
ended() {
	stint explain 2 | grep -q '^job 2, CANCELLED: it ended: CANCELLED'
}
soon "one that ended says so" ended
run stint explain 77
want 3 "one that is not there is not found"
run stint explain x
want 2 "what is no number is wrong"

finish
