#!/bin/bash
# Help and the tables: every verb explains itself, every name is listed.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

run stint
want 0 "stint alone is an overview"
out 'usage: stint' "the overview says how to call it"
is "the overview is short" [ "$(wc -l <stdout)" -lt 80 ]

run stint --version
out '^stint [0-9]+\.[0-9]+' "--version names the version"

verbs=$(stint | sed -n 's/^  \([a-z ]*[a-z]\)  .*/\1/p')
is "the overview lists verbs" [ "$(echo "$verbs" | wc -l)" -ge 12 ]
while read -r verb; do
	# shellcheck disable=SC2086 # "trace check" is two words
	run stint $verb --help
	if [ "$code" = 0 ] && grep -q "usage: stint $verb" stdout && grep -q '^examples:' stdout &&
		{ [ "$verb" = "db export" ] || grep -q -- --json stdout; } && empty stderr; then
		report 0 "stint $verb --help has usage, flags and examples"
	else
		report 1 "stint $verb --help has usage, flags and examples"
	fi
	# shellcheck disable=SC2086
	stint help $verb >other
	is "stint help $verb says the same" cmp -s stdout other
done <<<"$verbs"

run stint help trace
out 'trace convert' "help of a family lists its verbs"
run stint help nothing
want 2 "help of nothing is a usage error"
fails 2 "'x' was not expected" "help of a verb and more is one, too" stint help sim x
fails 2 "'x' was not expected" "also of two words" stint help trace check x

run stint policies
want 0 "policies are listed"
for policy in fifo easy conservative sjf srtf srsf las tiresias gittins e-las priority fair-share; do
	out "^$policy " "policy $policy is there"
done
run stint policies tiresias
out 'NSDI 2019' "a policy names its paper"
out '^queues +2 +1\.\.16' "a policy lists options with default and range"
out '--policy tiresias' "a policy shows an example"
for verb in policies placers admissions; do
	run stint "$verb" --json
	is "$verb --json is JSON of its schema" valid_json stdout "$verb/1"
done
run stint policies tiresias --json
is "one policy as JSON" valid_json stdout policies/1
fails 3 "did you mean 'tiresias'" "an unknown policy is not found" stint policies tiresia
fails 3 "did you mean" "an unknown placer is not found" stint placers consolidat
run stint placers consolidate
want 0 "a placer shows its options"
run stint admissions load
want 0 "an admission rule shows its options"

run stint trace formats
for format in stint gavel philly helios swf sacct tiresias; do
	out "^$format " "format $format is there"
done
run stint trace formats --json
is "formats as JSON" valid_json stdout trace-formats/1

run stint cluster 16x8:v100,4x4:a100
want 0 "a cluster is explained"
out '144 devices on 20 nodes' "with its totals"
run stint cluster 16x8:v100,4x4:a100 --json
is "a cluster as JSON" valid_json stdout cluster/1
stint cluster 16x8:v100,4x4:a100 --yaml >c.yaml
run stint cluster c.yaml
out '144 devices on 20 nodes' "a cluster's YAML reads back"
run stint cluster 1x1:v100
out ': 1 device on 1 node in 1 rack' "one of each is one"
run stint cluster 1x1:v1O0
err "type 'v1O0' is not in the catalogue; did you mean v100" "a slip of a type is seen"
run stint cluster 2x2:gpu
is "an own name for one is not" empty stderr

run stint completion bash
is "the completion script is valid" bash -n stdout

finish
