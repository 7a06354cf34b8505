/*
 * What one of several schedulers believes of the machines.
 *
 * Machines that seem to have a free slot are kept in a bucket for each group
 * (what is refreshed together) and kind (what is equally good), so that a
 * machine is found without looking at others.
 */
#ifndef SIM_SCHEDULER_VIEW_H
#define SIM_SCHEDULER_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/parsync.h"

/* What all views have in common. */
struct scheduler_shape {
	uint32_t machines, groups, kinds;
	const uint8_t *kind; /* by machine; borrowed */
	uint32_t *group;     /* by machine */
	uint32_t *bucket;    /* [groups][kinds] where in a view's items it begins */
};

/* Keeps `kind`.  Release it with scheduler_shape_fini(). */
void scheduler_shape_init(struct scheduler_shape *shape, uint32_t machines, uint32_t groups,
	uint32_t kinds, const uint8_t *kind);
void scheduler_shape_fini(struct scheduler_shape *shape);

struct scheduler_view {
	const struct scheduler_shape *shape;
	uint16_t *free;    /* by machine: slots, as far as is known */
	uint16_t *pending; /* by machine: own requests that the master has not decided on */
	uint32_t *place;   /* by machine with free slots: where in `items` */
	uint32_t *items;   /* machines with free slots, bucket by bucket */
	uint32_t *filled;  /* [groups][kinds] how many of a bucket's items there are */
	uint64_t *seen;    /* by group: the turn in which it was refreshed */
	uint32_t freshest; /* the group refreshed last */
	struct parsync_sight sight;
};

/* Nothing is free.  Keeps `shape`.  Release it with scheduler_view_fini(). */
void scheduler_view_init(struct scheduler_view *view, const struct scheduler_shape *shape);
void scheduler_view_fini(struct scheduler_view *view);

/*
 * The state of a group as the master has it, less what is on its way there.  Turns only grow: they tell
 * before from after where the clock does not.
 */
void scheduler_view_refresh(struct scheduler_view *view, uint32_t group,
	const uint16_t *master_free, uint64_t turn);

/* The machine to ask for, any of those that are as good; false: nothing seems free. */
bool scheduler_view_choose(const struct scheduler_view *view, enum parsync_rule rule,
	const uint8_t *order, struct rng *rng, uint32_t *machine);
/* A request goes out, and the master has decided on it. */
void scheduler_view_ask(struct scheduler_view *view, uint32_t machine);
void scheduler_view_decided(struct scheduler_view *view, uint32_t machine);
/* The machine was full in that turn; what was seen later counts more. */
void scheduler_view_full(struct scheduler_view *view, uint32_t machine, uint64_t turn);

#endif
