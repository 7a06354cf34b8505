/*
 * What the files of the record share; nobody else includes this.
 */
#ifndef STORE_RECORD_PARTS_H
#define STORE_RECORD_PARTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/record.h"
#include "store/record_mark.h"

#define JOB_COLUMNS "id, uid, key, name, tenant, state, live, arrival_s, end_s, submit_seq, status"
#define EVENT_COLUMNS \
	"seq, at_s, kind, job, attempt, body, state, live, end_s, status, uid, key, name, tenant," \
	" arrival_s, submit_seq, over, attempt_status"
/* What is read of one. */
#define EVENT_SEEN "seq, at_s, kind, job, attempt, body, status, live, attempt_status, over"
#define ATTEMPT_COLUMNS "job, attempt, over, status"

/* The fact that says which event is the last of a kind; NULL: none does, and looking back must do. */
const char *record_last_key(const char *kind);

/* ERR_REFUSED, and who can read it, if this user may not read the record at `path`; else 0. */
int record_refuse_reader(const char *path, struct err *err);

/* The fact that says what was pruned, as record_prune.c writes it. */
#define RECORD_PRUNED "pruned"

/* Of a job: parameter 1 is its id, 2 its uid, … in the order of JOB_COLUMNS. */
#define SAME_FACTS \
	" WHERE id = ?1 AND uid = ?2 AND key IS ?3 AND name IS ?4 AND tenant IS ?5" \
	" AND arrival_s IS ?8 AND (?10 IS NULL OR submit_seq = ?10)"
#define ENDED_FILTER \
	" AND (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR tenant = ?2)" \
	" AND (?3 IS NULL OR name = ?3) AND (?4 IS NULL OR uid = ?4) AND id < ?5"

