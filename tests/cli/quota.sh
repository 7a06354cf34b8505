#!/bin/bash
# Quotas: files that are checked, and real jobs of two tenants: one borrows what idles, the owner
# comes back, the borrower saves and goes, and everybody is told why.
# shellcheck disable=SC2016,SC2317,SC2059
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

# ---- files
cat >good.yaml <<'END'
tenants:
  - {name: labs, guaranteed: {v100: 8, a100: 4}, borrow: 4}
  - {name: vision, parent: labs, guaranteed: {v100: 6}, lend: {v100: 2}}
  - {name: speech, parent: labs, guaranteed: {v100: 2, a100: 2}}
  - {name: guests, weight: 0.5, borrow: 8}
END
run stint quota check good.yaml --cluster 2x8:v100,1x4:a100
want 0 "what the cluster has can be promised"
out '4 tenants, 12 of 20 devices promised: can be kept' "and it is said how much that is"
run stint quota check good.yaml --cluster 2x8:v100,1x4:a100 --json
is "as JSON, too" valid_json stdout quota-check/1
is "and says that it is well" grep -q '^  "ok": true' stdout
fails 4 '"labs" is promised 4 a100, and the cluster has none|"labs" is promised 8 v100, and the cluster has 4' \
	"not what it has not" stint quota check good.yaml --cluster 1x4:v100
fails 4 'promised 4 a100, and the cluster has none; did you mean [av]10' "types that are not there are named" \
	stint quota check good.yaml --cluster 2x8:v100,1x4:a10
cat >torn.yaml <<'END'
tenants:
  - {name: labs, guaranteed: 12}
  - {name: a, parent: labs, guaranteed: 8}
  - {name: b, parent: labs, guaranteed: 1}
  - {name: c, parent: labs, guaranteed: 6}
END
fails 4 'torn.yaml:2: tenants #1 guaranteed: "a" and "c" are promised 8 \+ 6 = 14 devices, and "labs" above has 12' \
	"below no more than above, and the fewest who are too much are named" \
	stint quota check torn.yaml --cluster 4x8
run stint quota check torn.yaml --cluster 4x8 --json
want 4 "what cannot be kept is refused with --json, too"
is "and is JSON" valid_json stdout quota-check/1
is "that says so" grep -q '^  "ok": false' stdout
is "of whom" sh -c 'tr -d " \n" <stdout | grep -q "\"conflict\":{\"tenants\":\[\"a\",\"c\",\"labs\"\],\"above\":\"labs\",\"text\":"'
is "and why, as the error does" grep -q '"text": ".*promised 8 + 6 = 14 devices, and .*labs.* above has 12"' stdout
printf 'tenants:\n  - {name: a, guaranteed: 8}\n  - {name: b, guaranteed: 2}\n  - {name: c, guaranteed: 7}\n' >much.yaml
fails 4 'much.yaml: "a" and "c" are promised 8 \+ 7 = 15 devices, and the cluster has 12' \
	"the fewest who are promised too much are named" stint quota check much.yaml --cluster 3x4
run stint quota check much.yaml --cluster 3x4 --json
is "of the cluster nobody is above" sh -c 'tr -d " \n" <stdout | grep -q "\"tenants\":\[\"a\",\"c\"\],\"above\":null"'
printf 'tenants:\n  - {name: x, guaranteed: 5}\n  - {name: y, parent: x, guaranteed: {a100: 3}}\n  - {name: z, guaranteed: {a100: 2}}\n' >inside.yaml
fails 4 '"y" and "z" are promised 3 \+ 2 = 5 a100, and the cluster has 4' \
	"by type also inside of devices of any type" stint quota check inside.yaml --cluster 1x4:a100,1x8:v100
printf 'tenants:\n  - {name: p, guaranteed: 6}\n  - {name: a, parent: p, guaranteed: 4}\n  - {name: b, parent: p, guaranteed: 3}\n  - {name: c, guaranteed: 17}\n' >kinds.yaml
fails 4 'kinds.yaml: "c" is promised 17 devices, and the cluster has 16' \
	"over all kinds of conflicts: one tenant before three" stint quota check kinds.yaml --cluster 1x8:v100,1x8:a100
