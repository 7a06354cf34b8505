#!/bin/bash
# Real jobs through a real daemon, every verb as its users use it.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2059,SC2094
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

begin() { # FLAG...
	daemon_start --slots 6 --no-cgroups "$@"
}

# Until a file is there, which costs nobody anything.
until_file() { # FILE WHAT
	for _ in $(seq 2400); do
		[ -s "$1" ] && break
		sleep 0.05
	done
	last="waiting for $1"
	is "$2" test -s "$1"
}

is "a daemon answers" begin
slots='until [ -e never ]; do sleep 0.05; done'

# ---- run: as if it ran in the terminal
run stint run -- sh -c 'echo out; echo err >&2; read -r x || echo "no input"; exit 5'
want 5 "run returns the job's exit code"
out '^out$' "its output is standard output"
out '^no input$' "it has no input"
err '^err$' "its errors are standard error"
err '^stint run: job 1$' "and its number is told"
run stint run --quiet -- sh -c 'printf "a\000b\377\033[1m"'
want 0 "run of a job that prints bytes"
is "bytes come as they are" cmp -s stdout <(printf 'a\000b\377\033[1m')
is "--quiet says nothing else" empty stderr
run stint run --quiet -- sh -c 'kill -9 $$'
want 137 "a job killed by signal 9 is 137"
run stint run -- ./nothing-like-it
want 127 "a command that is not there is 127"
err 'nothing-like-it' "and is named"
"$STINT" run -- sh -c 'echo first; until [ -e go ]; do sleep 0.05; done; echo last' >streamed 2>/dev/null &
runner=$!
until_file streamed "output comes while the job runs"
is "and only that" [ "$(cat streamed)" = first ]
touch go
wait $runner
is "the rest comes, too" [ "$(cat streamed)" = "first
last" ]
interrupt "$work/interrupted" "$STINT" run --grace 5s -- sh -c 'echo x >interrupted; '"$slots"
want 130 "Ctrl-C cancels the job, and the code says so"
run stint queue --state cancelled --json
out '"state": "CANCELLED"' "it is cancelled"

# ---- submit: three forms
run stint submit -- sh -c 'echo "$@" >args; echo "$STINT_JOB_ID $CUDA_VISIBLE_DEVICES $STINT_GPUS $WORLD_SIZE"' x 'a b' '*' ''
want 0 "submit a command"
out '^Submitted job 7$' "its number is told"
cat >script.sh <<'END'
#!/bin/bash
#SBATCH --job-name=my-script
#SBATCH --time=5
#STINT --retries 2
echo "$BASH_VERSION" | cut -c1-1
echo "script $* $SLURM_JOB_ID"
pwd
END
run stint submit --parsable --comment 'a remark' script.sh one 'two three'
want 0 "submit a script"
is "--parsable is the number alone" [ "$(cat stdout)" = 8 ]
mkdir -p elsewhere
cat >job.yaml <<'END'
name: from-yaml
gpus: 2
chdir: elsewhere
env: {GREETING: hello}
command: [sh, -c, 'echo $GREETING $STINT_GPUS; basename $PWD']
END
run stint submit --json -J from-flag job.yaml
is "--json is the daemon's answer" valid_json stdout submitted/1
printf '%s\n' '{"command":["true"],"name":"b1"}' '{"command":["false"],"name":"b2"}' >batch.jsonl
run stint submit --batch batch.jsonl --parsable
is "a batch is several jobs" [ "$(xargs <stdout)" = "10 11" ]
run stint wait 7 8 9 10 11
want 1 "wait returns the code of the first that did not complete"
out '^job 7: COMPLETED' "and says how each went"
out '^job 11: FAILED' "the last one, too"
run stint logs 7
out '^7  1 1$' "a job knows its number, devices and ranks; a CPU slot is no CUDA device"
is "words are passed as they are" [ "$(cat args)" = "a b * " ]
run stint logs 8
out '^script one two three 8$' "a script has its arguments"
out '^[0-9]$' "and its interpreter"
out "^$work$" "and runs where it was submitted"
run stint show 8
out '^name +my-script' "its #SBATCH lines count"
out 'a remark' "remarks are kept"
run stint logs 9
out '^hello 2$' "a job file has variables and sizes"
out '^elsewhere$' "and a directory"
run stint show 9 --json
out '"name": "from-flag"' "flags win over it"

# ---- what is refused
fails 2 'unknown flag' "unknown flags are code 2" stint submit --frobnicate -- true
fails 3 'no file' "a script that is not there is code 3" stint submit nowhere.sh
fails 5 'can never run here: it needs 7 devices.* 6' "too many devices are code 5" stint submit --gpus 7 -- true
fails 5 'can never run here' "a type that is not here is code 5" stint submit --type h100 -- true
fails 3 'no job 999' "a job that is not there is code 3" stint show 999
fails 3 'no job 999' "also to cancel" stint cancel 999
fails 3 'no job 8_1' "and one of what is no array" stint show 8_1
fails 2 'x7' "a number must be one" stint show x7
word=$(head -c 100000 /dev/zero | tr '\0' x)
submit -- sh -c 'echo ${#1}' x "$word"
long=$job
arguments() { # N: so many of them
	printf '{"command":["true"'
	printf ",\"$word\"%.0s" $(seq "$1")
	printf ']}\n'
}
arguments 100 >long.jsonl
fails 2 'larger than 8388608 bytes' "ten million bytes of arguments are refused" stint submit --batch long.jsonl
arguments 70 >long.jsonl
fails 4 'arguments .* above what this system passes to a program' "more than the system takes is refused" \
	stint submit --batch long.jsonl
run stint wait "$long"
run stint logs "$long"
out '^100000$' "a hundred thousand are not"

# ---- names that are hard to print, and keys
submit -J "$(printf 'é "q" %%n $(x)')" --comment 'red, "line"' --key "a key" --hold -- true
odd=$job
run stint submit --parsable -J "$(printf 'é "q" %%n $(x)')" --comment 'red, "line"' --key "a key" --hold -- true
is "the same key is the same job" [ "$(cat stdout)" = "$odd" ]
run stint queue
out '"q" %n \$\(x\)' "an odd name is shown"
for sign in '\033[31m' '\n' '\302\233' '\342\200\256'; do
	fails 2 'control character' "a name with $sign is refused" stint submit -J "$(printf "a${sign}b")" -- true
done
run stint queue --json
is "the queue is JSON whatever the names" valid_json stdout jobs/1
out 'PENDING' "a held job waits"
run stint show "$odd"
out 'held' "and says why"
is "nothing in it speaks to the terminal" [ "$(grep -c $'\033' stdout)" = 0 ]
run stint release "$odd"
want 0 "release"
run stint wait "$odd"
want 0 "then it runs"

# ---- arrays
submit -J sweep --array 0-3,7%2 -o 'sweep-%A-%a.txt' -- sh -c 'echo "index $STINT_ARRAY_INDEX of $STINT_ARRAY_ID"; exit $((STINT_ARRAY_INDEX == 3))'
array=$job
run stint wait "${array}_3" "${array}_7"
want 1 "an element is named by array and index"
run stint wait "$array" $((array + 1)) $((array + 2)) $((array + 3)) $((array + 4))
want 1 "each is a job"
is "output files are named by %A and %a" grep -q "index 7 of $array" "sweep-$array-7.txt"
run stint logs "${array}_2"
out "^index 2 of $array$" "an element has its own output, also when it has ended"
run stint show "${array}_3"
out 'FAILED' "and its own end"
fails 3 "no job ${array}_5" "an index that it has not" stint show "${array}_5"
run stint queue --all --name sweep
is "the queue has them all" [ "$(grep -c FAILED stdout)" = 1 -a "$(grep -c COMPLETED stdout)" = 4 ]
submit --array 0-5%2 -J crowd -- sh -c "echo x >crowd.\$STINT_ARRAY_INDEX; $slots"
crowd=$job
crowd_has() { # STATE N
	[ "$(stint queue --state "$1" --name crowd --json | grep -c '"id"')" = "$2" ]
}
soon "two of them run" crowd_has running 2
is "and no more" crowd_has pending 4
run stint hold "$crowd"
want 0 "a hold of the array"
is "leaves those that run" crowd_has running 2
fails 4 "job ${crowd}_0 is running, and a hold stops no job" "one that runs is refused" stint hold "${crowd}_0"
err "stint hold --stop ${crowd}_0" "with what to do"
run stint hold --name crowd --state running
want 4 "so are all that a filter chooses"
err '2 jobs are skipped: job [0-9_]+, for one, is running' "in words"
is "which run on" crowd_has running 2
run stint hold --stop "$crowd"
want 0 "the first number is the whole array"
soon "all of them wait then" crowd_has pending 6
run stint cancel "$crowd"
want 0 "also to cancel"
soon "none is left" bash -c "! \"$STINT\" queue --json --name crowd | grep -q '\"id\"'"


# ---- the first element of an array has the number of the whole, and is called by its index
submit --array 0-2 -J three --hold -- true
three=$job
reason_of() { # ELEMENT: what it is said to wait for
	stint show "$1" | sed -n 's/^why *//p'
}
is "a hint names the element" [ "$(reason_of "${three}_0")" = "held; let it go with: stint release ${three}_0" ]
run stint explain "${three}_0"
out "^job ${three}_0, PENDING" "its explanation, too"
out "stint release ${three}_0$" "and what would start it"
run stint release "${three}_0"
out "^job ${three}_0 released$" "who releases it is answered about the element"
run stint wait "${three}_0"
want 0 "the element has run"
is "and the others are still held" [ "$(stint queue --name three --json | grep -c '"why": *"held"')" = 2 ]
stint cancel --name three --all --quiet

# ---- dependencies
submit -J good --hold -- true
good=$job
submit -J bad --hold -- false
bad=$job
submit -d "afterok:$good" -- sh -c 'echo x >afterok'
ok=$job
submit -d "afternotok:$bad" -- true
notok=$job
submit -d "afterany:$good:$bad" -- true
any=$job
submit -d "after:$good" -- true
started=$job
submit -d "afterok:$bad" -- true
never=$job
run stint queue --json
is "all of them wait" [ "$(grep -c '"state": "PENDING"' stdout)" = 7 ]
run stint show "$ok"
out "job $good" "and name what they wait for"
is "nothing has begun" [ ! -e afterok ]
run stint release "$good" "$bad"
want 0 "several are released at once"
run stint wait "$ok" "$notok" "$any" "$started"
want 0 "dependencies that are met"
run stint show "$never"
out "$bad" "one that can never be met waits and says so"
fails 5 "afterok:$bad can never be met" "and is refused where that is known" stint submit -d "afterok:$bad" -- true
fails 3 'no job 999' "a dependency must be there" stint submit -d afterok:999 -- true
run stint submit --parsable -d "afterok:$good" -- true
want 0 "one that is met already is none"
run stint cancel "$never"
want 0 "it can be cancelled"
run stint wait "$never"
is "and then it has not completed" [ "$code" != 0 ]
submit --array 0-2%1 -- sh -c 'echo $STINT_ARRAY_INDEX >>elements; exit $((STINT_ARRAY_INDEX == 2))'
submit -d "afterany:$job" -- sh -c 'wc -l <elements'
run stint wait "$job"
run stint logs "$job"
out '^ *3$' "an array is waited for as a whole"
fails 5 'can never be met' "and fails as one" stint submit -d "afterok:$((job - 3))" -- true

# ---- moments
submit --begin now+1h -- true
later=$job
run stint show "$later"
out 'PENDING' "a job waits for its begin"
run stint release "$later"
run stint show "$later"
out 'PENDING' "also if it is released"
run stint cancel "$later"
want 0 "and can be cancelled"
submit --begin now+1s --deadline now+6h -- true
run stint wait "$job" --timeout 300s
want 0 "a begin comes by itself"
run stint show "$job"
out 'deadline' "a deadline is shown"

# ---- time limits, grace, 85, retries, checkpoints
submit --time 1s -- sh -c 'sleep 1000'
timed=$job
submit --time 8s --grace 1s -- sh -c 'trap "" TERM; echo $$ >stubborn; while :; do sleep 0.1; done'
stubborn=$job
submit --retries 2 -- sh -c 'echo x >>tries; exit 3'
retried=$job
submit -- sh -c 'echo x >>saves; [ "$(wc -l <saves)" = 3 ] || exit 85'
saver=$job
submit --checkpoint 'echo "$STINT_PID" >checkpoint.pid' --grace 20s -- sh -c 'trap "cp checkpoint.pid seen; exit 85" TERM; [ -e seen ] && exit 0; echo $$ >checkpoint.own; while :; do sleep 0.05; done'
checked=$job
until_file checkpoint.own "a job runs"
run stint requeue "$checked"
want 0 "requeue of a job that runs"
run stint wait "$checked"
want 0 "it goes on"
is "the checkpoint command came before the signal, and knew the process" cmp -s checkpoint.own seen
run stint show "$checked" --json
out '"attempt": 2' "in a second attempt"
run stint wait "$timed"
is "a time limit ends a job" [ "$code" != 0 ]
out 'TIMEOUT' "with TIMEOUT"
run stint wait "$stubborn"
want 137 "also one that ignores TERM"
out 'TIMEOUT' "as TIMEOUT"
is "it is gone" [ ! -d "/proc/$(cat stubborn)" ]
run stint wait "$retried"
want 3 "retries are counted"
is "two more times" [ "$(wc -l <tries)" = 3 ]
run stint wait "$saver"
want 0 "exit 85 is no failure"
is "it goes on each time" [ "$(wc -l <saves)" = 3 ]
run stint requeue "$retried"
want 0 "requeue of a job that has ended"
run stint wait "$retried"
is "runs it again, with all its retries" [ "$(wc -l <tries)" = 6 ]

# ---- logs -f, signal, update, wait --timeout
submit -- sh -c 'trap "echo got USR1" USR1; trap "echo bye; exit 0" USR2; echo ready; while :; do sleep 0.05; done'
listener=$job
"$STINT" logs -f "$listener" >followed &
follower=$!
until_file followed "logs -f shows what is printed"
run stint signal USR1 "$listener"
want 0 "signal"
soon "reaches the job" grep -q 'got USR1' followed
run stint wait --timeout 1s "$listener"
want 7 "wait gives up with code 7"
fails 4 'hold it first' "a job that runs is not changed" stint update --priority 3 "$listener"
run stint top
want 0 "top, once"
out "$listener" "has the job"
run stint nodes
out "$listener" "so has nodes"
run stint nodes --json
is "nodes --json" valid_json stdout nodes/1
run stint signal USR2 "$listener"
wait $follower
is "logs -f ends with the job" [ "$(cat followed)" = "ready
got USR1
bye" ]
run stint logs --tail 1 "$listener"
is "--tail is the last lines" [ "$(cat stdout)" = bye ]
fails 4 'does not run' "a job that has ended gets no signal" stint signal USR1 "$listener"
submit --hold -- true
run stint update --priority 9 --weight 2 --time 2h "$job"
want 0 "update of a job that waits"
run stint show "$job" --json
out '"priority": 9' "shows"
out '"time_limit_s": 7200' "all of it"
run stint cancel "$job" --reason 'not needed'
want 0 "cancel of a job that waits"

# ---- quota, report, policy, events
run stint quota set team --weight 3
want 0 "quota set"
run stint quota --json
is "quota --json" valid_json stdout quota/1
out '"weight": 3' "has it"
run stint report
want 0 "report"
run stint report --json --since 1d
is "report --json" valid_json stdout report/1
run stint policy set srtf:misfit=block --placer consolidate
want 0 "policy set"
fails 3 "did you mean 'srtf'" "a slip is seen" stint policy set srft
run stint policy show
out 'srtf:misfit=block' "policy show"
out 'consolidate' "and the placer"
"$STINT" events --after 0 >events &
follower=$!
soon "events come from the beginning" grep -q "\"kind\":\"end\",\"job\":$listener" events
kill $follower
wait $follower 2>/dev/null

# ---- preemption: the one that runs saves itself and comes again
loop() { # NAME [FLAG...]: all slots, exit 85 when asked, until NAME.end is there
	local name=$1
	shift
	submit -J "$name" --gpus 6 "$@" -- sh -c 'trap "exit 85" TERM; echo $STINT_ATTEMPT >>'"$name"'.runs; until [ -e '"$name"'.end ]; do sleep 0.05; done'
}
duel() { # POLICY: the second stops the first, which goes on
	run stint policy set "$1"
	want 0 "policy $1"
	rm -f ./*.runs ./*.end
	loop long --estimate 10h
	first=$job
	until_file long.runs "a long job runs"
	loop short --estimate 10s
	until_file short.runs "a short one takes its place"
	touch long.end short.end
	run stint wait "$first" "$job"
	want 0 "both end well"
	run stint show "$first" --json
	out '"preemptions": [1-9]' "the long one was preempted"
	out '"attempt": [2-9]' "and came again"
}
duel srtf
duel las:round_s=1
duel tiresias:limit_s=1,queues=2

# ---- elastic
run stint policy set fair-share:preempt=1,elastic=1,patience_s=1
submit -J elastic -A one --gpus 1 --min-gpus 1 --max-gpus 6 -- sh -c 'trap "exit 85" TERM; echo $STINT_GPUS >>sizes; until [ -e elastic.end ]; do sleep 0.05; done'
elastic=$job
soon "an elastic job gets all there is" grep -q '^6$' sizes
submit -J other -A two --gpus 3 -- sh -c 'echo x >other; until [ -e other.end ]; do sleep 0.05; done'
until_file other "another tenant comes"
soon "it shrinks" grep -q '^[123]$' sizes
touch other.end
run stint wait "$job"
want 0 "the other one leaves"
soon "and it grows again" bash -c '[ "$(tail -n 1 sizes)" = 6 ]'
touch elastic.end
run stint wait "$elastic"
want 0 "it ends well"

# ---- the daemon dies and comes back
run stint policy set tiresias:limit_s=600
submit -- sh -c 'echo $$ >kept.pid; until [ -e kept.end ]; do sleep 0.05; done; exit 9'
kept=$job
submit -- sh -c 'echo $$ >gone.pid; until [ -e gone.end ]; do sleep 0.05; done; exit 8'
gone=$job
until_file kept.pid "a job runs"
until_file gone.pid "and another"
fails 4 'another daemon|lock' "a second daemon on the same state is refused" \
	"$STINT" daemon --slots 2 --no-gpus --no-http --socket "$work/second"
daemon_crash
fails 6 'no daemon' "without a daemon verbs are code 6" stint queue
is "the job runs on" [ -d "/proc/$(cat kept.pid)" ]
touch gone.end
soon "one ends meanwhile" bash -c "[ ! -d /proc/$(cat gone.pid) ]"
is "the daemon comes back" begin
run stint wait "$gone"
want 8 "what ended meanwhile kept its code"
soon "what ran runs" state "$kept" RUNNING
run stint policy show
out 'tiresias:limit_s=600' "the policy is kept"
touch kept.end
run stint wait "$kept"
want 9 "and its end is seen"
run stint show "$kept" --json
out '"attempt": 1,' "in its first attempt"
submit -- sh -c 'echo $$ >stopped.pid; until [ -e stopped.end ]; do sleep 0.05; done'
until_file stopped.pid "a job runs"
kill "$daemon"
code=0
wait "$daemon" || code=$?
want 0 "a daemon that is asked stops in order"
is "the job runs on" [ -d "/proc/$(cat stopped.pid)" ]
is "the next one takes over" begin
touch stopped.end
run stint wait "$job"
want 0 "and sees its end"

run stint queue --all --limit 3
is "--limit" [ "$(grep -c COMPLETED stdout)" -le 3 ]
err 'only the first 3 jobs are shown, and more have ended; --limit N' "says that it is cut"
run stint queue --all --limit 3 --json
out '"total_exact": false' "whose total is not that of all"
run stint queue --all --limit 100000 --json
out '"total_exact": true' "a list of all has all"
is "in its total" grep -q "\"total\": $(grep -c '^ *"id":' stdout)," stdout

# ---- the record
run stint cancel --all
soon "nothing is left" bash -c "! \"$STINT\" queue --json | grep -q '\"id\"'"
kill "$daemon"
wait "$daemon" 2>/dev/null
daemon=
run stint db check
want 0 "the record is sound"
run stint replay "$STINT_STATE"
want 0 "every decision comes out again"
run stint db export --format trace --out trace.csv
want 0 "export of a trace"
run stint sim trace.csv --cluster 1x6 --policy tiresias:limit_s=600
want 0 "which can be simulated"
is "the log has no errors" [ "$(grep -Ec ' (error|warning): ' daemon.log)" = 0 ]

finish
