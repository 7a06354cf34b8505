/*
 * What became of jobs that were changed, one line each: "job 7_3 held".
 */
#ifndef CLI_TELL_CHANGE_H
#define CLI_TELL_CHANGE_H

#include <jansson.h>

#include "cli/command.h"

enum { TELL_LINES_MAX = 10 };

/*
 * Prints what the daemon answered to a verb about a job or an array ("changed/1").  `args` has the verb, and what was
 * said with it.  More than TELL_LINES_MAX jobs are counted: "14 jobs held".
 */
void tell_changed(const struct args *args, const json_t *reply);
/* The same of a verb with a filter ("changed_many/1"); what was skipped goes to standard error with the reason. */
void tell_changed_many(const struct args *args, const json_t *reply);

#endif
