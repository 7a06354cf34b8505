#!/bin/bash
# CPUs and memory of the machine under the policy synergy: who gains by more has it while it is there, gives it back
# when another comes, and is restarted for neither.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"
# shellcheck source=tests/cli/lib/gpus
. "$here/lib/gpus"
cat >gpus <<'END'
driver|550.54.15
gpu|GPU-aa|NVIDIA A100-SXM4-80GB|85899345920|0:1:0
gpu|GPU-bb|NVIDIA A100-SXM4-80GB|85899345920|0:2:0
END

run stint sim synth:jobs=60,models=1,arrivals=static,gpus=pow2 --cluster "$here/../../examples/servers.yaml" \
	--host-profiles "$here/../../examples/hosts.csv" --policy synergy:allocate=fair --quiet --json
out '"best_share": 0\.' "simulated: the same part for all is not the best for all"

begin() {
	daemon_begin --slots 0 "$@"
}

has_cpus() { # JOB NUMBER
	[ "$(stint show "$1" --json | sed -n 's/^ *"held_cpus": \([0-9.]*\).*/\1/p')" = "$2" ]
}

begin --policy synergy
all=$(stint nodes --json | sed -n 's/^ *"cpus": \([0-9]*\).*/\1/p' | head -n 1)
half=$(awk -v n="$all" 'BEGIN { printf "%.15g", n / 2 }')
if [ -z "$all" ]; then
	echo "not ok - nodes --json tells the CPUs of the machine"
	exit 1
fi
# Twice as fast with all CPUs of the machine as with half of them.
printf 'model,cpus,speed\nm,%s,1\nm,%s,2\n' "$half" "$all" >hosts.csv
kill "$daemon" && wait "$daemon" 2>/dev/null

run stint daemon --no-http --host-profiles nosuch.csv
want 3 "a daemon whose profiles are not there does not start"
err 'nosuch.csv' "and says so"

is "a daemon with profiles of hosts starts" begin --policy synergy:round_s=1 --host-profiles hosts.csv

submit --gpus 1 --model m -- sh -c 'echo "has $STINT_CPUS"; while [ ! -e end.a ]; do sleep 0.1; done; cat "$STINT_GRANT"'
a=$job
soon "a job alone has all CPUs, which is best for it" has_cpus "$a" "$all"
soon "and was told so" said "$a" "has $all"
run stint show "$a"
out "^host +$all CPUs?" "show says what it has of the host"
run stint explain "$a"
out "$all CPU" "so does explain"

submit --gpus 1 --model m -- sh -c 'echo "has $STINT_CPUS"; while [ ! -e end.b ]; do sleep 0.1; done'
b=$job
soon "when another comes it has its part" has_cpus "$a" "$half"
soon "and so has the other" has_cpus "$b" "$half"
run stint history "$a"
out "given other CPUs and memory" "its history says so"

# Where the daemon may bound groups.
bound() { # JOB: CPU time in 100 ms, microseconds
	grep -o '/sys/fs/cgroup[^ ]*' "$STINT_STATE/jobs/$1/1/begun" | while read -r dir; do
		cut -d ' ' -f 1 "$dir/cpu.max" "$dir/cpu.cfs_quota_us" 2>/dev/null
	done | tail -n 1
}
if [ -n "$(bound "$a")" ]; then
	is_bound() { [ "$(bound "$a")" = "$(awk -v n="$half" 'BEGIN { printf "%d", n * 100000 }')" ]; }
	soon "its group is bound by that" is_bound
else
	echo "skip - no group that bounds CPUs may be made here: limits are not seen"
fi

kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
is "after a crash the daemon goes on, with the profiles of before" begin
soon "with what jobs have" has_cpus "$a" "$half"
touch end.b
soon "when the other has ended it has all again" has_cpus "$a" "$all"
touch end.a
soon "and its file says so" said "$a" "\"cpus\":$all"
soon "it ended well" state "$a" COMPLETED
is "it was never restarted" [ ! -e "$STINT_STATE/jobs/$a/2" ]

finish
