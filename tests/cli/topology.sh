#!/bin/bash
# Links: shown from a file, from this machine and from the daemon, and used by placers for real jobs.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"
unset CUDA_VISIBLE_DEVICES

cat >lab.yaml <<'END'
network: {node_link: 25Gb/s}
racks: [{name: row0, uplink: 20Gb/s}, {name: row1}]
topologies:
  - name: pairs
    devices: 4
    links: [0-1 50GB/s x2, 2-3 25GB/s]
    groups: ["0-1", "2 | 3"]
nodes:
  - {count: 4, name: big-, type: v100, devices: 4, racks: [row0, row1], topology: pairs}
END

# ---- from a file
run stint nodes --topology --cluster lab.yaml
want 0 "links of a cluster in a file need no daemon"
out '^rack row0, 2.5 GB/s up$' "racks with their uplinks"
out '^`- big-0 to big-1 \(2 nodes\): 4 x v100 each, linked as pairs$' "nodes that are alike on one line"
out '^\|- socket 0: 0 1$' "sockets"
out '^   \|- switch: 2$' "and switches"
out '^ +0 +X +NV2 +SYS +SYS$' "a matrix of links"
out '^ +2 +SYS +SYS +X +NV1$' "by pair"
out 'NV2: 2 direct links, 50 GB/s; SYS: across sockets, 10 GB/s; NV1: 1 direct link, 25 GB/s' "and what its words mean"
out 'widest ring, GB/s by devices: 2: 50, 3: 10, 4: 10' "how fast rings go"
is "no colours where they are not wanted" [ "$(grep -c "$(printf '\033')" stdout)" = 0 ]
run stint nodes --topology --cluster lab.yaml --json
want 0 "the same as JSON"
is "which is JSON" python3 -c 'import json; d = json.load(open("stdout")); t = d["topologies"][0]
assert d["schema"] == "topology/1" and t["Bps"][0][1] == 5e10 and t["links"][0][1] == 2
assert t["near"][0][2] == "node" and t["sockets"] == [[0, 1], [2, 3]] and t["ring_Bps"][1] == 5e10'
run stint nodes --topology --cluster lab.yaml --svg links.svg
want 0 "and as a picture"
is "which is XML" python3 -c 'import xml.dom.minidom as m; m.parse("links.svg")'
is "with a title" grep -q '<title>lab.yaml</title>' links.svg
run stint cluster lab.yaml --yaml
cp stdout again.yaml
run stint nodes --topology --cluster again.yaml
out '^ +0 +X +NV2 +SYS +SYS$' "YAML that is written has the links"
out '^   \|- switch: 2$' "and the groups"

# ---- what is wrong
wrong() { # LINES ERROR WHAT
	printf 'topologies:\n  - name: t\n    devices: 4\n%b\nnodes: [{devices: 4, topology: t}]\n' "$1" >bad.yaml
	run stint nodes --topology --cluster bad.yaml
	is "$3 is refused" [ "$code" != 0 ]
	err "$2" "and named"
}
wrong '    links: [0-4 50GB/s]' 'links #1: "0-4 50GB/s" names device 4, but there are 0 to 3' "a link to a device that is not there"
wrong '    links: [0-1 50GB/s xx]' 'links #1: "0-1 50GB/s xx" is not understood' "a number of links that is none"
wrong '    groups: ["0-1", "1-3"]' 'groups #2: "1-3": device 1 has a place already' "a device in two groups"
wrong '    groups: ["0-9"]' 'groups #1: "0-9": devices are written as' "a group of devices that are not there"
run stint nodes --svg x.svg
want 2 "a picture without --topology makes no sense"
run stint nodes --topology drain
want 2 "nor does draining with it"

# ---- this machine, and the daemon's
run stint nodes --topology
want 0 "without a daemon this machine is looked at"
err 'no daemon answers' "and that is said"
out 'socket' "with its sockets"

# shellcheck source=tests/cli/lib/gpus
. "$here/lib/gpus"
{
	for i in 0 1 2 3; do
		echo "gpu|GPU-$i|Tesla V100-SXM2-32GB|34359738368|0:$((i + 1)):0"
	done
	for pair in 0:1:10 2:3:10 0:2:50 0:3:50 1:2:50 1:3:50; do
		echo "near|GPU-${pair%%:*}|GPU-$(echo $pair | cut -d: -f2)|${pair##*:}"
	done
	echo 'link|GPU-2|GPU-3|2'
	echo 'link|GPU-0|GPU-3|1'
} >gpus

begin() {
	daemon_begin --no-cgroups --slots 0 "$@"
}

waits_for() { # JOB REGEX
	for _ in $(seq 2400); do
		stint explain "$1" 2>&1 | grep -Eq -- "$2" && return
		sleep 0.05
	done
	return 1
}

soon_runs() { # JOB
	for _ in $(seq 2400); do
		stint show "$1" --json | grep -q '"state": "RUNNING"' && return
		sleep 0.05
	done
	return 1
}

is "a daemon places by links" begin --placer mapa:sensitive=all
run stint nodes --topology
want 0 "the daemon's links"
out '^ +2 +SYS +SYS +X +NV2$' "as NVML tells them"
out '^\|- socket 0: 0 1$' "with its sockets"
run stint run --quiet --gpus 2 -- sh -c 'echo "[$CUDA_VISIBLE_DEVICES]"'
out '^\[2,3\]$' "a job gets the devices with the best links"

# Two of four are taken: one more would leave a gap in the other socket.
run stint policy set --placer topo:u_min=0.9,patience_s=600
want 0 "placers can be changed while it runs"
run stint submit --parsable --gpus 2 -- sleep 60
first=$(cat stdout)
run stint submit --parsable --gpus 1 -- sleep 60
second=$(cat stdout)
is "a job that waits for a better place says so" waits_for "$second" 'devices that lie closer together'
run stint cancel "$first"
is "it runs when nobody is left to wait for" soon_runs "$second"
printf 'topologies:\n  - {name: t, devices: 2, links: ["0-1 50GB/s", "1-0 25GB/s"]}\nnodes: [{count: 1, type: v100, devices: 2, topology: t}]\n' >both-ways.yaml
run stint nodes --topology --cluster both-ways.yaml
want 1 "a link is given once"
err 'links #2: "1-0 25GB/s" joins devices that were joined before' "else the second is named"
finish
