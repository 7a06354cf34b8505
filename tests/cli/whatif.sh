#!/bin/bash
# stint whatif: traces and a real daemon's record, with other devices, policies and weights.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/cli/lib/check
. "$root/tests/cli/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$root/tests/clients/with_daemon"

stint trace synth --jobs 150 --load 1.1 --seed 5 --cluster 4x8:v100 --quiet >trace.csv
here=(trace.csv --cluster 4x8:v100)

# every change alone, and all together
run stint whatif "${here[@]}" --add 8:v100 --policy srtf,las --quota tenant-1=3 --seeds 3
want 0 "a trace with more devices, other policies and another weight"
for label in 'as it was' '\+8:v100' srtf las tenant-1=3 '\+8:v100, srtf, tenant-1=3' '\+8:v100, las, tenant-1=3'; do
	out "^$label  " "the table has $label"
done
out '^  srtf: mean JCT .*%.*wait' "the effect is said"
out '^  tenant-1=3: changes nothing' "so is that there is none"
err 'added 1 node of 8 v100' "it says what it added"
err '5x8:v100: 40 devices instead of 32' "and what that makes"
err 'seed 0 is the trace itself' "and what seeds are"

run stint whatif "${here[@]}" --policy srtf --seeds 3 --threads 1
cp stdout first
run stint whatif "${here[@]}" --policy srtf --seeds 3 --threads 3
is "the same on any number of threads" cmp -s stdout first
run stint whatif "${here[@]}" --add 4:a100 --seeds 2 --json --quiet
want 0 "as JSON"
is "of its schema" valid_json stdout whatif/1
is "without messages" empty stderr
out '"cluster": "4x8:v100,1x4:a100"' "which names the clusters"
printf 'id,gpus,arrival_s,duration_s\nbig,24,0,10\nsmall,1,0,10\n' >big.csv
run stint whatif big.csv --cluster 4x8:v100 --add 4:a100 --seeds 2
err 'the same on a100 as elsewhere' "a new type is said to be as fast as the others where nobody knows"
run stint whatif "${here[@]}" --add 8:a100 --seeds 2
is "and not where models are known" [ "$(grep -c 'as elsewhere' stderr)" = 0 ]
run stint whatif trace.csv --cluster 4x8:v100,4x8:a100 --remove 32:v100 --seeds 2
err 'without any v100, run times that were measured there' "a type that is gone is told"
run stint whatif "${here[@]}" --remove 1x8:v100 --seeds 2
want 0 "fewer devices"
err '3x8:v100: 24 devices instead of 32' "are said, too"
run stint whatif "${here[@]}" --since 4h --policy las --seeds 2
err '^[0-9]+ jobs of the last 4h of trace.csv; [0-9]+ earlier ones are left out' "a part of it"
run stint whatif synth:jobs=60 --cluster 2x8:v100 --policy las --seeds 2
want 0 "a generated workload"
err 'resample it' "is drawn once and then resampled"
run stint whatif "${here[@]}" --placer spread --policy las --seeds 2
out '^las, placer spread ' "another placer"

# directories
run stint whatif "${here[@]}" --add 8:v100 --policy srtf --quota tenant-1=3 --since 4h --seeds 2 --out o --html o/report.html
want 0 "directories of runs"
is "with compare.json" valid_json o/compare.json compare/1
is "with whatif.json" valid_json o/whatif.json whatif/1
is "with a page" grep -q 'What if: ' o/report.html
is "and the part of the trace" test -s o/trace.csv
for dir in as-it-was-seed0 as-it-was-seed1 +8+v100-seed1 tenant-1=3-seed1 +8+v100,-srtf,-tenant-1=3-seed1; do
	run stint replay "o/$dir"
	out 'all .* events are equal' "$dir replays"
done
command=$(sed -n 's/^ *"command": "\(.*\)",*$/\1/p' o/srtf-seed1/manifest.json)
mkdir bin && ln -s "$STINT" bin/stint
run env PATH="$work/bin:$PATH" sh -c "$command --out again --quiet"
want 0 "the command in a manifest runs"
is "and gives the same events" cmp -s again/events.jsonl o/srtf-seed1/events.jsonl
run stint whatif "${here[@]}" --policy las --seeds 1 --out o --quiet
want 0 "an earlier one is replaced"
is "whole" [ ! -e o/trace.csv ]

