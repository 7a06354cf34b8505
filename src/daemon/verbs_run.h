/*
 * What each verb does: sets the call's status and body, or leaves the status 0
 * if it waits.
 */
#ifndef DAEMON_VERBS_RUN_H
#define DAEMON_VERBS_RUN_H

#include "daemon/daemon_state.h"

#define VERB(name_, ...) void verb_##name_(struct daemon *d, struct call *call);
#include "daemon/verbs.def"
#undef VERB

/*
 * The jobs that the path names: one, "7_3", or all of an array by its first number.  Answered with what
 * is wrong and 0 if there is none, or if the caller has no right to one of them (`owner`).
 */
enum { CALL_JOBS_MAX = SUBMISSION_ARRAY_MAX };
size_t call_jobs(struct daemon *d, struct call *call, bool owner, uint32_t **out);
/*
 * Jobs that a word names: "7" (an array: all of it that has not ended), "7_3", "slurm:4711"; `n` 0: there are none.
 * False: the word names no job.  `out` is malloc'ed.
 */
bool daemon_jobs_named(struct daemon *d, const char *word, uint32_t **out, size_t *n);
/* Of jobs in the order of their numbers, as core_jobs() has them, the index of the first from `id` on; `n`: none. */
size_t verb_jobs_from(const struct live_job *const *jobs, size_t n, uint32_t id);
/* Whether a command of the job runs or is being started, and was not asked to stop. */
bool verb_job_runs(const struct daemon *d, const struct live_job *job);
/* The body of an input: who asked for it, and the reason if there is one. */
json_t *call_reason(const struct call *call);
/* One of them, live or ended. */
uint32_t call_job(struct daemon *d, struct call *call, bool owner);
/* How many jobs there are in the array whose first one this is, and whose numbers follow; else 1. */
uint32_t call_array_size(struct daemon *d, uint32_t array_id);
/* Applies an input and writes its row; false: the call is answered with why not. */
bool call_apply(struct daemon *d, struct call *call, const char *input, uint32_t id,
	uint32_t attempt, const json_t *body);
/* Changes of one user's jobs, for the audit, where they are not the caller's own. */
void call_audit(struct daemon *d, const struct call *call, const uint32_t *jobs, size_t n);
/* Answers with these jobs as they are now.  `left`: further jobs of the array that run and stay as they are. */
void call_answer_changed(struct daemon *d, struct call *call, const uint32_t *jobs, size_t n,
	size_t left);

/* ---- parts of a submission, which an update has as well */

/* A job of this submission and this user, as it would wait; nothing is written down. */
struct live_job *verb_draft_job(struct daemon *d, const struct caller *caller, uint32_t id,
	const struct submission *what);
/* Whether it could ever run here: ERR_NEVER with why not. */
int verb_check_runnable(struct daemon *d, struct live_job *job, struct err *err);
/* The first number of an array that it waits for means all of it. */
int verb_expand_after(struct daemon *d, struct submission *what, struct err *err);
/* Dependencies on jobs that have ended are left out; those that can never be met are ERR_NEVER. */
int verb_settle_after(struct daemon *d, struct live_job *job, struct err *err);

/* {"schema":…: the body begins; end with json_end(&j, '}'). */
void call_begin(struct call *call, struct json *j);
/* The list "notes": what the call's new jobs say that the policy does not go by.  Before the core has them. */
void verb_put_notes(struct daemon *d, const struct call *call, struct json *j);

#endif
