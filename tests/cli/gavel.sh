#!/bin/bash
# Policies that work by shares, where rounds, pairs, gangs and outages meet.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

# Four jobs of one model on two devices; together two of them make 1.2 of one.
printf 'id,model,gpus,arrival_s,steps\na,m,1,0,2000\nb,m,1,0,2000\nc,m,1,0,300\nd,m,1,0,300\n' >four.csv
cat >pairs.json <<'END'
{"v100": {"('m', 1)": {"null": 1.0, "('m', 1)": [0.6, 0.6]}}}
END
run stint sim four.csv --cluster 2x1:v100 --throughputs pairs.json --policy gavel:packing=1,round_s=100
want 0 "pairs run"
out '4 submitted, 4 finished' "to the end"
run stint sim four.csv --cluster 2x1:v100 --throughputs pairs.json --policy gavel:packing=1,round_s=100 --json
# shellcheck disable=SC2016 # for awk
is "a pair parts when there is room for both" \
	sh -c 'tr , "\n" <stdout | awk -F: "/\"makespan_s\"/ { exit !(\$2 < 2700) }"'
run stint shares four.csv --cluster 2x1:v100 --throughputs pairs.json --policy gavel:packing=1 --at 0
out 'pair on the same devices' "shares shows the pairs"

run stint sim four.csv --cluster 2x1:v100,1x1:k80 --throughputs pairs.json --policy gavel
err "no speeds of type 'k80' \(1 device\): estimated" "a type that the file of speeds lacks is named"

printf 'id,model,gpus_by_type,arrival_s,duration_s\na,resnet50,v100:1 k80:4,0,4000\n' >bytype.csv
run stint sim bytype.csv --cluster 2x1:v100,2x1:k80 --policy gavel:compat=gavel
want 0 "gangs by type run in the published rounds"
out '1 submitted, 1 finished' "and end"

printf '100,0,down\n20000,0,up\n' >outage.csv
run stint sim synth:jobs=5,load=5 --cluster 1x8:v100 --policy gavel:round_s=1 --failures outage.csv
want 0 "short rounds outlast a long outage"
out '5 submitted, 5 finished' "and all jobs end"

printf '{"ev": "alloc", "t": 0, "types": ["v100"], "x": [[0, 1]]}\n' >short.jsonl
fails 1 'no shares of job b at 0 s' "a log that lacks a job is refused" \
	stint sim four.csv --cluster 2x1:v100 --throughputs pairs.json --policy gavel:replay=short.jsonl
fails 2 'normalise=1 goes with objective=throughput' "an option without effect is refused" \
	stint sim four.csv --cluster 2x1:v100 --policy gavel:normalise=1
fails 2 'do not go with compat=gavel' "and what the published rounds do not have" \
	stint sim four.csv --cluster 2x1:v100 --policy gavel:compat=gavel,round_auto=1
fails 2 'leave it out' "rounds of their own length are not compared" \
	stint rounds four.csv --cluster 2x1:v100 --policy gavel:round_auto=1

finish
