#include "store/record_copy.h"

#include <errno.h>
#include <fcntl.h>
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

enum { BUSY_MS = 60000, KEPT_MAX = 100000, SCHEMA_OF_ID = 2 };

void record_copied_fini(struct record_copied *copied)
{
	free(copied->kept);
	*copied = (struct record_copied){ 0 };
}

static int failed(const char *doing, const char *path, struct err *err)
{
	return err_set(err, ERR_IO, "%scannot %s %s: %s",
		errno == ENOSPC || errno == EDQUOT ? "disk full: " : "", doing, path, strerror(errno));
}

/* ---- copying */

static int open_source(const char *path, sqlite3 **db, int *schema, struct err *err)
{
	int rc = record_refuse_reader(path, err);

	*db = NULL;
	if (rc)
		return rc;
	if (!file_exists(path))
		return err_set(err, ERR_MISSING, "there is no record at %s", path);
	if (sqlite3_open_v2(path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return record_failed(*db, path, "open", err);
	sqlite3_busy_timeout(*db, BUSY_MS);
	rc = record_schema_of(*db, path, RECORD_SCHEMA, schema, err);
	if (!rc && !*schema)
		rc = err_set(err, ERR_MISSING, "there is no record in %s", path);
	return rc;
}

/* All pages at once, as of one moment; then it is a file by itself. */
static int copy_pages(sqlite3 *from, const char *to, struct err *err)
{
	sqlite3 *db = NULL;
	sqlite3_backup *backup;
	int rc = 0;

	if (sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		rc = record_failed(db, to, "open", err);
		sqlite3_close(db);
		return rc;
	}
	backup = sqlite3_backup_init(db, "main", from, "main");
	if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE) {
		sqlite3_backup_finish(backup);
		rc = record_failed(db, to, "write", err);
	} else if (sqlite3_backup_finish(backup) != SQLITE_OK ||
		sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK) {
		rc = record_failed(db, to, "write", err);
	}
	sqlite3_close(db);
	return rc;
}

static int sync_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0 || fsync(fd) < 0)
		rc = failed("sync", path, err);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int sync_parent(const char *path, struct err *err)
{
	char *parent = mem_strndup(path, (size_t)(path_base(path) - path));
	int rc = sync_file(*parent ? parent : ".", err);

	free(parent);
	return rc;
}

static void remove_files(const char *db)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal", RESERVE_END };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		char *path = mem_printf("%s%s", db, ends[i]);

		unlink(path);
		free(path);
	}
}

/* Into a new file that only we read. */
static int copy_file(const char *from, const char *to, int *schema, struct err *err)
{
	sqlite3 *db;
	int fd, rc = open_source(from, &db, schema, err);

	if (!rc) {
		fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		rc = fd < 0 ? failed("make", to, err) : 0;
		if (fd >= 0)
			close(fd);
	}
	if (!rc)
		rc = copy_pages(db, to, err);
	if (!rc)
		rc = sync_file(to, err);
	sqlite3_close(db);
	return rc;
}

/* ---- checking */

static int check(struct record *record, const char *name, struct err *err)
{
	struct buf lines = { 0 };
	int n = record_check(record, &lines, err);

	if (n > 0)
		n = err_set(err, ERR_REFUSED, "%s is not sound: %d difference%s, the first is: %.*s",
			name, n, n == 1 ? "" : "s", (int)strcspn(lines.at, "\n"), lines.at);
	buf_fini(&lines);
	return n;
}

static int describe(struct record *record, struct record_copied *out, struct err *err)
{
	struct lineage lineage;
	int rc = record_lineage(record, &lineage, err);

	if (rc)
		return rc;
	memcpy(out->id, lineage.id, sizeof(out->id));
	out->generation = lineage.generation;
	out->events = record_last_seq(record);
	out->jobs = record_last_job(record);
	lineage_fini(&lineage);
	return 0;
}

static int check_copy(const char *copy, bool readonly, const char *name, struct record_copied *out,
	struct err *err)
{
	struct record *record = NULL;
	int rc = record_open(copy, readonly, &record, err);

	if (!rc)
		rc = check(record, name, err);
	if (!rc)
		rc = describe(record, out, err);
	record_close(record);
	return rc;
}

