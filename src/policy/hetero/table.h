/*
 * The table behind turns: every job, and every pair that may share devices,
 * with its share of each type and the time it has had there.
 */
#ifndef POLICY_HETERO_TABLE_H
#define POLICY_HETERO_TABLE_H

#include "io/share_log.h"
#include "policy/hetero/expect.h"
#include "policy/hetero/turns.h"

/* One entry on one type, or in one configuration. */
struct share_cell {
	struct grant_part part[2]; /* the devices, as in struct config */
	double x;                  /* its share of time */
	double time_s;             /* that it has had */
	double deficit_s;
	double priority;
	double speed[2]; /* steps per second of both; 0: cannot run there */
};

struct share_entry {
	uint32_t a, b;    /* jobs, a < b; b is JOB_NONE for a job alone */
	uint32_t gang;    /* as asked */
	uint32_t columns; /* configurations it has; the first are the cluster's types in order */
	size_t first;     /* its first cell */
	bool known;       /* the present shares speak of it */
};

/* An entry that runs until `end_s`. */
struct share_task {
	uint32_t entry; /* until the next table_forget() */
	uint32_t a, b;
	uint32_t type; /* its column: the cluster's type, unless it runs as it did not ask to */
	double end_s;
	bool fresh; /* published: it was not there in the last round */
};

struct share_table {
	uint32_t types; /* of the cluster, present or not */
	VEC(struct share_entry)
	entries; /* in order of arrival: a job, then its pairs with those before it */
	VEC(struct share_cell) cells;  /* by entry and column */
	VEC(uint32_t) entry_of;        /* by job: 1 + the entry of the job alone, 0 none */
	VEC(struct share_task) tasks;  /* what runs */
	double type_time_s[TYPES_MAX]; /* published: time of all entries on a type */
	double start_s, end_s;         /* of the present round; end NAN before the first */
	bool in_round;
	uint32_t rounds;                   /* published: ended so far */
	bool stale;                        /* the shares are not for the jobs there are */
	double computed_s;                 /* when they were computed; published: 0 never or at 0 */
	double charged_s;                  /* up to when times are brought up to date */
	struct twister types_rng;          /* published: the order of types */
	struct expect expect;              /* arrivals, where shares leave room */
	struct share_log log;              /* shares to follow, if any */
	struct configs configs;            /* scratch */
	uint64_t version;                  /* own: of the beliefs that speeds are by */
	uint64_t solves, kept, might_keep; /* figures: leases extended, and that could have been */
};

struct share_table *table_create(const struct cluster *cluster, uint64_t seed);
void table_destroy(struct share_table *table);

/* Enters jobs that came since the last decision.  Returns whether there were any. */
bool table_welcome(struct share_table *table, const struct share_turns *turns,
	const struct round *round);
/* Forgets jobs that ended, and their pairs.  Returns whether there were any. */
bool table_forget(struct share_table *table, const struct round *round);

static inline struct share_cell *table_cell(const struct share_table *table, size_t entry,
	uint32_t column)
{
	return &table->cells.at[table->entries.at[entry].first + column];
}

/* The entry of a job alone; it must have one. */
static inline uint32_t table_single(const struct share_table *table, uint32_t job)
{
	return table->entry_of.at[job] - 1;
}

/* Brings speeds up to date with what is believed now. */
void table_refresh(struct share_table *table, const struct share_turns *turns,
	const struct round *round);

/* Marks by entry of a job alone: whether a job of `entry` is marked, and marking both. */
static inline bool table_marked(const struct share_table *table, const bool *marks,
	const struct share_entry *e)
{
	return marks[table_single(table, e->a)] ||
		(e->b != JOB_NONE && marks[table_single(table, e->b)]);
}

static inline void table_mark(const struct share_table *table, bool *marks, const struct share_entry *e)
{
	marks[table_single(table, e->a)] = true;
	if (e->b != JOB_NONE)
		marks[table_single(table, e->b)] = true;
}

/* Writes new shares into the cells. */
void table_take_shares(struct share_table *table, const struct share_turns *turns,
	const struct program *program, const struct shares *shares);

/* Computes shares, from the log or by the policy's own means. */
int table_compute(struct share_table *table, const struct share_turns *turns, shares_fn *compute,
	void *self, const struct round *round, const struct plan *plan, struct err *err);

/* The published mechanism. */
int published_decide(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, struct plan *plan, struct err *err);
/* Stint's own. */
int credits_decide(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, struct plan *plan, struct err *err);

#endif
