/*
 * Whether the record is sound: the file as SQLite sees it, and the tables against the
 * events they must follow from.
 */
#include <stdlib.h>
#include <string.h>

#include "store/record.h"
#include "store/record_parts.h"

/*
 * A job with submit_seq 0 is a summary, which pruning left: it has no events to be derived from.  Events
 * are whole from the cut on.
 */
#define CUT \
	"coalesce((SELECT json_extract(value, '$.seq') FROM meta WHERE key = '" RECORD_PRUNED "'), 0)"

enum { SHOWN_MAX = 60, LINES_MAX = 1000 };

/* A table, and the same rows derived from events: by the same keys in the same order. */
struct derivation {
	const char *what;
	int keys; /* of the columns, so many in front */
	const char *table, *derived;
};

static const struct derivation derivations[] = {
	{
		.what = "job",
		.keys = 1,
		.table = "SELECT " JOB_COLUMNS " FROM job WHERE submit_seq > 0 ORDER BY id",
		.derived = "SELECT l.job, f.uid, f.key, f.name, f.tenant, s.state, s.live, f.arrival_s,"
			   " s.end_s, f.submit_seq, s.status"
			   " FROM (SELECT job, max(seq) AS seq FROM event"
			   "	WHERE job IS NOT NULL AND state IS NOT NULL GROUP BY job) l"
			   " JOIN event s ON s.seq = l.seq"
			   " LEFT JOIN event f ON f.seq ="
			   "	(SELECT max(seq) FROM event WHERE job = l.job AND uid IS NOT NULL)"
			   " ORDER BY l.job",
	},
	{
		.what = "attempt",
		.keys = 2,
		.table = "SELECT " ATTEMPT_COLUMNS " FROM attempt WHERE NOT EXISTS"
			 " (SELECT 1 FROM job WHERE id = attempt.job AND submit_seq = 0)"
			 " ORDER BY job, attempt",
		.derived = "SELECT l.job, l.attempt, s.over, s.attempt_status"
			   " FROM (SELECT job, attempt, max(seq) AS seq FROM event"
			   "	WHERE attempt IS NOT NULL AND over IS NOT NULL GROUP BY job, attempt) l"
			   " JOIN event s ON s.seq = l.seq"
			   " ORDER BY l.job, l.attempt",
	},
};

/* Everything that must not be there; each row is a line. */
static const char *const wrongs[] = {
	"SELECT 'events ' || lo || ' to ' || hi || ' should be ' || (hi - lo + 1) ||"
	" ' and are ' || n FROM (SELECT min(seq) AS lo, max(seq) AS hi, count(*) AS n FROM event"
	" WHERE seq >= " CUT ") WHERE n != hi - lo + 1",
	"SELECT 'event ' || " CUT " || ', from which on nothing was pruned, is not there'"
	" WHERE " CUT " > 0 AND NOT EXISTS (SELECT 1 FROM event WHERE seq = " CUT ")",
	"SELECT 'job ' || id || ': event ' || submit_seq || ', which has its submission, is not there'"
	" FROM job WHERE submit_seq > 0 AND submit_seq NOT IN (SELECT seq FROM event)",
	"SELECT 'job ' || id || ': was pruned and has not ended' FROM job"
	" WHERE submit_seq = 0 AND (live = 1 OR end_s IS NULL)",
	"SELECT 'job ' || id || ': was pruned and has events' FROM job"
	" WHERE submit_seq = 0 AND id IN (SELECT job FROM event WHERE job IS NOT NULL)",
	"SELECT 'jobs that were pruned should be ' || should || ' and are ' || n"
	" FROM (SELECT count(*) AS n, coalesce((SELECT json_extract(value, '$.jobs') FROM meta"
	" WHERE key = '" RECORD_PRUNED "'), 0) AS should FROM job WHERE submit_seq = 0)"
	" WHERE n != should",
};

struct checking {
	struct record *record;
	struct buf *out;
	int found;
};

/* The first many are lines; all are counted. */
static bool found(struct checking *c)
{
	return c->found++ < LINES_MAX;
}

static int unreadable(struct checking *c, struct err *err)
{
	return record_failed(c->record->db, c->record->path, "read", err);
}

/* ---- values */

static bool is_same(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
	int type = sqlite3_column_type(a, column), n;
	double x, y;

	if (type != sqlite3_column_type(b, column))
		return false;
	switch (type) {
	case SQLITE_NULL:
		return true;
	case SQLITE_INTEGER:
		return sqlite3_column_int64(a, column) == sqlite3_column_int64(b, column);
	case SQLITE_FLOAT:
		x = sqlite3_column_double(a, column);
		y = sqlite3_column_double(b, column);
		return !memcmp(&x, &y, sizeof(x));
	default:
		n = sqlite3_column_bytes(a, column);
		return n == sqlite3_column_bytes(b, column) &&
			!memcmp(sqlite3_column_blob(a, column), sqlite3_column_blob(b, column),
				(size_t)n);
	}
}

static void add_value(struct buf *out, sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	if (!text)
		buf_str(out, "nothing");
	else
		buf_printf(out, "%.*s%s", SHOWN_MAX, text, strlen(text) > SHOWN_MAX ? "…" : "");
}

