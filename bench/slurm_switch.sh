#!/bin/bash
# slurm_switch: a round that replaces every job of a cluster, by a daemon and by bare calls of libslurm.
# Nothing fails by being slow.  doc/performance.md says how to read it.
#
# slurm_switch.sh [NODES]...    nodes of each of three types with 4 GPUs (2 20: 24 and 240 GPUs)
#
# Twice as many jobs as GPUs; under las those that waited replace all that run.  From the decision to the
# moment at which the daemon knows that the last one runs, in turn with slurm_bare on the same cluster: once as
# quickly as can be, once releasing jobs when their GPUs are free, as the daemon does (bench_bare.c says why
# that is slower).  Wall time: medians of BENCH_REPEAT (3) turns of two switches each, and the least.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/slurm_common
. bench/slurm_common

repeat=${BENCH_REPEAT:-3}

bare() { # [after]: seconds of each switch
	"$built/bench/slurm_bare" 2 "$@" | sed -n 's/^switch.*: \([0-9.]*\) s .*/\1/p'
}

# Rounds in which all jobs of the cluster stop: from that to the last that begins.
switches() {
	python3 - "$state/stint.db" "$gpus" <<-'TIMES'
		import sqlite3, sys
		record = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
		gpus, at, rounds, of = int(sys.argv[2]), {}, {}, {}
		for at_s, kind, job, attempt in record.execute("select at_s, kind, job, attempt from event order by seq"):
		    if kind == "stop":
		        rounds.setdefault(at_s, []).append(job)
		    elif kind == "start":
		        of[job, attempt] = at_s
		    elif kind == "begun":
		        at.setdefault(of[job, attempt], []).append(at_s)
		for decided, stopped in sorted(rounds.items()):
		    if len(stopped) == gpus and len(at.get(decided, [])) == gpus:
		        print("%.3f" % (max(at[decided]) - decided))
	TIMES
}

driven() {
	local round_s=$((8 + gpus / 14)) i
	daemon_up --policy las:round_s=$round_s
	for ((i = 0; i < 2 * gpus; i++)); do
		echo '{"gpus":1,"command":["sleep","100000"],"cwd":"/","time_s":360000}'
	done >"$work/jobs"
	"$stint" submit --quiet --batch "$work/jobs" >/dev/null
	# Service is never quite equal: not every round replaces all.
	for ((i = 0; i < 12 * round_s; i++)); do
		sleep 0.5
		[ "$(switches | wc -l)" -lt 2 ] || break
	done
	switches | head -n 2
	daemon_down
	cluster_empty
}

row() { # WHAT BASE BAR SECONDS...
	local what=$1 base=$2 bar=$3
	shift 3
	printf '%-34s %4d %7s %7s %7s   %-8s %s\n' "$what" $# "$(median "$@")" "$(least "$@")" \
		"$(calc "$(median "$@") / $base")" "$bar" \
		"$([ -z "$bar" ] || { [ "$(calc "$(median "$@") <= ${bar#<= } * $base")" = 1 ] && echo pass || echo MISS; })" |
		sed 's/ *$//'
}

one_size() { # NODES BAR
	local quick=() after=() ours=() k more
	cluster_up "$1"
	for ((k = 0; k < repeat; k++)); do
		mapfile -t more < <(bare) && quick+=("${more[@]}")
		cluster_empty
		mapfile -t more < <(bare after) && after+=("${more[@]}")
		cluster_empty
		driven >"$work/driven"
		mapfile -t more <"$work/driven" && ours+=("${more[@]}")
	done
	cluster_down
	printf '\n%-34s %4s %7s %7s %7s   %s\n' "$gpus GPUs, load $(load_now)" n median least ratio bar
	row 'bare libslurm' "$(median "${quick[@]}")" '' "${quick[@]}"
	row 'bare, each GPU free first' "$(median "${quick[@]}")" '' "${after[@]}"
	row 'daemon' "$(median "${quick[@]}")" "$2" "${ours[@]}"
	row 'daemon, to bare with GPUs free' "$(median "${after[@]}")" '' "${ours[@]}"
}

begin
echo "switches of a whole cluster, seconds from the decision until all new jobs run, $(nproc) cores"
for nodes in "${@:-2 20}"; do
	for one in $nodes; do
		one_size "$one" "$([ "$one" -gt 10 ] && echo '<= 1.2' || echo '<= 1.5')"
	done
done
