/*
 * What the files of the placer `hived` share: for nobody else.
 *
 * hived.c keeps the books, hived_choose.c finds devices, hived_back.c says who gives way for them.
 */
#ifndef PLACEMENT_HIVED_PARTS_H
#define PLACEMENT_HIVED_PARTS_H

#include "placement/cells.h"
#include "placement/plan.h"

/* The last answer for devices of one type. */
struct promise {
	uint32_t job;
	uint32_t gpus, nodes;
	bool back; /* somebody has to give way for it */
	struct slots slots;
	VEC(struct cell_bond) bonds;
};

/* There is no place for so many devices, CPUs and memory aside, until the books change. */
struct no_place {
	uint64_t changes; /* as they were; 0: nothing is known */
	uint32_t vc, type, gpus, nodes;
};

enum { NO_PLACES = 64 };

struct hived {
	bool spill;
	/* Beyond options: all of it made by begin(). */
	const struct cluster *cluster;
	struct cell_design design;
	struct cells *books;   /* as the plan is */
	struct cells *empty;   /* for what could ever be */
	VEC(uint32_t) vc;      /* by tenant of the trace: whose cells it uses */
	uint32_t *first;       /* by node: its first device in the books */
	const uint8_t **place; /* by node: device to its place among them; NULL: in order */
	struct arena memory;
	struct promise promises[TYPES_MAX];
	uint64_t changes; /* of the books */
	struct no_place none[NO_PLACES];
	struct slots trial; /* scratch of due() */
	struct cell_answer answer;
	VEC(uint32_t) hidden; /* devices that are taken for bad while choosing */
};

/* hived.c */

/* Whose cells the job may use. */
struct cell_user hived_user(const struct hived *h, const struct job *job);
/* A device of a node in the books. */
uint32_t hived_leaf(const struct hived *h, uint32_t node, uint32_t device);
uint32_t hived_leaves(const struct hived *h, struct slot slot, uint32_t leaves[NODE_DEVICES_MAX]);

/* hived_choose.c */

bool hived_choose(void *self, const struct placing *p, struct slots *out);
bool hived_suits(void *self, const struct placing *p, const struct slot *slots, uint32_t nslots);
/* Within the cells of the job's tenant only, for now or once others have given way: whether there is a place. */
bool hived_has_place(struct hived *h, const struct placing *p);

/* hived_back.c */

extern const struct reclaim hived_reclaim;

#endif
