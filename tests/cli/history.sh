#!/bin/bash
# What happened to jobs, as the record tells it, through a real daemon.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

is_in() { # STATE JOB
	stint show "$2" | grep -q "^state *$1"
}

is "a daemon answers" daemon_start --slots 2 --no-cgroups --policy priority:preempt=1
submit --gpus 0 -c 2 --name low -- sh -c 'trap "exit 85" TERM; until [ -e go ]; do sleep 0.05; done'
soon "the first runs" is_in RUNNING 1
submit --gpus 0 -c 1 --priority 5 --name high -- sh -c 'until [ -e go ]; do sleep 0.05; done'
soon "the second has taken its place" is_in RUNNING 2
run stint history 1
out '^why it waited$' "why it waits is kept as long as it lives"
out ' (outranked|busy) +(job 2 ranks|it needs 2)' "in the words of the policy"
run stint hold 1 --reason "for the night"
run stint policy set fifo
run stint update 1 --priority 3
run stint release 1
touch go
soon "the second ends" is_in COMPLETED 2
soon "so does the first" is_in COMPLETED 1

run stint history 1
want 0 "there is a history"
out '^[0-9-]+ [0-9:]+ +submit .*user ' "of who submitted it"
out ' start +1 +policy +given devices: 2 cpu +priority:.*preempt=1' "who started it, by which rule"
out ' preempt +1 +policy +asked to stop, others run instead +priority:' "who preempted it"
out ' hold .*uid [0-9]+ +held: for the night' "who held it, and why they said"
out ' rules .*decided by fifo' "of rules that changed meanwhile"
out ' update ' "of changes"
out ' start +2 +policy +given devices: 2 cpu +fifo' "who started it again, by the new rule"
out ' exit +2 +machine +its command ended, exit code 0' "how its command ended"
out ' end .*ended: COMPLETED' "and what came of it"
run stint history 1 --json
want 0 "it is JSON, too"
out '"schema": *"history/1"' "with its schema"
out '"inputs"' "and the inputs"
is "but nobody's command" [ "$(grep -c 'until' stdout)" = 0 ]
run stint history 77
want 3 "a job that is not there has none"
run stint history x
want 2 "what is no number is wrong"

finish
