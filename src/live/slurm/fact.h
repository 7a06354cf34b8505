/*
 * What Slurm says of a job, as far as it matters here; and the words by which jobs
 * and runs of ours are known in Slurm:
 *
 *	key   in `comment` of jobs that we submitted: "stint:SITE:JOB:GENERATION"
 *	mark  in `admin_comment`, set together with the order to start:
 *	      "stint:SITE:JOB:ATTEMPT:RESTARTS", with how often Slurm had
 *	      restarted the job before: a job that shows more of them has run
 */
#ifndef LIVE_SLURM_FACT_H
#define LIVE_SLURM_FACT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

enum { SLURM_NAME_MAX = 32, SLURM_TASKS_MAX = 100000 };

enum fact_state {
	FACT_NONE, /* Slurm does not know it (any more) */
	FACT_PENDING,
	FACT_RUNNING, /* or suspended: it holds its nodes */
	FACT_ENDED,
};

/* GPUs of one node that a job holds. */
struct fact_part {
	char node[64];
	uint32_t gpus;
};

struct fact {
	enum fact_state state;
	char word[20];   /* Slurm's for it: "COMPLETED", "NODE_FAIL", … */
	char reason[48]; /* why it waits */
	bool held, completing;
	bool wanted_held; /* its user held it, which the hook has noted in its comment */
	bool of_array;    /* told of the array as a whole, not of this task */
	uint32_t restarts;
	char mark[96];
	char user[48];
	double submit_s, start_s, end_s, limit_s; /* 0: not said */
	int exit, signal;
	VEC(struct fact_part) on;
	char *out, *err_out; /* NULL: not said */
};

void fact_fini(struct fact *fact);
/* Replaces what was there. */
void fact_read(struct fact *fact, const json_t *job);

/* Whether the comment ends with the hook's word for a hold by the job's user. */
bool comment_holds(const char *comment);

/* "4711_3" is of array 4711; 0: it is no task. */
uint32_t name_array(const char *name);

/* Task numbers of "0-3,7,10-20:5%2"; returns how many at once, 0: no limit. */
typedef VEC(uint32_t) slurm_tasks;
uint32_t tasks_read(const char *text, slurm_tasks *out);

struct slurm_key {
	uint32_t job, generation;
};
struct slurm_mark {
	uint32_t job, attempt, restarts;
};

/* False: it is not of this site. */
bool key_read(const char *text, const char *site, struct slurm_key *out);
bool mark_read(const char *text, const char *site, struct slurm_mark *out);
void key_write(char *to, size_t size, const char *site, struct slurm_key key);
void mark_write(char *to, size_t size, const char *site, struct slurm_mark mark);

/* "slurm:4711_3@1763366400", by which the daemon knows jobs that users submitted to Slurm.  False: it is none. */
bool outside_key_read(const char *text, char name[SLURM_NAME_MAX], double *submit_s);
void outside_key_write(char *to, size_t size, const char *name, double submit_s);

#endif