/* Every statement that is used again and again. */
#define RECORD_STATEMENTS(S) \
	S(BEGIN, "BEGIN IMMEDIATE") \
	S(COMMIT, "COMMIT") \
	S(ROLLBACK, "ROLLBACK") \
	S(ADD_EVENT, \
		"INSERT INTO event(" EVENT_COLUMNS \
		") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18)") \
	S(ADD_JOB, "INSERT INTO job(" JOB_COLUMNS ") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)") \
	S(CHANGE_JOB, \
		"UPDATE job SET state = ?6, status = ?11" SAME_FACTS " AND live = ?7 AND end_s IS ?9") \
	S(END_JOB, "UPDATE job SET state = ?6, status = ?11, live = ?7, end_s = ?9" SAME_FACTS) \
	S(PUT_JOB, \
		"INSERT INTO job(" JOB_COLUMNS ") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)" \
		" ON CONFLICT(id) DO UPDATE SET uid = ?2, key = ?3, name = ?4, tenant = ?5," \
		" state = ?6, live = ?7, arrival_s = ?8, end_s = ?9, submit_seq = ?10, status = ?11") \
	S(CHANGE_ATTEMPT, \
		"UPDATE attempt SET status = ?4 WHERE job = ?1 AND attempt = ?2 AND over = ?3") \
	S(PUT_ATTEMPT, \
		"INSERT INTO attempt(" ATTEMPT_COLUMNS ") VALUES(?1,?2,?3,?4)" \
		" ON CONFLICT(job, attempt) DO UPDATE SET over = ?3, status = ?4") \
	S(PUT_META, \
		"INSERT INTO meta(key, value) VALUES(?1, ?2)" \
		" ON CONFLICT(key) DO UPDATE SET value = ?2") \
	S(META, "SELECT value FROM meta WHERE key = ?1") \
	S(LAST_EVENT, "SELECT seq, at_s FROM event ORDER BY seq DESC LIMIT 1") \
	S(LAST_JOB, "SELECT (SELECT max(id) FROM job), (SELECT max(job) FROM event WHERE job IS NOT NULL)") \
	S(SUBMIT_SEQ, "SELECT submit_seq FROM job WHERE id = ?1") \
	S(FIND_KEY, "SELECT id FROM job WHERE uid = ?1 AND key = ?2") \
	S(FIND_KEY_PREFIX, \
		"SELECT id FROM job WHERE key IS NOT NULL AND substr(key, 1, length(?1)) = ?1" \
		" ORDER BY id DESC LIMIT 1") \
	S(LIVE_JOBS, "SELECT " JOB_COLUMNS " FROM job WHERE live = 1 ORDER BY id") \
	S(JOB, "SELECT " JOB_COLUMNS " FROM job WHERE id = ?1") \
	S(ENDED_JOBS, \
		"SELECT " JOB_COLUMNS " FROM job NOT INDEXED WHERE live = 0" ENDED_FILTER \
		" ORDER BY id DESC LIMIT ?6") \
	S(ENDED_SINCE, \
		"SELECT " JOB_COLUMNS " FROM job INDEXED BY job_ended" \
		" WHERE live = 0 AND end_s >= ?7" ENDED_FILTER \
		" ORDER BY end_s DESC, id DESC LIMIT ?6") \
	S(OPEN_ATTEMPTS, "SELECT " ATTEMPT_COLUMNS " FROM attempt WHERE over = 0 ORDER BY job, attempt") \
	S(ATTEMPTS, "SELECT " ATTEMPT_COLUMNS " FROM attempt WHERE job = ?1 ORDER BY attempt") \
	S(EVENTS, "SELECT " EVENT_SEEN " FROM event WHERE seq >= ?1 ORDER BY seq LIMIT ?2") \
	S(JOB_EVENTS, \
		"SELECT " EVENT_SEEN " FROM event WHERE job = ?3 AND seq >= ?1" \
		" ORDER BY seq LIMIT ?2") \
	S(LAST_OF_KIND, \
		"SELECT " EVENT_SEEN \
		" FROM event WHERE seq <= ?1 AND seq >= ?3 AND kind = ?2 ORDER BY seq DESC LIMIT 1") \
	S(EVENT_AT, "SELECT " EVENT_SEEN " FROM event WHERE seq = ?1") \
	/* Of a bounded number of jobs: a job that is a summary has no events. */ \
	S(PEAKS, \
		"SELECT json_extract(event.body, '$.rss_bytes'), json_extract(event.body, '$.ran_s')" \
		" FROM (SELECT id FROM job WHERE uid = ?1 AND name = ?2 AND state = 'COMPLETED'" \
		" ORDER BY id DESC LIMIT 1000) j" \
		" CROSS JOIN event ON event.job = j.id AND event.kind = 'exit'" \
		" AND json_extract(event.body, '$.code') = 0 ORDER BY j.id DESC LIMIT ?3") \
	/* pruning: record_prune.c */ \
	S(EVENT_FROM, "SELECT seq, at_s FROM event WHERE seq >= ?1 ORDER BY seq LIMIT 1") \
	S(COUNT_OLD, \
		"SELECT count(*) FROM job INDEXED BY job_ended" \
		" WHERE live = 0 AND end_s < ?1 AND submit_seq > 0" \
		" AND NOT EXISTS (SELECT 1 FROM event WHERE event.job = job.id AND event.seq >= ?2)" \
		" AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.job = job.id AND over = 0)") \
	S(OLD_JOBS, \
		"SELECT id, end_s, submit_seq, status, json_extract(status, '$.array_id')" \
		" FROM job INDEXED BY job_ended WHERE live = 0 AND end_s >= ?1 AND end_s < ?3" \
		" AND (end_s > ?1 OR id > ?2) ORDER BY end_s, id") \
	S(OLD_JOB, \
		"SELECT id, end_s, submit_seq, status, json_extract(status, '$.array_id')" \
		" FROM job WHERE id = ?1 AND live = 0") \
	S(ELEMENTS, "SELECT submit_seq, json_extract(status, '$.array_id') FROM job WHERE id > ?1 ORDER BY id") \
	S(SUMMARIES, "SELECT " JOB_COLUMNS " FROM job WHERE submit_seq = 0 ORDER BY id") \
	S(LAST_OF_JOB, "SELECT max(seq) FROM event WHERE job = ?1") \
	S(OPEN_OF_JOB, "SELECT 1 FROM attempt WHERE job = ?1 AND over = 0") \
	S(DROP_EVENTS, "DELETE FROM event WHERE job = ?1") \
	S(DROP_EVENT, "DELETE FROM event WHERE seq = ?1") \
	S(SUM_JOB, \
		"INSERT INTO temp.past_job SELECT id, uid, key, name, tenant, state, live, arrival_s," \
		" end_s, 0, ?2 FROM main.job WHERE id = ?1") \
	S(SUM_ATTEMPT, \
		"INSERT INTO temp.past_attempt SELECT job, attempt, over, ?2 FROM main.attempt" \
		" WHERE job = ?1 AND attempt = ?3") \
	S(OUT_JOBS, "DELETE FROM main.job WHERE id IN (SELECT id FROM temp.past_job)") \
	S(OUT_ATTEMPTS, "DELETE FROM main.attempt WHERE job IN (SELECT id FROM temp.past_job)") \
	S(IN_JOBS, \
		"INSERT INTO main.job(" JOB_COLUMNS ") SELECT " JOB_COLUMNS \
		" FROM temp.past_job ORDER BY id") \
	S(IN_ATTEMPTS, \
		"INSERT INTO main.attempt(" ATTEMPT_COLUMNS ") SELECT " ATTEMPT_COLUMNS \
		" FROM temp.past_attempt ORDER BY job, attempt") \
	S(PAST_JOBS, "DELETE FROM temp.past_job") \
	S(PAST_ATTEMPTS, "DELETE FROM temp.past_attempt") \
	S(OLD_EVENTS, \
		"SELECT seq, kind, job IS NOT NULL, state IS NULL AND over IS NULL AND uid IS NULL" \
		" FROM event WHERE seq >= ?1 AND seq < ?2 ORDER BY seq LIMIT ?3") \
	S(MEAN_RUN, \
		"SELECT avg(ran_s) FROM (SELECT json_extract(status, '$.ran_s') AS ran_s FROM job" \
		" WHERE uid = ?1 AND name = ?2 AND state = 'COMPLETED' ORDER BY id DESC LIMIT ?3)")

