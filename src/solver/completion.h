/*
 * Matrices of which few entries are known: the rest from rows that are alike.
 *
 * Two ways to a matrix of low rank: alternating least squares (the throughput
 * estimator of Gavel, OSDI 2020), and singular values refined by stochastic
 * gradient (Paragon, ASPLOS 2013; Quasar, ASPLOS 2014).  A completed row can
 * also be matched to the reference row that points the same way.
 *
 * Same input and seed, same bits, wherever it runs.
 */
#ifndef SOLVER_COMPLETION_H
#define SOLVER_COMPLETION_H

#include <stdbool.h>
#include <stdint.h>

/* Row by row; NAN: unknown. */
struct holes {
	const double *at;
	uint32_t rows, cols;
};

/* The matrix is u times v transposed; a factor has `rank` numbers for each row or column. */
struct factors {
	double *u, *v;
	uint32_t rank;
};

/* ---- alternating least squares */

struct als {
	uint32_t rank;
	double ridge; /* weight of the squared factors; above 0 unless every solution is unique */
	uint32_t rounds_max; /* a round is a half-step of the rows and one of the columns */
	double stop;   /* ends when |X - X before|_F / entries is below; 0: after all rounds */
	uint64_t seed; /* of the normal numbers to start from */
};

/* Gavel's: rank 10, ridge 0.01, 100 rounds, stop 1e-3. */
void als_init(struct als *als);

/* Factors for the matrix, as normal numbers of the seed: release with factors_fini(). */
void factors_init(struct factors *f, const struct holes *a, uint32_t rank, uint64_t seed);
void factors_fini(struct factors *f);

/*
 * The best u for this v (or v for this u): does not raise als_loss().  A row without known entries
 * becomes 0.  False when a system has no unique solution, which needs ridge 0; `f` is then half done.
 */
bool als_half(const struct holes *a, double ridge, bool rows, struct factors *f);
/* Squared error of the known entries plus ridge times the squared factors. */
double als_loss(const struct holes *a, double ridge, const struct factors *f);

/* Improves `f` from where it stands.  Returns the rounds made, 0 when a system could not be solved. */
uint32_t als_run(const struct holes *a, const struct als *als, struct factors *f);

/* From start to end.  `out` (rows x cols) keeps known entries; false and untouched as als_run() fails. */
bool complete_als(const struct holes *a, const struct als *als, double *out);

/* ---- singular values and stochastic gradient */

struct sgd {
	double energy;       /* share of the squared singular values that the rank must keep */
	double rate, decay;  /* of one gradient step */
	uint32_t rounds_max; /* a round sees every known entry once */
	double stop;         /* ends when the root mean square error changes by less */
};

/* Energy 0.9, rate 0.01, decay 0.02, stop 1e-4, at most 10000 rounds. */
void sgd_init(struct sgd *sgd);

/* One step of both factors for an entry that is `error` larger than believed; each sees the other's old value. */
void sgd_step(const struct sgd *sgd, double error, double *p, double *q, uint32_t rank);

/*
 * Believed is mean + bias of the row + p . q.  Starts from row means and the singular value
 * decomposition of what they leave, where holes leave nothing.  `out` keeps known entries.  Returns the rounds made.
 */
uint32_t complete_sgd(const struct holes *a, const struct sgd *sgd, double *out);

/*
 * Singular values of `a` (rows x cols, at least as many rows as columns): the columns of `a` become
 * orthogonal, of length sigma, largest first, and `v` (cols x cols) turns them back: before = after times v transposed.
 */
void svd(double *a, uint32_t rows, uint32_t cols, double *v, double *sigma);

/* ---- around what rows and columns have in common */

/* Mean plus an effect of the row plus one of the column; `shrink` entries of effect 0 are added to each.  `out` keeps known entries. */
void complete_two_way(const struct holes *a, double shrink, double *out);

/*
 * For logarithms of speeds: complete_two_way() everywhere, and least squares for what it leaves.  Where
 * least squares know nothing the two-way answer stands, so that few known entries do no harm.
 */
bool complete_around(const struct holes *a, double shrink, const struct als *als, double *out);
/* The same by gradient.  Returns the rounds made. */
uint32_t complete_around_sgd(const struct holes *a, double shrink, const struct sgd *sgd, double *out);

/*
 * Likewise, but what the two-way answer leaves is taken from the row that is nearest by
 * cosine_distance() of the completed rows (as ratios) among those whose entry there is known.
 */
bool complete_match(const struct holes *a, double shrink, const struct als *als, double *out);

/* ---- either */

/* Estimated entries of `x` are brought into lo..hi; known ones stay. */
void completion_clip(const struct holes *a, double lo, double hi, double *x);

/* 1 - a.b / (|a| |b|); NAN when either is 0. */
double cosine_distance(const double *a, const double *b, uint32_t n);

#define MATCH_NONE UINT32_MAX

/* The reference row of least distance, of equals the first; MATCH_NONE when `row` or every reference is 0. */
uint32_t cosine_match(const double *row, const double *references, uint32_t nreferences, uint32_t n);

#endif
