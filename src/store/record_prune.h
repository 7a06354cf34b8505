/*
 * Retention: old events of the record become summaries.
 *
 * Pruning has a cut, the number of an event.  Of a job that ended before it only its row
 * and those of its attempts stay, as summaries with submit_seq 0; its events go.  Of events
 * before the cut that belong to no job only the last epoch and the last health stay, which
 * the next start reads; of jobs that are kept all but reports of progress.  From the cut on
 * the record is whole.
 *
 * The cut is written before anything is deleted, and each step is a transaction that keeps
 * the count, so that record_check() finds a sound record whenever the process dies.
 */
#ifndef STORE_RECORD_PRUNE_H
#define STORE_RECORD_PRUNE_H

#include "store/record.h"

/* Facts of the record: that a person has confirmed pruning once, and what the daemon's --keep says. */
#define RETENTION_CONFIRMED "retention"
#define RETENTION_KEEP "keep"

/* What is gone. */
struct record_pruned {
	uint64_t seq;  /* the cut; 0: nothing was ever pruned */
	double at_s;   /* when that event happened */
	uint64_t jobs; /* that are summaries */
	uint64_t events;
};
/* False: nothing was ever pruned. */
bool record_pruned(struct record *record, struct record_pruned *out);

/* Of a reader: all it sees until record_view_end() is of one moment, whatever is pruned or written meanwhile. */
void record_view_begin(struct record *record);
void record_view_end(struct record *record);

/* The jobs that are summaries, by number. */
int record_summaries(struct record *record, record_see_job *see, void *ctx, struct err *err);

/* What would go if everything before a moment did.  Reads every job that ended before it. */
struct record_prune_plan {
	uint64_t seq;
	double at_s;
	uint64_t jobs;
	uint64_t events; /* at most */
};
int record_prune_plan(struct record *record, double before_s, struct record_prune_plan *out,
	struct err *err);

/* Shortens the status of a job or an attempt that has ended; nothing appended: it stays as it is. */
typedef void record_summarise(const char *status, struct buf *out);

struct prune;

/* Writes the cut.  The record is the caller's, and stays open until prune_destroy(). */
int prune_create(struct record *record, double before_s, record_summarise *summarise,
	struct prune **out, struct err *err);
void prune_destroy(struct prune *prune);

/*
 * One transaction for at most `jobs` jobs, or as much of the work after them.  Not between record_begin() and
 * record_commit().  Returns 1 while there is more to do, 0 when all is done, or < 0: then the step may be repeated.
 */
int prune_step(struct prune *prune, uint32_t jobs, struct err *err);
/*
 * Free pages stay until all jobs are through, and for good if there are more than 80 MB of them: for a record that
 * is not in use record_vacuum() is quicker then.
 */
void prune_leave_pages(struct prune *prune);
/* Of this run. */
uint64_t prune_jobs(const struct prune *prune);
uint64_t prune_events(const struct prune *prune);

/* Bytes of the file and how many of them are free; whether free ones can be given back in steps. */
struct record_size {
	int64_t bytes, free_bytes;
	bool gives_back;
};
int record_size(struct record *record, struct record_size *out, struct err *err);

/* Writes the file anew, without free pages.  Needs as much room again, and nobody else may use the record. */
int record_vacuum(struct record *record, struct err *err);

#endif
