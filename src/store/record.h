/*
 * The live record: one SQLite file, STATE/stint.db, in WAL mode.
 *
 * Everything that happened is a row of `event`, appended and never changed.  The
 * tables that are queried, `job` and `attempt`, hold for each key what its last
 * event said, so they can be derived again: record_check() does that and compares.
 *
 * What bodies mean is the caller's business; here they are JSON text.  One writer,
 * one thread.  Nothing is durable before record_commit() has returned 0; after a
 * failure of any call between begin and commit the whole transaction is gone and the
 * same one may be tried again.  (Should the process die between a commit that failed
 * and the next one, that transaction is found whole or not at all: a disk that failed
 * to say so may have written it.)
 */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lineage.h"
#include "base/text.h"

struct record;

enum { RECORD_SCHEMA = 2 };

/*
 * Opens or creates (mode 0600); an older schema is migrated first.  ERR_REFUSED: written by a newer Stint,
 * not ours, damaged, or not the record that belongs here: missing, empty, older than record.id beside it says, or
 * another one (store/record_mark.h).  `readonly` never changes the record: ERR_MISSING where there is none, ERR_REFUSED for an older schema.
 * A process may read while another one writes.
 */
int record_open(const char *path, bool readonly, struct record **out, struct err *err);
void record_close(struct record *record);
/* Of a writer: room for the day when the disk is full is kept beside it (store/record_reserve.h), unless it is there. */
void record_keep_reserve(struct record *record);
/* Of a writer whose last call found the disk full: gives up a piece of that; false: there was none. */
bool record_make_room(struct record *record);
/* Pages that are kept in memory and not needed are freed. */
void record_release_memory(struct record *record);

/* One thing that happened.  Text is borrowed. */
struct record_event {
	uint64_t seq; /* set by record_append() */
	double at_s;
	const char *kind; /* "submit", "start", … */
	uint32_t job;     /* 0: none; jobs count from 1 */
	uint32_t attempt; /* 0: none; attempts count from 1 */
	const char *body; /* JSON object */

	/* set when read: what record_append() said of the job and the attempt; NULL: as before */
	const char *job_after, *attempt_after; /* their status */
	bool job_live, attempt_over;
};

/* A job as its last event left it. */
struct record_job {
	uint32_t id;
	uint32_t uid;
	const char *key; /* NULL: none; unique per uid */
	const char *name, *tenant;
	const char *state;       /* "PENDING", … */
	bool live;               /* it has not ended */
	double arrival_s, end_s; /* end_s NAN while live */
	uint64_t submit_seq; /* the event whose body has its submission; 0 in record_append(): as before, that event of a new job */
	const char *status;  /* JSON object: everything else that changes */
};

struct record_attempt {
	uint32_t job, attempt;
	bool over;
	const char *status; /* JSON object */
};

/* ---- writing: between begin and commit or rollback */
int record_begin(struct record *record, struct err *err);
/*
 * Appends an event, and says what the job and the attempt it concerns are from now on (NULL: as before).
 * Both are kept with the event too, which is what record_check() derives the tables from.
 */
int record_append(struct record *record, struct record_event *event, const struct record_job *job,
	const struct record_attempt *attempt, struct err *err);
/* ERR_IO where the disk is full or failing: the text begins with "disk full" or "disk failing".  The transaction is rolled back then. */
int record_commit(struct record *record, struct err *err);
void record_rollback(struct record *record);

/*
 * ---- reading.  Text is borrowed for the call of see(), which may read but not write; see() returning nonzero
 * ends the walk with that value.  Inside a transaction what it has appended so far is seen.
 */
typedef int record_see_job(void *ctx, const struct record_job *job);
typedef int record_see_attempt(void *ctx, const struct record_attempt *attempt);
typedef int record_see_event(void *ctx, const struct record_event *event);

