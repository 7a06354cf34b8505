#!/bin/bash
# stint advise: which policy would have been better, and how sure that is.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

# Every hour a long job on everything and then ten short ones, which FIFO lets wait.
{
	echo id,gpus,arrival_s,duration_s
	for i in $(seq 0 19); do
		echo "long$i,8,$((i * 3600)),$((1500 + i * 20))"
		for k in 1 2 3 4 5; do echo "short$i-$k,1,$((i * 3600 + k)),$((20 + i))"; done
	done
} >trace.csv
here=(trace.csv --cluster 1x8:v100)

run stint advise "${here[@]}" --policy srtf,las,sjf
want 0 "advice"
out '^(srtf|las) would have been better than fifo: mean JCT -[0-9]+ % .*seeds, p ' "another policy would have been better"
out '^  stint policy set (srtf|las)$' "and how to have it"
out '^fifo .* present' "beside the present one"
out ' better$' "with a verdict on each"
cp stdout first
run stint advise "${here[@]}" --policy srtf,las,sjf --threads 1 --quiet
is "the same on one thread" cmp -s stdout first
is "--quiet says nothing" empty stderr
run stint advise "${here[@]}" --policy srtf
out 'known exactly: --error' "run times that nobody would know are pointed at"
run stint advise "${here[@]}" --policy srtf --error 0.5 --resample yes
is "unless they are not known" [ "$(grep -c 'known exactly' stdout)" = 0 ]

run stint advise "${here[@]}" --was srtf --policy fifo,sjf
want 0 "a good policy is an answer"
out 'the present policy, srtf, is among the best' "and stays"
run stint advise "${here[@]}" --policy srtf --seeds 1
want 0 "one seed"
out 'is among the best' "recommends nothing"
run stint advise "${here[@]}" --policy srtf --json --quiet --seeds 6
is "JSON of its schema" valid_json stdout advise/1
out '"command": "stint policy set srtf"' "with the command"
run stint advise "${here[@]}" --goal fairness --policy srtf,las --seeds 3 --html a.html
want 0 "another goal"
out 'worst FTF' "is what is shown"
is "a page" grep -q 'Would another policy' a.html

# all policies
run stint advise "${here[@]}" --seeds 2 --quiet
want 0 "all policies"
for policy in srtf gavel tiresias; do
	out "^$policy " "$policy is among them"
done
out 'tried once' "most of them once"

# a policy that leaves jobs is no better for it
printf 'id,gpus,arrival_s,duration_s,deadline_s\na,8,0,1000,5000\nb,8,1,1000,500\nc,1,2,10,9000\n' >dead.csv
run stint advise dead.csv --cluster 1x8:v100 --policy elasticflow --seeds 1
want 0 "a policy that refuses jobs"
out 'elasticflow cannot be used here: 1 of 3 jobs would not have run' "is named with why"

fails 2 "there are jct, wait, makespan" "an unknown goal" stint advise "${here[@]}" --goal speed
fails 2 "no policy 'srtfx'|did you mean" "an unknown policy" stint advise "${here[@]}" --policy srtfx
fails 3 'or name a trace' "no record" stint advise --state nowhere
finish
