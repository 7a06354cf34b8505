#!/bin/bash
# The commands of README.md work as typed and print what it says; every page it names is there.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib/check
. "$here/lib/check"
root=$(realpath "$here/../..")
unset STINT_SOCKET XDG_RUNTIME_DIR COLUMNS
export STINT_STATE=$work/state LC_ALL=C.UTF-8

# What README.md expects around it: the project's directory after `make run`.
ln -s "$root/examples" examples
ln -s "$(dirname "$STINT")" build
"$here/lib/blocks" "$root/README.md" || failures=$((failures + 1))

missing=$(grep -oE '\]\([^)#]+' "$root/README.md" | cut -c3- | sort -u | while read -r page; do
	[ -e "$root/$page" ] || echo "$page"
done)
is "every page that README.md names is there${missing:+: not $missing}" [ -z "$missing" ]
is "README.md has 150 lines at most" [ "$(wc -l <"$root/README.md")" -le 150 ]
finish
