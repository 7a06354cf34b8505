/*
 * A submission from a command line: a command, with or without "--" before it, a job file
 * or a script, with the flags on top.
 */
#ifndef CLI_DRAFT_H
#define CLI_DRAFT_H

#include "cli/command.h"
#include "io/notes.h"
#include "live/submission.h"

/* Whether what follows the first operand belongs to the job: it is a script or a program. */
bool draft_takes_rest(const char *operand);

/* Checked and ready to send; release it with submission_fini(). */
int draft_read(const struct args *args, struct submission *out, struct err *err);

/* A list of submissions, one JSON object in a line each, flags on top: an array for {"jobs": …}. */
int draft_read_batch(const struct args *args, json_t **out, struct err *err);

/* What POST /v1/jobs takes: one of the two above; NULL: what is wrong. */
json_t *draft_body(const struct args *args, struct err *err);

/* One flag; ERR_USAGE with "--flag: " in front. */
int draft_apply_flag(const struct said *said, struct submission *s,
	const struct submission_context *context, struct err *err);
/* The flags of args->said, one after another. */
int draft_apply_flags(const struct args *args, struct submission *s,
	const struct submission_context *context, struct err *err);

/* Seconds since 1970. */
double draft_now(void);

#endif