printf 'tenants:\n  - {name: a, parent: b}\n  - {name: b, parent: c}\n  - {name: c, parent: a}\n  - {name: d, parent: d}\n' >round.yaml
fails 1 'round.yaml:5: .*"d" is its own parent' "of circles the shortest, and such a file is malformed" \
	stint quota check round.yaml --cluster 1x8
fails 1 'its own parent' "to a simulation, too" stint sim synth:jobs=5 --cluster 1x8 --tenants round.yaml
fails 1 'its own parent' "and to stint cells" stint cells check round.yaml --cluster 1x8
fails 4 '"labs" above has 12' "below more than above is refused by a simulation" \
	stint sim synth:jobs=5 --cluster 4x8 --tenants torn.yaml
fails 4 '"labs" above has 12' "and by stint cells" stint cells check torn.yaml --cluster 4x8
fails 4 'admission quota: "a" and "c" are promised' "a simulation does not begin with that" \
	stint sim synth:jobs=5 --cluster 3x4 --tenants much.yaml --admit quota
fails 2 'no .chek. \(did you mean check' "a wrong word is told" stint quota chek much.yaml
fails 3 'cannot open nosuch.yaml' "a file that is not there is not found" stint quota check nosuch.yaml --cluster 1x4
fails 2 'set TENANT with what to change' "set needs something to set" stint quota set a

cat >both.yaml <<'END'
tenants:
  - {name: a, cells: [{cell: device, count: 2}]}
  - {name: b, guaranteed: 4}
END
fails 4 'both.yaml: with the devices of its cells, "b" and "a" are promised 4 \+ 2 = 6 devices' \
	"quotas and cells are counted together" stint quota check both.yaml --cluster 1x4
fails 4 '"b" and "a" are promised 4 \+ 2 = 6' "also by a simulation that keeps both" \
	stint sim synth:jobs=5 --cluster 1x4 --tenants both.yaml --admit quota --placer hived
run stint sim synth:jobs=5,gpus=one --cluster 1x4 --tenants both.yaml --admit quota
want 0 "and by none that keeps quotas alone"
run stint quota check both.yaml
err 'which cluster|is promised|are promised' "without --cluster it is about the one at hand"

# ---- simulated
cat >two.yaml <<'END'
tenants:
  - {name: own, guaranteed: 2}
  - {name: guests, borrow: 4}
END
printf 'id,tenant,gpus,arrival_s,duration_s\n1,guests,2,0,100\n2,guests,2,0,100\n3,own,2,10,20\n4,own,6,0,5\n' >t.csv
run stint sim t.csv --cluster 1x4 --tenants two.yaml --admit quota --policy fifo --out run
want 5 "a job that can never fit is refused"
is "a borrower gives way" grep -Eq '^2,.*,0,1?[0-9.]*,' run/jobs.csv
is "and why is in the events" grep -q '"why":"reclaimed","need":2,"share":4,"against":0,"other":"3"' run/events.jsonl

printf 'tenants:\n  - {name: ghost, guaranteed: 4, lend: 0}\n  - {name: tenant-1}\n' >idle.yaml
for policy in fifo sia themis gavel; do
	run stint sim synth:jobs=40,tenants=1,gpus=philly,arrivals=static --cluster 1x8:v100 --tenants idle.yaml \
		--admit quota --policy $policy --out "why-$policy"
	is "$policy: what others keep is the quota's doing" grep -q '"why":"quota","need":1,"have":0' "why-$policy/events.jsonl"
	is "$policy: and is not called fragmented" sh -c '! grep -q "\"why\":\"fragmented\",\"need\":1," "$1"' - "why-$policy/events.jsonl"
done

# ---- live
cat >live.yaml <<'END'
tenants:
  - {name: own, guaranteed: 2}
  - {name: guests, borrow: 4}
END
is "a daemon answers" daemon_start --slots 4 --no-cgroups --policy fifo --admit quota --tenants live.yaml
run stint quota
want 0 "quota shows tenants"
out '^own +1 +2 +all +all +0 +0' "with what they are promised"
is "and quotas are kept" empty stderr

