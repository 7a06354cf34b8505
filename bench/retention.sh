#!/bin/bash
# retention: what a record of many finished jobs costs before and after pruning, beside the bars:
# a million jobs in 1 GB at most after pruning, and a daemon that is ready within 2 s.
# Nothing fails by being slow.  doc/performance.md says how to read it.
#
# STINT (build/stint): bench/retention is beside it.  DIR (/var/tmp) must be on a real disk with about
# 8 kB of room for each job.  BENCH_JOBS (1000000), BENCH_OLDER (1d of the 100 days they are spread over).
set -euo pipefail
cd "$(dirname "$0")/.."

stint=$(realpath "${STINT:-build/stint}")
make_jobs=$(dirname "$stint")/bench/retention
work=$(mktemp -d "${DIR:-/var/tmp}/stint-retention.XXXXXX")
state=$work/state
jobs=${BENCH_JOBS:-1000000}
older=${BENCH_OLDER:-1d}
pid=
unset STINT_SOCKET XDG_RUNTIME_DIR
export STINT_STATE=$state

clean() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null || true
	rm -rf "$work"
}
trap clean EXIT

now() {
	date +%s.%N
}

since() { # MOMENT: seconds
	awk "BEGIN { printf \"%.2f\", $(now) - $1 }"
}

up() { # a daemon; $ready_s until it answers
	local began
	began=$(now)
	"$stint" daemon --slots 2 --no-gpus --no-cgroups --no-http --quiet 2>>"$work/log" &
	pid=$!
	until "$stint" nodes >"$work/out" 2>&1; do
		kill -0 "$pid" || { cat "$work/log" >&2 && exit 1; }
		sleep 0.01
	done
	ready_s=$(since "$began")
}

peak_mb() { # of the daemon
	awk '/VmHWM/ { printf "%.0f", $2 / 1024 }' "/proc/$pid/status"
}

down() {
	kill "$pid"
	wait "$pid" || true
	pid=
}

size_mb() {
	du -cm "$state"/stint.db* | awk 'END { print $1 }'
}

mkdir -p "$state"
up
"$stint" submit --name train --wait -- sh -c 'echo done; sleep 0.2' >"$work/out"
down
began=$(now)
"$make_jobs" "$state" "$jobs"
printf 'made in %s s: %s MB\n' "$(since "$began")" "$(size_mb)"

up
printf 'restart before pruning: ready in %s s, peak %s MB\n' "$ready_s" "$(peak_mb)"
down

began=$(now)
/usr/bin/time -f 'peak %M kB' "$stint" db prune --older "$older" --yes
printf 'pruned in %s s: %s MB\n' "$(since "$began")" "$(size_mb)"

up
printf 'restart after pruning: ready in %s s, peak %s MB\n' "$ready_s" "$(peak_mb)"
began=$(now)
"$stint" queue --state all --limit 1000 --json >"$work/out"
printf 'queue --state all, 1000 jobs: %s s\n' "$(since "$began")"
down

began=$(now)
"$stint" db check
printf 'check: %s s\n' "$(since "$began")"
began=$(now)
"$stint" replay "$state"
printf 'replay: %s s\n' "$(since "$began")"
