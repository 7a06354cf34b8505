/*
 * The record's tables.
 */
#include "store/record_schema.h"

#include <stdio.h>

#include "store/record_parts.h"

/*
 * An event carries what its job and its attempt are from then on: `state` … `status` if it says
 * something of the job, `uid` … `submit_seq` only where those facts are new, `over` and
 * `attempt_status` if it says something of the attempt.  Numbers are columns, not JSON, because
 * they must come back with the same bits.
 *
 * Indices cover what is asked often and as few rows as can be: each costs a page per commit.
 */
static const char first[] =
	"CREATE TABLE event("
	"	seq INTEGER PRIMARY KEY, at_s REAL NOT NULL, kind TEXT NOT NULL, job INTEGER,"
	"	attempt INTEGER, body TEXT NOT NULL,"
	"	state TEXT, live INTEGER, end_s REAL, status TEXT,"
	"	uid INTEGER, key TEXT, name TEXT, tenant TEXT, arrival_s REAL, submit_seq INTEGER,"
	"	over INTEGER, attempt_status TEXT);"
	"CREATE INDEX event_of_job ON event(job) WHERE job IS NOT NULL;"
	"CREATE TABLE job("
	"	id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, key TEXT, name TEXT, tenant TEXT,"
	"	state TEXT NOT NULL, live INTEGER NOT NULL, arrival_s REAL, end_s REAL,"
	"	submit_seq INTEGER NOT NULL, status TEXT NOT NULL);"
	"CREATE UNIQUE INDEX job_key ON job(uid, key) WHERE key IS NOT NULL;"
	"CREATE INDEX job_live ON job(id) WHERE live = 1;"
	"CREATE INDEX job_ended ON job(end_s) WHERE live = 0;"
	"CREATE INDEX job_done ON job(uid, name) WHERE state = 'COMPLETED';"
	"CREATE TABLE attempt("
	"	job INTEGER NOT NULL, attempt INTEGER NOT NULL, over INTEGER NOT NULL,"
	"	status TEXT NOT NULL, PRIMARY KEY(job, attempt)) WITHOUT ROWID;"
	"CREATE INDEX attempt_open ON attempt(job, attempt) WHERE over = 0;"
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;";

/*
 * Which record this is: base/lineage.h.  A record of before has events, and claims of its attempts say
 * nothing of an id: "unmarked" lets the next daemon take these over once.
 */
static const char second[] =
	"INSERT INTO meta(key, value) VALUES('record', lower(hex(randomblob(16)))),"
	"	('generation', '1'), ('past', '');"
	"INSERT INTO meta(key, value) SELECT 'unmarked', '1' WHERE EXISTS (SELECT 1 FROM event);";

const char *const record_steps[RECORD_SCHEMA] = { first, second };

static int number(sqlite3 *db, const char *path, const char *sql, int64_t *out, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? 0 : record_failed(db, path, "read", err);
}

static int not_ours(const char *path, struct err *err)
{
	return err_set(err, ERR_REFUSED,
		"%s is not a record of Stint but some other database; it was left as it is: "
		"move it away, or choose another state directory",
		path);
}

int record_schema_of(sqlite3 *db, const char *path, int newest, int *schema, struct err *err)
{
	int64_t owner = 0, version = 0, tables = 0;
	int rc = number(db, path, "PRAGMA application_id", &owner, err);

	if (!rc)
		rc = number(db, path, "PRAGMA user_version", &version, err);
	if (!rc)
		rc = number(db, path, "SELECT count(*) FROM sqlite_master", &tables, err);
	if (rc)
		return sqlite3_errcode(db) == SQLITE_NOTADB ? not_ours(path, err) : rc;
	/* A crash before the first step leaves a database without anything in it. */
	if (owner != RECORD_APPLICATION_ID && (owner || version || tables))
		return not_ours(path, err);
	if (version > newest)
		return err_set(err, ERR_REFUSED,
			"%s was written by a newer Stint (schema %lld, this one knows %d); it was left as "
			"it is: run that Stint, or put back a copy from before the upgrade",
			path, (long long)version, newest);
	*schema = (int)version;
	return 0;
}

static int raise_by_one(sqlite3 *db, const char *path, const char *step, int from, struct err *err)
{
	char after[128], doing[32];
	int rc;

	snprintf(doing, sizeof(doing), "make schema %d of", from + 1);
	snprintf(after, sizeof(after), "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		RECORD_APPLICATION_ID, from + 1);
	rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, step, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, after, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		return 0;
	rc = record_failed(db, path, doing, err);
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

int record_schema_raise(sqlite3 *db, const char *path, const char *const *steps, int n, struct err *err)
{
	int schema, rc = record_schema_of(db, path, n, &schema, err);

	for (; !rc && schema < n; schema++)
		rc = raise_by_one(db, path, steps[schema], schema, err);
	return rc;
}
