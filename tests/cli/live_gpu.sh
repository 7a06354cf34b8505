#!/bin/bash
# GPUs as the daemon finds, hands out, shares and loses them, with a stand-in for
# NVIDIA's library that tells of whatever is in a file.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2059,SC2094
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"
# shellcheck source=tests/cli/lib/gpus
. "$here/lib/gpus"

begin() {
	daemon_begin --no-cgroups --slots 2 "$@"
}

device() { # UUID STATE JOBS: a line of nodes says so
	stint nodes | grep -Eq " $2 +${3:+$3 +}$1\$"
}

shows() { # JOB REGEX
	stint show "$1" --json | grep -Eq -- "$2"
}

cat >gpus <<'END'
driver|550.54.15
gpu|GPU-aa|NVIDIA A100-SXM4-80GB|85899345920|0:1:0
gpu|GPU-bb|NVIDIA A100-SXM4-80GB|85899345920|0:2:0
gpu|GPU-cc|Tesla V100-SXM2-32GB|34359738368|0:3:0
END
is "a daemon finds GPUs" begin

# ---- types and numbers
run stint nodes
out 'NVML 550.54.15' "nodes says which driver"
is "has every GPU" [ "$(grep -c GPU- stdout)" = 3 ]
is "and slots beside them" [ "$(grep -c cpu- stdout)" = 2 ]
out '2 +v100-32g +32 GiB +free +GPU-cc' "with number, type and memory"
words='echo "$STINT_TYPE [$CUDA_VISIBLE_DEVICES] $CUDA_DEVICE_ORDER $STINT_DEVICES"'
run stint run --quiet --type v100-32g -- sh -c "$words"
out '^v100-32g \[2\] PCI_BUS_ID GPU-cc$' "a job of a type gets one of these"
run stint run --quiet --type v100 -- sh -c "$words"
out '^v100-32g \[2\]' "a family is enough"
run stint run --quiet --type a100,v100 --gpus 2 -- sh -c "$words"
out '^a100-80g \[0,1\] PCI_BUS_ID GPU-aa,GPU-bb$' "a job gets devices of one type"
run stint run --quiet --gpus 0 -- sh -c "$words"
out '^cpu \[\]' "a job without GPUs sees none"
fails 5 'can never give more than 2' "three of one type are never" stint submit --gpus 3 -- true
fails 5 'can never run' "an unknown type is refused" stint submit --type h100 -- true
fails 5 'can never run' "so is more memory than any device has" stint submit --gpu-mem 100G -- true
submit --gpus 2 -- sh -c 'sleep 1000'
both=$job
soon "two devices are busy" device GPU-bb busy "$both"
submit --type a100 -- true
soon "a third job for them waits" shows "$job" '"state": "PENDING"'
run stint run --quiet -- sh -c "$words"
out '^v100-32g \[2\]' "who takes any type goes elsewhere"
run stint cancel "$both"
run stint wait "$job"
want 0 "when they are free it runs"

# ---- shares
hold='sleep 1000'
submit --type v100 --share 0.5 --gpu-mem 20G -- sh -c "echo \$STINT_SHARE \$CUDA_VISIBLE_DEVICES; $hold"
one=$job
soon "a job on half of a device" shows "$one" '"state": "RUNNING"'
submit --type v100 --share 0.4 --gpu-mem 20G -- sh -c "$hold"
heavy=$job
submit --type v100 --share 0.4 --gpu-mem 10G -- sh -c "$hold"
light=$job
submit --type v100 --share 0.2 --gpu-mem 1G -- sh -c "$hold"
crowd=$job
submit --type v100 -- sh -c "$hold"
whole=$job
soon "shares with another" shows "$light" '"state": "RUNNING"'
soon "both are on it" device GPU-cc busy "$one,$light"
run stint logs "$one"
out '^0.5 2$' "it knows its share and device"
for job in $heavy $crowd $whole; do
	is "job $job does not fit beside them" shows "$job" '"state": "PENDING"'
done
run stint cancel "$light"
soon "who leaves makes room for whose memory fits" shows "$crowd" '"state": "RUNNING"'
is "but not for who needs too much of it" shows "$heavy" '"state": "PENDING"'
run stint cancel --all
soon "all of them leave" bash -c "! \"$STINT\" queue --json | grep -q '\"id\"'"

# ---- a GPU that is lost, and found again
submit --gpus 2 --grace 5s -- sh -c 'echo x >>runs; sleep 1000'
both=$job
submit --gpus 1 --type a100 --no-requeue -- sh -c 'sleep 1000'
strict=$job
soon "a job runs on two" test -s runs
sed -i 's/^gpu.GPU-bb.*/&|lost/' gpus
soon "one of them is lost" device GPU-bb down
soon "the job waits again" shows "$both" '"state": "PENDING"'
run stint show "$both"
out 'only 1 is' "and says for what"
soon "one that needs less runs on what is left" shows "$strict" '"state": "RUNNING"'
run stint run --quiet --type v100 -- sh -c "$words"
out '\[GPU-cc\]' "where numbers would mislead, devices have their long names"
run stint cancel "$strict"
sed -i 's/|lost//' gpus
soon "it is found again" device GPU-bb '(free|busy)' '([0-9]+)?'
soon "and the job runs on both" bash -c '[ "$(wc -l <runs)" = 2 ]'
run stint show "$both" --json
out '"attempt": 2' "in its second attempt"
submit --gpus 1 --type v100 --no-requeue -- sh -c 'sleep 1000'
soon "a job that must not run again runs" shows "$job" '"state": "RUNNING"'
sed -i 's/^gpu.GPU-cc.*/&|lost/' gpus
run stint wait "$job" --timeout 300s
out 'NODE_FAIL' "when its device is lost it ends"
sed -i 's/|lost//' gpus
run stint cancel --all
soon "all of them leave" bash -c "! \"$STINT\" queue --json | grep -q '\"id\"'"

# ---- other GPUs at the next start: some of them split
kill "$daemon"
wait "$daemon"
run stint replay "$STINT_STATE"
want 0 "all of this replays"
cat >gpus <<'END'
driver|550.54.15
gpu|GPU-aa|NVIDIA A100-SXM4-40GB|42949672960|0:1:0
mig|MIG-1|NVIDIA A100-SXM4-40GB MIG 3g.20gb|20937965568
mig|MIG-2|NVIDIA A100-SXM4-40GB MIG 1g.5gb|5100273664
mig|MIG-3|NVIDIA A100-SXM4-40GB MIG 1g.5gb|5100273664
gpu|GPU-bb|NVIDIA A100-SXM4-80GB|85899345920|0:2:0
END
is "a daemon finds other GPUs after a restart" begin
run stint nodes
out 'a100-40g.3g.20gb .*MIG-1' "instances are devices"
is "and what is split is none" [ "$(grep -c GPU-aa stdout)" = 0 ]
run stint run --quiet --type a100-40g.1g.5gb --gpus 2 -- sh -c "$words"
out '^a100-40g.1g.5gb \[MIG-2,MIG-3\]' "instances have their long names"
run stint run --quiet --type a100-80g -- sh -c "$words"
out '^a100-80g \[GPU-bb\]' "so have others beside them"
run stint db check
want 0 "the record is sound"
is "the log has no errors" [ "$(grep -c ' error: ' daemon.log)" = 0 ]

finish
