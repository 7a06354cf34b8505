#!/bin/bash
# Looking on at a real Slurm: status, attach, shadow and its report; nothing in Slurm changes.
# shellcheck disable=SC2317,SC2119,SC2120,SC2030,SC2031
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"

unset STINT_SOCKET XDG_RUNTIME_DIR
export STINT_STATE=$work/state
looker=

look_on() { # VERB [FLAG...]
	"$STINT" slurm "$@" --no-http --slurm-poll 0.3 >>daemon.log 2>&1 &
	looker=$!
	for _ in $(seq 2400); do
		stint nodes >/dev/null 2>&1 && return
		kill -0 "$looker" 2>/dev/null || return 1
		sleep 0.05
	done
}
look_away() {
	[ -z "$looker" ] || kill "$looker" 2>/dev/null
	[ -z "$looker" ] || wait "$looker" 2>/dev/null
	looker=
}
number() { sbatch --parsable -o /dev/null "$@"; }
queue_says() { stint queue --all | grep -Eq "$1"; }

# ---- without Slurm

SLURM_CONF=$work/none run stint slurm status
want 3 "no slurm.conf"
err "does not answer .*none.*: see that slurmctld runs" "says what to do"
SLURM_CONF=$work/none run stint slurm attach
want 3 "nor can it be looked at"
err "see that slurmctld runs" "and says the same"
run stint slurm shadow
want 2 "a shadow of nobody"
err "policy is needed" "wants a policy"
run stint slurm shadow --report --state "$work/none"
want 3 "a report of nothing"
run stint slurm hook
want 2 "a hook for no partition"
run stint slurm hook --partition 'a"b'
want 2 "a name that is none"
run stint slurm hook --partition gpu
out 'stint.partitions = \{ \["gpu"\] = true \}' "the hook has its partition"
run stint daemon --driver slurm
want 2 "driving needs a partition"
err "status. lists them" "and says how to find one"
run stint daemon --driver moon
want 2 "no such world"

cluster_begin 2

run stint slurm status
want 0 "status"
out "cluster +vc, Slurm [0-9.]+" "who it is"
out "gpu +up +6 +24 +0 +k80 x 8, p100 x 8, v100 x 8 +0 +0 +0" "its partition"
run stint slurm status --json
out '"schema":"slurm_status/1"' "as JSON"
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
if nobody test -x "$STINT"; then
	run nobody env SLURM_CONF="$SLURM_CONF" "$STINT" slurm status
	out "may look on" "somebody without rights"
else
	echo "skip - others cannot reach the program here: what they may do was not tried"
fi
run stint slurm attach --partition moon
want 3 "a partition that is not there"
err "sinfo. lists those" "where to find those that are"

# ---- attach

first=$(number -J short --gres=gpu:4 -t 5 --wrap "sleep 1")
is "looking on" look_on shadow --policy srtf --shadow-every 0.3
soon "a job that ran before" queue_says "$first +short +.*(RUNNING|COMPLETED)"
for i in 1 2 3 4 5 6; do number -J "wide$i" --gres=gpu:4 -t "$((10 - i))" --wrap "sleep 4" >/dev/null; done
array=$(number -J many --gres=gpu:1 -t 5 --array=0-2 --wrap "sleep 1")
final=$(number -J last --gres=gpu:4 -t 1 --wrap "sleep 1")
gone=$(number -J gone --gres=gpu:1 -t 5 --wrap "sleep 1")
failed=$(number -J fails --gres=gpu:1 -t 5 --wrap "exit 3")
cpu=$(number -J cpu -t 5 --wrap "sleep 1")
soon "those that run" queue_says "wide1 +root +RUNNING .*4 +[a-z0-9]+-[12]"
soon "those that wait, and what Slurm says of it" queue_says "$final +last +.*PENDING .*Slurm: (Resources|Priority)"
soon "tasks of an array" queue_says "${array}_2 +many"
run stint explain "slurm:$final"
want 0 "explained by Slurm's number"
out "what keeps it waiting" "with what keeps it waiting"
run stint show "slurm:$final"
out "last" "shown likewise"
run stint show slurm:999999
want 3 "Slurm has no such job"
run stint eta "slurm:$final"
want 0 "forecast"
run stint cancel "slurm:$final"
want 4 "nothing is changed from here"
err "looks on at Slurm" "and says so"
run stint submit -- true
want 4 "nothing is submitted"
scancel "$gone"
soon "cancelled there is cancelled here" queue_says "$gone +gone +.*CANCELLED"
soon "an array ends" queue_says "${array}_2 +many +.*COMPLETED"
soon "a failure is one here" queue_says "$failed +fails +.*FAILED"
is "jobs without GPUs are not followed" [ "$(stint queue --all | grep -c " $cpu  *cpu ")" = 0 ]
nobody_left() { [ "$(squeue -h | wc -l)" = 0 ]; }
soon "all ends" nobody_left

# ---- after a restart

look_away
between=$(number -J between --gres=gpu:2 -t 5 --wrap "sleep 2")
is "looking on again" look_on attach
soon "what came meanwhile" queue_says "$between +between +.*(RUNNING|COMPLETED)"
soon "and its end" queue_says "$between +between +.*COMPLETED"
run stint nodes
out "k80-1 +0 +k80" "nodes"
run stint report
out "jobs finished" "a report"
run stint history "slurm:$first"
want 0 "the history of one"
look_away

# ---- what was before

(
	export STINT_STATE=$work/late
	"$STINT" slurm attach --no-http --assume-gpus node=4 >late.log 2>&1 &
	late=$!
	known() { stint queue --all --limit 100 | grep -q "$first  *short .*COMPLETED"; }
	wait_known() { for _ in $(seq 2400); do known && return; sleep 0.1; done; return 1; }
	wait_known
	code=$?
	kill $late
	wait $late
	exit $code
)
is "jobs of the completion log are known to one who comes later" [ $? = 0 ]
is "and it says how many" grep -q "jobs of the history in .*jobcomp.txt are known now" late.log

run stint slurm shadow --report --state "$STINT_STATE"
want 0 "the shadow's report"
out "srtf.* in the shadow of Slurm: [0-9]+ decisions" "who decided"
out "last" "somebody it would have started earlier"
out "mean JCT" "and the whole course"
run stint slurm shadow --report --json --state "$STINT_STATE"
out '"schema":"shadow/1","policy":"srtf' "as JSON"
run stint replay "$STINT_STATE"
want 0 "the record replays"
out "equal" "to the same"
run stint daemon --state "$STINT_STATE" --no-http
want 4 "another world cannot go on with it"
err "Slurm, looking on" "and says so"
is "Slurm has not been touched" [ "$(grep -cE 'requeue|update_job' "$VCLUSTER/log/slurmctld.log")" = 0 ]
finish
