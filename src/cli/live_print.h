/*
 * What the daemon says, for people.
 */
#ifndef CLI_LIVE_PRINT_H
#define CLI_LIVE_PRINT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"
#include "report/table.h"
#include "report/term.h"

/* ---- members; absent and null are the same */

const char *live_text(const json_t *object, const char *name); /* NULL: absent */
double live_number(const json_t *object, const char *name);    /* NAN: absent */
int live_signal(const json_t *object);                         /* "signal" as its number; 0: none */

/* ---- pieces */

enum { DURATION_SIZE = 32 };
/* "42s", "3m12s", "5h07m", "3d04h"; "-" for NaN.  Returns `out`. */
const char *live_duration(double seconds, char out[DURATION_SIZE]);
/* "7", or "7_3" for an element of an array. */
void live_job_name(const json_t *job, struct buf *out);
/* The user, and "/TENANT" after it if the job is on another account. */
void live_who(const json_t *job, struct buf *out);
/* Of a guest "guest beside 7,8", else nothing. */
void live_guest(const json_t *job, struct buf *out);
/* How it ended ("exit 3"); NULL: it has not, or there is nothing to say of it. */
const char *live_ending(const json_t *job);
/* "2", "2/4" of an elastic job that has fewer, "1-4" of one that waits. */
void live_gpus(const json_t *job, struct buf *out);
/* "0-3,6" of ["0","1","2","3","6"]. */
void live_devices(const json_t *devices, struct buf *out);
/* At most `columns` characters of it, "…" (or "...") for the rest; 0: all. */
void live_cut(const char *text, size_t columns, const struct term *term, struct buf *out);
/* How a terminal shows a state: SGR numbers; NULL: plainly. */
const char *live_state_style(const char *state);
/* "120/1000 12%". */
void live_progress(const json_t *job, struct buf *out);
/* "[######......]" of `columns` in all. */
void live_bar(double part, int columns, const struct term *term, struct buf *out);

/* "in 2h06m (80 %: 45m10s to 4h06m)" of the moments of a forecast, in seconds since 1970. */
void live_interval(const json_t *moments, double now, struct buf *out);
/* The line of a job that starts not before a moment, and no more is known of it: members not_before, at, simulated, left_out. */
void live_bound(const json_t *answer, struct buf *out);
/* A line after `indent` where a forecast is of fewer futures than usual; nothing else. */
void live_few_futures(const json_t *answer, const char *indent, struct buf *out);

/* ---- lines */

/* "title   text" with the text at one column; NULL or empty: nothing. */
void live_line(struct buf *out, const char *title, const char *text);
void live_linef(struct buf *out, const char *title, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "1 job", "12 jobs". */
void live_count(struct buf *out, double n, const char *one);

struct args;
/* Prints what the daemon answers for the time since --since: as JSON where asked for, else what `put` makes of it. */
int live_look_back(const struct args *args, const char *path,
	void (*put)(json_t *reply, const struct term *term, struct buf *out), struct err *err);
/* Prints the reply as JSON on standard output. */
int live_print_json(const json_t *reply, struct err *err);

#endif
