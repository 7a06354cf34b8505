/*
 * stint run before the job starts: says on standard error why it waits, when it is
 * expected to start, and where it started.
 */
#ifndef CLI_RUN_WAIT_H
#define CLI_RUN_WAIT_H

#include <stdatomic.h>

#include "cli/command.h"

/*
 * Returns when the job runs or is over, when the daemon does not answer, or soon after `*stop` is not 0.
 * A job that starts within a second is not mentioned, and with --quiet nothing is.  On a terminal there is one line,
 * drawn anew in place; elsewhere a line for each kind of reason.
 */
void run_wait(const struct args *args, const char *job, const atomic_int *stop);

#endif
