#!/bin/bash
# The screen of top, in a terminal of its own, over a real daemon and over simulations.
# What jobs run is theirs to expand; functions are called by is() and soon().
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
# shellcheck source=tests/clients/with_daemon
. "$here/../clients/with_daemon"

sleeper='until [ -e never ]; do sleep 0.2; done'

submit() { # FLAG...
	stint submit --parsable "$@" -- sh -c "$sleeper" >/dev/null
}

# Steps from standard input, in a terminal; see lib/screen.
screen() { # COLUMNSxLINES COMMAND...
	"$here/lib/screen" "$@" || failures=$((failures + 1))
}

begin() {
	daemon_start --slots 4 --no-cgroups
}

# ---- no daemon, no terminal
fails 6 'no daemon answers' "without a daemon the terminal is not touched" stint top
fails 2 'auto, always or never' "a colour is a matter of when" stint top --color blue
is "a daemon answers" begin
run stint top
want 0 "top of nothing"
out '^0 running, 0 waiting; 0 of 4 devices held$' "counts"
out 'none; submit one: ' "tells what to do"
submit --name first --gpus 2 --time 1h
submit --name second --gpus 2
submit --name third --gpus 3
submit --name fourth --gpus 1 --priority 1
running() {
	stint top | grep -q '^2 running, 2 waiting'
}
soon "two jobs run and two wait" running
run stint top
want 0 "without a terminal it is one screen of text"
out ' a a b b$' "a device is the letter of its job"
out '^  a +1  first' "and the job has the same letter"
out '^ +3  third .*it needs 3 devices' "a job that waits says why"
is "nothing steers a terminal" [ "$(grep -c $'\033' stdout)" = 0 ]
run stint top --once --lines 7
is "--lines cuts it" [ "$(wc -l <stdout)" = 7 ]
run stint top --once --color always
is "--color always colours it" grep -q $'\033\\[0;38;5;16;48;5;214ma' stdout
run stint top --json
is "--json is what it was" valid_json stdout top/1
COLUMNS=40 run stint top
is "COLUMNS is its width" [ "$(wc -L <stdout)" -le 40 ]

if ! command -v python3 >/dev/null; then
	echo "skip - the screen itself: there is no python3"
	finish
fi

# ---- keys
screen 100x24 "$STINT" top --interval 0.2s <<'END'
until '^RUNNING 2' "the screen has the jobs that run"
until '^WAITING 2' "and those that wait"
until 'held .* 100%' "and how much was held lately"
sent '\x1b\[\?1049h' "on a screen of its own"
until '^> a +1  first' "the first job is chosen"
press '\x1b[B'
until '^> b +2  second' "down"
press 'j'
until '^> +3  third' "and into those that wait"
press '\t'
until '^> b +2  second' "Tab goes back"
press 's'
until '^RUNNING 2, by name' "s sorts"
press '/four\r'
until '^WAITING 2, listed 1 with .four' "a filter leaves out jobs"
press '\x1b'
until '^WAITING 2, by name' "Escape shows them again"
press '?'
until '^keys' "? is help"
press 'q'
until '^RUNNING' "q leaves it"
press '\tg\r'
until '^state +PENDING' "Enter tells all of a job"
until 'what keeps it waiting' "and why it waits"
press 'q'
until '^RUNNING' "back"
press 'p'
until 'paused: p goes on' "p pauses"
press 'p'
press '\x1b[18~'
size 40x10
until '^\? help, q quit' "a small screen has what matters"
never 'USER' "and no more"
size 120x30
until 'c cancel  h hold' "a large one has more"
press 'c'
until '^cancel job [34]\? y or n' "a job is not cancelled at once"
press 'n'
until '^nothing was changed' "no is no"
press 'q'
end 0 "q quits"
bare "and the terminal is as it was"
END

# ---- what it changes
screen 100x24 "$STINT" top --interval 0.2s <<'END'
until '^WAITING 2' "again"
press '\tG'
press 'c'
until '^cancel job [34]\? y or n' "to cancel is asked"
press 'y'
until '^WAITING 1' "and done after a yes"
press 'q'
end 0 "q quits"
END

# ---- the first element of an array has the number of the whole
pair=$(stint submit --parsable --array 0-3 --hold --name pair -- true)
stint update --priority 1 "${pair}_0" >/dev/null
stint update --priority 2 "${pair}_3" >/dev/null
screen 100x24 "$STINT" top --interval 0.2s <<'END'
until 'pair' "an array waits"
press '\tg/pair\r'
until '_0  pair' "its first element is listed"
press 'g'
press 'r'
until '^release job [0-9]+_0\? y or n' "to release one is asked"
press 'y'
until '^release job [0-9]+_0: done' "and done"
press 'j'
press 'r'
until '^release job [0-9]+_\[1-2\]\? y or n' "elements that wait alike are one row"
press 'y'
until '^release job [0-9]+_\[1-2\]: done' "and released together"
press 'q'
end 0 "q quits"
END
held() { # ELEMENT
	stint show "$1" | grep -q "let it go with"
}
is "the one element is held no longer" eval "! held ${pair}_0"
is "nor are the two" eval "! held ${pair}_1 && ! held ${pair}_2"
is "the last is still held" held "${pair}_3"
stint cancel "$pair" --quiet

