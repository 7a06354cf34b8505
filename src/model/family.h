/*
 * The jobs of a round that have not ended and who of them waits for whom:
 * those that may run, those that are held, and those that will come later.
 */
#ifndef MODEL_FAMILY_H
#define MODEL_FAMILY_H

#include "model/dag.h"
#include "model/round.h"

#define FAMILY_NONE UINT32_MAX

struct family {
	uint32_t n, nknown; /* the first nknown are in the engine, by id; then those of round.later */
	const struct job **jobs; /* by place */
	struct dag dag;          /* between places; what has ended is in nobody's way */
};

/* Everything in the round's scratch. */
void family_of(struct family *family, const struct round *round);
/* The place of a job of the engine, or FAMILY_NONE. */
uint32_t family_find(const struct family *family, uint32_t job);
/* By place: believed seconds from its start to the end of all that follows it, each as asked. */
double *family_tails(const struct family *family, const struct round *round);

#endif
