/*
 * Which devices exactly: one table entry per rule.
 */
#ifndef PLACEMENT_PLACER_H
#define PLACEMENT_PLACER_H

#include "base/option.h"
#include "base/rng.h"
#include "model/job.h"
#include "model/profile.h"
#include "model/tenant.h"
#include "placement/space.h"

struct reclaim;

/* What a policy wants for a job. */
struct want {
	uint32_t gpus;  /* 0: as the job asked, on the type it gets */
	int type;       /* TYPE_ANY: the first of its types that has room */
	uint32_t batch; /* 0: the job's own; BATCH_TUNED: what its agent finds best, at any time */
	double share;   /* of each device, 0 means all of it */
	double until_s, steps; /* a turn, as in struct grant; 0: none */
	double cpus;           /* of its hosts, instead of what it asked; 0: as it asked */
	int64_t mem_bytes;     /* likewise */
	bool gentle;  /* stop nobody for it who has devices on loan, though it is entitled */
	bool move;    /* choose devices anew, though those it has would do */
	bool balance; /* a faster device gets more of each batch, as in struct grant */
	bool guest;   /* as in struct grant */
	uint32_t host;
	double link_Bps;
	bool there; /* plan_run_at(): on these very nodes, whatever the rule of placement thinks of them */
};

#define TYPE_ANY (-1)

/* Where a placer writes its answer. */
struct slots {
	struct slot *at;
	uint32_t n, cap;
	uint32_t gpus; /* devices in all */
};

void slots_add(struct slots *slots, uint32_t node, uint64_t devices);

/* What a rule says beside its answer. */
struct placing_note {
	struct reason why; /* why it refuses what there is room for; WHY_NONE: for want of room */
	double wake_s; /* when it may answer otherwise though nothing happens; INFINITY: never */
};

struct placing {
	const struct space *space;
	const struct job *job;
	const struct profile *belief; /* for rules that look at the model; may be NULL */
	uint32_t gpus;
	uint32_t type;
	uint32_t rest; /* devices it has or gets elsewhere; CPUs and memory are spread over all */
	uint32_t nodes; /* so many, as many devices on each; 0: as the rule likes.  Only for rules that count nodes */
	struct rng *rng;
	double now_s;
	bool ever; /* the question is whether it could ever be: the space is empty and whole */
	/* By node: devices that are free only because whoever has them on loan would be stopped; NULL: none are. */
	const uint64_t *lent;
	struct placing_note *note;
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
	/* Looks at more of a job than its shape, at whose it is or how long it waits: every job is asked for itself. */
	bool particular;
	bool by_tenant; /* such a rule answers jobs of one shape, tenant and class alike */
	/* It is asked about jobs that want so many nodes (p->nodes), too; for other rules these are found without it. */
	bool counts_nodes;
	/* Guaranteed jobs may have what opportunistic ones hold; choose() then sees that as free, and in `lent`. */
	bool takes_back;
	/* Who gives way to whom then, with the placer's state as its own; NULL: reclaim_by_class. */
	const struct reclaim *reclaim;
	/* Prepares the state for a cluster and its tenants (bound, or NULL); again: begins anew.  NULL: nothing to do. */
	int (*begin)(void *self, const struct cluster *cluster, const struct tenants *tenants,
		struct err *err);
	/* After begin(): the cells that it keeps for tenants.  NULL: it keeps none. */
	const struct cell_design *(*cells)(const void *self);
	/* Releases what begin() or the others took.  NULL: nothing to do. */
	void (*fini)(void *self);
	/*
	 * For rules that keep books: the plan gave devices to a job, or took them back, perhaps only to
	 * try something; and which devices of a node are down now.  NULL: nothing is kept.
	 */
	void (*took)(void *self, const struct job *job, struct slot slot);
	void (*gave)(void *self, const struct job *job, struct slot slot);
	void (*turned)(void *self, uint32_t node, uint64_t down);
	/*
	 * The job had these devices, p->gpus of p->type, or a policy named them (plan_run_at): whether it may have
	 * them.  If not it gets what choose() says.  NULL: it may.
	 */
	bool (*suits)(void *self, const struct placing *p, const struct slot *slots, uint32_t nslots);
	/* Chooses `p->gpus` free devices of `p->type`; false if the rule finds none, `out` is then ignored. */
	bool (*choose)(void *self, const struct placing *p, struct slots *out);
};

extern const struct placer *const placers[];                         /* NULL-terminated */
const struct placer *placer_find(const char *name, struct err *err); /* NULL with "did you mean" */
/* Whether it keeps what tenants are promised as cells; takes NULL. */
bool placer_keeps_cells(const struct placer *placer);

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
/* The same; where there is no room so, the emptiest nodes, unless it is strict. */
bool place_together(const struct placing *p, bool strict, struct slots *out);

#endif
