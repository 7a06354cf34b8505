#!/bin/bash
# stint report usage: who had how many device hours, also after jobs were pruned and after a restart.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

export TZ=UTC
me=$(id -un)
is "a daemon" daemon_start --slots 4 --no-cgroups
run stint report usage
want 0 "usage of a new record"
err '^no job ran in the last ' "says that there is none"
run stint report usage --csv
out '^user,jobs,gpu_hours,slot_hours$' "as CSV its header"

submit --gpus 2 --model resnet --tenant vision -- sh -c 'sleep 0.3; exit 3'
run stint wait "$job"
want 3 "a job has failed"
submit --gpus 1 --tenant nlp -- sh -c 'while [ ! -e go ]; do sleep 0.05; done'
soon "another runs" state "$job" RUNNING
run stint report usage
out "^$me +2 " "both count, also the one that runs"
out 'SLOT-HOURS' "in hours of slots"
run stint report usage --by tenant,month --since 90d
out '^TENANT +MONTH +JOBS ' "by tenant and month"
out "^vision +$(date +%Y-%m) +1 +0.00 " "a row for each"
out '^total +2 ' "and the total"
run stint report usage --by model --csv
out '^resnet,1,0.000000,0.000' "by model as CSV"
out '^"?"?,1,' "jobs without a model are counted"
run stint report usage --by type --price cpu=7200
out '^cpu +2 .* 100.0% +[0-9.]+$' "the price gives a cost"
run stint report usage --by user --price a100=2
err 'types without a price' "hours without a price are said"
run stint report usage --json --by user,type
is "as JSON" valid_json stdout usage/1
fails 2 "there is no grouping 'usr'" "a wrong grouping is refused" stint report usage --by usr
fails 2 'TYPE=PER_HOUR' "and a wrong price" stint report usage --price cheap
fails 2 "there is usage" "and another word" stint report users
fails 2 "stint report usage" "flags of usage alone are refused" stint report --csv

touch go
run stint wait "$job"
want 0 "it ends"
sums() { stint report usage --by tenant --csv | LC_ALL=C sort; }
sums >before
kill "$daemon"
wait "$daemon" 2>/dev/null
daemon=
run stint db prune --state "$STINT_STATE" --older 0s --yes
want 0 "everything is pruned"
is "a daemon again" daemon_start --slots 4 --no-cgroups
sums >after
# Summaries have times to the millisecond.
close() { paste -d, before after | awk -F, '{ d = $4 - $8; if ($1 != $5 || $2 != $6 || d * d > 1e-12) exit 1 }'; }
is "what was used is still known" close
finish
