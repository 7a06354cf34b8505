/*
 * Pruning jobs: those that ended before the cut become summaries, and their events go.
 *
 * The first job of an array has the submission of all of it, so it is looked at again after its elements.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "store/record_prune_parts.h"

enum { WALK_JOBS = 20000 }; /* summaries of earlier runs that a step passes over */

void prune_forget_found(struct prune *p)
{
	for (size_t i = 0; i < p->found.n; i++)
		free(p->found.at[i].status);
	p->found.n = 0;
}

static void add_found(struct prune *p, sqlite3_stmt *st)
{
	struct old_job job = {
		.id = (uint32_t)sqlite3_column_int64(st, 0),
		.end_s = sqlite3_column_double(st, 1),
		.status = mem_strdup((const char *)sqlite3_column_text(st, 3)),
	};

	job.heads = sqlite3_column_int64(st, 4) == job.id;
	vec_push(&p->found, job);
}

/* The next jobs that ended before the cut.  Returns how many rows were passed. */
static int find_jobs(struct prune *p, uint32_t limit, uint32_t *passed, struct err *err)
{
	struct record_query query;
	int rc = record_take(p->record, SQL_OLD_JOBS, &query, err), step = SQLITE_DONE;

	*passed = 0;
	if (rc)
		return rc;
	sqlite3_bind_double(query.st, 1, p->end_s);
	sqlite3_bind_int64(query.st, 2, p->id);
	sqlite3_bind_double(query.st, 3, p->total.at_s);
	while (p->found.n < limit && *passed < WALK_JOBS &&
		(step = sqlite3_step(query.st)) == SQLITE_ROW) {
		++*passed;
		p->id = (uint32_t)sqlite3_column_int64(query.st, 0);
		p->end_s = sqlite3_column_double(query.st, 1);
		if (sqlite3_column_int64(query.st, 2) > 0)
			add_found(p, query.st);
	}
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		rc = prune_failed(p->record, "read", err);
	record_give(&query);
	return rc;
}

/* One job by its number; found.n stays 0 if it is a summary already or lives again. */
static int find_job(struct prune *p, uint32_t id, struct err *err)
{
	struct record_query query;
	int rc = record_take(p->record, SQL_OLD_JOB, &query, err), step;

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, id);
	step = sqlite3_step(query.st);
	if (step == SQLITE_ROW && sqlite3_column_int64(query.st, 2) > 0)
		add_found(p, query.st);
	else if (step != SQLITE_ROW && step != SQLITE_DONE)
		rc = prune_failed(p->record, "read", err);
	record_give(&query);
	return rc;
}

/* The numbers of an array's elements follow each other. */
static int has_elements(struct prune *p, uint32_t head, bool *out, struct err *err)
{
	struct record_query query;
	int rc = record_take(p->record, SQL_ELEMENTS, &query, err), step = SQLITE_DONE;

	*out = false;
	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, head);
	while (!*out && (step = sqlite3_step(query.st)) == SQLITE_ROW &&
		sqlite3_column_int64(query.st, 1) == head)
		*out = sqlite3_column_int64(query.st, 0) > 0;
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		rc = prune_failed(p->record, "read", err);
	record_give(&query);
	return rc;
}

/* Whether nothing of it happened since the cut, nothing of it is open, and no other job needs its submission. */
static int is_past(struct prune *p, const struct old_job *job, bool *out, struct err *err)
{
	int64_t last = 0, open = 0;
	bool needed = false;
	int rc = prune_ask(p->record, SQL_LAST_OF_JOB, job->id, 0, &last, err);

	if (!rc)
		rc = prune_ask(p->record, SQL_OPEN_OF_JOB, job->id, 0, &open, err);
	if (!rc && job->heads)
		rc = has_elements(p, job->id, &needed, err);
	if (!rc && needed && p->phase == PRUNE_JOBS)
		vec_push(&p->deferred, job->id);
	*out = (uint64_t)last < p->total.seq && !open && !needed;
	return rc;
}

