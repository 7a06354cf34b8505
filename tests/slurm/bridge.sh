#!/bin/bash
# The bridge with a real Slurm: every request, and every way in which one can fail.
# Functions are called by soon and ask_new.
# shellcheck disable=SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"

cluster_begin 2
bridge_begin --timeout 15 --record talk

# ---- what is there

ask '{"id":1,"op":"hello","protocol":1}'
out '^\{"id":1,"ok":true,"protocol":1,"slurm":"[0-9.]+","cluster":"vc","uid":0,"operator":true,"kill_wait_s":5,' "hello"
out '"accounting":"none","jobcomp":"filetxt","jobcomp_loc":"[^"]*/jobcomp.txt"' "where runs are written down"
ask '{"id":2,"op":"hello","protocol":99}'
out '"id":2,"ok":false,"kind":"protocol"' "another protocol is refused"
ask '{"id":3,"op":"partitions"}'
out '"name":"gpu","up":true,"nodes":\["k80-1","k80-2","p100-1","p100-2","v100-1","v100-2"\],"default":true' "partitions"
ask '{"id":4,"op":"nodes","since":0}'
out '"changed":true' "nodes"
out '"name":"v100-2","state":"IDLE","usable":true,"drained":false,"reason":"","cpus":16,"mem_mb":16000,"gpus":\[\{"type":"v100","count":4\}\],"used":0,"features":"v100"' "a node in full"
ask '{"id":5,"op":"ping"}'
is "ping" [ "$(cat stdout)" = '{"id":5,"ok":true}' ]
ask 'nonsense'
out '"id":null,"ok":false,"kind":"protocol"' "what is no JSON"
ask '{"id":6,"op":"dance"}'
out '"id":6,"ok":false,"kind":"protocol".*dance' "an unknown request"

# ---- submit

ask '{"id":7,"op":"jobs","since":0}'
out '"jobs":\[\],"gone":\[\],.*"full":true' "no jobs yet"
since=$(stamp)
script='#!/bin/sh\ntrap : USR2\nwhile :; do sleep 0.1; done\n'
one='{"key":"stint:t:1:1","name":"train","script":"'$script'","env":["A=b"],"cwd":"/tmp","uid":65534,"gid":65534,"account":"nlp","partition":"gpu","gpus":2,"nodes":1,"cpus":4,"mem_mb":4000,"limit_s":3600,"out":"/dev/null","err":"/dev/null","hold":true,"requeue":true}'
two='{"key":"stint:t:2:1","name":"wide","script":"'$script'","cwd":"/tmp","gpus":4,"nodes":2,"out":"/dev/null","hold":true,"requeue":true}'
late='{"key":"stint:t:3:1","name":"late","script":"'$script'","cwd":"/tmp","begin":4000000000,"dependency":"afterok:1","out":"/dev/null"}'
lost='{"key":"stint:t:4:1","script":"'$script'","cwd":"/tmp","partition":"nowhere"}'
bare='{"key":"stint:t:5:1","script":"echo","cwd":"/tmp"}'
odd='{"key":"stint:t:6:1","script":"'$script'","cwd":"/tmp","gpus":3,"nodes":2}'
ask '{"id":8,"op":"submit","jobs":['"$one,$two,$late,$lost,$bare,$odd"']}'
out '"results":\[\{"ok":true,"job":"1"\},\{"ok":true,"job":"2"\},\{"ok":true,"job":"3"\},' "jobs are submitted"
out '"kind":"missing","code":2000,' "not to a partition that is not there"
out '"kind":"refused".*must begin with #!' "not without an interpreter"
out '3 GPUs cannot be shared equally by 2 nodes' "not in unequal parts"
is "it is whose it shall be, held, with its demand" is_so 1 '%T %U %b %D %C %a %k' 'PENDING 65534 gres:gpu:2 1 4 nlp stint:t:1:1'
is "so is the wide one" is_so 2 '%T %U %b %D' 'PENDING 0 gres:gpu:2 2'
ask '{"id":9,"op":"jobs","since":'"$since"'}'
out '"full":false' "only what is new"
is "its state" [ "$(said 1 state) $(said 1 held) $(said 1 priority) $(said 1 restarts)" = '"PENDING" true 0 0' ]
is "its demand" [ "$(said 1 gpus) $(said 1 per_node) $(said 1 gpu_type) $(said 1 nodes) $(said 1 cpus) $(said 1 mem_mb)" = '2 2 "" 1 4 4000' ]
is "whose it is" [ "$(said 1 user) $(said 1 uid) $(said 1 gid) $(said 1 account) $(said 1 comment)" = '"nobody" 65534 65534 "nlp" "stint:t:1:1"' ]
is "of the wide one the whole" [ "$(said 2 gpus) $(said 2 per_node) $(said 2 nodes)" = '4 2 2' ]
is "its limit and where it goes" [ "$(said 1 limit_s) $(said 1 cwd) $(said 1 out) $(said 1 batch)" = '3600 "/tmp" "/dev/null" true' ]
is "what is not known is absent" [ "$(said 1 start) $(said 1 task) $(said 2 limit_s)" = 'null null null' ]
is "what it waits for" [ "$(said 3 dependency)" = '"afterok:1(unfulfilled)"' ]
since=$(stamp)
ask '{"id":10,"op":"jobs","since":'"$((since - 5))"'}'
out '"full":true' "after a stamp that it does not know: all"
since=$(stamp)
ask '{"id":11,"op":"find","prefix":"stint:t:2:"}'
is "found by the key" [ "$(said 2 name)$(said 1 name)" = '"wide"' ]

