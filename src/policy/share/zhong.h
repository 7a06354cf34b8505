/*
 * What the files of the policy zhong share: its memory, one round in the making, who fits
 * where, and what is rented.
 */
#ifndef POLICY_SHARE_ZHONG_H
#define POLICY_SHARE_ZHONG_H

#include "base/vec.h"
#include "model/renting.h"
#include "policy/kit.h"

enum zhong_packing { PACK_TIGHT, PACK_SPREAD };

struct tenure {
	bool rented, booting;
	double since_s; /* when it was asked for */
};

struct zhong {
	double round_s, wait_s, threshold, cool_down;
	int pack;
	bool reschedule, apart;

	VEC(struct tenure) nodes;
	bool begun;
	double looked_s, scaled_s; /* when it was last looked at, and nodes were last rented */
	uint64_t rented, returned, moved;
};

struct zhong_round {
	struct zhong *z;
	const struct round *round;
	struct plan *plan;
	bool *leaving; /* by node: it goes back in this round */
	bool spots;    /* some nodes may be wanted back */
};

/* ---- zhong_pack.c: which node */

/* What a node has; what is free of it in the plan; what a job asks for on a type. */
struct amount zhong_all_of(const struct cluster *cluster, uint32_t node);
struct amount zhong_free_of(const struct plan *plan, uint32_t node);
struct amount zhong_wanted_by(const struct job *job, uint32_t type);

/* Whether it may go to such a node; one that no node of its kind could ever take goes anywhere. */
bool zhong_suits(const struct zhong_round *d, const struct job *job, uint32_t node);
/* The node that the job leaves least of, or with spreading most; UINT32_MAX: none has room. */
uint32_t zhong_best_node(const struct zhong_round *d, const struct job *job, uint32_t except);
bool zhong_put(struct zhong_round *d, const struct job *job, uint32_t node);

struct waiting {
	double size;
	uint32_t job;
};

/* Those that wait, the largest first. */
uint32_t zhong_line_up(const struct zhong_round *d, struct waiting **out);
/* All that wait, where there is room. */
void zhong_pack(struct zhong_round *d);

/* ---- zhong_rent.c: which nodes more */

/* The cheapest offer for what it takes of those who wait; true: something was rented. */
bool zhong_scale_out(struct zhong_round *d);

#endif
