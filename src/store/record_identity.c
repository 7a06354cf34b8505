/*
 * Whether a file is the record that belongs here.
 *
 * record.id says which record was here last and how far it had come.  A file that is missing, empty,
 * another record, an earlier generation or an earlier moment of the same one is refused: ids of jobs
 * would be given again, and what ran under them would be taken for the new jobs'.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/record_parts.h"

enum { HEADER = 100, WAL_HEADER = 32, SAID_MAX = 600 };

#define LOOK_S 1.0 /* for looking at all pages after an unclean stop: some 300 MB */

#define NOTHING_CHANGED "Nothing was changed.  "
#define WAYS_ON \
	"If the right file is elsewhere, put it back, with its -wal.  Else put a backup back with " \
	"'stint db restore FILE', which keeps what is here aside and finds again what still runs"

static int refuse(const char *path, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(const char *path, struct err *err, const char *fmt, ...)
{
	char found[SAID_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(found, sizeof(found), fmt, args);
	va_end(args);
	return err_set(err, ERR_REFUSED,
		"%s.  " NOTHING_CHANGED WAYS_ON
		"; to go on with what is in %s use 'stint db restore' with that file, to begin "
		"without any of it 'stint db new'",
		found, path_base(path));
}

int identity_expected(const char *path, const struct record_mark *mark, struct err *err)
{
	struct stat st;
	bool there = stat(path, &st) == 0;

	if (there && st.st_size > 0)
		return 0;
	return err_set(err, ERR_REFUSED,
		"%s is %s, and record.id beside it says that record %.*s was here, with %llu events and "
		"jobs up to %u.  " NOTHING_CHANGED WAYS_ON "; to begin without it use 'stint db new'",
		path, there ? "empty" : "not there", LINEAGE_SHOWN, mark->id,
		(unsigned long long)mark->seq, mark->job);
}

/* ---- whether all of it is there */

static uint32_t big_endian(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Whether the file is shorter than it says itself.  A crash while the log is copied leaves that, too. */
static bool is_short(sqlite3 *db)
{
	unsigned char header[HEADER];
	sqlite3_file *file = NULL;
	sqlite3_int64 size = 0;
	uint32_t page;

	if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
		!file || !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK ||
		size < HEADER || file->pMethods->xRead(file, header, HEADER, 0) != SQLITE_OK)
		return false;
	page = (uint32_t)header[16] << 8 | header[17];
	page = page == 1 ? 65536 : page;
	return big_endian(header + 24) == big_endian(header + 92) &&
		size < (sqlite3_int64)big_endian(header + 28) * page;
}

static int is_late(void *until_s)
{
	return clock_wall_s() > *(double *)until_s;
}

/* Whether its pages fit together, as far as can be seen in that time. */
static bool is_sound(sqlite3 *db, double within_s)
{
	double until_s = clock_wall_s() + within_s;
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &st, NULL);
	bool sound;

	sqlite3_progress_handler(db, 10000, is_late, &until_s);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	sound = rc == SQLITE_INTERRUPT ||
		(rc == SQLITE_ROW && !strcmp((const char *)sqlite3_column_text(st, 0), "ok"));
	sqlite3_progress_handler(db, 0, NULL, NULL);
	sqlite3_finalize(st);
	return sound;
}

/* The last daemon did not stop cleanly: pages are in the log. */
static bool has_pages_in_log(const char *path)
{
	char *log = mem_printf("%s-wal", path);
	struct stat st;
	bool has = stat(log, &st) == 0 && st.st_size > WAL_HEADER;

	free(log);
	return has;
}

/* A log is laid over whatever file is beside it, also over an older copy, of which it makes a mixture of both. */
static int check_whole(struct record *record, struct err *err)
{
	if (is_short(record->db) && !is_sound(record->db, INFINITY))
		return refuse(record->path, err,
			"%s was cut short: it has fewer pages than it says", record->path);
	if (!has_pages_in_log(record->path) || is_sound(record->db, LOOK_S))
		return 0;
	return refuse(record->path, err,
		"%s does not fit its log (%s-wal): an older copy was put in its place while the log stayed, or its disk "
		"has damaged it",
		record->path, path_base(record->path));
}

/* ---- who it is */

static int read_lineage(struct record *record, struct lineage *out, struct err *err)
{
	struct buf id = { 0 }, generation = { 0 }, past = { 0 };
	int rc = 0;

	*out = (struct lineage){ 0 };
	record_meta(record, "record", &id);
	record_meta(record, "generation", &generation);
	record_meta(record, "past", &past);
	if (!id.n || !lineage_id_is_good(id.at) || !generation.n ||
		sscanf(generation.at, "%u", &out->generation) != 1 ||
		(past.n && !lineage_past_read(out, past.at))) {
		lineage_fini(out);
		rc = err_set(err, ERR_FORMAT, "%s does not say which record it is", record->path);
	} else {
		memcpy(out->id, id.at, LINEAGE_ID_DIGITS);
	}
	buf_fini(&id);
	buf_fini(&generation);
	buf_fini(&past);
	return rc;
}

const struct lineage *record_identity(const struct record *record)
{
	return &record->lineage;
}

bool record_was_unmarked(const struct record *record)
{
	return record->unmarked;
}

int record_lineage(struct record *record, struct lineage *out, struct err *err)
{
	return read_lineage(record, out, err);
}

static int compare(const struct record *record, const struct lineage *lineage,
	const struct record_end *end, const struct record_mark *mark, struct err *err)
{
	if (strcmp(lineage->id, mark->id) != 0)
		return refuse(record->path, err,
			"%s is record %.*s, and record.id beside it says that record %.*s belongs here",
			record->path, LINEAGE_SHOWN, lineage->id, LINEAGE_SHOWN, mark->id);
	if (lineage->generation < mark->generation)
		return refuse(record->path, err,
			"%s is of generation %u of record %.*s, and record.id beside it says that a backup was "
			"put back since, which made generation %u",
			record->path, lineage->generation, LINEAGE_SHOWN, mark->id, mark->generation);
	/* A later generation that has all that was here: it was put back elsewhere, and moved here. */
	if (lineage->generation > mark->generation &&
		lineage_end(lineage, mark->generation) >= mark->seq)
		return 0;
	if (lineage->generation > mark->generation)
		return refuse(record->path, err,
			"%s is of generation %u of record %.*s, which does not have all of generation %u that was "
			"here",
			record->path, lineage->generation, LINEAGE_SHOWN, mark->id, mark->generation);
	if (end->seq < mark->seq)
		return refuse(record->path, err,
			"%s ends with event %llu, and record.id beside it says that event %llu was recorded "
			"and jobs up to %u: an older copy was put in its place, or its log (%s-wal) was "
			"deleted or cut",
			record->path, (unsigned long long)end->seq, (unsigned long long)mark->seq,
			mark->job, path_base(record->path));
	return 0;
}

/* There is nothing in it to go on with. */
static int refuse_empty(const char *path, const struct record_mark *mark, struct err *err)
{
	return err_set(err, ERR_REFUSED,
		"%s has no record in it, and record.id beside it says that record %.*s was here, with %llu events and "
		"jobs up to %u: its log (%s-wal), which had all of it, was deleted, emptied or cut.  " NOTHING_CHANGED WAYS_ON
		"; to begin without it use 'stint db new'",
		path, LINEAGE_SHOWN, mark->id, (unsigned long long)mark->seq, mark->job,
		path_base(path));
}

int identity_check(struct record *record, int schema, const struct record_mark *mark, struct err *err)
{
	struct lineage lineage;
	struct record_end end;
	int rc = check_whole(record, err);

	if (rc || !mark)
		return rc;
	if (!schema)
		return refuse_empty(record->path, mark, err);
	if (schema < 2)
		return refuse(record->path, err,
			"%s is from before records had an id, and record.id beside it says that record %.*s was here, with "
			"%llu events and jobs up to %u",
			record->path, LINEAGE_SHOWN, mark->id, (unsigned long long)mark->seq,
			mark->job);
	rc = read_lineage(record, &lineage, err);
	if (rc)
		return rc;
	rc = record_end_of(record, &end, err);
	if (!rc)
		rc = compare(record, &lineage, &end, mark, err);
	lineage_fini(&lineage);
	return rc;
}

int identity_settle(struct record *record, const struct record_mark *mark, struct err *err)
{
	struct record_mark now = { .seq = record->end.seq, .job = record->end.job };
	int rc = read_lineage(record, &record->lineage, err);

	if (rc)
		return rc;
	memcpy(now.id, record->lineage.id, sizeof(now.id));
	now.generation = record->lineage.generation;
	/* Numbers that were given after the copy was made, which was put back, are not given again. */
	if (mark && mark->job > now.job)
		now.job = mark->job;
	record->given = now.job;
	record->unmarked = !mark;
	if (!mark || mark->generation != now.generation || mark->seq != now.seq || mark->job != now.job)
		rc = record_mark_write(record->path, &now, err);
	if (!rc)
		record_mark_open(record->path, &record->mark);
	return rc;
}