# ---- start

ask '{"id":12,"op":"start","jobs":[{"job":"1","nodes":["v100-1"],"gpus":2,"limit_s":1800,"admin_comment":"stint:mark","restarts":0},{"job":"2","nodes":["k80-1","k80-2"],"gpus":4},{"job":"99","nodes":["k80-1"],"gpus":1},{"job":"3","nodes":[],"gpus":1},{"job":"2","nodes":["k80-1","k80-2"],"gpus":4,"restarts":7}]}'
out '"results":\[\{"ok":true\},\{"ok":true\},\{"ok":false,"kind":"missing"[^}]*\},\{"ok":false,"kind":"protocol"[^}]*\},\{"ok":false,"kind":"busy","code":0,"error":"job 2 has been restarted 0 times, not 7"\}\]' "started, or why not"
soon "it runs where it shall" is_so 1 '%T %N' 'RUNNING v100-1'
soon "on two nodes" is_so 2 '%T %N' 'RUNNING k80-[1-2]'
ask '{"id":13,"op":"jobs","since":'"$since"'}'
is "with its GPUs" [ "$(said 1 on) $(said 1 admin_comment) $(said 1 limit_s)" = '[["v100-1", 2]] "stint:mark" 1800' ]
is "on each of two" [ "$(said 2 on)" = '[["k80-1", 2], ["k80-2", 2]]' ]
is "others are not mentioned" [ "$(said 3 job)" = '' ]
since=$(stamp)
ask '{"id":14,"op":"nodes","since":0}'
out '"name":"v100-1","state":"MIXED","usable":true[^]]*\],"used":2' "a node knows what is used"

# ---- requeue, and another place

pending_again() { # JOB: also of the run's remains nothing
	ask '{"id":15,"op":"jobs","since":0}'
	[ "$(said "$1" state) $(said "$1" held) $(said "$1" completing)" = '"PENDING" true false' ]
}
runs_on() { # JOB PAIRS
	ask '{"id":16,"op":"jobs","since":0}'
	[ "$(said "$1" state) $(said "$1" on)" = "\"RUNNING\" $2" ]
}
move() { # JOB NODES GPUS PAIRS WHAT
	ask '{"id":17,"op":"requeue","jobs":["'"$1"'"]}'
	out '"results":\[\{"ok":true\}\]' "$5: requeue"
	soon "$5: held again" pending_again "$1"
	ask '{"id":18,"op":"start","jobs":[{"job":"'"$1"'","nodes":['"$2"'],"gpus":'"$3"'}]}'
	out '"results":\[\{"ok":true\}\]' "$5: start"
	soon "$5: runs" runs_on "$1" "$4"
}
move 1 '"p100-1"' 4 '[["p100-1", 4]]' "another type and count"
# Elsewhere than before: a node refuses for a moment to start a job again that was stopped there ("Job credential
# revoked"), and Slurm then ends the job.
move 1 '"p100-2","v100-1"' 6 '[["p100-2", 3], ["v100-1", 3]]' "one node to two"
move 1 '"v100-2"' 1 '[["v100-2", 1]]' "two nodes to one"
is "restarts are counted" [ "$(said 1 restarts)" = 3 ]
ask '{"id":19,"op":"requeue","jobs":["3","99"]}'
out '"results":\[\{"ok":(true|false,"kind":"busy"[^}]*)\},\{"ok":false,"kind":"missing"' "who waits is left as it is"

