#!/bin/bash
# Bad input: the right exit code, the place and the remedy, nothing written.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

cat >good.csv <<'END'
id,gpus,arrival_s,duration_s
a,1,0,100
b,2,10,50
END
sim=(stint sim good.csv --cluster 2x4:v100)

# words of the command line
fails 2 "no command 'simm'; did you mean 'sim'" "an unknown verb" stint simm
fails 2 "no command 'trace stat'; did you mean 'trace stats'" "an unknown second word" stint trace stat
fails 2 "one more word" "a family without its second word" stint trace
fails 2 "unknown flag --polcy; did you mean --policy" "an unknown flag" stint sim good.csv --polcy fifo
fails 2 "unknown flag -x" "a short flag" stint sim good.csv -x
fails 2 "needs a value" "a flag without its value at the end" stint sim good.csv --cluster
fails 2 "needs a value" "a flag without its value before another" "${sim[@]}" --policy --json
fails 2 "takes no value" "a switch with a value" "${sim[@]}" --json=yes
fails 2 "argument is missing" "no trace" stint sim --cluster 2x4:v100
fails 2 "too many" "two traces" stint sim good.csv good.csv --cluster 2x4:v100
fails 2 "no cluster is given.*16x8:v100" "no cluster" stint sim good.csv
fails 2 "whole number" "a seed that is no number" "${sim[@]}" --seed x
fails 2 "must be 0 to" "a negative seed" "${sim[@]}" --seed -1
fails 2 "a number, not 'nan'" "an error that is not a number" "${sim[@]}" --error nan
fails 2 "a time such as" "a cost that is no time" "${sim[@]}" --start-cost soon
fails 2 "must be 1 to" "no seeds" stint compare good.csv --cluster 2x4:v100 --seeds 0
fails 2 "give one" "two forms at once" stint compare good.csv --cluster 2x4:v100 --json --csv
fails 2 "without --mtbf" "a repair without failures" "${sim[@]}" --repair 10
fails 2 "give one" "failures twice" "${sim[@]}" --mtbf 10 --failures good.csv
fails 2 "auto, yes or no" "resampling when?" stint compare good.csv --cluster 2x4:v100 --resample maybe

# rules
fails 2 "did you mean 'tiresias'" "an unknown policy" "${sim[@]}" --policy tiresia
fails 2 "did you mean 'queues'|queues" "an unknown option" "${sim[@]}" --policy tiresias:queue=2
fails 2 "queues=99.*1\.\.16" "an option out of range" "${sim[@]}" --policy tiresias:queues=99
fails 2 "queues=many" "an option of the wrong type" "${sim[@]}" --policy tiresias:queues=many
fails 2 "did you mean" "an unknown placer" "${sim[@]}" --placer consolidat
fails 2 "no admission|admission" "an unknown admission rule" "${sim[@]}" --admit nobody
fails 2 "stint compare" "several policies for sim" "${sim[@]}" --policy fifo,las
fails 2 "sim runs one placer and 2 are given: 'stint compare'" "several placers for sim" "${sim[@]}" --placer first-fit,spread
fails 2 "sim runs one placer" "a placer given again" "${sim[@]}" --placer first-fit --placer spread
fails 3 "history=nope.txt: no such file" "a missing file of a policy" "${sim[@]}" --policy tiresias:history=nope.txt
fails 3 "history=nope.txt: no such file" "likewise of gittins" "${sim[@]}" --policy gittins:history=nope.txt
fails 2 "given twice" "one policy twice" stint compare good.csv --cluster 2x4:v100 --policy fifo,fifo

# files that are not there
fails 3 "synth:" "a generator without its colon" stint sim synth --cluster 2x4:v100
fails 2 "gzip >" "a compressed output" stint trace convert good.csv out.csv.gz
fails 3 "nowhere.csv: no such file" "a missing trace" stint sim nowhere.csv --cluster 2x4:v100
fails 3 "nowhere.yaml: no such file" "a missing cluster" stint sim good.csv --cluster nowhere.yaml
fails 3 "nowhere: no such file" "missing throughputs" "${sim[@]}" --throughputs nowhere
fails 3 "nowhere: no such file" "missing failures" "${sim[@]}" --failures nowhere
fails 3 "tenants nowhere: no such file" "missing tenants" "${sim[@]}" --tenants nowhere
fails 2 "not standard input" "tenants that cannot be read again" "${sim[@]}" --tenants -
fails 3 "nowhere" "a missing run" stint replay nowhere

# clusters that make no sense
for spec in 0x8:v100 2x0:v100 2x65:v100 x 2x -1x8:v100 '2x4:v100,,' 1e9x8:v100 ''; do
	run stint sim good.csv --cluster "$spec"
	is "cluster '$spec' is refused" [ "$code" = 1 -o "$code" = 2 ]
