#!/bin/bash
# POST /v1/whatif of a real daemon with a real past: what the page asks for.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

whatif() { # JSON [FILE]: the answer in FILE (stdout), its status in FILE.status
	local file=${2:-stdout}
	code=0
	last="POST /v1/whatif $1"
	: >stderr
	fetch --both "$file" /v1/whatif "$1" >"$file.status" 2>stderr
}
status() { # STATUS WHAT
	[ "$(cat stdout.status)" = "$1" ]
	report $? "$2"
}

is "a daemon answers" daemon_start --no-cgroups --policy fair-share
whatif '{"policy":"fifo"}'
status 409 "without a past there is nothing to ask of"
out 'no job has run and ended yet' "and it says so"
for _ in 1 2 3 4 5 6; do
	stint submit --quiet --gpus 1 --name again -- sleep 0.1 >/dev/null
done
stint wait 6 >/dev/null 2>&1

whatif '{"since_s":86400,"policy":"fifo","add":"2:a100"}'
status 200 "the past again with another policy and more devices"
is "as the command line has it" valid_json stdout whatif/1
out '"label": *"as it was"' "beside as it was"
out '"label": *"\+2:a100"' "the devices alone"
out '"label": *"fifo"' "the policy alone"
out '"label": *"\+2:a100, fifo"' "and both"
out '"jobs": *6' "of the jobs that ran"
out '"jct_mean_s"' "in figures"
if grep -q '"again"' stdout; then report 1 "no job is named"; else report 0 "no job is named"; fi

whatif '{}'
status 400 "what changes nothing is said to"
out 'as it is now' "with what to do"
whatif '{"policy":"fair-share","placer":"first-fit"}'
status 400 "so are the rules of now"
whatif '{"policy":"fifi"}'
status 400 "a policy that is none"
out 'did you mean .fifo' "with the one that was meant"
whatif '{"add":"4"}'
status 400 "devices of no type"
whatif '{"add":"4:nosuch"}'
status 400 "of a type that nobody knows"
out 'nosuch' "which is named"
whatif '{"policy":"gittins:history=/etc/passwd"}'
status 409 "files are not read for others"
whatif '{"since_s":"week"}'
status 400 "what is no number"
whatif 'no json'
status 400 "what is no JSON"
run fetch --status /v1/whatif
out '^405$' "nothing is asked by GET"

whatif '{"policy":"fifo"}' one &
first=$!
whatif '{"policy":"sjf"}' two &
wait $first $!
both() {
	grep -qs 200 one.status && grep -qs 200 two.status
}
soon "two at once are both answered" both
is "the first as asked" grep -q '"label": *"fifo"' one
is "the second as asked" grep -q '"label": *"sjf"' two
run stint queue
want 0 "the daemon goes on"

finish
