/*
 * The parts of the price search: the market of jobs, and the mix of answers.
 * For the files of the solver only.
 *
 * A quote is what all jobs together would take at given prices and a given
 * level: each job the cheapest mix of two types that reaches its need.  Every
 * quote bounds the best level from above, and a convex mix of quotes that fits
 * the capacities is an allocation; the search ends where the two meet.
 */
#ifndef SOLVER_MAXMIN_PARTS_H
#define SOLVER_MAXMIN_PARTS_H

#include <stdbool.h>
#include <stdint.h>

/* ---- the mix: a small linear program over quotes */

/*
 *     maximise sum_k a_k z_k + sum_w (low_w spare_w - high_w over_w)
 *     subject to sum_k a_k = 1,  sum_k a_k (used_kw - 1) + spare_w - over_w = 0,  all >= 0
 *
 * Its prices lie between low and high.
 */
struct mix {
	uint32_t types, rows; /* rows = types + 1 */
	uint32_t n, cap;      /* quotes */
	double *column;       /* [cap][rows]: 1, used_w - 1 */
	double *z;            /* [cap] */
	double *low, *high;   /* [types] */
	uint32_t *basis; /* [rows] variable in each row: quote k, or cap + w spare, cap + types + w over */
	double *inverse; /* [rows][rows] of the basis */
	double *value;   /* [rows] of the basic variables */
	double *price;   /* [rows]: bound on z, then a price per type */
	double *work;    /* [2 * rows] */
	uint32_t pivots, since_factor;
};

void mix_init(struct mix *mix, uint32_t types, uint32_t cap);
void mix_fini(struct mix *mix);
/* Takes a quote; returns its number.  One that is in no basis goes if there is no room. */
uint32_t mix_add(struct mix *mix, double z, const double *used);
void mix_solve(struct mix *mix);
double mix_share(const struct mix *mix, uint32_t quote); /* a_k */
double mix_level(const struct mix *mix);                 /* sum a_k z_k */
bool mix_overuses(const struct mix *mix, double tolerance);

/* ---- the market: jobs that are alike are one */

enum { NO_TYPE = UINT8_MAX };

/* The two types a job mixes: share `t` of the second, `1 - t` of the first, or of nothing if NO_TYPE. */
struct pair {
	uint8_t slow, fast;
};

/* Needs base + weight * z in all. */
struct market {
	uint32_t n, types;
	double *rate;     /* [n][types]; 0 on types without capacity */
	double *size;     /* [n] devices of all its jobs */
	double *base;     /* [n] */
	double *weight;   /* [n] */
	uint8_t *fastest; /* [n] */
	double *capacity; /* [types]; 1 where there is none, as nothing is used there */
	double most;      /* the largest z at which no job needs more than its fastest type */
	double least;     /* z may not be below this */
	bool impossible;  /* a job needs more than its fastest type even at the least z */
};

struct quote {
	double z;
	double bound; /* no level above this is possible */
	double slope; /* what a little more z costs at the prices */
	double *used; /* [types] part of the capacity, given by the caller */
};

void market_init(struct market *market, uint32_t n, uint32_t types);
void market_fini(struct market *market);

/*
 * Everyone's cheapest mix at `price` (of a whole type, not of a device) and level z.
 * `pairs` are where the search begins and where it ended.
 */
void market_quote(const struct market *market, const double *price, double z, struct pair *pairs,
	struct quote *quote);

double pair_share(const double *rate, double need, struct pair pair); /* `t` */

/* The least cost of a rate at prices per device; `slope`: what a little less would save. */
double least_cost(const double *rate, const double *price, uint32_t types, double need, double *slope);

/* ---- the search */

struct search {
	const struct market *market;
	struct mix mix;
	struct pair *pairs; /* [mix.cap][n], of each quote in the mix */
	struct pair *now;   /* [n], of the last quote */
	double *asked;      /* [types] prices of the last quote */
	double *best;       /* [types] prices of the least bound, at which z costs 1 */
	double *used;       /* [types] */
	double slope;       /* of the last quote */
	double bound;       /* the least so far */
	double tolerance;   /* relative gap to reach */
	uint32_t evaluations;
	uint32_t corners; /* tried at the end */
	bool infeasible;  /* `best` proves that the least z is too much */
};

void search_init(struct search *s, const struct market *market);
void search_fini(struct search *s);
void search_run(struct search *s);
/* The mix of the quotes: x of each kind, [n][types]. */
void search_shares(const struct search *s, double *x);

#endif
