#!/bin/bash
# stint sim and replay: what is promised of a run on disk.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

stint trace synth --jobs 200 --load 1.2 --seed 3 --cluster 4x8:v100 >trace.csv
cluster=(--cluster 4x8:v100)

run stint sim trace.csv "${cluster[@]}"
want 0 "sim runs with fifo where no policy is named"
out '^fifo on 4x8:v100: 32 GPUs' "it says what ran where"
out '200 submitted, 200 finished' "every job finishes"
out 'completion time' "it sums up"

for policy in fifo:misfit=skip tiresias:queues=3,limit_s=1h las gittins easy; do
	run stint sim trace.csv "${cluster[@]}" --policy "$policy" --placer consolidate --json
	want 0 "sim --policy $policy"
done
run stint sim trace.csv "${cluster[@]}" --policy=srtf --json
is "sim --json is a summary" valid_json stdout summary/1
is "with nothing on standard error" empty stderr
for key in policy jobs_submitted jobs_finished jct_mean_s jct_p50_s jct_p95_s jct_p99_s \
	wait_mean_s makespan_s utilisation ftf_mean ftf_max preemptions decisions \
	decision_cpu_s cpu_s rss_bytes; do
	out "\"$key\":" "the summary has $key"
done

run stint sim trace.csv "${cluster[@]}" --policy las --out run1/ --html report.html
want 0 "sim --out --html"
for file in manifest.json summary.json jobs.csv events.jsonl; do
	is "the run has $file" test -s "run1/$file"
done
is "the report is a page" grep -qi '<!doctype html' report.html
is "nothing else is left behind" [ "$(find . -name '.*' ! -name . -o -name '*tmp*' | wc -l)" = 0 ]
is "jobs.csv has a line for every job" [ "$(wc -l <run1/jobs.csv)" = 201 ]
columns=$(head -n 1 run1/jobs.csv)
for column in id name tenant model gpus arrival_s start_s finish_s jct_s wait_s run_s preemptions state; do
	is "jobs.csv has $column" grep -q ",$column," <<<",$columns,"
done
is "the manifest is JSON" valid_json run1/manifest.json manifest/1
is "the summary is JSON" valid_json run1/summary.json summary/1

# the command in the manifest gives the same run
command=$(sed -n 's/.*"command": *"\(.*\)",*/\1/p' run1/manifest.json)
run bash -c "\"$STINT\" ${command#stint } --out run2"
is "the manifest's command gives the same events" cmp -s run1/events.jsonl run2/events.jsonl
is "and the same jobs" cmp -s run1/jobs.csv run2/jobs.csv

# replay
run stint replay run1/
want 0 "replay of an untouched run"
out 'all [0-9]+ events are equal' "counts the events"
run stint replay run1 --json
is "replay --json" valid_json stdout replay/1
cp -r run1 tampered
sed -i '5s/[0-9]/7/; 5s/"ev":"[a-z]*"/"ev":"tampered"/' tampered/events.jsonl
run stint replay tampered
want 1 "replay finds a changed event"
err 'events.jsonl:5: recorded .*, now ' "and shows both lines"
cp -r run1 short
sed -i '$d' short/events.jsonl
run stint replay short
want 1 "replay finds a missing event"
cp -r run1 long
echo '{}' >>long/events.jsonl
run stint replay long
want 1 "replay finds an added event"
mv trace.csv moved.csv
run stint replay run1
want 3 "replay without its trace"
err 'not there.*--trace' "says what to do"
run stint replay run1 --trace moved.csv
want 0 "replay with the trace somewhere else"
sed 's/tenant-1/tenant-x/' moved.csv >trace.csv
run stint replay run1
want 1 "replay with a changed trace"
err 'trace.csv is not what run1 was made from' "says so"
mv moved.csv trace.csv

# from anywhere, and with every file as it was
mkdir -p made/here elsewhere
cp trace.csv made/here
printf '100\n2000\n' >made/here/past.txt
printf 'time_s,node,state\n100,n0,down\n5000,n0,up\n' >made/here/down.csv
(cd made/here && stint sim trace.csv "${cluster[@]}" --policy gittins:history=past.txt \
	--failures down.csv --out run --quiet >/dev/null)
