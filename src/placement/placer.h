/*
 * Which devices exactly: one table entry per rule.
 */
#ifndef PLACEMENT_PLACER_H
#define PLACEMENT_PLACER_H

#include "base/option.h"
#include "base/rng.h"
#include "model/job.h"
#include "model/profile.h"
#include "placement/space.h"

/* What a policy wants for a job. */
struct want {
	uint32_t gpus;  /* 0: as the job asked, on the type it gets */
	int type;       /* TYPE_ANY: the first of its types that has room */
	uint32_t batch; /* 0: the job's own; BATCH_TUNED: what its agent finds best, at any time */
	double share;   /* of each device, 0 means all of it */
	double until_s, steps; /* a turn, as in struct grant; 0: none */
	bool move;             /* choose devices anew, though those it has would do */
	bool balance;          /* a faster device gets more of each batch, as in struct grant */
};

#define TYPE_ANY (-1)

/* Where a placer writes its answer. */
struct slots {
	struct slot *at;
	uint32_t n, cap;
	uint32_t gpus; /* devices in all */
};

void slots_add(struct slots *slots, uint32_t node, uint64_t devices);

struct placing {
	const struct space *space;
	const struct job *job;
	const struct profile *belief; /* for rules that look at the model; may be NULL */
	uint32_t gpus;
	uint32_t type;
	uint32_t rest; /* devices it has or gets elsewhere; CPUs and memory are spread over all */
	struct rng *rng;
};

/* Whether the node has CPUs and memory for `n` of the devices. */
bool placing_feeds(const struct placing *p, uint32_t node, uint32_t n);

struct placer {
	const char *name;
	const char *summary;
	const char *origin;           /* NULL: folklore */
	const struct option *options; /* NULL: none */
	size_t state_size;
	bool random;   /* draws from the generator */
	bool by_model; /* looks at what is believed of the model */
	/* Chooses `p->gpus` free devices of `p->type`; false if the rule finds none, `out` is then ignored. */
	bool (*choose)(void *self, const struct placing *p, struct slots *out);
};

extern const struct placer *const placers[];                         /* NULL-terminated */
const struct placer *placer_find(const char *name, struct err *err); /* NULL with "did you mean" */

/*
 * Parts to build rules from.  Each takes devices until `want` are found or nodes are used up, skipping
 * nodes that cannot feed the job; returns how many it found.
 */
uint32_t place_on_node(const struct placing *p, uint32_t node, uint32_t want, struct slots *out);
/* All of `want` on the first single node that takes it. */
bool place_first_whole(const struct placing *p, uint32_t want, struct slots *out);
/* Nodes in order of number. */
uint32_t place_first_fit(const struct placing *p, uint32_t want, struct slots *out);
/* Nodes with the fewest free devices first. */
uint32_t place_fullest(const struct placing *p, uint32_t want, struct slots *out);
/* Nodes with the most free devices first. */
uint32_t place_emptiest(const struct placing *p, uint32_t want, struct slots *out);
/* All of `want` on the fullest single node that takes it. */
bool place_single(const struct placing *p, uint32_t want, struct slots *out);
/* As few nodes as can be: the fullest node that takes all that is left, else the largest empty one first. */
bool place_compact(const struct placing *p, struct slots *out);

#endif
