/*
 * Talking to the daemon: where it is, questions and answers, and what became of
 * a job as an exit code.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <jansson.h>
#include <stdbool.h>

#include "api/reply.h"
#include "cli/command.h"

/* --socket, for every verb that asks the daemon. */
extern const struct flag_group flags_daemon;
/* What can be said of a job: live/submission_fields.def. */
extern const struct flag_group flags_job;

enum {
	LIVE_LIMIT_MAX = 200000, /* jobs in one answer */
	LIVE_PATIENCE_S = 60, /* whoever follows a job waits so long for a daemon that went away */
};

/* Directories as the daemon and its callers agree on them; malloc'ed. */
char *live_state_dir(const char *said, bool system);
char *live_socket(const char *said, const char *state_dir, bool system);
/*
 * Without --state and $STINT_STATE, and with $STINT_SOCKET: the state directory of the daemon there, malloc'ed.
 * NULL: that is not said, so it is the usual one.
 */
int live_find_state(const char *said, char **out, struct err *err);

/*
 * Asks; takes the reference to `body` (NULL: none).  On success `*reply` is a new reference.  What the
 * daemon refuses is an error with its text and the code that its exit code stands for; where none
 * answers, ERR_UNREACHABLE.
 */
int live_get(const struct args *args, const char *path, json_t **reply, struct err *err);
int live_post(const struct args *args, const char *path, json_t *body, json_t **reply, struct err *err);
/* "note: …" for each of the notes in the answer to a submission. */
void live_say_notes(const struct args *args, const json_t *reply);

/* Calls see() with pieces of the answer as they come, until it ends or see() returns nonzero, which is returned. */
int live_stream(const struct args *args, const char *path, reply_body *see, void *ctx, struct err *err);

/* The same for events after number `after` (UINT64_MAX: from now on). */
int live_events(const struct args *args, uint64_t after, sse_event *see, void *ctx, struct err *err);

/* "7" or "7_3"; ERR_USAGE otherwise. */
int live_check_job(const char *word, struct err *err);
/* "/v1/jobs/7/verb"; verb NULL: the job itself.  malloc'ed. */
char *live_job_path(const char *job, const char *verb);
/* Adds "&name=value" ("?" the first time) with the value escaped; value NULL adds nothing. */
void live_query(struct buf *path, const char *name, const char *value);
void live_query_number(struct buf *path, const char *name, double value);

/* The caller's name as the daemon knows it. */
const char *live_user(void);

/* Whether a job of the API has ended, and the exit code that stands for how. */
bool live_is_over(const json_t *job);
int live_exit_code(const json_t *job);

/* The job as soon as it has ended, or as it is after `timeout_s`.  `*reply` is a new reference. */
int live_poll(const struct args *args, const char *job, double timeout_s, json_t **reply,
	struct err *err);

/*
 * Waits until the job has ended or `until_s` of clock_wall_s() (INFINITY: for ever): ERR_TIMEOUT.
 * A daemon that went away meanwhile may come back.
 */
int live_wait(const struct args *args, const char *job, double until_s, json_t **reply,
	struct err *err);

/* Sleeps, but not past a signal. */
void live_pause(double seconds);

#endif