# ---- an array's task

array=$(sbatch --parsable -H -a 0-5%2 --gres=gpu:1 -o /dev/null --wrap 'sleep 1000')
ask '{"id":20,"op":"jobs","since":0}'
is "an array is one job" [ "$(said "$array" array) $(said "$array" tasks) $(said "$array" task)" = "$array \"0-5%2\" null" ]
ask '{"id":21,"op":"start","jobs":[{"job":"'"${array}_3"'","nodes":["k80-2"],"gpus":1,"restarts":0}]}'
soon "one task starts alone" runs_on "${array}_3" '[["k80-2", 1]]'
is "the others wait" [ "$(said "$array" tasks) $(said "$array" held) $(said "${array}_3" task)" = '"0-2,4-5%2" true 3' ]
move "${array}_3" '"p100-2"' 2 '[["p100-2", 2]]' "a task"

# ---- a job with a type, as users submit them

typed=$(sbatch --parsable -H --gres=gpu:v100:1 -o /dev/null --wrap 'sleep 1000')
ask '{"id":50,"op":"start","jobs":[{"job":"'"$typed"'","nodes":["v100-1"],"gpus":2}]}'
out '"ok":false,"kind":"refused","code":2119' "a type cannot be taken away"
ask '{"id":51,"op":"start","jobs":[{"job":"'"$typed"'","nodes":["v100-1"],"gpus":2,"gpu_type":"v100"}]}'
soon "but the count can be changed" runs_on "$typed" '[["v100-1", 2]]'
is "the type is told" [ "$(said "$typed" gpu_type)" = '"v100"' ]

# ---- hold, release, note, signal, cancel

ask '{"id":22,"op":"hold","jobs":["3"]}'
is "hold" is_so 3 '%T %r' 'PENDING JobHeldAdmin'
ask '{"id":23,"op":"note","jobs":[{"job":"3","admin_comment":"a \"word\""},{"job":"3"}]}'
out '"results":\[\{"ok":true\},\{"ok":false,"kind":"protocol"' "note"
is "Slurm has it" grep -q 'AdminComment=a "word"' <(scontrol show job 3)
ask '{"id":24,"op":"requeue","jobs":["1"]}'
soon "back" pending_again 1
ask '{"id":25,"op":"release","jobs":[{"job":"1"}]}'
soon "released it runs where Slurm likes" is_so 1 '%T' RUNNING
ask '{"id":26,"op":"jobs","since":0}'
is "without pin and mark" [ "$(said 1 req_nodes)$(said 1 admin_comment)" = '""""' ]
ask '{"id":27,"op":"signal","jobs":["1","3"],"signal":12}'
out '"results":\[\{"ok":true\},\{"ok":false,"kind":"busy"' "signal"
is "which it handles" is_so 1 '%T' RUNNING
ask '{"id":28,"op":"cancel","jobs":["2","'"$array"'","99","'"$typed"'"]}'
out '"results":\[\{"ok":true\},\{"ok":true\},\{"ok":false,"kind":"missing"' "cancel"
soon "cancelled" is_so 2 '%T' CANCELLED
soon "with all of its tasks" [ -z "$(squeue -h -j "$array" -t PENDING,RUNNING)" ]

# ---- nodes

