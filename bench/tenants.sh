#!/bin/bash
# tenants: what one decision costs under the policies and placers for tenants,
# quotas, cells, links, hosts, guests, rented and pooled nodes, and pipelines.
#
# As many jobs as devices, all there from the start.  "first" is the decision
# that meets all of them on an empty cluster; "mean" is over the run (its first
# day), events in which nothing can be done included.  Milliseconds of CPU, the
# best of BENCH_REPEAT (3); growth is by how much the first took longer when
# everything doubled.  Bar: 50 ms at 1,024 devices.  Nothing fails by being slow.
#
# STINT (build/stint), BENCH_SIZES ("256 512 1024 2048"), BENCH_ROWS (a pattern
# of rows, such as mapa), BENCH_REPEAT.
set -euo pipefail
cd "$(dirname "$0")/.."

stint=$(realpath "${STINT:-build/stint}")
repeat=${BENCH_REPEAT:-3}
read -ra sizes <<<"${BENCH_SIZES:-256 512 1024 2048}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

calc() {
	awk "BEGIN { printf \"%.3g\", ($1) }"
}

# ---- the worlds, by their number of devices

# torus NODES: of 16 devices each, every device linked to four neighbours.
torus() {
	local i
	echo 'topologies:'
	echo '  - name: torus'
	echo '    devices: 16'
	echo '    links:'
	for i in {0..15}; do
		echo "      - \"$i-$((i / 4 * 4 + (i + 1) % 4)) 50GB/s\""
		echo "      - \"$i-$(((i + 4) % 16)) 50GB/s\""
	done
	echo "nodes: [{count: $1, name: t-, type: v100, devices: 16, topology: torus}]"
}

# cluster KIND DEVICES: a name or a file of one.
cluster() {
	local nodes=$(($2 / 8)) file=$work/$1-$2.yaml
	case $1 in
	plain) echo "${nodes}x8:v100" && return ;;
	links) sed "s/count: 4/count: $nodes/" examples/topology.yaml >"$file" ;;
	torus) torus $((nodes / 2)) >"$file" ;;
	hosts) sed "s/count: 4/count: $nodes/" examples/servers.yaml >"$file" ;;
	cloud) sed -E "s/count: (24|16)/count: $((nodes / 2))/" examples/cloud.yaml >"$file" ;;
	pooled) sed -e "s/row, count: 2/row, count: $((nodes / 8 > 2 ? nodes / 8 : 2))/" -e "s/count: 8, devices: 8/count: $nodes, devices: 8/" \
		-e "s/count: 8, devices: 0/count: $((nodes / 2)), devices: 0/" examples/pool.yaml >"$file" ;;
	esac
	echo "$file"
}

# tenants KIND DEVICES: four of them; cells for three, or quotas in a tree.
tenants() {
	local file=$work/tenants-$1-$2.yaml nodes=$(($2 / 8))
	{
		echo tenants:
		if [ "$1" = cells ]; then
			echo "  - {name: tenant-1, cells: [{cell: node, count: $((nodes / 4))}]}"
			echo "  - {name: tenant-2, cells: [{cell: node, count: $((nodes / 4))}]}"
			echo "  - {name: tenant-3, cells: [{cell: node, count: $((nodes / 8))}, {cell: device, count: $((nodes / 2))}]}"
		else
			echo "  - {name: labs, guaranteed: $(($2 / 2))}"
			echo "  - {name: tenant-1, parent: labs, guaranteed: $(($2 / 4))}"
			echo "  - {name: tenant-2, parent: labs, guaranteed: $(($2 / 8)), borrow: $(($2 / 8))}"
			echo "  - {name: tenant-3, guaranteed: $(($2 / 4)), lend: $(($2 / 8))}"
			echo "  - {name: tenant-4, weight: 0.5}"
		fi
	} >"$file"
	echo "$file"
}

