#!/bin/bash
# What all jobs of a tenant keep of their output together: it is counted, bounded, and survives restarts and pruning.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2329
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

total=1048576

daemon_end() { # SIGNAL
	kill "-$1" "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}
limits() { # TENANT FIELD
	stint quota limits --json | python3 -c '
import json, sys
rows = [r for r in json.load(sys.stdin)["limits"]["of"] if r["of"] == "tenant" and r["name"] == sys.argv[1]]
print(rows[0].get(sys.argv[2]) if rows else 0)' "$1" "$2"
}
keeps() { # TENANT BYTES: exactly
	[ "$(limits "$1" kept_bytes)" = "$2" ]
}
on_disk() { # JOB...
	local job sum=0 file
	for job in "$@"; do
		for file in "$STINT_STATE/jobs/$job"/*/std*; do
			[ ! -e "$file" ] || sum=$((sum + $(stat -c %s "$file")))
		done
	done
	echo "$sum"
}
# Prints until its output has been cut, at most 100 MB.
until_cut='i=0; until grep -aq "^\[stint: .*the jobs of this tenant" "$STINT_DIR/stdout"; do [ $i -lt 1000 ] || exit 9; i=$((i + 1)); seq -f "line %.0f of many" 6000; sleep 0.1; done; echo bye'

is "a daemon" daemon_start --no-cgroups --slots 2 --output-total "1M,wide=none"

# ---- beyond the bound
submit --tenant narrow -- sh -c 'seq -f "line %.0f" 20000'
first=$job
run stint wait --timeout 60s "$first"
want 0 "a job within the bound ends"
is "all of its output is kept" [ "$(stint logs "$first" | tail -n 1)" = "line 20000" ]
soon "it is counted for the tenant" keeps narrow "$(on_disk "$first")"
is "with its limit" [ "$(limits narrow kept_limit)" = $total ]
submit --tenant narrow -- sh -c "$until_cut"
second=$job
run stint wait --timeout 300s "$second"
want 0 "a job that goes beyond it goes on and ends"
run stint logs "$second"
out '^line 1 of many$' "its log has the beginning"
out '^\[stint: .* of output were cut here: the jobs of this tenant keep as much' "a mark"
out '^bye$' "and the end"
is "the other job's output is as it was" [ "$(stint logs "$first" | grep -c '^line')" = 20000 ]
soon "what is counted is what is on the disk" keeps narrow "$(on_disk "$first" "$second")"
is "the log says which tenant" grep -q 'warning: jobs of tenant narrow keep .*(--output-total)' daemon.log
run stint quota limits
out 'tenant +narrow .* MiB of 1 MiB' "limits show what is kept of what may be"

# ---- another tenant
submit --tenant wide -- sh -c 'seq -f "line %.0f" 200000'
wide=$job
run stint wait --timeout 60s "$wide"
is "a tenant without a bound keeps everything" [ "$(stint logs "$wide" | grep -c '^line')" = 200000 ]
soon "and is counted, too" keeps wide "$(on_disk "$wide")"
status_keeps() { # JOB...: the sum, as the daemon has it now
	stint db status --json | grep -q "\"kept_output_bytes\": $(on_disk "$@")\b"
}
soon "the record's status has what is kept now" status_keeps "$first" "$second" "$wide"

# ---- restarts, with a job under way that was told to keep nothing more
submit --tenant narrow -- sh -c 'until [ -e "$0" ]; do sleep 0.1; done; '"$until_cut" "$work/go"
third=$job
runs() {
	stint show "$third" | grep -q '^state *RUNNING'
}
soon "a job runs" runs
daemon_end TERM
is "a daemon after one that stopped" daemon_start --no-cgroups --slots 2 --output-total "1M,wide=none"
is "nothing is counted again" [ "$(stint db status --state "$STINT_STATE" --json | grep -c '"narrow"')" = 1 ]
soon "the sums are as before" keeps narrow "$(on_disk "$first" "$second" "$third")"
soon "of both tenants" keeps wide "$(on_disk "$wide")"
daemon_end KILL
is "a daemon after one that was killed" daemon_start --no-cgroups --slots 2 --output-total "1M,wide=none"
soon "the sums are as before that" keeps narrow "$(on_disk "$first" "$second" "$third")"
soon "of both tenants again" keeps wide "$(on_disk "$wide")"
echo go >"$work/go"
run stint wait --timeout 300s "$third"
want 0 "the job that ran through it all is cut, and ends"
soon "and is counted" keeps narrow "$(on_disk "$first" "$second" "$third")"

# ---- room again
run stint db prune --state "$STINT_STATE" --older 0s --yes # the last job may be too young
want 0 "the jobs are pruned"
soon "they do not count any more" keeps narrow "$(on_disk "$third")"
is "the log says that there is room" grep -q 'jobs of tenant narrow may keep output again' daemon.log
submit --tenant narrow -- sh -c 'seq -f "line %.0f" 30000'
fourth=$job
run stint wait --timeout 60s "$job"
is "new output is kept whole" [ "$(stint logs "$job" | grep -c '^line')" = 30000 ]
daemon_end TERM
run stint db status --state "$STINT_STATE"
out '^output +[0-9.]+ kB kept of jobs of 1 tenant;' "the record's status says how much is kept"
run stint db prune --state "$STINT_STATE" --older 0s
want 0 "the rest is pruned without a daemon"
is "a daemon after that" daemon_start --no-cgroups --slots 2 --output-total "1M,wide=none"
soon "knows what is kept" keeps narrow "$(on_disk "$third" "$fourth")"
fails 2 'output-total.*not above 0%' "a bound that is none is refused" stint daemon --state other --output-total 0%

finish