/* With what a writer makes beside it. */
static void remove_record(const char *db)
{
	char *mark = record_mark_path(db);

	remove_files(db);
	unlink(mark);
	free(mark);
}

/*
 * A copy of an older version stays as it is, so that the older version can use it.  Whether it is sound shows a second
 * copy, which is brought up to date and removed again.
 */
static int check_older(const char *copy, const char *name, struct record_copied *out, struct err *err)
{
	char *trial = mem_printf("%s.check", copy);
	int schema = 0, rc;

	remove_record(trial);
	rc = copy_file(copy, trial, &schema, err);
	if (!rc)
		rc = check_copy(trial, false, name, out, err);
	if (schema < SCHEMA_OF_ID) {
		out->id[0] = '\0';
		out->generation = 0;
	}
	remove_record(trial);
	free(trial);
	return rc;
}

/* ---- backup */

/* Under its name, unless something has it. */
static int give_name(const char *fresh, const char *to, struct err *err)
{
	if (link(fresh, to) == 0)
		return sync_parent(to, err);
	if (errno == EEXIST)
		return err_set(err, ERR_REFUSED,
			"%s is there already: choose another name, or move it away", to);
	return failed("make", to, err);
}

int record_backup(const char *db, const char *to, struct record_copied *out, struct err *err)
{
	char *fresh = mem_printf("%s.new.%d", to, (int)getpid());
	int schema, rc = 0;

	*out = (struct record_copied){ 0 };
	if (file_exists(to)) /* soon enough to say so before all is copied */
		rc = err_set(err, ERR_REFUSED,
			"%s is there already: choose another name, or move it away", to);
	if (!rc)
		rc = copy_file(db, fresh, &schema, err);
	if (!rc)
		rc = schema < RECORD_SCHEMA ? check_older(fresh, db, out, err)
					    : check_copy(fresh, true, db, out, err);
	if (!rc)
		rc = give_name(fresh, to, err);
	remove_files(fresh);
	free(fresh);
	return rc;
}

/* ---- putting one back */

