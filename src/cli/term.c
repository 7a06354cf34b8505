#include "cli/term.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

/* COLUMNS goes first: it is how a person states a width, of a pipe too. */
static int columns(bool tty)
{
	const char *stated = getenv("COLUMNS");
	struct winsize size;
	int64_t width;

	if (stated && slice_int(slice_of(stated), &width) && width >= 20 && width <= 10000)
		return (int)width;
	if (!tty)
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

/* NO_COLOR counts when it is set to anything but nothing (no-color.org). */
static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") != 0;
}

bool term_has_colour(int fd)
{
	return isatty(fd) && wants_colour();
}

struct term term_of_stdout(void)
{
	bool tty = isatty(STDOUT_FILENO);

	/* Only how letters are encoded: numbers are read and written the same everywhere. */
	setlocale(LC_CTYPE, "");
	return (struct term){
		.width = columns(tty),
		.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
		.colour = term_has_colour(STDOUT_FILENO),
	};
}
