/*
 * Talking to a person: messages on standard error, a progress bar, Ctrl-C,
 * and exit codes.  Data goes to standard output and is not coloured.
 */
#ifndef CLI_UI_H
#define CLI_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/command.h"
#include "io/notes.h"

/* What scripts rely on; the same for every verb. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_FOUND = 3,
	EXIT_REFUSED = 4,
	EXIT_NEVER = 5,
	EXIT_UNREACHABLE = 6,
	EXIT_TIMED_OUT = 7,
	EXIT_SIGNAL = 128, /* plus the signal's number */
};

/* Of what a command's run() returned: one of ERR_*, or above 0 the code itself (a job's own). */
int ui_exit_code(int rc);

/* Text on standard error, with what is not plain (base/plain.h) escaped; lines stay. */
void ui_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A line on standard error unless --quiet; likewise. */
void ui_say(const struct args *args, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What a reader assumed, dropped and found, a line each, after `path`. */
void ui_notes(const struct args *args, const char *path, const struct notes *notes);
const char *ui_note_level(enum note_level level);
/* One note as "path:line: level: field: text (3 times); fix". */
void ui_note(const char *path, const struct note *note, struct buf *out);

/* The same on standard output. */
void ui_out(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes to standard output, escaped in the same way, and ends the line if `text` does not.  Where
 * standard output shows colours (cli/term.h), those in the text stay; ui_print_coloured() keeps them anywhere.
 */
int ui_print(const struct buf *text, struct err *err);
int ui_print_coloured(const struct buf *text, struct err *err);

/*
 * Ctrl-C.  Until ui_guard() it ends the process at once; afterwards it is only
 * noted, so that whoever works can stop in order and leave nothing half-written.
 */
void ui_signals(void);
void ui_guard(void);
int ui_interrupted(void); /* the signal's number, 0: none */

/* A bar on standard error, if that is a terminal and --quiet was not given; else nothing. */
struct bar {
	bool shown;
	const char *what; /* borrowed */
	double began_s, last_s;
};
void bar_begin(struct bar *bar, const struct args *args, const char *what);
/* `part` of the work is behind us, 0..1.  Draws a few times a second at most. */
void bar_move(struct bar *bar, double part);
void bar_end(struct bar *bar); /* wipes it */

#endif
