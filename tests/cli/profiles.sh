#!/bin/bash
# --profiles: how models train, from a folder or from the catalogue.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

cluster=(--cluster "4x4:t4")

# A folder of one model, step times linear in everything.
mkdir -p profiles/toy
python3 - <<'EOF' 2>/dev/null || { echo "SKIPPED: python3 is not here, which makes the folder"; exit 0; }
def step(nodes, gpus, batch):
    return 0.02 + 0.001 * batch + 0.002 * (gpus - 1) + 0.01 * (nodes - 1)
with open("profiles/toy/placements-aws.csv", "w") as f:
    print("placement,local_bsz,step_time,sync_time", file=f)
    for lay in ["1", "2", "3", "4", "11", "14", "44", "444", "4444", "1111"]:
        for batch in [16, 32, 64, 128]:
            gpus = sum(map(int, lay))
            s = step(len(lay), gpus, batch)
            print(f"{lay},{batch},{s},{s - 0.02 - 0.001 * batch + 0.001}", file=f)
for batch in [64, 256, 1024]:
    with open(f"profiles/toy/validation-{batch}.csv", "w") as f:
        print("progress,iteration,metric,grad_sqr,grad_var", file=f)
        for e in range(1, 11):
            var = 2.0 ** (e / 2)
            print(f"{1000 * e},{1000 * e * 64 / batch},0,1,{var}", file=f)
EOF
cat >trace.csv <<'EOF'
name,time,application,num_replicas,batch_size
toy-0,0,toy,1,64
toy-1,60,toy,4,256
toy-2,90,toy,2,128
toy-3,600,toy,8,512
EOF

run stint sim trace.csv "${cluster[@]}"
want 1 "a trace without run times needs profiles"
err 'give profiles of their models with --profiles' "and says so"

run stint sim trace.csv "${cluster[@]}" --profiles profiles --policy fifo --out run
want 0 "with profiles it runs"
out '^jobs +4 submitted, 4 finished' "all jobs end"
is "the manifest names the profiles" grep -q '"profiles": *"profiles"' run/manifest.json
is "and their hash" grep -q '"profiles_hash": *"[0-9a-f]*[1-9a-f][0-9a-f]*"' run/manifest.json
is "the command has the flag" grep -q -e '--profiles profiles' run/manifest.json
run stint replay run
want 0 "the run can be replayed"
echo "1,200,0.3,0.001" >>profiles/toy/placements-aws.csv
run stint replay run
want 1 "not with other profiles"
err 'profiles profiles have changed since run was made' "and that is said"

run stint compare trace.csv "${cluster[@]}" --profiles profiles --policy fifo,tiresias,srtf --seeds 1
want 0 "policies compare"

run stint sim trace.csv "${cluster[@]}" --profiles nowhere
want 3 "a folder that is not there"
err 'profiles nowhere: no such folder' "is named"
run stint sim trace.csv --cluster 2x4:h100 --profiles profiles
want 3 "a type without profiles"
err 'model toy has no profile for any type of the cluster; looked for type h100 \(placements-h100.csv\)' \
	"is named with the file that was looked for"
echo "1,16,-3,0" >>profiles/toy/placements-aws.csv
run stint sim trace.csv "${cluster[@]}" --profiles profiles
want 1 "a negative time"
err 'profiles/toy/placements-aws.csv:43: step_time: "-3" is not a number' "is named with its line"

# What the model or its profile does not take is brought within it, and said.
sed -i '$d' profiles/toy/placements-aws.csv
cat >odd.csv <<'EOF'
id,model,gpus,min_gpus,max_gpus,batch,arrival_s,duration_s
small,toy,1,1,1,8,0,3600
large,toy,1,1,1,5000,0,3600
grows,toy,1,1,16,64,0,3600
wide,toy,16,16,16,64,0,3600
EOF
for policy in fifo afs lyra elasticflow heet optimus sia pollux kungfu tiresias gavel; do
	run stint sim odd.csv "${cluster[@]}" --profiles profiles --policy $policy
	want 0 "$policy runs what nobody measured"
	out '^jobs +4 submitted, 4 finished' "to its end"
	out '^training +efficiency (100|[0-9][0-9]?)\.' "at no more than it is worth"
