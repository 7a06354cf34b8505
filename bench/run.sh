#!/bin/bash
# bench: CPU time and memory of whole runs, beside the bars they should meet.
# One table; nothing fails by being slow.  doc/performance.md says how to read it.
#
# CPU is user and system time of the whole process, reading and statistics
# included; each figure is the best of BENCH_REPEAT (3).  STINT (build/stint),
# STINT_DATA (../shared/data), BENCH_JOBS (1000000: the size of the large runs),
# BENCH_ONLY (elastic, solvers, …: only these parts).
set -euo pipefail
cd "$(dirname "$0")/.."

stint=$(realpath "${STINT:-build/stint}")
data=${STINT_DATA:-../shared/data}
repeat=${BENCH_REPEAT:-3}
jobs=${BENCH_JOBS:-1000000}
large=512x8:v100 # 4,096 GPUs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- measuring

# number KEY: its value in the JSON of the last run; what the policy says of itself comes later there.
number() {
	sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*$/\1/p" "$work/out" | head -1
}

# calc EXPRESSION: to four digits.
calc() {
	awk "BEGIN { printf \"%.4g\", ($1) }"
}

# less A B: whether A is the smaller number, or the only one.
less() {
	[ -z "$2" ] || [ "$(calc "$1 < $2")" = 1 ]
}

# timed COMMAND...: its seconds of CPU and of the wall go to $cpu and $wall.
timed() {
	local TIMEFORMAT='%3U %3S %3R' user system
	{ time "$@" >"$work/out" 2>"$work/said" </dev/null; } 2>"$work/time" || {
		cat "$work/said" >&2
		return 1
	}
	read -r user system wall <"$work/time"
	cpu=$(calc "$user + $system")
}

# best WORD...: the quickest of some simulations: $best_cpu, $run (the simulation alone), $each (us a decision), $mib.
best() {
	local i
	best_cpu=
	for ((i = 0; i < repeat; i++)); do
		timed "$stint" sim "$@" --quiet --json || return 1
		less "$cpu" "$best_cpu" || continue
		best_cpu=$cpu
		run=$(number cpu_s)
		each=$(calc "$(number decision_cpu_s) / $(number decisions) * 1e6")
		mib=$(calc "$(number rss_bytes) / 1048576")
	done
}

# ---- the table

heading() {
	printf '\n%-46s %7s %7s %9s %5s   %s\n' "$1" 'CPU s' 'run s' 'us/decis.' MiB bar
}

# verdict CONDITION: in a word; none without a condition.
verdict() {
	case ${1:+$(calc "$1")} in
	1) echo pass ;;
	0) echo MISS ;;
	esac
}

# line WHAT BAR CONDITION: the figures of the last best().
line() {
	printf '%-46s %7.2f %7.2f %9.2f %5.0f   %-19s%s\n' "$1" "$best_cpu" "$run" "$each" "$mib" "$2" \
		"$(verdict "$3")" | sed 's/ *$//'
}

# row POLICY BAR SECONDS TRACE CLUSTER: runs it and compares with the bar, if SECONDS has one.
row() {
	if best "$4" --cluster "$5" --policy "$1"; then
		line "$1" "$2" "${3:+$best_cpu <= $3 && $mib <= 1024}"
	else
		echo "$1: the run FAILED"
	fi
}

philly() {
	local policy trace=$data/sia/philly.csv
	if [ ! -f "$trace" ]; then
		printf '\nSKIPPED: no %s, so Philly was not measured (STINT_DATA=directory)\n' "$trace"
		return
	fi
	heading 'Philly: 82,247 jobs on 2,490 GPUs'
	for policy in fifo srtf tiresias; do
		row $policy '<= 2 s' 2 "$trace" 311x8:v100,1x2:v100
	done
	heading 'Philly on 384 GPUs, where jobs wait'
	for policy in fifo srtf tiresias; do
		row $policy - '' "$trace" 48x8:v100
	done
}

synthetic() {
	local policy load
	for load in 0.9 1.2; do
		heading "$jobs jobs on 4,096 GPUs, load $load"
		for policy in fifo srtf tiresias las; do
			row $policy '<= 20 s, <= 1 GiB' 20 "synth:jobs=$jobs,load=$load" $large
		done
	done
}