static void add_name(struct buf *out, const struct derivation *d, sqlite3_stmt *st)
{
	buf_printf(out, "%s ", d->what);
	for (int i = 0; i < d->keys; i++) {
		buf_str(out, i ? "." : "");
		add_value(out, st, i);
	}
	buf_str(out, ": ");
}

/* ---- two walks side by side */

static int order_of(sqlite3_stmt *a, sqlite3_stmt *b, int keys)
{
	for (int i = 0; i < keys; i++) {
		int64_t x = sqlite3_column_int64(a, i), y = sqlite3_column_int64(b, i);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static void tell_alone(struct checking *c, const struct derivation *d, sqlite3_stmt *st,
	const char *text)
{
	if (!found(c))
		return;
	add_name(c->out, d, st);
	buf_printf(c->out, "%s\n", text);
}

static void compare_row(struct checking *c, const struct derivation *d, sqlite3_stmt *has,
	sqlite3_stmt *should)
{
	for (int i = d->keys; i < sqlite3_column_count(has); i++) {
		if (is_same(has, should, i) || !found(c))
			continue;
		add_name(c->out, d, has);
		buf_printf(c->out, "%s is ", sqlite3_column_name(has, i));
		add_value(c->out, has, i);
		buf_str(c->out, ", its events say ");
		add_value(c->out, should, i);
		buf_char(c->out, '\n');
	}
}

static int compare_walks(struct checking *c, const struct derivation *d, sqlite3_stmt *has,
	sqlite3_stmt *should, struct err *err)
{
	int a = sqlite3_step(has), b = sqlite3_step(should);

	while (a == SQLITE_ROW || b == SQLITE_ROW) {
		int order = a != SQLITE_ROW ? 1
			: b != SQLITE_ROW   ? -1
					    : order_of(has, should, d->keys);

		if ((a != SQLITE_ROW && a != SQLITE_DONE) || (b != SQLITE_ROW && b != SQLITE_DONE))
			break;
		if (order == 0)
			compare_row(c, d, has, should);
		else if (order < 0)
			tell_alone(c, d, has, "no event says so");
		else
			tell_alone(c, d, should, "is missing, its events say it is there");
		if (order <= 0)
			a = sqlite3_step(has);
		if (order >= 0)
			b = sqlite3_step(should);
	}
	return a == SQLITE_DONE && b == SQLITE_DONE ? 0 : unreadable(c, err);
}

static int compare(struct checking *c, const struct derivation *d, struct err *err)
{
	sqlite3 *db = c->record->db;
	sqlite3_stmt *has = NULL, *should = NULL;
	int rc;

	if (sqlite3_prepare_v2(db, d->table, -1, &has, NULL) != SQLITE_OK ||
		sqlite3_prepare_v2(db, d->derived, -1, &should, NULL) != SQLITE_OK)
		rc = unreadable(c, err);
	else
		rc = compare_walks(c, d, has, should, err);
	sqlite3_finalize(has);
	sqlite3_finalize(should);
	return rc;
}

/* ---- lines that SQL itself answers */

static int tell_rows(struct checking *c, const char *sql, const char *good, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int step = sqlite3_prepare_v2(c->record->db, sql, -1, &st, NULL), rc = 0;

	while (step == SQLITE_OK || step == SQLITE_ROW) {
		step = sqlite3_step(st);
		if (step == SQLITE_ROW &&
			strcmp((const char *)sqlite3_column_text(st, 0), good) != 0 && found(c))
			buf_printf(c->out, "%s\n", (const char *)sqlite3_column_text(st, 0));
	}
	if (step != SQLITE_DONE)
		rc = unreadable(c, err);
	sqlite3_finalize(st);
	return rc;
}

static int check_all(struct checking *c, struct err *err)
{
	int rc = tell_rows(c, "PRAGMA integrity_check(100)", "ok", err);

	for (size_t i = 0; !rc && i < sizeof(wrongs) / sizeof(*wrongs); i++)
		rc = tell_rows(c, wrongs[i], "", err);
	for (size_t i = 0; !rc && i < sizeof(derivations) / sizeof(*derivations); i++)
		rc = compare(c, &derivations[i], err);
	return rc;
}

int record_check(struct record *record, struct buf *out, struct err *err)
{
	struct checking c = { .record = record, .out = out };
	/* One view of everything, though somebody may be writing. */
	bool began = sqlite3_get_autocommit(record->db) &&
		sqlite3_exec(record->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
	struct err why = { 0 };
	int rc = check_all(&c, &why);

	if (began)
		sqlite3_exec(record->db, "COMMIT", NULL, NULL, NULL);
	/* A damaged file cannot always be read to its end; that too is an answer. */
	if (rc == ERR_FORMAT) {
		c.found++;
		buf_printf(out, "%s\n", why.text);
		rc = 0;
	}
	if (c.found > LINES_MAX)
		buf_printf(out, "… and %d more\n", c.found - LINES_MAX);
	return rc ? err_set(err, rc, "%s", why.text) : c.found;
}
