#!/bin/bash
# Completion: what could come next, and the scripts in the shells themselves.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"

offers() { # WORD WHAT LINE-WORDS...
	local word=$1 what=$2
	shift 2
	run stint completion words -- "$@"
	cut -f 1 stdout | grep -Fqx -- "$word"
	report $? "$what"
}

offers_not() { # WORD WHAT LINE-WORDS...
	local word=$1 what=$2
	shift 2
	run stint completion words -- "$@"
	! cut -f 1 stdout | grep -Fqx -- "$word"
	report $? "$what"
}

# ---- the words

offers sim "verbs are offered" ''
offers trace "a family is one word" tr
is "and only once" [ "$(stint completion words -- '' | cut -f 1 | grep -cx trace)" = 1 ]
offers check "then its verbs" trace ''
offers sim "help takes a verb" help s
offers stats "also one of two words" help trace st
offers convert "so does man" man trace con
offers --policy "flags are offered" sim x --
offers --start-cost "a flag is written with dashes" sim x --start
offers --help "every verb has --help" cluster --
offers_not --policy "a verb has its own flags only" cluster --
offers tiresias "policies by name" sim x --policy ''
offers --policy=tiresias "also after an equals sign" sim x --policy=ti
offers fifo,srtf "also in a list" compare x --policy fifo,sr
offers tiresias:queues= "a policy's options" sim x --policy tiresias:que
offers fifo,tiresias:queues=2,limit_s= "a second option in a list" sim x --policy fifo,tiresias:queues=2,lim
offers tiresias:queues=2,las "or another policy" compare x --policy tiresias:queues=2,la
offers gavel:water_filling=1 "the values of an option" sim x --policy gavel:water_filling=
offers consolidate "placers" sim x --placer con
offers load "admission rules" sim x --admit l
offers philly "formats" sim x --format phi
offers no "the words of a choice" compare x --resample n
offers tiresias "operands that name a rule" policies ti
offers check "the first word of an alternative" quota ch
for word in set load check export; do
	offers $word "each of them" quota ''
