/*
 * What a job prints, as it comes, through all its attempts.
 */
#ifndef CLI_LOG_FOLLOW_H
#define CLI_LOG_FOLLOW_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/command.h"

/* Where it goes. */
struct log_sink {
	int to;           /* descriptor */
	const char *mark; /* before each line; NULL: bytes as they are */
	bool inside;      /* a line was begun and not ended */
	uint64_t bytes;   /* of the job's that went there */
};

struct log_follow {
	const struct args *args;
	const char *job;
	bool errors; /* standard error instead of output */
	struct log_sink *sink;
	int attempt;  /* this one alone; 0: the present one, and those that follow it */
	int64_t tail; /* begin with this many lines; -1: all */
	bool past;    /* also the attempts before the present one */
};

/* Copies until the job (or the attempt) has ended.  Waits for one that has not begun. */
int log_follow(const struct log_follow *f, struct err *err);

/* Copies what there is now. */
int log_copy(const struct log_follow *f, struct err *err);

/* What the daemon says of the stream's file: its path, size, attempt.  A new reference. */
int log_place_ask(const struct log_follow *f, int attempt, json_t **out, struct err *err);

#endif
