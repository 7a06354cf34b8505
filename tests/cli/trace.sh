#!/bin/bash
# stint trace: check, stats, convert, synth.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

run stint trace synth --jobs 100 --load 0.8 --seed 7
want 0 "synth writes to standard output"
mv stdout trace.csv
is "as many jobs as asked for" [ "$(wc -l <trace.csv)" = 101 ]
stint trace synth jobs=100,load=0.8,seed=7 >same.csv
is "options and flags say the same" cmp -s trace.csv same.csv
stint trace synth --jobs 100 --load 0.8 --seed 8 >other.csv
is "another seed, other jobs" [ "$(sha1sum <trace.csv)" != "$(sha1sum <other.csv)" ]
run stint trace synth --jobs 10 --out file.csv --json
is "synth --json describes the file" valid_json stdout trace-synth/1
is "the file is there" [ "$(wc -l <file.csv)" = 11 ]
fails 2 "name a file" "synth --json without a file" stint trace synth --jobs 10 --json

run stint trace check trace.csv
want 0 "check of a good trace"
out 'trace.csv: stint, 100 jobs' "names format and size"
run stint trace check trace.csv --json
is "check --json" valid_json stdout trace-check/1
out '"ok": true' "says that it is good"
printf 'id,gpus,arrival_s,duration_s\na,1,50,10\nb,1,0,10\nc,1,5,-1\nd,x,5,1\n' >bad.csv
run stint trace check bad.csv
want 1 "check of a bad trace"
out 'bad.csv:4: .*duration_s' "finds the first problem"
out 'bad.csv:5: .*gpus' "and goes on to the next"
run stint trace check bad.csv --json
want 1 "check --json of a bad trace"
out '"line": 4' "has the line"
out '"fix": ' "and what to do"
run stint trace check - --json
want 1 "check of nothing on standard input"

run stint trace stats trace.csv --cluster 4x8:v100 --html stats.html
want 0 "stats"
is "stats has a page" grep -qi '<!doctype html' stats.html
run stint trace stats trace.csv --json
is "stats --json" valid_json stdout trace-stats/1

run stint trace convert trace.csv again.csv
want 0 "convert to a file"
is "our own CSV is a fixed point" cmp -s trace.csv again.csv
run stint trace convert trace.csv -
is "convert to standard output" cmp -s stdout trace.csv
run stint trace convert trace.csv out.csv --json
is "convert --json" valid_json stdout trace-convert/1
printf '; a comment\n1 0 5 100 2 -1 -1 2 120 -1 1 1 1 1 -1 -1 -1 -1\n' >jobs.swf
run stint trace convert jobs.swf swf.csv --format swf
want 0 "another format"
is "it becomes ours" [ "$(wc -l <swf.csv)" = 2 ]
fails 3 "nowhere" "convert of a missing file" stint trace convert nowhere out2.csv
is "no output is made of nothing" [ ! -e out2.csv ]

finish
