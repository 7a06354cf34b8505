#!/bin/bash
# Manual pages: one for every verb, of the same words as its help, and roff that formats without a complaint.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

run stint man
want 0 "the page of stint itself"
out '^\.TH STINT 1 ' "has its title"
out '^\.SH EXIT STATUS' "has exit codes"
out '^\.SH ENVIRONMENT' "has variables"
run stint man sim
out '^\.TH STINT-SIM 1 ' "a verb has a page"
out '^\\fB\\-\\-policy\\fR \\fINAME\[:OPTIONS\]\\fR$' "with its flags"
out '^stint sim trace\.csv \\-\\-cluster' "and examples"
run stint man trace check
out '^\.TH STINT-TRACE-CHECK 1 ' "so has one of two words"
out '^\.BR stint\\-trace\\-stats \(1\)' "it names its family"
run stint man sim --json
is "a page as JSON" valid_json stdout man/1
fails 3 "did you mean 'sim'" "an unknown verb is not found" stint man simm
fails 3 "one more word" "a family alone is none" stint man trace
fails 2 "'x' was not expected" "one verb at a time" stint man sim x
fails 2 "one directory" "--all wants a directory" stint man --all

run stint man --all pages/man1
want 0 "every page at once"
err 'wrote [0-9]+ pages' "says how many"
verbs=$(stint | sed -n 's/^  \([a-z ]*[a-z]\)  .*/\1/p')
missing=
while read -r verb; do
	[ -s "pages/man1/stint-${verb// /-}.1" ] || missing="$missing $verb"
done <<<"$verbs"
is "there is one for each verb:${missing:- none is missing}" [ -z "$missing" ]
is "and one for all" [ -s pages/man1/stint.1 ]
cp -r pages again
run stint man --quiet --all again/man1
is "--quiet says nothing" empty stderr
is "written again they are the same" diff -r pages again
run stint man --all pages/man1 --json
is "the names as JSON" valid_json stdout man/1
touch file
fails 1 "file" "a file is no directory" stint man --all file

# Every flag that help knows is in the page, and the other way round.
odd=
while read -r verb; do
	# shellcheck disable=SC2086 # "trace check" is two words
	stint help $verb | sed -n 's/^  \(-., \)\{0,1\}--\([a-z-]*\).*/\2/p' | sort >help.flags
	sed -n 's/^\(\\fB\\-.\\fR, \)\{0,1\}\\fB\\-\\-\([a-z\\-]*\)\\fR.*/\2/p' "pages/man1/stint-${verb// /-}.1" |
		sed 's,[\\],,g' | sort >page.flags
	cmp -s help.flags page.flags || odd="$odd $verb"
done <<<"$verbs"
is "flags of page and help agree:${odd:- everywhere}" [ -z "$odd" ]
is "pages are plain ASCII" [ "$(LC_ALL=C cat pages/man1/*.1 | LC_ALL=C tr -d '\000-\177' | wc -c)" = 0 ]

if command -v groff >/dev/null; then
	for page in pages/man1/*.1; do
		groff -man -Tutf8 -ww -z "$page"
	done >complaints 2>&1
	run cat complaints
	is "groff formats all without a warning" empty stdout
	groff -man -Tascii pages/man1/stint-sim.1 | sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g' >text
	run cat text
	out "^ *--policy NAME\[:OPTIONS\]" "a flag reads as it is written"
	out "see 'stint cluster'" "quotes and dashes are those of a terminal"
else
	echo "skip - groff is not installed: pages were not formatted"
fi
if command -v mandoc >/dev/null; then
	run mandoc -Tlint -W warning pages/man1/*.1
	grep -v 'missing date' stdout >complaints
	is "mandoc finds nothing but that pages have no date" empty complaints
else
	echo "skip - mandoc is not installed: pages were not checked by it"
fi

finish
