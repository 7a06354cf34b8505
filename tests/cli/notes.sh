#!/bin/bash
# What a submission says and the policy does not use is noted, and nothing else is.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

noted() { # how many notes there are
	grep -c '^note: ' stderr
}
notes() { # COUNT WHAT FLAG...
	local n=$1 what=$2
	shift 2
	run stint submit --hold "$@" -- true
	want 0 "submit $*"
	is "$what" [ "$(noted)" = "$n" ]
}

is "a daemon answers" daemon_start --slots 4 --no-cgroups
run stint policy set fifo
notes 0 "a job that says nothing special has no note"
notes 1 "a priority that counts for nothing is noted" --priority 5
err '^note: policy fifo does not use --priority$' "with the policy and the flag"
out '^Submitted job 2$' "the answer is as ever"
notes 1 "so is a weight" --weight 2
err 'does not use --weight$' "by its name"
notes 1 "and a deadline" --deadline now+1h
err 'does not use --deadline$' "by its name, too"
notes 1 "and a range" --gpus 2 --min-gpus 1
err 'does not use --min-gpus and --max-gpus$' "by both of its names"
notes 2 "each once for a whole array" --array 1-3 --priority 1 --weight 3
notes 0 "--quiet keeps quiet" --quiet --priority 5
run stint submit --hold --json --priority 5 -- true
is "--json has it as a list" grep -q '"notes": *\[ *"policy fifo does not use --priority" *\]' <(tr -d '\n' <stdout | sed 's/  */ /g')
run stint run --priority 5 -- true
want 0 "run"
err '^note: policy fifo does not use --priority$' "notes it as well"

run stint policy set fair-share
notes 1 "a policy may use it only with some options" --priority 5
err '^note: policy fair-share does not use --priority with the options it has$' "which is said"
run stint policy set fair-share:priority=1,elastic=1
notes 0 "with those there is no note" --priority 5 --weight 2 --gpus 2 --min-gpus 1
run stint policy set elasticflow
notes 0 "nor where deadlines count" --deadline now+1h --estimate 10s

finish
