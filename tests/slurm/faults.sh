#!/bin/bash
# A partition that a daemon drives while parts of it fail, one after the other: what vouches for
# users, the controller, a node, the bridge, the daemon.  Each is noticed and said, every job ends
# once, and the record replays.
# shellcheck disable=SC2317,SC2119
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

mark() { from=$(($(wc -l <daemon.log) + 1)); }
log_says() { tail -n "+$from" daemon.log | grep -Eq -- "$1"; }
state() { stint queue --all 2>/dev/null | grep -E "^ *$1 " | grep -Eq -- "$2"; }
attempts() { stint show "$1" --json | python3 -c 'import json, sys
print(max([a["attempt"] for a in json.load(sys.stdin)["attempts"]] or [0]))'; }
bridges() { pgrep -P "$daemon" -f stint-slurm; }
another_bridge() { [ -n "$(bridges)" ] && [ "$(bridges)" != "$1" ]; }
node_says() { stint nodes | grep -E "^$1 " | grep -Eq -- "$2"; }

# ---- a node is drained

stint submit --parsable -J stays --type k80 --gpus 4 -- sleep 1000 >number
stays=$(cat number)
soon "a job runs on a node" state "$stays" "RUNNING .* k80-1 "
scontrol update nodename=k80-1,k80-2 state=drain reason="fan is loud"
mark
soon "that is drained: free devices go" node_says k80-2 "down .*drained: fan is loud"
stint submit --parsable -J waits --type k80 -- sleep 1 >number
waits=$(cat number)
soon "nothing starts there" state "$waits" "PENDING .*(up|device)"
is "what runs goes on" state "$stays" "RUNNING .* k80-1 "
scontrol update nodename=k80-2 state=resume
soon "resumed, it is used" state "$waits" "(RUNNING .* k80-2 |COMPLETED)"
scontrol update nodename=k80-1 state=resume
stint cancel "$stays" >/dev/null

# ---- a node dies, and comes back

stint submit --parsable -J unlucky --type v100 --gpus 8 -- sleep 1000 >number
unlucky=$(cat number)
soon "a job runs on two nodes" state "$unlucky" "RUNNING .* v100-1,v100-2 "
"$vcluster" kill-node v100-2
scontrol update nodename=v100-2 state=down reason="no power"
soon "one dies: the job waits" state "$unlucky" "PENDING"
soon "and it is said why" node_says v100-2 "down .*Slurm: DOWN: no power"
"$vcluster" start-node v100-2
soon "it comes back, and the job with it" state "$unlucky" "RUNNING .* v100-1,v100-2 "
is "for the second time" [ "$(attempts "$unlucky")" = 2 ]

# ---- nobody vouches for users; a job that ended meanwhile Slurm would show as running for minutes

mark
"$vcluster" kill-munge
soon "without munge Slurm cannot be asked" log_says "cannot be asked \(auth"
stint submit --parsable -J meanwhile --type k80 -- sleep 0.1 >number
meanwhile=$(cat number)
"$vcluster" start-munge
soon "with it again it can" log_says "Slurm answers again"
soon "and what was submitted meanwhile runs" state "$meanwhile" COMPLETED

# ---- a controller that loses what it had not saved; of runs that end just then Slurm forgets the end

touch now
saved() { [ "$VCLUSTER/state/job_state" -nt now ]; }
stint submit --parsable -J saved --type v100 -- sleep 0.1 >number
saved=$(cat number)
soon "Slurm saves its state" saved
stint submit --parsable -J lost --type v100 -- sleep 0.1 >number
lost=$(cat number)
soon "and gets another job" state "$lost" "^ *[0-9]+ +[0-9]+ +lost "
"$vcluster" kill-controller -9
"$vcluster" start-controller
is "what ran goes on" state "$unlucky" RUNNING
stint cancel "$unlucky" >/dev/null
soon "what it knew runs" state "$saved" COMPLETED
soon "and what it lost" state "$lost" COMPLETED
soon "who ran all the while goes when it is told to" state "$unlucky" CANCELLED

# ---- many jobs, and everything else

is "15 jobs" some_jobs 15
is "some end" wait_for 300 some_over 5

mark
"$vcluster" kill-controller
soon "nor without a controller" log_says "cannot be asked \((unreachable|timeout)"
run stint queue
want 0 "the queue is there all the same"
"$vcluster" start-controller
soon "which comes back" log_says "Slurm answers again"

before=$(bridges)
kill -KILL "$before"
soon "a bridge that was killed is replaced" another_bridge "$before"

mark
drive_crash
is "the daemon is killed and comes back" drive_begin
soon "with its jobs" log_says "jobs? and [0-9]+ attempts? taken over"

# A controller that hangs takes orders and does not answer: nobody knows whether it did them.
controller=$(pgrep -f "slurmctld -f $SLURM_CONF")
mark
stint submit --quiet -J late16 -- bash -c "$(job_text 16 1 0)" >/dev/null
njobs=16
kill -STOP "$controller"
stint submit --quiet -J late17 -- bash -c "$(job_text 17 1 0)" >/dev/null
njobs=17
soon "a controller hangs" log_says "cannot be asked \((unreachable|timeout)"
drive_crash
kill -CONT "$controller"
is "the daemon dies meanwhile" drive_begin
drive_crash
is "and again at once" drive_begin

all_are_over() { [ "$(count_ended)" = $((njobs + 6)) ]; }
is "every job ends" wait_for 300 all_are_over
run check_each
want 0 "each once, and as it should"
nothing() { [ "$(squeue -h -t PD,R | wc -l)" = 0 ]; }
soon "nothing of it is left in Slurm" nothing
drive_end
run stint replay "$STINT_STATE"
want 0 "the record replays"
out "^equal" "to the same decisions"
finish
