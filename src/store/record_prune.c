/*
 * Pruning in steps: jobs by their end, then the events that belong to none, then free pages.
 */
#include "store/record_prune.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "store/record_parts.h"
#include "store/record_reserve.h"

enum {
	WALK_JOBS = 20000,  /* summaries of earlier runs that a step passes over */
	WALK_EVENTS = 100,  /* events that a step looks at for each job that it may prune, */
	MOST_EVENTS = 4000, /* and at most */
	GIVE_PAGES = 16,    /* that a step gives back for each job that it may prune, */
	MOST_PAGES = 512,   /* and at most */
	GIVE_MOST = 20000, /* SQLite looks through all free pages for each that goes: more are not given back in steps */
};

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

/* ---- what was pruned */

static const char format[] = "{\"seq\":%llu,\"at_s\":%.17g,\"jobs\":%llu,\"events\":%llu}";

bool record_pruned(struct record *record, struct record_pruned *out)
{
	unsigned long long seq = 0, jobs = 0, events = 0;
	struct buf text = { 0 };
	double at_s = 0;
	bool found = record_meta(record, RECORD_PRUNED, &text) &&
		sscanf(text.at, "{\"seq\":%llu,\"at_s\":%lf,\"jobs\":%llu,\"events\":%llu}", &seq,
			&at_s, &jobs, &events) == 4;

	buf_fini(&text);
	*out = (struct record_pruned){ seq, at_s, jobs, events };
	return found;
}

/* If it cannot begin, what is read says why. */
void record_view_begin(struct record *record)
{
	assert(record->readonly);
	sqlite3_exec(record->db, "BEGIN", NULL, NULL, NULL);
}

void record_view_end(struct record *record)
{
	if (!sqlite3_get_autocommit(record->db))
		sqlite3_exec(record->db, "COMMIT", NULL, NULL, NULL);
}

static int failed(struct record *record, const char *doing, struct err *err)
{
	return record_failed(record->db, record->path, doing, err);
}

/* A statement with up to two numbers that answers nothing; `changes`: rows it changed, may be NULL. */
static int run(struct record *record, enum record_sql which, int64_t a, int64_t b, int *changes,
	struct err *err)
{
	struct record_query query;
	int rc = record_take(record, which, &query, err), n;

	if (rc)
		return rc;
	n = sqlite3_bind_parameter_count(query.st);
	if (n > 0)
		sqlite3_bind_int64(query.st, 1, a);
	if (n > 1)
		sqlite3_bind_int64(query.st, 2, b);
	if (sqlite3_step(query.st) != SQLITE_DONE)
		rc = failed(record, "write", err);
	record_give(&query);
	if (!rc && changes)
		*changes = sqlite3_changes(record->db);
	return rc;
}

/* A statement that answers one number; `usual` where there is none. */
static int ask(struct record *record, enum record_sql which, int64_t a, int64_t usual, int64_t *out,
	struct err *err)
{
	struct record_query query;
	int rc = record_take(record, which, &query, err), step;

	if (rc)
		return rc;
	if (sqlite3_bind_parameter_count(query.st) > 0)
		sqlite3_bind_int64(query.st, 1, a);
	step = sqlite3_step(query.st);
	*out = step == SQLITE_ROW && sqlite3_column_type(query.st, 0) != SQLITE_NULL
		? sqlite3_column_int64(query.st, 0)
		: usual;
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		rc = failed(record, "read", err);
	record_give(&query);
	return rc;
}

static int put_pruned(struct prune *p, struct err *err)
{
	struct record_query query;
	char text[160];
	int rc = record_take(p->record, SQL_PUT_META, &query, err);

	if (rc)
		return rc;
	snprintf(text, sizeof(text), format, (unsigned long long)p->total.seq, p->total.at_s,
		(unsigned long long)p->total.jobs, (unsigned long long)p->total.events);
	sqlite3_bind_text(query.st, 1, RECORD_PRUNED, -1, SQLITE_STATIC);
	sqlite3_bind_text(query.st, 2, text, -1, SQLITE_STATIC);
	if (sqlite3_step(query.st) != SQLITE_DONE)
		rc = failed(p->record, "write", err);
	record_give(&query);
	return rc;
}

/* ---- the cut */

/* The first event from `seq` on. */
static int event_from(struct record *record, uint64_t seq, uint64_t *found, double *at_s,
	struct err *err)
{
	struct record_query query;
	int rc = record_take(record, SQL_EVENT_FROM, &query, err), step;

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, (int64_t)seq);
	step = sqlite3_step(query.st);
	*found = 0;
	if (step == SQLITE_ROW) {
		*found = (uint64_t)sqlite3_column_int64(query.st, 0);
		*at_s = sqlite3_column_double(query.st, 1);
	} else if (step != SQLITE_DONE) {
		rc = failed(record, "read", err);
	}
	record_give(&query);
	return rc;
}

