/*
 * Running a live record again: the inputs go through a core as they did, and what
 * it decides must be what was decided then, note by note.
 *
 * What the record must keep to: each epoch's row has the time its core was opened at; inputs
 * have the time they were applied at, and are written in that order; the notes that came of
 * a cycle stand after its inputs; no two cycles with inputs are of the same time.
 */
#ifndef LIVE_REPLAY_H
#define LIVE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* A row of the record; text is borrowed. */
struct replay_row {
	uint64_t seq;
	double at_s;
	const char *kind;
	uint32_t job, attempt;
	const char *body;
	const char *job_after;     /* the job's status after it; NULL: as before */
	const char *attempt_after; /* likewise */
	bool job_live;             /* whether job_after is of a job that has not ended */
	bool attempt_over;
};

struct replay;

struct replay *replay_create(void);
void replay_destroy(struct replay *replay);

/*
 * Of a record that was pruned, before its first row: rows before number `cut` are not whole, so the
 * first epoch from there on is the first that is run again.  Rows before it only say what jobs are.
 */
void replay_from(struct replay *replay, uint64_t cut);
/* A job that was pruned, and the state it ended in; by number, before the first row.  False: no such state. */
bool replay_past(struct replay *replay, uint32_t job, const char *state);

/*
 * Rows in order.  ERR_DIFFER with the row, what was recorded and what came now, at the first difference;
 * ERR_FORMAT for a row that cannot be read.  There is no going on after either.
 */
int replay_row(struct replay *replay, const struct replay_row *row, struct err *err);

/* After the last row: `notes` of the record were equal. */
struct replay_result {
	uint64_t rows, inputs, notes, epochs;
	uint64_t lost;     /* notes that the daemon was killed before writing down */
	uint64_t passed;   /* rows before the first epoch that is whole */
	uint64_t from_seq; /* of that epoch; 0: there is none */
	double from_s;
};
int replay_finish(struct replay *replay, struct replay_result *out, struct err *err);

/* Whether rows of this kind are neither inputs of the core nor notes of it: what was thought beside, or was before. */
bool replay_is_remark(const char *kind);

#endif
