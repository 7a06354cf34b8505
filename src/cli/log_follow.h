/*
 * What a job prints, as it comes, through all its attempts.
 */
#ifndef CLI_LOG_FOLLOW_H
#define CLI_LOG_FOLLOW_H

#include <stdbool.h>

#include "cli/command.h"

struct log_follow {
	const struct args *args;
	const char *job;
	bool errors;  /* standard error instead of output */
	int to;       /* descriptor that gets it */
	int attempt;  /* this one alone; 0: the present one, and those that follow it */
	int64_t tail; /* begin with so many lines; -1: all */
	bool past;    /* also the attempts before the present one */
};

/* Copies until the job (or the attempt) has ended.  Waits for one that has not begun. */
int log_follow(const struct log_follow *f, struct err *err);

/* Copies what there is now. */
int log_copy(const struct log_follow *f, struct err *err);

#endif
