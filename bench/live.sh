#!/bin/bash
# live: what the daemon can do on this machine's disk, beside the bars it should meet.
# Nothing fails by being slow.  doc/performance.md says how to read it.
#
# live.sh [PART]...     submits queue flow looks page; all of them unless said
#
# STINT (build/stint): stint-guard and bench/live_load are beside it.  DIR (/var/tmp) must be on a real disk.
# BENCH_JOBS (100000: the full queue), BENCH_SECONDS (130: the flow).  On a machine that
# others use, BENCH_NICE (e.g. -15, needs root) sets the daemon and the load before them.
set -euo pipefail
cd "$(dirname "$0")/.."

stint=$(realpath "${STINT:-build/stint}")
load=$(dirname "$stint")/bench/live_load
work=$(mktemp -d "${DIR:-/var/tmp}/stint-live.XXXXXX")
jobs=${BENCH_JOBS:-100000}
state=
pid=

load() {
	"$load" "$@"
}

stint() {
	"$stint" "$@" --socket "$state/socket"
}

now() {
	date +%s.%N
}

# since MOMENT: milliseconds.
since() {
	awk "BEGIN { printf \"%.0f\", ($(now) - $1) * 1000 }"
}

# up NAME FLAG...: a daemon with that state directory; $ready_ms until it answers, $ready_cpu_ms of CPU.
up() {
	local began
	state=$work/$1
	shift
	mkdir -p "$state"
	began=$(now)
	"$stint" daemon --state "$state" --socket "$state/socket" --no-gpus --no-cgroups --quiet "$@" \
		2>>"$state/log" &
	pid=$!
	until curl -sf --unix-socket "$state/socket" http://stint/healthz >"$work/health" 2>&1; do
		kill -0 "$pid" || { cat "$state/log" >&2 && exit 1; }
		sleep 0.01
	done
	ready_ms=$(since "$began")
	ready_cpu_ms=$(awk -v tick="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / tick }' "/proc/$pid/stat")
}

# Jobs outlive the daemon: those it left are ended, too.
end_jobs() {
	local process
	for process in /proc/[0-9]*; do
		if grep -qzs "^STINT_DIR=$work/" "$process/environ"; then
			kill -KILL "${process#/proc/}" 2>/dev/null || true
		fi
	done
}

down() {
	kill "$pid"
	wait "$pid" || true
	pid=
}

clean() {
	if [ -n "$pid" ]; then
		down
	fi
	end_jobs
	rm -rf "$work"
}
trap clean EXIT

replay() {
	local began
	began=$(now)
	"$stint" replay "$state" >"$work/replay" 2>&1 || { cat "$work/replay" && return 1; }
	echo "replay: $(tail -n 1 "$work/replay") ($(since "$began") ms)"
}

submits() {
	echo "== submits; bars: >= 5000 jobs/s in batches, 99th <= 10 ms at 1000 a second"
	up submits --slots 1
	load batches "$state" 20000 1000 2
	load batches "$state" 20000 100 2
	load single "$state" 1000 15 16 unix
	load single "$state" 1000 15 16 tcp
	load times "$state" stint_commit_seconds
	down
	replay
}

queue() {
	local policy began
	echo "== $jobs jobs wait; bars: queue <= 100 ms, restart <= 2000 ms, decision 99th <= 500 ms"
	up queue --slots 1
	load fill "$state" "$jobs"
	down
	for policy in fair-share:preempt=1 fifo las srtf tiresias gavel; do
		up queue --slots 1 --policy "$policy"
		began=$(now)
		stint queue >/dev/null 2>&1
		echo "$policy: ready after $ready_ms ms ($ready_cpu_ms of CPU), first queue after $(since "$began") ms more"
		began=$(now)
		stint queue >/dev/null 2>&1
		echo "  queue: $(since "$began") ms"
		load churn "$state" 10 | sed 's/^/  /'
		down
	done
	replay
}

flow() {
	echo "== real processes; bar: 1000 a minute without drift"
	up flow --slots 2
	load burst "$state" 1000
	load flow "$state" 1000 "${BENCH_SECONDS:-130}"
	down
	replay
}

# full_past NAME: a daemon with 10,000 jobs that ran within the last hour, and as many that wait.
full_past() {
	up "$1" --slots 64
	load fill "$state" 20100
	down
	end_jobs
	load past "$state" 10000 3600
	up "$1" --slots 64
}

looks() {
	echo "== 10,000 jobs wait, 10,000 have run; bar: no question keeps the loop longer than 5 ms at a time"
	full_past looks
	load looks "$state" "${BENCH_TIMES:-5}"
	load times "$state" stint_question_cpu_seconds
	down
}

page() {
	local modules chromium
	modules=$(realpath -m "${WEB_MODULES:-build/node_modules}")
	chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
	if [ ! -e "$modules/playwright-core" ] || [ -z "$chromium" ]; then
		echo "SKIPPED: no playwright-core or Chromium, so the page was not measured (tools/setup browser)"
		return
	fi
	# A browser is a session of its own.
	if [ -n "${BENCH_NICE:-}" ] && [ -w /proc/self/autogroup ]; then
		printf '#!/bin/sh\necho %s >/proc/self/autogroup\nexec %s "$@"\n' "$BENCH_NICE" "$chromium" >"$work/chromium"
		chmod +x "$work/chromium"
		chromium=$work/chromium
	fi
	echo "== the page, 10,000 jobs on its timeline and 10,000 in the queue; bars: shown <= 300 ms, frames <= 16 ms"
	full_past page
	WEB_MODULES=$modules CHROMIUM=$chromium node bench/page.mjs "$(cat "$state/address")/" "$(cat "$state/token")" "$pid" \
		"${BENCH_TIMES:-5}"
	down
}

if [ -n "${BENCH_NICE:-}" ]; then
	renice -n "$BENCH_NICE" -p $$ >/dev/null
	# Where sessions are groups of their own (autogroup), the group counts.
	if [ -w /proc/self/autogroup ]; then
		echo "$BENCH_NICE" >/proc/self/autogroup
	fi
fi
echo "$("$stint" --version), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg), on $(stat -f -c %T "$work")"
for part in "${@:-submits queue flow looks page}"; do
	for one in $part; do
		"$one"
	done
done
