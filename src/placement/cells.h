/*
 * Cells at work: buddy lists over the trees of a design, the cells promised to virtual
 * clusters, and who holds which device (after HiveD, OSDI 2020).
 *
 * A claim is one promised cell.  It is bound to a cell of the trees while its virtual cluster
 * uses a device in it, and to none while it is idle: so an idle virtual cluster owns no machine
 * in particular, and broken ones stay hidden as long as there are others.  Cells that nobody
 * has bound are in lists, one per chain and level; binding takes a cell of the claim's level
 * out of the lists, splitting a larger one where none is listed.
 *
 * Safety: at every level, what is listed there and above can be carved into all claims of that level
 * and above that are not bound.  `slack` counts what would be left over.  It is kept with
 * every step and never falls below 0, which is why a claim always finds its cell, whatever
 * others do.
 *
 * Devices may also be held on loan, by jobs without a claim: lists do not know of them, and whoever
 * binds the cell may have them back.
 */
#ifndef PLACEMENT_CELLS_H
#define PLACEMENT_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rank.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/cell_design.h"

enum cell_state {
	CELL_INSIDE, /* of one that is listed or bound */
	CELL_LISTED, /* free as a whole: it is in the list of its level */
	CELL_SPLIT,  /* some of it is bound */
	CELL_BOUND,  /* it is a claim's */
};

struct cell {
	uint32_t parent, child; /* the first of its children, which follow each other; or CELL_NONE */
	uint32_t claim;         /* that it is bound to */
	uint8_t state, chain, level;
	int8_t sound; /* the highest level of a cell in it that has nothing bad; -1: all is bad */
	uint32_t listed; /* children that are */
	/* Devices in it: in hands of virtual clusters; these and bad ones; these and those on loan; bad; on loan. */
	uint32_t used, shut, taken, bad, lent;
};

/* A device: the cell of the same number. */
struct cell_leaf {
	uint32_t job;     /* who has it, the first if there are several; CELL_NONE */
	int32_t priority; /* of the job */
	uint32_t claim;   /* through which; CELL_NONE: on loan, if anybody has it */
	uint32_t users;
	bool bad, marked; /* marked: of a choice that is being made */
};

struct cell_claim {
	uint32_t vc, chain, level;
	uint32_t pin;  /* of the design, or CELL_NONE; pinned claims stay bound */
	uint32_t cell; /* that it is bound to, or CELL_NONE */
	uint32_t used; /* devices of it in hands */
};

/* Claims of a virtual cluster in a chain, lowest level first. */
struct cell_range {
	uint32_t from, n;
};

struct cells_chain {
	const struct cell_chain *kind;
	uint32_t base[CELL_LEVELS_MAX]; /* the first cell of each level */
	uint32_t n[CELL_LEVELS_MAX];
	/* Listed cells by level and 1 + sound: those with fewest devices on loan first, then by number. */
	struct rank lists[CELL_LEVELS_MAX][CELL_LEVELS_MAX + 1];
	uint32_t listed[CELL_LEVELS_MAX];
	int32_t slack[CELL_LEVELS_MAX];
};

struct cells {
	const struct cell_design *design;
	struct cells_chain *chains;
	struct cell *at; /* devices first: those of a chain follow each other */
	struct cell_leaf *leaves;
	uint32_t n, nleaves;
	struct rank_pool pool;
	struct cell_claim *claims;
	uint32_t nclaims;
	struct cell_range *ranges; /* by virtual cluster and chain */
	VEC(uint32_t) tried;       /* scratch: claims that are bound for trial */
};

/* Keeps `design`, whose promises can be kept (placement/cell_check.h).  Everything is free and sound. */
struct cells *cells_create(const struct cell_design *design);
void cells_destroy(struct cells *cells);

/* The device of a node: see cell_host.  CELL_NONE: it is in no cell. */
uint32_t cells_index(const struct cells *cells, uint32_t cell); /* in its level */
/* The cell of a level that holds this one. */
uint32_t cells_above(const struct cells *cells, uint32_t cell, uint32_t level);
/* The first device in a cell; the others follow. */
uint32_t cells_first_leaf(const struct cells *cells, uint32_t cell);
/* The listed or bound cell that holds this one, itself perhaps. */
uint32_t cells_root(const struct cells *cells, uint32_t cell);

static inline const struct cell_level *cells_level(const struct cells *cells, uint32_t cell)
{
	return &cells->chains[cells->at[cell].chain].kind->levels[cells->at[cell].level];
}

/* ---- lists (placement/cell_lists.c) */

