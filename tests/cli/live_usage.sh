#!/bin/bash
# The verbs that ask the daemon, as far as they need none: what is refused before
# it is asked, and what they say when nobody answers.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

unset STINT_SOCKET STINT_STATE XDG_RUNTIME_DIR
export HOME=$work/home XDG_STATE_HOME=$work/state
mkdir -p "$HOME" "$XDG_STATE_HOME"

# ---- nobody answers
while read -r line; do
	# shellcheck disable=SC2086 # words
	fails 6 'no daemon answers at .*/state/stint/socket; start one with: stint daemon &' \
		"stint $line without a daemon is code 6" stint $line
done <<'LINES'
submit -- true
run -- true
queue
show 7
logs 7
logs -f 7_3
cancel 7
cancel --all
hold 7
release 7
requeue 7
signal USR1 7
update --priority 3 7
wait 7
nodes
top
quota
quota set me --weight 2
report --since 1d
policy
policy set fifo
events
LINES
fails 6 'no daemon answers at here/s' "--socket says where" stint queue --socket here/s
STINT_SOCKET=$work/other fails 6 "no daemon answers at $work/other" "so does STINT_SOCKET" stint queue
STINT_STATE=$work/st fails 6 "no daemon answers at $work/st/socket" "and STINT_STATE" stint queue
mkdir runtime
XDG_RUNTIME_DIR=$work/runtime fails 6 "at $work/runtime/stint/socket" "and XDG_RUNTIME_DIR" stint queue
XDG_RUNTIME_DIR=$work/none fails 6 "state/stint/socket" "but not one that is not there" stint queue
touch plain
fails 6 'no daemon answers at plain' "a file is no daemon" stint queue --socket plain

# ---- what to run
fails 2 'what shall run\? write stint submit \[FLAGS\] \[--\] COMMAND' "a job needs a command" stint submit
fails 2 'what shall run' "also after --" stint submit --gpus 1 --
fails 3 'no file and no program pythonn; .* written after --' "a word must be a file or a program" \
	stint submit pythonn train.py
fails 6 'no daemon answers' "a program needs no --" stint submit --socket none sh -c true
echo 'print(1)' >train.py
fails 2 'train.py is no script.*stint submit -- python train.py' "a program is no script" stint submit train.py
fails 2 'is no script' "an empty file neither" stint submit /dev/null
fails 2 '--array: one job runs here' "run takes no arrays" stint run --array 0-3 -- true

# ---- flags, which are words of the command after --
fails 2 'unknown flag --gpuz; did you mean --gpus' "a slip is seen" stint submit --gpuz 1 -- true
fails 2 "--gpus: 'two' is not understood" "a number must be one" stint submit --gpus two -- true
fails 2 "--time: '60' of what\? write 60s, 60m or 60h" "a time needs its unit" stint submit -t 60 -- true
fails 2 "--mem: '4000' of what" "so does memory" stint submit --mem 4000 -- true
fails 2 "--min-gpus: 'x'" "flags are named as they are written" stint submit --min-gpus x -- true
fails 2 'min_gpus: 3 is more than gpus, which is 2' "sizes must agree" \
	stint submit --gpus 2 --min-gpus 3 -- true
fails 2 "--array: '9-0' is no list" "an array is a list" stint submit -a 9-0 -- true
fails 2 "--dependency: .* did you mean afterok:7" "a dependency has a kind" stint submit -d afterko:7 -- true
fails 2 "--begin: 'soon' is no moment" "a moment is one" stint submit --begin soon -- true
fails 2 "--nodes: '2': a job runs on one machine" "there is one machine" stint submit -N 2 -- true
fails 2 '-c needs a value: -c N' "a letter needs its value, too" stint submit -c
fails 2 '--hold takes no value' "a switch takes none" stint submit --hold=1 -- true
fails 6 'no daemon' "letters are flags" stint submit -J a -c4 -t 2h -o o -e e -n 1 -N1 -G1 -H -- true
fails 6 'no daemon' "what follows -- is not looked at" stint submit -- true --gpuz --help -h
run stint submit --quiet -p gpu -- true
is "a partition is ignored in silence if asked" [ "$(wc -l <stderr)" = 1 ]
run stint submit -p gpu -- true
err 'partition: there are no partitions; ignored' "else it is said"