ask '{"id":29,"op":"drain","nodes":["p100-2","nowhere"],"reason":"stint: fan"}'
out '"results":\[\{"ok":true\},\{"ok":false,"kind":"missing"' "drain"
ask '{"id":30,"op":"nodes","since":0}'
out '"name":"p100-2","state":"[A-Z]*","usable":false,"drained":true,"reason":"stint: fan"' "drained"
ask '{"id":31,"op":"resume","nodes":["p100-2"]}'
resumed() { # as soon as it has been heard of
	ask '{"id":32,"op":"nodes","since":0}'
	grep -q '"name":"p100-2","state":"[A-Z]*","usable":true,"drained":false' stdout
}
soon "resume" resumed
unchanged() {
	ask '{"id":33,"op":"nodes","since":'"$(stamp)"'}'
	grep -q '"changed":false,"nodes":\[\]' stdout
}
soon "and then nothing changes" unchanged

# ---- others

cp "$bridge" "$place/stint-slurm"
other() {
	setpriv --reuid 65534 --regid 65534 --clear-groups -- "$place/stint-slurm" "$@"
}
if setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
	ask_new '{"id":1,"op":"hello","protocol":1}' other
	out '"uid":65534,"operator":false' "somebody else is no operator"
	ask_new '{"id":1,"op":"cancel","jobs":["3"]}' other
	out '"ok":false,"kind":"denied"' "and cancels nothing of root's"
	ask_new '{"id":1,"op":"start","jobs":[{"job":"3","nodes":["k80-1"],"gpus":1}]}' other
	out '"ok":false,"kind":"denied"' "starts nothing"
	ask_new '{"id":1,"op":"drain","nodes":["k80-1"]}' other
	out '"ok":false,"kind":"denied"' "drains nothing"
	ask_new '{"id":1,"op":"submit","jobs":[{"script":"#!/bin/sh","cwd":"/tmp","uid":0,"gid":0}]}' other
	out '"ok":false,"kind":"denied".*only root' "submits nothing as root"
else
	echo "skip - no setpriv: nothing was tried as another user"
fi

# ---- away

ask_new '{"id":1,"op":"ping"}' env SLURM_CONF="$place/nowhere" "$bridge"
out '"ok":false,"kind":"unreachable".*nowhere' "no slurm.conf: it says so, and goes on"
want 0 "and ends well"
echo 'NoSuchKey=1' >"$place/bad.conf"
ask_new '{"id":1,"op":"ping"}' env SLURM_CONF="$place/bad.conf" "$bridge"
out '"ok":false,"kind":"unreachable"' "nor does a bad one end it"

"$vcluster" kill-munge
ask '{"id":40,"op":"ping"}'
out '"ok":false,"kind":"auth".*munge' "munge is away"
ask '{"id":41,"op":"hello","protocol":1}'
out '"ok":false,"kind":"auth"' "at once, for a moment"
"$vcluster" start-munge
there_again() {
	ask '{"id":42,"op":"ping"}'
	grep -q '"ok":true' stdout
}
soon "and back" there_again

kill -STOP "$(cat "$VCLUSTER/run/slurmctld.pid")"
ask '{"id":43,"op":"cancel","jobs":["99"]}'
out '"results":\[\{"ok":false,"kind":"(timeout|unreachable)","code":5004' "a controller that does not answer"
kill -CONT "$(cat "$VCLUSTER/run/slurmctld.pid")"
soon "it answers again" there_again
"$vcluster" kill-controller
ask '{"id":44,"op":"cancel","jobs":["3","1"]}'
out '"results":\[\{"ok":false,"kind":"unreachable"[^}]*\},\{"ok":false,"kind":"unreachable"' "a controller that is away"
"$vcluster" start-controller
soon "and back" there_again
ask '{"id":45,"op":"jobs","since":0}'
is "it did not do what it was not asked" [ "$(said 1 state)" = '"RUNNING"' ]

# ---- the end

is "all was written down" [ "$(grep -c '^> ' talk)" = "$(grep -c '^< ' talk)" ]
pid=$BRIDGE_PID input=${BRIDGE[1]}
exec {input}>&-
ended() {
	! kill -0 "$pid" 2>/dev/null
}
soon "at the end of its input it ends" ended
run "$vcluster" stop
want 0 "the cluster stops"
is "nothing is left" [ -z "$(pgrep -f "$VCLUSTER")" ]
is "nor its directory" [ ! -e "$VCLUSTER" ]

finish