/*
 * The first event that is not before the moment, but never a later one than the last, whose number the next
 * event follows; never an earlier one than the cut of before.
 */
static int find_cut(struct record *record, double before_s, struct record_pruned *cut, struct err *err)
{
	uint64_t low = cut->seq ? cut->seq : 1, high = record_last_seq(record), found;
	double at_s = cut->at_s;
	int rc = 0;

	if (!high || (cut->seq && before_s <= cut->at_s))
		return 0;
	while (!rc && low < high) {
		uint64_t mid = low + (high - low) / 2;

		rc = event_from(record, mid, &found, &at_s, err);
		if (!rc && at_s < before_s)
			low = found < high ? found + 1 : high;
		else
			high = mid;
	}
	if (!rc)
		rc = event_from(record, low, &found, &at_s, err);
	if (rc)
		return rc;
	cut->seq = found;
	cut->at_s = at_s;
	return 0;
}

int record_prune_plan(struct record *record, double before_s, struct record_prune_plan *out,
	struct err *err)
{
	struct record_pruned cut = { 0 }, before;
	struct record_query query;
	int rc, step;

	record_pruned(record, &before);
	cut.seq = before.seq;
	cut.at_s = before.at_s;
	rc = find_cut(record, before_s, &cut, err);
	if (!rc)
		rc = record_take(record, SQL_COUNT_OLD, &query, err);
	if (rc)
		return rc;
	sqlite3_bind_double(query.st, 1, cut.at_s);
	sqlite3_bind_int64(query.st, 2, (int64_t)cut.seq);
	step = sqlite3_step(query.st);
	*out = (struct record_prune_plan){ .seq = cut.seq, .at_s = cut.at_s };
	if (step == SQLITE_ROW)
		out->jobs = (uint64_t)sqlite3_column_int64(query.st, 0);
	else
		rc = failed(record, "read", err);
	record_give(&query);
	out->events = cut.seq > before.seq ? cut.seq - (before.seq ? before.seq : 1) : 0;
	return rc;
}

static int try_cut(struct prune *p, struct err *err)
{
	int rc = record_begin(p->record, err);

	if (!rc)
		rc = put_pruned(p, err);
	if (!rc)
		return record_commit(p->record, err);
	record_rollback(p->record);
	return rc;
}

static int write_cut(struct prune *p, struct err *err)
{
	struct err why = { 0 };
	int rc = try_cut(p, &why);

	while (rc < 0 && reserve_would_help(&why) && record_make_room(p->record)) {
		why = (struct err){ 0 };
		rc = try_cut(p, &why);
	}
	if (rc < 0 && err)
		*err = why;
	return rc;
}

/* Of this connection, and in memory. */
static int make_tables(struct record *record, struct err *err)
{
	static const char tables[] =
		"CREATE TEMP TABLE IF NOT EXISTS past_job(id INTEGER PRIMARY KEY, uid, key, name, tenant,"
		"	state, live, arrival_s, end_s, submit_seq, status);"
		"CREATE TEMP TABLE IF NOT EXISTS past_attempt(job, attempt, over, status,"
		"	PRIMARY KEY(job, attempt)) WITHOUT ROWID;";

	return sqlite3_exec(record->db, tables, NULL, NULL, NULL) == SQLITE_OK
		? 0
		: failed(record, "prepare pruning of", err);
}

int prune_create(struct record *record, double before_s, record_summarise *summarise,
	struct prune **out, struct err *err)
{
	struct prune *p = mem_alloc(sizeof(*p));
	int rc;

	p->record = record;
	p->summarise = summarise;
	p->end_s = -INFINITY;
	record_pruned(record, &p->total);
	rc = make_tables(record, err);
	if (!rc)
		rc = find_cut(record, before_s, &p->total, err);
	if (!rc && p->total.seq)
		rc = write_cut(p, err);
	else
		p->phase = PRUNE_PAGES;
	if (rc < 0) {
		prune_destroy(p);
		return rc;
	}
	*out = p;
	return 0;
}

static void forget_found(struct prune *p)
{
	for (size_t i = 0; i < p->found.n; i++)
		free(p->found.at[i].status);
	p->found.n = 0;
}

void prune_destroy(struct prune *p)
{
	if (!p)
		return;
	forget_found(p);
	vec_fini(&p->found);
	vec_fini(&p->deferred);
	free(p);
}

uint64_t prune_jobs(const struct prune *p)
{
	return p->jobs;
}

