#!/bin/bash
# slurm_poll: what following a full queue costs: CPU of the bridge and of the daemon for a look at Slurm's jobs.
# Nothing fails by being slow.  doc/performance.md says how to read it.
#
# slurm_poll.sh [JOBS]    jobs that wait in Slurm (10000), behind some that use all GPUs
#
# First a daemon that drives them, which submitted them; then, of the same jobs, one that looks on.  A change is
# another time limit.  CPU is what the kernel counted over BENCH_SECONDS (20) with a look a second: of the bridge, of
# the daemon's loop, and of its other threads, which make forecasts when something has changed and keep nobody
# waiting.  Looks are counted in what the two say to each other, and those without a change are taken off at their price.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/slurm_common
. bench/slurm_common

jobs=${1:-10000}
seconds=${BENCH_SECONDS:-20}

# Nanoseconds of CPU: of all threads, or of the first alone.
used() { # PID
	cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%.0f", sum }'
}
used_first() { # PID
	cut -d ' ' -f 1 "/proc/$1/task/$1/schedstat"
}

bridge_pid() {
	pgrep -P "$pid" -x stint-slurm
}

# Looks that were answered so far, and those of them with news.
looks() {
	python3 - "$work/talk" <<-'COUNT'
		import sys
		asked, all, news = set(), 0, 0
		for line in open(sys.argv[1], "rb"):
		    number = line.split(b'"id":', 1)[-1].split(b",", 1)[0].split(b"}", 1)[0].strip()
		    if line.startswith(b">") and (b'"op":"jobs"' in line or b'"op": "jobs"' in line):
		        asked.add(number)
		    elif line.startswith(b"<") and number in asked:
		        asked.discard(number)
		        all += 1
		        news += b'"jobs":[]' not in line.replace(b" ", b"")
		print(all, news)
	COUNT
}

# changes N SECONDS: that many jobs get another limit, about once a look.
changes() {
	local n=$1 list until
	until=$(($(date +%s) + $2))
	list=$(squeue -h -t PD -o %i | shuf --random-source=/dev/zero | awk -v n="$n" 'NR <= n' | paste -sd,)
	while [ "$(date +%s)" -lt "$until" ]; do
		[ "$n" = 0 ] || scontrol update "jobid=$list" "timelimit=$((6000 + RANDOM))"
		sleep 0.9
	done
}

# measure CHANGES: CPU in ms a look with so many changes: $bridge_ms, $daemon_ms and $others_ms.
measure() {
	local b d o all news all2 news2
	read -r all news <<<"$(looks)"
	b=$(used "$(bridge_pid)") d=$(used_first "$pid") o=$(used "$pid")
	changes "$1" "$seconds"
	b=$(($(used "$(bridge_pid)") - b)) d=$(($(used_first "$pid") - d)) o=$(($(used "$pid") - o - d))
	read -r all2 news2 <<<"$(looks)"
	n=$((all2 - all)) m=$((news2 - news))
	bridge_ms=$(share "$b" "$1" "${idle_bridge:-0}")
	daemon_ms=$(share "$d" "$1" "${idle_daemon:-0}")
	others_ms=$(calc "$o / 1e6 / $n")
}

share() { # NANOSECONDS CHANGES IDLE-MS
	calc "$([ "$2" = 0 ] && echo "$1 / 1e6 / $n" || echo "($1 / 1e6 - $3 * ($n - $m)) / ($m ? $m : 1)")"
}

rows() { # WHO
	local changed sum
	unset idle_bridge idle_daemon
	for changed in 0 1 100; do
		measure $changed
		[ "$changed" != 0 ] || idle_bridge=$bridge_ms idle_daemon=$daemon_ms
		sum=$(calc "$bridge_ms + $daemon_ms")
		printf '%-30s %6d %6d %6d %8s %8s %8s %8s   %-9s %s\n' "$1" "$changed" "$n" "$m" "$bridge_ms" "$daemon_ms" \
			"$sum" "$others_ms" '<= 50 ms' "$([ "$(calc "$sum <= 50")" = 1 ] && echo pass || echo MISS)"
	done
}

# quiet: nothing has been said of changes for some looks.
quiet() {
	local same=0 last=-1 now
	while [ "$same" -lt 4 ]; do
		sleep 1.5
		read -r _ now <<<"$(looks)"
		[ "$now" = "$last" ] && same=$((same + 1)) || same=0
		last=$now
	done
}

submit() { # N
	for ((i = 0; i < $1; i++)); do
		echo '{"gpus":1,"command":["sleep","100000"],"cwd":"/","time_s":360000}'
	done >"$work/jobs"
	"$stint" submit --quiet --batch "$work/jobs" >/dev/null
}

begin
cluster_up 2
daemon_up --policy fifo --slurm-record "$work/talk"
for ((left = jobs + gpus; left > 0; left -= 1000)); do
	submit $((left < 1000 ? left : 1000))
done
until [ "$(squeue -h -t PD,R | wc -l)" = $((jobs + gpus)) ]; do sleep 1; done
quiet
printf '%-30s %6s %6s %6s %8s %8s %8s %8s   %s\n' "$jobs jobs, ms of CPU a look" change looks news bridge daemon sum others bar
rows 'daemon that drives'
daemon_down
rm "$work/talk"
state=$work/looking STINT_STATE=$work/looking
"$stint" slurm attach --no-http --slurm-record "$work/talk" >>"$work/daemon.log" 2>&1 &
pid=$!
until [ -s "$work/talk" ] && "$stint" nodes >/dev/null 2>&1; do sleep 0.5; done
quiet
rows 'daemon that looks on'
echo "load $(load_now), $(nproc) cores; $seconds s each"
