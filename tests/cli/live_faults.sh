#!/bin/bash
# A daemon and jobs that mean no good: a disk that is full for a while, and jobs
# that run away, hide, or turn against their guard.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2059,SC2094
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

faults=$(dirname "$STINT")/tests/fake/libfaults.so

shows() { # JOB REGEX
	stint show "$1" --json | grep -Eq -- "$2"
}

gone() { # PID...: none of them lives; what nobody has waited for yet is dead, too
	local pid
	for pid in "$@"; do
		grep -qs '^State:[^Z]*$' "/proc/$pid/status" && return 1
	done
	return 0
}

# Without room: verbs say so, jobs run on, and nothing is lost or done by halves.
full_disk() { # HOW FILL FREE
	local how=$1 fill=$2 free=$3
	rm -f end held
	submit -- sh -c 'echo x >began; until [ -e end ]; do sleep 0.05; done; exit 3'
	local runs=$job
	submit -- sh -c 'echo x >began2; sleep 1000'
	local other=$job
	submit --hold -- sh -c 'echo x >held'
	local held=$job
	soon "$how: a job runs" test -s began -a -s began2
	# Afterwards nothing can be written down, not even that.
	soon "$how: which is in the record" state "$runs" RUNNING
	soon "$how: as is another" state "$other" RUNNING
	$fill
	fails 1 'cannot write its record.*(full|o space)' "$how: a change is refused with code 1" stint cancel "$other"
	fails 1 'cannot write its record.*(full|o space)' "$how: so is a submission" stint submit -- true
	fails 1 'cannot write its record' "$how: and a policy" stint policy set fifo
	run stint queue
	want 0 "$how: the queue is shown"
	err 'cannot write its record' "$how: with a word on it"
	out "^ *$runs .*RUNNING" "$how: and what runs"
	is "$how: which runs on" [ ! -e end ]
	run fetch --status /healthz
	out '^503' "$how: healthz says so"
	touch end
	run stint wait --timeout 1s "$runs"
	want 7 "$how: an end that cannot be written down is not told"
	$free
	run stint wait --timeout 300s "$runs"
	want 3 "$how: as soon as there is room it is, without a restart"
	run stint wait --timeout 300s "$other"
	out 'CANCELLED' "$how: what was asked for first is done"
	is "$how: nothing else was" [ ! -e held ]
	run stint release "$held"
	want 0 "$how: and changes are taken again"
	run stint wait --timeout 300s "$held"
	want 0 "$how: jobs run again"
	run stint policy show
	is "$how: the policy is as it was" [ "$(grep -c fifo stdout)" = 0 ]
	is "$how: the log has one error" [ "$(grep -c ' error: ' daemon.log)" = 1 ]
	rm -f began began2
}

stop_daemon() {
	kill "$daemon"
	wait "$daemon"
	daemon=
	run stint replay "$STINT_STATE"
	want 0 "$1: all of this replays"
	run stint db check
	want 0 "$1: the record is sound"
}

# ---- a disk that says it is full
break_disk() { rm mended; }
mend_disk() { touch mended; }
if [ -e "$faults" ] && ! nm -D "$STINT" 2>/dev/null | grep -q __asan_init; then
	mkdir -p "$STINT_STATE"
	mend_disk
	export FAULTS_PROGRAM=stint FAULTS_DIR=$STINT_STATE FAULTS_AT=1 FAULTS_WHAT=enospc-from \
		FAULTS_OFF=$work/mended
	LD_PRELOAD=$faults daemon_start --slots 4 --no-cgroups
	is "a daemon on a disk that can fail" test -n "$daemon"
	full_disk "failing writes" break_disk mend_disk
	stop_daemon "failing writes"
	unset FAULTS_PROGRAM
else
	echo "skip - $faults is not built, or cannot be put under a program with sanitizers"
fi