cd elsewhere || exit 1
run stint replay ../made/here/run
want 0 "a run replays from another directory"
run stint replay ../made/here/run --trace ../trace.csv
want 0 "with a trace from here"
echo '9000,n1,down' >>../made/here/down.csv
run stint replay ../made/here/run
want 1 "a changed file of failures is a difference"
err 'failures down.csv has changed since' "that is called by its name"
mv ../made/here ../made/there
cp ../made/there/* . 2>/dev/null
sed -i '$d' down.csv
run stint replay ../made/there/run
want 0 "where the directory is gone, files are looked for here"
err 'is not there' "which is said"
cd ..

# chance, costs and failures replay too
cat >failures.csv <<'END'
time_s,node,state
100,n0,down
5000,n0,up
END
for flags in "--error 0.5 --seed 9" "--placer random --seed 4" "--mtbf 20h --repair 1h --seed 2" \
	"--start-cost 30 --resume-cost 1m" "--admit load" "--oracle" "--until 2h" "--failures failures.csv"; do
	# shellcheck disable=SC2086 # several flags
	run stint sim trace.csv "${cluster[@]}" --policy srtf $flags --out chance
	want 0 "sim $flags"
	run stint replay chance
	want 0 "replay of $flags"
done

# other ways to name a workload
run bash -c "\"$STINT\" sim - --cluster 4x8:v100 --json <trace.csv"
out '"jobs_submitted": 200' "a trace from standard input"
run stint sim synth:jobs=50 "${cluster[@]}" --out drawn
want 0 "a generated workload"
run stint replay drawn
want 0 "a generated workload replays"
run stint sim resample:3:trace.csv "${cluster[@]}" --out resampled
want 0 "a resampled workload"
run stint replay resampled
want 0 "a resampled workload replays"
stint sim synth:jobs=50 "${cluster[@]}" --seed 1 --quiet --out drawn1 >/dev/null
is "another seed is another workload" [ "$(cut -d, -f6 drawn/jobs.csv)" != "$(cut -d, -f6 drawn1/jobs.csv)" ]

# jobs measured in steps: speeds from a file, or an estimate that is owned up to
printf 'ResNet-18 (batch size 64)\ttrain\t.\t--steps\t0\t1000\t1\t1.0\t-1\t0.0\n' >steps.trace
run stint sim steps.trace --cluster 1x1:v100 --json
want 0 "a trace in steps"
err 'measured in steps.*--throughputs.*estimated' "its speed is said to be an estimate"
run stint sim steps.trace --cluster 1x1 --json
err "type 'gpu' is not in the catalogue: 1 step/s assumed for 1 job; .*v100.*--throughputs" "unless there is none"
is "and then no estimate is claimed" [ "$(grep -c estimated stderr)" = 0 ]
sed 's/ResNet-18/Nonesuch/' steps.trace >odd.trace
run stint sim odd.trace --cluster 1x1:v100 --json
err "model 'Nonesuch.*' is not in the catalogue: 1 step/s assumed for 1 job; .*--throughputs" "nor of the model"
run stint sim trace.csv --cluster 4x8:v1O0 --json
err "type 'v1O0' is not in the catalogue; did you mean v100" "a slip of a type is seen"
printf 'model,type,gpus,nodes,steps_per_s\nResNet-18 (batch size 64),v100,1,0,10\n' >speeds.csv
run stint sim steps.trace --cluster 1x1:v100 --throughputs speeds.csv --json --out steps
out '"jct_mean_s": 100,' "measured speeds count"
run stint replay steps
want 0 "and replay"

# speeds that policies must estimate
printf 'model,type,gpus,steps_per_s\n' >fast-slow.csv
printf 'model,gpus,arrival_s,steps\n' >guess.csv
for i in 0 1 2 3 4 5 6 7 8 9; do
	printf 'thing %d,v100,1,%d\nthing %d,k80,1,%d\n' $i $((10 + 3 * i * (i % 2 + 1))) $i $((2 + i)) >>fast-slow.csv
	printf 'thing %d,1,%d,40000\nthing %d,1,%d,90000\n' $i $((i * 900)) $i $((i * 900 + 300)) >>guess.csv
done
guess=(sim guess.csv --cluster "2x1:v100,2x1:k80" --throughputs fast-slow.csv --policy gavel:objective=max-min)
for how in known=0.3 known=0,method=match known=0.5,method=sgd,online=0 known=0.2,method=catalogue known=0.5,method=two-way; do
	run stint "${guess[@]}" --estimate $how --seed 3 --out guessed
	want 0 "sim --estimate $how"
	out '^speeds are off +at the start [0-9.]+ %, at the end [0-9.]+ %$' "says how far speeds are off"
	run stint replay guessed
	want 0 "and replays"
done
is "the manifest has every option" grep -q '"estimate": "known=0.5,full=0,types=0,method=two-way,.*shrink=' guessed/manifest.json
is "and the command as it was given" grep -q -- '--estimate known=0.5,method=two-way"' guessed/manifest.json
is "the summary has the error" grep -Eq '"speed_error": 0\.[0-9]' guessed/summary.json
stint "${guess[@]}" --quiet --out sure >/dev/null
is "where speeds are known it is null" grep -q '"speed_error": null' sure/summary.json
run stint "${guess[@]}" --estimate known=1 --out all
is "who knows all decides like who need not estimate" cmp -s sure/events.jsonl all/events.jsonl
run stint compare "${guess[@]:1:5}" --policy gavel:objective=max-min,fifo --estimate known=0.2 --seeds 2 --out guesses
want 0 "compare --estimate"
out 'speeds off' "has a column for it"
run stint replay guesses/fifo-seed1
want 0 "and its runs replay"
run stint shares "${guess[@]:1}" --estimate known=0.2 --at 1000
want 0 "shares --estimate"
run stint help sim
out '^  method +.*als\|match\|sgd\|two-way\|catalogue; default als' "help has the options of --estimate"
printf 'id,gpus,arrival_s,duration_s\na,1,0,10\n' >modelless.csv
run stint sim modelless.csv --cluster 1x1:v100 --estimate known=0.2
want 0 "--estimate without models"
err '^--estimate says nothing here: no job of the trace names a model' "is said to be of no use"

# tenants with weights
printf 'tenants:\n  - {name: tenant-2, weight: 8}\n  - {name: nobody, parent: tenant-1}\n  - name: tenant-1\n' >labs.yaml
share=(sim trace.csv --cluster 1x8:v100 --policy fair-share)
run stint "${share[@]}" --tenants labs.yaml --out shared
want 0 "sim --tenants"
err '^labs.yaml: assumed: weight 1 .*: tenant-[0-9]+, .* and [0-9]+ more; add' "tenants that the file has not are named"
err '^labs.yaml: dropped: no job of the trace is of nobody$' "and those that no job has"
stint "${share[@]}" --quiet --out alike >/dev/null
is "weights change who runs" [ "$(cut -d, -f7 shared/jobs.csv)" != "$(cut -d, -f7 alike/jobs.csv)" ]
run stint replay shared
want 0 "a run with tenants replays"
command=$(sed -n 's/.*"command": *"\(.*\)",*/\1/p' shared/manifest.json)
run bash -c "\"$STINT\" ${command#stint } --quiet --out shared2"
is "its command gives the same events" cmp -s shared/events.jsonl shared2/events.jsonl
sed -i 's/weight: 8/weight: 4/' labs.yaml
run stint replay shared
want 1 "changed tenants are a difference"
err 'tenants labs.yaml has changed since shared was made' "that is called by its name"
run stint compare synth:jobs=60 "${cluster[@]}" --policy fair-share,fifo --seeds 2 --tenants labs.yaml --out several
want 0 "compare --tenants, on two draws"
run stint replay several/fair-share-seed1
want 0 "the second draw replays"
printf 'id,gpus,arrival_s,duration_s\na,1,0,10\nb,1,0,10\n' >nameless.csv
run stint sim nameless.csv --cluster 1x1:v100 --policy fair-share --tenants labs.yaml
want 0 "a trace without tenants"
err 'the 2 jobs without a tenant' "says what they are taken for"

