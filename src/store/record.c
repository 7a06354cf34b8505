/*
 * The live record: opening, and writing.
 */
#include "store/record.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/record_parts.h"
#include "store/record_reserve.h"
#include "store/record_schema.h"

enum { BUSY_MS = 5000 };

/* ---- errors */

static const char *io_part(int extended)
{
	switch (extended) {
	case SQLITE_IOERR_READ:
	case SQLITE_IOERR_SHORT_READ:
		return "reading";
	case SQLITE_IOERR_WRITE:
		return "writing";
	case SQLITE_IOERR_FSYNC:
	case SQLITE_IOERR_DIR_FSYNC:
		return "syncing";
	case SQLITE_IOERR_TRUNCATE:
		return "truncating";
	case SQLITE_IOERR_DELETE:
		return "deleting";
	case SQLITE_IOERR_SHMOPEN:
	case SQLITE_IOERR_SHMSIZE:
	case SQLITE_IOERR_SHMMAP:
		return "preparing shared memory";
	default:
		return "input or output";
	}
}

static bool is_full(int error)
{
	return error == ENOSPC || error == EDQUOT;
}

static int disk_full(const char *path, const char *doing, int error, struct err *err)
{
	return err_set(err, ERR_IO,
		"disk full: cannot %s %s: %s; nothing of it was kept, and it can be tried again once there is "
		"room",
		doing, path, strerror(error));
}

/* The failed call's errno, of the database or its log; 0: not known. */
static int errno_of(sqlite3 *db)
{
	static const int files[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };
	int error = 0;

	for (int i = 0; i < 2 && !error; i++) {
		sqlite3_file *file = NULL;

		if (sqlite3_file_control(db, "main", files[i], &file) == SQLITE_OK && file &&
			file->pMethods)
			file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
	}
	return error ? error : sqlite3_system_errno(db);
}

static int disk_failed(sqlite3 *db, const char *path, const char *doing, struct err *err)
{
	int extended = sqlite3_extended_errcode(db), why = errno_of(db);

	if ((extended & 0xff) == SQLITE_FULL || is_full(why))
		return disk_full(path, doing, is_full(why) ? why : ENOSPC, err);
	return err_set(err, ERR_IO, "disk failing: cannot %s %s: %s: %s (code %d)", doing, path,
		io_part(extended), why ? strerror(why) : sqlite3_errmsg(db), extended);
}

/* The same for our own calls. */
static int call_failed(const char *path, const char *doing, struct err *err)
{
	if (is_full(errno))
		return disk_full(path, doing, errno, err);
	return err_set(err, ERR_IO, "%scannot %s %s: %s", errno == EIO ? "disk failing: " : "",
		doing, path, strerror(errno));
}

int record_failed(sqlite3 *db, const char *path, const char *doing, struct err *err)
{
	switch (sqlite3_errcode(db) & 0xff) {
	case SQLITE_FULL:
	case SQLITE_IOERR:
		return disk_failed(db, path, doing, err);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, ERR_IO,
			"cannot %s %s: another process has been writing it for %d s", doing, path,
			BUSY_MS / 1000);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return err_set(err, ERR_FORMAT,
			"cannot %s %s: it is damaged (%s); keep a copy of it first, then see what "
			"\"sqlite3 %s .recover\" can still read",
			doing, path, sqlite3_errmsg(db), path);
	case SQLITE_CANTOPEN:
		if (is_full(sqlite3_system_errno(db)) || sqlite3_system_errno(db) == EIO)
			return disk_failed(db, path, doing, err);
		/* fall through */
	default:
		return err_set(err, ERR_IO, "cannot %s %s: %s", doing, path, sqlite3_errmsg(db));
	}
}

/* ---- statements */

#define RECORD_STATEMENT_TEXT(name, sql) [SQL_##name] = (sql),
static const char *const statements[SQL_COUNT] = { RECORD_STATEMENTS(RECORD_STATEMENT_TEXT) };

static int prepare(struct record *record, enum record_sql which, sqlite3_stmt **out, struct err *err)
{
	if (sqlite3_prepare_v3(record->db, statements[which], -1, SQLITE_PREPARE_PERSISTENT, out,
		    NULL) == SQLITE_OK)
		return 0;
	return record_failed(record->db, record->path, "read", err);
}

int record_take(struct record *record, enum record_sql which, struct record_query *out, struct err *err)
{
	sqlite3_stmt **kept = &record->kept[which];
	int rc = 0;

	out->own = *kept && sqlite3_stmt_busy(*kept);
	if (out->own)
		return prepare(record, which, &out->st, err);
	if (!*kept)
		rc = prepare(record, which, kept, err);
	out->st = *kept;
	return rc;
}

