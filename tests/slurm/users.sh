#!/bin/bash
# What users do with sbatch, scancel and scontrol in a partition that a daemon drives.
# shellcheck disable=SC2317,SC2119,SC2016
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"
# shellcheck source=tests/slurm/lib/drive
. "$here/lib/drive"

"$STINT" slurm hook --partition gpu >hook.lua
export LUA=$work/hook.lua KILL_WAIT=2 NODE_WAIT=60
cluster_begin 2
trap 'drive_end; cluster_gone; rm -rf "$work"' EXIT
is "a daemon drives the partition" drive_begin --policy fifo:misfit=skip

# ---- a time limit, looked at again at the end: Slurm counts minutes

limited=$(batch -J limited --wrap "sleep 1000")
soon "it runs" queue_says "$limited" RUNNING
is "its end is brought forward" scontrol update job "$limited" EndTime=now+2

# ---- a job from its beginning to its end

job=$(user sbatch --parsable -J mine -t 10 --gres=gpu:2 --wrap 'id -u; pwd; echo devices $CUDA_VISIBLE_DEVICES; sleep 1')
soon "a user's job is in the queue" queue_says "$job" "mine +nobody "
soon "it runs" queue_says "$job" "RUNNING .* 2 +k80-1 "
soon "and ends well" ended "$job" COMPLETED
# Slurm remarks that TMPDIR of the tests is not the user's.
run grep -v slurmstepd "$place/home/slurm-$job.out"
is "as that user, where it was submitted" [ "$(head -n 2 stdout | xargs)" = "65534 $place/home" ]
is "with its devices" grep -q '^devices [0-3],[0-3]$' "$place/home/slurm-$job.out"
run stint logs "slurm:$job"
out '^65534$' "its output is found by Slurm's number"
job=$(batch -J fails --wrap 'exit 7')
soon "a job that fails" ended "$job" FAILED
run stint show "slurm:$job" --json
out '"(exit_)?code": ?7' "has its code"
job=$(user sbatch --parsable -D /nonexistent -J lost --gres=gpu:1 --wrap 'true')
soon "one without its directory" queue_says "$job" "FAILED .*could not open its output or go to its directory"

# ---- kinds that are Stint's, and kinds that are not

cpu=$(user sbatch --parsable -J cpu -t 10 -o /dev/null --wrap 'sleep 1')
named=$(batch -J named -w v100-1 --wrap 'sleep 1')
alone=$(batch -J alone --exclusive --wrap 'sleep 1')
feature=$(batch -J feature --constraint=p100 --wrap 'sleep 1')
typed=$(user sbatch --parsable -J typed -t 10 --gres=gpu:v100:2 -o /dev/null --wrap 'sleep 2')
wide=$(user sbatch --parsable -J wide -t 10 -N 2 --gres=gpu:4 -o /dev/null --wrap 'sleep 2')
parts=$(user sbatch --parsable -J parts -t 10 -N 2 --gres=gpu:1 -o /dev/null --wrap 'sleep 1')
gpus=$(user sbatch --parsable -J gpus -t 10 --gpus=2 -o /dev/null --wrap 'sleep 1')
tasks=$(user sbatch --parsable -J tasks -t 10 -n 2 --gpus-per-task=1 -o /dev/null --wrap 'sleep 1')
five=$(user sbatch --parsable -J five -t 10 --gres=gpu:5 -o /dev/null --wrap 'sleep 1')
soon "GPUs of a type" queue_says "$typed" "RUNNING .* 2 +v100-"
soon "all of two nodes" queue_says "$wide" "RUNNING .* 8 +[a-z0-9]+-1,[a-z0-9]+-2 "
for job in "$cpu" "$named" "$alone" "$feature"; do
	soon "what only Slurm can see to is run by Slurm: $(slurm_says "$job" %j)" is_so "$job" %T COMPLETED
done
for job in "$typed" "$wide" "$gpus" "$tasks" "$parts"; do
	soon "the rest by Stint: $(slurm_says "$job" %j)" ended "$job" COMPLETED
done
is "Stint has none of Slurm's" [ "$(stint queue --all | grep -cE ' (cpu|named|alone|feature) ')" = 0 ]
soon "as who asks for what is not there" grep -q 'AdminComment=stint: it can never run here' <(scontrol show job "$five")
scancel "$five"

# ---- arrays

