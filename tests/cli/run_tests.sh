#!/bin/bash
# tools/run-tests and tools/repeat: the report and the closing line come, whatever tests do.
# Functions are called by is().
# shellcheck disable=SC2317
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/cli/lib/check
. "$root/tests/cli/lib/check"
# shellcheck disable=SC2016 # what the small tests below run is theirs to expand
unset JOBS SLOWEST KEEP_LOGS TEST_TIMEOUT

a_test() { # NAME LINE...
	local name=$1
	shift
	printf '%s\n' '#!/bin/bash' "$@" >"$name"
	chmod +x "$name"
}
gone() { # FILE with numbers of processes
	local pid
	while read -r pid; do
		[ -z "$(ps_state "$pid")" ] || return 1
	done <"$1"
}
ps_state() { # of a process that lives
	sed -n 's/^State:[[:space:]]*\([^ZX[:space:]]\).*/\1/p' "/proc/$1/status" 2>/dev/null
}
closing() { # REGEX
	tail -n 1 stdout | grep -Eqx -- "$1"
}

a_test good.sh 'echo "ok - one"' 'echo "ok - two"'
a_test bad.sh 'echo "ok - one"' 'echo "not ok - two"' 'exit 1'
a_test crash.sh 'echo "ok - one"' 'kill -SEGV $$'
a_test mute.sh 'true'
a_test skips.sh 'echo "skip - there is no moon"'
# shellcheck disable=SC2016
a_test stray.sh 'echo "ok - one"' \
	"setsid env -i sh -c 'trap \"\" TERM HUP; echo \$\$ >>$work/strays; while :; do echo x >$work/busy; mkdir -p \$0/d; echo x >\$0/d/\$\$; done' \"\$TMPDIR\" &" \
	"(setsid env -i sleep 100000 & echo \$! >>$work/strays)" \
	"until [ -e $work/busy ]; do sleep 0.05; done"
a_test hangs.sh 'echo "ok - one"' 'trap "" TERM' "echo \$\$ >$work/hanging" 'while :; do sleep 0.1; done'

run "$root/tools/run-tests" ./good.sh ./skips.sh
want 0 "tests that pass"
is "the closing line counts" closing '2 passed, 0 failed, 1 skipped'
out 'SKIPPED \./skips.sh: there is no moon' "what is skipped is named"
out '^2/2 ok$' "the last line of progress has them all"
run "$root/tools/run-tests" ./good.sh ./bad.sh ./crash.sh ./mute.sh ./none.sh
want 1 "tests that fail"
is "each failure counts" closing '4 passed, 4 failed'
out '^not ok - two' "the output of a failure is shown"
out 'crash.sh .*\(died of SIGSEGV\)' "a crash is named"
out 'mute.sh .*\(reported no tests\)' "a test without results is a failure"
out 'none.sh .*\(ended with status (2|127)' "so is one that is not there"
run "$root/tools/run-tests"
want 1 "no test is a failure"
is "with a closing line" closing '0 passed, 1 failed'

# shellcheck disable=SC2016
a_test signals.sh 'for name in HUP INT QUIT TERM PIPE; do' \
	'sh -c "kill -$name \$\$; exit 0" && echo "not ok - $name is ignored" && exit 1' 'done' 'echo "ok - none is ignored"'
run sh -c 'trap "" HUP INT QUIT PIPE; exec "$@"' sh "$root/tools/run-tests" ./signals.sh
want 0 "signals that the caller ignores, as in the background of a shell, are not ignored in tests"

run "$root/tools/run-tests" ./stray.sh ./good.sh
want 0 "a test that leaves processes which write into its directory"
is "has a report and a closing line" closing '3 passed, 0 failed'
out '^STRAY  \./stray.sh: .*sleep 100000' "what it left is named"
is "and gone, though it hides from signals, sessions and environments" gone strays

TEST_TIMEOUT=1 run "$root/tools/run-tests" ./hangs.sh ./good.sh
want 1 "a test that hangs is ended"
out 'hangs.sh .*\(did not end within 1 s\)' "and named"
is "and the others are counted" closing '3 passed, 1 failed'
is "nothing of it is left" gone hanging

rm -f hanging
interrupt "$work/hanging" env JOBS=1 "$root/tools/run-tests" ./hangs.sh ./good.sh
want 130 "Ctrl-C stops"
is "with what is known by then" closing '1 passed, 2 failed'
out '^stopped by SIGINT: 1 tests were not run' "and what is not"
is "nothing goes on" gone hanging

# ---- again and again
# shellcheck disable=SC2016
a_test sometimes.sh "echo x >>$work/count" '[ "$(wc -l <'"$work"'/count)" != 2 ] || { echo "not ok - the second time"; exit 1; }' 'echo "ok - one"'
run "$root/tools/repeat" --logs "$work/logs" 3 ./good.sh ./sometimes.sh
want 1 "a test that fails once in three times is found"
out 'good.sh +3 passed, 0 failed' "how often each passed"
out 'sometimes.sh +2 passed, 1 failed' "and failed"
is "its output is kept" grep -rq '^not ok - the second time' logs
run "$root/tools/repeat" --busy=1 --logs "$work/logs" 2 ./good.sh
want 0 "a test that always passes"
is "and that is said at the end" closing '2 runs of 1 test: 2 passed, 0 failed'
rm -f hanging
interrupt "$work/hanging" "$root/tools/repeat" --busy=1 --logs "$work/logs" 2 ./hangs.sh
want 130 "Ctrl-C stops it"
is "and the test" gone hanging
fails 2 'how often' "it must be said how often" "$root/tools/repeat" often ./good.sh
fails 2 'which tests' "and which tests" "$root/tools/repeat" 3
fails 3 'no test' "which must be there" "$root/tools/repeat" 3 no-such-test-here
finish
