/*
 * The Gittins index: how promising more service is for a job of unknown size,
 * given the sizes of jobs that ended.
 */
#ifndef MODEL_GITTINS_H
#define MODEL_GITTINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Sizes of ended jobs, ascending.  A zeroed history is valid and empty. */
struct history {
	VEC(double) sizes;
	VEC(double) sums;  /* of the sizes up to and including each */
	VEC(double) fresh; /* added and not yet sorted in */
};

void history_fini(struct history *history);
void history_add(struct history *history, double size);
/*
 * Sorts in what was added, once that is a hundredth of what is known (`all`: at once), so that learning
 * from n jobs one by one costs O(n log n) in all and not per job.
 */
void history_sort(struct history *history, bool all);

/*
 * The index of a job that had `served` so far: over a further `quantum` of service, the chance to end
 * per service spent, P(S - a <= D | S > a) / E[min(S - a, D) | S > a].  quantum 0: the best of all quanta.
 * 0 if no size is larger than what it had.
 */
double gittins_index(const struct history *history, double served, double quantum);

/*
 * The index as the published Tiresias simulator tabulates it: sizes in the window count as absolute values and
 * those beyond it as the quantum, the largest size is left out of the window, and everything is rounded.
 */
double gittins_index_published(const struct history *history, double served, double quantum);

#endif