# ---- a disk that is
fill_disk() { cat /dev/zero >disk/rest 2>/dev/null; }
free_disk() { rm disk/rest; }
mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=4m stint-test "$work/disk" 2>/dev/null; then
	trap 'daemon_gone; umount -l "$work/disk"; rm -rf "$work"' EXIT
	export STINT_STATE=$work/disk/state
	: >daemon.log
	is "a daemon on a small disk" daemon_start --slots 4 --no-cgroups
	full_disk "full disk" fill_disk free_disk
	stop_daemon "full disk"
else
	echo "skip - a disk to fill needs root"
fi

# ---- jobs that mean no good, with control groups and without
hostile() { # HOW FLAG...
	local how=$1
	shift
	export STINT_STATE=$work/state-$how
	: >daemon.log
	is "$how: a daemon" daemon_start --slots 4 "$@"

	# a crowd of children in sessions of their own, deaf, some with nothing in their environment
	: >kids
	submit --grace 1s -- bash -c '
		deaf="trap : TERM HUP INT; echo \$\$ >>kids; while :; do sleep 0.2; done"
		for i in $(seq 20); do setsid sh -c "$deaf" & done </dev/null >/dev/null 2>&1
		for i in $(seq 10); do (setsid env -i sh -c "$deaf" &) & done </dev/null >/dev/null 2>&1
		wait; sleep 1000'
	local crowd=$job
	soon "$how: a job runs away" bash -c '[ "$(wc -l <kids)" = 30 ]'
	# one that leaves such children behind
	submit -- bash -c 'setsid env -i sh -c "trap : TERM HUP; echo \$\$ >left; while :; do sleep 0.2; done" & until [ -s left ]; do sleep 0.05; done; exit 6'
	run stint wait "$job"
	want 6 "$how: who leaves children behind ends as it says"
	# shellcheck disable=SC2046 # numbers
	is "$how: and so do they" gone $(cat left)
	run stint cancel "$crowd"
	run stint wait --timeout 300s "$crowd"
	out 'CANCELLED' "$how: the runaway is cancelled"
	# shellcheck disable=SC2046 # numbers
	is "$how: with all it has started" gone $(cat kids)

	run stint run --quiet -- bash -c 'for f in /proc/self/fd/*; do eval "exec ${f##*/}>&-"; done; exit 7'
	want 7 "$how: who closes everything is seen to end"
	run stint run --quiet -- bash -c 'trap "" TERM HUP INT QUIT; kill -- -$$; kill -TERM 0; echo here; exit 4'
	want 4 "$how: who signals its own group hits nobody else"
	out '^here$' "$how: and goes on"

	rm -f stopper
	submit --grace 1s -- sh -c 'kill -STOP $PPID; echo $$ >stopper; while :; do sleep 0.1; done'
	soon "$how: a job stops its guard" test -s stopper
	run stint cancel "$job"
	run stint wait --timeout 300s "$job"
	out 'CANCELLED' "$how: it is cancelled nevertheless"
	is "$how: and gone" gone "$(cat stopper)"
	run stint run --no-requeue -- sh -c 'sleep 1000 & echo $! $$ >killer; kill -KILL $PPID; sleep 1000'
	err 'NODE_FAIL.*guard' "$how: a job without its guard is nobody's"
	# shellcheck disable=SC2046 # numbers
	is "$how: and does not live" gone $(cat killer)
	run stint run --no-requeue -- sh -c 'rm -rf "$STINT_DIR"; exit 0'
	is "$how: who deletes the word of its end has none" [ "$code" != 0 ]
	run stint run --quiet -- sh -c 'yes | head -c 3000000'
	is "$how: much output comes whole" [ "$(stat -c %s stdout)" = 3000000 ]
	stop_daemon "$how"
	is "$how: the log has no errors" [ "$(grep -c ' error: ' daemon.log)" = 0 ]
}
hostile plain --no-cgroups
if [ "$(id -u)" = 0 ]; then
	hostile grouped
else
	echo "skip - control groups are root's here"
fi

finish
