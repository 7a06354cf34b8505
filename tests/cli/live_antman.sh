#!/bin/bash
# Guaranteed jobs and guests on the same slots, in a real daemon.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

state() { # JOB STATE
	stint queue --json --all 2>/dev/null | tr -d '\n' | grep -Eq "\"id\": $1,[^}]*\"state\": \"$2\""
}

is "a daemon with antman answers" daemon_start --slots 2 --no-cgroups --policy antman:quota=2
run stint submit --gpus 2 -- sh -c 'until [ -e go ]; do sleep 0.05; done'
want 0 "a guaranteed job on both slots"
soon "runs" state 1 RUNNING
run stint submit --gpus 1 --opportunistic -- sh -c 'echo "$STINT_GUEST" >guest; until [ -e go ]; do sleep 0.05; done'
want 0 "a guest"
soon "runs beside it, as its slots are half idle for all that is known" state 2 RUNNING
soon "and knows that it is one" test -s guest
is "by its environment" [ "$(cat guest)" = 1 ]
run stint submit --gpus 2 -- true
want 0 "another guaranteed job"
run stint explain 3
want 0 "is explained"
out "quota has room for 0" "its tenant's quota is used up"
out "job 1 " "and who holds the devices is named"
touch go
soon "it runs when the first has ended" state 3 COMPLETED
run stint explain 3
want 0 "and is explained afterwards, too"

# ---- what cannot be live is refused
run stint policy set pool
want 2 "a policy for remote devices is refused"
err 'simulations only.*devices of other machines' "with what it would need"
run stint daemon --state other --policy zhong
want 2 "so is one that rents nodes, when a daemon starts"
err 'simulations only.*a cloud to rent nodes from' "with what it would need"

finish