# many_shapes: jobs that hardly any two ask the same GPUs, CPUs and memory, and a cluster that counts them.
many_shapes() {
	"$stint" trace synth jobs=5000,load=1.5,durations=exponential --cluster 25x8:v100 --quiet --out "$work/drawn.csv"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "id,gpus,arrival_s,duration_s,cpus,mem"; next }
		{
			gpus = $at["gpus"]
			print $1 "," gpus "," $at["arrival_s"] "," $at["duration_s"] "," gpus * (1 + $1 * 7919 % 11) "," \
				gpus * (1 + $1 * 104729 % 61) * 1000000000
		}' "$work/drawn.csv" >"$work/shapes.csv"
	"$stint" cluster 25x8:v100 --yaml | sed 's/cpus: 0, mem: 0/cpus: 96, mem: 500000000000/' >"$work/shapes.yaml"
}

harder() {
	local policy
	heading "$((jobs / 10)) jobs on three types, load 2.4"
	for policy in fifo srtf tiresias; do
		row $policy - '' "synth:jobs=$((jobs / 10)),load=2.4,durations=exponential" 200x8:v100,200x8:p100,112x8:a100
	done
	many_shapes
	heading '5,000 jobs, 200 GPUs, CPUs and memory counted'
	for policy in fifo srtf tiresias; do
		row $policy - '' "$work/shapes.csv" "$work/shapes.yaml"
	done
}

# Run times of an hour on average: both traces span many of them, so both are steady.
growth() {
	local policy small
	heading "growth: ten times the jobs, load 0.95"
	for policy in fifo srtf tiresias las; do
		best "synth:jobs=$((jobs / 10)),load=0.95,durations=exponential" --cluster $large --policy "$policy"
		small=$best_cpu
		best "synth:jobs=$jobs,load=0.95,durations=exponential" --cluster $large --policy "$policy"
		line "$policy: $small s -> $best_cpu s, x$(calc "$best_cpu / $small")" '<= 13 times' \
			"$best_cpu <= 13 * $small"
	done
}

# reader FILE: jobs, MB, seconds and MB/s by bench/read.c.
reader() {
	local lib libs
	lib=$(dirname "$stint")/libstint.a
	read -ra libs <<<"$(pkg-config --libs jansson libcyaml zlib)"
	[ -x "$work/read" ] ||
		"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -Isrc bench/read.c "$lib" "${libs[@]}" -lm -lpthread -o "$work/read"
	"$work/read" "$1"
}

# read_row WHAT FILE BAR
read_row() {
	local count size seconds speed
	read -r count size seconds speed <<<"$(reader "$2")"
	printf '%-46s %7.2f %7.1f %9.2g %5.0f   %-19s%s\n' "$count jobs, $1" "$seconds" "$size" \
		"$(calc "$count / $seconds")" "$speed" "$3" "$([ "$3" = - ] || verdict "$speed >= 100")" | sed 's/ *$//'
}