int record_live_jobs(struct record *record, record_see_job *see, void *ctx, struct err *err); /* by id */
int record_job(struct record *record, uint32_t id, record_see_job *see, void *ctx,
	struct err *err); /* ERR_MISSING */
/*
 * The largest number first, or with `ended_since_s` the last that ended; numbers before `before_id` (0: all), `limit` of them (0: all); state, tenant, name and uid as
 * filters (NULL, NULL, NULL, UINT32_MAX: none).  `nstates` > 0: in one of these states, borrowed.
 */
struct record_filter {
	const char *state, *tenant, *name;
	const char *const *states;
	uint32_t nstates;
	uint32_t uid;
	uint32_t before_id;
	uint32_t limit;
	double ended_since_s; /* NAN: any */
};
int record_ended_jobs(struct record *record, const struct record_filter *filter,
	record_see_job *see, void *ctx, struct err *err);
int record_open_attempts(struct record *record, record_see_attempt *see, void *ctx,
	struct err *err); /* not over */
int record_attempts(struct record *record, uint32_t job, record_see_attempt *see, void *ctx,
	struct err *err);
/* From `from_seq` on, in order; job 0: all.  `limit` 0: all. */
int record_events(struct record *record, uint64_t from_seq, uint32_t job, uint64_t limit,
	record_see_event *see, void *ctx, struct err *err);
int record_event_at(struct record *record, uint64_t seq, record_see_event *see, void *ctx,
	struct err *err);
/* The last one of a kind up to `seq`; looks back until it has found one.  ERR_MISSING */
int record_last_of_kind(struct record *record, const char *kind, uint64_t seq,
	record_see_event *see, void *ctx, struct err *err);
/* The same from event `from_seq` on. */
int record_last_of_kind_from(struct record *record, const char *kind, uint64_t from_seq,
	uint64_t seq, record_see_event *see, void *ctx, struct err *err);
/* The job with that key, or 0. */
uint32_t record_find_key(struct record *record, uint32_t uid, const char *key);
/* The newest whose key begins so, of any user; looks at every key. */
uint32_t record_find_key_prefix(struct record *record, const char *prefix);
uint32_t record_last_job(struct record *record); /* largest id of any event or job, 0: none */
/* Of a writer: the largest number that a job ever had here, also one that was lost with a restore. */
uint32_t record_given(const struct record *record);
uint64_t record_last_seq(struct record *record);
double record_last_s(struct record *record); /* at_s of the last event, 0: none */
/* Mean of "ran_s" in the status of the last `n` completed jobs of that uid and name; NAN if there are none. */
/*
 * Of the last so many runs of this user's jobs of that name that went well: the most memory each had, and how
 * long it took.  The newest first; returns how many.
 */
uint32_t record_peaks(struct record *record, uint32_t uid, const char *name, uint32_t n,
	double *bytes, double *ran_s);
double record_mean_run_s(struct record *record, uint32_t uid, const char *name, uint32_t n);

/* Of a writer: which record this is, as long as it is open; whether there was no record.id beside it. */
const struct lineage *record_identity(const struct record *record);
bool record_was_unmarked(const struct record *record);
/* The same of any, read anew; lineage_fini(). */
int record_lineage(struct record *record, struct lineage *out, struct err *err);

/* Small facts that do not change by events: "born" (seconds since 1970), "epoch" (rules for
 * the next start), "devices" (their places), "clock" (store/record_clock.h). */
/* Value of "foreign" after a restore: everything that runs is to be looked at. */
#define RECORD_LOOK "?"
int record_set_meta(struct record *record, const char *key, const char *value,
	struct err *err); /* its own transaction */
/* The same inside a transaction. */
int record_put_meta(struct record *record, const char *key, const char *value, struct err *err);
bool record_meta(struct record *record, const char *key, struct buf *out);

/*
 * Integrity, and the derived tables derived again.  Each difference is a line of `out`;
 * returns their number, or < 0.
 */
int record_check(struct record *record, struct buf *out, struct err *err);

#endif
