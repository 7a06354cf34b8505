#!/bin/bash
# What decides where no policy was named: priorities order the jobs of a tenant, and a state directory
# that began with the default of an earlier version keeps it, which its daemon says.
# shellcheck disable=SC2016,SC2317 # jobs expand what they run; functions are called by is() and soon()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

default=fair-share:preempt=1,elastic=1,priority=1,reserve_s=3600
former=fair-share:preempt=1,elastic=1
loop='until [ -e "$0.end" ]; do sleep 0.05; done; echo "$0" >>order'
waiting() { # HOW MANY
	[ "$(stint queue --state PENDING --json | grep -c '"id"')" = "$1" ]
}
stop() {
	daemon_gone
	mv daemon.log "$1"
}
says() { # REGEX FILE
	grep -Eq -- "$1" "$2"
}
silent() { # REGEX FILE
	! grep -Eq -- "$1" "$2"
}

# ---- a new state directory
is "a daemon answers" daemon_start --slots 1 --no-cgroups
run stint policy
out "$default" "the default policy is as documented"
run stint help daemon
is "and as the help says" says "$default" <(tr -d ' \n' <stdout)
submit -- bash -c "$loop" first
submit --gpus 1 -- bash -c "$loop" low
submit --gpus 1 --priority 5 -- bash -c "$loop" high
soon "one runs and two wait" waiting 2
touch low.end high.end first.end
run stint wait 1 2 3
want 0 "all end"
is "the job of larger priority went before the earlier one" [ "$(tr '\n' ' ' <order)" = "first high low " ]

# ---- a job that is changed, or held and released, keeps its place
rm -f order ./*.end
submit -- bash -c "$loop" first
for name in a b c d; do submit --gpus 1 -J "$name" -- bash -c "$loop" "$name"; done
soon "one runs and four wait" waiting 4
run stint update --time 1h --name a2 "$((job - 3))"
want 0 "the first that waits is changed"
run stint hold "$((job - 2))"
run stint release "$((job - 2))"
want 0 "the second is held and released"
touch {first,a,b,c,d}.end
run stint wait "$job"
soon "all have ended" waiting 0
soon "and written so" eval '[ "$(wc -l <order)" = 5 ]'
is "they ran in order of arrival" [ "$(tr '\n' ' ' <order)" = "first a b c d " ]
rm -f order ./*.end
submit -- bash -c "$loop" first
submit --gpus 1 --array 0-3%1 -- bash -c 'echo "$STINT_ARRAY_INDEX" >>order'
soon "one runs and an array waits" waiting 4
run stint update --time 1h "$job"
want 0 "all its elements are changed"
run stint update --name other "${job}_0"
want 0 "and one once more"
touch first.end
soon "all have run" eval '[ "$(wc -l <order)" = 5 ]'
is "in order of their indices" [ "$(tr '\n' ' ' <order)" = "first 0 1 2 3 " ]
stop new.log
is "a new state directory has nothing to say about defaults" silent 'earlier version' new.log
is "nor has one that began with the default" daemon_start --slots 1 --no-cgroups
stop again.log
is "when its daemon comes back" silent 'earlier version' again.log

# ---- one of an earlier version
export STINT_STATE=$work/old
is "another state directory" daemon_start --slots 1 --no-cgroups
run stint policy set "$former"
want 0 "has the default of an earlier version"
stop before.log
is "a daemon goes on with it" daemon_start --slots 1 --no-cgroups
run stint policy
out "$former\b" "the policy is kept"
is "without the new option" silent 'priority=1' stdout
run stint policy set "$default"
want 0 "what it said is done"
stop old.log
is "it says once that the default is another now" [ "$(grep -c 'earlier version' old.log)" = 1 ]
is "and how to take it" says "stint policy set $default" old.log
is "the daemon comes back" daemon_start --slots 1 --no-cgroups
run stint policy
out "$default" "with the new policy"
stop taken.log
is "and has no more to say" silent 'earlier version' taken.log

finish
