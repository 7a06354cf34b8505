/*
 * Record time and wall time.
 *
 * Record time is monotone: it advances with CLOCK_BOOTTIME and no setting of the machine's clock moves it.  A
 * moment of it becomes seconds since 1970 by an offset, which is read again and again; each offset holds from a
 * moment of record time on, until the next.
 */
#ifndef BASE_WALLCLOCK_H
#define BASE_WALLCLOCK_H

#include <stdbool.h>

#include "base/text.h"
#include "base/vec.h"

enum { WALLCLOCK_STEPS = 1000 }; /* beyond it the smallest steps are joined */

struct wall_step {
	double from_s;   /* in record time; -INFINITY of the first */
	double offset_s; /* seconds since 1970 minus record time */
};

struct wallclock {
	VEC(struct wall_step) steps; /* one at least, in order */
};

void wallclock_init(struct wallclock *w, double offset_s);
void wallclock_fini(struct wallclock *w);
void wallclock_copy(const struct wallclock *from, struct wallclock *out); /* `out` is uninitialised */

/* From record time `from_s` on, which is not before any step so far. */
void wallclock_step(struct wallclock *w, double from_s, double offset_s);
/* The one that holds now, and the one that held then. */
double wallclock_offset(const struct wallclock *w);
double wallclock_offset_at(const struct wallclock *w, double at_s);
/* Seconds since 1970 of a moment of record time. */
double wallclock_s(const struct wallclock *w, double at_s);

/* "from offset from offset …"; the first `from` is 0.  Returns false for any other text. */
void wallclock_put(const struct wallclock *w, struct buf *out);
bool wallclock_get(struct wallclock *w, const char *text);

/*
 * Record time at CLOCK_BOOTTIME 0 for a daemon that starts.  `kept_s` is that of the last daemon if the machine has
 * not been booted since: exact, whatever the wall clock shows.  NAN: after a boot the wall clock `real_s` says how long
 * the machine was away.  It may be years ahead, so no more than `away_s` of that is record time; the rest is a step of
 * the wall clock.  `last_s` is the last moment in the record: time never goes back.
 */
double wallclock_resume(double kept_s, double last_s, double offset_s, double real_s, double boot_s,
	double away_s);

#endif
