/*
 * A daemon that is killed and comes back, jobs that write down what they do, and the
 * question whether anything was lost or done twice.
 *
 * Jobs are this very test program, run as "crash_test job …" (crash_job()): they append
 * "JOB ATTEMPT start|end|stop PID SECONDS" to a file outside the daemon's directory.
 * Violations are printed and counted, not asserted, so that a worker process can go on.
 */
#ifndef TESTS_SUPPORT_CRASH_H
#define TESTS_SUPPORT_CRASH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

/* What libfaults.so is told; `at` 0: nothing goes wrong. */
struct fault {
	uint64_t at;
	const char *what;
};

/* A job, or an array, that was asked for. */
struct promise {
	char name[48]; /* its key, too */
	uint32_t id, n;
	const char *state; /* that it must end in */
	int code;          /* of each attempt that nobody stopped */
	bool certain;      /* it was acknowledged; else it may not be there */
	bool or_completed; /* it may have been faster than what was to end it */
	uint32_t after;    /* it starts after this job's end; 0: none */
};

struct yard {
	char *dir, *state, *socket, *lines, *log, *mended, *count;
	const char *policy; /* to start with; NULL: as before */
	char label[64];
	struct fault again; /* of the next start after a death; then none */
	pid_t daemon;       /* 0: none */
	bool up;            /* it has answered */
	uint32_t starts, kills;
	uint32_t wrong; /* violations */
	struct client *client;
	VEC(struct promise) promises;
};

/* `label` is said with every violation: what to do to see it again. */
void yard_open(struct yard *yard, const char *label);
/* Removed, unless something was wrong. */
void yard_close(struct yard *yard);
/* On what the last one left.  False: it died on its way up. */
bool yard_start(struct yard *yard, struct fault fault);
/* After a death: with the fault that is meant for it. */
void yard_restart(struct yard *yard);
void yard_kill(struct yard *yard);
/* With SIGTERM; it must end well. */
void yard_stop(struct yard *yard);
void yard_wrong(struct yard *yard, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Asks until there is an answer other than "not now": a daemon that is dead is brought back.  Returns the
 * status, 0 if there is no getting one.  `out` may be NULL; the caller's.
 */
int yard_ask(struct yard *yard, const char *method, const char *path, const json_t *body, json_t **out);
/* One request, one answer; 0: none.  For threads with a client of their own. */
int client_once(struct client *client, const char *method, const char *path, const json_t *body,
	json_t **out);
struct client *yard_client(const struct yard *yard);

/* A submission whose command takes `seconds` and ends with `code`; more members may be added. */
json_t *yard_job(const struct yard *yard, const char *name, double seconds, int code);
/* Submits under the name as key, with retries, and remembers that it shall end so.  Takes `job`. */
uint32_t yard_submit(struct yard *yard, json_t *job, uint32_t n, const char *state, int code);
struct promise *yard_promise(struct yard *yard, uint32_t id);
void yard_wait_started(struct yard *yard, uint32_t id);
void yard_wait_all(struct yard *yard);

/* The daemon must be stopped: record, lines and promises are compared, and the record is replayed. */
struct tally {
	uint32_t jobs, attempts, stops;
};
void yard_verify(struct yard *yard, struct tally *tally);

/* main() of a job: "job LINES SECONDS CODE".  A stop makes it end early, with 85. */
int crash_job(char **argv);

#endif
