#!/bin/bash
# slurm_fidelity: a trace through Slurm and through the simulator, which is told how long Slurm takes to start and
# to stop a job: how far apart mean completion times are.  Nothing fails by it.  doc/performance.md says how to read it.
#
# slurm_fidelity.sh [POLICY]...    fifo tiresias:... gavel:... unless said
#
# 24 GPUs of three types; BENCH_JOBS (60) jobs of 5 to 60 s on 1 to 4 GPUs.  (Gangs of more than a node wait for nodes
# that happen to be empty together: a second's difference then makes another schedule.)  A job sleeps, writes down when, and goes
# on where it was when it runs again, so that its work is known whatever the machine does.  What an attempt cost is
# the time its GPUs were held less that of its work: in the mean, from its launch to its first line and from its
# last line (or from being asked to stop) to when the daemon saw it gone.  Simulated with that mean for each start
# ("told"), and as stint db export has the record, with what each job was seen to need ("record").  BENCH_KEEP: a
# directory that gets the files of the last policy.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/slurm_common
. bench/slurm_common

jobs=${BENCH_JOBS:-60}
policies=("$@")
[ $# -gt 0 ] || policies=(fifo "tiresias:limit_s=40,round_s=5" gavel:round_s=15)

job_script() {
	cat <<-'JOB'
		# job.sh SECONDS FILE: lines of when it began and ended, and in FILE.left what is left.
		file=$2 left=$1
		[ ! -f "$file.left" ] || left=$(cat "$file.left")
		since=$EPOCHREALTIME
		worked() { awk "BEGIN { printf \"%.6f\", $EPOCHREALTIME - $since }"; }
		leave() {
			local did
			did=$(worked)
			awk "BEGIN { left = $left - $did; print (left > 0 ? left : 0) }" >"$file.left"
			echo "$did" >>"$file"
			[ -z "$child" ] || kill "$child"
			exit 143
		}
		child=
		trap leave TERM
		sleep "$left" &
		child=$!
		wait "$child"
		trap '' TERM
		echo "$(worked)" >>"$file"
	JOB
}

seconds_of() { # I
	echo $((5 + $1 * 37 % 24 * ($1 * 13 % 5 + 1) / 2))
}

gpus_of() { # I
	local sizes=(1 1 2 1 2 1 1 4)
	echo "${sizes[$(($1 % 8))]}"
}

submit_all() {
	local i
	for ((i = 0; i < jobs; i++)); do
		"$stint" submit --quiet --name "job-$i" --gpus "$(gpus_of $i)" --time 1h --estimate "$(seconds_of $i)s" -- \
			bash "$work/job.sh" "$(seconds_of $i)" "$work/ran/job-$i" >/dev/null
		sleep "0.$((i * 7 % 5 + 1))"
	done
}

# Mean seconds that an attempt held its GPUs and did not work, and how many there were.
overhead() {
	python3 - "$state/stint.db" "$work/ran" "$jobs" <<-'COST'
		import sqlite3, sys
		record = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
		launched, held, attempts = {}, 0, 0
		for at_s, kind, job, attempt in record.execute("select at_s, kind, job, attempt from event order by seq"):
		    if kind == "launch":
		        launched[job, attempt] = at_s
		    elif kind == "over" and (job, attempt) in launched:
		        held += at_s - launched.pop((job, attempt))
		        attempts += 1
		worked = sum(float(line) for i in range(int(sys.argv[3]))
		             for line in open("%s/job-%d" % (sys.argv[2], i)) if line.strip())
		print("%.3f %d" % ((held - worked) / attempts, attempts))
	COST
}

# The exported trace with the work that each job was given, not what it was seen to do.
told_trace() {
	awk -F, -v OFS=, -v jobs="$jobs" '
		BEGIN { while ((getline line < ARGV[2]) > 0) { split(line, a, " "); work[a[1]] = a[2] } ARGV[2] = "" }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
		{ $at["duration_s"] = work[$at["id"]]; print }' "$1" "$work/nominal"
}

mean_jct() { # FILE
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { n++; sum += $at["jct_s"]; stops += $at["preemptions"] }
		END { printf "%.3f %d\n", sum / n, stops }' "$1"
}

simulate() { # TRACE OUT FLAG...
	local trace=$1 out=$2 words
	shift 2
	read -ra words <<<"$(sed "s,^stint sim [^ ]*,,; s/'//g" "$work/command")"
	"$stint" sim "$trace" "${words[@]}" "$@" --out "$work/$out" --quiet >/dev/null
	mean_jct "$work/$out/jobs.csv"
}

one_policy() { # POLICY
	local cost real stops told told_stops record i
	rm -rf "$work"/{ran,again,told,record}
	mkdir -p "$work/ran"
	daemon_up --policy "$1"
	submit_all
	# shellcheck disable=SC2046 # words
	"$stint" wait --quiet $(seq "$jobs")
	daemon_down
	"$stint" db export --format sim --out "$work/again" >"$work/command" 2>/dev/null
	for ((i = 0; i < jobs; i++)); do echo "$((i + 1)) $(seconds_of $i)"; done >"$work/nominal"
	told_trace "$work/again/trace.csv" >"$work/told.csv"
	read -r cost _ <<<"$(overhead)"
	read -r real stops <<<"$(mean_jct "$work/again/real.csv")"
	read -r told told_stops <<<"$(simulate "$work/told.csv" told --start-cost "$cost" --resume-cost "$cost")"
	read -r record _ <<<"$(simulate "$work/again/trace.csv" record)"
	printf '%-30s %5d %8s %5d %8s %8s %5d %7s %8s %7s   %-6s %s\n' "$1" "$jobs" "$real" "$stops" "$cost" "$told" \
		"$told_stops" "$(off "$told" "$real")" "$record" "$(off "$record" "$real")" '5 %' \
		"$(awk "BEGIN { d = $told / $real - 1; print d * d <= 0.0025 ? \"pass\" : \"MISS\" }")"
	[ -z "${BENCH_KEEP:-}" ] || cp -r "$work"/{again,told,record,told.csv,command,state} "$BENCH_KEEP"
	cluster_empty
}

off() { # SIMULATED REAL
	awk "BEGIN { printf \"%+.1f %%\", 100 * ($1 / $2 - 1) }"
}

begin
cluster_up 2
job_script >"$work/job.sh"
printf '%-30s %5s %8s %5s %8s %8s %5s %7s %8s %7s   %s\n' "mean completion time, s" jobs real stops 'cost s' told stops off \
	record off bar
for policy in "${policies[@]}"; do
	one_policy "$policy"
done
echo "cost: of an attempt, GPUs held without work; load $(load_now), $(nproc) cores"
