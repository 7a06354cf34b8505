#!/bin/bash
# Records and runs of earlier versions (tests/records): this version opens, replays and continues them.
# shellcheck disable=SC2317 # functions are called by is() and soon()
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

ended() { # JOB
	stint show "$1" --json | grep -q '"state": "COMPLETED"'
}
said_late() { # JOB
	[ "$(stint logs "$1")" = late ]
}

form() { # FILE: its schema, from the header of the database
	od -An -tu1 -j60 -N4 "$1"
}

for file in "$here"/../records/*.tar.gz; do
	name=$(basename "$file" .tar.gz)
	mkdir "$name"
	tar --no-same-owner -xzf "$file" -C "$name"
	export STINT_STATE=$work/$name/state

	run stint db check --state "$STINT_STATE"
	if [[ $name = *schema-1 ]]; then
		want 4 "$name: only a daemon changes the form of a record"
		err 'starting the daemon brings it up to date' "$name: which the refusal says"
	else
		want 0 "$name: the record is sound"
		out 'last job 33' "$name: and has every job"
		run stint replay "$STINT_STATE"
		want 0 "$name: every decision is made again"
		out 'the same [0-9]+ decisions in 14 epochs' "$name: under every policy"
	fi
	cp "$STINT_STATE/stint.db" before.db
	run stint db backup "$work/$name/backup.db"
	want 0 "$name: it is backed up"
	out 'jobs up to 33; checked' "$name: with every job"
	is "$name: in the form that it has" [ "$(form "$name/backup.db")" = "$(form before.db)" ]
	is "$name: in one file" [ "$(find "$name" -name 'backup.db*' | wc -l)" = 1 ]
	is "$name: the record stays as it was" cmp -s "$STINT_STATE/stint.db" before.db
	run stint db restore --state "$work/$name/again" "$name/backup.db"
	want 0 "$name: the backup is put back elsewhere"
	run stint db check --state "$work/$name/again"
	want 0 "$name: and is sound there"
	out 'last job 33' "$name: with every job"
	for dir in "$name"/runs/*; do
		run stint replay "$dir"
		want 0 "$name: the run $(basename "$dir") is equal"
	done

	if [ "$(id -u)" != 0 ]; then
		echo "skip - $name: its jobs are root's, and only root can run them"
		continue
	fi
	is "$name: a daemon goes on with it" daemon_start --no-cgroups
	run stint queue --state all
	want 0 "$name: shows its jobs"
	out '^ +1 +save .*COMPLETED' "$name: with those that have ended"
	out 'under-gavel' "$name: and their names"
	run stint history 1
	out 'requeue' "$name: has what happened to them"
	run stint policy
	out 'fair-share' "$name: and its policy"
	run stint quota
	out 'vision' "$name: and its tenants"
	run stint release --all
	want 0 "$name: jobs that were held are released"
	for job in 31 32 33; do
		soon "$name: job $job ends" ended "$job"
		soon "$name: with its output" said_late "$job"
	done
	submit -- echo new
	is "$name: the next job has the next number" [ "$job" = 34 ]
	soon "$name: and ends" ended 34
	daemon_gone
	run stint db check --state "$STINT_STATE"
	want 0 "$name: the record is sound afterwards"
	run stint replay "$STINT_STATE"
	want 0 "$name: and every decision is made again"
	out 'decisions in 1[5-9] epochs' "$name: those of before and those of now"
done

finish
