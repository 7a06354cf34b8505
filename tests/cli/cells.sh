#!/bin/bash
# stint cells, and the placer hived with tenants from a file.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"
unset STINT_SOCKET XDG_RUNTIME_DIR
export STINT_STATE=$work/state # no daemon is there

cat >tenants.yaml <<'END'
tenants:
  - name: vision
    cells: [{cell: node, count: 3}]
  - name: speech
    cells:
      - {cell: node, count: 2}
      - {cell: device, count: 4}
  - {name: students}
END

run stint cells check tenants.yaml --cluster 8x4:v100
want 0 "promises that can be kept"
out 'every tenant always gets its cells' "that they can is said"
out '^v100 +node +4 +8 +5 +2$' "nodes: eight exist, five are promised, two are spare"
out '^v100 +device +1 +32 +4 +8$' "devices: four are promised, eight are spare"

run stint cells check tenants.yaml --cluster 4x4:v100
want 4 "promises that cannot be kept are refused"
err 'vision \(3 node\) and speech \(2 node\) need 5 node of v100, there are 4; see line 3, 6' "the smallest set, with lines"

run stint cells check tenants.yaml --cluster 5x4:v100
want 4 "a device too many"
err 'vision \(3 node\), speech \(2 node\) and speech \(4 device\) need 24 device of v100, there are 20' "all three are needed for it"

run stint cells check tenants.yaml --cluster 4x4:v100 --json
want 4 "the same as JSON"
out '"feasible": false' "JSON says so"
out '"need": 5' "and how much it is"

run stint cells show tenants.yaml --cluster 8x4:v100
want 0 "cells show"
out 'node: 8 of 4 devices, 5 promised, 2 spare' "the tree"
out '^speech +12 +2 node, 4 device$' "and who has what"

printf 'tenants: [{name: vision, cells: [{cell: node, count: 1}]}]\n' >one.yaml
run stint cells check one.yaml
want 0 "without a cluster and a daemon this machine is meant"
out '^one.yaml on .+: every tenant always gets its cells' "which has a node"
err '^no --cluster: no daemon answers, this machine .+ is meant, [0-9]+ devices?$' "and that is said"
run stint cells show one.yaml --quiet
want 0 "the same for cells show"
out 'node: 1 of [0-9]+ devices, 1 promised, 0 spare|node: 1, 1 promised' "its tree"
is "and nothing is said if so wished" [ ! -s stderr ]
run stint cells check tenants.yaml --json
want 4 "what this machine cannot keep is refused"
out '"feasible": false' "as JSON, too"
run stint cells check one.yaml --socket nowhere
want 6 "a daemon that is named has to answer"

cat >hived.yaml <<'END'
physicalCluster:
  cellTypes:
    NODE: {childCellType: GPU, childCellNumber: 4, isNodeLevel: true}
  physicalCells: [{cellType: NODE, cellAddress: n0}, {cellType: NODE, cellAddress: n1}]
virtualClusters:
  A: {virtualCells: [{cellType: NODE, cellNumber: 1}]}
  B: {virtualCells: [{cellType: NODE, cellNumber: 1}]}
END
run stint cells check hived.yaml
want 0 "a configuration of HiveD"
out '^NODE +NODE +4 +2 +2 +0$' "its cells"
run stint cells check hived.yaml --cluster 2x4
want 2 "it has a cluster of its own"

cat >trace.csv <<'END'
id,tenant,gpus,arrival_s,duration_s
a,vision,4,0,100
b,vision,4,0,100
c,vision,4,0,100
d,vision,4,0,100
e,students,4,0,1000
f,speech,4,10,50
END
run stint sim trace.csv --cluster 6x4:v100 --policy fifo --placer hived --tenants tenants.yaml --out run
want 0 "a simulation with hived"
is "a fourth node is not vision's: it waits for its cells" grep -q '^d,.*,100,' run/jobs.csv
run stint sim trace.csv --cluster 4x4:v100 --policy fifo --placer hived --tenants tenants.yaml
want 4 "too few nodes for what is promised"
err 'placer hived: more cells are promised than can be kept: vision \(3 node\) and speech \(2 node\)' "and who"

printf 'nodes: [{count: 2, type: v100, devices: 8}]\ncells:\n  - type: v100\n    levels: [{name: nod, of: 8}]\n  - type: v100\n    levels: [{name: pair, of: 2}, {name: node, of: 4}]\n' >twice.yaml
printf 'tenants:\n  - {name: a, cells: [{cell: node}]}\n' >one.yaml
run stint cells check one.yaml --cluster twice.yaml
want 1 "cells of one type are said once"
err 'the cells of n0 are described twice, from "nod" and from "pair" up; keep one' "else both are named"
finish
