#!/bin/bash
# Real elastic jobs under the elastic policies: they grow, make room, and grow again, and one that does not
# get faster does not keep devices from one that does.
# shellcheck disable=SC2317 # functions are called by soon() and is()
here=$(realpath "$(dirname "$0")") pids=
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
export PYTHONDONTWRITEBYTECODE=1
if ! command -v python3 >/dev/null; then
	echo "skip - elastic jobs: there is no python3, which they are written in"
	exit 0
fi
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"
cp "$here/../../clients/python/stint.py" .

# NAME good|bad restart|stay: steps take 0.4 s through its devices, or the longer the more there are.
# It goes on until NAME.end is there, and is restarted for another size or not.
cat >train.py <<'END'
import os
import sys
import time

import stint

name, kind, change = sys.argv[1:4]
checkpoint = stint.Checkpoint(name + ".ckpt")
state = checkpoint.load(default=None) or {"step": 0}
if change == "stay":
    stint.on_resize(lambda grant: None)
run = stint.steps(1000000, start=state["step"])
for step in run:
    n = stint.gpus() or 1
    time.sleep(0.4 / n if kind == "good" else 0.1 + 0.1 * (n - 1))
    run.metrics["batch"] = 64
    state["step"] = step + 1
    if os.path.exists(name + ".end"):
        break
stint.progress(state["step"], 1000000)
checkpoint.save(state, step=state["step"])
if run.stopped:
    stint.exit_for_requeue()
print("done after %d steps" % state["step"])
END

train() { # NAME KIND CHANGE
	rm -f "$1.end" "$1.ckpt"
	submit --name "$1" --gpus 1 --min-gpus 1 --max-gpus 4 --grace 60s -- python3 train.py "$@"
}

number() { # JOB MEMBER: 0 if it is not there
	stint show "$1" --json | sed -n "s/^ *\"$2\": \([0-9]*\).*/\1/p" | head -n 1 | grep . || echo 0
}

size() { # JOB: devices it has now
	number "$1" held_gpus
}

has() { # JOB TEST N: such as -ge 3
	local n
	n=$(size "$1") && test "$n" "$2" "$3"
}

# As it is for a while.
stays() { # COMMAND...
	for _ in 1 2 3 4 5; do
		"$@" || return 1
		sleep 0.4
	done
}

# The first job has more devices than the second, which has some.
ahead() { # JOB JOB
	local one two
	one=$(size "$1") two=$(size "$2")
	[ "$two" -ge 1 ] && [ "$one" -gt "$two" ]
}

attempts() { # JOB N: at least
	[ "$(number "$1" attempt)" -ge "$2" ]
}

all_steps() { # JOB: what it printed is what it reported
	[ "$(digest "$1" | tr -dc '0-9')" = "$(number "$1" step)" ]
}

# It was measured on one device and on more.
measured() { # JOB
	stint show "$1" | grep -Eq '^steps took .* s on 1 \(batch 64\), .* s on '
}

whole_story() {
	local a b c
	train b bad restart
	b=$job
	soon "a job that does not get faster is tried on more devices" attempts "$b" 2
	soon "and goes back to one" stays has "$b" -eq 1
	train a good stay
	a=$job
	soon "one that does gets more than it" stays ahead "$a" "$b"
	run stint queue
	out "^ *$a +a .*RUNNING" "both are in the queue"
	touch b.end
	soon "the first completes" state "$b" COMPLETED
	soon "the other grows to all devices" has "$a" -eq 4
	run stint show "$a"
	out '^devices +0-3' "which show tells"
	soon "and how fast it was on how many" measured "$a"
	run stint show "$a"
	out '^believed +[0-9.]+ steps a second on 1, [0-9.]+ on 2, [0-9.]+ on 4' "and what is believed of it"
	train c good stay
	c=$job
	soon "it makes room for one like it" has "$c" -ge 1
	soon "which means fewer for itself" has "$a" -lt 4
	touch c.end
	soon "that one completes" state "$c" COMPLETED
	soon "and it grows again" has "$a" -eq 4
	is "its changes of size are counted" [ "$(number "$a" resizes)" -ge 3 ]
	is "none was a restart" [ "$(number "$a" attempt)" = 1 ]
	touch a.end
	soon "it completes, too" state "$a" COMPLETED
	for one in $a $b $c; do
		is "every step of job $one counts" all_steps "$one"
	done
}

promises() {
	run stint policy set elasticflow:slot_s=1
	want 0 "elasticflow decides"
	submit --gpus 1 --max-gpus 4 --time 1m --deadline now+10h -- true
	soon "a deadline that can be kept is promised" state "$job" COMPLETED
	fails 4 'refused: its deadline is sooner than it can run even alone' "one that cannot be kept is refused with code 4" \
		stint submit --gpus 1 --min-gpus 1 --max-gpus 2 --estimate 10h --deadline now+1h -- true
	err 'from now could be' "which says what could be promised"
	fails 4 'all or none: of these 9 jobs the first 4 could be had' "an array is promised as a whole" \
		stint submit --array 0-8 --gpus 1 --estimate 50m --deadline now+1h -- true
	run stint submit --hold --gpus 4 --estimate 50m --deadline now+1h -- true
	err '^nothing is promised before it is released' "a held job is promised nothing"
	run stint cancel --all
	run stint queue --json
	is "nothing of it stays" [ "$(grep -c '"id"' stdout)" = 0 ]
	run stint report
	out '^deadlines met +1$' "the report counts deadlines that were met"
	out '^deadlines refused +10$' "and jobs that were refused"
}

record_is_sound() {
	run stint report
	out '^resizes +[1-9]' "the report counts changes of size"
	run stint db check
	want 0 "the record is sound"
	kill "$daemon"
	wait "$daemon"
	daemon=
	run stint replay "$STINT_STATE"
	want 0 "every decision comes again from the record"
}

if [ -n "$POLICY" ]; then
	is "a daemon answers" daemon_start --slots 4 --no-cgroups --policy "$POLICY"
	whole_story
	case $POLICY in afs*) promises ;; esac
	record_is_sound
	finish
fi

# Jobs sleep most of the time, so that all policies can be tried at once.  Sia would leave a new job waiting
# beside one that scales well (lambda), and Pollux counts 30 s for a restart, unless told otherwise.
policies="sia:round_s=1,lambda=2 pollux:round_s=1,restart_s=0 optimus:round_s=1 afs elasticflow:slot_s=1"
# Where tests are to take less, with sanitizers, two: the daemon does the same for all of them.
case ${TEST_SCALE:-1} in 0.*) policies="sia:round_s=1,lambda=2 afs" ;; esac
policies=${POLICIES:-$policies}
for policy in $policies; do
	POLICY=$policy "$here/live_elastic.sh" >"out.$policy" 2>&1 &
	pids="$pids $!"
done
for pid in $pids; do
	wait "$pid" || failures=$((failures + 1))
done
for policy in $policies; do
	sed "s/ok - /&${policy%%:*}: /" "out.$policy"
done
finish
