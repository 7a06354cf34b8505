/*
 * The live record: reading.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/record.h"
#include "store/record_parts.h"
#include "store/record_prune.h"

static const char *text_of(sqlite3_stmt *st, int column)
{
	return (const char *)sqlite3_column_text(st, column);
}

static double number_of(sqlite3_stmt *st, int column)
{
	return sqlite3_column_type(st, column) == SQLITE_NULL ? NAN
							      : sqlite3_column_double(st, column);
}

static uint32_t id_of(sqlite3_stmt *st, int column)
{
	return (uint32_t)sqlite3_column_int64(st, column);
}

/* ---- rows, and whoever looks at them */

/* One of the three. */
struct viewer {
	record_see_job *job;
	record_see_attempt *attempt;
	record_see_event *event;
	void *ctx;
	const struct record_filter *filter; /* of jobs, may be NULL: what the statement does not sort out */
};

static int show_job(const struct viewer *viewer, sqlite3_stmt *st)
{
	struct record_job job = {
		.id = id_of(st, 0),
		.uid = id_of(st, 1),
		.key = text_of(st, 2),
		.name = text_of(st, 3),
		.tenant = text_of(st, 4),
		.state = text_of(st, 5),
		.live = sqlite3_column_int(st, 6),
		.arrival_s = number_of(st, 7),
		.end_s = number_of(st, 8),
		.submit_seq = (uint64_t)sqlite3_column_int64(st, 9),
		.status = text_of(st, 10),
	};

	return viewer->job(viewer->ctx, &job);
}

static int show_attempt(const struct viewer *viewer, sqlite3_stmt *st)
{
	struct record_attempt attempt = {
		.job = id_of(st, 0),
		.attempt = id_of(st, 1),
		.over = sqlite3_column_int(st, 2),
		.status = text_of(st, 3),
	};

	return viewer->attempt(viewer->ctx, &attempt);
}

static int show_event(const struct viewer *viewer, sqlite3_stmt *st)
{
	struct record_event event = {
		.seq = (uint64_t)sqlite3_column_int64(st, 0),
		.at_s = sqlite3_column_double(st, 1),
		.kind = text_of(st, 2),
		.job = id_of(st, 3),
		.attempt = id_of(st, 4),
		.body = text_of(st, 5),
		.job_after = text_of(st, 6),
		.job_live = sqlite3_column_int(st, 7),
		.attempt_after = text_of(st, 8),
		.attempt_over = sqlite3_column_int(st, 9),
	};

	return viewer->event(viewer->ctx, &event);
}

static int show(const struct viewer *viewer, sqlite3_stmt *st)
{
	if (viewer->job)
		return show_job(viewer, st);
	return viewer->attempt ? show_attempt(viewer, st) : show_event(viewer, st);
}

static bool has_state(const struct record_filter *filter, const char *state)
{
	for (uint32_t i = 0; i < filter->nstates; i++) {
		if (!strcmp(filter->states[i], state))
			return true;
	}
	return !filter->nstates;
}

static bool is_wanted(const struct viewer *viewer, sqlite3_stmt *st)
{
	return !viewer->filter || has_state(viewer->filter, text_of(st, 5));
}

static bool is_enough(const struct viewer *viewer, uint64_t n)
{
	return viewer->filter && viewer->filter->limit && n >= viewer->filter->limit;
}

/* Shows every row that is wanted and gives the statement back.  `rows`: how many, may be NULL. */
static int walk(struct record *record, struct record_query *query, const struct viewer *viewer,
	uint64_t *rows, struct err *err)
{
	uint64_t n = 0;
	int rc = 0, step = SQLITE_DONE;

	while (!rc && !is_enough(viewer, n) && (step = sqlite3_step(query->st)) == SQLITE_ROW) {
		if (!is_wanted(viewer, query->st))
			continue;
		rc = show(viewer, query->st);
		n++;
	}
	if (!rc && step != SQLITE_DONE && step != SQLITE_ROW)
		rc = record_failed(record->db, record->path, "read", err);
	record_give(query);
	if (rows)
		*rows = n;
	return rc;
}

static int64_t limit_of(uint64_t limit)
{
	return limit ? (int64_t)limit : -1;
}

/* ---- jobs */

int record_live_jobs(struct record *record, record_see_job *see, void *ctx, struct err *err)
{
	struct record_query query;
	int rc = record_take(record, SQL_LIVE_JOBS, &query, err);

	return rc ? rc : walk(record, &query, &(struct viewer){ .job = see, .ctx = ctx }, NULL, err);
}

int record_summaries(struct record *record, record_see_job *see, void *ctx, struct err *err)
{
	struct record_query query;
	int rc = record_take(record, SQL_SUMMARIES, &query, err);

	return rc ? rc : walk(record, &query, &(struct viewer){ .job = see, .ctx = ctx }, NULL, err);
}

int record_job(struct record *record, uint32_t id, record_see_job *see, void *ctx, struct err *err)
{
	struct record_query query;
	uint64_t rows;
	int rc = record_take(record, SQL_JOB, &query, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, id);
	rc = walk(record, &query, &(struct viewer){ .job = see, .ctx = ctx }, &rows, err);
	return rc || rows ? rc : err_set(err, ERR_MISSING, "there is no job %u", id);
}