# ---- scripts
printf '#!/bin/sh\n#SBATCH --gpu=2\necho\n' >bad.sh
fails 1 'bad.sh:2: there is no option --gpu; did you mean --gpus' "a script's slip has its line" \
	stint submit bad.sh
printf '#!/bin/sh\n#SBATCH -G 2 -t 10 --qos=high\n#STINT --min-gpus 1\necho\n' >good.sh
run stint submit good.sh --help
want 6 "what follows a script belongs to it"
err 'good.sh:2: dropped: qos: means nothing here; ignored' "what is ignored is said"
fails 2 'min_gpus: 1 is more than gpus, which is 0' "flags win over a script" stint submit --gpus 0 good.sh

# ---- job files
printf 'command: [true]\ngpuz: 1\n' >bad.yaml
fails 1 'bad.yaml:2: gpuz: no such field \(did you mean "gpus"' "a job file's slip has its line" \
	stint submit bad.yaml
printf 'command: python train.py\ngpus: 4\nmin_gpus: 2\n' >good.yaml
fails 6 'no daemon' "a job file is read" stint submit good.yaml
fails 2 'min_gpus: 2 is more than gpus, which is 1' "flags win over it, before it" stint submit -G 1 good.yaml
fails 2 'min_gpus: 2 is more than gpus, which is 1' "and after it" stint submit good.yaml --gpus 1
fails 2 "'x' was not expected" "it says itself what to run" stint submit good.yaml x
printf 'gpus: 1\n' >idle.yaml
fails 2 'command: is missing' "it needs a command" stint submit idle.yaml

# ---- many
printf '{"command": ["true"]}\n\n{"command": ["true"], "gpuz": 1}\n' >many.jsonl
fails 2 'many.jsonl:3: gpuz: .*did you mean gpus' "a line's slip has its line" stint submit --batch many.jsonl
printf '{"command": ["true"]\n' >broken.jsonl
fails 1 'broken.jsonl:1: not valid JSON' "a line is JSON" stint submit --batch broken.jsonl
fails 1 'no jobs are in it' "a file of none is a mistake" stint submit --batch /dev/null
fails 2 "'x' was not expected" "it says itself what to run" stint submit --batch many.jsonl -- x
printf '{"command": ["true"]}\n' >one.jsonl
fails 6 'no daemon' "a batch is read" stint submit --batch one.jsonl

# ---- jobs and others
fails 2 "'seven' is no job; write its number, such as 7" "a job is a number" stint show seven
fails 2 "'7_' is no job" "an element has an index" stint logs 7_
fails 2 "'-7' is no job|unknown flag" "numbers are not negative" stint cancel -- -7
fails 2 'which jobs' "cancel wants to know which" stint cancel
fails 2 'name jobs, or say which are meant' "and not twice" stint cancel --all 7
fails 2 "there is no signal 'NOPE'" "a signal has a name" stint signal NOPE 7
fails 2 'which jobs' "and somebody to go to" stint signal USR1
fails 2 'what shall change' "an update changes something" stint update 7
fails 2 "--time: '60' of what" "with a unit" stint update --time 60 7
fails 2 'an argument is missing' "wait wants to know for whom" stint wait
fails 2 "--timeout wants a time" "and for how long" stint wait --timeout x 7
fails 2 'write: stint quota set TENANT with what to change: --weight W' "a quota has a tenant" stint quota set
fails 2 'of whom' "and the other way round" stint quota --weight 2
fails 2 'stint policy set tiresias' "a policy is set by set" stint policy set
fails 2 "write: stint policy set fifo" "not by its name" stint policy fifo
fails 2 "'x' was not expected" "queue takes no jobs" stint queue x
fails 2 '--tail is -1' "a tail has a length" stint logs --tail=-1 7

finish
