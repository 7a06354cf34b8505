/*
 * Verbs that ask the daemon about jobs and show its answers: show, explain, eta,
 * history.
 */
#ifndef CLI_LIVE_TELL_H
#define CLI_LIVE_TELL_H

#include <jansson.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/command.h"
#include "report/term.h"

/* Writes one answer for people. */
typedef void live_put(const json_t *answer, const struct term *term, struct buf *out);

/* The answer of GET PATH: with --json as it came, else as `put` writes it. */
int live_tell(const struct args *args, const char *path, live_put *put, struct err *err);
/* A job (stint show), and why it waits (stint explain). */
live_put live_put_job, live_put_explanation;

/*
 * The answer of GET /v1/jobs/JOB/PART (PART NULL: of the job itself) for every operand, each of which must look
 * like a job: with --json as it came, else as `put` writes it, with an empty line between two.
 */
int live_tell_jobs(const struct args *args, const char *part, live_put *put, struct err *err);

#endif