array=$(user sbatch --parsable -J array -t 10 --gres=gpu:1 --array=0-5%2 --wrap 'date +"%s.%N begin"; sleep 0.7; date +"%s.%N end"')
array_over() { [ "$(stint queue --all | grep -cE " ${array}_[0-5] .* COMPLETED ")" = 6 ]; }
soon "an array ends" array_over
is "each task ran once" [ "$(cat "$place/home/slurm-${array}"_[0-5].out | grep -c end)" = 6 ]
at_once() {
	cat "$place/home/slurm-${array}"_*.out | sort | awk '/begin/ { if (++n > most) most = n } /end/ { n-- } END { print most }'
}
is "never more than its two at once" [ "$(at_once)" -le 2 ]

# ---- everything is full: those that wait

for i in 1 2 3 4 5 6; do batch -J "fill$i" --gres=gpu:4 --wrap 'sleep 1000' >/dev/null; done
full() { [ "$(squeue -h -t R -o %j | grep -c fill)" = 6 ]; }
soon "everything is in use" full
job=$(batch -J waits --wrap 'sleep 1')
soon "one waits" queue_says "$job" "PENDING .*it needs 1 device and 0 are free"
user scontrol hold "$job"
soon "its user holds it" queue_says "$job" "PENDING .*held"
user scontrol release "$job"
soon "and lets it go" queue_says "$job" "PENDING .*it needs 1 device"
user scontrol update job "$job" TimeLimit=7
time_is() { stint show "slurm:$1" | grep -Eq "time limit +$2"; }
soon "and changes its time" time_is "$job" 7m00s
user scancel "$job"
soon "and cancels it" ended "$job" CANCELLED
job=$(batch -J held -H --wrap 'sleep 1')
soon "one that was submitted held" queue_says "$job" "PENDING .*held"
array=$(batch -J tasks -a 0-3 --wrap 'sleep 1000')
soon "tasks that wait" queue_says "${array}_3" PENDING
user scancel "${array}_1"
soon "one is cancelled" ended "${array}_1" CANCELLED
one=$(squeue -h -t R -n fill1 -o %A)
user scancel "$one"
soon "one that runs is cancelled" ended "$one" CANCELLED
soon "others go on in its place" queue_says "${array}_0" RUNNING
is "but not who is held" queue_says "$job" "PENDING .*held"
user scancel "${array}_0"
soon "one task that runs is cancelled" ended "${array}_0" CANCELLED
user scontrol release "$job"
soon "who was held runs when released" queue_says "$job" "(RUNNING|COMPLETED)"
user scancel "$array"
soon "the rest of an array is cancelled" ended "${array}_3" CANCELLED

# ---- dependencies

first=$(batch -J first --wrap 'sleep 1')
bad=$(batch -J bad --wrap 'exit 1')
second=$(batch -J second -d "afterok:$first" --wrap 'sleep 0.1')
never=$(batch -J never -d "afterok:$bad" --wrap 'sleep 0.1')
soon "what it waits for ends" ended "$first" COMPLETED
soon "then it runs" ended "$second" COMPLETED
is "not before" [ "$(slurm_says "$second" %S)" \> "$(slurm_says "$first" %S)" ]
soon "who waits in vain is told so" is_so "$never" %r DependencyNeverSatisfied
later=$(batch -J later -b now+2 --wrap 'sleep 0.1')
soon "who begins later" ended "$later" COMPLETED

# ---- whose they are

job=$(batch -J account -A vision --wrap 'sleep 1000')
soon "an account is a tenant" queue_says "$job" " nobody/vision +RUNNING"
run stint quota set vision --weight 3
want 0 "with a weight"
run stint quota
out '^vision +3 ' "of its own"
out '^nobody +1 ' "who has no account is a tenant, too"
user scontrol requeue "$job"
back() { [ "$(scontrol show job "$job" | grep -o 'Restarts=[0-9]*')" = Restarts=1 ] && queue_says "$job" RUNNING; }
soon "a user's requeue lets it run again" back

soon "the one with a time limit is over" queue_says "$limited" "TIMEOUT .*timed out"
user scancel -u nobody
nobody_left() { ! stint queue 2>/dev/null | grep -Eq 'RUNNING|PENDING|COMPLETING'; }
soon "all are cancelled" nobody_left
drive_end
run stint replay "$STINT_STATE"
want 0 "the record replays"
out "^equal" "to the same decisions"
finish
