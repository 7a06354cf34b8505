/*
 * Pruning in steps: jobs by their end (record_prune_jobs.c), then the events that belong to none
 * (record_prune_rest.c), then free pages.
 */
#include "store/record_prune.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/record_prune_parts.h"
#include "store/record_reserve.h"

enum {
	GIVE_PAGES = 16,  /* that a step gives back for each job that it may prune, */
	MOST_PAGES = 512, /* and at most */
	GIVE_MOST = 20000, /* SQLite looks through all free pages for each that goes: more are not given back in steps */
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

int prune_write(struct record *record, enum record_sql which, int64_t a, int64_t b, int *changes,
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
		rc = prune_failed(record, "write", err);
	record_give(&query);
	if (!rc && changes)
		*changes = sqlite3_changes(record->db);
	return rc;
}

int prune_ask(struct record *record, enum record_sql which, int64_t a, int64_t usual, int64_t *out,
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
		rc = prune_failed(record, "read", err);
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
		rc = prune_failed(p->record, "write", err);
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
		rc = prune_failed(record, "read", err);
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
		rc = prune_failed(record, "read", err);
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
		: prune_failed(record, "prepare pruning of", err);
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

void prune_destroy(struct prune *p)
{
	if (!p)
		return;
	prune_forget_found(p);
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

/* ---- pages */

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
		prune_at_most((uint64_t)GIVE_PAGES * jobs, MOST_PAGES));
	if (sqlite3_exec(p->record->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return prune_failed(p->record, "write", err);
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

/* ---- steps */

static int step_in_transaction(struct prune *p, uint32_t jobs, struct err *err)
{
	int rc = record_begin(p->record, err);

	if (rc)
		return rc;
	if (p->phase == PRUNE_JOBS)
		rc = prune_step_jobs(p, jobs, err);
	else if (p->phase == PRUNE_DEFERRED)
		rc = prune_step_deferred(p, jobs, err);
	else
		rc = prune_step_rest(p, jobs, err);
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
	prune_forget_found(p);
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
