/*
 * Launches that do not work: when they are tried again, and what people are told meanwhile.
 *
 * Each failure doubles the pause, up to half a minute.  The first launch that works has all others tried at once, as
 * they mostly fail for the same reason (no guard, no processes, a disk that cannot be written).
 */
#ifndef DAEMON_LAUNCH_RETRY_H
#define DAEMON_LAUNCH_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct daemon;
struct live_job;

/* The word of the reason of a job that cannot be launched. */
#define LAUNCH_REASON "launch"

/* A launch that failed last time. */
struct failed_launch {
	uint32_t job, attempt;
	uint32_t tries;
	double due_s; /* by clock_wall_s() */
	char why[256];
};

/* Whether the pause is over; true if it never failed. */
bool launch_is_due(const struct daemon *d, uint32_t job, uint32_t attempt);
/* It failed: the next try comes after a pause. */
void launch_failed(struct daemon *d, uint32_t job, uint32_t attempt, const char *why);
/* It worked, or is not wanted any more. */
void launch_settled(struct daemon *d, uint32_t job, uint32_t attempt, bool worked);
/* Why the job cannot be launched; NULL: it can as far as is known. */
const struct failed_launch *launch_trouble(const struct daemon *d, uint32_t job);
/* The same in words, with the next try and what to do.  Returns LAUNCH_REASON, or NULL if there is no trouble. */
const char *launch_reason(const struct daemon *d, const struct live_job *job, struct buf *text);

#endif
