/*
 * What the files of the policy synergy share: what each job of a round should
 * best have of its host, and where it is put.
 */
#ifndef POLICY_SHARE_SYNERGY_H
#define POLICY_SHARE_SYNERGY_H

#include "model/hosting.h"
#include "policy/kit.h"

enum synergy_allocate { ALLOCATE_FAIR, ALLOCATE_GREEDY, ALLOCATE_TUNE, ALLOCATE_OPT };

/* One job that shall run in a round. */
struct need {
	const struct job *job;
	uint32_t type, gpus;
	uint32_t rank;                  /* in the order of the policy */
	const struct host_table *table; /* NULL: nothing is known of its model */
	/* What each of its devices should best have; a part that is 0 is as the job asked. */
	struct host_share best;
	struct host_share most; /* what each could have at most with a server to itself; INFINITY: no limit */
	bool at_best;           /* it has that; else its fallback, or nothing */
	bool rigid;             /* it has what it asked for, or nothing */
	uint32_t placed; /* when it was put where it is: ties are broken by it */
};

/* One round: the needs, and the plan they are put into. */
struct sharing {
	const struct round *round;
	struct plan *plan;
	enum synergy_allocate allocate;
	bool code_split; /* device by device in order of nodes, as the published code does */
	bool turns;      /* each grant is a turn of round_s, in whole steps */
	double round_s;
	struct need *needs;
	uint32_t n;
	struct need **of_job;              /* by job: its need, or NULL */
	struct host_share fair[TYPES_MAX]; /* by type: what a job has on all its nodes at least */
	struct host_share (*largest)[NODE_DEVICES_MAX + 1]; /* by type: all of the largest server for a gang */
	uint32_t placings;                                  /* so far */
	struct node_share *where;                           /* scratch: a place, a node each */
	uint32_t nwhere;
};

/* A device's proportional part of a node; a part that the node does not model is 0. */
struct host_share node_fair(const struct node *node);
/* Before anything else: what servers have. */
void sharing_measure(struct sharing *s);

/* What it should best have on its type: of the table within one server, or as it asked. */
void need_demand(struct need *need, const struct sharing *s);
/*
 * The proportional part if its best exceeds that anywhere, else its best: these fit for all devices of a
 * node at once.
 */
struct host_share need_fallback(const struct need *need, struct host_share fair);

/* Relative speed with so much for each device; 1 where nothing is known. */
double need_speed(const struct need *need, struct host_share share);

/*
 * Puts it somewhere: with its best; else with its fallback (not if greedy); else after others who have
 * more than their proportional part were cut down to it.  False: there is no room.
 */
bool sharing_place(struct sharing *s, struct need *need);
/* Leaves it on the nodes where it runs now, with its fallback (with its best if greedy).  False: it cannot have that. */
bool sharing_keep(struct sharing *s, struct need *need);
/* All of it on that node with its best, if there is room. */
void sharing_put_on(struct sharing *s, struct need *need, uint32_t node);
/* Gives a job that was kept its best, if that is free. */
void sharing_raise(struct sharing *s, struct need *need);

/*
 * Sets the best of all needs so that the sum of their speeds is greatest, as if each type were one large
 * server, and none has less than its proportional part would give it.  Exact for few jobs, else within
 * two jobs of the best.  False: there are too many jobs or the solver gave up, and all is as it was, so that
 * the round is tuned instead.
 */
bool sharing_optimise(struct sharing *s);
/*
 * Spreads the needs over the nodes by a linear program and runs those that it puts on one node alone
 * with their best; the others are left to sharing_place().  Nothing happens where there are too many.
 */
void sharing_spread(struct sharing *s);

#endif