static void bind_filter(sqlite3_stmt *st, const struct record_filter *filter)
{
	sqlite3_bind_text(st, 1, filter->state, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, filter->tenant, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, filter->name, -1, SQLITE_STATIC);
	if (filter->uid != UINT32_MAX)
		sqlite3_bind_int64(st, 4, filter->uid);
	sqlite3_bind_int64(st, 5, filter->before_id ? filter->before_id : INT64_MAX);
	/* Those of a set of states are sorted out, and counted, as they are read. */
	sqlite3_bind_int64(st, 6, filter->nstates ? -1 : limit_of(filter->limit));
}

int record_ended_jobs(struct record *record, const struct record_filter *filter,
	record_see_job *see, void *ctx, struct err *err)
{
	bool since = !isnan(filter->ended_since_s);
	struct record_query query;
	int rc = record_take(record, since ? SQL_ENDED_SINCE : SQL_ENDED_JOBS, &query, err);

	if (rc)
		return rc;
	bind_filter(query.st, filter);
	if (since)
		sqlite3_bind_double(query.st, 7, filter->ended_since_s);
	return walk(record, &query, &(struct viewer){ .job = see, .ctx = ctx, .filter = filter },
		NULL, err);
}

/* ---- attempts and events */

int record_open_attempts(struct record *record, record_see_attempt *see, void *ctx, struct err *err)
{
	struct record_query query;
	int rc = record_take(record, SQL_OPEN_ATTEMPTS, &query, err);

	return rc ? rc
		  : walk(record, &query, &(struct viewer){ .attempt = see, .ctx = ctx }, NULL, err);
}

int record_attempts(struct record *record, uint32_t job, record_see_attempt *see, void *ctx,
	struct err *err)
{
	struct record_query query;
	int rc = record_take(record, SQL_ATTEMPTS, &query, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, job);
	return walk(record, &query, &(struct viewer){ .attempt = see, .ctx = ctx }, NULL, err);
}

int record_events(struct record *record, uint64_t from_seq, uint32_t job, uint64_t limit,
	record_see_event *see, void *ctx, struct err *err)
{
	struct record_query query;
	int rc = record_take(record, job ? SQL_JOB_EVENTS : SQL_EVENTS, &query, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, (int64_t)from_seq);
	sqlite3_bind_int64(query.st, 2, limit_of(limit));
	if (job)
		sqlite3_bind_int64(query.st, 3, job);
	return walk(record, &query, &(struct viewer){ .event = see, .ctx = ctx }, NULL, err);
}

const char *record_last_key(const char *kind)
{
	/* Every start looks for these, and there may be millions of others behind them. */
	return !strcmp(kind, "epoch")     ? "last_epoch"
		: !strcmp(kind, "health") ? "last_health"
					  : NULL;
}

/* Its number if the record says it and it is not after `seq`; else 0. */
static uint64_t known_last(struct record *record, const char *kind, uint64_t seq)
{
	const char *key = record_last_key(kind);
	struct buf text = { 0 };
	uint64_t last = key && record_meta(record, key, &text) ? strtoull(text.at, NULL, 10) : 0;

	buf_fini(&text);
	return last <= seq ? last : 0;
}

int record_last_of_kind(struct record *record, const char *kind, uint64_t seq,
	record_see_event *see, void *ctx, struct err *err)
{
	uint64_t last = known_last(record, kind, seq);
	int rc = last ? record_event_at(record, last, see, ctx, err) : ERR_MISSING;

	return rc == ERR_MISSING ? record_last_of_kind_from(record, kind, 0, seq, see, ctx, err) : rc;
}

int record_last_of_kind_from(struct record *record, const char *kind, uint64_t from_seq,
	uint64_t seq, record_see_event *see, void *ctx, struct err *err)
{
	struct record_query query;
	uint64_t rows;
	int rc = record_take(record, SQL_LAST_OF_KIND, &query, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, (int64_t)seq);
	sqlite3_bind_int64(query.st, 3, (int64_t)from_seq);
	sqlite3_bind_text(query.st, 2, kind, -1, SQLITE_STATIC);
	rc = walk(record, &query, &(struct viewer){ .event = see, .ctx = ctx }, &rows, err);
	return rc || rows ? rc : err_set(err, ERR_MISSING, "there is no event of kind %s", kind);
}

int record_event_at(struct record *record, uint64_t seq, record_see_event *see, void *ctx,
	struct err *err)
{
	struct record_query query;
	uint64_t rows;
	int rc = record_take(record, SQL_EVENT_AT, &query, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, (int64_t)seq);
	rc = walk(record, &query, &(struct viewer){ .event = see, .ctx = ctx }, &rows, err);
	return rc || rows
		? rc
		: err_set(err, ERR_MISSING, "there is no event %llu", (unsigned long long)seq);
}

/* ---- single answers */