done
err 'odd.csv:2: assumed: batch: model toy takes a total batch of 64 to 1024, not 8: 64 is taken' "a small batch"
err 'odd.csv:3: assumed: batch: model toy takes a total batch of 64 to 1024, not 5000: 1024 is taken' "a large one"
err 'odd.csv:2: assumed: duration_s: run times .* do not count where --profiles profiles says' "run times that do not count"
err 'note: under gavel 1 job ran where the profiles have no step time \(the first as 16 x t4 on 4 nodes with 4 samples a device\)' \
	"what is extrapolated is said"
run stint compare odd.csv "${cluster[@]}" --profiles profiles --policy fifo,optimus:compat=osdi21 --out odd --html odd.html
want 1 "a policy that fails"
out '^fifo +[0-9]' "keeps nobody from the results"
out '^optimus:compat=osdi21 +failed' "its row says so"
out '^optimus:compat=osdi21 failed: job small: the policy runs it as 1 x t4' "and why"
err 'stint compare: optimus:compat=osdi21, seed 0: job small' "it is the error"
is "compare.json has it, too" grep -q '"why": "job small: the policy' odd/compare.json
is "and the page" grep -q 'optimus:compat=osdi21 failed: job small' odd.html
is "its run is not kept" [ ! -e odd/optimus+compat=osdi21 ]
run stint compare odd.csv "${cluster[@]}" --profiles profiles --policy fifo --out odd
want 0 "the comparison can be replaced"
run stint compare odd.csv "${cluster[@]}" --profiles profiles --policy optimus:compat=osdi21
want 1 "nobody is left"
err '^stint compare: optimus:compat=osdi21, seed 0: job small' "which is an error"

# Run times that neither the trace nor the profile knows.
run stint sim trace.csv "${cluster[@]}" --profiles catalogue
want 1 "the catalogue does not know the model"
sed 's/toy/resnet50/g' trace.csv >timeless.csv
run stint sim timeless.csv "${cluster[@]}" --profiles catalogue
want 1 "the catalogue knows no run times"
err '4 of 4 jobs have no run time' "which is said"
is "and nothing else" eval '! grep -q "says nothing of any job" stderr'
for batch in 1 16 4096 65536 99999999; do
	printf 'id,model,gpus,batch,arrival_s,duration_s\na,resnet50,4,%s,0,3600\n' $batch >odd.csv
	run stint sim odd.csv "${cluster[@]}" --profiles catalogue --start-cost 0
	want 0 "a batch of $batch"
	out '^makespan +60\.0 min' "takes as long as the trace says"
	err "odd.csv:2: assumed: batch: model resnet50 takes a total batch of 64 to 2048, not $batch" "is said"
done

# The catalogue: run times stay about what the trace says, jobs become elastic.
cat >own.csv <<'EOF'
id,model,gpus,arrival_s,duration_s
a,resnet50,1,0,3600
b,resnet50,4,0,3600
c,bert,2,0,1800
d,unheard-of,1,0,100
EOF
run stint sim own.csv "${cluster[@]}" --profiles catalogue --start-cost 0 --out made
want 0 "profiles made from the catalogue"
err '3 of 4 jobs train as --profiles catalogue says' "it says whom they concern"
is "jobs run as long as the trace says" python3 - made/jobs.csv <<'EOF'
import csv, sys
rows = {r["id"]: r for r in csv.DictReader(open(sys.argv[1]))}
for job, want in dict(a=3600, b=3600, c=1800, d=100).items():
    got = float(rows[job]["finish_s"]) - float(rows[job]["start_s"])
    assert abs(got / want - 1) < 0.02, (job, got, want)
EOF
run stint replay made
want 0 "and are the same at a replay"

finish