reading() {
	"$stint" trace synth --jobs "$jobs" --cluster $large --quiet --out "$work/long.csv"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "id,gpus,arrival_s,duration_s"; next }
		{ printf "%d,%d,%d,%d\n", $1, $at["gpus"], $at["arrival_s"], $at["duration_s"] + 1 }' "$work/long.csv" >"$work/short.csv"
	printf '\n%-46s %7s %7s %9s %5s   %s\n' 'reading a CSV' 'CPU s' MB 'jobs/s' MB/s bar
	read_row 'ten columns' "$work/long.csv" '>= 100 MB/s'
	read_row 'four columns of short numbers' "$work/short.csv" -
	rm "$work"/*.csv
}

decisions() {
	local policy policies
	heading 'every policy: 10,000 jobs, 512 GPUs, load 1.1'
	timed "$stint" policies --json
	mapfile -t policies < <(sed -n 's/^      "name": "\(.*\)",$/\1/p' "$work/out")
	for policy in "${policies[@]}"; do
		row "$policy" - '' synth:jobs=10000,load=1.1,durations=exponential 64x8:v100
	done
}

# solvers: one decision of the policies that work by shares, by bench/solver.c.
solvers() {
	local solver section
	solver=$(dirname "$stint")/bench/solver
	if [ ! -x "$solver" ]; then
		printf '\nSKIPPED: no %s, so decisions by shares were not measured (make bench builds it)\n' "$solver"
		return
	fi
	for section in decisions packed large growth; do
		"$solver" $section || echo "solver $section FAILED"
	done
}

# against PUBLISHED TIMES WHAT POLICY TRACE CLUSTER: a run whose published simulator took PUBLISHED seconds of CPU.
against() {
	if best "$data/gavel/traces/generated/$5.trace" --throughputs "$data/gavel/simulation_throughputs.json" \
		--cluster "$6" --policy "$4"; then
		line "$3, $4: $(calc "$1 / $best_cpu")x" "${2:+>= $2 times}" "${2:+$1 / $best_cpu >= $2}"
	else
		echo "$4: the run FAILED"
	fi
}

gavel() {
	local g1=gen_single_n300_lam3000_seed0 g3=gen_single_n2000_lam1000_seed0
	local small=12x1:v100,12x1:p100,12x1:k80 large=36x1:v100,36x1:p100,36x1:k80
	if [ ! -d "$data/gavel" ]; then
		printf '\nSKIPPED: no %s, so runs of Gavel were not measured (STINT_DATA=directory)\n' "$data/gavel"
		return
	fi
	heading 'against published CPU: G3 39 s, G1 43 s'
	against 39 100 'G3' gavel:compat=gavel $g3 $large
	against 39 200 'G3' gavel $g3 $large
	against 43 100 'G1' gavel:water_filling=1,compat=gavel $g1 $small
	against 43 200 'G1' gavel:water_filling=1 $g1 $small
}

# elastic: one decision of Sia and of Pollux at growing sizes, by bench/sia.c and bench/pollux.c.
elastic() {
	local built sia=$data/sia
	built=$(dirname "$stint")/bench
	if [ ! -x "$built/sia" ]; then
		printf '\nSKIPPED: no %s/sia, so elastic decisions were not measured (make bench builds it)\n' "$built"
		return
	fi
	printf '\npollux, one decision: published 1.01 s at 64 GPUs\n'
	"$built/pollux" || echo "pollux FAILED"
	if [ ! -d "$sia" ]; then
		printf '\nSKIPPED: no %s, so decisions of sia were not measured (STINT_DATA=directory)\n' "$sia"
		return
	fi
	printf '\nsia, one decision, ms of CPU: published 991 ms at 2,048 GPUs\n'
	"$built/sia" "$sia/workloads/saturn/workload-1.csv" "$sia/profiles" || echo "sia FAILED"
	heading 'against published CPU: saturn-1 83 s'
	if best "$sia/workloads/saturn/workload-1.csv" --profiles "$sia/profiles" \
		--cluster 6x4:t4,2x8:a100,3x8:rtx --policy sia:compat=sia; then
		line "saturn-1, sia: $(calc "83 / $best_cpu")x" ">= 100 times" "83 / $best_cpu >= 100"
	else
		echo "sia: the run FAILED"
	fi
}

# program NAME WHAT: bench/NAME.c, where it is built.
program() {
	local built
	built=$(dirname "$stint")/bench/$1
	echo
	if [ ! -x "$built" ]; then
		echo "SKIPPED: no $built, so $2 were not measured (make bench builds it)"
		return
	fi
	"$built" || echo "$1 FAILED"
}

# copies: which the daemon's loop makes for an explanation.
copies() {
	program snapshot 'copies of the live state'
}

# forecasts: of 1,000 jobs on 256 devices; bench/forecast.sh says how good they are.
forecasts() {
	printf '\nforecasts: <= 1 s of CPU'
	program forecast forecasts
}

# cells: a million operations on the cells of 2,048 devices.
cells() {
	printf '\ncells: <= 13 us of CPU an operation, no violations'
	program cells cells
}

# links: the first look of mapa at a machine of 16 devices.
links() {
	printf '\nmapa: the first look at 16 devices, <= 50 ms of CPU'
	program mapa 'first looks of mapa'
}

# tenants: decisions with quotas, cells, links, hosts, guests, pipelines; <= 50 ms at 1,024 devices.
tenants() {
	echo
	STINT=$stint BENCH_REPEAT=$repeat bench/tenants.sh
}

# Results are the same bytes at any number of threads; only the wall time may differ.
threads() {
	local n best_wall i
	printf '\n%-46s %7s %7s\n' 'compare: 4 policies x 5 seeds, 10,000 jobs' 'CPU s' 'wall s'
	for n in 1 2; do
		best_wall=
		for ((i = 0; i < repeat; i++)); do
			timed "$stint" compare synth:jobs=10000,load=1 --cluster 64x8:v100 --policy fifo,srtf,tiresias,las \
				--seeds 5 --threads $n --quiet --json
			less "$wall" "$best_wall" && best_wall=$wall best_cpu=$cpu
		done
		printf '%-46s %7.2f %7.2f\n' "--threads $n" "$best_cpu" "$best_wall"
	done
}

echo "stint $("$stint" --version 2>/dev/null | sed 's/^stint //'), $(nproc) cores, best of $repeat; CPU time, so that a busy machine matters less"
# shellcheck disable=SC2086 # parts are words
for part in ${BENCH_ONLY:-philly synthetic growth reading decisions harder solvers gavel elastic threads copies forecasts cells tenants links}; do
	"$part"
done
printf '\nPublished simulators cannot run here: make parity has their published CPU times beside ours.\n'
