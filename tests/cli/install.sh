#!/bin/bash
# make install and uninstall, and the service's files as systemd reads them.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
repository=$(realpath "$here/../..")
build=$(dirname "$STINT")

# What is built is taken as it is: nothing is compiled here.
# shellcheck disable=SC2317 # called by run
make_in() { # WORDS...
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$repository" -o all B="$build" "$@"
}

list() { # DIR
	(cd "$1" && find . -type f | LC_ALL=C sort)
}

if ! command -v make >/dev/null || [ ! -x "$build/stint-guard" ]; then
	echo "skip - make or $build/stint-guard is not there: nothing was installed"
	finish
fi

# ---- staged

mkdir stage
run make_in install DESTDIR="$PWD/stage" PREFIX=/usr
want 0 "a staged install"
is "outside of PREFIX there is nothing" [ "$(ls stage)" = usr ]
for file in bin/stint libexec/stint/stint-guard share/man/man1/stint.1 share/man/man1/stint-sim.1 \
	share/bash-completion/completions/stint share/zsh/site-functions/_stint \
	share/fish/vendor_completions.d/stint.fish lib/systemd/system/stint.service lib/systemd/system/stint-http.socket \
	lib/systemd/user/stint.service share/stint/clients/python/stint.py \
	share/doc/stint/README.md share/doc/stint/doc/operations.md; do
	is "$file is there" [ -s "stage/usr/$file" ]
done
is "a service runs what was installed" \
	grep -q '^ExecStart=/usr/bin/stint daemon --system' stage/usr/lib/systemd/system/stint.service
is "programs may be run" [ -x stage/usr/libexec/stint/stint-guard ]
is "data may not" [ -z "$(find stage/usr/share stage/usr/lib -type f -perm /111)" ]
is "all may be read by all" [ -z "$(find stage -not -perm -444)" ]

touch stage/usr/bin/other stage/usr/share/man/man1/stinter.1
run make_in uninstall DESTDIR="$PWD/stage" PREFIX=/usr
want 0 "uninstall"
list stage >left
printf '%s\n' ./usr/bin/other ./usr/share/man/man1/stinter.1 >others
is "leaves what others put there, and nothing else" cmp left others

# ---- below a directory of one's own

prefix=$PWD/own
run make_in install PREFIX="$prefix"
want 0 "an install of one's own"
run "$prefix/bin/stint" --version
want 0 "the installed program runs"
is "its service names it" grep -q "^ExecStart=$prefix/bin/stint daemon" "$prefix/lib/systemd/user/stint.service"
if command -v man >/dev/null && MANPATH=$prefix/share/man man -w stint-sim >/dev/null 2>&1; then
	run env MANPATH="$prefix/share/man" man -w stint-sim
	out "$prefix/share/man/man1/stint-sim\.1" "man finds its pages"
else
	echo "skip - there is no man(1) that finds pages: installed ones were not looked up"
fi
run bash --norc -c "source '$prefix/share/bash-completion/completions/stint' && complete -p stint"
out '_stint stint' "the installed completion loads"

# The guard is found where it was installed, not where it was built.
"$prefix/bin/stint" daemon --state "$PWD/state" --socket "$PWD/socket" --slots 1 --no-gpus --no-http 2>daemon.log &
daemon=$!
for _ in $(seq 2400); do
	[ -S socket ] && break
	kill -0 $daemon 2>/dev/null || break
	sleep 0.05
done
# shellcheck disable=SC2016 # the job's own shell
run "$prefix/bin/stint" run --socket "$PWD/socket" --gpus 0 -- sh -c 'readlink /proc/$PPID/exe'
want 0 "the installed daemon runs a job"
out "^$prefix/libexec/stint/stint-guard$" "under the installed guard"
kill $daemon
wait $daemon
is "and ends when asked to" [ $? = 0 ]

# ---- services

# Earlier versions of systemd do not know all; they say so and go on.
verify() { # WORDS...
	systemd-analyze verify --man=no "$@" >complaints 2>&1 </dev/null || true
	grep -v "Unknown key.*DelegateSubgroup" complaints >real
	[ ! -s real ]
}

if command -v systemd-analyze >/dev/null; then
	run cat /dev/null
	mkdir -m 700 runtime
	is "systemd reads the system's service" verify "$prefix/lib/systemd/system/stint.service"
	[ ! -s real ] || cat real
	XDG_RUNTIME_DIR=$PWD/runtime
	export XDG_RUNTIME_DIR
	is "and the user's" verify --user "$prefix/lib/systemd/user/stint.service"
	[ ! -s real ] || cat real
	sed 's/^KillMode=.*/KillMode=nonsense/' "$prefix/lib/systemd/system/stint.service" >stint.service
	verify "$PWD/stint.service"
	is "and would find an error" [ -s real ]
else
	echo "skip - systemd-analyze is not installed: the services were not verified"
fi
for unit in system user; do
	run cat "$prefix/lib/systemd/$unit/stint.service"
	out '^KillMode=process$' "$unit: jobs survive the daemon"
	out '^Type=notify$' "$unit: it says when it is ready"
	out '^OOMPolicy=continue$' "$unit: one job's memory is not the service's"
	# These would be the jobs' too.
	! grep -E '^(NoNewPrivileges|Protect[A-Za-z]*|Private[A-Za-z]*|Restrict[A-Za-z]*|MemoryDeny[A-Za-z]*|SystemCall[A-Za-z]*|UMask|Nice|OOMScoreAdjust)=' stdout
	report $? "$unit: nothing is set that jobs would inherit to their harm"
done

finish
