#!/bin/bash
# A disk without any room: the record is read, pruned and opened, the daemon starts, and jobs that run go on.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2329
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

mkdir disk
if [ "$(id -u)" != 0 ] || ! mount -t tmpfs -o size=32m stint-test "$work/disk" 2>/dev/null; then
	echo "skip - a disk to fill needs root"
	finish
fi
trap 'rm -f "$work"/disk/fill.*; daemon_gone; umount -l "$work/disk"; rm -rf "$work"' EXIT
export STINT_STATE=$work/disk/state
reserve=$STINT_STATE/stint.db-reserve
files=0

fill() {
	files=$((files + 1))
	dd if=/dev/zero of="disk/fill.$files" bs=4k 2>/dev/null
	[ "$(df -k --output=avail disk | tail -n 1)" -lt 64 ]
}

whole() {
	[ "$(stat -c %s "$reserve")" = 4194304 ]
}

down() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}

# ---- a daemon with a job that runs to the end of this
is "a daemon" daemon_start --no-cgroups
is "room is kept beside the record" whole
submit -- sh -c 'until [ -e '"$work"'/enough ]; do sleep 0.1; done'
long=$job
soon "a job runs" state "$long" RUNNING
for _ in $(seq 20); do
	submit -- true
done
# shellcheck disable=SC2046 # numbers
run stint wait --timeout 300s $(seq 2 21)
want 0 "others have ended"

# ---- stopped, and full
down
is "the disk is full" fill
run stint db status
want 0 "db status reads a record on a full disk"
out '^events  last [0-9]+.*last job 21$' "all of it"
run stint db check
want 0 "db check, too"
is "a daemon starts" daemon_start --no-cgroups
is "with a part of that room" test "$(stat -c %s "$reserve")" -lt 4194304
run stint queue
out "^ +$long .* RUNNING " "and has the job that ran"

# ---- running, and full again
is "the disk is full again" fill
refused() {
	stint submit --parsable -- true >/dev/null 2>said && return 1
	grep -q 'cannot write its record (disk full: .*Make room and try again' said
}
soon "submissions are refused, and it says why" refused
run stint queue
want 0 "the queue is shown"
out "^ +$long .* RUNNING " "with the job"
run timeout 300 "$STINT" db prune --older 0s --yes
want 0 "the daemon prunes on a full disk"
out '^pruned [1-9][0-9]* jobs: ' "what has ended"
run stint queue
out "^ +$long .* RUNNING " "and keeps what runs"

# ---- killed, and full once more
is "the disk is full a third time" fill
daemon_crash
run stint db status
want 0 "db status reads what a crash left"
run stint db prune --older 0s
want 0 "db prune works without a daemon"
run stint db check
want 0 "and the record is sound"
fill
is "a daemon starts once more" daemon_start --no-cgroups

# ---- room
rm disk/fill.*
taken() {
	stint submit --parsable -- true >number 2>/dev/null
}
soon "with room, jobs are taken without a restart" taken
run stint wait --timeout 300s "$(cat number)"
want 0 "and run"
soon "and room is kept again" whole
touch enough
run stint wait --timeout 300s "$long"
want 0 "the job that ran all the while ends as it should"
run stint show "$long"
out '^ +1 +over ' "in its first attempt"
is "and its only one" [ "$(grep -c '^ *[0-9]* *over ' stdout)" = 1 ]
down
run stint db check
want 0 "and the record is sound"
finish
