/*
 * Whom one walk over a queue has tried in vain.
 *
 * Where each job has to be asked for (kit_is_particular()) most of those who wait differ in nothing that
 * counts: whose they are, of which class and shape.  If one of them found no room, also by taking the devices
 * of everybody behind it, another further back does not either, as long as nobody got devices in between:
 * it could take over from fewer, in the same order.
 */
#ifndef POLICY_TRIED_H
#define POLICY_TRIED_H

#include "policy/policy.h"

enum { TRIED_PLACES = 256 };

/* One that found no room, and what the rule of placement said. */
struct tried_job {
	const struct job *job; /* NULL: nobody */
	uint32_t types;        /* that it can use, as bits */
	uint64_t as_of;        /* the state of the plan when it was tried */
	bool refused;
	struct placing_note note;
};

struct tried {
	const struct round *round;
	struct plan *plan;
	bool useful;      /* answers do not depend on more than is compared, nor on chance */
	bool books;       /* the placer keeps some, which may be others after an attempt in vain */
	uint64_t changes; /* of the plan */
	uint64_t began;   /* its state when the attempt began that tried_like() did not save */
	struct tried_job at[TRIED_PLACES];
};

void tried_init(struct tried *tried, const struct round *round, struct plan *plan);
/* Whether one like it was tried in vain; the plan then refuses this one for the same reason (plan_refuses()). */
bool tried_like(struct tried *tried, const struct job *job);
/* It was tried, just now, in vain. */
void tried_add(struct tried *tried, const struct job *job);
/* The plan is another. */
void tried_forget(struct tried *tried);

#endif
