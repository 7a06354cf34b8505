#!/bin/bash
# After a restore one user's new job neither adopts another user's process nor shows its results.
# Needs root.
# shellcheck disable=SC2016,SC2317 # jobs expand their own words; functions are called by is() and soon()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"
# shellcheck source=tests/cli/lib/users
. "$here/lib/users"

ended() { # JOB STATE
	stint show "$1" --json 2>/dev/null | grep -q "\"state\": \"$2\""
}

is "a daemon for all users" begin
run stint db backup "$place/copy.db"
want 0 "a backup"
submit_as one --gpus 1 -- sh -c "echo \$\$ >$place/open/pid; while [ ! -e $place/open/go ]; do sleep 0.05; done"
ones=$job
soon "a job of the first user runs" test -s "$place/open/pid"
submit_as one --gpus 1 -- echo private words
soon "another has ended" ended "$job" COMPLETED
last_job=$job
stop
run stint db restore "$place/copy.db"
want 0 "a restore"
is "a daemon" begin
for i in 1 2 3; do
	submit_as two --gpus 1 -- sh -c "id -u; echo words $i"
	is "number $job is new" [ "$job" -gt "$last_job" ]
	soon "a job of the second user ends" ended "$job" COMPLETED
	run two logs "$job"
	is "as that user, with its own words" [ "$(xargs <stdout)" = "65533 words $i" ]
	run two cancel "$job"
done
fails 4 'administrator|root|may not' "the second user sees nothing of it" two foreign
fails 4 'administrator|root|may not' "and cannot end it" two foreign end "$ones/1"
fails 3 'no job' "nor cancel it" two cancel "$ones"
is "the first user's process runs on" kill -0 "$(cat "$place/open/pid")"
run stint foreign
out "^$ones/1 .*65534" "root sees whose it is"
touch "$place/open/go"
gone() {
	stint foreign --json | grep -q '"attempts": \[\]'
}
soon "it ends by itself" gone
stop
finish
