#!/bin/bash
# queue100k: what every verb costs where 100,000 jobs are queued, as one table.
# Nothing fails by being slow.  doc/performance.md says how to read it.
#
# queue100k.sh [POLICY]      the daemon's own policy unless said
#
# STINT (build/stint), DIR (/var/tmp: a real disk), BENCH_JOBS (100000, in arrays of at most 10,000).
# Time is the caller's, CPU and memory are the daemon's.
set -euo pipefail
cd "$(dirname "$0")/.."

stint=$(realpath "${STINT:-build/stint}")
jobs=${BENCH_JOBS:-100000}
policy=${1:-}
work=$(mktemp -d "${DIR:-/var/tmp}/stint-queue.XXXXXX")
export STINT_SOCKET=$work/socket
pid=

clean() {
	local process
	if [ -n "$pid" ]; then
		kill "$pid" 2>/dev/null || true
		wait "$pid" || true
	fi
	for process in /proc/[0-9]*; do
		if grep -qzs "^STINT_DIR=$work/" "$process/environ"; then
			kill -KILL "${process#/proc/}" 2>/dev/null || true
		fi
	done
	rm -rf "$work"
}
trap clean EXIT

ms() {
	echo $(($(date +%s%N) / 1000000))
}

cpu_ms() {
	awk -v tick="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / tick }' "/proc/$pid/stat"
}

rss_mb() {
	awk '/^VmRSS/ { printf "%.0f", $2 / 1024 }' "/proc/$pid/status"
}

row() { # WHAT MS CPU_MS
	printf '%-44s %8s %8s %8s\n' "$1" "$2" "$3" "$(rss_mb)"
}

up() {
	local began
	began=$(ms)
	"$stint" daemon --state "$work/state" --socket "$STINT_SOCKET" --slots 2 --no-gpus --no-cgroups --quiet \
		--forecast-every 0 ${policy:+--policy "$policy"} 2>>"$work/log" &
	pid=$!
	until "$stint" nodes >"$work/out" 2>&1; do
		kill -0 "$pid" || { cat "$work/log" >&2 && exit 1; }
		sleep 0.05 # a loop that only asks takes a processor from the start it measures
	done
	row "$1" $(($(ms) - began)) "$(cpu_ms)"
}

down() {
	kill "$pid"
	wait "$pid" || true
	pid=
}

# ask WORD...: a row of it; a verb that fails says so.
ask() {
	local began cpu what="stint $*" code=0
	began=$(ms)
	cpu=$(cpu_ms)
	"$stint" "$@" >"$work/out" 2>"$work/err" || code=$?
	[ "$code" = 0 ] || what="$what: exit $code"
	row "$what" $(($(ms) - began)) $(($(cpu_ms) - cpu))
}

# mean NAME: of a histogram of /metrics, milliseconds.
mean() {
	curl -s --unix-socket "$STINT_SOCKET" http://stint/metrics |
		awk -v name="$1" '$1 == name "_sum" { s = $2 } $1 == name "_count" { n = $2 } END { printf "%.1f", n ? 1000 * s / n : 0 }'
}

submit_all() {
	local left=$jobs some began cpu
	began=$(ms)
	cpu=$(cpu_ms)
	while [ "$left" -gt 0 ]; do
		some=$((left < 10000 ? left : 10000))
		"$stint" submit --quiet --array "0-$((some - 1))" --time 1h -J sweep -- sleep 1000 >"$work/out"
		left=$((left - some))
	done
	row "submit $jobs jobs" $(($(ms) - began)) $(($(cpu_ms) - cpu))
}

echo "$jobs jobs queued, policy ${policy:-as the daemon has it}"
printf '%-44s %8s %8s %8s\n' "" "ms" "CPU ms" "MB"
up "start, empty"
submit_all
down
up "start, $jobs queued"
ask queue
ask queue --json --limit 100000
ask explain $((jobs / 2))
ask eta 10
ask eta $((jobs / 2))
ask eta
ask plan -- submit -- true
ask plan -- submit --priority 9 -- true
ask submit -- true
echo "a decision: $(mean stint_decision_seconds) ms on average"
ask hold --name sweep --state pending
ask release --name sweep
ask cancel --name sweep --state pending
ask cancel --all
sleep 3
row "three seconds later" - -
down
began=$(ms)
"$stint" replay "$work/state" | tail -n 1
echo "replay: $(($(ms) - began)) ms"
