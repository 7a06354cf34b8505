#!/bin/bash
# The record cannot be confused with another: backup and restore as doc/operations.md has them, with
# jobs that run all the while, and everything that can happen to the file by hand.
# shellcheck disable=SC2016,SC2317 # jobs expand their own words; functions are called by is() and soon()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

state=$STINT_STATE
begin() {
	daemon_begin --slots 4 --no-gpus
}
stop() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}
ended() { # JOB STATE
	stint show "$1" --json 2>/dev/null | grep -q "\"state\": \"$2\""
}
no_foreign() {
	stint foreign --json | grep -q '"attempts": \[\]'
}
refused() { # REGEX WHAT: a daemon that does not start, and says why
	fails 4 "$1" "$2" timeout 300 "$STINT" daemon --no-http --slots 4 --no-gpus
}
# A job that runs until the file is there, and then prints its words.
waits_for() { # FILE WORDS
	submit --gpus 1 -- sh -c "while [ ! -e '$work/$1' ]; do sleep 0.05; done; echo $2"
}
runs() { # JOB
	ended "$1" RUNNING
}
release_all() {
	touch go1 go2 go3 go4 go5 go6
}

# ---- backup while the daemon runs
is "a daemon" begin
waits_for go1 known; known=$job
soon "a job runs" runs "$known"
waits_for go2 ends; ends=$job
soon "another, too" runs "$ends"
run stint db backup copy.db
want 0 "a backup while the daemon runs"
out 'record [0-9a-f]{8}, generation 1, [0-9]+ events, jobs up to 2; checked' "says what it has"
run stint db check --state copy.db
want 0 "and is sound"
is "and is one file" [ ! -e copy.db-wal ]
other_place() { # COMMAND...: where only the socket is said
	env -u STINT_STATE HOME="$work" STINT_SOCKET="$state/socket" "$STINT" "$@"
}
run other_place db backup copy1.db
want 0 "a backup of the daemon of \$STINT_SOCKET"
out 'jobs up to 2' "has its jobs"
run other_place db check
out "$state/stint.db: sound" "and so does a check"
fails 6 'say so with --state' "a socket that says nothing of a state" \
	env -u STINT_STATE HOME="$work" STINT_SOCKET="$work/none" "$STINT" db check
fails 4 'there already' "a backup is never overwritten" stint db backup copy.db

# ---- after the backup: jobs that it does not know
waits_for go3 stranger; stranger=$job
soon "a job of after the backup runs" runs "$stranger"
submit --gpus 1 -- echo strange words
soon "one more has ended" ended "$job" COMPLETED
touch go2
soon "one that the backup knows as running ends" ended "$ends" COMPLETED
last_job=$job
fails 4 'stop it first' "a restore beside a daemon" stint db restore copy.db
stop

# ---- by hand, as it was documented before
cp "$state/stint.db" whole.db
cp "$state/record.id" whole.id
cp copy.db "$state/stint.db"
refused 'older copy.*stint db restore' "an older copy put in place by hand"
rm "$state/stint.db"
refused 'not there.*stint db restore FILE.*stint db new' "a record that was deleted"
: >"$state/stint.db"
refused 'is empty' "an empty one"
rm "$state/stint.db" "$state/record.id"
refused 'directories of jobs up to' "one that was deleted with what says so"
head -c 20000 whole.db >"$state/stint.db"
cp whole.id "$state/record.id"
refused 'cut short|damaged' "one that was cut"
echo garbage >"$state/stint.db"
refused 'stint.db' "something else"

# ---- restore
rm "$state/stint.db"
run stint db restore copy.db
want 0 "a restore"
out 'generation 2' "makes a new generation"
out 'events that were recorded after it was made are not in it' "says what is lost"
is "a daemon starts" begin
run stint show "$known"
out 'RUNNING' "what the copy knows and still runs is taken over"
soon "what ended meanwhile has its own end" ended "$ends" COMPLETED
run stint logs "$ends"
out '^ends$' "and its own output"
run stint foreign
out "^$stranger/1 " "what the copy does not know is shown"
run stint nodes
out "down.*used by attempt 1 of job $stranger of another record" "and keeps its device"
is "with a line in the log" grep -q "attempt 1 of job $stranger of another record runs here" daemon.log
fails 3 'no job' "but is no job of this record" stint show "$stranger"
fails 4 'not in this record' "nor can it be taken for one" stint foreign adopt "$stranger/1"
fails 3 'no attempt' "what is not there cannot be ended" stint foreign end 77/1

# ---- the issue: six new jobs have numbers and results of their own
for i in 1 2 3 4 5 6; do
	submit --gpus 1 -- echo "own words $i"
	[ "$job" -gt "$last_job" ] || report 1 "number $job was given before"
	soon "new job $i ends" ended "$job" COMPLETED
	run stint logs "$job"
	out "^own words $i\$" "with its own words"