void record_give(struct record_query *query)
{
	if (query->own) {
		sqlite3_finalize(query->st);
		return;
	}
	sqlite3_reset(query->st);
	sqlite3_clear_bindings(query->st); /* what they point to is not ours */
}

/* Runs one that answers nothing, and gives it back. */
static int finish(struct record *record, struct record_query *query, struct err *err)
{
	int rc = 0;

	if (sqlite3_step(query->st) != SQLITE_DONE)
		rc = record_failed(record->db, record->path, "write", err);
	record_give(query);
	return rc;
}

static int run(struct record *record, enum record_sql which, struct err *err)
{
	struct record_query query;
	int rc = record_take(record, which, &query, err);

	return rc ? rc : finish(record, &query, err);
}

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

/* ---- opening */

/*
 * Made by us before SQLite sees it, so that at no moment anyone else can read it.  One that is
 * there must not be opened: closing it would take this process's locks on it away.
 */
static int make_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno == EEXIST ? 0 : call_failed(path, "make", err);
	close(fd);
	return 0;
}

/* That it is there is durable too, even if it was made in an attempt that failed here. */
static int sync_dir(const char *path, struct err *err)
{
	char *parent = mem_strndup(path, (size_t)(path_base(path) - path));
	int dir = open(*parent ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (dir < 0 || fsync(dir) < 0)
		rc = call_failed(path, "sync the directory of", err);
	if (dir >= 0)
		close(dir);
	free(parent);
	return rc;
}

static int open_db(struct record *record, const char *name, int flags, struct err *err)
{
	flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	if (sqlite3_open_v2(name, &record->db, flags, NULL) == SQLITE_OK) {
		sqlite3_busy_timeout(record->db, BUSY_MS);
		return 0;
	}
	return record_failed(record->db, record->path, "open", err);
}

static const char *const writer_settings[] = {
	"PRAGMA page_size = 4096",
	/* Of a new file: pruning gives pages back.  Of an old one it takes effect with record_vacuum(). */
	"PRAGMA auto_vacuum = INCREMENTAL",
	"PRAGMA cache_size = -16384",
	"PRAGMA cache_spill = OFF", /* nothing is written before the commit */
	"PRAGMA temp_store = MEMORY",
	"PRAGMA journal_mode = WAL",
	"PRAGMA synchronous = FULL",
	"PRAGMA wal_autocheckpoint = 0", /* record_tidy.c does it */
	/* A log that keeps its size is overwritten in place, which a disk syncs sooner. */
	"PRAGMA journal_size_limit = 67108864",
};

static int settle(struct record *record, struct err *err)
{
	for (size_t i = 0; i < sizeof(writer_settings) / sizeof(*writer_settings); i++) {
		if (sqlite3_exec(record->db, writer_settings[i], NULL, NULL, NULL) != SQLITE_OK)
			return record_failed(record->db, record->path, "write", err);
	}
	return 0;
}

static int find_end(struct record *record, struct err *err)
{
	int rc = record_end_of(record, &record->end, err);

	record->durable = record->end;
	return rc;
}

/* What is found damaged is left as it is, too, and there is a way on. */
static int refuse_damage(const struct record *record, struct err *err)
{
	char why[512];

	snprintf(why, sizeof(why), "%.511s", err->text);
	return err_set(err, ERR_REFUSED,
		"%s; or put a backup back with 'stint db restore FILE', or begin anew with 'stint db new', "
		"which both keep %s aside",
		why, path_base(record->path));
}

static int open_checked(struct record *record, const struct record_mark *mark, struct err *err)
{
	int schema, rc = open_db(record, record->path, SQLITE_OPEN_READWRITE, err);

	/* Closing must not empty a log that was found wrong. */
	if (!rc)
		sqlite3_db_config(record->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (!rc) /* before the settings: a database that is not ours must not be changed by them */
		rc = record_schema_of(record->db, record->path, RECORD_SCHEMA, &schema, err);
	if (!rc)
		rc = identity_check(record, schema, mark, err);
	if (!rc)
		rc = settle(record, err);
	if (!rc)
		rc = record_schema_raise(record->db, record->path, record_steps, RECORD_SCHEMA, err);
	if (!rc)
		rc = find_end(record, err);
	if (!rc)
		rc = identity_settle(record, mark, err);
	if (!rc)
		sqlite3_db_config(record->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return rc == ERR_FORMAT ? refuse_damage(record, err) : rc;
}

static int open_writer(struct record *record, struct err *err)
{
	struct record_mark mark;
	int rc = record_mark_read(record->path, &mark, err);
	bool marked = rc == 0;

	if (rc == ERR_FORMAT)
		return err_set(err, ERR_REFUSED,
			"%s: it says which record belongs here; put it back from a copy of this directory, "
			"or accept %s as it is with 'stint db restore %s'",
			err->text, path_base(record->path), record->path);
	if (rc && rc != ERR_MISSING)
		return rc;
	rc = marked ? identity_expected(record->path, &mark, err) : make_file(record->path, err);
	if (!rc)
		rc = sync_dir(record->path, err);
	if (!rc)
		rc = open_checked(record, marked ? &mark : NULL, err);
	if (!rc)
		record->tidy = tidy_create(record->db, record->path);
	return rc;
}

/* Where nothing can be written, SQLite must be told that nobody else will either. */
static char *immutable_name(const char *path)
{
	struct buf name = { 0 };

	buf_str(&name, "file:");
	for (; *path; path++) {
		if (strchr("%?#", *path))
			buf_printf(&name, "%%%02x", (unsigned char)*path);
		else
			buf_char(&name, *path);
	}
	buf_str(&name, "?immutable=1");
	return name.at;
}

static bool has_log(const char *path)
{
	char *log = mem_printf("%s-wal", path);
	struct stat st;
	bool has = stat(log, &st) == 0 && st.st_size > 0;

	free(log);
	return has;
}

static int open_immutable(struct record *record, int *schema, struct err *err)
{
	char *name;
	int rc;

	if (has_log(record->path))
		return err_set(err, ERR_REFUSED,
			"%s has a log beside it (%s-wal) that can only be read where something can be written: "
			"copy both into a directory of your own",
			record->path, path_base(record->path));
	sqlite3_close(record->db);
	record->db = NULL;
	name = immutable_name(record->path);
	rc = open_db(record, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
	free(name);
	return rc ? rc : record_schema_of(record->db, record->path, RECORD_SCHEMA, schema, err);
}

static bool needs_writing(sqlite3 *db)
{
	int code = sqlite3_errcode(db) & 0xff;

	return code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
}

/* Where there is no room for the index of a log, and no log either. */
static bool can_do_without_room(const struct record *record, const struct err *err)
{
	return reserve_would_help(err) && !has_log(record->path);
}

static int open_reader(struct record *record, struct err *err)
{
	int schema = 0, rc = record_refuse_reader(record->path, err);

	if (rc)
		return rc;
	if (!file_exists(record->path))
		return err_set(err, ERR_MISSING, "there is no record at %s", record->path);
	rc = open_db(record, record->path, SQLITE_OPEN_READONLY, err);
	if (rc)
		return rc;
	rc = record_schema_of(record->db, record->path, RECORD_SCHEMA, &schema, err);
	if (rc && (needs_writing(record->db) || can_do_without_room(record, err)))
		rc = open_immutable(record, &schema, err);
	if (rc)
		return rc;
	if (schema == 0)
		return err_set(err, ERR_MISSING, "there is no record in %s yet", record->path);
	if (schema < RECORD_SCHEMA)
		return err_set(err, ERR_REFUSED,
			"%s was written by an older Stint (schema %d, this one reads %d): starting the daemon "
			"brings it up to date",
			record->path, schema, RECORD_SCHEMA);
	return 0;
}

static int open_once(const char *path, bool readonly, struct record **out, struct err *err)
{
	struct record *record = mem_alloc(sizeof(*record));
	int rc;

	record->path = mem_strdup(path);
	record->readonly = readonly;
	record->mark.fd = -1;
	rc = readonly ? open_reader(record, err) : open_writer(record, err);
	if (rc) {
		record_close(record);
		return rc;
	}
	*out = record;
	return 0;
}

int record_open(const char *path, bool readonly, struct record **out, struct err *err)
{
	struct err why = { 0 };
	int rc;

	if (!readonly)
		reserve_give_until(path, RESERVE_START);
	do {
		why = (struct err){ 0 };
		rc = open_once(path, readonly, out, &why);
	} while (rc && reserve_would_help(&why) && reserve_give(path));
	if (rc && err)
		*err = why;
	if (!rc && !readonly)
		reserve_keep(path, true);
	return rc;
}

void record_keep_reserve(struct record *record)
{
	reserve_keep(record->path, false);
}

/* A log that is in the database begins anew in the room that it has. */
bool record_make_room(struct record *record)
{
	assert(!record->readonly && !record->writing);
	sqlite3_wal_checkpoint_v2(record->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return reserve_give(record->path);
}

void record_release_memory(struct record *r)
{
	sqlite3_db_release_memory(r->db);
}

void record_close(struct record *record)
{
	if (!record)
		return;
	record_rollback(record);
	tidy_destroy(record->tidy);
	for (int i = 0; i < SQL_COUNT; i++)
		sqlite3_finalize(record->kept[i]);
	sqlite3_close(record->db);
	record_mark_close(&record->mark);
	lineage_fini(&record->lineage);
	free(record->path);
	free(record);
}

/* ---- writing */

int record_begin(struct record *record, struct err *err)
{
	int rc;

	assert(!record->readonly && !record->writing);
	rc = run(record, SQL_BEGIN, err);
	record->writing = !rc;
	return rc;
}

void record_rollback(struct record *record)
{
	if (!record->writing)
		return;
	/* After some failures SQLite has done it already. */
	if (!sqlite3_get_autocommit(record->db))
		run(record, SQL_ROLLBACK, NULL);
	record->writing = false;
	record->end = record->durable;
}

int record_commit(struct record *record, struct err *err)
{
	int rc;

	if (!record->writing)
		return err_set(err, ERR_BROKEN, "%s: a commit without a transaction", record->path);
	rc = run(record, SQL_COMMIT, err);
	if (rc) {
		record_rollback(record);
		return rc;
	}
	record->writing = false;
	record->durable = record->end;
	if (record->durable.job > record->given)
		record->given = record->durable.job;
	record_mark_move(&record->mark, record->durable.seq, record->given);
	return 0;
}

static void bind_job(sqlite3_stmt *st, const struct record_job *job, uint64_t submit_seq)
{
	sqlite3_bind_int64(st, 1, job->id);
	sqlite3_bind_int64(st, 2, job->uid);
	bind_text(st, 3, job->key);
	bind_text(st, 4, job->name);
	bind_text(st, 5, job->tenant);
	bind_text(st, 6, job->state);
	sqlite3_bind_int(st, 7, job->live);
	sqlite3_bind_double(st, 8, job->arrival_s); /* NAN becomes NULL */
	sqlite3_bind_double(st, 9, job->end_s);
	if (submit_seq)
		sqlite3_bind_int64(st, 10, (int64_t)submit_seq);
	bind_text(st, 11, job->status);
}

static int write_job(struct record *record, enum record_sql how, const struct record_job *job,
	uint64_t submit_seq, struct err *err)
{
	struct record_query query;
	int rc = record_take(record, how, &query, err);

	if (rc)
		return rc;
	bind_job(query.st, job, submit_seq);
	rc = finish(record, &query, err);
	if (rc && sqlite3_errcode(record->db) == SQLITE_CONSTRAINT_UNIQUE)
		return err_set(err, ERR_REFUSED,
			"job %u cannot have the key \"%s\": another job of user %u has it", job->id,
			job->key, job->uid);
	return rc;
}

/* What an append is about to write. */
struct addition {
	const struct record_event *event;
	const struct record_job *job;
	const struct record_attempt *attempt;
	uint64_t seq;
	uint64_t submit_seq; /* of the job */
	bool facts;          /* the event must carry the job's facts */
};

/* Touches as little as it can: most changes leave the facts and the indices as they are. */
static int put_job(struct record *record, struct addition *a, struct err *err)
{
	static const enum record_sql by_size[] = { SQL_CHANGE_JOB, SQL_END_JOB };
	bool new = a->job->id > record->end.row;
	int rc = 0;

	for (int i = a->job->live ? 0 : 1; !new &&i < 2; i++) {
		rc = write_job(record, by_size[i], a->job, a->job->submit_seq, err);
		if (rc || sqlite3_changes(record->db) > 0)
			return rc;
	}
	a->facts = true;
	a->submit_seq = a->job->submit_seq ? a->job->submit_seq : a->seq;
	if (!new && !a->job->submit_seq)
		rc = record_submit_seq(record, a->job->id, &a->submit_seq, err);
	if (rc)
		return rc;
	return write_job(record, new ? SQL_ADD_JOB : SQL_PUT_JOB, a->job, a->submit_seq, err);
}

static int write_attempt(struct record *record, enum record_sql how,
	const struct record_attempt *attempt, struct err *err)
{
	struct record_query query;
	int rc = record_take(record, how, &query, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, attempt->job);
	sqlite3_bind_int64(query.st, 2, attempt->attempt);
	sqlite3_bind_int(query.st, 3, attempt->over);
	bind_text(query.st, 4, attempt->status);
	return finish(record, &query, err);
}

static int put_attempt(struct record *record, const struct record_attempt *attempt, struct err *err)
{
	int rc = write_attempt(record, SQL_CHANGE_ATTEMPT, attempt, err);

	if (rc || sqlite3_changes(record->db) > 0)
		return rc;
	return write_attempt(record, SQL_PUT_ATTEMPT, attempt, err);
}

static void bind_number_or_null(sqlite3_stmt *st, int at, uint32_t number)
{
	if (number)
		sqlite3_bind_int64(st, at, number);
}

static void bind_event_job(sqlite3_stmt *st, const struct record_job *job, uint64_t submit_seq,
	bool facts)
{
	bind_text(st, 7, job->state);
	sqlite3_bind_int(st, 8, job->live);
	sqlite3_bind_double(st, 9, job->end_s);
	bind_text(st, 10, job->status);
	if (!facts)
		return;
	sqlite3_bind_int64(st, 11, job->uid);
	bind_text(st, 12, job->key);
	bind_text(st, 13, job->name);
	bind_text(st, 14, job->tenant);
	sqlite3_bind_double(st, 15, job->arrival_s);
	sqlite3_bind_int64(st, 16, (int64_t)submit_seq);
}

static int put_event(struct record *record, const struct addition *a, struct err *err)
{
	struct record_query query;
	sqlite3_stmt *st;
	int rc = record_take(record, SQL_ADD_EVENT, &query, err);

	if (rc)
		return rc;
	st = query.st;
	sqlite3_bind_int64(st, 1, (int64_t)a->seq);
	sqlite3_bind_double(st, 2, a->event->at_s);
	bind_text(st, 3, a->event->kind);
	bind_number_or_null(st, 4, a->event->job);
	bind_number_or_null(st, 5, a->event->attempt);
	bind_text(st, 6, a->event->body);
	if (a->job)
		bind_event_job(st, a->job, a->submit_seq, a->facts);
	if (a->attempt) {
		sqlite3_bind_int(st, 17, a->attempt->over);
		bind_text(st, 18, a->attempt->status);
	}
	return finish(record, &query, err);
}

/* The tables' key is the event's: what check derives would lie elsewhere otherwise. */
static bool is_consistent(const struct record_event *event, const struct record_job *job,
	const struct record_attempt *attempt)
{
	return event->kind && event->body && !isnan(event->at_s) &&
		(!job || (job->id && job->id == event->job && job->state && job->status)) &&
		(!attempt ||
			(attempt->job && attempt->job == event->job && attempt->attempt &&
				attempt->attempt == event->attempt && attempt->status));
}

/* In the transaction of its event. */
static int put_last(struct record *record, const char *key, uint64_t seq, struct err *err)
{
	struct record_query query;
	char text[32];
	int rc = record_take(record, SQL_PUT_META, &query, err);

	if (rc)
		return rc;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)seq);
	bind_text(query.st, 1, key);
	bind_text(query.st, 2, text);
	return finish(record, &query, err);
}

int record_append(struct record *record, struct record_event *event, const struct record_job *job,
	const struct record_attempt *attempt, struct err *err)
{
	struct addition a = {
		.event = event,
		.job = job,
		.attempt = attempt,
		.seq = record->end.seq + 1,
	};
	int rc = 0;

	assert(is_consistent(event, job, attempt));
	if (!record->writing)
		return err_set(err, ERR_BROKEN, "%s: an event outside of a transaction", record->path);
	if (job)
		rc = put_job(record, &a, err);
	if (!rc && attempt)
		rc = put_attempt(record, attempt, err);
	if (!rc)
		rc = put_event(record, &a, err);
	if (!rc && record_last_key(event->kind))
		rc = put_last(record, record_last_key(event->kind), a.seq, err);
	if (rc) {
		record_rollback(record);
		return rc;
	}
	event->seq = a.seq;
	record->end.seq = a.seq;
	record->end.at_s = event->at_s;
	if (event->job > record->end.job)
		record->end.job = event->job;
	if (job && job->id > record->end.row)
		record->end.row = job->id;
	return 0;
}

int record_put_meta(struct record *record, const char *key, const char *value, struct err *err)
{
	struct record_query query;
	int rc = record_take(record, SQL_PUT_META, &query, err);

	if (rc)
		return rc;
	bind_text(query.st, 1, key);
	bind_text(query.st, 2, value);
	return finish(record, &query, err);
}

int record_set_meta(struct record *record, const char *key, const char *value, struct err *err)
{
	assert(!record->readonly && !record->writing);
	return record_put_meta(record, key, value, err);
}
