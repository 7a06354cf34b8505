#!/bin/bash
# stint compare --from-sacct, --from-jobcomp: the history of Slurm, and what it did as a row.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

header='JobID|JobName|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|NodeList|AllocTRES|ReqTRES'
row() { # ID STATE SUBMIT START ELAPSED NODES TYPE GPUS
	local end=$(($4 + $5))
	echo "$1|train|u$(($3 % 3))|lab|gpu|$2|$3|$4|$end|$5|60|1|$6|billing=4,cpu=4,gres/gpu:$7=$8,gres/gpu=$8,mem=8G,node=1|cpu=4,gres/gpu:$7=$8,mem=8G,node=1"
}
{
	echo "$header"
	row 1 COMPLETED 1000 1000 3600 v1 v100 4
	echo "1.batch|batch||lab||COMPLETED|1000|1000|4600|3600||1|v1|cpu=4,gres/gpu=4|"
	echo "1.extern|extern||lab||COMPLETED|1000|1000|4600|3600||1|v1|cpu=4,gres/gpu=4|"
	row 2_1 FAILED 1010 1010 600 v2 v100 2
	row 2_2 'CANCELLED by 1000' 1010 1010 60 v2 v100 2
	echo "2_[3-9]|train|u1|lab|gpu|PENDING|1010|Unknown|Unknown|0|60|1|None assigned||gres/gpu=1"
	row 3 REQUEUED 1020 1100 100 v2 v100 2
	row 3 COMPLETED 1200 1700 900 v2 v100 2
	row 4 TIMEOUT 1030 5000 3600 v1 v100 4
	row 5 COMPLETED 1040 1040 300 k1 k80 2
	echo "6|busy|u|lab|gpu|RUNNING|1050|1050|Unknown|50|UNLIMITED|1|k1|gres/gpu:k80=1|gres/gpu=1"
	echo "7|cpus|u|lab|gpu|COMPLETED|1050|1050|1060|10|UNLIMITED|1|k1|cpu=1,node=1|cpu=1,node=1"
} >history

run stint compare --from-sacct history --policy fifo,srtf
want 0 "a history without a cluster"
out '^slurm \(recorded\) ' "what Slurm did is a row"
out '^srtf ' "beside the policies"
err 'the history shows 3 nodes with 10 GPUs, 2x4:v100,1x2:k80 .* say --cluster' "it says what cluster was seen"
err 'State: the job has not ended' "a running job is left out, and that is said"
err 'a further run of a job that was requeued' "and what becomes of a requeued one"
cp stdout first
run bash -c "'$STINT' compare --from-sacct - --policy fifo,srtf <history"
want 0 "from standard input"
is "it is the same" cmp -s stdout first
run stint compare --from-sacct history --policy fifo,srtf --json --quiet
is "as JSON" valid_json stdout compare/1
is "the mean JCT of the record: 3600, 600, 60, 1580, 7570 and 300 s" \
	python3 -c "
import json
p = json.load(open('stdout'))['policies']
assert p[0]['label'] == 'slurm (recorded)', p[0]['label']
f = p[0]['figures']
assert f['jobs_finished']['mean'] == 6
assert abs(f['jct_mean_s']['mean'] - (3600 + 600 + 60 + 1580 + 7570 + 300) / 6) < 1e-6
assert abs(f['wait_mean_s']['mean'] - (580 + 3970) / 6) < 1e-6
assert f['preemptions']['mean'] == 1"
run stint compare --from-sacct history --cluster 2x4:v100,1x2:k80 --policy fifo,srtf
is "the cluster may be given" cmp -s stdout first
run stint compare --from-sacct history --cluster 1x2:v100,1x2:k80 --policy fifo
err 'warning: 8 GPUs were in use at once, and the cluster has 4|warning: [0-9]+ GPUs were in use at once' \
	"a cluster that is too small is warned of"
run stint compare --from-sacct history --policy fifo --seeds 3 --out runs --html report.html
want 0 "with seeds, directories and a report"
is "the record has no directory" [ "$(echo runs/*)" = "runs/compare.json runs/fifo-seed0 runs/fifo-seed1 runs/fifo-seed2" ]
is "and is in the report" grep -q 'slurm (recorded)' report.html
run stint replay runs/fifo-seed1
want 0 "a run of it replays"

# the log of jobcomp/filetxt, as slurmctld 22.05 writes it
done_line() { # ID STATE START END NODES TRES
	echo "JobId=$1 UserId=ann(1000) GroupId=ml(100) Name=a b=c JobState=$2 Partition=gpu TimeLimit=30 StartTime=2026-11-17T04:18:$3 EndTime=2026-11-17T04:18:$4 NodeList=$5 NodeCnt=1 ProcCnt=4 WorkDir=/tmp ReservationName= Tres=cpu=4,mem=16000M,node=1,billing=1$6 Account= QOS= WcKey= Cluster=unknown SubmitTime=2026-11-17T04:18:06 EligibleTime=2026-11-17T04:18:06 DerivedExitCode=0:0 ExitCode=0:0 "
}
log() { # TRES
	done_line 4 PENDING 06 08 "p100-1" "$1"
	done_line 8 CANCELLED 08 08 "(null)" "$1"
	done_line 2 FAILED 06 08 "k80-1" "$1"
	done_line 4 COMPLETED 12 18 "p100-1" "$1"
}
log ,gres/gpu=2 >done.log
run stint compare --from-jobcomp done.log --policy fifo
want 0 "a log of jobcomp"
out '^slurm \(recorded\) ' "has its row"
err '2 nodes with 4 GPUs, 2x2:gpu|1x2:gpu' "GPUs without a type are of the type gpu"
log "" >bare.log
run stint compare --from-jobcomp bare.log
want 1 "a log without GPUs"
err 'AccountingStorageTRES.*--assume-gpus' "says how to have them"
run stint compare --from-jobcomp bare.log --assume-gpus node=4
want 0 "they may be assumed by node"
err '2 nodes with 8 GPUs' "four each"
run stint compare --from-jobcomp bare.log --assume-gpus node=4 --policy fifo --out assumed
run stint replay assumed/fifo --assume-gpus node=4
want 0 "such a run replays where it is said again"
run stint compare --from-jobcomp bare.log --assume-gpus cpus=2
err '2 nodes with 4 GPUs' "or by CPUs"
fails 2 "must be node=N" "or in no other way" stint compare --from-jobcomp bare.log --assume-gpus 4

# what people have instead
echo 'Slurm accounting storage is disabled' >disabled
fails 1 'Slurm keeps none.*--from-jobcomp' "no accounting" stint compare --from-sacct disabled
: >empty
fails 1 'empty: empty' "an empty file" stint compare --from-sacct empty
cut -d'|' -f1-6,8- history >columns
fails 1 "field 'Submit': not in the header; use TZ=UTC sacct -a -D -X .*ReqTRES" "a missing column" \
	stint compare --from-sacct columns
fails 1 'no header' "no header" stint compare --from-sacct <(sed 1d history)
fails 1 'AccountingStorageTRES' "nobody used a GPU" stint compare --from-sacct <(
	echo "$header"
	grep '^7' history
)
fails 2 'give one' "two workloads" stint compare history --from-sacct history
fails 2 'no workload is given' "none" stint compare
fails 3 'no such file' "a file that is not there" stint compare --from-sacct nowhere
fails 2 'does not go with' "another format" stint compare --from-sacct history --format swf
finish
