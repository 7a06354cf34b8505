#!/bin/bash
# When jobs start and end, what a submission would change, and how good such
# forecasts are, through a real daemon and on workloads.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

# stop_daemon: as an operator does; jobs go on.
stop_daemon() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
}

# ---- without a daemon
fails 6 'no daemon answers' "eta needs a daemon" stint eta
fails 6 'no daemon answers' "so does plan" stint plan -- submit --gpus 1 -- true

# ---- an empty queue
is "a daemon answers" daemon_start --slots 2 --no-cgroups --policy fifo --forecast-every 1
run stint eta
want 0 "eta of nobody"
out '^no jobs run or wait$' "says so"
run stint eta --json
is "and as JSON" valid_json stdout forecast/1
run stint plan -- submit --gpus 0 -c 1 --estimate 10m -- true
want 0 "a plan of what fits"
out '^it would start now; nothing is submitted$' "starts now"
out '^  starts +now ' "at once"
out '^  delays +nobody$' "and harms nobody"
out 'stint submit --if-unchanged [0-9]+ ' "the command to submit it is told"

# ---- one that runs, some that wait
wait_for='until [ -e go ]; do sleep 0.05; done'
submit --gpus 0 -c 2 --estimate 1h --name first -- sh -c "$wait_for"
soon "the first runs" state 1 RUNNING
submit --gpus 0 -c 1 --estimate 10m --name second -- true
submit --gpus 0 -c 1 --estimate 10m --hold --name third -- true
run stint eta 1
want 0 "eta of one that runs"
out '^job 1, RUNNING$' "names it"
out '^  ends +(in [0-9]|now).* \(80 %: .* to .*\)$' "says when it ends, as an interval"
is "not when it starts" sh -c '! grep -q "^  starts" stdout'
run stint eta 2
want 0 "eta of one that waits"
out '^  starts +(in [0-9]|now).* \(80 %: .* to .*\)$' "says when it starts"
out '^  [0-9]+ futures; ' "and of how many futures"
run stint eta 3
want 0 "eta of one that is held"
out '^  starts +not within 30 days$' "has no start"
out 'in 100 % of the futures .*stint explain 3' "and where to ask why"
run stint eta
want 0 "eta of all"
out '^ +1 +- +[0-9]' "has those that run"
out '^ +2 +[0-9].*\(.* - .*\) +[0-9]' "those that wait"
out '^ +3 +- +- +never in 100 %' "and those that never start"
run stint eta 2 --json
is "eta --json" valid_json stdout eta/1
out '"p10"' "has moments"
run stint eta --json
is "of all --json" valid_json stdout forecast/1
out '"spans"' "with who will be where"
run stint eta 1 2
want 0 "eta of several"
run stint eta 77
want 3 "one that is not there is not found"
run stint eta x
want 2 "what is no number is wrong"

# ---- plans that wait, that cannot be, that are wrong
run stint plan -- submit --gpus 0 -c 2 --estimate 5m -- true
want 0 "a plan of what does not fit"
out '^it would wait; nothing is submitted$' "waits"
out '^  starts +in ' "for so long"
run stint plan -- submit --gpus 0 -c 1 --estimate 5m --array 1-5 -- true
want 0 "a plan of an array"
out '^  first +' "when the first starts"
out '^  all ended +' "and when all have ended"
run stint plan --json -- submit --gpus 0 -c 1 -- true
is "plan --json" valid_json stdout plan/1
run stint plan -- submit --gpus 0 -c 50 -- true
is "more than there is: refused as a submission is, or never" \
	sh -c '[ "$1" != 0 ] || grep -q "^  never" stdout' sh "$code"
fails 2 'unknown|no such|option' "a wrong flag of submit is wrong in a plan" stint plan -- submit --nonsense -- true
fails 2 'what shall be planned' "a plan is of a submission" stint plan -- cancel 1
fails 2 '.' "a plan of nothing is wrong" stint plan
fails 2 'too many' "so is one of too many" stint plan -- submit --gpus 0 -c 1 --array 1-1001 -- true
run stint queue --json
is "nothing was submitted" test "$(grep -o '"id": *[0-9]*' stdout | wc -l)" = 3

# ---- submit if nothing has changed
stamp() {
	stint plan --json -- submit --gpus 0 -c 1 -- true | sed -n 's/.*"stamp": *\([0-9]*\).*/\1/p'
}
old=$(stamp)
run stint submit --parsable --if-unchanged "$old" --gpus 0 -c 1 --estimate 1m -- true
want 0 "a fresh stamp submits"
run stint submit --parsable --if-unchanged "$old" --gpus 0 -c 1 -- true
want 4 "a stale one does not"
err 'changed|plan' "and says so"
run stint submit --if-unchanged x --gpus 0 -- true
want 2 "what is no stamp is wrong"

