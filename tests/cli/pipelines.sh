#!/bin/bash
# Hybrid-parallel models: jobs that run in units of several devices, by type.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"

# A pipeline is 2 devices of one type and 4 of the other; nodes of the latter are but 2 of them wide.
mkdir -p profiles/pipe profiles/flat
{
	echo placement,local_bsz,step_time,sync_time
	for lay in 2 4 44; do echo "$lay,1,0.02,0.01"; echo "$lay,2,0.04,0.01"; done
} >profiles/pipe/placements-aws.csv
{
	echo placement,local_bsz,step_time,sync_time
	for lay in 4 8; do echo "$lay,1,0.01,0.01"; echo "$lay,2,0.02,0.01"; done
} >profiles/pipe/placements-rtx.csv
printf 'name,value\nunit-aws,2\nunit-rtx,4\nepochs,2\nrestart_s,10\n' >profiles/pipe/model.csv
for batch in 12 48 384; do
	printf 'progress,iteration,metric,grad_sqr,grad_var\n%s\n%s\n' "1000,$((12000 / batch)),0,1,60" \
		"2000,$((24000 / batch)),0,1,90" >"profiles/pipe/validation-$batch.csv"
done
for type in aws rtx; do
	{
		echo placement,local_bsz,step_time,sync_time
		for lay in 1 2 4 11 22 44; do echo "$lay,16,0.04,0.01"; echo "$lay,64,0.12,0.01"; done
	} >"profiles/flat/placements-$type.csv"
done
for batch in 64 256; do
	printf 'progress,iteration,metric,grad_sqr,grad_var\n3000,%s,0,1,2\n' "$((192000 / batch))" \
		>"profiles/flat/validation-$batch.csv"
done
cat >trace.csv <<'EOF'
name,time,application,num_replicas,batch_size
pipe-0,0,pipe,8,384
pipe-1,30,pipe,1,48
flat-2,60,flat,3,192
pipe-3,90,pipe,6,96
EOF

# Whatever is granted is a multiple of the unit there.
# shellcheck disable=SC2317 # called by is
whole_units() { # EVENTS
	! sed -n 's/.*"job":"pipe.*"type":"\([a-z0-9]*\)","gpus":\([0-9]*\).*/\1 \2/p' "$1" |
		awk '{ if ($2 % ($1 == "rtx" ? 4 : 2)) bad = 1 } END { exit !bad }'
}

for policy in sia pollux optimus afs fifo srtf kungfu kungfu:adapt=batch lyra heet elasticflow gavel \
	gavel:gangs=free tiresias fair-share:elastic=1 sia:compat=sia; do
	rm -rf run
	run stint sim trace.csv --cluster 2x4:t4,3x2:rtx --profiles profiles --policy "$policy" --out run
	want 0 "$policy: pipelines run"
	out '^jobs +4 submitted, 4 finished' "$policy: all end"
	is "$policy: in whole units" whole_units run/events.jsonl
done

cat >one.csv <<'EOF'
name,time,application,num_replicas,batch_size
pipe-0,0,pipe,1,384
EOF
for policy in sia pollux optimus afs; do
	rm -rf run
	run stint sim one.csv --cluster 4x2:rtx --profiles profiles --policy "$policy" --out run
	is "$policy: units that span nodes grow as others do" grep -q '"gpus":8,"on"' run/events.jsonl
done
rm -rf run
run stint sim one.csv --cluster 2x2:rtx,4x4:t4 --profiles profiles --policy sia:growth=0 --out run
is "it goes where more units are" grep -q '"type":"t4","gpus":16' run/events.jsonl

is "a batch that its agent chooses is called so" grep -q '"batch":"tuned"' run/events.jsonl

data=${STINT_DATA:-$here/../../../shared/data}/sia/profiles
if [ -d "$data/gpt_pmp" ]; then
	printf 'name,time,application,num_replicas,batch_size\ngpt_pmp-0,401,gpt_pmp,8,384\n' >gpt.csv
	for policy in sia pollux optimus afs fifo; do
		run stint sim gpt.csv --profiles "$data" --cluster 2x8:a100,3x8:rtx --policy "$policy"
		want 0 "$policy: the published pipeline runs"
		out '^jobs +1 submitted, 1 finished' "$policy: and ends"
	done
fi

finish