job() { # NAME TENANT FLAG...: until NAME.end is there; saves and goes when it is asked to
	local name=$1 tenant=$2
	shift 2
	run stint submit --parsable --name "$name" --tenant "$tenant" --gpus 2 --grace 60s "$@" -- sh -c '
		trap "echo saved >>'"$name"'.saves; exit 85" TERM
		until [ -e '"$name"'.end ]; do sleep 0.05; done'
	job=$(cat stdout)
	[ "$code" = 0 ] || report 1 "submit $name"
}
is_state() { # JOB STATE
	stint show "$1" --json | grep -q "^  \"state\": \"$2\""
}
job g1 guests; g1=$job
soon "the first borrower runs" is_state "$g1" RUNNING
job g2 guests; g2=$job
soon "the second borrower runs, too" is_state "$g2" RUNNING
run stint quota
out '^guests +1 +0 +4 +all +4 +4 +2 ' "both on borrowed devices"
job o1 own; own=$job
soon "the owner gets what is its own" is_state "$own" RUNNING
soon "whoever came last gave it back" is_state "$g2" PENDING
is "after it saved" test -s g2.saves
is "the other goes on" is_state "$g1" RUNNING
run stint explain "$g2"
want 0 "explain"
out 'its tenant had 4 devices and is guaranteed 0; job 3 had a right to what it had borrowed' \
	"it is told why, in numbers"
run stint explain "$g2" --json
is "as JSON, too" valid_json stdout explain/1
run stint queue
out 'its tenant had 4 devices and is guaranteed 0; job 3 had a right' "in the queue, too"
run stint history "$g2"
out 'preempt +1 +promise +asked to stop: its tenant had 4 devices .* job 3 had a right .* quota$' \
	"in its history, which says whose doing it was"
run stint quota --json
is "quota --json" valid_json stdout quota/1
fails 4 '"own" and "more" are promised 2 \+ 3 = 5 devices, and the cluster has 4|"more" and "own" are promised 3 \+ 2 = 5 devices' \
	"more than there is is refused live" stint quota set more --guaranteed 3
run stint quota set own --lend 1 --weight 2
want 0 "what can be kept is not"
out '^tenant own: weight 2, guaranteed 2, lend 1$' "and told"
fails 3 'no tenant "nobody"' "a parent that is not there is named" stint quota set own --parent nobody
run stint quota set guests --parent own
out 'below own' "a tenant can be put below another"
fails 4 'stands below "own"|stands below "guests" already|"guests" stands below' "but not in a circle" \
	stint quota set own --parent guests
run stint quota set guests --parent none
want 0 "and be taken out again"
run stint quota export
want 0 "export"
cp stdout exported.yaml
run stint quota load exported.yaml
want 0 "what was exported can be loaded"
out '^guests +1 +0 +4 +all +2 +2 +1 ' "and who has devices has them in the answer"
run stint quota export
is "and is the same" cmp -s stdout exported.yaml
run stint quota set own --lend all
want 0 "what is lent can be changed"
run stint quota set guests --borrow 3
want 0 "and what is borrowed"
fails 5 'never have more than 3' "a job that its tenant could never run is refused at once" \
	stint submit --tenant guests --gpus 4 -- true
run stint quota set none --borrow 0
fails 5 'never have more than 0' "nor can one that may have nothing" stint submit --tenant none --gpus 1 -- true
fails 4 '"own" cannot be its own parent' "nobody is its own parent" stint quota set own --parent own
touch o1.end
soon "the owner ends" is_state "$own" COMPLETED
explained() { # JOB REGEX
	stint explain "$1" | grep -Eq "$2"
}
soon "it may not borrow so much now, and is told" explained "$g2" 'quota.* room for [01]: [24] of at most 3 are in use or asked for'
run stint explain "$g2"
out '4 devices that guests may borrow instead of 3: stint quota set guests --borrow 4' "and what would start it"
out 'tenant guests is guaranteed 0 and may borrow 3, has 2' "with proof"
run stint quota set guests --borrow 1
want 0 "less can be borrowed than is"
soon "who then has too much gives back" is_state "$g1" PENDING
soon "and is told by how much" explained "$g1" 'room for 1: 2 of at most 1 are in use|never have more than 1'
run stint history "$g1"
out 'preempt +1 +promise +asked to stop: it needs 2 devices and its tenant.s quota has room for 1: 2 of at most 1' \
	"also in its history"
