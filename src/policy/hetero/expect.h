/*
 * Jobs that are likely to come: rates of arrival learnt from those that came,
 * and rows for them in a program, so that shares leave room.
 *
 * Jobs of the same model, size and weight are a kind.  How often one comes is
 * an exponentially weighted mean: an arrival counts e times less after every
 * `memory_s`.  Who is there at the first look was there before the watch
 * began and says nothing of rates.
 *
 *	struct expect expect = { .memory_s = 6 * 3600 };
 *	expect_see(&expect, round);                         at every decision
 *	expect_extend(&expect, &program, horizon_s, &longer);
 *	... shares of `longer`: its first program.jobs rows are those of `program`, the rest is dropped
 *	expect_fini(&expect);
 */
#ifndef POLICY_HETERO_EXPECT_H
#define POLICY_HETERO_EXPECT_H

#include "base/vec.h"
#include "policy/hetero/program.h"

struct expect_kind {
	uint32_t model; /* NAME_NONE: jobs that name none */
	int32_t gpus;
	double weight;
	uint32_t example; /* the last that came */
	double mass;      /* of arrivals, each e times lighter after memory_s, at seen_s */
	double work;      /* steps of all of them, as light */
	double seen_s;
};

struct expect {
	double memory_s; /* the caller's to set, > 0 */

	double began_s; /* first look */
	bool begun;
	VEC(bool) met; /* by job */
	VEC(struct expect_kind) kinds;
};

void expect_fini(struct expect *expect);

/* Takes note of jobs that came since the last round. */
void expect_see(struct expect *expect, const struct round *round);

/* Arrivals per second of a kind (an index); 0 where no time has passed since the first look. */
double expect_rate(const struct expect *expect, size_t kind, double now_s);
/*
 * How many jobs that have not come yet are there at a time, on average over the coming `horizon_s`, if
 * they come at `rate` and stay for `stay_s`: never more than Little's law says, rate times stay.
 */
double expect_present(double rate, double stay_s, double horizon_s);

/*
 * `longer` is the program followed by one row for each kind that is expected, in the order in which kinds
 * were first met.  A row stands for m jobs, m any number above 0: its gang and its weight are m times those
 * of one, which gives all of them the share of the row.  Its id is JOB_NONE and its age 0.  Pairs stay as
 * they are.  Lives in the arena of the round.  If no job will come any more, there are no such rows.
 */
void expect_extend(const struct expect *expect, const struct program *program, double horizon_s,
	struct program *longer);

#endif