uint64_t prune_events(const struct prune *p)
{
	return p->events;
}

/* ---- jobs */

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
		rc = failed(p->record, "read", err);
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
		rc = failed(p->record, "read", err);
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
		rc = failed(p->record, "read", err);
	record_give(&query);
	return rc;
}

/* Whether nothing of it happened since the cut, nothing of it is open, and no other job needs its submission. */
static int is_past(struct prune *p, const struct old_job *job, bool *out, struct err *err)
{
	int64_t last = 0, open = 0;
	bool needed = false;
	int rc = ask(p->record, SQL_LAST_OF_JOB, job->id, 0, &last, err);

	if (!rc)
		rc = ask(p->record, SQL_OPEN_OF_JOB, job->id, 0, &open, err);
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
		rc = failed(p->record, "write", err);
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
	int gone = 0, rc = run(p->record, SQL_DROP_EVENTS, job->id, 0, &gone, err);

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
		rc = run(p->record, in_order[i], 0, 0, NULL, err);
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

static int step_jobs(struct prune *p, uint32_t limit, struct err *err)
{
	uint32_t passed;
	int rc = find_jobs(p, limit, &passed, err);

	if (!rc && !passed)
		p->phase = PRUNE_DEFERRED;
	return rc ? rc : prune_found(p, err);
}

static int step_deferred(struct prune *p, uint32_t limit, struct err *err)
{
	int rc = 0;

	for (; !rc && p->next_deferred < p->deferred.n && p->found.n < limit; p->next_deferred++)
		rc = find_job(p, p->deferred.at[p->next_deferred], err);
	if (!rc && !p->found.n && p->next_deferred == p->deferred.n)
		p->phase = PRUNE_REST;
	return rc ? rc : prune_found(p, err);
}

/* ---- events that belong to no job, and reports of those that are kept */

struct old_event {
	uint64_t seq;
	bool of_job, bare; /* bare: it says nothing of the job or the attempt */
	char kind[16];
};

typedef VEC(struct old_event) old_events;

static uint32_t at_most(uint64_t n, uint32_t most)
{
	return n < most ? (uint32_t)n : most;
}

static int find_events(struct prune *p, uint32_t limit, old_events *out, struct err *err)
{
	struct record_query query;
	int rc = record_take(p->record, SQL_OLD_EVENTS, &query, err), step;

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, (int64_t)p->seq);
	sqlite3_bind_int64(query.st, 2, (int64_t)p->total.seq);
	sqlite3_bind_int64(query.st, 3, limit);
	while ((step = sqlite3_step(query.st)) == SQLITE_ROW) {
		struct old_event e = {
			.seq = (uint64_t)sqlite3_column_int64(query.st, 0),
			.of_job = sqlite3_column_int(query.st, 2),
			.bare = sqlite3_column_int(query.st, 3),
		};

		snprintf(e.kind, sizeof(e.kind), "%s", (const char *)sqlite3_column_text(query.st, 1));
		vec_push(out, e);
	}
	if (step != SQLITE_DONE)
		rc = failed(p->record, "read", err);
	record_give(&query);
	return rc;
}

/* The event that goes with this one coming into view: itself, or the one that it takes the place of; 0: none. */
static uint64_t displaced_by(struct prune *p, const struct old_event *e)
{
	uint64_t *last = !strcmp(e->kind, "epoch") ? &p->epoch
		: !strcmp(e->kind, "health")       ? &p->health
						   : NULL;
	uint64_t before;

	if (e->of_job)
		return e->bare && !strcmp(e->kind, "progress") ? e->seq : 0;
	/* Who did what outlives what was done. */
	if (!last)
		return strcmp(e->kind, "audit") != 0 ? e->seq : 0;
	before = *last;
	*last = e->seq;
	return before;
}

static int step_rest(struct prune *p, uint32_t jobs, struct err *err)
{
	old_events events = { 0 };
	int rc = find_events(p, at_most((uint64_t)WALK_EVENTS * jobs, MOST_EVENTS), &events, err);

	if (!rc && !events.n)
		p->phase = PRUNE_PAGES;
	for (size_t i = 0; !rc && i < events.n; i++) {
		uint64_t seq = displaced_by(p, &events.at[i]);
		int gone = 0;

		if (seq)
			rc = run(p->record, SQL_DROP_EVENT, (int64_t)seq, 0, &gone, err);
		p->total.events += (uint64_t)gone;
		p->events += (uint64_t)gone;
		p->seq = events.at[i].seq + 1;
	}
	vec_fini(&events);
	return rc;
}

/* ---- pages */

