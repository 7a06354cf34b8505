#!/bin/bash
# What a Slurm controller does where Stint makes promises about its record (doc/reliability.md): killed right after it
# acknowledged a job, started with an older copy of its state, started without any.  One Slurm of
# its own (tools/vcluster); needs root.  About a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
vcluster=$PWD/tools/vcluster
VCLUSTER=$(mktemp -d /tmp/state.XXXXXX) TYPES=v100
export VCLUSTER TYPES
rmdir "$VCLUSTER"
trap '"$vcluster" stop >/dev/null 2>&1; rm -rf "$VCLUSTER.old"' EXIT
"$vcluster" start 1 >/dev/null
eval "$("$vcluster" env)"
state=$VCLUSTER/state
cd /tmp

submit() { sbatch --parsable --output /dev/null --wrap "sleep 600.$1"; }
numbers() { squeue --noheader --format %i | sort -n | tr '\n' ' '; }
running() { pgrep -fc "^sleep 600\.$1\$" || true; }
saved() { sleep 8; } # the controller saves its jobs within 5 s

slurmctld -V
first=$(submit 1)
saved
cp -a "$state" "$VCLUSTER.old"
lost=$(submit 2)
"$vcluster" kill-controller -9
"$vcluster" start-controller
sleep 5
echo "job $lost acknowledged, controller killed at once:   the queue has: $(numbers)"

second=$(submit 3)
saved
echo "jobs $first and $second run, then the state of before job $second is put in place"
"$vcluster" kill-controller
rm -rf "$state"
cp -a "$VCLUSTER.old" "$state"
"$vcluster" start-controller
sleep 8
echo "  the queue has: $(numbers)"
echo "  processes of job $second: $(running 3)"
echo "  the next job's number: $(submit 4)"
saved
"$vcluster" kill-controller
rm -rf "${state:?}"/*
"$vcluster" start-controller
sleep 15
echo "state removed:"
echo "  the queue has: $(numbers)"
echo "  processes of job $first: $(running 1)"
echo "  the next job's number: $(submit 5)"
