#!/bin/bash
# The job_submit hook alone, in a real Slurm and without a daemon: which jobs it holds, what of
# holds and releases by users it keeps, and how all go back to Slurm.
# shellcheck disable=SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"

"$STINT" slurm hook --partition gpu >hook.lua
export LUA=$work/hook.lua TYPES="v100 k80" PARTITIONS="gpu=ALL other=ALL" KILL_WAIT=2
cluster_begin 1

submit() { user sbatch --parsable -t 5 -o /dev/null "$@" --wrap "sleep 1000"; }
about() { # JOB: how it waits, and its marks
	scontrol -o show job "$1" | head -n 1 | python3 -c '
import re, sys
line = sys.stdin.read()
def word(name): return (re.search(r"(?:^| )" + name + r"=(.*?)(?= \w+(?:/\w+)*=|$)", line) or ["", ""])[1].strip()
print(word("Priority") == "0" and "held" or "free", word("AdminComment") or "-", word("Comment") or "-", sep=", ")'
}
so() { # JOB TEXT
	last="about $1" code=0
	about "$1" >stdout
	: >stderr
	[ "$(cat stdout)" = "$2" ]
}
some_run() { [ "$(squeue -h -t R | wc -l)" -ge 2 ]; }
waits() { so "$(submit "${@:2}")" "held, stint:wanted, -"; report $? "held: $1"; }
leaves() { so "$(submit "${@:2}")" "free, -, -"; report $? "left alone: $1"; }

# ---- which

waits "GPUs of any node" --gres=gpu:1
waits "of a type" --gres=gpu:v100:1
waits "by --gpus" --gpus=1
waits "by --gpus-per-node" --gpus-per-node=2
waits "by --gpus-per-task" -n 2 --gpus-per-task=1
waits "several nodes" -N 2 --gres=gpu:4
waits "the partition by its name" -p gpu --gres=gpu:1
leaves "no GPUs"
leaves "another partition" -p other --gres=gpu:1
leaves "a node by its name" -w v100-1 --gres=gpu:1
leaves "all but a node" -x v100-1 --gres=gpu:1
leaves "nodes for itself" --exclusive --gres=gpu:1
leaves "a feature" --constraint=k80 --gres=gpu:1
array=$(submit --array=0-3%2 --gres=gpu:1)
is "held: an array" so "$array" "held, stint:wanted, -"
own=$(sbatch --parsable -H --comment stint:0a:7:1 --gres=gpu:1 -o /dev/null --wrap "sleep 1000")
is "left alone: what Stint submits itself" so "$own" "held, -, stint:0a:7:1"

squeue -h -t R,PD -o '%A %k %p' | awk '$3 > 0 { print $1 }' | xargs scancel
run user timeout 300 srun --gres=gpu:1 -t 1 -n 1 true
want 0 "left alone: srun"

# ---- what waits for others

first=$(user sbatch --parsable -p other -o /dev/null --wrap "sleep 1")
after=$(submit -d "afterok:$first" --gres=gpu:1)
is "with a dependency it is Slurm's to watch" so "$after" "free, stint:wanted, -"
is "and has its reason" is_so "$after" '%r' Dependency
soon "and goes on waiting when that is over" is_so "$after" '%E %T' '(null) PENDING'
late=$(submit -b now+1days -d "afterok:$first" --gres=gpu:1)
is "with a begin of its own it is held" so "$late" "held, stint:wanted, -"

# ---- holds by users

job=$(submit -H --gres=gpu:1)
is "sbatch -H is remembered" so "$job" "held, stint:wanted, stint:held"
run user scontrol release "$job"
want 0 "its user releases it"
is "which does not start it" so "$job" "held, stint:wanted, stint:free"
run user scontrol release "$job"
want 1 "once more"
err "denied" "is not his to do"
run user scontrol hold "$job"
is "held again" so "$job" "held, stint:wanted, stint:held"
job=$(submit -H --comment "mine, and yours" --gres=gpu:1)
is "a comment stays" so "$job" "held, stint:wanted, mine, and yours stint:held"
user scontrol hold "$job"
user scontrol release "$job"
is "also after a release" so "$job" "held, stint:wanted, mine, and yours"
run user scontrol update job "$job" timelimit=3
want 0 "other changes are as ever"
is "and change nothing else" so "$job" "held, stint:wanted, mine, and yours"
scontrol release "$job"
is "root's release is one" so "$job" "free, stint:wanted, mine, and yours"
user scontrol hold "${array}_2"
is "one task is held" so "${array}_2" "held, stint:wanted, stint:held"
is "the others are not" so "${array}_1" "held, stint:wanted, -"
user scontrol release "$array" 2>/dev/null
is "the array is released" so "${array}_2" "held, stint:wanted, stint:free"
free=$(submit -p other -H --gres=gpu:1)
is "elsewhere a hold is Slurm's" so "$free" "held, -, -"
run user scontrol release "$free"
is "and a release" so "$free" "free, -, -"

# ---- back to Slurm

held=$(submit -H --gres=gpu:1)
n=$(squeue -h -t PD | wc -l)
run stint slurm release --dry-run
err "[0-9]+ jobs would be released" "how many would go back"
run stint slurm release
want 0 "all go back"
err "([0-9]+) of \1 jobs are Slurm's to start again" "each of them"
is "there were some" [ "$n" -gt 10 ]
soon "Slurm starts them" some_run
is "what its user holds stays held" so "$held" "held, -, stint:held"
run user scontrol release "$held"
want 0 "until that user releases it"
run stint slurm release
err "no job waits for Stint" "none is left"
finish