/* The one row of an answer, or none, which is 1: give it back then. */
static int first_row(struct record *record, enum record_sql which, uint64_t parameter,
	struct record_query *query, struct err *err)
{
	int rc = record_take(record, which, query, err), step;

	if (rc)
		return rc;
	if (sqlite3_bind_parameter_count(query->st) > 0)
		sqlite3_bind_int64(query->st, 1, (int64_t)parameter);
	step = sqlite3_step(query->st);
	if (step == SQLITE_ROW)
		return 0;
	rc = step == SQLITE_DONE ? 1 : record_failed(record->db, record->path, "read", err);
	record_give(query);
	return rc;
}

int record_end_of(struct record *record, struct record_end *out, struct err *err)
{
	struct record_query query;
	struct record_end end = { 0 };
	int rc = first_row(record, SQL_LAST_EVENT, 0, &query, err);

	if (rc < 0)
		return rc;
	if (rc == 0) {
		end.seq = (uint64_t)sqlite3_column_int64(query.st, 0);
		end.at_s = sqlite3_column_double(query.st, 1);
		record_give(&query);
	}
	rc = first_row(record, SQL_LAST_JOB, 0, &query, err);
	if (rc < 0)
		return rc;
	end.row = id_of(query.st, 0);
	end.job = id_of(query.st, 1) > end.row ? id_of(query.st, 1) : end.row;
	record_give(&query);
	*out = end;
	return 0;
}

int record_submit_seq(struct record *record, uint32_t job, uint64_t *out, struct err *err)
{
	struct record_query query;
	int rc = first_row(record, SQL_SUBMIT_SEQ, job, &query, err);

	if (rc)
		return rc < 0 ? rc : 0;
	*out = (uint64_t)sqlite3_column_int64(query.st, 0);
	record_give(&query);
	return 0;
}

/* A writer knows; a reader must look, because somebody else may be writing. */
static struct record_end end_now(struct record *record)
{
	struct record_end end = record->end;

	if (record->readonly)
		record_end_of(record, &end, NULL);
	return end;
}

uint32_t record_last_job(struct record *record)
{
	return end_now(record).job;
}

uint32_t record_given(const struct record *record)
{
	return record->end.job > record->given ? record->end.job : record->given;
}

uint64_t record_last_seq(struct record *record)
{
	return end_now(record).seq;
}

double record_last_s(struct record *record)
{
	return end_now(record).at_s;
}

uint32_t record_find_key(struct record *record, uint32_t uid, const char *key)
{
	struct record_query query;
	uint32_t id = 0;

	if (record_take(record, SQL_FIND_KEY, &query, NULL) < 0)
		return 0;
	sqlite3_bind_int64(query.st, 1, uid);
	sqlite3_bind_text(query.st, 2, key, -1, SQLITE_STATIC);
	if (sqlite3_step(query.st) == SQLITE_ROW)
		id = id_of(query.st, 0);
	record_give(&query);
	return id;
}

uint32_t record_find_key_prefix(struct record *record, const char *prefix)
{
	struct record_query query;
	uint32_t id = 0;

	if (record_take(record, SQL_FIND_KEY_PREFIX, &query, NULL) < 0)
		return 0;
	sqlite3_bind_text(query.st, 1, prefix, -1, SQLITE_STATIC);
	if (sqlite3_step(query.st) == SQLITE_ROW)
		id = id_of(query.st, 0);
	record_give(&query);
	return id;
}

uint32_t record_peaks(struct record *record, uint32_t uid, const char *name, uint32_t n,
	double *bytes, double *ran_s)
{
	struct record_query query;
	uint32_t found = 0;

	if (record_take(record, SQL_PEAKS, &query, NULL) < 0)
		return 0;
	sqlite3_bind_int64(query.st, 1, uid);
	sqlite3_bind_text(query.st, 2, name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(query.st, 3, n);
	while (found < n && sqlite3_step(query.st) == SQLITE_ROW) {
		bytes[found] = number_of(query.st, 0);
		ran_s[found] = number_of(query.st, 1);
		found += bytes[found] > 0 && ran_s[found] > 0;
	}
	record_give(&query);
	return found;
}

double record_mean_run_s(struct record *record, uint32_t uid, const char *name, uint32_t n)
{
	struct record_query query;
	double mean_s = NAN;

	if (record_take(record, SQL_MEAN_RUN, &query, NULL) < 0)
		return NAN;
	sqlite3_bind_int64(query.st, 1, uid);
	sqlite3_bind_text(query.st, 2, name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(query.st, 3, n);
	if (sqlite3_step(query.st) == SQLITE_ROW)
		mean_s = number_of(query.st, 0);
	record_give(&query);
	return mean_s;
}

bool record_meta(struct record *record, const char *key, struct buf *out)
{
	struct record_query query;
	bool found;

	if (record_take(record, SQL_META, &query, NULL) < 0)
		return false;
	sqlite3_bind_text(query.st, 1, key, -1, SQLITE_STATIC);
	found = sqlite3_step(query.st) == SQLITE_ROW;
	if (found)
		buf_str(out, text_of(query.st, 0));
	record_give(&query);
	return found;
}