done
offers :files "and what follows it" quota check ''
offers set "also of two" policy s
offers zsh "shells" completion z
offers :files "a trace is a file" sim ''
offers :files "so is the value of --html" sim x --html ''
offers :files "also after an equals sign" sim x --html=rep
offers :dirs "--out of a run is a directory" sim x --out ''
offers :files "operands come after two dashes" sim -- -
offers_not --policy "flags do not" sim -- --
run stint completion words -- nonsense ''
want 0 "an unknown verb has nothing after it"
is "and says nothing" empty stdout
is "nor on standard error" empty stderr
run stint completion words -- sim x --seed ''
is "a number is the writer's own" empty stdout
stint completion words >none
stint completion words -- '' >one
is "no word at all is the first, not yet begun" cmp -s none one
export STINT_SOCKET=$PWD/socket
offers :files "the command of a job is one" submit -- ''
offers_not --gpus "and its flags are its own" submit -- python3 --
offers --gpus "before it come those of the job" submit --
offers :dirs "a letter has the value of its flag" submit -D ''
run stint completion words -- show ''
want 0 "where no daemon answers"
is "no jobs are offered" empty stdout
if command -v python3 >/dev/null; then
	# A daemon with two jobs, for one question after the other.
	python3 - <<-'END' &
		import http.server, os, signal, socketserver
		signal.alarm(60) # whatever becomes of the script
		class Face(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        body = b'{"schema":"jobs/1","jobs":[{"id":7,"name":"a","state":"RUNNING"},{"id":12,"name":"b","state":"PENDING"}]}'
		        self.send_response(200)
		        self.send_header("Content-Type", "application/json")
		        self.send_header("Content-Length", str(len(body)))
		        self.end_headers()
		        self.wfile.write(body)
		    def address_string(self):
		        return "socket"
		    def log_message(self, *words):
		        pass
		server = socketserver.UnixStreamServer("socket.new", Face)
		os.chmod("socket.new", 0o600)
		os.rename("socket.new", "socket")
		server.serve_forever()
	END
	daemon=$!
	for _ in $(seq 2400); do
		[ -S socket ] && break
		sleep 0.05
	done
	offers 12 "jobs are offered by number" show ''
	out '^12	b, PENDING$' "with name and state"
	offers 7 "also after another job" cancel 12 ''
	offers_not 7 "those that begin otherwise are not" cancel 1
	kill $daemon
	wait $daemon 2>/dev/null
else
	echo "skip - python3 is not installed: no daemon was asked for jobs"
fi
unset STINT_SOCKET
is "each line has a description or an empty one" \
	[ "$(stint completion words -- sim x -- | grep -vc "$(printf '\t')")" = 0 ]

# ---- the command

for shell in bash zsh fish; do
	run stint completion $shell
	want 0 "a script for $shell"
	cp stdout script.$shell
	run stint completion $shell --json
	is "$shell as JSON" valid_json stdout completion/1
done
fails 2 "did you mean 'zsh'" "another shell is a usage error" stint completion zshh
fails 2 "known: bash, zsh, fish" "the known ones are named" stint completion powershell
fails 2 "'x' was not expected" "one shell at a time" stint completion bash x
is "the script for bash is valid" bash -n script.bash
if command -v shellcheck >/dev/null; then
	is "and clean" shellcheck -s bash -e SC2207 script.bash
else
	echo "skip - shellcheck is not installed: the script for bash was not checked by it"
fi

# ---- in the shells

mkdir bin runs
ln -s "$STINT" bin/stint
PATH=$PWD/bin:$PATH
touch workload.csv runs.txt

# A line to write, and what it becomes.
lines=(
	'stint sim work'                  'stint sim workload.csv'
	'stint comple'                    'stint completion'
	'stint trace conv'                'stint trace convert'
	'stint sim x --thro'              'stint sim x --throughputs'
	'stint sim x --policy tire'       'stint sim x --policy tiresias'
	'stint sim x --policy=tire'       'stint sim x --policy=tiresias'
	'stint sim x --policy fifo,tire'  'stint sim x --policy fifo,tiresias'
	'stint sim x --policy tiresias:lim' 'stint sim x --policy tiresias:limit'
	'stint sim x --policy tiresias:que' 'stint sim x --policy tiresias:queues='
	'stint sim x --html=work'         'stint sim x --html=workload.csv'
	'stint sim x --out ru'            'stint sim x --out runs/'
	'stint cluster --y'               'stint cluster --yaml'
	"$PWD/bin/stint policies conse"   "$PWD/bin/stint policies conservative"
)

in_shell() { # SHELL SETUP
	local i before=() after=() got
	for ((i = 0; i < ${#lines[@]}; i += 2)); do
		before+=("${lines[i]}")
		after+=("${lines[i + 1]}")
	done
	run "$here/lib/press" "$1" "$2" "${before[@]}"
	want 0 "$1 completes interactively"
	mapfile -t got <stdout
	for i in "${!before[@]}"; do
		[ "${got[i]-}" = "${after[i]}" ]
		report $? "$1: '${before[i]}' becomes '${after[i]}'"
	done
}

if ! command -v python3 >/dev/null; then
	echo "skip - python3 is not installed: no shell was asked to complete"
else
	in_shell bash "eval \"\$(stint completion bash)\""
	in_shell bash "COMP_WORDBREAKS=\${COMP_WORDBREAKS//[:=]}; source script.bash"
	if command -v zsh >/dev/null; then
		in_shell zsh "autoload -U compinit; compinit -u -D; setopt no_auto_list no_auto_remove_slash; source script.zsh"
		mkdir functions
		cp script.zsh functions/_stint
		in_shell zsh "fpath=($PWD/functions \$fpath); autoload -U compinit; compinit -u -D; setopt no_auto_list no_auto_remove_slash"
	else
		echo "skip - zsh is not installed: its script was not run"
	fi
fi

if command -v fish >/dev/null; then
	export HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
	for ((i = 0; i < ${#lines[@]}; i += 2)); do
		[[ ${lines[i]} != *:lim ]] || continue # fish lists both, and extends nothing here
		# shellcheck disable=SC2016 # fish's own variable
		run fish --no-config -c 'source script.fish; complete -C $argv[1]' "${lines[i]}"
		word=${lines[i + 1]##* }
		[ "$(cut -f 1 stdout)" = "$word" ]
		report $? "fish: '${lines[i]}' offers '$word'"
	done
else
	echo "skip - fish is not installed: its script was not run"
fi

finish
