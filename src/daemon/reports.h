/*
 * Reports of progress: at most one durable row a second and attempt.
 *
 * The first report is taken at once.  One that follows within a second is held; the next takes
 * its place, and the last is taken when the second is over, or before anything else happens to
 * the job, its end included.  Looking shows what is held.  A daemon that stops takes what it
 * holds; one that is killed loses less than a second of reports, as if they had not come.
 */
#ifndef DAEMON_REPORTS_H
#define DAEMON_REPORTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct daemon;

/* Whether the report waits; it is as good as taken then.  False: take it, and call reports_taken(). */
bool reports_hold(struct daemon *d, uint32_t job, uint32_t attempt, const json_t *body);
void reports_taken(struct daemon *d, uint32_t job, uint32_t attempt);

/* Takes what is held of a job; 0: of every job. */
void reports_flush(struct daemon *d, uint32_t job);
/* Takes what has been held for long enough, and forgets attempts that are over. */
void reports_turn(struct daemon *d);
/* Seconds until reports_turn() has something to take; INFINITY: nothing is held. */
double reports_in_s(struct daemon *d);
/* What is held of an attempt; NULL: nothing. */
const json_t *reports_held(const struct daemon *d, uint32_t job, uint32_t attempt);
void reports_fini(struct daemon *d);

#endif