done
touch go1
soon "the job that was taken over ends" ended "$known" COMPLETED
run stint logs "$known"
out '^known$' "with what it printed"

# ---- ending what is foreign
run stint foreign end "$stranger/1"
want 0 "what is foreign is ended"
soon "and is gone" no_foreign
free() {
	! stint nodes | grep -q down
}
soon "its device is back" free
stop
run stint replay "$state"
want 0 "all of this replays"
run stint db check
want 0 "the record is sound"

# ---- a log that was deleted or cut after a crash
is "a daemon" begin
submit --gpus 1 -- true
soon "a job has ended" ended "$job" COMPLETED
daemon_crash
daemon=
cp -r "$state" crashed
if [ -s "$state/stint.db-wal" ]; then
	rm "$state/stint.db-wal"
	refused 'stint.db-wal\) was deleted or cut' "a log that was deleted"
	cp crashed/stint.db crashed/stint.db-wal "$state"
	truncate -s -5000 "$state/stint.db-wal"
	refused 'stint.db-wal\) was deleted or cut' "a log that was cut"
	cp crashed/stint.db crashed/stint.db-wal "$state"
fi
is "with its log it starts" begin

# ---- twice: what ran under a generation that is not in the past of the next
run stint db backup copy2.db
waits_for go4 later; later=$job
soon "a job of generation 2 runs" runs "$later"
stop
run stint db restore copy2.db
out 'generation 3' "a second restore"
rm "$state/record.id"
is "the daemon starts without record.id" begin
run stint foreign
out "^$later/1 .* 2 " "and finds what is foreign"
submit --gpus 1 -- true
is "numbers are not given again" [ "$job" -gt "$later" ]
soon "and it ends" ended "$job" COMPLETED
stop

# ---- all that there is of a young record is in its log, which was emptied
(
	export STINT_STATE=$work/young
	"$STINT" daemon --no-http --slots 1 --no-gpus >young.log 2>&1 &
	young=$!
	for _ in $(seq 2400); do
		grep -qs 'ready' young.log && break
		sleep 0.05
	done
	kill -KILL $young
	wait $young 2>/dev/null
)
if [ -s young/stint.db-wal ]; then
	: >young/stint.db-wal
	fails 4 'has no record in it.*its log .* was deleted, emptied or cut' "a log that was emptied" \
		timeout 60 "$STINT" daemon --no-http --slots 1 --no-gpus --state "$work/young"
	is "there is nothing to go on with, and it does not say so" [ "$(grep -c 'to go on with' stderr)" = 0 ]
	run stint db new --state "$work/young"
	want 0 "what it says is a way on"
else
	echo "skip - a log that was emptied: the record was small enough to have none"
fi

# ---- two daemons, the lock deleted
is "a daemon" begin
rm "$state/lock"
fails 4 'another daemon uses' "a second one, with the lock file deleted" \
	timeout 300 "$STINT" daemon --no-http --slots 4 --no-gpus --socket "$work/other"
fails 4 'stop it first' "nor a restore" stint db restore copy2.db

# ---- two daemons, the lock and the directories of jobs moved away
mkdir away
mv "$state/jobs" away
fails 4 'another daemon uses .*stint.db.*moved or deleted.*Nothing was changed.*Stop that daemon' \
	"a second one, with lock and jobs moved away" \
	timeout 60 "$STINT" daemon --no-http --slots 4 --no-gpus --socket "$work/other"
fails 4 'another daemon uses .*stint.db' "also at the same socket" \
	timeout 60 "$STINT" daemon --no-http --slots 4 --no-gpus
is "which makes neither again" [ ! -e "$state/lock" -a ! -e "$state/jobs" ]
fails 4 'stop it first' "nor a restore" stint db restore copy2.db
fails 4 'stop it first' "nor a new record" stint db new
run stint db prune --older 1s --vacuum --yes
want 4 "nor a command that writes the record anew"
submit --hold --gpus 1 -- true
is "the first one goes on" [ -n "$job" ]
run stint cancel "$job"
mv away/jobs "$state"
stop

# ---- to begin anew
run stint db new
want 0 "a new record"
out 'kept as .*stint.db.kept-' "keeps the old one"
is "a daemon starts" begin
run stint foreign
out "^$later/1 " "what runs is foreign"
submit --gpus 1 -- echo anew
is "numbers go on" [ "$job" -gt "$later" ]
soon "a job ends" ended "$job" COMPLETED
run stint logs "$job"
out '^anew$' "with its own words"
run stint foreign end "$later/1" --now
soon "what is foreign is gone" no_foreign
run stint foreign --json
is "JSON of its schema" valid_json stdout foreign/1

echo junk >junk.db
mkdir empty
fails 4 'junk.db is not a record|not a record of Stint' "a file that is no record is named as such" \
	stint db restore junk.db --state "$work/empty"

release_all
stop
run stint replay "$state"
want 0 "it replays"
is "the log has no errors" [ "$(grep -c ' error: ' daemon.log)" = 0 ]

finish
