/*
 * Elastic policies in three steps: who is served at all (in order of arrival,
 * each its least), how many devices each gets (the policy's own idea), and
 * where.  A ration is what one job shall have; rows are in order of arrival.
 *
 * Whoever is to have as many devices of the same type as it has keeps them.
 * Fractions of devices and fixed gangs are rations that do not grow.
 */
#ifndef POLICY_ELASTIC_RATIONS_H
#define POLICY_ELASTIC_RATIONS_H

#include "policy/policy.h"

struct ration {
	const struct job *job;
	uint32_t type;
	uint32_t gpus;        /* 0: it gets nothing */
	uint32_t least, most; /* on the type */
};

struct rations {
	const struct round *round;
	struct plan *plan;
	struct ration *at;
	uint32_t n;
	uint32_t *lanes; /* by row: the type it is to be on; NULL: the one it is on before others */
	double free[TYPES_MAX]; /* devices that are up and nobody's ration; a fraction counts as such */
};

/* Every active job, with nothing yet; the arena's. */
void rations_init(struct rations *rations, const struct round *round, struct plan *plan);
/*
 * Types by lanes.h, of which `most` says how far a ration may grow on each (NULL: as the job says).
 */
void rations_spread(struct rations *rations,
	uint32_t (*most)(const void *self, const struct round *round, const struct job *job,
		uint32_t type),
	const void *self);
/*
 * In order, each that finds room is given its least, on its lane, the type it has, or else the fastest with
 * room.  `most` says how far the ration may grow (NULL: as the job says).
 */
void rations_admit(struct rations *rations,
	uint32_t (*most)(const void *self, const struct round *round, const struct job *job,
		uint32_t type),
	const void *self);
/* Moves a ration to `gpus` devices; false: there is no room for so many. */
bool ration_set(struct rations *rations, struct ration *ration, uint32_t gpus);
/* Devices that it counts as; a fraction takes but its share of them. */
double ration_weight(const struct ration *ration, uint32_t gpus);
/* Steps that it is believed to have before it; if the belief has proved too short, a twentieth of what it did. */
double ration_steps_left(const struct rations *rations, const struct ration *ration);
/* Most devices of the type that it should get at the batch it asked for; at least its least. */
uint32_t rations_known(const void *self, const struct round *round, const struct job *job,
	uint32_t type);

enum spread {
	SPREAD_EVEN,   /* evenly over as few nodes as can be, those with most free devices */
	SPREAD_PLACER, /* as the placer says */
	SPREAD_MOST,   /* all of the node with most free devices, then of the next */
};

extern const char *const spread_names[]; /* for OPT_CHOICE: even, placer */

/*
 * Where: first everybody who keeps what it has, then the others, smallest first.  What does not fit is cut
 * down, to the least at most; free devices left over start those who were left out, unless `strict`.
 * Those who get nothing are told why.
 */
void rations_settle(struct rations *rations, enum spread spread, bool strict);

#endif
