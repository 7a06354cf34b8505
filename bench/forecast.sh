#!/bin/bash
# forecast.sh: how many starts lie in their 80 % interval, and how far the middle
# is off, beside the estimate in which every job runs as long as was said.  Three
# workloads with wrong run times that nothing was tuned on, and two weeks of
# Philly as hard cases.  Nothing fails by being bad; doc/forecast.md says how to
# read it.
#
# STINT (build/stint), STINT_DATA (../shared/data), FORECAST_ASKS (200: forecasts
# in a workload), FORECAST_FUTURES (200: futures of each).
set -euo pipefail
cd "$(dirname "$0")/.."

stint=$(realpath "${STINT:-build/stint}")
data=${STINT_DATA:-../shared/data}
asks=${FORECAST_ASKS:-200}
futures=${FORECAST_FUTURES:-200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# number PART KEY: its value in the JSON of the last run.
number() {
	awk -v part="\"$1\": {" -v key="\"$2\":" '
		index($0, part) { inside = 1 }
		inside && $1 == key { sub(",$", "", $2); print $2; exit }' "$work/out"
}

# hours SECONDS
hours() {
	awk -v s="$1" 'BEGIN { printf "%.2f", s / 3600 }'
}

# row NAME BAR TRACE CLUSTER POLICY FLAG...: BAR yes: coverage from 75 to 85 % is asked for.
row() {
	local name=$1 bar=$2 trace=$3 cluster=$4 policy=$5 coverage verdict=
	shift 5
	"$stint" forecast "$trace" --cluster "$cluster" --policy "$policy" --asks "$asks" \
		--futures "$futures" --quiet --json "$@" >"$work/out" || {
		echo "$name: the run FAILED"
		return
	}
	coverage=$(number start coverage)
	[ "$bar" = no ] ||
		verdict=$(awk -v c="$coverage" 'BEGIN { print(c >= 0.75 && c <= 0.85 ? "pass" : "MISS") }')
	printf '%-26s %5d %8.1f %8.1f %8.2f %8.2f %8.2f   %s\n' "$name" "$(number start jobs)" \
		"$(awk -v c="$coverage" 'BEGIN { print 100 * c }')" \
		"$(awk -v c="$(number end coverage)" 'BEGIN { print 100 * c }')" \
		"$(hours "$(number start median_s)")" "$(hours "$(number start median_error_s)")" \
		"$(hours "$(number start plain_error_s)")" "$verdict" | sed 's/ *$//'
}

# philly: the first two weeks of November, on a cluster as loaded as theirs was.
philly() {
	local trace=$data/sia/philly.csv policy
	if [ ! -f "$trace" ]; then
		printf 'SKIPPED: no %s, so Philly was not measured (STINT_DATA=directory)\n' "$trace"
		return
	fi
	awk 'NR == 1 || ($1 >= "2017-11-01" && $1 <= "2017-11-14")' FS=' ' "$trace" >"$work/philly.csv"
	for policy in fifo easy; do
		row "philly, $policy" no "$work/philly.csv" 54x8:v100 $policy --error 0.7
	done
}

echo "$asks forecasts of $futures futures each; believed run times off by a lognormal factor of deviation 0.7"
printf '\n%-26s %5s %8s %8s %8s %8s %8s   %s\n' 'hours, medians' jobs 'start %' 'end %' wait error plain \
	'bar: start 75-85 %'
row 'helios diurnal, fifo' yes synth:jobs=3000,load=0.95,durations=helios,arrivals=diurnal,duration_scale=0.1,seed=1 \
	8x8:v100 fifo --error 0.7
row 'exponential pow2, sjf' yes synth:jobs=3000,load=1,durations=exponential,gpus=pow2,seed=1 8x8:v100 sjf --error 0.7
row 'exponential diurnal, easy' yes \
	synth:jobs=3000,load=1,durations=exponential,gpus=pow2,arrivals=diurnal,seed=2 8x8:v100 easy --error 0.7
philly