done
printf 'nodes: [\n' >broken.yaml
run stint sim good.csv --cluster broken.yaml
want 1 "a broken YAML file"
err 'broken.yaml' "names the file"

# speeds that make no sense, or are not there
printf 'model,gpus,arrival_s,steps\nresnet50,1,0,100\nnonesuch,1,1,100\n' >steps.csv
two=(stint sim steps.csv --cluster "1x1:v100,1x1:k80")
speeds() { # ROW...
	printf '%s\n' model,type,steps_per_s "$@" >speeds.csv
}
for speed in -1 nan inf fast 1e999 ''; do
	speeds "resnet50,v100,$speed"
	fails 1 "speeds.csv:2: steps_per_s: \"$speed\" is not a speed; write steps per second, 0 or more" \
		"a speed of '$speed'" "${two[@]}" --throughputs speeds.csv
done
for speed in -1 NaN '"x"'; do
	printf '{"v100": {"('"'resnet50'"', 1)": {"null": %s}}}' "$speed" >speeds.json
	fails 1 'speeds.json.*(a speed must be a number, 0 or more|not valid JSON)' "a speed of $speed in JSON" \
		"${two[@]}" --throughputs speeds.json
done
speeds a100,a100,1
fails 1 'speeds of a100 only, and the cluster has v100, k80' "speeds of other types alone" "${two[@]}" --throughputs speeds.csv
for policy in fifo gavel:objective=max-min; do
	speeds resnet50,v100,9
	run "${two[@]}" --throughputs speeds.csv --policy $policy
	want 0 "a model that the file lacks, under $policy"
	err "^speeds.csv: no speeds of model 'nonesuch' \(1 job\): estimated where the catalogue knows them$" "it is named"
	err "neither speeds.csv nor the catalogue says how fast model 'nonesuch' is.*: 1 step/s assumed there for 1 job$" \
		"and what is assumed"
	speeds resnet50,v100,0 nonesuch,v100,0 resnet50,k80,2 nonesuch,k80,1
	run "${two[@]}" --throughputs speeds.csv --policy $policy
	want 0 "a type that no job can use, under $policy"
	err "^warning: no job can run on type 'v100': its 1 device stays idle$" "it is named"
	run "${two[@]}" --throughputs speeds.csv --policy $policy --estimate known=0
	want 0 "likewise where speeds are estimated"
	speeds resnet50,v100,0 resnet50,k80,0 nonesuch,v100,2 nonesuch,k80,1
	run "${two[@]}" --throughputs speeds.csv --policy $policy
	want 5 "a job that is not to run anywhere, under $policy"
	out 'rejected job 0 \(1 GPU\): no device of the cluster is of a type it can run on' "it is named"
done
fails 2 "estimate: known=2: out of range \(allowed: 0\.\.1\)" "an estimate of more than everything" "${two[@]}" --estimate known=2
fails 2 "estimate: unknown option 'metod'; did you mean 'method'" "an unknown option of it" "${two[@]}" --estimate metod=als
fails 2 "method=guess: not one of the choices \(allowed: als\|match\|sgd" "an unknown method" "${two[@]}" --estimate method=guess
fails 2 "unknown option 'help' \(known: known, full," "no option at all" "${two[@]}" --estimate help

# tenants that make no sense
tenants() { # REGEX WHAT TEXT
	printf '%b' "$3" >labs.yaml
	fails 1 "$1" "$2" "${sim[@]}" --policy fair-share --tenants labs.yaml
}
tenants 'labs.yaml:3: tenants #1 weight: with weight 0 tenant "a" would never run' "a tenant with weight 0" \
	'tenants:\n  - name: a\n    weight: 0\n'
tenants 'labs.yaml:2: tenants #1 weight: -1 is negative' "a negative weight" 'tenants:\n  - {name: a, weight: -1}\n'
tenants 'labs.yaml:2: .*"nan" is not a number' "a weight that is no number" 'tenants:\n  - {name: a, weight: nan}\n'
tenants 'labs.yaml:2: tenants #1 parent: there is no tenant "b" in this file' "an unknown parent" \
	'tenants:\n  - {name: a, parent: b}\n'
tenants 'labs.yaml:2: tenants #1 parent: parents go round in a circle' "parents in a circle" \
	'tenants:\n  - {name: a, parent: b}\n  - {name: b, parent: a}\n'
tenants 'labs.yaml:3: tenants #2 name: tenant "a" is given twice' "a tenant twice" 'tenants:\n  - name: a\n  - name: a\n'
tenants 'labs.yaml: no tenants' "an empty file of tenants" ''

