#!/bin/bash
# Cells in a real daemon: tenants get theirs, loans give way, and explain says why somebody waits.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

runs() { # JOB
	stint show "$1" | grep -q '^state *RUNNING'
}

waits() { # JOB
	stint show "$1" | grep -q '^state *PENDING'
}

cat >tenants.yaml <<'END'
tenants:
  - name: vision
    cells: [{cell: device, count: 2}]
  - name: speech
    cells: [{cell: device, count: 2}]
  - {name: students}
END
sed 's/count: 2/count: 9/' tenants.yaml >greedy.yaml
run stint daemon --state greedy --slots 4 --no-cgroups --no-http --placer hived --tenants greedy.yaml
want 4 "a daemon does not start with promises that it cannot keep"
err 'vision \(9 device\) needs 9 device of cpu, there are 4' "and says which"

is "a daemon answers" daemon_start --slots 4 --no-cgroups --policy fifo:misfit=skip --placer hived --tenants "$PWD/tenants.yaml"
run stint cells check tenants.yaml
want 0 "without --cluster the daemon's is meant"
out '^cpu +device +1 +4 +4 +0$' "with its four slots"
err '^no --cluster: the daemon.s cluster on .+ is meant, 4 devices$' "and that is said"
run stint cells check greedy.yaml
want 4 "promises that it could not keep are refused"
run stint cells check greedy.yaml --cluster 3x9
want 0 "another cluster can be named"
is "nothing is said then" [ ! -s stderr ]

slots='until [ -e never ]; do sleep 0.05; done'

submit --gpus 0 -c 2 --tenant students --name guest -- sh -c "$slots"
soon "a tenant without cells has devices on loan" runs 1
submit --gpus 0 -c 2 --tenant vision --name mine -- sh -c "$slots"
soon "a tenant has its cells" runs 2
is "and the guest goes on" runs 1
submit --gpus 0 -c 1 --tenant vision --name more -- sh -c "$slots"
run stint explain 3
want 0 "one that waits for its tenant's cells is explained"
out 'cells' "by its tenant's cells"
submit --gpus 0 -c 2 --tenant speech --name claim -- sh -c "$slots"
soon "whoever claims what is lent gets it" runs 4
soon "and the guest waits" waits 1
run stint explain 1
want 0 "which is explained, too"
run stint cancel 2
soon "its tenant's cells are free: the next of it runs" runs 3

finish
