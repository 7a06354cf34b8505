/*
 * What the parts of the interior point for pairs share: the program as the
 * method sees it.
 *
 * Every x touches the rows of one or two jobs, one capacity and its own bound,
 * so eliminating the x leaves a dense matrix between jobs that can pair: two
 * rows for each job, its limit and its value, in one block per gang size.  The
 * blocks are coupled by the capacities, a border as wide as there are types,
 * and by z.
 *
 * Most time beyond the factorisation goes into passes over the x, so what a
 * pass needs of an x lies side by side, and two right sides share a pass.
 */
#ifndef SOLVER_PAIRS_PARTS_H
#define SOLVER_PAIRS_PARTS_H

#include "solver/dense.h"
#include "solver/interior.h"

enum { LIMIT, VALUE, PER_JOB }; /* a job's rows in the dense matrix */
enum { MOST_ROWS = 2 };         /* about its value, in the program */

/*
 * Where jobs have counts, an x stands for all entries of its jobs, and rows for
 * those of all its jobs.  Both are measured along the unit vector in which all
 * are equal: x times the root of their number, rows divided by that of theirs.
 */

/* One x: its entries in G without the rows' divisors, and how it is eliminated. */
struct share {
	double one;           /* in limits and capacities */
	double of_a, of_b;    /* in the value rows of a and b */
	double bound;         /* in its own row, there with a minus sign */
	double inverse;       /* 1 / (delta + bound^2 / (d + delta)) */
	double bound_inverse; /* 1 / (d + delta) of its bound's row */
};

struct entry {
	uint32_t a, b; /* first row in the dense order; b of a single: the row nobody reads */
	double gang;
	double many; /* entries it stands for */
	double root; /* of that */
};

/* A job's divided rows, by dense order. */
struct rows_of_job {
	double many, root;       /* jobs it stands for; the root of that */
	double limit;            /* divides nothing: multiplies `one` */
	double value[MOST_ROWS]; /* multiplies of_a, of_b, there with a minus sign */
	double z[MOST_ROWS];
	/* Of the elimination. */
	double limit_d;            /* d + delta of the limit */
	double value_d[MOST_ROWS]; /* of the value rows */
	double weight;             /* sum value^2 / d; 0: no value row is left */
	double ratio;              /* z's entry in the merged row, with a minus sign */
	double lift[MOST_ROWS];    /* z - ratio * value: what merging leaves of z's entries */
};

struct block {
	uint32_t first, jobs; /* in dense order */
	struct dense matrix;
};

struct pairs {
	uint32_t jobs, types, entries, rows, blocks;
	bool has_z;
	uint32_t *place; /* [jobs] in dense order */
	struct entry *entry;
	struct share *share;     /* [entries][types] */
	struct rows_of_job *row; /* [jobs] in dense order */
	double *capacity;        /* [types] what multiplies gang * one */
	double *capacity_d;      /* [types] */
	struct block *block;
	double *border;       /* [types][order] C, and after factoring L^-1 C */
	double *corner;       /* [types][types] its Schur complement, factored */
	double *corner_least; /* [types] what its pivots must be above */
	double *z_side;       /* [order + types] M^-1 of z's column */
	double z_pivot;
	double delta;
	double *q[2]; /* scratch: [order + PER_JOB + types] */
	double *sum;  /* scratch, the same */
};

static inline uint32_t order_of(const struct pairs *p)
{
	return PER_JOB * p->jobs;
}

/* Where the capacities lie in a vector that has every dense row, then the row nobody reads. */
static inline uint32_t capacities_at(const struct pairs *p)
{
	return order_of(p) + PER_JOB;
}

/* Rows of the problem: limits, value rows, capacities, bounds. */
static inline uint32_t value_row(const struct pairs *p, uint32_t job, uint32_t r)
{
	return p->jobs + job * p->rows + r;
}

static inline uint32_t capacity_row(const struct pairs *p)
{
	return p->jobs * (1 + p->rows);
}

static inline uint32_t bound_row(const struct pairs *p)
{
	return capacity_row(p) + p->types;
}

static inline uint32_t variables(const struct pairs *p)
{
	return p->entries * p->types;
}

/* Multiplies and equilibrates; solves by the two functions below.  Its self is a struct pairs. */
extern const struct interior_shape pairs_shape;

bool pairs_factor(void *self, const struct interior_scaling *scaling);
void pairs_newton(void *self, uint32_t count, const struct interior_pair *side,
	const struct interior_pair *answer);

#endif
