#!/bin/bash
# What tenants are promised and who keeps it: a promise without the rule that keeps it is told, so is the
# rule without a promise, and errors name the file.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"
unset STINT_SOCKET XDG_RUNTIME_DIR

printf 'tenants:\n  - {name: tenant-1, cells: [{cell: node}]}\n' >cells.yaml
printf 'tenants:\n  - {name: tenant-1, guaranteed: 4}\n' >quotas.yaml
printf 'tenants:\n  - {name: tenant-1, weight: 2}\n' >weights.yaml

simulate() {
	run stint sim synth:jobs=3 --cluster 2x4:v100 --policy fifo "$@"
	want 0 "sim $*"
}

silent() { # WHAT
	err_not 'not kept' "$1"
	err_not 'nothing to keep' "$1, either"
}

err_not() { # REGEX WHAT
	if grep -Eq -- "$1" stderr; then report 1 "$2"; else report 0 "$2"; fi
}

simulate --tenants cells.yaml
err '^cells of cells.yaml are not kept: add --placer hived$' "cells that nobody keeps are told"
simulate --placer hived
err '^--placer hived has nothing to keep: no tenant has cells, .*; give a file' "so is hived without tenants"
simulate --placer hived --tenants weights.yaml
err '^--placer hived has nothing to keep: .* state some in the file of --tenants$' "and without cells"
simulate --placer hived --tenants cells.yaml
silent "both together are nothing to tell of"
simulate --tenants weights.yaml
silent "nor is neither of them"
simulate --tenants quotas.yaml
err '^quotas of quotas.yaml are not kept: add --admit quota$' "quotas that nobody keeps are told"
run stint sim synth:jobs=3 --cluster 2x4:v100 --policy antman --tenants quotas.yaml
want 0 "sim under antman"
silent "which keeps quotas itself"
run stint compare synth:jobs=3 --cluster 2x4:v100 --policy fifo --placer first-fit,hived --tenants cells.yaml --seeds 1
want 0 "where placers are compared"
silent "one that keeps cells is enough"

# ---- the daemon
printf 'tenants:\n  - {name: vision, cells: [{cell: pair}]}\n' >pairs.yaml
printf 'tenants:\n  - {name: vision, cells: [{cell: node, count: 9}]}\n' >many.yaml
printf 'bogus\n' >hosts.csv
serve() {
	run timeout 300 "$STINT" daemon --state state --slots 4 --no-cgroups --no-gpus --no-http "$@"
}
serve --placer hived --tenants pairs.yaml
want 1 "a cell that is not there"
err '^stint daemon: pairs.yaml: placer hived: line 2: tenant vision: cells #1: there is no cell "pair"' "is told with its file"
serve --placer hived --tenants many.yaml
want 4 "so are more than can be kept"
err '^stint daemon: many.yaml: placer hived: more cells are promised' "with their file"
serve --host-profiles hosts.csv
want 1 "host profiles that cannot be read"
err '^stint daemon: hosts.csv:1: no column "bogus"' "are called by their name"

# ---- help
for verb in daemon whatif capacity sim; do
	run stint "$verb" --help
	out '--tenants FILE +tenants: weights, quotas and cells, YAML' "$verb says what a file of tenants has"
done

finish
