#!/bin/bash
# Roles of users and groups (stint daemon --roles): who may look, who may change jobs of others, and who sets
# rules.  Needs root.
# shellcheck disable=SC2016,SC2317 # jobs expand their own words; functions are called by is() and soon()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

# ---- rules that cannot hold end the start
refused() { # REGEX WHAT FLAG...
	local regex=$1 what=$2
	shift 2
	fails 2 "$regex" "$what" timeout 60 "$STINT" daemon --state "$work/refused" --slots 1 --no-gpus --no-http "$@"
}
refused '--roles goes with --system' "roles are for the daemon of all users" --roles operator:65534
# shellcheck source=tests/cli/lib/users
. "$here/lib/users"
refused "--roles: this system has no user 'nosuch-user'" "a user that does not exist is refused" --system --roles operator:nosuch-user
refused "--roles: this system has no group 'nosuch-group'" "so is a group" --system --roles operator:@nosuch-group
refused "--roles: 'chief:65534' is not understood.*read, user, operator and admin" "and a role" --system --roles chief:65534
refused "always admin" "root keeps its role" --system --roles read:root
printf '# who may do what\nread: 65533\nchief:65534\n' >"$place/roles"
refused "$place/roles:3: 'chief:65534'" "a mistake in a file is named by its line" --system --roles "$place/roles"

# ---- a reader, by a file
printf '# who may do what\nread: 65533   # a guest\n' >"$place/roles"
is "a daemon for all users" begin --roles "$place/roles"
run two whoami
want 0 "a user asks for the role"
out '^role +read: .*changes nothing' "which is read"
out '^from +--roles read:65533' "by that rule"
run two whoami --json
is "the answer lists verbs" grep -q '"set_policy"\|"jobs"' stdout
is "but none that changes anything" [ "$(grep -c '"submit"\|"cancel_many"\|"drain"\|"set_policy"' stdout)" = 0 ]
is "nor the rules" [ "$(grep -c '"roles"' stdout)" = 0 ]
fails 4 'role read .*changes nothing.*root gives another.*--roles' "a reader submits nothing" two submit -- true
fails 4 'role read' "and cancels nothing" two cancel --all
run two queue
want 0 "but sees the queue"
run one whoami
out '^role +user: ' "another user is a user"
out 'no rule of --roles names this user' "without a rule"
run one run --quiet -- true
want 0 "who runs a job"
run stint whoami
out '^role +admin: ' "root is admin"
out '^read +65533 +65533' "and sees the rules"
run one run --quiet -- echo words of one
stop

# ---- an operator, by a group where its number has a name
rule=operator:65534
if name=$(id -gn 65534 2>/dev/null); then
	rule=operator:@$name
else
	echo "skip - user 65534 has no name here: a rule for a group is tried by tests/daemon/roles_test.c only"
fi
is "a daemon with another role" begin --roles "$rule,user:*"
run one whoami
out '^role +operator: ' "one is an operator"
out "^from +--roles $rule" "by that rule"
submit_as two --gpus 1 -- sh -c 'echo private words; sleep 1000' --password=hush
mine=$job
soon "a job of two runs" said "$mine" 'private words'
run one hold --stop "$mine"
want 0 "an operator holds it"
soon "it is held" state "$mine" PENDING
run one update --priority 7 "$mine"
want 0 "changes its priority"
run one release "$mine"
want 0 "and releases it"
fails 4 'another user' "but does not read its output" one logs "$mine"
run one show "$mine" --json
is "nor its command" [ "$(grep -c hush stdout)" = 0 ]
run one cancel --user 65533 --name sh
want 0 "an operator cancels by a filter"
out "^job $mine cancelled" "and the job is among them"
run two wait "$mine"
out 'CANCELLED' "and it ends"
run one requeue "$mine"
want 0 "an operator runs it again"
soon "it runs" state "$mine" RUNNING
run one cancel "$mine" --reason 'by an operator'
want 0 "and cancels it"
node=$(stint nodes --json | sed -n 's/^ *"name": "\([^"]*\)".*/\1/p' | head -n 1)
run one nodes drain "$node:3"
want 0 "an operator drains a device"
run one nodes resume "$node:3"
want 0 "and resumes it"
while read -r line; do
	# shellcheck disable=SC2086 # words
	fails 4 'only an administrator' "an operator may not: $line" one $line
done <<LINES
policy set fifo
quota set me --weight 1000
nodes forget $node:3
audit
foreign
LINES
fails 4 'only an operator' "a user drains nothing" two nodes drain "$node"

# ---- the audit has every change of another user's job, and all of it after a stop
fails 4 'only an operator' "once more" two nodes drain "$node"
stop
is "a daemon again" begin --roles "$rule"
run stint audit --json
cp stdout audit.json
run stint audit
audited() { # WHO ROLE VERB DETAIL
	grep -Eq "change +$1 +$2 +unix +$3 +200 +1 +$4" stdout
}
who=$(id -un 65534 2>/dev/null || echo 65534)
for verb in hold update release requeue cancel; do
	is "the audit has $verb, by whom, from where and whose" audited "$who" operator "$verb" "job $mine of 65533"
done
is "and a change by a filter" audited "$who" operator cancel_many "job $mine of 65533"
is "and changes of devices" audited "$who" operator drain ".*"
is "but none of one's own jobs" [ "$(grep -Ec "change +65533" stdout)" = 0 ]
out 'denied +65533 +user +unix +drain +403 +1' "what was refused just before the stop is there"
is "with how often" [ "$(grep -Ec 'denied +65533 +user +unix +drain +403' stdout)" = 2 ]
is "as JSON, with the job" grep -q "\"job\": $mine" audit.json
is "and its owner" grep -q '"owner": 65533' audit.json
stop

# ---- an administrator
is "a daemon with a further role" begin --roles admin:65534
run one policy set fifo
want 0 "an administrator sets the policy"
run one logs "$mine"
out 'private words' "and reads output"
run one whoami
out '^admin +65534 +65534' "and sees the rules"
is "the daemon stops without a fault" stop
run stint replay "$STINT_STATE"
want 0 "all of this replays"
is "the log has no errors" [ "$(grep -c ' error: ' daemon.log)" = 0 ]

finish
