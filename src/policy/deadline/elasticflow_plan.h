/*
 * The table of future slots: how many devices are promised when, and the
 * smallest course of devices with which one more job keeps its deadline.
 *
 * Time is cut into slots of equal length.  Devices are kept as stretches of
 * slots in which nothing changes, so that a deadline in a year costs no more
 * than one in an hour.
 */
#ifndef POLICY_DEADLINE_ELASTICFLOW_PLAN_H
#define POLICY_DEADLINE_ELASTICFLOW_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOW_LEVELS_MAX = 40 };

/* So many devices from then to then. */
struct flow_part {
	double from_s, to_s;
	uint32_t gpus;
};

/* By time, without gaps; a zeroed one is empty.  Release with flow_course_fini(). */
struct flow_course {
	struct flow_part *at;
	size_t n, cap;
};

struct flow_table {
	double now_s, slot_s;
	uint32_t capacity;
	struct flow_course used; /* from now_s on; after it nothing is */
};

/* A job as the table sees it. */
struct flow_ask {
	double work;     /* left, in its steps */
	double rounding; /* of the work, that may be missing */
	double deadline_s;
	uint32_t nlevels;                /* ways to run, fewest devices first */
	uint32_t level[FLOW_LEVELS_MAX]; /* devices */
	double speed[FLOW_LEVELS_MAX];   /* steps per second */
	uint32_t holds;                  /* devices now */
	double ready_s;                  /* when it makes steps on them */
	/* Seconds without steps after its next start, after one that follows a pause, after a change of devices. */
	double start_s, resume_s, change_s;
	bool backward; /* the last level as late as can be, else as early */
};

void flow_table_init(struct flow_table *table, double now_s, double slot_s, uint32_t capacity);
void flow_table_fini(struct flow_table *table);
/* The devices of a course are promised. */
void flow_take(struct flow_table *table, const struct flow_course *course);
/* Whether all of a course is left from now on. */
bool flow_fits(const struct flow_table *table, const struct flow_course *course);
/* Fewest devices left between now and `until_s`. */
uint32_t flow_left(const struct flow_table *table, double until_s);

/*
 * Minimum satisfactory share: the course of the lowest level with which the work is done by the deadline, at
 * each time as much of the level as is left.  False: none does; `out` is then as it was.
 */
bool flow_fill(const struct flow_table *table, const struct flow_ask *ask, struct flow_course *out);

/* When the work would be done on the course, INFINITY never; `gpu_s` receives the device-seconds until then. */
double flow_finish_s(const struct flow_ask *ask, const struct flow_course *course, double now_s,
	double *gpu_s);

/* Devices at a time. */
uint32_t flow_at(const struct flow_course *course, double at_s);
/* The first time after at_s at which the number changes; INFINITY: never. */
double flow_next_change_s(const struct flow_course *course, double at_s);
/* `course` with so many devices from now to `until_s`, an end of a slot. */
void flow_raise(const struct flow_table *table, const struct flow_course *course, uint32_t gpus,
	double until_s, struct flow_course *out);
/* The first end of a slot after at_s. */
double flow_slot_end_s(const struct flow_table *table, double at_s);

/* The level of so many devices; nlevels: none. */
uint32_t flow_level_of(const struct flow_ask *ask, uint32_t gpus);

void flow_course_copy(struct flow_course *to, const struct flow_course *from);
void flow_course_fini(struct flow_course *course);

#endif
