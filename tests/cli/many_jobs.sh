#!/bin/bash
# A long queue: changes by filter are one request and one transaction, lists say that they are cut, and
# forecasts have the first thousand jobs and a bound for the rest.  Nothing here depends on how fast it is.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

# member NAME: of the last answer, which is JSON.
member() {
	grep -m 1 -o "\"$1\": *[^,}]*" stdout | sed 's/.*: *//; s/"//g'
}

# moments KIND: at how many moments events of that kind were recorded; every cycle of the loop has its own.
moments() {
	stint db export --quiet | grep "\"kind\": *\"$1\"" | grep -o '"at_s": *[0-9.e+-]*' | sort -u | wc -l
}

running() { # N
	[ "$(stint queue --state running --json | grep -c '"id"')" = "$1" ]
}

empty_queue() {
	[ "$(stint queue --json | grep -c '"id"')" = 0 ]
}

is "a daemon answers" daemon_start --slots 2 --no-cgroups --policy fifo --forecast-every 0

# ---- 2,600 jobs
run stint submit --array 0-1299 --estimate 1h -J sweep -- sleep 1000
want 0 "an array of 1,300"
run stint submit --array 0-1299 --estimate 1h -J other -- sleep 1000
want 0 "and another"
soon "two of them run" running 2

# ---- the list
run stint queue --expand
want 0 "the queue"
err 'only the first 1000 of 2600 jobs are shown; --limit 2600 shows all' "says that it is cut, and how to see the rest"
is "after its thousand lines" [ "$(wc -l <stdout)" = 1001 ]
run stint queue --expand --after 1000 --limit 2000
is "the next ones" [ "$(wc -l <stdout)" = 1601 ]
is "which are all" empty stderr
run stint queue --quiet
is "nothing of it with --quiet" empty stderr

# ---- forecasts
run stint eta 3 --json
want 0 "eta of the third"
is "as JSON" valid_json stdout eta/1
is "over a thousand that wait and two that run" [ "$(member simulated)" = 1002 ]
is "of 2,600" [ "$(member left_out)" = 1598 ]
out '"p50"' "has an interval"
is "and no bound" [ -z "$(member not_before)" ]
run stint eta 2500 --json
want 0 "eta of one that is left out"
is "has no start" [ "$(member start)" = null ]
is "but a bound" [ -n "$(member not_before)" ]
run stint eta 2500
out '^  starts +not before .* from now$' "which is told"
out 'the first 1002 jobs of the queue and leave out 1598' "with its reason"
run stint eta
want 0 "eta of all"
out '^beyond the first 1002 jobs: 1598 more, none of which starts before .* from now' "has a line for the rest"
run stint plan -- submit --gpus 0 -c 1 --estimate 1h -- true
want 0 "a plan behind all of them"
out '^it would wait' "would wait"
out '^  starts +not before .* from now$' "and has a bound"
run stint explain 2500
want 0 "explain of the last ones"
out 'needs 1 device|waits' "says why"

# ---- changes
run stint hold --name other --json
want 0 "hold by name"
is "as JSON" valid_json stdout changed_many/1
is "is one answer for 1,300 jobs" [ "$(member changed)" = 1300 ]
is "none of which is skipped" [ "$(member skipped)" = 0 ]
run stint hold --name other
want 0 "again"
err '1300 jobs are skipped: job 1301_0, for one, is held already' "changes nothing, and says so"
run stint release 1301-1400
want 0 "release of a range"
out '^100 jobs released$' "is told in a line"
run stint cancel --name sweep --state pending
want 0 "cancel of those that wait"
out '^1298 jobs cancelled$' "leaves the two that run"
is "which run on" running 2
run stint cancel 1312 1302 1303 1304 1305 1306 1307 1308 1309 1310 1311 999999
want 3 "many numbers, one of which is none"
out '^11 jobs cancelled$' "changes the others"
err 'job is skipped: job 999999 does not exist' "and names it"
fails 2 'is no job' "a word that is none changes nothing" stint cancel 1320-1330 seven
fails 2 "'1330-1320' runs downward; write 1320-1330" "neither does a range that runs downward" stint cancel 1330-1320
is "neither does an empty filter" [ "$(fetch --status /v1/jobs/cancel '{}')" = 400 ]
is "nor a state that has ended" [ "$(fetch --status /v1/jobs/cancel '{"state":"failed"}')" = 400 ]
run stint cancel --all
want 0 "cancel of all"
out '^1289 jobs cancelled$' "those that wait"
out '^2 jobs cancelled; they are stopping$' "and those that run"
soon "the queue is empty" empty_queue
run stint cancel --all
want 0 "nothing is left"
err 'no such jobs' "and that is told"

# ---- memory
# rss: of the daemon, kB.
rss() {
	awk '/^VmRSS/ { print $2 }' "/proc/$daemon/status"
}

# less_than KB: the daemon is asked something, so that its loop goes round.
less_than() {
	stint nodes >/dev/null && [ "$(rss)" -lt "$1" ]
}

if ldd "$STINT" | grep -q 'asan\|tsan'; then
	echo "skip - memory: a sanitizer keeps what was freed"
else
	before=$(rss)
	for _ in 1 2; do
		stint submit --quiet --hold --array 0-9999 -J crowd -- true >/dev/null
	done
	full=$(rss)
	is "20,000 jobs take memory" [ "$full" -gt $((before + 20000)) ]
	run stint cancel --name crowd
	want 0 "when they are gone"
	soon "more than half of it goes back" less_than $(((before + full) / 2))
fi

# ---- what the record has of it
is "hold: 1,300 jobs at one moment" [ "$(moments hold)" = 1 ]
is "release: 100 jobs at one" [ "$(moments release)" = 1 ]
is "cancel: as few moments as requests" [ "$(moments cancel)" -le 4 ]
kill "$daemon"
wait "$daemon" 2>/dev/null
daemon=
run stint replay "$STINT_STATE"
want 0 "the record replays"
out '^equal: ' "to the same decisions"

finish
