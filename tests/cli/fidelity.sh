#!/bin/bash
# A workload with preemption, run for real and then simulated from its own record: how far
# apart mean completion time and makespan are.
#
# Half of the jobs sleep and half count, in steps that they save when told to stop, so that
# a busy machine makes them slower but not larger.  The figures are what this is for; the
# bound is loose, because others use the machine too.  SOAK=1: more jobs, more policies.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/cli/lib/check
. "$root/tests/cli/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$root/tests/clients/with_daemon"

bound=10 # percent
jobs=24
policies=(las:round_s=2)
[ -z "${SOAK-}" ] || { jobs=80 policies=(las:round_s=2 srtf "tiresias:limit_s=1,round_s=1"); }

cat >job.sh <<'JOB'
# job.sh nap|count STEPS FILE: goes on where FILE says it was.
kind=$1 steps=$2 file=$3 i=0 child=
[ ! -f "$file" ] || read -r i <"$file"
trap 'echo "$i" >"$file"; [ -z "$child" ] || kill "$child"; exit 85' TERM
while [ "$i" -lt "$steps" ]; do
	[ "$kind" = count ] || { sleep 0.1 & child=$!; wait "$child"; }
	i=$((i + 1))
done
JOB

# Steps that one makes in a tenth of a second here and now.
steps_per_tenth() {
	local began=${EPOCHREALTIME/./}

	sh job.sh count 50000 none
	echo $((50000 * 100000 / (${EPOCHREALTIME/./} - began)))
}

# Jobs of 0.5 to 6.3 s, some on both slots, half a second apart: more than can run at once.
# shellcheck disable=SC2317 # called by is
submit_all() {
	local per_tenth=$1 i tenths kind steps

	for ((i = 0; i < jobs; i++)); do
		tenths=$((5 + i * 37 % 24 * (i * 13 % 5 + 1) / 2))
		kind=nap steps=$tenths
		[ $((i % 2)) = 0 ] || kind=count steps=$((tenths * per_tenth))
		stint submit --quiet --name "$kind-$i" --gpus $((i % 8 == 5 ? 2 : 1)) \
			--estimate $((tenths / 10 + 1))s -- sh job.sh "$kind" "$steps" "saved-$i" >/dev/null || return 1
		sleep "0.$((i * 7 % 9 + 1))"
	done
}

# real.csv and jobs.csv have the same columns.
# shellcheck disable=SC2016 # awk's
figures='
FNR == 1 { run++; next }
{
	n[run]++; jct[run] += $9; stops[run] += $12
	if (n[run] == 1 || $6 < from[run]) from[run] = $6
	if ($8 > to[run]) to[run] = $8
}
function off(real, simulated) { return 100 * (simulated / real - 1) }
function size(x) { return x < 0 ? -x : x }
END {
	mean = off(jct[1] / n[1], jct[2] / n[2]); span = off(to[1] - from[1], to[2] - from[2])
	printf "%d jobs, %d preemptions (simulated: %d)\n", n[1], stops[1], stops[2]
	printf "mean completion time %.3f s, simulated %.3f s: %+.2f %%\n", jct[1] / n[1], jct[2] / n[2], mean
	printf "makespan %.3f s, simulated %.3f s: %+.2f %%\n", to[1] - from[1], to[2] - from[2], span
	exit !(n[1] == jobs && n[2] == jobs && stops[1] > 0 && size(mean) <= bound && size(span) <= bound)
}'

compare() { # POLICY
	awk -F, -v jobs="$jobs" -v bound="$bound" "$figures" again/real.csv simulated/jobs.csv \
		>stdout 2>stderr
	code=$?
	sed "s/^/# $1: /" stdout
	report $code "$1: the simulation is within $bound % of what happened"
}

mkdir bin
ln -s "$STINT" bin/stint
for policy in "${policies[@]}"; do
	rm -rf "$STINT_STATE" saved-* again simulated
	is "$policy: a daemon" daemon_start --policy "$policy"
	is "$policy: jobs are taken" submit_all "$(steps_per_tenth)"
	# shellcheck disable=SC2046 # words
	run stint wait --quiet $(seq "$jobs")
	want 0 "$policy: all complete"
	daemon_gone
	run stint db export --format sim --out again
	want 0 "$policy: the record becomes a workload"
	command=$(cat stdout)
	run env PATH="$work/bin:$PATH" sh -c "$command --out simulated --quiet"
	want 0 "$policy: which the command it printed simulates"
	compare "$policy"
	run stint replay "$STINT_STATE"
	out '^equal' "$policy: and replays with equal decisions"
done
finish
