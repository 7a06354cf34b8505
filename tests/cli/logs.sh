#!/bin/bash
# What `stint logs` shows of a job: both streams, one of them, one file for both, elements of arrays, and nothing.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2329
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

has() { # FILE LINE...
	local file=$1
	shift
	[ "$(cat "$file")" = "$(printf '%s\n' "$@")" ]
}

is "a daemon" daemon_start --no-cgroups

# ---- a job that failed
submit -- sh -c 'echo begins; printf "Traceback\nKeyError\n" >&2; exit 3'
failed=$job
run stint wait --timeout 300s "$failed"
want 3 "a job fails"
out "^job $failed: FAILED.*: exit 3\$" "wait says how"
run stint queue --all
out "FAILED .* exit 3\$" "so does the queue"
run stint show "$failed"
out '^ended +exit 3$' "and show"
run stint show --json "$failed"
out '"ending": "exit 3"' "and JSON"
run stint logs "$failed"
want 0 "its log"
is "standard output is on standard output, and nothing else" has stdout begins
is "standard error is on standard error, without marks where that is no terminal" has stderr Traceback KeyError
run stint logs --stdout "$failed"
is "--stdout: one stream" has stdout begins
is "and not the other" empty stderr
run stint logs --stderr "$failed"
is "--stderr: the other, on standard output" has stdout Traceback KeyError
is "and nothing beside it" empty stderr
run stint logs --stdout --stderr "$failed"
is "both flags are both streams" has stdout begins
is "each in its place" has stderr Traceback KeyError
run stint logs --tail 1 "$failed"
is "--tail counts in each stream: output" has stdout begins
is "--tail counts in each stream: errors" has stderr KeyError
run stint logs -f "$failed"
is "-f of a job that has ended is the same: output" has stdout begins
is "-f of a job that has ended is the same: errors" has stderr Traceback KeyError
run stint logs --json --stderr "$failed"
out '/stderr"' "--json names the file of the stream that is asked for"

# ---- other ends
submit --time 1s --grace 1s -- sh -c 'while :; do sleep 0.1; done'
late=$job
submit -- sh -c 'kill -KILL $$'
run stint wait --timeout 300s "$job"
out ': signal 9 \(KILL\)$' "a signal has its number and its name"
run stint wait --timeout 300s "$late"
out ': timed out after 1s$' "a time limit is named"
run stint queue --all
out "^ *$job .*signal 9 \(KILL\)" "the queue names the signal"
out "^ *$late .*timed out after 1s" "and the limit"

# ---- on a terminal
on_terminal() {
	script -qec "$1" /dev/null </dev/null | tr -d '\r' >stdout
}
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	last="stint logs, on a terminal" code=0
	: >stderr
	on_terminal "'$STINT' logs $failed"
	is "on a terminal lines of standard error are marked" has stdout begins '! Traceback' '! KeyError'
	on_terminal "NO_COLOR= TERM=xterm '$STINT' logs --tail 1 $failed"
	is "with colours the mark has one" has stdout begins $'\033[31m!\033[0m KeyError'
	on_terminal "'$STINT' logs --stderr $failed"
	is "one stream alone has no marks" has stdout Traceback KeyError
	submit -- sh -c 'printf half; printf "whole\n" >&2'
	run stint wait --timeout 300s "$job"
	on_terminal "'$STINT' logs $job"
	is "a mark begins a line" has stdout half '! whole'
else
	echo "skip - no pseudo terminal can be had here"
fi

# ---- while it runs
submit -- sh -c 'echo one; echo two >&2; until [ -e go ]; do sleep 0.05; done; echo three; echo four >&2'
"$STINT" logs -f "$job" >followed 2>errors &
follower=$!
soon "-f shows standard output as it comes" grep -q one followed
soon "and standard error" grep -q two errors
touch go
wait $follower
is "to the end of the job: output" has followed one three
is "to the end of the job: errors" has errors two four

# ---- one file for both
submit --output own.txt -- sh -c 'echo out; echo err >&2'
run stint wait --timeout 300s "$job"
is "--output alone takes both streams" has own.txt out err
run stint logs "$job"
is "a file for both is shown once" has stdout out err
is "on standard output" empty stderr
printf '%s\n' '#!/bin/sh' '#SBATCH --output=slurm-%j.txt' 'echo out' 'echo err >&2' >job.sh
submit job.sh
run stint wait --timeout 300s "$job"
is "#SBATCH --output alone takes both streams, as with sbatch" has "slurm-$job.txt" out err
submit --output o.txt --error e.txt -- sh -c 'echo out; echo err >&2'
run stint wait --timeout 300s "$job"
is "with --error each has its own file" has o.txt out
is "errors too" has e.txt err
submit --error only.txt -- sh -c 'echo out; echo err >&2'
run stint wait --timeout 300s "$job"
is "--error alone takes standard error" has only.txt err
run stint logs "$job"
is "and standard output is kept" has stdout out

# ---- arrays
submit --array 3-5 -- sh -c 'echo element $STINT_ARRAY_INDEX'
array=$job
run stint wait --timeout 300s "${array}_3" "${array}_4" "${array}_5"
run stint logs "$array"
is "the number of an array shows its first element" has stdout 'element 3'
err "job $array is an array; this is its element ${array}_3" "and says so"
run stint logs "${array}_5"
is "an element is shown by its name" has stdout 'element 5'
is "without a remark" empty stderr

# ---- nothing
submit -- true
run stint wait --timeout 300s "$job"
run stint logs "$job"
want 0 "a job that printed nothing is no error"
is "nothing is shown" empty stdout
err "job $job has written nothing\$" "and that is said"
submit -- sh -c 'echo boom >&2'
run stint wait --timeout 300s "$job"
run stint logs --stdout "$job"
err "written nothing to standard output; .*: stint logs --stderr $job" "the other stream is named where it has something"
submit --hold -- true
fails 3 'no output yet: the job has not started' "a job that waits has no output" stint logs "$job"
finish