# trace KIND DEVICES: as many jobs as devices.
trace() {
	local all=jobs=$2,arrivals=static,durations=blox,gpus=pow2
	case $1 in
	tenants) echo "synth:$all,tenants=4" ;;
	guests) echo "synth:$all,tenants=4,opportunistic=0.3" ;;
	models) echo "synth:$all,models=1" ;;
	dags) echo "synth:$all,dags=1,dag_jobs=16,elastic=1" ;;
	*) echo "synth:$all" ;;
	esac
}

# ---- measuring

# spent WORD...: $ms of the decisions of a run, $n of them; the quickest of some.
spent() {
	local i now
	ms=
	for ((i = 0; i < repeat; i++)); do
		"$stint" sim "$@" --quiet --json >"$work/out" 2>"$work/said" || {
			head -2 "$work/said" >&2
			return 1
		}
		now=$(sed -n 's/^ *"decision_cpu_s": \([-+.0-9e]*\),*$/\1/p' "$work/out" | head -1)
		n=$(sed -n 's/^ *"decisions": \([0-9]*\),*$/\1/p' "$work/out" | head -1)
		[ -n "$ms" ] && [ "$(calc "$now * 1000 >= $ms")" = 1 ] || ms=$(calc "$now * 1000")
	done
}

# row TITLE TRACE CLUSTER TENANTS FLAG...: a line of the table, TENANTS - for none.
row() {
	local title=$1 trace=$2 cluster=$3 tenants=$4 size line='' growth='' last='' verdict='' world
	shift 4
	[[ $title == *${BENCH_ROWS-}* ]] || return 0
	for size in "${sizes[@]}"; do
		world=("$(trace "$trace" "$size")" --cluster "$(cluster "$cluster" "$size")")
		[ "$tenants" = - ] || world+=(--tenants "$(tenants "$tenants" "$size")")
		if ! spent "${world[@]}" "$@" --until 0.001; then
			printf '%-36s the run FAILED\n' "$title"
			return 0
		fi
		first=$ms
		spent "${world[@]}" "$@" --until 1d
		line+=$(printf ' %7.2f %6.3f' "$first" "$(calc "$ms / $n")")
		[ -z "$last" ] || growth+=$(printf ' %4.1f' "$(calc "$first / ($last + 1e-9)")")
		last=$first
		[ "$size" != 1024 ] || verdict=$([ "$(calc "$first <= 50")" = 1 ] && echo pass || echo MISS)
	done
	printf '%-36s%s  %s  %s\n' "$title" "$line" "$growth" "$verdict"
}

printf '%-36s' 'ms of CPU: first, mean'
printf ' %14s' "${sizes[@]/%/ devices}"
printf '  growth\n'
for policy in themis gandiva gandiva-fair drf fair-share fair-share:preempt=1; do
	row "$policy" tenants plain - --policy "$policy"
done
for allocate in fair greedy tune opt; do
	row "synergy:allocate=$allocate" models hosts - --policy "synergy:allocate=$allocate" --host-profiles examples/hosts.csv
done
row antman guests plain - --policy antman
row zhong any cloud - --policy zhong
row pool models pooled - --policy pool
row ursa dags plain - --policy ursa
row moldable dags plain - --policy moldable
row 'moldable:lp_jobs=4000' dags plain - --policy moldable:lp_jobs=4000
for placer in first-fit even buddy delay topo mapa; do
	row "fifo:misfit=skip, $placer" models links - --policy fifo:misfit=skip --placer "$placer"
done
row 'fifo:misfit=skip, mapa, 16 a node' models torus - --policy fifo:misfit=skip --placer mapa
row 'dally, delay' models links - --policy dally --placer delay
for policy in fifo:misfit=skip las srtf; do
	row "$policy, hived" tenants plain cells --policy "$policy" --placer hived
done
for policy in fifo:misfit=skip fair-share drf srtf; do
	row "$policy, --admit quota" tenants plain quotas --policy "$policy" --admit quota
done
