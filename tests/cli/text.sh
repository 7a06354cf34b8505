#!/bin/bash
# Free text of others: what comes in is plain, what goes out is escaped, keys stand for one
# submission, and cells of reports begin no formula.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

esc=$'\033' csi=$'\302\233' rlo=$'\342\200\256'
no_raw() { # FILE: no byte that steers a terminal, and no override of the direction
	! LC_ALL=C grep -q "[$(printf '\001-\010\013-\037\177')]" "$1" && ! grep -q "$rlo" "$1" && ! grep -q "$csi" "$1"
}

is "the daemon starts" daemon_start

# ---- on the way in
fails 2 'comment: byte 2 is a control character .*U\+001B' "a comment with an escape is refused" \
	stint submit --comment "a${esc}[2J" -- true
fails 2 'comment: byte 2 .*U\+000A' "and one of two lines" stint submit --comment $'a\nb' -- true
fails 2 'name: byte 1 .*U\+202E' "a name that turns the writing around" stint submit --name "${rlo}gpj" -- true
fails 2 'key: byte 2 .*U\+009B' "a key with CSI in one character" stint submit --key "k${csi}" -- true
fails 2 'tenant: byte 1 \(0xff\) is not UTF-8' "a tenant that is no UTF-8" stint submit --tenant $'\377' -- true
dir="d${esc}]0;owned${rlo}"
mkdir -p "$dir"
printf '#!/bin/sh\nexit 0\n' >"$dir/p${csi}q"
chmod +x "$dir/p${csi}q"
submit --hold --chdir "$work/$dir" -- "./p${csi}q" "arg${esc}[31m"
run stint show "$job"
out '^name +p_q$' "a name made of the command has '_' for what is not plain"
out 'arg\\u001b\[31m' "the command itself is kept, and shown escaped"
out 'd\\u001b\]0;owned\\u202e' "so is its directory"
is "and nothing raw" no_raw stdout
run stint show "$job" --json
is "nor in JSON" no_raw stdout
is "which says the same" python3 -c '
import json
job = json.load(open("stdout"))
assert job["cwd"].endswith("d\x1b]0;owned\u202e"), job["cwd"]
assert job["command"] == ["./p\x9bq", "arg\x1b[31m"], job["command"]'
fails 2 'reason: byte 1 .*U\+001B' "a reason is plain, too" stint nodes drain :0 --reason "${esc}c"
run stint release "$job"
is "it runs as it was submitted" stint wait "$job"
run stint queue --all
is "the list is plain" no_raw stdout
run stint history "$job"
is "so is its history" no_raw stdout
fails 3 'no job|not' "what somebody types comes back escaped" stint show 4711
run stint cancel "x${esc}[2J"
want 2 "a wrong job is a mistake"
is "whose text is plain" no_raw stderr

# ---- names of files in messages: also changes of colour, which only the program itself may make
file="f${esc}[31m${rlo}.yaml"
printf 'gpus: [\n' >"$file"
plain_error() { # WHAT COMMAND...: fails with the name of the file, escaped, and nothing raw
	local what=$1
	shift
	run "$@"
	[ "$code" != 0 ] && grep -q 'f\\u001b\[31m\\u202e' stderr && no_raw stderr && no_raw stdout
	report $? "$what"
}
plain_error "a trace that is not there" stint sim "no-$file" --cluster 1x2
plain_error "a cluster file that is none" stint sim trace.csv --cluster "$file"
plain_error "a submission in a file that is none" stint submit "$file"
plain_error "a file of notifications" stint notify check "$file"
plain_error "a file of quotas" stint quota check "$file"
submit --output "/dev/null/$file" -- true
run stint wait "$job"
want 126 "an output that cannot be fails the job"
run stint show "$job"
out 'f\\u001b\[31m\\u202e' "which is told with its name"
is "and nothing raw" no_raw stdout
plain_error "a run that is none" stint replay "$file"
plain_error "a record that is none" stint db check "$file"
plain_error "a flag that is none" stint queue "--$file"
plain_error "a command that is none" stint "$file"
plain_error "a socket that is none" stint queue --socket "$work/$file"
run stint db backup "$work/b$file"
want 0 "a backup has any name"
out 'bf\\u001b\[31m' "which is shown escaped"
is "and not raw" no_raw stdout

# ---- keys
submit --hold --key once --comment first -- sleep 60
first=$job
submit --hold --key once --comment first -- sleep 60
is "the same again under a key is the same job" [ "$job" = "$first" ]
SHLVL=9 TERM=other STINT_JOB_ID=3 submit --hold --key once --comment first -- sleep 60
is "also from another terminal" [ "$job" = "$first" ]
fails 4 "key: 'once' was used before for job $first, with another command; use another key" \
	"another command under it is refused" stint submit --hold --key once --comment first -- sleep 61
fails 4 'with another gpus' "and other devices" stint submit --hold --key once --comment first --gpus 2 -- sleep 60
fails 4 'with another env \(variable SEED\);' "and another environment, with the variable" env SEED=2 "$STINT" submit --hold --key once --comment first -- sleep 60
submit --hold --key dated --deadline now+2h -- true
first=$job
submit --hold --key dated --deadline now+3h -- true
is "a date relative to now is no other submission" [ "$job" = "$first" ]
daemon_crash
is "another daemon starts" daemon_start
fails 4 'with another command' "and knows the key's submission, too" \
	stint submit --hold --key dated --deadline now+2h -- false
submit --hold --key dated --deadline now+2h -- true
is "and its job" [ "$job" = "$first" ]

# ---- reports
cat >trace.csv <<'ROWS'
id,name,tenant,arrival_s,duration_s,gpus
"=1+1","@SUM(A1)","+x",0,10,1
'-2x,'quoted,-y,1,10,1
ROWS
run stint trace convert trace.csv out.csv
want 0 "a trace of such names is converted"
is "no cell begins a formula" sh -c "! grep -Eq '(^|,)\"?[=+@-][^0-9,]' out.csv"
run stint trace convert out.csv again.csv
is "and it comes back as it was" cmp out.csv again.csv
is "with the names it had" grep -q "^'-2x,'quoted,'-y," out.csv
run stint sim trace.csv --cluster 1x2 --out ran
want 0 "and it is simulated"
is "jobs.csv begins no formula either" sh -c "! grep -Eq '(^|,)\"?[=+@-][^0-9,]' ran/jobs.csv"
printf 'id,name,tenant,arrival_s,duration_s\n1,a,%s,0,10\n' "t${esc}[2J${rlo}" >raw.csv
run stint trace show raw.csv
is "names of a trace are shown plain" no_raw stdout

finish