int record_id_of(const char *file, char out[LINEAGE_ID_DIGITS + 1], struct err *err)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db;
	int schema, rc = open_source(file, &db, &schema, err);

	out[0] = '\0';
	if (!rc && schema >= SCHEMA_OF_ID &&
		sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = 'record'", -1, &st,
			NULL) == SQLITE_OK &&
		sqlite3_step(st) == SQLITE_ROW)
		snprintf(out, LINEAGE_ID_DIGITS + 1, "%s", (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	sqlite3_close(db);
	return rc;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static bool is_there(const char *path, const char *end, bool with_bytes)
{
	char *name = mem_printf("%s%s", path, end);
	struct stat st;
	bool is = lstat(name, &st) == 0 && (!with_bytes || st.st_size > 0);

	free(name);
	return is;
}

/*
 * A name that is free.  Where only the log has it, a process died between the two: the file goes to its log, unless
 * there is another log by now.
 */
static char *kept_name(const char *db)
{
	bool has_log = is_there(db, "-wal", true);

	for (int i = 1;; i++) {
		char *name = mem_printf("%s.kept-%d", db, i);

		if (i == KEPT_MAX ||
			(!is_there(name, "", false) && (!has_log || !is_there(name, "-wal", false))))
			return name;
		free(name);
	}
}

/* Nothing is overwritten. */
static int keep_part(const char *db, const char *kept, const char *end, struct err *err)
{
	char *from = mem_printf("%s%s", db, end), *to = mem_printf("%s%s", kept, end);
	int rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);

	rc = rc < 0 && errno != ENOENT ? failed("keep", from, err) : 0;
	free(from);
	free(to);
	return rc;
}

/* What was here is kept beside it. */
static int set_aside(const char *db, char **kept, struct err *err)
{
	int rc = 0;

	*kept = NULL;
	if (!is_there(db, "", false))
		return 0;
	*kept = kept_name(db);
	if (is_there(db, "-wal", true)) /* the log first: without it the file would look whole */
		rc = keep_part(db, *kept, "-wal", err);
	if (!rc)
		rc = keep_part(db, *kept, "", err);
	if (rc)
		return rc;
	remove_files(db);
	return sync_parent(db, err);
}

static int set_meta(struct record *record, const char *key, const struct buf *value, struct err *err)
{
	return record_set_meta(record, key, value->n ? value->at : "", err);
}

/* The copy becomes the next generation of its record; it knows itself up to here. */
static int next_generation(struct record *record, const struct record_mark *mark,
	const struct record_floor *floor, struct err *err)
{
	uint32_t now = record->lineage.generation, last = larger(now, floor->generation);
	struct buf number = { 0 }, past = { 0 };
	int rc;

	if (mark && !strcmp(mark->id, record->lineage.id))
		last = larger(last, mark->generation);
	lineage_past_add(&record->lineage, now, record->end.seq);
	record->lineage.generation = last + 1;
	buf_printf(&number, "%u", last + 1);
	lineage_past_write(&record->lineage, &past);
	rc = set_meta(record, "generation", &number, err);
	if (!rc)
		rc = set_meta(record, "past", &past, err);
	buf_fini(&number);
	buf_fini(&past);
	return rc;
}

/* A record that is to be put in place: the daemon looks at everything that runs there first. */
static int prepare(struct record *record, bool copied, const struct record_mark *mark,
	const struct record_floor *floor, struct err *err)
{
	int rc = copied ? next_generation(record, mark, floor, err) : 0;

	if (!rc)
		rc = record_set_meta(record, "foreign", RECORD_LOOK, err);
	/* Where ids are known, what has none is not taken over any more. */
	if (!rc && mark)
		rc = record_set_meta(record, "unmarked", "0", err);
	return rc;
}

/* The new one in the place of the old. */
static int exchange(const char *fresh, const char *db, const struct record_mark *mark,
	struct record_copied *out, struct err *err)
{
	int rc = set_aside(db, &out->kept, err);

	if (!rc)
		rc = record_mark_write(db, mark, err);
	if (!rc && rename(fresh, db) < 0)
		rc = failed("make", db, err);
	return rc ? rc : sync_parent(db, err);
}

static int install(const char *fresh, const char *db, bool copied, const struct record_floor *floor,
	struct record_copied *out, struct err *err)
{
	struct record_mark before, mark = { 0 };
	bool marked = record_mark_read(db, &before, NULL) == 0;
	struct record *record = NULL;
	int rc = record_open(fresh, false, &record, err);

	if (!rc && copied)
		rc = check(record, "the copy", err);
	if (!rc)
		rc = prepare(record, copied, marked ? &before : NULL, floor, err);
	if (!rc)
		rc = describe(record, out, err);
	record_close(record); /* its log is emptied: it is one file again */
	if (rc)
		return rc;
	memcpy(mark.id, out->id, sizeof(mark.id));
	mark.generation = out->generation;
	mark.seq = out->events;
	mark.job = larger(out->jobs, floor->job);
	if (marked)
		mark.job = larger(mark.job, before.job);
	if (marked && !strcmp(before.id, out->id) && before.seq > out->events)
		out->lost = before.seq - out->events;
	rc = sync_file(fresh, err);
	return rc ? rc : exchange(fresh, db, &mark, out, err);
}

/* What a restore that was interrupted left is of no use. */
static char *fresh_name(const char *db)
{
	char *fresh = mem_printf("%s.new", db);

	remove_record(fresh);
	return fresh;
}

static void clean(char *fresh)
{
	remove_record(fresh);
	free(fresh);
}

int record_restore(const char *file, const char *db, const struct record_floor *floor,
	struct record_copied *out, struct err *err)
{
	char *fresh = fresh_name(db);
	int schema, rc;

	*out = (struct record_copied){ 0 };
	rc = copy_file(file, fresh, &schema, err);
	if (!rc)
		rc = install(fresh, db, true, floor, out, err);
	clean(fresh);
	return rc;
}

int record_begin_anew(const char *db, const struct record_floor *floor, struct record_copied *out,
	struct err *err)
{
	char *fresh = fresh_name(db);
	int rc;

	*out = (struct record_copied){ 0 };
	rc = install(fresh, db, false, floor, out, err);
	clean(fresh);
	return rc;
}
