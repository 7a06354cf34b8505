#!/bin/bash
# The ways into a driven partition and out of it: what is wrong is said with what to do, jobs go
# back to Slurm when Stint leaves, and are taken up again when it returns.
# shellcheck disable=SC2317,SC2119
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"
# shellcheck source=tests/slurm/lib/drive
. "$here/lib/drive"

"$STINT" slurm hook --partition gpu >hook.lua
# One node has GPUs without a type, one none at all.
export LUA=$work/hook.lua KILL_WAIT=2 NODE_WAIT=60 TYPES=v100 PARTITIONS="gpu=v100-1 plain=plain-1 bare=bare-1"
conf() { # NAME PORT GRES
	echo "NodeName=$1 NodeHostname=$(hostname -s 2>/dev/null || uname -n) NodeAddr=127.0.0.1 Port=$2 CPUs=4 RealMemory=1000 $3 State=DOWN"
}
EXTRA_CONF="$(conf plain-1 7 Gres=gpu:2)
$(conf bare-1 8 "")"
export EXTRA_CONF
cluster_begin 1
trap 'drive_end; cluster_gone; rm -rf "$work"' EXIT
daemon() { timeout 300 "$STINT" daemon --driver slurm --no-http "$@"; }

# ---- what is wrong

fails 3 "no partition 'moon'; there (is|are) .*gpu" "a partition that is not there" daemon --partition moon
fails 2 "take.*marked.*all.*none" "a word that --take does not know" daemon --partition gpu --take some
fails 3 "partition bare: .*GPU" "a partition without GPUs" daemon --partition bare
cp "$STINT" "$bridge" "$place"
fails 4 "run the daemon as root or as SlurmUser" "somebody who may not" \
	user "$place/stint" daemon --driver slurm --partition gpu --no-http --state "$place/home/state"
fails 6 "SLURM_CONF" "no Slurm" env SLURM_CONF=/nonexistent "$STINT" daemon --driver slurm --partition gpu --no-http
mkdir local
"$STINT" daemon --state "$work/local" --no-http --no-gpus --slots 1 >/dev/null 2>&1 &
other=$!
here_too() { STINT_STATE=$work/local stint nodes >/dev/null 2>&1; }
soon "a daemon of this machine" here_too
kill "$other"
wait "$other" 2>/dev/null
fails 4 "state" "its state directory is of another world" daemon --partition gpu --state "$work/local"

# ---- GPUs without a type

"$STINT" daemon --driver slurm --partition plain --no-http --state "$work/plain" --slurm-poll 0.3 >plain.log 2>&1 &
other=$!
plain_says() { stint nodes --socket "$work/plain/socket" 2>/dev/null | grep -Eq "$1"; }
soon "GPUs without a type are of type gpu" plain_says "plain-1 +1 +gpu"
is "which is said" grep -Eiq "type" plain.log
kill "$other"
wait "$other" 2>/dev/null

# ---- out, and in again

is "a daemon drives the partition" drive_begin --policy fifo
runs=$(batch -J runs --gres=gpu:4 --wrap 'sleep 3')
soon "a job runs" queue_says "$runs" RUNNING
waits=$(batch -J waits --gres=gpu:2 --wrap 'sleep 1')
held=$(batch -J held -H --gres=gpu:2 --wrap 'sleep 1')
own=$(stint submit --parsable -J own --gpus 2 -- sleep 1)
soon "others wait" queue_says "$waits" PENDING
soon "one for its user" queue_says "$held" "PENDING .*held"
in_slurm() { stint queue 2>/dev/null | grep -E " own " | grep -Eq "^ *[0-9]+ +[0-9]+ "; }
soon "one of Stint's" in_slurm
number=$(stint queue | awk '/ own / { print $2 }')
drive_end
run stint slurm release
want 0 "without a daemon they go back to Slurm"
soon "which runs them: sbatch's" is_so "$waits" %T COMPLETED
soon "and Stint's" is_so "$number" %T COMPLETED
is "but not who is held" is_so "$held" '%T %r' 'PENDING JobHeldUser'
late=$(batch -J late --wrap 'sleep 1')
is "what comes meanwhile waits" is_so "$late" %T PENDING
is "the daemon comes back" drive_begin
soon "it takes what came" ended "$late" COMPLETED
soon "and knows how the others ended: who ran" ended "$runs" COMPLETED
soon "who waited" ended "$waits" COMPLETED
soon "its own" stint wait "$own"
user scontrol release "$held"
soon "and who was held runs when its user says so" is_so "$held" %T COMPLETED
soon "which is known" ended "$held" COMPLETED
drive_end
run stint replay "$STINT_STATE"
want 0 "the record replays"
out "^equal" "to the same decisions"
finish