static int put_status(struct prune *p, enum record_sql which, uint32_t job, uint32_t attempt,
	const char *status, struct err *err)
{
	struct record_query query;
	struct buf text = { 0 };
	int rc = record_take(p->record, which, &query, err);

	if (rc)
		return rc;
	p->summarise(status, &text);
	sqlite3_bind_int64(query.st, 1, job);
	sqlite3_bind_text(query.st, 2, text.n ? text.at : status, -1, SQLITE_STATIC);
	if (attempt)
		sqlite3_bind_int64(query.st, 3, attempt);
	if (sqlite3_step(query.st) != SQLITE_DONE)
		rc = prune_failed(p->record, "write", err);
	record_give(&query);
	buf_fini(&text);
	return rc;
}

struct summarising {
	struct prune *prune;
	struct err *err;
	VEC(struct record_attempt) attempts; /* with statuses of their own */
};

static int see_attempt(void *ctx, const struct record_attempt *attempt)
{
	struct summarising *s = ctx;
	struct record_attempt copy = *attempt;

	copy.status = mem_strdup(attempt->status);
	vec_push(&s->attempts, copy);
	return 0;
}

static int summarise_attempts(struct prune *p, uint32_t job, struct err *err)
{
	struct summarising s = { .prune = p, .err = err };
	int rc = record_attempts(p->record, job, see_attempt, &s, err);

	for (size_t i = 0; i < s.attempts.n; i++) {
		const struct record_attempt *a = &s.attempts.at[i];

		if (!rc)
			rc = put_status(p, SQL_SUM_ATTEMPT, a->job, a->attempt, a->status, err);
		free((char *)a->status);
	}
	vec_fini(&s.attempts);
	return rc;
}

static int prune_job(struct prune *p, const struct old_job *job, struct err *err)
{
	int gone = 0, rc = prune_write(p->record, SQL_DROP_EVENTS, job->id, 0, &gone, err);

	if (!rc)
		rc = put_status(p, SQL_SUM_JOB, job->id, 0, job->status, err);
	if (!rc)
		rc = summarise_attempts(p, job->id, err);
	if (rc)
		return rc;
	p->total.jobs++;
	p->jobs++;
	p->total.events += (uint64_t)gone;
	p->events += (uint64_t)gone;
	return 0;
}

/*
 * Rows that become shorter where they are leave their pages half empty, which nothing gives back.  So all of
 * a step are taken out and put in again.
 */
static int put_summaries(struct prune *p, struct err *err)
{
	static const enum record_sql in_order[] = { SQL_OUT_JOBS, SQL_OUT_ATTEMPTS, SQL_IN_JOBS,
		SQL_IN_ATTEMPTS, SQL_PAST_JOBS, SQL_PAST_ATTEMPTS };
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(in_order) / sizeof(*in_order); i++)
		rc = prune_write(p->record, in_order[i], 0, 0, NULL, err);
	return rc;
}

static int prune_found(struct prune *p, struct err *err)
{
	uint64_t before = p->jobs;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->found.n; i++) {
		bool past;

		rc = is_past(p, &p->found.at[i], &past, err);
		if (!rc && past)
			rc = prune_job(p, &p->found.at[i], err);
	}
	if (!rc && p->jobs > before)
		rc = put_summaries(p, err);
	return rc;
}

int prune_step_jobs(struct prune *p, uint32_t limit, struct err *err)
{
	uint32_t passed;
	int rc = find_jobs(p, limit, &passed, err);

	if (!rc && !passed)
		p->phase = PRUNE_DEFERRED;
	return rc ? rc : prune_found(p, err);
}

int prune_step_deferred(struct prune *p, uint32_t limit, struct err *err)
{
	int rc = 0;

	for (; !rc && p->next_deferred < p->deferred.n && p->found.n < limit; p->next_deferred++)
		rc = find_job(p, p->deferred.at[p->next_deferred], err);
	if (!rc && !p->found.n && p->next_deferred == p->deferred.n)
		p->phase = PRUNE_REST;
	return rc ? rc : prune_found(p, err);
}
