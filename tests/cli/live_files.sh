#!/bin/bash
# Files of jobs, and launches that do not work: what is emptied, what is refused, what is cut, and what people see.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2329
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

same() { # FILE LINE...
	local file=$1
	shift
	[ "$(cat "$file")" = "$(printf '%s\n' "$@")" ]
}

health() {
	fetch /healthz
}

# ---- a guard that can be taken away
mkdir bin
cp "$STINT" "$(dirname "$STINT")/stint-guard" bin
STINT=$work/bin/stint
guard=$work/bin/stint-guard

is "a daemon" daemon_start --no-cgroups --output-cap 256K

# ---- what is emptied
echo old >own.txt
submit --output own.txt --checkpoint 'echo saved' -- sh -c 'echo begins; echo x >began; while :; do sleep 0.05; done 2>/dev/null'
soon "a job with a checkpoint command runs" test -s began
run stint cancel "$job"
run stint wait --timeout 300s "$job"
out 'CANCELLED' "it is cancelled"
is "its checkpoint command did not empty its output" same own.txt begins saved

run stint show "$job"
out "^stdout +$work/own.txt\$" "the job is shown with the file that it writes"
out "^stderr +$work/own.txt\$" "for both streams"

submit --array 1-3 --output all.txt -- sh -c 'echo element'
run stint wait --timeout 300s "$job"
soon "elements of an array append to one file" same all.txt element element element

# ---- what is refused
mkfifo pipe
submit --output pipe --retries 0 -- echo hello
run stint wait --timeout 300s "$job"
want 126 "a FIFO that no process reads fails the job"
run stint show "$job"
out 'pipe: it is a FIFO that no process reads' "and says why"

# ---- what is cut
submit -- sh -c 'seq -f "line %.0f" 200000; until [ "$(stat -c %s "$STINT_DIR/stdout")" -lt 262000 ]; do sleep 0.05; done; echo bye'
run stint wait --timeout 300s "$job"
want 0 "a job that prints more than is kept goes on"
run stint logs "$job"
out '\[stint: .* of output were cut here' "its log says that it was cut"
out '^line 1$' "and has the beginning"
out '^bye$' "and the end"
is "in no more than the cap" [ "$(wc -c <stdout)" -le 262144 ]
fails 2 'output-cap.*no size' "a cap that is no size is refused" stint daemon --state other --output-cap lots

# ---- launches that do not work
mv "$guard" "$guard.away"
submit -- sh -c 'echo runs >launched'
stuck=$job
soon "the queue says why a job cannot be launched" \
	sh -c '"$0" queue 2>&1 | grep -q "cannot be launched.*guard"' "$STINT"
run stint queue --json
out '"why": *"launch"' "in JSON, too"
for verb in show explain eta history; do
	run stint "$verb" "$stuck"
	out "cannot be launched: .*guard.*stint cancel $stuck" "$verb says so, and what to do"
	is "$verb does not promise that it starts by itself" [ "$(grep -c 'starts when they are free$' <(tail -n 1 stdout))" = 0 ]
done
run stint explain "$stuck" --json
out '"why": *"launch"' "explain has the word in JSON"
run stint eta "$stuck" --json
out '"why": *"launch"' "and eta"
run stint nodes
out '^degraded .*1 job cannot be launched' "nodes say so"
run health
want 0 "healthz still answers 200"
out '"status":"degraded","detail":"1 job cannot be launched' "and says degraded"
pause_grows() {
	stint queue --json | grep -Eq 'next try in ([4-9]|[1-3][0-9])'
}
soon "the pauses between tries grow" pause_grows
is "it is in the log once" [ "$(grep -c 'could not be launched' daemon.log)" = 1 ]
submit -- true
run stint cancel "$job"
run stint wait --timeout 300s "$job"
out 'CANCELLED' "a job that cannot be launched can be cancelled"
mv "$guard.away" "$guard"
run stint wait --timeout 300s "$stuck"
want 0 "as soon as launches work the job runs"
is "and has run" test -s launched
run health
out '"status":"ok"' "and health is as before"

# ---- the same after a restart, when it is not known whether the launch was made
stuck=$((stuck + 2))
touch "$STINT_STATE/jobs/$stuck"
submit -- true
is "a job whose directory cannot be made" [ "$job" = "$stuck" ]
explains() { # WHAT
	stint explain "$stuck" | grep -q "cannot be $1: .*jobs/$stuck"
}
soon "explain says so" explains launched
daemon_crash
: >daemon.log
is "a daemon again" daemon_start --no-cgroups --output-cap 256K
soon "also of the next daemon" explains launched
run stint history "$stuck"
out "launch +cannot be launched: .*jobs/$stuck" "history, too"
is "it is in the log once" [ "$(grep -c "jobs/$stuck" daemon.log)" = 1 ]
run stint cancel "$stuck"
soon "that it cannot be ended either is said, too" explains ended
rm "$STINT_STATE/jobs/$stuck"
run stint wait --timeout 300s "$stuck"
out 'CANCELLED' "and it ends as soon as it can"

# ---- a disk that output fills
mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=32m stint-test "$work/disk" 2>/dev/null; then
	daemon_gone
	trap 'daemon_gone; umount -l "$work/disk"; rm -rf "$work"' EXIT
	export STINT_STATE=$work/disk/state
	: >daemon.log
	is "a daemon on a small disk" daemon_start --no-cgroups --output-cap none --output-reserve 16M
	submit -- sh -c 'i=0; while [ $i -lt 96 ]; do head -c 524288 /dev/zero || exit 9; sleep 0.06; i=$((i + 1)); done; sleep 0.2; echo; echo bye'
	writer=$job
	accepted=0
	for _ in 1 2 3 4 5; do
		submit -- true
		run stint wait --timeout 300s "$job"
		[ "$code" = 0 ] && accepted=$((accepted + 1))
		sleep 0.3
	done
	is "jobs are accepted and run while another fills the disk" [ "$accepted" = 5 ]
	run stint wait --timeout 300s "$writer"
	want 0 "which does not die of it"
	run stint logs --tail 1 "$writer"
	out '^bye$' "and ends as it should"
	is "its output was cut with a mark" grep -aq '^\[stint: .* because the disk is nearly full\]$' "$STINT_STATE/jobs/$writer/1/stdout"
	is "the disk has room" [ "$(df -k --output=avail "$work/disk" | tail -n 1)" -gt 8192 ]
	is "the record was never in trouble" [ "$(grep -c ' error: ' daemon.log)" = 0 ]
else
	echo "skip - a disk to fill needs root"
fi

finish
