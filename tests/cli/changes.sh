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
queue_has() { stint queue "$@" | grep -Eq "$pattern"; }
pattern="^ *${array}_\\[6-24%1\\] +sweep .* PENDING .*array limit"
soon "those that wait are one row of the queue" queue_has
pattern="^ *${array}_5 +sweep .* RUNNING"
soon "one that runs has its own" queue_has
run stint queue --expand
out "^ *${array}_24 +sweep .* PENDING" "--expand shows each"
run stint queue --array
is "--array is the same" [ "$(grep -c " sweep " stdout)" = 20 ]
run stint queue --json
is "as JSON each is one" [ "$(grep -c '"name": "sweep"' stdout)" = 20 ]
run stint nodes
out " busy +${array}_5( |\$)" "stint nodes names the element"
run stint top --once
out '^2 running, 19 waiting;' "stint top counts elements"
out "^ *${array}_\\[6-24%1\\] +sweep" "and has one row for them"
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

# ---- update: what was asked for a job that waits
no_jobs() {
	! stint queue --json | grep -q '"id"'
}
soon "nothing runs" no_jobs
submit --gpus 0 -c 2 --name first -- sh -c "$sleeper"
first=$job
soon "the first runs" state "$first" RUNNING
submit --gpus 2 --name wide -- sh -c "$sleeper"
wide=$job
run stint update --gpus 1 --name narrow --mem 10M -c 1 "$wide"
want 0 "update of size and name"
out "^job $wide: GPUs 1, memory 10M, CPUs 1, name narrow\$" "says what changed"
run stint show "$wide"
out '^name +narrow$' "it has the name"
out '^gpus +1$' "and the size"
fails 5 'it can never run here: it needs 9 devices' "what could never run is refused" stint update --gpus 9 "$wide"
fails 2 'min_gpus: 3 is more than gpus, which is 1' "what makes no sense, too" stint update --min-gpus 3 "$wide"
fails 5 'needs 1000 CPUs' "and more CPUs than there are" stint update -c 1000 "$wide"
run stint show "$wide"
out '^gpus +1$' "it stays as it was"
fails 4 "job $first holds devices; hold it first \('stint hold --stop $first'\)" "a job that runs is not changed" stint update --gpus 1 "$first"
run stint update --min-gpus 1 --max-gpus 2 "$wide"
want 0 "it becomes elastic"
run stint show "$wide" --json
is "from 1 to 2" grep -q '"max_gpus": 2' stdout
submit --gpus 1 --name third -- sh -c "$sleeper"
third=$job
run stint update --dependency "afterany:$wide" "$third"
out "^job $third: dependency afterany:$wide\$" "a dependency"
run stint queue
out "waits for job $wide" "keeps it waiting"
fails 5 'would wait for itself' "a circle is refused" stint update --dependency "afterany:$third" "$wide"
fails 5 'would wait for itself' "the smallest, too" stint update --dependency "afterany:$third" "$third"
fails 3 'there is no job 999' "and a job that is not there" stint update --dependency afterany:999 "$third"
run stint update --dependency none --priority 7 "$third"
want 0 "no dependency"
run stint cancel "$wide"
run stint update --name third --priority 8
out "^job $third: priority 8\$" "--name alone says which jobs are meant"
fails 2 'say --name, --priority, --weight, --time, .* or --dependency' "something has to change" stint update "$third"

# ---- update of an array
submit --gpus 1 --array 2-4 --dependency "afterany:$first" --name sweep -- sh -c "$sleeper"
array=$job
run stint update --gpus 2 --reason smaller "$array"
out "^job ${array}_4: GPUs 2\$" "an array, element by element"
fails 5 'it needs 9 devices' "an array that could never run is refused" stint update --gpus 9 "$array"
fails 5 "job ${array}_3 would wait for itself" "so is an element that waits for its array" stint update --dependency "afterany:$array" "${array}_3"
run stint update --dependency none --gpus 1 --priority 9 "${array}_3"
want 0 "an element by itself"
run stint show "${array}_3"
out '^gpus +1$' "has its own size"
run stint show "${array}_4"
out '^gpus +2$' "and the others keep theirs"
run stint history "${array}_4"
out 'smaller' "the reason is in the history"
run stint cancel "$first"
soon "the element runs" state "${array}_3" RUNNING
run stint update --dependency "afterany:${third}" "$array"
want 0 "of an array those that wait are changed"
err '^1 job of the array is running and was left alone$' "and the others named"
run stint cancel "$array"
soon "the last runs" state "$third" RUNNING
run stint history "$third"
out ' update ' "the history has the changes"
kill "$daemon"
wait "$daemon"
is "a daemon again" daemon_start --policy priority
soon "the job is as it was changed" state "$third" RUNNING
stint show "$third" >stdout
out '^priority +8$' "with its priority"
daemon_gone
run stint replay "$STINT_STATE"
want 0 "all of this replays"
run stint db check
want 0 "and the record is sound"

finish
