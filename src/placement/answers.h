/*
 * Answers that placers keep: what is best on a node depends on which of its devices are free, and many nodes
 * are alike.  A newer answer takes the place of an older one with the same hash.
 */
#ifndef PLACEMENT_ANSWERS_H
#define PLACEMENT_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

struct answer {
	uint32_t topology, devices; /* of the node */
	uint32_t n, rule;           /* what was asked */
	uint64_t free;
	uint64_t best; /* the answer: devices, never none, and what they are worth */
	double value;
};

/* A zeroed one is valid and empty. */
struct answers {
	struct answer *at;
};

void answers_fini(struct answers *answers); /* empty again */
/* Fills in best and value of the question. */
bool answers_find(const struct answers *answers, struct answer *question);
void answers_keep(struct answers *answers, const struct answer *answer);

#endif
