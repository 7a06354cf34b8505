/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the bridge share.
 *
 * A request is answered by one function of `struct op`.  It calls the controller only between
 * controller_ready() and controller_result(), which keep the pace and tell failures apart.
 */
#ifndef SLURM_BRIDGE_H
#define SLURM_BRIDGE_H

#include <jansson.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BRIDGE_PROTOCOL 1

/* Why something was not done; `kind` is NULL where it was. */
struct failure {
	const char *kind;
	int code;
	char text[400];
};

/* ---- reply.c */

/* Sets the failure and returns false. */
bool fail(struct failure *f, const char *kind, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same of an error of libslurm's. */
bool fail_slurm(struct failure *f, int code);

/* {"ok":true}, or the failure as an object. */
json_t *reply_of(const struct failure *f);

/* Text that may not be UTF-8, or NULL for "", as JSON. */
json_t *reply_text(const char *text);

/* Sets a member and owns the value. */
void put(json_t *object, const char *name, json_t *value);

/* A member's text, or NULL; a member's number, or `otherwise`. */
const char *text_of(const json_t *object, const char *name);
long long number_of(const json_t *object, const char *name, long long otherwise);

/* ---- controller.c */

/* At most `rate` calls a second, each answered within `timeout_s`. */
void controller_init(double rate, int timeout_s);

/* Waits for this call's turn.  False where the controller is away, or cannot be known. */
bool controller_ready(struct failure *f);

/* What a call of libslurm's returned: false sets the failure. */
bool controller_result(int rc, struct failure *f);

/* Whether it is there now.  Asks it. */
bool controller_ping(struct failure *f);

/* ---- talk.c */

/* Appends what is said to a file. */
int talk_record(const char *path);
void talk_note(char direction, const char *line);

/* Answers from a recording until the input ends. */
int talk_play(const char *path);

/* Writes an answer as a line and owns it. */
void talk_say(json_t *answer);

/* ---- gres.c */

struct gpus {
	int count;
	char type[64]; /* "" where none is said */
};

/* The GPUs in one word of Slurm's, "gpu:v100:4(IDX:0-3)" or "gres:gpu:2"; false where it is
 * about something else.  `next` is where the next word begins, NULL at the end. */
bool gres_next(const char *list, struct gpus *out, const char **next);

/* All of a list: their sum, and the type if there is one. */
struct gpus gres_sum(const char *list);

/* ---- unlisted.c */

/* The word for why a job waits, from libslurm where it tells. */
const char *unlisted_reason(uint32_t reason);

/* Sets libslurm's own time-out. */
void unlisted_set_timeout(int seconds);

/* Frees what was loaded, with the admin_comment that libslurm 22.05 forgets; a poll would leak each. */
void unlisted_free_jobs(job_info_msg_t *jobs);

/* Where munge is to be found. */
void unlisted_munge_socket(char *path, size_t size);

/* ---- job_json.c */

/* A job's name: "4711" or "4711_3". */
#define JOB_NAME_MAX 32
void job_name(const slurm_job_info_t *job, char name[JOB_NAME_MAX]);

/* Equal for jobs that job_json() shows alike. */
uint64_t job_fingerprint(const slurm_job_info_t *job);
json_t *job_json(slurm_job_info_t *job);

/* ---- jobs.c */

/* How many were there when jobs were last asked for. */
size_t jobs_known(void);

/* ---- answers */

/* Fills the answer, or sets the failure. */
typedef bool op_fn(const json_t *request, json_t *answer, struct failure *f);

op_fn look_hello, look_ping, look_partitions, look_nodes;
op_fn jobs_changed, jobs_find;
op_fn submit_jobs;
op_fn act_start, act_requeue, act_hold, act_release, act_cancel, act_signal, act_note;
op_fn act_drain, act_resume;

/* Answers with `results`, one for each element of the request's array of that name. */
typedef void each_fn(const json_t *element, const json_t *request, json_t *result, struct failure *f);
bool reply_each(const json_t *request, const char *name, json_t *answer, struct failure *f,
	each_fn *each);

#endif