#define RECORD_STATEMENT_NAME(name, sql) SQL_##name,
enum record_sql { RECORD_STATEMENTS(RECORD_STATEMENT_NAME) SQL_COUNT };

/* Where the record ends. */
struct record_end {
	uint64_t seq;
	double at_s;
	uint32_t job; /* largest id of any event */
	uint32_t row; /* largest id in the table */
};

struct tidy;

struct record {
	sqlite3 *db;
	char *path;
	bool readonly;
	bool writing; /* between begin and commit or rollback */
	sqlite3_stmt *kept[SQL_COUNT];
	struct record_end end, durable; /* of a writer: now, and as committed */
	struct tidy *tidy;              /* NULL in a reader */
	struct lineage lineage;         /* of a writer */
	struct mark_file mark;          /* of a writer: STATE/record.id */
	bool unmarked;                  /* of a writer: there was no record.id */
	uint32_t given; /* of a writer: the largest number that a job ever had here */
};

/* Sets the text for what `db` has just failed to do: `doing` is "read", "write", …, and stands before the path. */
int record_failed(sqlite3 *db, const char *path, const char *doing, struct err *err);

/* A statement in use: give it back.  One of several users at once gets a copy of its own. */
struct record_query {
	sqlite3_stmt *st;
	bool own;
};
int record_take(struct record *record, enum record_sql which, struct record_query *out,
	struct err *err);
void record_give(struct record_query *query);

/* Where it ends, as the tables have it. */
int record_end_of(struct record *record, struct record_end *out, struct err *err);

/* ---- record_identity.c: whether the file is the record that belongs here */

/*
 * Before anything is changed: ERR_REFUSED with what was found and what to do.  `schema` is the
 * file's, 0: there is nothing in it; `mark` NULL: there is no record.id.
 */
int identity_check(struct record *record, int schema, const struct record_mark *mark, struct err *err);
/* Afterwards: knows the record's lineage, and record.id says the same. */
int identity_settle(struct record *record, const struct record_mark *mark, struct err *err);
/* ERR_REFUSED: there is a record.id and no record. */
int identity_expected(const char *path, const struct record_mark *mark, struct err *err);

/* The event with a job's submission; left alone if there is no such job. */
int record_submit_seq(struct record *record, uint32_t job, uint64_t *out, struct err *err);

/*
 * What is in the write-ahead log must go to the database some time, which means waiting for the
 * disk.  A thread does that beside the writer, so that no commit waits for it; see record_tidy.c.
 */
struct tidy *tidy_create(sqlite3 *db, const char *path);
void tidy_destroy(struct tidy *tidy);

#endif
