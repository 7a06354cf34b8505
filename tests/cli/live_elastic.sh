#!/bin/bash
# Real elastic jobs under the elastic policies: they grow, make room, and grow again, and one that does not
# get faster does not keep devices from one that does.
# shellcheck disable=SC2317 # functions are called by soon() and is()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
if ! command -v python3 >/dev/null; then
	echo "SKIP: no python3, which the jobs here are written in"
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
checkpoint.save(state, step=state["step"])
if run.stopped:
    stint.exit_for_requeue()
print("done after %d steps" % state["step"])
END

submit() { # FLAG... -- COMMAND...: the number in $job
	run stint submit --parsable "$@"
	job=$(cat stdout)
	[ "$code" = 0 ] || report 1 "submit $*"
}

train() { # NAME KIND CHANGE
	rm -f "$1.end" "$1.ckpt"
	submit --name "$1" --gpus 1 --min-gpus 1 --max-gpus 4 --grace 20s -- python3 train.py "$@"
}

size() { # JOB: devices it holds now, in words that test understands
	stint show "$1" --json | python3 -c 'import json, sys
print(len((json.load(sys.stdin)["job"].get("devices") or [])))'
}

has() { # JOB TEST N: such as -ge 3
	local n
	n=$(size "$1") && [ "$n" "$2" "$3" ]
}

# Both at once; then it stays so for a while.
ahead() { # GOOD BAD
	local good bad
	good=$(size "$1") bad=$(size "$2")
	[ "$bad" -ge 1 ] && [ "$good" -gt "$bad" ]
}

settled() { # GOOD BAD
	for _ in 1 2 3 4 5; do
		ahead "$@" || return 1
		sleep 0.5
	done
}

both() { # POLICY
	local a b
	run stint policy set "$1"
	want 0 "$1: decides from now on"
	train a good stay
	a=$job
	soon "$1: a job that is alone grows to all devices" has "$a" -eq 4
	train b bad restart
	b=$job
	soon "$1: it makes room when another comes" has "$b" -ge 1
	is "$1: both run then" has "$a" -lt 4
	soon "$1: the one that gets no faster has fewer in the end" settled "$a" "$b"
	run stint queue
	out "^ *$a .* a .*RUNNING" "$1: both are in the queue"
	touch b.end
	soon "$1: the other completes" state "$b" COMPLETED
	soon "$1: what it had is used again" has "$a" -eq 4
	run stint show "$a"
	out '^resizes|resized' "$1: its sizes are counted"
	touch a.end
	soon "$1: it completes, too" state "$a" COMPLETED
	for name in a b; do
		id=${!name}
		counted "$id"
		is "$1: every step of $name counts" [ "$said" = "$told" ]
	done
}

counted() { # JOB: what it printed and what it reported
	said=$(digest "$1" | tr -dc '0-9')
	told=$(stint show "$1" --json | python3 -c 'import json, sys
print(int(json.load(sys.stdin)["job"]["progress"]["step"]))')
}

is "a daemon answers" daemon_start --slots 4 --no-cgroups --policy sia:round_s=1
for policy in ${POLICIES:-sia:round_s=1 pollux:round_s=1 optimus:round_s=1 afs}; do
	both "$policy"
done
