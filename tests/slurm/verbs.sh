#!/bin/bash
# Stint's own verbs in a partition that it drives: for its jobs and for sbatch's, on several nodes,
# and jobs that change their size.
# shellcheck disable=SC2317,SC2119,SC2016
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"
# shellcheck source=tests/slurm/lib/drive
. "$here/lib/drive"

"$STINT" slurm hook --partition gpu >hook.lua
export LUA=$work/hook.lua KILL_WAIT=3 NODE_WAIT=60
cluster_begin 2
trap 'drive_end; cluster_gone; rm -rf "$work"' EXIT
is "a daemon drives the partition" drive_begin --policy fair-share:preempt=1,elastic=1,patience_s=1

submit() { stint submit --parsable "$@"; }
state() { # NUMBER REGEX: of our own number
	stint queue --all 2>/dev/null | grep -E "^ *$1 " | grep -Eq -- "$2"
}
logs_say() { stint logs "$1" 2>/dev/null | grep -Eq -- "$2"; }
# Says what it is told; goes when it is asked to.
speaks='trap "echo usr" USR1; trap "echo bye; exit 9" TERM; echo "hello ${SLURM_RESTART_COUNT:-0}"; while :; do sleep 0.1; done'

# ---- each verb, for both kinds

own=$(submit -J own -- bash -c "$speaks")
theirs=slurm:$(user sbatch --parsable -J theirs -t 10 --gres=gpu:1 --open-mode=append --wrap "$speaks")
once=$(batch -J once --no-requeue --wrap "$speaks")
number=${theirs#slurm:}
soon "one of ours runs" state "$own" RUNNING
soon "one of sbatch's runs" queue_says "$number" RUNNING
soon "what ours says" logs_say "$own" "hello 0"
soon "what sbatch's says" logs_say "$theirs" "hello 0"
run stint signal USR1 "$own" "$theirs"
want 0 "a signal"
soon "comes to ours" logs_say "$own" usr
soon "and to sbatch's" logs_say "$theirs" usr
run stint requeue "$own" "$theirs"
want 0 "requeue"
soon "ours runs again" logs_say "$own" "hello 1"
soon "so does sbatch's" logs_say "$theirs" "hello 1"
is "and was asked to go" logs_say "$theirs" bye
run stint hold --stop "$own" "$theirs"
want 0 "hold"
soon "ours waits" state "$own" "PENDING .*held"
soon "so does sbatch's" queue_says "$number" "PENDING .*held"
soon "in Slurm, too" is_so "$number" %T PENDING
for job in "$own" "$theirs"; do
	fails 4 "GPUs, CPUs, memory and name of a job are Slurm's here" "its size is Slurm's ($job)" stint update --gpus 2 "$job"
	fails 4 "are Slurm's here" "so is its name ($job)" stint update --name other "$job"
	run stint update --priority 5 --dependency none "$job"
	want 0 "its priority is Stint's ($job)"
done
run stint release "$own" "$theirs"
want 0 "release"
soon "ours runs once more" logs_say "$own" "hello 2"
soon "and sbatch's" logs_say "$theirs" "hello 2"
third_runs() {
	stint show "$theirs" >third && grep -Eq '^ +3 +running' third
}
soon "its third attempt" third_runs
run stint show "$theirs"
out '^stdout +/.*/slurm-[0-9]+.out$' "where its output is"
run stint explain "$theirs"
want 0 "explained"
run stint history "$theirs"
want 0 "its history"
run stint cancel "$own" "$theirs"
want 0 "cancel"
soon "ours is cancelled" state "$own" CANCELLED
soon "so is sbatch's" ended "$number" CANCELLED
is "what it wrote is there" logs_say "$theirs" "hello 2"
fails 3 "no job here is Slurm's 999" "a number that is none" stint cancel slurm:999
soon "one that must not run again" queue_says "$once" RUNNING
stint requeue "slurm:$once" >/dev/null
soon "is not put back by Slurm" queue_says "$once" "FAILED .*no-requeue"
stint submit --quiet -J failing -- sh -c 'exit 5' >number
soon "a failure of ours" state "$(cat number)" FAILED
run stint wait "$(cat number)"
want 5 "has its code"

# ---- several nodes

wide=$(submit -J wide --gpus 8 --type v100 -- bash -c 'echo $SLURM_JOB_NUM_NODES nodes, $STINT_GPUS GPUs; sleep 1000')
soon "8 GPUs of 2 nodes" state "$wide" "RUNNING .* 8 +v100-1,v100-2 "
soon "it knows" logs_say "$wide" "2 nodes, 8 GPUs"
is "all of them are its" [ "$(stint nodes | grep -cE "v100-[12] .* $wide ")" = 8 ]
narrow=$(submit -J narrow --type v100 -- sleep 1)
soon "nobody gets there" state "$narrow" "PENDING .*devices?"
stint cancel "$wide" >/dev/null
soon "until it has gone" state "$narrow" "(RUNNING|COMPLETED)"

# ---- another size

elastic=$(submit -J elastic -A one --type k80 --gpus 2 --min-gpus 1 --max-gpus 8 -- bash -c '
	trap "exit 1" TERM
	echo $SLURM_GPUS_ON_NODE GPUs on $SLURM_JOB_NUM_NODES nodes, of $STINT_GPUS
	while :; do sleep 0.1; done')
soon "an elastic job gets all there is" logs_say "$elastic" "4 GPUs on 2 nodes, of 8"
other=$(submit -J other -A two --type k80 --gpus 4 -- sleep 2)
soon "another tenant's comes" state "$other" RUNNING
soon "it goes on with less" logs_say "$elastic" "4 GPUs on 1 nodes, of 4"
soon "that one ends" state "$other" COMPLETED
grown() { [ "$(stint logs "$elastic" | tail -n 1)" = "4 GPUs on 2 nodes, of 8" ] && [ "$(stint logs "$elastic" | wc -l)" -ge 3 ]; }
soon "and it grows again" grown
stint cancel --all >/dev/null
soon "it goes" state "$elastic" CANCELLED
nothing() { [ "$(squeue -h -t R,PD | wc -l)" = 0 ]; }
soon "nothing is left in Slurm" nothing
drive_end
run stint replay "$STINT_STATE"
want 0 "the record replays"
out "^equal" "to the same decisions"
finish
