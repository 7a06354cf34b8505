/*
 * The shells' halves of completion: they ask `stint completion words` and show
 * what it says.
 */
#include "cli/complete.h"

/*
 * bash cuts words at ':' and '=' (COMP_WORDBREAKS); they are put together again, and what bash thinks
 * stands already is taken off the answers.
 */
static const char bash[] =
	"# bash completion for stint: eval \"$(stint completion bash)\"\n"
	"_stint() {\n"
	"\tlocal rest=${COMP_LINE:0:COMP_POINT} words=() word before i\n"
	"\tfor ((i = 0; i <= COMP_CWORD; i++)); do\n"
	"\t\tbefore=$rest\n"
	"\t\trest=${rest#\"${rest%%[![:space:]]*}\"}\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\t((i < COMP_CWORD)) || word=$rest\n"
	"\t\tif ((i > 0)) && [[ $before == \"$rest\" ]]; then\n"
	"\t\t\twords[${#words[@]} - 1]+=$word\n"
	"\t\telse\n"
	"\t\t\twords+=(\"$word\")\n"
	"\t\tfi\n"
	"\t\trest=${rest#\"$word\"}\n"
	"\tdone\n"
	"\tlocal cur=${words[${#words[@]} - 1]} lead='' cut='' line kind answer=()\n"
	"\t[[ $cur != --*=* ]] || lead=${cur%%=*}=\n"
	"\tfor ((i = ${#cur}; i > 0; i--)); do\n"
	"\t\tword=${cur:i - 1:1}\n"
	"\t\tif [[ $word == [:=] && $COMP_WORDBREAKS == *\"$word\"* ]]; then\n"
	"\t\t\tcut=${cur:0:i}\n"
	"\t\t\tbreak\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tCOMPREPLY=()\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tcase $line in\n"
	"\t\t:files | :dirs)\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\tkind=-f\n"
	"\t\t\t[[ $line == :files ]] || kind=-d\n"
	"\t\t\twhile IFS= read -r word; do\n"
	"\t\t\t\tanswer+=(\"$lead$word\")\n"
	"\t\t\tdone < <(compgen \"$kind\" -- \"${cur#\"$lead\"}\")\n"
	"\t\t\t;;\n"
	"\t\t*)\n"
	"\t\t\tword=${line%%$'\\t'*}\n"
	"\t\t\t[[ $word != *= ]] || compopt -o nospace 2>/dev/null\n"
	"\t\t\tanswer+=(\"$word\")\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tdone < <(\"${words[0]/#\\~\\//$HOME/}\" completion words -- \"${words[@]:1}\" 2>/dev/null)\n"
	"\tfor word in \"${answer[@]}\"; do\n"
	"\t\tCOMPREPLY+=(\"${word#\"$cut\"}\")\n"
	"\tdone\n"
	"}\n"
	"complete -F _stint stint\n";

static const char zsh[] =
	"#compdef stint\n"
	"# zsh completion for stint: source <(stint completion zsh), or this file as _stint in $fpath\n"
	"_stint() {\n"
	"\tlocal line word paths=\n"
	"\tlocal -a whole whole_text open open_text\n"
	"\tfor line in ${(f)\"$(${(Q)~words[1]} completion words -- \"${(@Q)words[2,CURRENT-1]}\" \"$PREFIX\" 2>/dev/null)\"}; do\n"
	"\t\tword=${line%%$'\\t'*}\n"
	"\t\tcase $line in\n"
	"\t\t(:files) paths=_files ;;\n"
	"\t\t(:dirs) paths='_files -/' ;;\n"
	"\t\t(*$'=\\t'*) open+=(\"$word\") open_text+=(\"$word  ${line#*$'\\t'}\") ;;\n"
	"\t\t(*) whole+=(\"$word\") whole_text+=(\"$word  ${line#*$'\\t'}\") ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(( $#whole )) && compadd -l -d whole_text -a whole\n"
	"\t(( $#open )) && compadd -S '' -l -d open_text -a open\n"
	"\tif [[ -n $paths ]]; then\n"
	"\t\t[[ $PREFIX == --*=* ]] && compset -P '--*='\n"
	"\t\t${=paths}\n"
	"\tfi\n"
	"\t(( $#whole + $#open )) || [[ -n $paths ]]\n"
	"}\n"
	"if [[ ${funcstack[1]} == _stint ]]; then\n"
	"\t_stint \"$@\"\n"
	"else\n"
	"\tcompdef _stint stint\n"
	"fi\n";

/* Paths are fish's own answer for a command that it knows nothing of. */
static const char fish[] =
	"# fish completion for stint: stint completion fish | source\n"
	"function __stint_paths\n"
	"\tset -l lead (string replace -rf -- '^(--[^=]*=).*' '$1' $argv[1]; or echo '')\n"
	"\tset -l rest (string replace -r -- '^--[^=]*=' '' $argv[1])\n"
	"\tfor path in (complete -C \"__stint_no_such_command $rest\")\n"
	"\t\tprintf '%s\\n' $lead$path\n"
	"\tend\n"
	"end\n"
	"function __stint_complete\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l cur (commandline -ct)\n"
	"\tfor line in ($words[1] completion words -- $words[2..-1] \"$cur\" 2>/dev/null)\n"
	"\t\tswitch $line\n"
	"\t\t\tcase :files\n"
	"\t\t\t\t__stint_paths \"$cur\"\n"
	"\t\t\tcase :dirs\n"
	"\t\t\t\t__stint_paths \"$cur\" | string match -r '^[^\\t]*/(?:\\t.*)?$'\n"
	"\t\t\tcase '*'\n"
	"\t\t\t\tprintf '%s\\n' $line\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"complete -c stint -f -a '(__stint_complete)'\n";

const struct completion_script completion_scripts[] = {
	{ "bash", bash },
	{ "zsh", zsh },
	{ "fish", fish },
	{ 0 },
};
