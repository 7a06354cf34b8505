/*
 * One change of every job that the command line names, a request each.
 */
#ifndef CLI_CHANGE_JOBS_H
#define CLI_CHANGE_JOBS_H

#include <jansson.h>

#include "cli/command.h"

enum { CHANGE_JOBS_MAX = 100000 };

/*
 * Sends `body` to the command's verb for the jobs of operands[first] and after, or of --all and --name, and tells what
 * changed.  Goes on after a job that cannot be changed; the first failure is what is returned.
 */
int change_jobs(const struct args *args, size_t first, const json_t *body, struct err *err);

/* A member of a body; NULL: none.  ERR_USAGE if it is not UTF-8. */
int change_put_text(json_t *body, const char *key, const char *value, struct err *err);

#endif