run stint cancel "$g1" --quiet
soon "one that could never fit is told so" explained "$g2" 'it can never have more than 1'
run stint explain "$g2"
out '2 devices that guests may borrow instead of 1: stint quota set guests --borrow 2' "and what would start it"
run stint quota set guests --borrow 2
soon "which is true" is_state "$g2" RUNNING
touch g2.end
soon "and ends" is_state "$g2" COMPLETED
daemon_gone
run stint replay "$STINT_STATE"
want 0 "all of this replays"

# ---- between the rounds of a policy, which are 300 s apart
STINT_STATE=$work/rounds
is "a daemon with rounds answers" daemon_start --slots 4 --no-cgroups --policy synergy --admit quota --tenants live.yaml
rm -f ./*.end
job r1 guests; r1=$job
soon "who is alone begins at once" is_state "$r1" RUNNING
job r2 guests; r2=$job
job r3 own; r3=$job
soon "an owner does not wait for the round" is_state "$r3" RUNNING
is "others do" is_state "$r2" PENDING
run stint history "$r3"
out 'start +1 +promise +given devices: 2 cpu +quota$' "and its history says that it was promised"
daemon_gone
run stint replay "$STINT_STATE"
want 0 "this replays, too"

# ---- with cells
cat >celled.yaml <<'END'
tenants:
  - {name: own, cells: [{cell: device, count: 2}]}
  - {name: more, cells: [{cell: device}], guaranteed: 2}
  - {name: guests}
END
STINT_STATE=$work/celled
is "a daemon with cells and quotas answers" daemon_start --slots 4 --no-cgroups --policy fifo --placer hived --admit quota --tenants celled.yaml
submit --tenant own --gpus 2 -- sleep 600
submit --tenant guests --gpus 4 -- sleep 600
run stint explain "$job"
want 0 "no change that could not be kept beside the cells is tried"
daemon_gone

# ---- why, under the policy that a daemon has unless told otherwise
STINT_STATE=$work/why
is "a daemon with its own policy answers" daemon_start --slots 4 --no-cgroups --admit quota --tenants live.yaml
sized() { # TENANT GPUS
	submit --tenant "$1" --gpus "$2" -- sleep 600
}
sized guests 2
sized guests 2; last=$job
soon "a borrower runs" is_state "$last" RUNNING
sized own 2; first=$job
soon "until its owner comes" is_state "$first" RUNNING
told() { stint queue | grep -Eq "$1"; }
soon "the borrower is told so" told 'is guaranteed 0; job 3 had a right to what it had borrowed'
sized guests 1
soon "another comes, which is decided upon" is_state "$job" PENDING
is "and still is at the next decision" told 'is guaranteed 0; job 3 had a right to what it had borrowed'
daemon_gone

# ---- less than before
STINT_STATE=$work/lowered
is "a daemon under fifo answers" daemon_start --slots 4 --no-cgroups --policy fifo --admit quota --tenants live.yaml
sized guests 2; wide=$job
sized guests 1; narrow=$job
sized own 2; first=$job
sized own 1; second=$job
soon "the owner has its part, a borrower the rest" is_state "$wide" RUNNING
soon "of four devices" is_state "$first" RUNNING
is "two wait" is_state "$second" PENDING
run stint quota set guests --borrow 1
soon "with a lower quota who asks for more than it may ever have gives back" is_state "$wide" PENDING
run stint explain "$wide"
out 'room for 1: it can never have more than 1' "and is told so"
soon "nobody waits behind it: not its tenant's" is_state "$narrow" RUNNING
soon "nor another's" is_state "$second" RUNNING
run stint quota set guests --borrow 4
stint cancel --quiet "$first" "$second" >/dev/null
soon "with a higher one it goes on" is_state "$wide" RUNNING
stint cancel --quiet "$wide" "$narrow" >/dev/null
submit --tenant guests --gpus 2 --min-gpus 1 --max-gpus 4 -- sleep 600; elastic=$job
soon "one that takes fewer runs" is_state "$elastic" RUNNING
run stint quota set guests --borrow 1
has_one() { stint show "$elastic" --json | grep -q '"held_gpus": 1,'; }
soon "and with a lower quota goes on with fewer" has_one
daemon_gone
run stint replay "$STINT_STATE"
want 0 "which replays as well"
finish
