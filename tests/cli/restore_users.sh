#!/bin/bash
# After a restore one user's new job neither adopts another user's process nor shows its results.
# Needs root.
# shellcheck disable=SC2016,SC2317 # jobs expand their own words; functions are called by is() and soon()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null ||
	! setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
	echo "skip - a daemon for all users needs root and setpriv"
	finish
fi

place=$(mktemp -d /tmp/stint-restore.XXXXXX)
trap 'touch "$place/open/go" 2>/dev/null; daemon_gone; rm -rf "$place" "$work"' EXIT
mkdir -m 755 "$place/bin" "$place/run"
mkdir -m 1777 "$place/open"
chmod 755 "$place"
cp "$STINT" "$(dirname "$STINT")/stint-guard" "$place/bin"
STINT=$place/bin/stint
export STINT_STATE=$place/state STINT_SOCKET=$place/run/socket

as() { # UID COMMAND...
	local uid=$1
	shift
	(cd "$place/open" && exec env -u STINT_STATE HOME="$place/open" \
		setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$@")
}
one() { as 65534 "$STINT" "$@"; }
two() { as 65533 "$STINT" "$@"; }
submit_as() { # one|two FLAG... -- COMMAND...: the number in $job
	local who=$1
	shift
	run "$who" submit --parsable "$@"
	job=$(cat stdout)
	[ "$code" = 0 ] || report 1 "submit $*"
}
begin() {
	daemon_begin --system --slots 4 --no-gpus
}
stop() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}
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
