#!/bin/sh
# limits.sh: what each option of gavel that goes past the paper gains, or does
# not: mean completion time and makespan without and with it.  Reads the public
# traces in ../shared/data/gavel; without them only the generated workloads run.
set -eu
cd "$(dirname "$0")/.."
STINT=${STINT:-build/stint}
DATA=${DATA:-../shared/data/gavel}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
small=8x1:v100,16x1:p100,24x1:k80
third=4x1:v100,4x1:p100,4x1:k80
even=36x1:v100,36x1:p100,36x1:k80

# run NAME TRACE CLUSTER POLICY FLAGS...: mean JCT and makespan in hours.
run() {
	name=$1 trace=$2 cluster=$3 policy=$4
	shift 4
	"$STINT" sim "$trace" --cluster "$cluster" --policy "$policy" --json --quiet "$@" \
		2>"$work/notes" >"$work/out.json" || {
		cat "$work/notes" >&2
		echo "failed: $name with $policy" >&2
		exit 1
	}
	tr -s ',{}' '\n' <"$work/out.json" | awk -F: '
		/"jct_mean_s"/ { jct = $2 } /"makespan_s"/ { end = $2 }
		END { printf "%.2f %.1f\n", jct / 3600, end / 3600 }'
}

# row WHAT POLICY "JCT END JCT END": without and with, side by side.
row() {
	echo "$3" | awk -v what="$1" -v with="$2" '{
		printf "%-34s %-38s %7.2f %7.2f %+6.1f %%  %7.1f %7.1f %+6.1f %%\n", what, with,
			$1, $3, 100 * ($3 / $1 - 1), $2, $4, 100 * ($4 / $2 - 1) }'
}

# pair WHAT TRACE CLUSTER WITHOUT WITH FLAGS...: one row of the table.
pair() {
	what=$1 trace=$2 cluster=$3 without=$4 with=$5
	shift 5
	before=$(run "$what" "$trace" "$cluster" "$without" "$@")
	after=$(run "$what" "$trace" "$cluster" "$with" "$@")
	row "$what" "$with" "$before $after"
}

printf '%-34s %-38s %7s %7s %8s  %7s %7s %8s\n' workload policy 'JCT h' with gain 'end h' with gain

synth=synth:jobs=1000,load=0.9,elastic=1
pair 'generated, all elastic' "$synth" 16x8:v100 gavel gavel:gangs=free --seed 1
pair 'generated, half elastic' synth:jobs=1000,load=0.9,elastic=0.5 8x4:v100,8x4:p100,8x4:k80 \
	gavel gavel:gangs=free --seed 1

if [ ! -d "$DATA" ]; then
	echo "SKIPPED: $DATA is not there, so the public traces were not run" >&2
	exit 0
fi

P1=$DATA/traces/physical_cluster/max_min_fairness.trace
P2=$DATA/traces/physical_cluster/minimize_makespan.trace
G1=$DATA/traces/generated/gen_single_n300_lam3000_seed0.trace
G2=$DATA/traces/generated/gen_multi_n300_lam2400_seed0.trace
speeds=$DATA/simulation_throughputs.json

# Own CSV with columns added: models that scale may take a quarter to four times their gang, or
# need a quarter, half or all of it on v100, p100 and k80.
csv() {
	"$STINT" trace convert "$1" "$work/$2.csv" --quiet 2>/dev/null
	awk 'BEGIN { FS = OFS = "," } NR == 1 { print $0, "min_gpus", "max_gpus"; next }
	{
		low = high = $3
		if ($2 ~ /^(ResNet|LM|Transformer)/) {
			low = int($3 / 4) > 1 ? int($3 / 4) : 1
			high = 4 * $3 < 8 ? 4 * $3 : 8
		}
		print $0, low, high
	}' "$work/$2.csv" >"$work/$2-elastic.csv"
	for mode in by-type v100-only; do
		awk -v mode=$mode 'BEGIN { FS = OFS = "," } NR == 1 { print $0, "gpus_by_type", "types"; next }
		{
			by = only = ""
			if ($3 >= 2) {
				v = int($3 / 4) > 1 ? int($3 / 4) : 1
				if (mode == "by-type")
					by = "v100:" v " p100:" int($3 / 2) " k80:" $3
				else {
					$3 = v
					only = "v100"
				}
			}
			print $0, by, only
		}' "$work/$2.csv" >"$work/$2-$mode.csv"
	done
}
csv "$P1" P1
csv "$P2" P2
csv "$G2" G2

echo
echo '# gang size as a variable'
pair 'P1, elastic' "$work/P1-elastic.csv" $small gavel gavel:gangs=free --throughputs "$speeds"
pair 'P2, elastic' "$work/P2-elastic.csv" $small gavel gavel:gangs=free --throughputs "$speeds"
pair 'P2, elastic, 60 s per change' "$work/P2-elastic.csv" $small gavel gavel:gangs=free \
	--throughputs "$speeds" --resume-cost 60 --resize-cost 60
pair 'G2, elastic' "$work/G2-elastic.csv" $even gavel gavel:gangs=free --throughputs "$speeds"

echo
echo '# gangs by type: k80 needs four times, p100 twice the devices of v100; without: v100 alone'
for name in P1 P2 G2; do
	cluster=$small
	before=$(run "$name" "$work/$name-v100-only.csv" $cluster gavel --throughputs "$speeds")
	after=$(run "$name" "$work/$name-by-type.csv" $cluster gavel --throughputs "$speeds")
	row "$name, gangs by type" gavel "$before $after"
done

echo
echo '# data parallelism across types'
for name in P1 P2 G2; do
	pair "$name, equal batches" "$work/$name.csv" $small gavel gavel:across=slowest --throughputs "$speeds"
	pair "$name, balanced batches" "$work/$name.csv" $small gavel gavel:across=balanced --throughputs "$speeds"
done

echo
echo '# pairs that share devices, gangs of all sizes'
for name in P1 P2 G2; do
	pair "$name, pairs" "$work/$name.csv" $small gavel gavel:packing=1 --throughputs "$speeds"
done

echo
echo '# round length from the workload, 30 s per start and resume'
for trace in "$P1" "$P2"; do
	pair "$(basename "$trace" .trace)" "$trace" $small gavel gavel:round_auto=1 \
		--throughputs "$speeds" --start-cost 30 --resume-cost 30
done
pair 'G1 on a third of its cluster' "$G1" $third gavel gavel:round_auto=1 \
	--throughputs "$speeds" --start-cost 30 --resume-cost 30

echo
echo '# expected arrivals'
for horizon in 10m 1h 6h; do
	pair "P1, $horizon ahead" "$P1" $small gavel gavel:expect_s=$horizon --throughputs "$speeds"
	pair "G1, $horizon ahead" "$G1" 12x1:v100,12x1:p100,12x1:k80 gavel gavel:expect_s=$horizon \
		--throughputs "$speeds"
done

echo
echo '# speeds not known (three tenths measured, the rest completed), against known ones'
for estimate in known=0.3,online=0 known=0.3; do
	cluster=12x1:v100,12x1:p100,12x1:k80
	before=$(run G1 "$G1" $cluster gavel --throughputs "$speeds")
	after=$(run G1 "$G1" $cluster gavel --throughputs "$speeds" --estimate $estimate)
	row "G1" "gavel --estimate $estimate" "$before $after"
done