# what is wrong is told
fails 2 'what if what' "no change" stint whatif "${here[@]}"
fails 2 'no cluster is given' "a trace without a cluster" stint whatif trace.csv --add 4:a100
# quotas: said as stint quota set has them, and by a file; the same either way
printf 'tenants:\n  - {name: labs}\n  - {name: tenant-1, parent: labs, guaranteed: {v100: 8}, lend: {v100: 4}}\n  - {name: tenant-2, borrow: 6}\n' >q.yaml
run stint whatif "${here[@]}" --quota q.yaml --seeds 1 --out file
want 0 "another table of tenants"
err 'with --quota the admission rule is quota instead of all' "what keeps quotas is said"
out '^q.yaml  ' "the table has it"
run stint whatif "${here[@]}" --quota labs:weight=1 --quota tenant-1:lend=v100:4,guaranteed=v100:8,parent=labs --quota tenant-2:borrow=6 \
	--seeds 1 --out words
want 0 "the same in words"
is "is the same" cmp -s file/tenants-changed.yaml words/tenants-changed.yaml
run stint replay file/q.yaml
want 0 "the run with quotas replays"
is "it was kept by the rule" grep -q '"admit": "quota"' file/q.yaml/manifest.json
is "what was is as it was" grep -q '"admit": "all"' file/as-it-was/manifest.json

fails 2 'did you mean a100' "an unknown type" stint whatif "${here[@]}" --add 4:a1000
fails 2 'DEVICES:TYPE' "no number" stint whatif "${here[@]}" --add a100
fails 2 '40 v100 cannot be removed: there are 32' "more than there is" stint whatif "${here[@]}" --remove 40:v100
fails 2 'nothing would be left' "everything" stint whatif "${here[@]}" --remove 32:v100
fails 2 'there is no a100 to remove' "what is not there" stint whatif "${here[@]}" --remove 4:a100
fails 2 'no job is of that tenant' "a tenant without jobs" stint whatif "${here[@]}" --quota zorro=2
fails 2 'TENANT=WEIGHT' "no weight" stint whatif "${here[@]}" --quota tenant-1
fails 4 '"tenant-1" is promised 999 devices, and the cluster has' "more than there is" \
	stint whatif "${here[@]}" --quota tenant-1:guaranteed=999
fails 2 'tenant-1: borrow: "x" is not a number of devices' "no number of devices" \
	stint whatif "${here[@]}" --quota tenant-1:guaranteed=2,borrow=x
fails 3 'no tenant "labs"' "no such parent" stint whatif "${here[@]}" --quota tenant-1:parent=labs
fails 2 'the one of then' "the policy that decided already" stint whatif "${here[@]}" --policy fifo
fails 3 'no such file' "no trace" stint whatif nothing.csv --cluster 4x8 --add 4:a100
fails 3 'no record at .*nowhere.*or name a trace' "no record" stint whatif --state nowhere --add 1:cpu
run stint whatif big.csv --cluster 4x8:v100 --remove 16:v100 --seeds 1
want 5 "a job that could not run any more"
out '1 of 2 jobs cannot run' "is told"

# the record of a real daemon
is "a daemon" daemon_start --policy fifo
fails 3 'no job has run and ended yet' "an empty record" stint whatif --add 1:cpu
for i in 1 2 3 4 5 6; do
	stint submit --quiet --gpus $((i % 2 + 1)) --tenant t$((i % 2)) -- sleep "0.$i" >/dev/null
done
# shellcheck disable=SC2046 # words
run stint wait --quiet $(seq 6)
want 0 "jobs run"
run stint whatif --add 2:cpu --policy srtf --quota t1=4 --seeds 3 --out rec
want 0 "what if, while the daemon runs"
err '^6 jobs of the last 7d of .*stint.db' "of its record"
err 'it really went: mean completion time .* simulated as it was: .*%' "beside what really happened"
out '^\+2:cpu: ?|^\+2:cpu  ' "with more slots"
run stint replay rec/as-it-was-seed0
out 'all .* events are equal' "as it was replays"
run stint replay "rec/+2+cpu,-srtf,-t1=4-seed2"
out 'all .* events are equal' "and all changes together"
run stint advise --quiet --seeds 3 --policy srtf
want 0 "advice from the record"
run stint capacity --quiet --seeds 3 --target "mean wait < 1h"
want 0 "capacity from the record"
out 'cpu' "in what it has"
daemon_gone
run stint whatif "$STINT_STATE" --add 1:cpu --seeds 1 --quiet
want 0 "its directory by name"
run stint whatif "$STINT_STATE/stint.db" --add 1:cpu --seeds 1 --quiet
want 0 "or its database"
finish
