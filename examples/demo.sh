#!/bin/bash
# What `make run` shows: the daemon on this machine with no configuration, a few
# real jobs of two tenants, and the queue while they run.  On a terminal the
# daemon stays until Ctrl-C; elsewhere it ends with the demo.
#
# STINT names the program (build/stint), DEMO_STATE where it keeps its state
# (build/demo, made anew each time).
set -euo pipefail
# In a process group of its own, so that Ctrl-C ends the demo and not make; not where another has the terminal.
if [ -t 0 ] && [ -z "${DEMO_GROUP-}" ]; then
	read -r stat </proc/$$/stat
	read -r _ _ group _ _ foreground _ <<<"${stat##*) }"
	if [ "$group" = "$foreground" ]; then
		DEMO_GROUP=1 bash -mc '"$0"; exit $?' "$0"
		exit
	fi
fi
cd "$(dirname "$0")/.."
STINT=$(realpath "${STINT:-build/stint}")
state=$(realpath -m "${DEMO_STATE:-build/demo}")
shown=${STINT#"$PWD"/}
# A socket's path must be short: the state directory may be deep.
run=$(mktemp -d "${TMPDIR:-/tmp}/stint-demo.XXXXXX")
export STINT_STATE=$state STINT_SOCKET=$run/socket
unset XDG_RUNTIME_DIR

say() { printf '\n%s\n' "$*"; }

# Jobs outlive the daemon by design; those of the demo should not outlive the demo.
finish() {
	local code=$?
	trap '' INT TERM EXIT
	if [ -n "${daemon-}" ] && kill -0 "$daemon" 2>/dev/null; then
		say "Ending the demo: its jobs are cancelled and the daemon stops."
		"$STINT" cancel --all --quiet >/dev/null 2>&1 || true
		for _ in $(seq 40); do
			[ -n "$("$STINT" queue --quiet 2>/dev/null)" ] || break
			sleep 0.5
		done
		kill "$daemon" 2>/dev/null || true
		wait "$daemon" 2>/dev/null || true
	fi
	rm -rf "$run"
	[ "$code" != 0 ] || say "Done.  Next: README.md, and \`$shown help\`."
	exit "$code"
}
trap finish EXIT
trap 'exit 0' INT TERM

rm -rf "$state"
mkdir -p "$(dirname "$state")"
say "1. The daemon.  No configuration: GPUs if there are any, else CPU slots."
# In a process group of its own, so that Ctrl-C reaches this script first.
set -m
"$STINT" daemon --policy fair-share:preempt=1,elastic=1,patience_s=3 --slots 2 --quiet &
daemon=$!
set +m
for _ in $(seq 100); do
	[ -S "$STINT_SOCKET" ] && "$STINT" nodes >/dev/null 2>&1 && break
	kill -0 "$daemon" 2>/dev/null || { echo "the daemon did not start" >&2; exit 1; }
	sleep 0.1
done
"$STINT" nodes

say "2. Jobs: two tenants, real processes.  train.py saves checkpoints and can be stopped and go on."
train() { "$STINT" submit --tenant "$1" --name "$2" --model spirals --grace 10 -- \
	python3 "$PWD/examples/live/train.py" --steps "$3" --step-s 0.02 --checkpoint "$run/$2.ckpt"; }
train vision resnet-a 400
train vision resnet-b 400
train vision resnet-c 250
sleep 1
train speech whisper 200
"$STINT" submit --tenant speech --name report --dependency afterok:4 -- \
	sh -c 'echo "whisper is trained; this ran after it"'

say "3. The queue.  When speech has waited long enough, fair sharing stops a job of vision, which saves and goes on later."
for _ in $(seq 60); do
	printf '\n%s\n' "$(date +%H:%M:%S)"
	"$STINT" queue
	[ "$("$STINT" queue --json | tr ',' '\n' | grep -c '"state":')" -gt 0 ] || break
	sleep 2
done

say "4. What became of it."
"$STINT" queue --all
"$STINT" show 2 | sed -n '/^ATTEMPT/,$p'
"$STINT" logs 5
"$STINT" report --since 10m
say "5. The record, run again through the same core: the same decisions."
"$STINT" replay "$state"

cat <<END

Now your own:
  export STINT_STATE=$state STINT_SOCKET=$STINT_SOCKET
  $shown submit --gpus 1 --time 2h -- python3 train.py
  $shown run --gpus 1 -- python3 -c 'print("hello from a job")'
  $shown queue | show 7 | explain 7 | logs -f 7 | cancel 7 | nodes | top | help
  $shown open      # the page: prints an address for your browser
Without these variables \`$shown daemon\` keeps its state in ~/.local/state/stint.
Policies side by side on a trace: make compare
END

if [ -t 0 ] && [ -t 1 ]; then
	say "The daemon runs on.  Ctrl-C ends it."
	wait "$daemon" || true
fi
