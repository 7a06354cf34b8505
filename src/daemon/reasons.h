/*
 * Why jobs waited, over time: each change of a waiting job's reason, as long as
 * the job has not ended.
 *
 * Kept in memory only, the last REASONS_KEPT of each job: one decision can change
 * the reasons of thousands, and a row of the record for each would cost too much.
 */
#ifndef DAEMON_REASONS_H
#define DAEMON_REASONS_H

#include "base/json.h"
#include "base/wallclock.h"
#include "live/core.h"

enum { REASONS_KEPT = 32 };

struct reasons;

struct reasons *reasons_create(void);
void reasons_destroy(struct reasons *reasons);
/* After a decision: what is new is kept, and jobs that are gone are forgotten. */
void reasons_see(struct reasons *reasons, const struct core *core, double now_s);
/* A reason that no decision gives, such as that of a launch that fails; `word` is static.  It stays until a decision. */
void reasons_keep(struct reasons *reasons, uint32_t job, double at_s, const char *word,
	const char *text);
/* Adds the array "waits": {at, reason, text, job?} in order; `wall` makes record time seconds since 1970. */
void reasons_to_json(const struct reasons *reasons, uint32_t job, const struct wallclock *wall,
	struct json *j);

#endif
