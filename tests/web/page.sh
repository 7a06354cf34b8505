#!/bin/bash
# The page in a real browser, against a real daemon that runs real jobs.
#
# Needs node, Chromium, and playwright-core and axe-core in build/node_modules;
# `tools/setup browser` gets them.  SHOTS=DIR keeps a picture of every page.
# shellcheck source=tests/cli/lib/check
here=$(realpath "$(dirname "$0")")
. "$here/../cli/lib/check"

root=$here/../..
modules=$(realpath -m "${WEB_MODULES:-$root/build/node_modules}")
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
for need in "$(command -v node):node" "$chromium:chromium" "$modules/playwright-core/package.json:playwright-core" \
	"$modules/axe-core/axe.min.js:axe-core"; do
	if [ ! -e "${need%%:*}" ]; then
		echo "skip - the page was not tested in a browser: ${need##*:} is missing; tools/setup browser installs it"
		exit 0
	fi
done

run stint open
want 6 "stint open says when no daemon is there"
export WEB_MODULES=$modules CHROMIUM=$chromium ROOT=$root WORK=$work STINT
unset XDG_RUNTIME_DIR STINT_STATE STINT_SOCKET
node "$here/page.mjs" || failures=$((failures + 1))
[ "$failures" = 0 ]