# ---- outcomes: the first ends, the others follow
touch go
soon "the second ends" state 2 COMPLETED
soon "and the fourth" state 4 COMPLETED
run stint eta 2
want 4 "one that ended has no forecast"
err "has ended; 'stint show 2'" "but a past"
kept() {
	grep -q '"start":\[\[' "$STINT_STATE/forecasts.json"
}
track() {
	stint eta | grep -Eq 'of the last [1-9][0-9]* starts [0-9]+ % came within'
}
soon "eta tells how forecasts came out" track
soon "outcomes are kept" kept
run fetch /metrics
for name in coverage_ratio outcomes median_error_seconds seconds_count; do
	out "^stint_forecast_$name [0-9]" "metric stint_forecast_$name"
done

# ---- a restart, with the file whole and broken
stop_daemon
is "a daemon answers again" daemon_start --slots 2 --no-cgroups --policy fifo --forecast-every 0
run stint eta --json
want 0 "and forecasts when asked, though never by itself"
out '"n": *[1-9]' "with the track record of before"
stop_daemon
echo '{ broken' >"$STINT_STATE/forecasts.json"
is "a daemon answers with a broken record of forecasts" daemon_start --slots 2 --no-cgroups --policy fifo --forecast-every 1
is "it says that it begins anew" grep -q 'track record of forecasts begins anew: .*forecasts.json' daemon.log
submit --gpus 0 -c 2 --estimate 1h -- sh -c 'until [ -e on ]; do sleep 0.05; done'
first=$job
soon "one runs" state "$first" RUNNING
submit --gpus 0 -c 1 --estimate 1m -- true
run stint eta "$job"
want 0 "and another waits"
waiter=$job
submit --gpus 0 -c 1 --estimate 1m --begin now+48h -- true
late=$job
submit --gpus 0 -c 1 --estimate 1m -- true
order=$(stint eta | sed -n 's/^ *\([0-9][0-9]*\) .*/\1/p' | head -n 4 | xargs)
is "those that run come first, then by their starts" [ "$order" = "$first $waiter $job $late" ]
run stint eta --json
out '"futures_wanted": *200' "how many futures there should be is told"
stint cancel --quiet "$late" "$job" >/dev/null
run stint eta
is "those that have ended are not in it" sh -c '! grep -Eq "^ +($1|$2) " stdout' sh "$late" "$job"
job=$waiter
touch on
soon "until it has run" state "$job" COMPLETED
soon "what came replaces the broken file" kept
daemon_gone
run stint replay "$STINT_STATE"
want 0 "the record replays: forecasts decide nothing"

# ---- on workloads
small=synth:jobs=200,load=1,durations=exponential,seed=1
run stint forecast $small --cluster 1x8:v100 --policy easy --error 0.7 --asks 20 --futures 10 --quiet
want 0 "a backtest"
out '^ +jobs +in p10-p90 +before +after +came +interval +error p50 +plain$' "has a table"
out '^start +[0-9]+ +[0-9.]+ % ' "of starts"
out '^end +[0-9]+ +[0-9.]+ % ' "and ends"
cp stdout before
run stint forecast $small --cluster 1x8:v100 --policy easy --error 0.7 --asks 20 --futures 10 --quiet
sed 's/CPU for.*//' before >a
sed 's/CPU for.*//' stdout >b
is "the same twice" cmp -s a b
run stint forecast $small --cluster 1x8:v100 --policy easy --asks 5 --futures 5 --held-back 1 --raw --quiet --json
is "as JSON, raw, of all jobs" valid_json stdout backtest/1
run stint forecast synth:jobs=20,load=0.01,seed=1 --cluster 8x8:v100 --asks 5 --futures 5 --quiet
out '^start +nobody had to wait' "nobody waits in an empty cluster"
fails 2 'one policy' "two policies are too many" stint forecast $small --cluster 1x8:v100 --policy fifo,easy
fails 2 'asks' "no asks are too few" stint forecast $small --cluster 1x8:v100 --asks 0
fails 2 'held-back' "a part is no more than all" stint forecast $small --cluster 1x8:v100 --held-back 1.5
fails 2 '.' "a workload is needed" stint forecast
fails 3 'nowhere' "one that is there" stint forecast nowhere.csv --cluster 1x8:v100

finish
