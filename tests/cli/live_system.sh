#!/bin/bash
# One daemon for all users of a machine: jobs run as whoever submits them, and
# nobody reaches what is not theirs.  Needs root.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317,SC2059,SC2094
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"
# shellcheck source=tests/cli/lib/users
. "$here/lib/users"
record=$STINT_STATE/stint.db

cannot() { # WHAT COMMAND...: it fails, and prints nothing
	local what=$1
	shift
	run "$@"
	[ "$code" != 0 ] && [ ! -s stdout ]
	report $? "$what"
}

is "a daemon for all users" begin

# ---- as whom jobs run
run one run --quiet -- sh -c 'id -u; id -g; id -G; pwd; echo "$HOME"; kill -9 $PPID 2>/dev/null || echo "the guard is safe"'
want 0 "a user runs a job"
is "as that user, with that group and no other, where it was submitted" \
	[ "$(head -n 5 stdout | xargs)" = "65534 65534 65534 $place/open $place/open" ]
out 'the guard is safe' "and cannot kill its guard"
run two run --quiet -- sh -c 'id -u; id -G; grep CapEff /proc/self/status'
is "one without a name, too" [ "$(head -n 2 stdout | xargs)" = "65533 65533" ]
out 'CapEff:.0+$' "and without any power of root's"
run one run --quiet -- sh -c '(echo forged >"$STINT_DIR/ended") 2>/dev/null || echo kept; ls "$STINT_DIR/.." 2>/dev/null; cat "$STINT_GRANT"'
out '^kept$' "a job cannot write its own end"
out '"gpus": *1' "but reads its grant"
submit_as one --grace 20s --checkpoint "id -u >$place/open/checkpoint.uid" -- sh -c "trap 'exit 0' TERM; echo x >$place/open/ready; while :; do sleep 0.05; done"
soon "a job runs" test -s "$place/open/ready"
run one cancel "$job"
soon "its checkpoint command runs" test -s "$place/open/checkpoint.uid"
is "as that user" [ "$(cat "$place/open/checkpoint.uid")" = 65534 ]
mkdir -m 700 "$place/closed"
run one run -D "$place/closed" -- pwd
is "a directory that the user may not enter" [ "$code" != 0 ]
err 'closed' "is told of"

# ---- the record, which only root reads
run one db status
want 0 "a user asks for the state of the record"
out "^record +$STINT_STATE/stint.db, [0-9.]+ kB" "which the daemon answers"
out '^events +last [0-9]+, 20.*; last job [0-9]+' "with its last event"
out "^output +[0-9.]+ (bytes|kB) kept of jobs of [0-9]+ tenants; 'stint quota limits' has yours" "and what is kept of all tenants"
run one db status --state "$STINT_STATE" --json
want 0 "also where the state is named"
is "as JSON" valid_json stdout db-status/1
is "without the other tenants" [ "$(grep -c '"65533"' stdout)" = 0 ]
run stint db status --json
is "which root sees" grep -q '"65533"' stdout
is "root's figures are the same" grep -q '"kept_output_tenants": 2' stdout
while read -r line; do
	# shellcheck disable=SC2086 # words
	fails 4 "only root can read $STINT_STATE/stint.db.* sudo, or ask an administrator" "two may not: $line" two $line
done <<LINES
db check
db export
db prune --older 1s --dry-run
db backup $place/open/copy.db
replay $STINT_STATE
whatif --policy fifo
advise
capacity --target makespan<2h
LINES
fails 4 "ask an administrator for a trace of it .'stint db export --format trace'.* 'stint open' has a what-if" \
	"and what could be done instead is said" two whatif --policy fifo

# ---- many at once
burst() { # N: as many commands of one user side by side, all of which must succeed
	local pids=() pid bad=0
	for _ in $(seq "$1"); do
		one queue >/dev/null 2>>burst.err &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=1
	done
	[ "$bad" = 0 ] || cat burst.err
	return "$bad"
}
is "a hundred commands of one user at once all succeed" burst 100
# ---- on a terminal
cp "$here/lib/terminal" "$place/bin"
if command -v python3 >/dev/null; then
	run as 65534 "$place/bin/terminal" -- "$STINT" run --quiet --pty sh -c 'id -u; stat -c "owner %u" "$(tty)"; echo typed >/dev/tty; exit 6'
	want 6 "a user runs a job on a terminal"
	out '^65534$' "as that user"
	out '^owner 65534$' "to whom the terminal belongs"
	out '^typed$' "and who can open it"
else
	echo "skip - there is no python3 to drive a terminal with"
fi

