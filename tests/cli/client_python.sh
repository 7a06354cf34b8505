#!/bin/bash
# clients/python/stint.py: with a daemon that is not one, and with a real one.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/cli/lib/check
. "$root/tests/cli/lib/check"
export PYTHONDONTWRITEBYTECODE=1

if ! command -v python3 >/dev/null; then
	echo "skip - the Python client: there is no python3"
	exit 0
fi
python3 "$root/tests/clients/python_test.py" || failures=$((failures + 1))

# ---- a real daemon
# shellcheck source=tests/clients/with_daemon
. "$root/tests/clients/with_daemon"
train=$root/examples/live/train.py
alone=$(env -u STINT python3 "$train" --steps 600 --step-s 0 --checkpoint alone | grep '^done after')
daemon_start --policy las:round_s=1
is "a daemon" [ $? = 0 ]

run stint run --quiet --gpus 1 -- python3 "$root/clients/python/stint.py" --selftest
want 0 "the self test in a job"
out '^ok - the daemon takes progress' "and the daemon takes what it says"

one=$(stint submit --parsable -- python3 "$train" --steps 600 --step-s 0.01 --save-every 50)
soon "a job trains" said "$one" '^step 50 '
run stint requeue "$one"
want 0 "it is put back into the queue"
soon "saves" said "$one" '^asked to stop: saved'
soon "goes on where it was" said "$one" '^attempt 2 goes on at step'
daemon_crash
is "the daemon dies and another takes over" daemon_start
run stint wait "$one"
want 0 "the job ends well"
is "with the same weights to the bit" [ "$(digest "$one")" = "$alone" ]
run stint show "$one" --json
is "and its last progress arrived" python3 - stdout <<'PY'
import json, sys
job = json.load(open(sys.argv[1]))
job = job.get("jobs", [job])[0]
assert job["progress"]["step"] == job["progress"]["total"] == 600, job["progress"]
assert [a["code"] for a in job["attempts"]] == [85, 0], job["attempts"]
PY

# Three jobs on two slots take turns.
turns=()
for _ in 1 2 3; do
	turns+=("$(stint submit --parsable -- python3 "$train" --steps 600 --step-s 0.005)")
done
run stint wait "${turns[@]}"
want 0 "jobs that are stopped for each other end well"
for job in "${turns[@]}"; do
	is "job $job has the same weights to the bit" [ "$(digest "$job")" = "$alone" ]
done
# shellcheck disable=SC2317 # called by is
any_stopped() {
	for job in "${turns[@]}"; do
		said "$job" '^asked to stop' && return
	done
	return 1
}
is "somebody was stopped" any_stopped

# ---- scripts
cat >script.sh <<'SCRIPT'
#!/bin/bash
trap 'asked=1' "$STINT_SIGNAL"
python3 "$@" &
child=$!
wait "$child"; code=$?
if [ "$asked" ]; then
	wait "$child"; code=$?
fi
echo "ended with $code"
exit "$code"
SCRIPT
two=$(stint submit --parsable script.sh "$train" --steps 600 --step-s 0.01 --save-every 50)
soon "a script trains" said "$two" '^step 50 '
run stint requeue "$two"
soon "what it started saves, and it passes the code on" said "$two" '^ended with 85'
run stint wait "$two"
want 0 "it ends well"
is "with the same weights to the bit" [ "$(digest "$two")" = "$alone" ]
cat >curl.sh <<'SCRIPT'
curl -sS --fail --unix-socket "$STINT_SOCKET" -H 'Content-Type: application/json' \
	-d '{"attempt":'"$STINT_ATTEMPT"',"step":100}' "http://localhost/v1/jobs/$STINT_JOB_ID/progress"
SCRIPT
if command -v curl >/dev/null; then
	run stint run --quiet -- sh curl.sh
	want 0 "curl reports"
else
	echo "skip - reports by curl: it is not installed"
fi

# ---- the examples
run stint submit --hold --chdir "$root" "$root/examples/live/job.yaml"
want 0 "the job file is one"
export TMPDIR=$work
run stint submit --wait --chdir "$root" "$root/examples/live/array.sh" --steps 50 --step-s 0
want 0 "the array of seeds runs"
is "each with its own checkpoint" [ "$(find . -maxdepth 1 -name 'stint-seed-*.ckpt' | wc -l)" = 4 ]
finish
