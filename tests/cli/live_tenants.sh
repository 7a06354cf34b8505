#!/bin/bash
# What stint quota says of a daemon's tenants: shares down the tree, cells and what is on loan, and what a policy
# keeps by itself; and how guests are seen.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

runs() { # JOB...
	for job; do
		stint show "$job" | grep -q '^state *RUNNING' || return 1
	done
}

clear_queue() {
	stint cancel --all --quiet
	soon "all of them leave" bash -c "! \"$STINT\" queue --json | grep -q '\"id\"'"
}

hold='sleep 1000'
is "a daemon answers" daemon_start --slots 8 --no-cgroups --policy antman:quota=2

# ---- tenants of which nobody said anything
submit --gpus 2 --tenant own -- sh -c "$hold"
submit --gpus 1 --tenant other --opportunistic -- sh -c "$hold"
soon "a job within the policy's quota and a guest" runs 1 2
run stint quota
out '^own .* 2 +0 +1 +0 ' "what is within the quota is not borrowed"
out '^other .* 1 +1 +1 +0 ' "what a guest has is"
clear_queue
run stint policy set fifo

# ---- shares
submit --gpus 1 --tenant own -- sh -c "$hold"
submit --gpus 1 --tenant other -- sh -c "$hold"
soon "two tenants run jobs" runs 3 4
run stint quota set x --parent own --weight 3
want 0 "another stands below the first"
run stint quota
want 0 "shares"
out '^other .* 50% +[0-9.-]+$' "of one at the top"
out '^own .* 50%, own 12\.5% +[0-9.-]+$' "its own jobs count with weight 1 among those below it"
out '^  x .* 37\.5% +[0-9.-]+$' "which have the rest"
err '^quotas are not kept: stint policy set --admit quota$' "quotas are not kept"
run stint quota --json
out '"own_share": 0.125' "also as JSON"
run stint quota set y --parent x
run stint quota
out '^  x .* 37\.5% +[0-9.-]+$' "without jobs of its own a parent's share is that of those below"
out '^    y .* 37\.5% +[0-9.-]+$' "which they have whole"
clear_queue

# ---- cells
cat >tenants.yaml <<'END_TENANTS'
tenants:
  - name: vision
    cells: [{cell: device, count: 2}, {cell: device, type: cpu}]
  - {name: students}
END_TENANTS
run stint quota load tenants.yaml
want 0 "tenants with cells"
run stint quota
err '^cells are not kept: stint policy set --placer hived$' "that nobody keeps"
run stint policy set --placer hived
want 0 "which hived does"
run stint quota
is "and then nothing is to be said" [ ! -s stderr ]
submit --gpus 0 -c 2 --tenant vision -- sh -c "$hold"
mine=$job
submit --gpus 0 -c 4 --tenant students -- sh -c "$hold"
guest=$job
submit --gpus 0 -c 1 --tenant vision --opportunistic -- sh -c "$hold"
loose=$job
soon "jobs within cells and on loan" runs "$mine" "$guest" "$loose"
run stint quota
out '^TENANT +WEIGHT +GUARANTEED +CELLS +BORROW' "cells are a column"
out '^vision +1 +0 +2 device, 1 device of cpu +all +all +3 +1 ' "what a tenant has within its cells is not borrowed"
out '^students +1 +0 +all +all +4 +4 ' "what others have is"
run stint quota --json
out '"cells": "2 device, 1 device of cpu"' "cells as JSON"

# ---- seen in show
run stint show "$mine"
out '^class +guaranteed$' "show says the class"
run stint show "$guest"
out '^class +guaranteed, on loan$' "and what is on loan"
run stint show "$loose"
out '^class +opportunistic, on loan$' "of either class"
run stint show "$loose" --json
out '"class": "opportunistic"' "as JSON"
out '"on_loan_gpus": 1' "with how many devices"
clear_queue

# ---- guests
run stint policy set antman:quota=2 --placer first-fit
want 0 "a policy with quotas of its own"
run stint quota
err '^policy antman:.*quota=2.* keeps quotas itself: ' "is said to keep them"
submit --gpus 8 --tenant students -- sh -c "$hold"
guest=$job
soon "one beyond its quota is a guest" runs "$guest"
submit --gpus 2 --tenant vision -- sh -c "$hold"
host=$job
submit --gpus 1 --tenant vision --opportunistic -- sh -c "$hold"
small=$job
soon "beside it runs one within" runs "$host"
soon "and another guest" runs "$small"
run stint quota
out '^students .* 8 +8 ' "what guests have is borrowed"
out '^vision .* 3 +1 ' "what others have is not"
run stint queue
out "^ *$guest .* 0-7 +guest beside $host,$small\$" "queue tells guests, and beside whom they are"
out "^ *$host .* [0-7],[0-7]\$" "others have devices of their own"
run stint show "$guest"
out "^class +guaranteed, guest beside $host,$small\$" "show says so, too"
run stint show "$guest" --json
out '"guest": true' "and as JSON"
run stint nodes
out "busy +$host guest $guest " "nodes tells guests"
out "busy +guest $guest " "also where they are alone"
run stint explain "$guest"
out 'guest' "explain says what it is"

finish
