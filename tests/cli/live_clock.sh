#!/bin/bash
# A daemon on a machine whose wall clock is wrong, and is set while it runs.  The clock is a stand-in (tests/support/clock).
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/cli/lib/check
. "$root/tests/cli/lib/check"
clock=$(dirname "$STINT")/tests/fake/libclock.so
if nm -D "$STINT" 2>/dev/null | grep -q __asan_init; then
	echo "skip - a wrong wall clock: the stand-in does not go with sanitizers"
	exit 0
fi
is "there is a stand-in for the clock" [ -e "$clock" ]
# shellcheck source=tests/clients/with_daemon
. "$root/tests/clients/with_daemon"

YEARS=315576000
set_clock() { # SECONDS ahead
	echo "$1" >ahead.new
	mv ahead.new ahead
}
set_clock "$YEARS"
export LD_PRELOAD=$clock FAKE_CLOCK=$work/ahead

daemon_stop() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
}

# moment JOB MEMBER LEAST MOST: seconds from now to that moment, by the clock as it shows now
cat >moment.py <<'PY'
import json, os, sys, time
ahead = int(open(os.environ["FAKE_CLOCK"]).read())
job = json.load(sys.stdin)
job = job.get("jobs", [job])[0]
at = job
for name in sys.argv[1].split("."):
    at = at[int(name)] if name.lstrip("-").isdigit() else at[name]
left = at - (time.clock_gettime(time.CLOCK_REALTIME) + (0 if "LD_PRELOAD" in os.environ else ahead))
print(sys.argv[1], left, job.get("state"))
sys.exit(not float(sys.argv[2]) <= left <= float(sys.argv[3]))
PY
# shellcheck disable=SC2317 # called by is
moment() {
	stint show "$1" --json | python3 moment.py "${@:2}"
}
# shellcheck disable=SC2317 # called by is
logged() {
	grep -Eq -- "$1" daemon.log
}

# ---- ten years ahead at the first start
is "a daemon starts ten years ahead" daemon_start
submit -- true
early=$job
run stint wait "$early"
want 0 "a job runs then"
is "and ended just now by that clock" moment "$early" end -600 5
submit --begin now+1h -- true
begins=$job
is "begins in an hour" moment "$begins" begin 2400 3700
submit --deadline now+2h --time 1h -- sleep 1000
due=$job
soon "one with a deadline runs" state "$due" RUNNING
is "its deadline is in two hours" moment "$due" deadline 6000 7300
daemon_stop

set_clock 0
is "the next daemon has the right clock" daemon_start
is "the jump is in the log" logged 'clock jumped back by 31557[56][0-9]{3} s'
is "a job that waits was submitted just now" moment "$begins" submit -900 5
is "a begin is the moment that was given" moment "$begins" begin $((YEARS + 2400)) $((YEARS + 3700))
is "a deadline, too" moment "$due" deadline $((YEARS + 5400)) $((YEARS + 7300))
is "what runs began just now" moment "$due" begun -900 5
is "so did its attempt" moment "$due" attempts.0.begun -900 5
run stint run --quiet -- true
want 0 "new jobs run"
submit -- true
run stint wait "$job"
is "and end just now" moment "$job" end -600 5
submit --time 1s -- sleep 1000
run stint wait "$job"
is "a time limit holds" state "$job" TIMEOUT
run stint eta "$due" --json
want 0 "there is a forecast"
is "whose times are of this year" python3 - stdout <<'PY'
import json, sys, time
def moments(x):
    if isinstance(x, dict):
        for name, value in x.items():
            if name in ("now", "at", "p10", "p50", "p90") and isinstance(value, float) and value > 1e6:
                yield value
            yield from moments(value)
    elif isinstance(x, list):
        for value in x:
            yield from moments(value)
found = list(moments(json.load(open(sys.argv[1]))))
assert found and all(abs(m - time.time()) < 86400 for m in found), found
PY

# ---- steps while it runs
submit --begin now+1h -- true
soonest=$job
submit --begin now+10h -- true
later=$job
is "a job begins in ten hours" moment "$later" begin 35000 36100
set_clock -86400
soon "a clock that is set back by a day is noticed" logged 'clock jumped back by 86[34][0-9]{2} s'
is "then it begins in a day and ten hours" moment "$later" begin 121000 122500
is "and the deadline is a day further, too" moment "$due" deadline $((YEARS + 91000)) $((YEARS + 93700))
run stint run --quiet -- true
want 0 "jobs run"
set_clock 0
soon "a clock that is set right again is noticed" logged 'clock jumped forward by 86[34][0-9]{2} s'
is "the begin is as before" moment "$later" begin 34000 36100
is "what runs goes on" state "$due" RUNNING
is "and its run is as long as it was" moment "$due" begun -900 5
is "a job that waits for an hour waits" state "$soonest" PENDING
set_clock 7200
soon "two hours later by the clock it is its turn" state "$soonest" COMPLETED
is "the other waits eight hours" moment "$later" begin 26000 29000

# ---- as if nothing had been
daemon_crash
set_clock 0
is "a daemon after a crash and another step" daemon_start
is "the begin is right again" moment "$later" begin 33000 36100
is "and in ten years it is the first one's turn" state "$begins" PENDING
run stint cancel "$begins" "$later" "$due"
want 0 "jobs can be cancelled"
soon "the last job ends" state "$due" CANCELLED
daemon_stop

# ---- booted with the clock ten years ahead: nothing counts as ten years old
cat >boot.py <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
boot, rest = db.execute("SELECT value FROM meta WHERE key = 'clock'").fetchone()[0].split(" ", 1)
db.execute("UPDATE meta SET value = ? WHERE key = 'clock'", ("another-boot " + rest,))
db.commit()
PY
run stint db prune --older 3650d --yes
want 0 "pruning is confirmed"
is "as if the machine had been booted" env -u LD_PRELOAD python3 boot.py "$STINT_STATE/stint.db"
set_clock "$YEARS"
is "a daemon starts ten years ahead" daemon_start
is "the jump is a step of the wall clock" logged 'clock jumped forward by 31[45][0-9]{6} s'
run stint run --quiet -- true
want 0 "jobs run"
run stint db prune --older 10d
want 0 "what ended ten days ago is pruned"
out 'nothing' "which is nothing"
is "the first job's output is there" [ -e "$STINT_STATE/jobs/$early/1/stdout" ]
daemon_stop
set_clock 0
is "the next one has the right clock" daemon_start
run stint run --quiet -- true
want 0 "jobs run"
run stint show "$early"
out '^command' "and its submission, too"
daemon_stop
unset LD_PRELOAD
run stint replay "$STINT_STATE"
want 0 "a replay decides the same"
run stint db check --state "$STINT_STATE"
want 0 "the record is sound"
run stint db export --state "$STINT_STATE"
is "and has each jump" [ "$(grep -c '"kind":"clock"' stdout)" = 7 ]
daemon=
finish