# ---- what is not theirs
submit_as one -J secret-of-one --key k --comment 'whose' -- sh -c 'echo private words; sleep 1000' --password=hush
mine=$job
soon "a job runs" said "$mine" 'private words'
submit_as two --key k -- true
is "keys are each user's own" [ "$job" != "$mine" ]
while read -r line; do
	# shellcheck disable=SC2086 # words
	fails 4 'another user|only an administrator' "two may not: $line" two $line
done <<LINES
cancel $mine
hold $mine
release $mine
requeue $mine
signal KILL $mine
update --priority 9 $mine
logs $mine
logs -f $mine
policy set fifo
quota set me --weight 1000
LINES
run two cancel --all
run two cancel "1-$mine"
run two cancel --name secret-of-one
run two cancel --user all --name secret-of-one
want 4 "a filter whose jobs are all refused fails as the verb of one job does"
run two cancel --user all
err 'skipped: job [0-9]+(, for one,)? belongs to another user' "a filter leaves others' jobs alone, and says so"
run stint show "$mine"
out 'RUNNING' "and the job runs on"
run two queue
out 'secret-of-one' "everybody sees the queue"
run two show "$mine" --json
want 0 "and what is in it"
is "but not commands" [ "$(grep -c 'hush\|private' stdout)" = 0 ]
is "nor comments and keys" [ "$(grep -c '"comment"\|"key"' stdout)" = 0 ]
run two history "$mine" --json
want 0 "what happened to it is no secret"
is "but comments and keys are" [ "$(grep -c '"comment"\|"key"' stdout)" = 0 ]
run one history "$mine" --json
out '"comment": "whose"' "to its user they are not"
run two queue --json
is "also not in the queue" [ "$(grep -c '"comment"\|"key"' <(grep -v '"key": "k"' stdout))" = 0 ]
is "where one sees one's own job" grep -q secret-of-one stdout
run one show "$mine" --json
out 'hush' "which are the user's own to see"
out '"comment": "whose"' "with the comment"
out '"key": "k"' "and the key"
run one logs "$mine"
out '^private words$' "as is the output"
run stint logs "$mine"
out '^private words$' "root sees it, too"
cannot "nobody lists the state" as 65534 ls "$STINT_STATE"
cannot "nor reads the record" as 65534 cat "$record"
cannot "nor what is beside it" as 65534 cat "$record-wal"
cannot "nor the token" as 65534 cat "$STINT_STATE/token"
cannot "nor others' output" as 65533 cat "$STINT_STATE/jobs/$mine/1/stdout"
cannot "nor writes there" as 65534 touch "$STINT_STATE/jobs/x"
is "there is no HTTP port" [ ! -e "$STINT_STATE/address" ]
fails 4 '--listen .*stint-http.socket.*ssh -L' "stint open says how to get one" stint open
run as 65533 "$place/bin/fetch" --status "$STINT_SOCKET" "/v1/jobs/$mine/progress" '{"attempt":1,"step":5}'
out '^403$' "nobody speaks for others' jobs"

# ---- output that points at what is not theirs
echo untouched >"$place/roots"
chmod 644 "$place/roots"
echo "root's secret" >"$place/hidden"
chmod 600 "$place/hidden"
ln -s "$place/hidden" "$place/open/link"
ln -s "$place" "$place/open/way"
run stint run --quiet -- echo "root's own words"
run stint queue --state ended --limit 1 --json
roots=$(sed -n 's/^ *"id": \([0-9]*\),$/\1/p' stdout)
ln -s "$STINT_STATE/jobs/$roots/1" "$place/open/roots-job"
for path in "$place/roots" "$place/hidden" "$place/open/link" "$place/open/way/hidden" "$record" \
	"$STINT_STATE/jobs/$mine/1/stdout" "$STINT_STATE/jobs/$mine/1/begun" \
	"$STINT_STATE/jobs/$roots/1/stdout" "$place/open/roots-job/stdout" "$place/open/roots-job/ended"; do
	submit_as two -o "$path" -e "$place/open/err.%j" -- echo overwritten
	run two wait "$job"
	is "output to ${path#"$place"/} fails" [ "$code" != 0 ]
	run two logs "$job"
	is "and shows nothing of it" empty stdout
	run two logs "$job" --json
	is "not even how much is in it" [ "$(grep -Ec '"size": [1-9]' stdout)" = 0 ]
done
is "files of root are as they were" [ "$(cat "$place/roots" "$place/hidden" | xargs -d '\n')" = "untouched root's secret" ]
run two run -o "$place/open/own.%j" -- echo own words
want 0 "output to a file of one's own"
soon "is there" grep -qs 'own words' "$place"/open/own.*
is "and is theirs" [ "$(stat -c %u "$place"/open/own.*)" = 65533 ]