# traces that make no sense: LINE of the error, TEXT, the file's rows
bad_trace() { # WHAT REGEX HEADER ROW...
	local what=$1 regex=$2
	shift 2
	printf '%s\n' "$@" >bad.csv
	fails 1 "$regex" "$what stops a run" stint sim bad.csv --cluster 2x4:v100 --out bad-run --html bad.html
	is "$what leaves nothing behind" [ ! -e bad-run -a ! -e bad.html ]
	run stint trace check bad.csv
	want 1 "trace check finds $what"
}
header=id,gpus,arrival_s,duration_s
bad_trace "negative work" 'bad.csv:3.*duration_s' "$header" a,1,0,10 b,1,0,-5
bad_trace "work that is not a number" 'bad.csv:2.*duration_s' "$header" a,1,0,nan
bad_trace "infinite work" 'bad.csv:2.*duration_s' "$header" a,1,0,inf
bad_trace "two jobs with one id" 'bad.csv:3.*id' "$header" a,1,0,10 a,1,5,10
bad_trace "no GPUs at all" 'bad.csv:2.*gpus' "$header" a,-1,0,10
bad_trace "a word for a number" 'bad.csv:2.*gpus' "$header" a,many,0,10
bad_trace "a row with a field too few" 'bad.csv:3' "$header" a,1,0,10 b,1,0
bad_trace "jobs that wait for each other" "bad.csv:2: .*in a circle: job 'a' .line 2. waits for 'b' .line 3., which waits for 'a'; remove one" \
	"$header,after" a,1,0,10,b b,1,0,10,a c,1,0,10,b
bad_trace "a header alone" 'no jobs|at least one' "$header"
bad_trace "something else" 'not a known trace format' 'once upon a time' 'there was a file'

: >empty.csv
fails 1 "empty" "an empty file" stint sim empty.csv --cluster 2x4:v100
gzip -c good.csv >good.csv.gz
run stint sim good.csv.gz --cluster 2x4:v100
want 0 "gzip is read"
head -c 40 good.csv.gz >cut.csv.gz
fails 1 "cut.csv.gz.*(truncated|ends early)" "a truncated gzip" stint sim cut.csv.gz --cluster 2x4:v100
mkdir folder
fails 1 "folder.*directory" "a directory for a trace" stint sim folder --cluster 2x4:v100
fails 2 "did you mean" "an unknown format" stint sim good.csv --cluster 2x4:v100 --format gavell
fails 2 "jobz|did you mean" "an unknown option of the generator" stint sim synth:jobz=3 --cluster 2x4:v100

# with --lenient the good rows remain
printf '%s\n' "$header" a,1,0,10 b,1,0,-5 >bad.csv
run stint sim bad.csv --cluster 2x4:v100 --lenient --json
want 0 "--lenient leaves a bad row out"
out '"jobs_submitted": 1,' "and runs the others"
err 'bad.csv:3: (dropped|problem)' "and says which was left out"

# places that cannot be written
locked=locked
mkdir locked && chmod 555 locked
[ "$(id -u)" != 0 ] || locked=/proc # root may write everywhere else
fails 1 "$locked" "an unwritable directory" "${sim[@]}" --out "$locked/run"
fails 1 "$locked" "an unwritable report" "${sim[@]}" --html "$locked/report.html"
fails 1 "$locked" "an unwritable trace" stint trace convert good.csv "$locked/out.csv"
fails 4 "good.csv" "an output below a file" "${sim[@]}" --out good.csv/run
fails 4 "good.csv" "an output directory that is a file" "${sim[@]}" --out good.csv
mkdir precious && echo data >precious/thesis.txt
fails 4 "precious" "an output directory that is not ours" "${sim[@]}" --out precious
is "it is left alone" cmp -s <(echo data) precious/thesis.txt
fails 1 "no/such" "a report in no directory" "${sim[@]}" --html no/such/report.html
if [ -w /dev/full ]; then
	code=0
	stint policies >/dev/full 2>stderr || code=$?
	want 1 "a full disk behind standard output is a failure"
fi

# jobs that can never run
printf '%s\n' "$header" big,64,0,10 >big.csv
run stint sim big.csv --cluster 2x4:v100 --out big-run
want 5 "a workload of which nothing fits has exit code 5"
out 'big' "the job is named"
is "its record is there" test -f big-run/jobs.csv
printf '%s\n' "$header" big,64,0,10 small,1,0,10 >mixed.csv
run stint sim mixed.csv --cluster 2x4:v100 --out mixed-run
want 5 "one job too large among others has exit code 5, too"
out '2 submitted, 1 finished, 1 rejected' "the others have run"
err '1 of 2 jobs can never run: job big' "it is named on standard error"
is "the record is there" test -s mixed-run/summary.json
out 'rejected job big \(64 GPUs\)' "it is named with what it asked for"
run stint sim mixed.csv --cluster 2x4:v100 --json
want 5 "likewise with --json"
err 'rejected job big \(64 GPUs\): it needs' "which says why on standard error"
is "and keeps standard output JSON" valid_json stdout summary/1
run stint trace check big.csv --cluster 2x4:v100
want 1 "trace check finds demand above capacity"

finish
