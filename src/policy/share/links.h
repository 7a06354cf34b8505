/*
 * The network between hosts and remote devices: a link for each node and one
 * up from each rack, and the flows of jobs that use devices of other nodes.
 */
#ifndef POLICY_SHARE_LINKS_H
#define POLICY_SHARE_LINKS_H

#include "policy/policy.h"

struct links {
	const struct round *round;
	double *users; /* by link: remote devices whose flow crosses it */
};

/* Of the plan as it is, in the round's scratch. */
void links_make(struct links *links, const struct round *round, const struct plan *plan);
/* A job came (sign 1) or goes (-1). */
void links_count(struct links *links, const struct grant *grant, int sign);

/*
 * What `gpus` devices of `node` would have each for a process on `host`, beside the flows there are: the least of
 * equal parts of the links between, which on one link is the max-min share.  0: nothing limits them.
 */
double links_offer(const struct links *links, uint32_t host, uint32_t node, uint32_t gpus);

/* Gives every job of the plan with remote devices its max-min fair share of the network, as new terms. */
void links_share(const struct links *links, struct plan *plan);

#endif