/*
 * Takes a cell of the level out of the lists: one that is listed, else part of the lowest that is larger.
 * Sound ones first: for their sake it goes up to lists of level `up_to`, where `up_to` is higher.
 * Of equals the one with the fewest devices on loan, then the lowest number.  *from: the level of the
 * list it was taken from.  CELL_NONE: no list has one.
 */
uint32_t cells_alloc(struct cells *cells, uint32_t chain, uint32_t level, uint32_t up_to,
	uint32_t *from);
/* Takes this very cell, which lies in a listed one.  Returns the level of that. */
uint32_t cells_carve(struct cells *cells, uint32_t cell);
/* Puts a cell back; buddies that are all there become what they were split from.  Returns that level. */
uint32_t cells_free(struct cells *cells, uint32_t cell);

/* ---- claims (placement/cell_claims.c) */

/* Who takes devices: a virtual cluster, or CELL_NONE: nobody, on loan. */
struct cell_user {
	uint32_t vc, job;
	int32_t priority;
};

struct cell_bond {
	uint32_t claim, cell;
};

/* Binds an idle claim to a cell of the lists: always possible. */
uint32_t cells_bind(struct cells *cells, uint32_t claim);
/* To this very one, if it is in the lists and nobody's promise suffers. */
bool cells_bind_to(struct cells *cells, uint32_t claim, uint32_t cell);
void cells_unbind(struct cells *cells, uint32_t claim);

/*
 * The user has these devices of one node from now on, through claims as far as it has any for them: those of
 * `bonds` first.  The others it has on loan.
 */
void cells_take(struct cells *cells, struct cell_user user, const uint32_t *leaves, uint32_t n,
	const struct cell_bond *bonds, uint32_t nbonds);
void cells_give(struct cells *cells, uint32_t job, const uint32_t *leaves, uint32_t n);
/*
 * Whether the virtual cluster could have these devices through its claims, whoever has them on loan now: pod after
 * pod, each on one node.  *fresh: devices of the idle claims that would be bound for it.  Nothing has changed afterwards.
 */
bool cells_cover(struct cells *cells, uint32_t vc, const uint32_t *leaves, const uint32_t *pods,
	uint32_t npods, uint32_t *fresh);
/* What the user has of these on loan it has through claims from now on, as far as there are any idle. */
void cells_raise(struct cells *cells, struct cell_user user, const uint32_t *leaves, uint32_t n);
/* All that the job has through claims in the chain it has on loan from now on. */
void cells_lower(struct cells *cells, uint32_t job, uint32_t chain);
/* A device breaks, or works again. */
void cells_set_bad(struct cells *cells, uint32_t leaf, bool bad);

/* For choices: counts a device as used, and no more. */
void cells_mark(struct cells *cells, uint32_t leaf, bool marked);

/* Devices that a virtual cluster has claims for in a chain and does not use. */
uint32_t cells_left(const struct cells *cells, uint32_t vc, uint32_t chain);
/* Idle claims of a virtual cluster at a level for which no sound cell is left. */
uint32_t cells_doomed(const struct cells *cells, uint32_t vc, uint32_t chain, uint32_t level);

/* ---- choices (placement/cell_choose.c) */

enum cell_pins {
	PINS_ALSO, /* through any claim, pinned or not */
	PINS_NONE, /* not through pinned ones */
	PINS_ONE,  /* only through that of `pin` */
};

struct cell_ask {
	struct cell_user user;
	uint32_t chain;
	const uint32_t *pods; /* devices each on one node, fewest first */
	uint32_t npods;
	bool apart; /* each on a node of its own */
	enum cell_pins pins;
	uint32_t pin;
	bool preempts; /* what lower priorities of its virtual cluster hold may be had */
	/* Whether a node can feed so many devices; NULL: it can. */
	bool (*feeds)(const void *ctx, uint32_t chain, uint32_t host, uint32_t n);
	const void *ctx;
};

struct cell_answer {
	VEC(uint32_t) leaves;        /* pod after pod */
	VEC(uint32_t) pods;          /* devices of each, in their order */
	VEC(struct cell_bond) bonds; /* claims that will be bound */
	VEC(uint32_t) victims;       /* jobs that hold some of them */
};

void cell_answer_fini(struct cell_answer *answer);
/* Chooses devices for all pods, or says false; nothing has changed afterwards. */
bool cells_choose(struct cells *cells, const struct cell_ask *ask, struct cell_answer *out);

/* ---- the proof (placement/cell_audit.c) */

/* Counts everything anew; false, with the first contradiction in `out` (may be NULL), if something is not as it shall be. */
bool cells_audit(const struct cells *cells, struct buf *out);

#endif
