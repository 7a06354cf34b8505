#!/bin/bash
# Quotas and cells on a partition of a real Slurm: who was promised devices gets them from whoever
# borrowed them, which goes back to the queue, runs on afterwards, and is told why.
# shellcheck disable=SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"
# shellcheck source=tests/slurm/lib/drive
. "$here/lib/drive"

"$STINT" slurm hook --partition gpu >hook.lua
export LUA=$work/hook.lua KILL_WAIT=2 TYPES=v100
cluster_begin 2
trap 'drive_end; cluster_gone; rm -rf "$work"' EXIT

cat >quotas.yaml <<'END'
tenants:
  - {name: own, guaranteed: 4}
  - {name: guests, borrow: 8}
END
cat >cells.yaml <<'END'
tenants:
  - {name: own, cells: [{cell: node, count: 1}]}
  - {name: guests}
END

job() { # TENANT NAME GPUS SECONDS
	stint submit --quiet --tenant "$1" --name "$2" --gpus "$3" --time 10m --grace 2 -- sleep "$4" >/dev/null
}
runs() { stint queue --json --name "$1" | grep -q '"state": *"RUNNING"'; }
waits() { stint queue --json --name "$1" | grep -q '"state": *"PENDING"'; }
both_run() { runs a && runs b; }
one_waits() { waits a || waits b; }
nothing_left() { [ "$(squeue -h -t PD,R | wc -l)" = 0 ]; }
id_of() { stint queue --all --json --name "$1" | sed -n 's/.*"id": *\([0-9]*\).*/\1/p' | head -1; }

is "a daemon drives the partition under quotas" drive_begin --policy fifo:misfit=skip --admit quota --tenants quotas.yaml
is "guests borrow every device" job guests a 4 600
is "of both nodes" job guests b 4 600
soon "both run" both_run
run stint quota
out '^guests .* 8 +8 ' "all of it is borrowed"
is "the owner comes" job own mine 4 4
soon "and has what it was promised" runs mine
soon "the guest that came last is back in the queue" waits b
is "the other was left alone" runs a
is "in Slurm, too" [ "$(squeue -h -t R | wc -l)" = 2 ]
run stint explain "$(id_of b)"
out 'guaranteed 0; job [0-9]+ had a right to what it had borrowed' "the guest is told whose right it was"
soon "afterwards it runs again" runs b
run stint history "$(id_of b)"
out 'reclaimed .*had a right' "its history has it"

is "rules are changed under running jobs" stint policy set --admit all --placer hived
run stint quota load cells.yaml
out '^guests .* 8 +8 ' "cells instead of quotas: who had devices has them"
is "the owner asks for its node" job own whole 4 4
soon "and has it, whole" runs whole
run stint show "$(id_of whole)"
out 'v100-[12]' "on one node"
soon "one guest waits" one_waits
run stint explain "$(stint queue --state pending --json | sed -n 's/.*"id": *\([0-9]*\).*/\1/p' | head -1)"
want 0 "it is explained"
soon "and runs again when the node is idle" both_run
stint cancel --all --quiet >/dev/null
soon "everything ends" nothing_left
drive_end
run stint replay "$STINT_STATE"
want 0 "the record replays"
out "^equal" "to the same decisions"
finish
