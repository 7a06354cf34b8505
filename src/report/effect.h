/*
 * What a change does to a figure, seed by seed: how much, how sure, and in
 * words.
 */
#ifndef REPORT_EFFECT_H
#define REPORT_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "report/compare.h"

struct effect {
	double before, after; /* means over the seeds that both have */
	/*
	 * The part by which a typical seed changes: of after / before, the geometric mean, less 1 (where some
	 * seed has 0, the mean difference over the mean before); NAN where that says nothing.
	 */
	double change;
	double low, high; /* 95 % interval of it; NAN below two seeds */
	double p;   /* Wilcoxon signed rank over the seeds; NAN where they do not tell them apart */
	uint32_t n; /* seeds that both have */
	uint32_t better; /* seeds in which it is better */
	int sign;        /* 1: better, -1: worse, 0: the same, or neither is better */
};

/* Of arm `arm` against arm `base`, in the metric of that index. */
struct effect effect_of(const struct comparison *c, size_t metric, uint32_t base, uint32_t arm);

/* "-12.3 % (-15.0 to -9.6)"; from nothing to something, the difference itself. */
void effect_text(const struct effect *effect, size_t metric, struct buf *out);

/*
 * Holm's correction: p-values that stay true though several were looked at.  NAN does not
 * count and stays.  In place.
 */
void effect_holm(double *p, size_t n);

#endif