# ---- other ends
screen 80x24 "$STINT" top <<'END'
until '^RUNNING 2' "a screen"
signal INT
end 130 "Ctrl-C ends it"
bare "and the terminal is as it was"
END
screen 80x24 "$STINT" top <<'END'
until '^RUNNING 2' "a screen"
signal TERM
end 143 "so does TERM"
bare "and the terminal is as it was"
END
screen 80x24 "$STINT" top <<'END'
until '^RUNNING 2' "a screen"
signal ABRT
end -6 "a crash is a crash"
bare "and the terminal is as it was"
END
screen 80x24 bash -mc "$STINT top --interval 0.2s; echo STOPPED; read -r x; fg >/dev/null; echo LEFT" <<'END'
until '^RUNNING 2' "a screen"
press '\x1a'
until '^STOPPED' "Ctrl-Z stops it"
bare "and gives the terminal back"
press '\r'
until '^RUNNING 2' "it takes it again"
press 'q'
until '^LEFT' "and leaves"
bare "the terminal as it was"
END
screen 80x24 sh -c "$STINT top </dev/null" <<'END'
until '^RUNNING 2' "where standard input is something else"
press 'q'
end 0 "the terminal itself is asked for keys"
END
screen 80x24 env TERM=dumb "$STINT" top <<'END'
end 0 "a terminal that cannot have a screen gets text"
sent 'RUNNING 2' "the same text"
END
NO_COLOR='' screen 80x24 "$STINT" top <<'END'
until '^RUNNING 2' "a terminal has colours"
sent '\x1b\[0;38;5;16;48;5;214ma' "so jobs have them"
press 'q'
end 0 "q quits"
END
LC_ALL=C.UTF-8 screen 80x24 "$STINT" top --interval 0.2s <<'END'
until '[▁-█] 100%' "UTF-8 has finer plots"
press 'q'
end 0 "q quits"
END

# ---- simulations
sim=(sim 'synth:jobs=60,load=0.9' --cluster 2x4:v100 --policy srtf --seed 3)
run stint "${sim[@]}" --out plain
want 0 "a simulation"
run stint "${sim[@]}" --out piped --top
want 0 "--top without a terminal"
err 'needs a terminal: the run goes on' "says so and goes on"
fails 2 'add --top' "--speed is for --top" stint "${sim[@]}" --speed 5
screen 100x30 "$STINT" "${sim[@]}" --out shown --top <<'END'
until '^simulation of synth.*policy srtf +day' "a simulation on the screen"
until 'the run is over' "stays there at its end"
until '60 of 60 jobs ended' "when all jobs have ended"
press 'q'
until '^jobs +60 submitted, 60 finished' "then comes the summary"
end 0 "of a run like any other"
bare "and the terminal is as it was"
END
screen 100x30 "$STINT" "${sim[@]}" --out slow --top --speed 100 <<'END'
until '^RUNNING [1-9]' "time passes slowly"
until '100 s a second' "at this speed"
press 'p'
until 'paused' "or not at all"
press '\r'
until '^state +running' "a job is told in full"
press 'qp-'
until '50 s a second' "slower"
press '+++++++++++++++++++++++++'
until 'the run is over' "as fast as it goes"
press 'q'
end 0 "the end"
END
screen 100x30 "$STINT" "${sim[@]}" --out left --top --speed 1 <<'END'
until '^RUNNING' "a run that would take hours"
press 'q'
until '^jobs +60 submitted, 60 finished' "goes on without the screen"
end 0 "to its end"
END
# What was measured of this run itself differs; the rest is the same to the byte.
measured='cpu_s|rss_bytes'
same() { # DIR
	cmp -s "plain/events.jsonl" "$1/events.jsonl" && cmp -s plain/jobs.csv "$1/jobs.csv" &&
		cmp -s plain/manifest.json "$1/manifest.json" &&
		cmp -s <(grep -Ev "$measured" plain/summary.json) <(grep -Ev "$measured" "$1/summary.json")
}
for dir in piped shown slow left; do
	is "results of the run '$dir' are the same" same $dir
done
screen 100x30 "$STINT" "${sim[@]}" --out broken --top --speed 1 <<'END'
until '^RUNNING' "a run"
signal INT
end 130 "Ctrl-C ends it"
bare "and the terminal is as it was"
END
is "and nothing is written" [ ! -e broken ]

# ---- a daemon that goes away
daemon_crash
screen 80x24 "$STINT" top <<'END'
end 6 "no daemon, no screen"
bare "the terminal is as it was"
END
is "the daemon is back" begin
mkfifo steps
"$here/lib/screen" 80x24 "$STINT" top --interval 0.2s <steps >seen &
looker=$!
exec 9>steps
cat >&9 <<'END'
until '^RUNNING 2' "a screen"
until 'no daemon answers' "a daemon that goes away is said"
until '^RUNNING 2' "what was known stays"
press '?'
until '^keys' "keys are answered meanwhile"
press 'q'
END
soon "the daemon is there" grep -q 'a screen' seen
daemon_crash
soon "the daemon is gone" grep -q 'keys are answered' seen
begin 9>&- # else the daemon keeps the steps open
cat >&9 <<'END'
until '^2 running, 1 waiting.*\n(held|\n)' "it is waited for, and found again"
press 'q'
end 0 "q quits"
END
exec 9>&-
wait "$looker" || failures=$((failures + 1))
cat seen

finish