# ---- logs are opened as their owner, and through no link of a user's
run two logs "$(basename "$place"/open/own.* | sed 's/own.//')"
out '^own words$' "and is read back"
as 65533 mkdir "$place/open/dir"
submit_as two -o "$place/open/dir/f" -- echo first words
run two wait "$job"
run two logs -f "$job"
out '^first words$' "also when it is followed"
mkdir -m 700 "$place/vault"
echo "two's, in root's vault" >"$place/vault/f"
chown 65533:65533 "$place/vault/f"
as 65533 mv "$place/open/dir" "$place/open/moved"
as 65533 ln -s "$place/vault" "$place/open/dir"
fails 3 'no output yet' "what its user cannot reach is not read through the daemon" two logs "$job"
fails 3 'no output yet' "and not by root on the user's behalf" stint logs "$job"
run two logs "$job" --json
out '"size": 0' "not even its size"
rm "$place/open/dir"
as 65533 ln -s "$place/open/moved" "$place/open/dir"
fails 3 'its path has a symbolic link' "a directory that became a link is not followed" two logs "$job"
rm "$place/open/dir"
as 65533 mv "$place/open/moved" "$place/open/dir"
run two logs "$job"
out '^first words$' "back in its place it is read again"
ln -s "$place/open" "$place/roots-way"
submit_as two -o "$place/roots-way/by-link" -- echo linked words
run two wait "$job"
run two logs "$job"
out '^linked words$' "a link of root's own leads there"
run stint logs "$job"
out '^linked words$' "for root, too"

# ---- root may do everything
run stint cancel "$mine" --reason 'by root'
want 0 "root cancels anybody's job"
run one wait "$mine"
out 'CANCELLED' "and it ends"
run stint policy set fifo
want 0 "root sets the policy"

# ---- a port that every user could have bound: reading only
http() { # METHOD PATH TOKEN: the status
	local address
	address=$(cat "$STINT_STATE/address")
	exec 5<>"/dev/tcp/127.0.0.1/${address##*:}"
	printf '%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n%s' \
		"$1" "$2" "${address#http://}" "$3" "$([ "$1" = GET ] && echo 0 || echo 2)" "$([ "$1" = GET ] || echo '{}')" >&5
	cat <&5 >answer
	exec 5>&-
	sed -n '1s/^[^ ]* \([0-9]*\).*/\1/p' answer
}
stop
is "again, with a port" begin --listen 127.0.0.1
token=$(cat "$STINT_STATE/token.read")
is "there is no full token" [ ! -e "$STINT_STATE/token" ]
cannot "nobody reads the other" as 65534 cat "$STINT_STATE/token.read"
is "which reads" [ "$(http GET /v1/jobs "$token")" = 200 ]
is "and measures" [ "$(http GET /metrics "$token")" = 200 ]
is "and changes nothing" [ "$(http POST /v1/policy "$token")" = 403 ]
is "and submits nothing" [ "$(http POST /v1/jobs "$token")" = 403 ]
is "and shows no output" [ "$(http GET "/v1/jobs/$mine/log" "$token")" = 403 ]
is "for which it gives the reason" grep -q 'a token for reading shows no output of jobs' answer
chmod 640 "$STINT_STATE/token.read"
chgrp 65533 "$STINT_STATE/token.read"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
is "again, after a kill" begin --listen 127.0.0.1
is "the token is another" [ "$(cat "$STINT_STATE/token.read")" != "$token" ]
is "the old one is void" [ "$(http GET /v1/jobs "$token")" = 401 ]
is "and is for the same group" [ "$(stat -c '%a %g' "$STINT_STATE/token.read")" = "640 65533" ]
fails 4 'administrator' "users do not see the audit" two audit
audited() { # PATTERN
	stint audit >audit.txt && grep -Eq "$1" audit.txt
}
soon "refused calls are in the audit" audited '^.* denied +65533 +user +unix +set_policy +403 '
soon "and what another may not do with a job" audited '^.* denied +65533 +user +unix +cancel +403 '
soon "also by a filter" audited '^.* denied +65533 +user +unix +cancel_many +403 .*jobs of others'
soon "and changes" audited '^.* change +root +admin +unix +set_policy +200 +1 .*fifo'
soon "and tokens" audited '^.* token +token.read +read +127\.0\.0\.1 '
soon "and tokens that are void" audited '^.* denied +none +none +127\.0\.0\.1 .* 401 '
is "the log says why" grep -q 'did not stop cleanly.*tokens are new' daemon.log

is "the daemon stops without a fault" stop
run stint replay "$STINT_STATE"
want 0 "all of this replays"
run stint db check
want 0 "the record is sound"
is "the log has no errors" [ "$(grep -c ' error: ' daemon.log)" = 0 ]

finish
