#!/bin/bash
# clients/c/stint.h: compiles everywhere without a warning, and does what it promises
# with a daemon that is not one, and with a real one.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/cli/lib/check
. "$root/tests/cli/lib/check"
export PYTHONDONTWRITEBYTECODE=1
strict=(-Wall -Wextra -Wshadow -Werror "-I$root/clients/c")

if ! command -v python3 >/dev/null || ! command -v cc >/dev/null; then
	echo "skip - the C client: python3 or cc is missing"
	exit 0
fi

for how in "cc -std=c99 -pedantic" "cc -std=c11 -pedantic" "cc -std=gnu11" \
	"clang -std=c11 -pedantic" "c++ -x c++ -std=c++11 -pedantic" "c++ -x c++ -std=gnu++17"; do
	command -v "${how%% *}" >/dev/null || continue
	# shellcheck disable=SC2086 # a command and its flags
	run $how "${strict[@]}" -fsyntax-only "$root/examples/live/train.c"
	want 0 "no warning: $how"
done

# Declarations alone, in two files of one program.
printf '#include "stint.h"\nint other(void) { return stint_should_stop(); }\n' >other.c
printf '#define STINT_IMPLEMENTATION\n#include "stint.h"\nint other(void);\nint main(void) { return other(); }\n' >main.c
run cc "${strict[@]}" -o two main.c other.c
want 0 "two files of one program"
run ./two
want 0 "and it runs"

sanitize=("-fsanitize=address,undefined" -fno-sanitize-recover=undefined)
echo 'int main(void) { return 0; }' >empty.c
cc "${sanitize[@]}" -o empty empty.c 2>/dev/null && ./empty || sanitize=()
run cc "${strict[@]}" -g -O1 "${sanitize[@]}" -o probe "$root/tests/clients/probe.c"
want 0 "the probe compiles"
run cc "${strict[@]}" -O2 -o train "$root/examples/live/train.c" -lm
want 0 "the example compiles"
# On a busy machine the daemon may need longer than the 0.2 s for which a job waits.
run cc "${strict[@]}" -O2 -DSTINT_WAIT_S=120.0 -DSTINT_ANSWER_S=120.0 -o train "$root/examples/live/train.c" -lm
want 0 "and with more patience"
python3 "$root/tests/clients/c_test.py" ./probe ./train || failures=$((failures + 1))

# ---- a real daemon
# shellcheck source=tests/clients/with_daemon
. "$root/tests/clients/with_daemon"
alone=$(env -u STINT ./train 600 0 50 alone | grep '^done after')
is "a daemon" daemon_start
one=$(stint submit --parsable -- ./train 600 0.01 50)
soon "a job trains" said "$one" '^step 50 '
run stint requeue "$one"
want 0 "it is put back into the queue"
soon "saves, and goes on where it was" said "$one" '^attempt 2 goes on at step'
run stint wait "$one"
want 0 "it ends well"
is "with the same weights to the bit" [ "$(digest "$one")" = "$alone" ]
run stint show "$one"
out '^progress .*step 600 of 600|^progress .*100' "and its last progress arrived"
finish