int record_size(struct record *record, struct record_size *out, struct err *err)
{
	static const char *const asks[] = { "PRAGMA page_count", "PRAGMA freelist_count",
		"PRAGMA page_size", "PRAGMA auto_vacuum" };
	int64_t numbers[4] = { 0 };

	for (int i = 0; i < 4; i++) {
		sqlite3_stmt *st = NULL;

		if (sqlite3_prepare_v2(record->db, asks[i], -1, &st, NULL) != SQLITE_OK ||
			sqlite3_step(st) != SQLITE_ROW) {
			int rc = failed(record, "read", err);

			sqlite3_finalize(st);
			return rc;
		}
		numbers[i] = sqlite3_column_int64(st, 0);
		sqlite3_finalize(st);
	}
	*out = (struct record_size){ numbers[0] * numbers[2], numbers[1] * numbers[2], numbers[3] == 2 };
	return 0;
}

/* In a transaction of its own.  `more`: whether there are others. */
static int give_pages(struct prune *p, uint32_t jobs, bool *more, struct err *err)
{
	struct record_size size;
	char sql[64];
	int rc = record_size(p->record, &size, err);

	*more = false;
	if (rc || !size.gives_back || size.free_bytes == 0 || size.free_bytes > GIVE_MOST * 4096LL)
		return rc;
	*more = true;
	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%u)",
		at_most((uint64_t)GIVE_PAGES * jobs, MOST_PAGES));
	if (sqlite3_exec(p->record->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return failed(p->record, "write", err);
	return 0;
}

static int step_pages(struct prune *p, uint32_t jobs, struct err *err)
{
	bool more;
	int rc = give_pages(p, jobs, &more, err);

	if (!rc && !more)
		p->phase = PRUNE_DONE;
	return rc;
}

void prune_leave_pages(struct prune *p)
{
	p->leaves_pages = true;
}

int record_vacuum(struct record *record, struct err *err)
{
	static const char *const steps[] = {
		"PRAGMA temp_store = FILE", /* it is as large as the record */
		"PRAGMA auto_vacuum = INCREMENTAL",
		"VACUUM",
		"PRAGMA wal_checkpoint(TRUNCATE)",
		"PRAGMA temp_store = MEMORY",
	};

	assert(!record->readonly && !record->writing);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (sqlite3_exec(record->db, steps[i], NULL, NULL, NULL) != SQLITE_OK)
			return failed(record, "rewrite", err);
	}
	return 0;
}

/* ---- steps */

static int step_in_transaction(struct prune *p, uint32_t jobs, struct err *err)
{
	int rc = record_begin(p->record, err);

	if (rc)
		return rc;
	if (p->phase == PRUNE_JOBS)
		rc = step_jobs(p, jobs, err);
	else if (p->phase == PRUNE_DEFERRED)
		rc = step_deferred(p, jobs, err);
	else
		rc = step_rest(p, jobs, err);
	if (!rc)
		rc = put_pruned(p, err);
	if (!rc)
		return record_commit(p->record, err);
	record_rollback(p->record);
	return rc;
}

/* A step that failed is as if it had not begun. */
static int try_step(struct prune *p, uint32_t jobs, struct err *err)
{
	struct prune before = *p;
	int rc = 0;

	if (p->phase == PRUNE_PAGES)
		rc = step_pages(p, jobs, err);
	else if (p->phase != PRUNE_DONE)
		rc = step_in_transaction(p, jobs, err);
	forget_found(p);
	if (rc < 0) {
		p->total = before.total;
		p->jobs = before.jobs;
		p->events = before.events;
		p->phase = before.phase;
		p->end_s = before.end_s;
		p->id = before.id;
		p->deferred.n = before.deferred.n;
		p->next_deferred = before.next_deferred;
		p->seq = before.seq;
		p->epoch = before.epoch;
		p->health = before.health;
		return rc;
	}
	/* As they come, or there would be too many in the end.  If this fails the next step does it. */
	if (before.phase == PRUNE_JOBS && !p->leaves_pages)
		give_pages(p, jobs, &(bool){ false }, NULL);
	return p->phase == PRUNE_DONE ? 0 : 1;
}

/* On a full disk a step is smaller, and may use what is kept for that. */
int prune_step(struct prune *p, uint32_t jobs, struct err *err)
{
	struct err why = { 0 };
	int rc = try_step(p, jobs, &why);

	while (rc < 0 && reserve_would_help(&why)) {
		bool given = record_make_room(p->record);

		if (!given && jobs == 1)
			break;
		jobs = jobs > 4 ? jobs / 4 : 1;
		why = (struct err){ 0 };
		rc = try_step(p, jobs, &why);
	}
	if (rc < 0 && err)
		*err = why;
	return rc;
}
