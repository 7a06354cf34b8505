#!/bin/bash
# Two daemons drive two partitions of one real Slurm that share all nodes: every job ends once, and what
# they wanted at the same time comes back and is tried again.  JOBS=6: a cluster that is not full; APART=no: both begin with the same nodes.
# shellcheck disable=SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"

unset STINT_SOCKET XDG_RUNTIME_DIR
export PARTITIONS="a=ALL b=ALL" KILL_WAIT=2
jobs=${JOBS:-20}
cluster_begin 2
ran=$place/ran
mkdir "$ran"
daemons=

# PARTITION K: jobs of each go through their own daemon.
begin() {
	STINT_STATE=$work/$1 "$STINT" daemon --driver slurm --partition "$1" --scheduler "$([ "${APART:-yes}" = yes ] && echo "$2/2" || echo 1/1)" --take none \
		--policy fifo:misfit=skip --no-http --slurm-poll 0.3 --slurm-patience 6 >>"$1.log" 2>&1 &
	daemons="$daemons $!"
	for _ in $(seq 2400); do
		STINT_STATE=$work/$1 "$STINT" nodes >/dev/null 2>&1 && return
		sleep 0.05
	done
	return 1
}
stop() {
	# shellcheck disable=SC2086 # a list
	[ -z "$daemons" ] || kill $daemons 2>/dev/null
	wait
	daemons=
}
trap 'stop; cluster_gone; rm -rf "$work"' EXIT

submit() { # PARTITION
	local i
	for i in $(seq "$jobs"); do
		STINT_STATE=$work/$1 "$STINT" submit --quiet --gpus $((1 << (i % 3))) -J "$1$i" -- \
			sh -c "echo begin >>$ran/$1$i; sleep 0.$((i % 7))1; sleep 1; echo end >>$ran/$1$i" >/dev/null || return 1
	done
}
over() { # PARTITION
	[ "$(STINT_STATE=$work/$1 "$STINT" queue --quiet --all --state completed | grep -c COMPLETED)" = "$jobs" ]
}
once() { # PARTITION
	local i
	for i in $(seq "$jobs"); do
		[ "$(tr '\n' ' ' <"$ran/$1$i")" = "begin end " ] || return 1
	done
}
conflicts() { # PARTITION
	STINT_STATE=$work/$1 "$STINT" db export --quiet 2>/dev/null | grep -c '"bounced":true'
}

is "a daemon for a" begin a 1
is "a daemon for b" begin b 2
submit a &
first=$!
is "jobs for b" submit b
is "jobs for a" wait $first
soon "all of a end" over a
soon "all of b end" over b
is "those of a ran once" once a
is "those of b ran once" once b
echo "# conflicts: $(conflicts a) of a, $(conflicts b) of b, in $((2 * jobs)) jobs"
STINT_STATE=$work/a run stint nodes
want 0 "both still answer"
stop
for part in a b; do
	run stint replay "$work/$part"
	out "^equal" "the record of $part replays"
done
finish
