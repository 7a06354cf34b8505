#!/bin/bash
# Verbs that change jobs: what they answer, and what they leave alone, through a real daemon.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

sleeper='until [ -e never ]; do sleep 0.1; done'

is "a daemon answers" daemon_start --policy priority
submit --gpus 0 -c 2 --name first -- sh -c "$sleeper"
soon "the first runs" state 1 RUNNING
submit --gpus 0 --name second -- sh -c "$sleeper"

# ---- what an answer says: what changed
run stint hold 2
out '^job 2 held$' "hold"
run stint update --time 10m --priority 3 2
out '^job 2: time limit 10m, priority 3$' "update, in the words of the person"
run stint show 2
out '^priority +3$' "it has changed"
run stint release 2
out '^job 2 released$' "release"
run stint requeue 2
out '^job 2 requeued$' "requeue"
run stint signal URG 1
out '^job 1: sent URG$' "signal"
run stint hold --stop 1
out '^job 1 held; it is stopping$' "hold of one that runs"
soon "it stops, and the second runs" state 2 RUNNING
run stint requeue 2
out '^job 2 requeued; it is stopping$' "requeue of one that runs"
run stint cancel 1
out '^job 1 cancelled$' "cancel of one that waits"
soon "the second runs again" state 2 RUNNING

# ---- arrays: elements by their names
submit --gpus 0 --array 5-24%1 --name sweep -- sh -c "$sleeper"
array=$job
soon "an element runs" state "${array}_5" RUNNING
run stint hold "$array"
want 0 "hold of an array"
out '^19 jobs held$' "holds those that wait"
err '^1 job of the array is running and was left alone; --stop stops it$' "and names what it leaves"
run stint release "${array}_6" "${array}_7"
out "^job ${array}_6 released\$" "an element is called by its index"
run stint cancel --name sweep --state pending
out '^19 jobs cancelled$' "many are counted"
run stint cancel "$array" --json
is "as JSON" valid_json stdout changed/1
is "with the number" grep -q "\"id\": $array" stdout
is "and the index" grep -q '"array_index": 5' stdout
run stint cancel 2
out '^job 2 cancelled; it is stopping$' "cancel of one that runs"
run stint cancel --quiet 2
is "--quiet is quiet" empty stdout

finish
