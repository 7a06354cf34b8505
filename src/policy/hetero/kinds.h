/*
 * Jobs that are alike: rows of a program that no objective can tell apart, so
 * that one of them with a count stands for all.
 */
#ifndef POLICY_HETERO_KINDS_H
#define POLICY_HETERO_KINDS_H

#include "policy/hetero/program.h"

struct kinds {
	uint32_t n;
	uint32_t *of;     /* by row: its kind */
	uint32_t *number; /* by row: which of its kind it is, from 0 */
	uint32_t *first;  /* by kind: a row of it */
	uint32_t *count;  /* by kind */
	uint32_t *rows;   /* rows by kind, then in order */
	uint32_t *start;  /* by kind: where its rows begin in `rows` */
};

/* Rows with equal speeds, gangs and whatever else counts: `more` holds `width` numbers for each row. */
void kinds_find(struct kinds *kinds, const struct program *program, const double *more, uint32_t width);

/* One row for each kind: speeds, gang and weight of one of its jobs. */
void kinds_merge(const struct kinds *kinds, const struct program *program, struct program *merged);
/* Gives every job the shares of its kind. */
void kinds_spread(const struct kinds *kinds, const struct program *program, const double *x,
	double *out);

#endif
