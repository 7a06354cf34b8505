/*
 * The least of something that is enough, where more of it is nearly always
 * better: doubling and bisection, then a look at the neighbours, because
 * scheduling is not quite monotone.
 */
#ifndef SOLVER_LEAST_H
#define SOLVER_LEAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct least_question {
	uint32_t low, most; /* the answer lies between, both included */
	uint32_t start;     /* a guess */
	uint32_t around;    /* neighbours to look at on either side of the answer */
	/* 1: so many are enough, 0: they are not; below 0 ends the search.  Asked at most once for each number. */
	int (*enough)(void *ctx, uint32_t n, struct err *err);
	/* Whether more than `n`, which are not enough, would not help either.  NULL: one cannot know. */
	bool (*hopeless)(void *ctx, uint32_t n);
	void *ctx;
};

struct least_answer {
	bool found;
	uint32_t n; /* with its neighbours above, enough; not found: the largest that was tried */
	bool monotone; /* no neighbour contradicts the others */
	uint32_t by_luck; /* a smaller number was enough though some above it were not; 0: none was seen */
};

int least_find(const struct least_question *question, struct least_answer *out, struct err *err);

#endif
