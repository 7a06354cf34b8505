/*
 * An observer that writes down who held devices when, and why others waited.
 */
#ifndef TESTS_SUPPORT_DIARY_H
#define TESTS_SUPPORT_DIARY_H

#include "base/vec.h"
#include "engine/observer.h"

/* A job on devices without a break; a migration or a resize does not end it. */
struct stay {
	uint32_t job;
	double from_s, to_s; /* to_s is NAN while it lasts */
};

/* A reason that was given to a job. */
struct excuse {
	uint32_t job;
	double at_s;
	struct reason reason;
};

/* A node that a job had devices of. */
struct visit {
	uint32_t job, node;
};

/* A zeroed diary is valid and empty. */
struct diary {
	VEC(struct stay) stays;
	VEC(struct excuse) excuses;
	VEC(struct visit) visits; /* each once */
	VEC(uint32_t) current;    /* by job: 1 + its present stay, 0 none */
	uint32_t count[EV_KINDS];
};

void diary_fini(struct diary *diary);
struct observer diary_observer(struct diary *diary);

/* The next stay of the job from position *at on, or NULL. */
const struct stay *diary_next(const struct diary *diary, uint32_t job, size_t *at);
bool diary_excused(const struct diary *diary, uint32_t job, enum why why);
bool diary_visited(const struct diary *diary, uint32_t job, uint32_t node);

/* Whether every job of both had the same stays. */
bool diary_equal(const struct diary *a, const struct diary *b, uint32_t njobs);
/* "a 0-10 15-105" for each job, for messages. */
void diary_print(const struct diary *diary, uint32_t njobs);

#endif
