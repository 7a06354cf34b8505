#!/bin/bash
# stint submit --like JOB: what was submitted before, again, with other flags.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

is "a daemon" daemon_start --slots 4 --no-cgroups
mkdir there
export COLOUR=green
submit -D "$PWD/there" --gpus 2 -J paint --tenant art --key once --time 1h -- sh -c 'echo "$COLOUR in $(basename "$PWD"): $0 $1"' 'two words' x
first=$job
run stint wait "$first"
want 0 "a job ran"
export COLOUR=red
submit --like "$first"
is "another one like it" [ "$job" != "$first" ]
run stint wait "$job"
want 0 "runs"
run stint logs "$job"
out '^green in there: two words x$' "with its command, directory and variables"
run stint show "$job" --json
out '"name": "paint"' "under its name"
out '"tenant": "art"' "of its tenant"
out '"gpus": 2' "with as many devices"
out '"time_limit_s": 3600' "and its limit"
submit --like "$first" --gpus 1 -J repaint --export ALL
run stint wait "$job"
run stint logs "$job"
out '^red in there' "--export takes the variables of now"
run stint show "$job" --json
out '"gpus": 1' "flags win"
out '"name": "repaint"' "also over its name"
submit --like "$first" -- sh -c 'echo another'
run stint wait "$job"
run stint logs "$job"
out '^another$' "so does a command"

submit --array 0-3%2 -J sweep -- sh -c 'echo element $STINT_ARRAY_INDEX'
sweep=$job
run stint wait "$sweep"
run stint submit --like "$sweep"
out '^Submitted array [0-9]+ of 4 jobs$' "an array as a whole"
submit --like "${sweep}_3"
run stint wait "$job"
run stint logs "${job}_3"
out '^element 3$' "or one element of it"

run stint plan -- submit --like "$first"
want 0 "a plan of it"
fails 3 'no job 4711' "a job that is not there" stint submit --like 4711
fails 2 'like' "what is no job" stint submit --like paint
fails 2 'what shall run' "without it a command is needed" stint submit --gpus 1
stint wait --all >/dev/null 2>&1
soon "all have ended" eval '[ -z "$(stint queue --quiet --json | grep "\"state\": \"\(RUNNING\|PENDING\|COMPLETING\)\"")" ]'
kill "$daemon"
wait "$daemon" 2>/dev/null
daemon=
run stint db prune --state "$STINT_STATE" --older 0s --yes
want 0 "everything is pruned"
is "a daemon again" daemon_start --slots 4 --no-cgroups
fails 3 'pruned' "then it is said that it cannot be known" stint submit --like "$first"
finish
