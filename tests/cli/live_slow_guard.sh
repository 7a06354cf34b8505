#!/bin/bash
# A guard that takes its time before it reports holds up its own job and nothing else: other jobs start and end, questions
# are answered, and its job starts exactly once, whatever happens to the guard or the daemon meanwhile.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

# A stint whose guard waits for the file "go" if it can make the directory "slow", which one guard can.
mkdir bin
cp "$STINT" bin/stint
cat >bin/stint-guard <<END
#!/bin/sh
if mkdir $PWD/slow 2>/dev/null; then
	echo \$\$ >$PWD/waits
	while [ ! -e $PWD/go ]; do sleep 0.05; done
fi
exec $(realpath "$(dirname "$STINT")")/stint-guard
END
chmod +x bin/stint-guard
STINT=$PWD/bin/stint

slow() { # WHAT; its job is in $slow
	rm -rf slow go waits starts
	SECONDS=0
	submit -- sh -c 'echo start >>starts'
	slow=$job
	soon "$1" test -s waits
}

# A guard is given up after 30 s.  On a machine that needs as long for the lines before, the check has nothing to see.
unless_given_up() { # CHECK...
	[ "$SECONDS" -ge 25 ] || "$@"
}

is "a daemon whose guards may be slow" daemon_start --no-cgroups
slow "a guard takes its time"
submit -- true
soon "another job starts and ends meanwhile" state "$job" COMPLETED
is "the slow guard was not given up for that" unless_given_up kill -0 "$(cat waits)"
run stint queue
out "$slow" "the queue is shown"
is "its job has not started" unless_given_up test ! -e starts
touch go
soon "its job starts when the guard gets to it" state "$slow" COMPLETED
is "once" test "$(cat starts)" = start

slow "another guard takes its time"
kill -KILL "$(cat waits)"
soon "a guard that dies is replaced" state "$slow" COMPLETED
is "its job started once" test "$(cat starts)" = start

slow "a guard takes its time, and then it is cancelled"
stint cancel --quiet "$slow"
soon "the job is cancelled" unless_given_up state "$slow" CANCELLED
touch go
is "it never started" unless_given_up test ! -e starts

slow "a guard takes its time while the daemon crashes"
daemon_crash
is "the daemon comes back" daemon_start --no-cgroups
soon "its job runs without the slow guard" state "$slow" COMPLETED
late=$(cat waits)
touch go
soon "which then finds it done" test ! -e "/proc/$late"
is "the job started once" test "$(cat starts)" = start

kill "$daemon"
wait "$daemon" 2>/dev/null
daemon=
run stint replay "$STINT_STATE"
want 0 "what was decided is decided again from the record"
run stint db check --state "$STINT_STATE"
want 0 "the record is whole"
finish
