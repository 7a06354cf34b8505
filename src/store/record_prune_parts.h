/*
 * What the files of pruning share; no other file includes this.
 */
#ifndef STORE_RECORD_PRUNE_PARTS_H
#define STORE_RECORD_PRUNE_PARTS_H

#include "base/vec.h"
#include "store/record_parts.h"
#include "store/record_prune.h"

enum phase { PRUNE_JOBS, PRUNE_DEFERRED, PRUNE_REST, PRUNE_PAGES, PRUNE_DONE };

struct old_job {
	uint32_t id;
	double end_s;
	bool heads; /* the first of an array, which has the submission of all of it */
	char *status;
};

struct prune {
	struct record *record;
	record_summarise *summarise;
	struct record_pruned total;
	uint64_t jobs, events; /* of this run */
	bool leaves_pages;     /* until the jobs are through */
	enum phase phase;
	double end_s; /* of the last job that was looked at */
	uint32_t id;
	VEC(struct old_job) found;
	VEC(uint32_t) deferred; /* heads of arrays, looked at again after their elements */
	size_t next_deferred;
	uint64_t seq;           /* the next event to look at */
	uint64_t epoch, health; /* the last ones before it; 0: none */
};

static inline int prune_failed(struct record *record, const char *doing, struct err *err)
{
	return record_failed(record->db, record->path, doing, err);
}

static inline uint32_t prune_at_most(uint64_t n, uint32_t most)
{
	return n < most ? (uint32_t)n : most;
}

/* A statement with up to two numbers that answers nothing; `changes`: rows it changed, may be NULL. */
int prune_write(struct record *record, enum record_sql which, int64_t a, int64_t b, int *changes,
	struct err *err);
/* A statement that answers one number; `usual` where there is none. */
int prune_ask(struct record *record, enum record_sql which, int64_t a, int64_t usual, int64_t *out,
	struct err *err);

/* A step of each phase, in a transaction; `limit` and `jobs` say how large it may be. */
int prune_step_jobs(struct prune *p, uint32_t limit, struct err *err);
int prune_step_deferred(struct prune *p, uint32_t limit, struct err *err);
int prune_step_rest(struct prune *p, uint32_t jobs, struct err *err);
/* The jobs that a step has found, when it is over. */
void prune_forget_found(struct prune *p);

#endif
