#!/bin/bash
# Retention: what pruning deletes, what stays, and that nothing goes before a person has said so.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

has_ended() { # JOB
	stint show "$1" 2>/dev/null | grep -Eq "^state *(COMPLETED|CANCELLED)"
}
daemon_stop() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}
has_failed() { # JOB
	stint show "$1" | grep -q "^state *FAILED"
}
is_gone() {
	[ ! -e "$1" ]
}
sound() { # WHAT
	run stint db check --state "$STATE"
	want 0 "db check is sound $1"
	run stint replay "$STATE"
	want 0 "replay is equal $1"
}

is "a daemon answers" daemon_start --slots 2 --no-cgroups
STATE=$STINT_STATE
submit --name own --output own.txt -- sh -c 'echo mine'
submit --name kept -- sh -c 'echo kept; sleep 0.3'
submit --name many --array 1-3 -- true
submit --name fails --retries 0 -- sh -c 'exit 3'
for job in 1 2 3 4 5; do
	soon "job $job ends" has_ended "$job"
done
soon "job 6 fails" has_failed 6
# Events that follow the ends: the last event of a record stays, and with it the job that it is about.
submit --name waits --hold -- sh -c 'echo late'
submit --name after --dependency afterok:2 --hold -- true
echo "not ours" >"$STATE/jobs/2/1/model.pt"
submit --name last --hold -- true # an event behind the end of job 6, which is pruned with the others then

# ---- nothing before a person has confirmed it
run stint db status --state "$STATE"
want 0 "there is a status"
out '^pruned +never' "nothing was ever pruned"
out '^keep +everything' "and nothing will be"
run stint db prune
want 2 "how old must be said"
fails 2 'has no unit: write 90d for days' "with a unit" stint db prune --state "$STATE" --older 90 --dry-run
fails 2 '--keep 90 has no unit: write 90d for days' "which --keep needs, too" stint daemon --state other --keep 90
is "and nothing is made" is_gone other
run stint db prune --state "$STATE" --older 0s --dry-run
want 0 "a dry run says what would be done"
out 'of 6 jobs .*summary stays' "to which jobs"
fails 4 'say --yes once' "without a terminal it must be said" stint db prune --state "$STATE" --older 0s
is "and nothing is gone" [ -e "$STATE/jobs/1" ]
run stint history 2
out ' exit ' "not from the history either"

# ---- while the daemon runs
run stint db prune --state "$STATE" --older 0s --yes --json
want 0 "the daemon prunes"
is "with a schema" valid_json stdout db-prune/1
out '"jobs": *6' "every job that ended"
out '"directories_left": *1' "but for a file that is not Stint's"
is "which stays" [ -e "$STATE/jobs/2/1/model.pt" ]
is "directories are gone" is_gone "$STATE/jobs/1"
is "what Stint kept of the output, too" is_gone "$STATE/jobs/2/1/stdout"
is "a job's own output stays" grep -q mine own.txt
sound "after pruning"
out '^pruned before .*6 jobs are kept as summaries' "and it names what was pruned"
out 'replayed from the epoch of event' "and where it begins"
run stint replay "$STATE" --json
out '"jobs": *6' "in JSON too"
run stint show 2
want 0 "a pruned job is shown"
out '^state +COMPLETED' "with how it ended"
out '^pruned ' "and that this is a summary"
run stint show 3_2
out '^state +COMPLETED' "elements of arrays are found by their index"
run stint queue --state all
out ' kept .*COMPLETED' "the queue lists it"
run stint history 2
want 0 "it has a history"
out 'ended: COMPLETED' "of what is left"
out 'was pruned' "and says so"
fails 4 'was pruned.*submit it again' "it cannot run again" stint requeue 2
fails 3 'was pruned' "its output is gone" stint logs 2
run stint db export --state "$STATE" --out events.jsonl
want 0 "events are exported"
err 'pruned before' "with what was pruned"
run stint db export --state "$STATE" --format trace --out trace.csv
want 0 "so is a trace"
is "of pruned jobs, too" grep -q ',\?kept' trace.csv
run stint release 7 8
soon "a job that waited runs from its submission" has_ended 7
soon "and so does one whose dependency was pruned" has_ended 8
run stint logs 7
out late "with its output"
run stint db status --state "$STATE" --json
out '"confirmed": *true' "pruning was confirmed"

# ---- after a restart, and by --keep
daemon_stop
is "a daemon with --keep answers" daemon_start --slots 2 --no-cgroups --keep 1s
soon "prunes by itself what was confirmed" is_gone "$STATE/jobs/7"
sound "after a restart and --keep"
daemon_stop
run stint db prune --state "$STATE" --older 0s --vacuum
want 0 "without a daemon it is done at once"
sound "after a vacuum"
run stint db status --state "$STATE"
out '^keep +1s; pruning was confirmed' "the status says what --keep is"

# ---- --keep on a record that was never confirmed
rm -rf "$STATE"
is "a daemon on a new state directory answers" daemon_start --slots 2 --no-cgroups
submit --name old -- true
soon "its job ends" has_ended 1
daemon_stop
is "one with --keep answers" daemon_start --slots 2 --no-cgroups --keep 1s
soon "and says what it would do" grep -q 'would prune 1 job .*does not' daemon.log
is "but does not" [ -e "$STATE/jobs/1" ]
run stint db status --state "$STATE"
out 'not confirmed, so nothing is pruned: 1 job would be' "nor hides it"
fails 4 'say --yes once' "the first prune asks" stint db prune --state "$STATE" --older 1s
run stint db prune --state "$STATE" --older 1s --yes
soon "once confirmed it goes" is_gone "$STATE/jobs/1"
sound "then"
daemon_stop

finish
