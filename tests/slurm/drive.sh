#!/bin/bash
# A partition of a real Slurm, driven: 60 jobs under POLICY (fifo) while a node dies, the controller is
# restarted and the daemon is killed; each ends exactly once and the record replays.
# shellcheck disable=SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"
# shellcheck source=tests/slurm/lib/drive
. "$here/lib/drive"

policy=${POLICY:-fifo}
"$STINT" slurm hook --partition gpu >hook.lua
export LUA=$work/hook.lua KILL_WAIT=2 NODE_WAIT=5
cluster_begin 2
trap 'drive_end; cluster_gone; rm -rf "$work"' EXIT

is "$policy: a daemon drives the partition" drive_begin --policy "$policy"
is "60 jobs are taken" sixty
is "some end" wait_for 300 some_over 8
is "a node dies" "$vcluster" kill-node v100-1
sleep 1
is "the controller goes" "$vcluster" kill-controller
sleep 1
is "and comes back" "$vcluster" start-controller
is "more end" wait_for 300 some_over 16
drive_crash
sleep 1
is "the daemon comes back" drive_begin
is "and the node" "$vcluster" start-node v100-1
is "every job ends" wait_for 600 all_over
run check_each v100-1
want 0 "each once, and as it should"
# KEEP=DIR: what a failure left, to look at.
[ "$code" = 0 ] || [ -z "${KEEP:-}" ] || cp -r daemon.log "$STINT_STATE" "$VCLUSTER/log" "$ran" "$KEEP"
run stint report --json
out '"preemptions"' "a report"
drive_end
run stint replay "$STINT_STATE"
want 0 "the record replays"
out "^equal" "to the same decisions"
is "nothing of it is left in Slurm" [ "$(squeue -h -t PD,R | wc -l)" = 0 ]
finish
