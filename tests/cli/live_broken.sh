#!/bin/bash
# A machine with a broken GPU is the same machine after a restart: the daemon starts, cells hold, what is broken is
# down until it is back, replaced or forgotten.
# shellcheck disable=SC2016,SC2317
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

end() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
}

again() { # WHAT FLAG...
	local what=$1
	shift
	end
	is "$what" begin "$@"
}

device() { # UUID INDEX STATE
	stint nodes | grep -Eq " $2 +v100[^ ]* +.* $3 .*$1\$"
}

runs() { # JOB
	stint show "$1" | grep -q '^state *RUNNING'
}

cat >whole <<'END_GPUS'
driver|550.54.15
gpu|GPU-aa|Tesla V100-SXM2-32GB|34359738368|0:1:0
gpu|GPU-bb|Tesla V100-SXM2-32GB|34359738368|0:2:0
gpu|GPU-cc|Tesla V100-SXM2-32GB|34359738368|0:3:0
gpu|GPU-dd|Tesla V100-SXM2-32GB|34359738368|0:4:0
near|GPU-aa|GPU-bb|20
near|GPU-aa|GPU-cc|50
near|GPU-aa|GPU-dd|50
near|GPU-bb|GPU-cc|50
near|GPU-bb|GPU-dd|50
near|GPU-cc|GPU-dd|20
link|GPU-aa|GPU-bb|2
link|GPU-cc|GPU-dd|2
END_GPUS
cp whole gpus
cat >tenants.yaml <<'END_TENANTS'
tenants:
  - name: vision
    cells: [{cell: pair}]
  - {name: students}
END_TENANTS

is "a daemon with cells of linked pairs" begin --policy fifo --placer hived --tenants "$PWD/tenants.yaml"
stint nodes --topology --json >links.before

# ---- one is lost, and the daemon starts again
sed -i 's/^gpu.GPU-bb.*/&|lost/' gpus
again "with one GPU lost a daemon starts" --tenants "$PWD/tenants.yaml"
is "the lost one is down" device GPU-bb 1 down
is "the others have their numbers" device GPU-dd 3 free
run stint nodes
out 'down +not there since this daemon started +GPU-bb' "nodes says since when"
is "and the log what to do" grep -q 'warning: device 1 (GPU-bb) is gone since the last daemon: .*stint nodes forget :1' daemon.log
stint nodes --topology --json >links.after
is "links are as before" cmp links.before links.after
submit --tenant vision --gpus 2 -- sh -c 'echo "on $STINT_DEVICES"; sleep 1000'
pair=$job
soon "the tenant gets its pair" runs "$pair"
soon "which is the sound one" said "$pair" 'on GPU-cc,GPU-dd'

# ---- the same while something runs
again "again, while a job runs on the pair"
is "it goes on" runs "$pair"
is "what is lost is still down" device GPU-bb 1 down
is "what is busy is the pair" device GPU-cc 2 busy
stint nodes --topology --json >links.after
is "with its links" cmp links.before links.after
run stint cancel "$pair"

# ---- back
cp whole gpus
soon "it comes back" device GPU-bb 1 free
again "a daemon with all of them"
is "has them as at first" device GPU-bb 1 free

# ---- off the bus altogether, and the driver with it
grep -v GPU-bb whole >gpus
again "a daemon without one that is not even counted"
is "has it as down" device GPU-bb 1 down
is "and others under their numbers" device GPU-cc 2 free
printf 'fail|nvmlInit_v2|9\n' >gpus
again "a daemon without the driver"
is "has all of them down" device GPU-aa 0 down
is "each of them" device GPU-dd 3 down
run stint run --quiet --gpus 0 -- echo slots are there
out '^slots are there$' "and slots as before"
cp whole gpus
soon "with the driver all are back" device GPU-aa 0 free
is "without a restart" device GPU-bb 1 free

# ---- another one in its place
sed 's/GPU-bb/GPU-ee/' whole >gpus
again "a daemon with another GPU in the place of one"
is "knows that one" device GPU-ee 1 free
is "and the other no longer" bash -c "! '$STINT' nodes | grep -q GPU-bb"
cp whole gpus
again "and the first one again"
is "is there again" device GPU-bb 1 free

# ---- forgotten
run stint nodes forget :1
want 3 "one that is there cannot be forgotten"
err 'there is no device 1 that is down' "which is told"
grep -v GPU-bb whole >gpus
again "a daemon without one of them"
run stint nodes forget :1
want 4 "nor can one without which promises could not be kept"
err 'without it the next daemon could not start: placer hived: .*there is no cell "pair"' "which are told"
run stint policy set --placer first-fit
want 0 "without these"
is "the log says that they are not kept" grep -q 'warning: cells of tenants are not kept by placer first-fit' daemon.log
run stint nodes forget :1
want 0 "it can be forgotten"
out '^1 device of .* forgotten from the next start of the daemon on: 1$' "and the answer says when"
is "it is down until then" device GPU-bb 1 down
again "the next daemon"
is "does not know it" bash -c "! '$STINT' nodes | grep -q GPU-bb"
is "and has the others" device GPU-cc 1 free
end
run timeout 300 "$STINT" daemon --no-http --no-cgroups --slots 2 --placer hived
want 1 "what it never had cannot be promised"
err 'tenants of the record: placer hived: .*there is no cell "pair"; there are device, node' "which is told"
is "a daemon without that starts" begin

# ---- another machine
cat >gpus <<'END_GPUS'
driver|550.54.15
gpu|GPU-xx|NVIDIA A100-SXM4-80GB|85899345920|0:1:0
END_GPUS
again "a daemon with other GPUs"
run stint nodes
is "knows these alone" [ "$(grep -c GPU- stdout)" = 1 ]

# ---- instances
shows() { # UUID STATE
	stint nodes | grep -Eq " $2 .*$1\$"
}
cat >>gpus <<'END_GPUS'
gpu|GPU-mm|NVIDIA A100-SXM4-40GB|42949672960|0:2:0
mig|MIG-1|NVIDIA A100-SXM4-40GB MIG 3g.20gb|20937965568
mig|MIG-2|NVIDIA A100-SXM4-40GB MIG 3g.20gb|20937965568
END_GPUS
again "a daemon with one that is split"
is "has its instances" shows MIG-2 free
sed -i 's/^gpu.GPU-mm.*/&|lost/' gpus
again "a daemon that lost it"
is "has its instances down" shows MIG-1 down
is "both" shows MIG-2 down
sed -i 's/|lost//; s/MIG-1|/MIG-3|/' gpus
again "a daemon with another instance of it"
is "has that" shows MIG-3 free
is "the other one" shows MIG-2 free
is "and not the one that was given up" bash -c "! '$STINT' nodes | grep -q MIG-1"
run stint db check
want 0 "the record is sound"
end
run stint replay "$STINT_STATE"
want 0 "and replays"
daemon=

finish
