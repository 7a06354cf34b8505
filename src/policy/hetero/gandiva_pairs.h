/*
 * Gandiva's packing as the simulator of Gavel models it: pairs drawn at random.
 */
#ifndef POLICY_HETERO_GANDIVA_PAIRS_H
#define POLICY_HETERO_GANDIVA_PAIRS_H

#include "policy/hetero/turns.h"

/* Its `turns` are options; turns.pack must be set.  Else a zeroed one is valid. */
struct gandiva_pairs {
	struct share_turns turns;
	struct twister rng;
	bool seeded;
	VEC(uint32_t) partner; /* by job: 1 + the job it is packed with; 0: none */
};

void gandiva_pairs_fini(struct gandiva_pairs *g);
int gandiva_pairs_decide(struct gandiva_pairs *g, const struct round *round, struct plan *plan,
	struct err *err);
/* What policy.shares answers. */
int gandiva_pairs_show(const struct gandiva_pairs *g, const struct round *round,
	const struct plan *plan, struct program *program, struct shares *shares, struct err *err);

#endif