# time that runs out is the user's wish
printf 'id,gpus,arrival_s,duration_s,deadline_s\na,32,0,1h,60\nb,1,0,10,5\n' >two.csv
run stint sim two.csv "${cluster[@]}" --until 10m
want 0 "jobs that time ran out for are no failure"
out '1 still running, 1 still waiting when time ran out' "they are counted"
out 'unfinished job a \(32 GPUs\): it was running' "one was running"
out 'unfinished job b \(1 GPU\): ' "and one was not"
out '^deadlines +0' "deadlines that nobody met are shown"
run stint sim two.csv "${cluster[@]}" --until 10m --json
err '1 still running, 1 still waiting' "with --json on standard error"
printf 'id,gpus,arrival_s,duration_s\na,1,0,10\n' >one.csv
run stint sim one.csv --cluster 1x1:v100
out ': 1 GPU, 1 node;' "one GPU is one"
out '[ ]1 decision in |decisions in' "one decision is one"
out 'GPUs held .* up to 1$' "devices are counted in whole numbers"

# a run in the same place again, and a report inside it
run stint sim trace.csv "${cluster[@]}" --policy las --out run1 --html run1/report.html
want 0 "a run replaces an earlier one"
is "with its report inside" test -s run1/report.html
err 'replaced the earlier run in run1$' "and says so"
run stint sim trace.csv "${cluster[@]}" --policy las --out run1/ --quiet
is "and goes when there is none" [ ! -e run1/report.html ]
is "--quiet says nothing" empty stderr
mkdir void
run stint sim trace.csv "${cluster[@]}" --out void/
want 0 "an empty directory is fine"
is "and nothing was replaced" [ "$(grep -c replaced stderr)" = 0 ]
for file in manifest.json summary.json; do
	is "$file ends its last line" [ -z "$(tail -c 1 run1/$file)" ]
done

# Ctrl-C: stops in order, leaves nothing
stint trace synth --jobs 300000 --load 3 --cluster 4x8:v100 --out big.csv --quiet
interrupt '.stopped*/events*' "$STINT" sim big.csv "${cluster[@]}" --policy las --out stopped --html stopped.html
if [ "$code" = 0 ]; then
	echo "skip - the run was over before it could be interrupted"
else
	want 130 "an interrupted run has exit code 130"
	is "it leaves nothing" [ -z "$(find . -maxdepth 1 -name '*stopped*')" ]
fi

finish
