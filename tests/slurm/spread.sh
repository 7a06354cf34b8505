#!/bin/bash
# stint compare --on slurm: the runs as a job array of a real Slurm, and the same results.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"

export TYPES=cpu GPUS=1
unset SLURM_CONF
fails 2 "must be local, slurm" "another place" stint compare synth:jobs=9 --cluster 1x8:v100 --on mars
fails 2 "no option 'part'.*partition.*tasks, dir" "an option that is none" \
	stint compare synth:jobs=9 --cluster 1x8:v100 --on slurm:part=x
fails 3 "no sbatch in PATH" "no Slurm" \
	env PATH=/nowhere "$STINT" compare synth:jobs=9 --cluster 1x8:v100 --on slurm
cluster_begin 2

# shellcheck disable=SC2054 # commas belong to the words
what=(compare synth:jobs=200,load=1 --cluster 2x8:v100,2x4:k80 --policy fifo,srtf,las --seeds 3 --error 0.3)
run stint "${what[@]}" --out local --html local.html
want 0 "here"
cp stdout local.txt
run stint "${what[@]}" --out spread --html spread.html --on slurm:partition=gpu
want 0 "on Slurm"
err 'array job [0-9]+ of Slurm: 9 runs in 9 tasks' "it says what was submitted"
is "the same table" cmp -s stdout local.txt
is "the same report" cmp -s local.html spread.html
# shellcheck disable=SC2317 # called by is
same_summaries() {
	python3 - <<'END'
import glob, json
apart = {"decision_cpu_s", "cpu_s", "rss_bytes"}
files = sorted(glob.glob("local/*/summary.json"))
assert len(files) == 9
for f in files:
	a, b = (json.load(open(x)) for x in (f, f.replace("local", "spread", 1)))
	assert {k: v for k, v in a.items() if k not in apart} == {k: v for k, v in b.items() if k not in apart}, f
END
}
is "the same summaries but for CPU times and memory" same_summaries
rm -f local/*/summary.json spread/*/summary.json
is "the same files" diff -r local spread
is "nothing is left behind" [ -z "$(find . -maxdepth 1 -name '.stint-*')" ]
run stint "${what[@]}" --json --quiet
cp stdout local.json
run stint "${what[@]}" --json --quiet --on slurm:tasks=2
is "the same with fewer tasks" cmp -s stdout local.json
is "--quiet says nothing" empty stderr
run stint "${what[@]}" --on local
is "local is what there is without" cmp -s stdout local.txt

fails 4 "did not take the job.*invalid partition" "a partition that is not there" \
	stint "${what[@]}" --on slurm:partition=nope
fails 3 "directory /nowhere" "a directory that is not there" stint "${what[@]}" --on slurm:dir=/nowhere
fails 2 "save it to a file" "standard input" stint compare - --cluster 1x8:v100 --on slurm

# tasks that find no file: here it is gone before they start
stint trace synth --jobs 20 --cluster 1x8:v100 >trace.csv
scontrol update partition=gpu state=down
"$STINT" compare trace.csv --cluster 1x8:v100 --policy fifo,las --on slurm >gone.txt 2>&1 &
pid=$!
for _ in $(seq 2400); do grep -q 'array job' gone.txt && break; sleep 0.1; done
rm trace.csv
scontrol update partition=gpu state=up
run wait $pid
want 1 "a task that fails"
is "is named with its run and what it said" \
	grep -q 'fifo, seed 0: task [0-9]*_0 ended without a result; it said: .*trace.csv: no such file' gone.txt

# the log that this very Slurm keeps of ended jobs
sbatch --quiet --wrap 'exec sleep 2' --output=/dev/null --job-name 'a b=c' >id
again=$(sbatch --parsable --requeue --wrap 'exec sleep 1000' --output=/dev/null --job-name again)
for _ in $(seq 2400); do [ "$(squeue --noheader --states=R --jobs="$again" | wc -l)" = 1 ] && break; sleep 0.1; done
sleep 1.2 # a run of less than a second is none in that log
scontrol requeue "$again"
log=$(scontrol show config | sed -n 's/^JobCompLoc *= //p')
for _ in $(seq 2400); do grep -q 'Name=a b=c JobState=COMPLETED' "$log" && break; sleep 0.1; done
scancel "$again"
run stint compare --from-jobcomp "$log" --assume-gpus node=1 --policy fifo --lenient
want 0 "the log of a real Slurm"
out '^slurm \(recorded\) ' "has its row"
run stint trace check "$log"
err 'Tres: is 0: a job without GPUs' "is recognised, and without slurmdbd has no GPUs"

# Ctrl-C (bash makes its background ignore SIGINT; SIGTERM is treated alike)
scontrol update partition=gpu state=down
"$STINT" "${what[@]}" --on slurm >stopped.txt 2>&1 &
pid=$!
for _ in $(seq 2400); do grep -q 'array job' stopped.txt && break; sleep 0.1; done
kill -TERM $pid
run wait $pid
want 143 "who is interrupted"
is "cancels the tasks" [ -z "$(squeue --noheader)" ]
is "and leaves nothing behind" [ -z "$(find . -maxdepth 1 -name '.stint-*')" ]
finish
