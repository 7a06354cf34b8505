/*
 * Several schedulers over one cluster: how long tasks wait for a machine, how
 * often two schedulers want the same one, and how good the machines are.
 *
 * A master has the truth.  Each scheduler has a queue and a view: it thinks
 * about one task at a time, asks the master for a machine that seems to have a
 * free slot, and goes on with the next.  The master grants requests in the order in
 * which they come; who comes too late learns that this machine is full, and
 * tries again before its other tasks.  Slots that become free are seen at the
 * next refresh only.
 *
 *	arrival -> queue -> decision_s -> rtt_s / 2 -> master -> rtt_s / 2 -> granted, or again
 *
 * The same configuration gives the same result; with the same seed, the same
 * machines and tasks come in every mode.
 */
#ifndef SIM_SCHEDULERS_H
#define SIM_SCHEDULERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "model/parsync.h"

enum schedulers_mode {
	SCHEDULERS_STATIC, /* each has machines of its own and refreshes one part of them in a step */
	SCHEDULERS_STATESYNC, /* all refresh everything at the same time, once in a period */
	SCHEDULERS_QUALITY,   /* ParSync, by the rules of model/parsync.h */
	SCHEDULERS_LATENCY,
	SCHEDULERS_ADAPTIVE,
	SCHEDULERS_MODES,
};

extern const char *const schedulers_mode_names[SCHEDULERS_MODES];

/* A task that is not drawn. */
struct schedulers_task {
	double arrival_s, run_s;
	uint32_t scheduler, class;
};

enum schedulers_event_kind {
	SCHEDULERS_GRANTED, /* by the master */
	SCHEDULERS_REFUSED,
	SCHEDULERS_ENDED,
	SCHEDULERS_REFRESHED,
};

struct schedulers_event {
	enum schedulers_event_kind kind;
	double at_s;
	uint32_t scheduler;
	uint32_t machine;   /* not of refreshes */
	uint32_t partition; /* of refreshes */
	double arrival_s;   /* of the task; not of refreshes */
};

struct schedulers_config {
	enum schedulers_mode mode;
	struct parsync_plan plan;
	struct parsync_limits limits; /* of SCHEDULERS_ADAPTIVE */
	uint32_t machines, slots;     /* slots of each machine */
	/*
	 * A machine is of one of `levels` kinds.  To a task of class 0 the kinds are worth 1, 2, … levels
	 * (divided by levels); the other classes, `classes` in all, have the same turned around in equal steps.
	 */
	uint32_t levels, classes;
	double rate; /* tasks in a second */
	double hot; /* times as many tasks come to the first scheduler as to each other one; 0: as many */
	double task_s; /* a task's mean run time; exponential */
	double decision_s, rtt_s;
	/* Runs at the beginning on the best machines, so that the cluster is not empty. */
	uint32_t running;
	double warm_up_s, duration_s; /* counted is what happens after the first, for the second */
	uint64_t seed;

	/* May be NULL: drawn. */
	const uint8_t *kinds;                /* by machine, below `levels` */
	const struct schedulers_task *tasks; /* by arrival; instead of `rate` */
	size_t ntasks;

	void (*tell)(void *ctx, const struct schedulers_event *ev); /* NULL: nobody listens */
	bool (*progress)(void *ctx, double part); /* false: stop.  NULL: nobody asks */
	void *ctx;
};

struct schedulers_result {
	uint64_t arrived, granted, refused; /* tasks; requests */
	uint64_t refreshes, rows; /* partitions and machines that were sent to schedulers */
	uint64_t stuck;           /* decisions that found no free slot in the view */
	uint64_t waiting;         /* tasks in queues at the end */
	uint32_t most_tries;      /* of a task */
	double score;             /* mean of the machines granted; NAN without any */
	double utilisation;       /* of the slots */
	double latency_first;     /* share of decisions made so */
	double fleet_score;       /* mean over machines and classes: what chance would give */
	VEC(double) latency_s; /* from arrival to the answer that grants it, in order of answers */
};

/* The delay of a task that meets no queue and no conflict. */
double schedulers_usual_s(const struct schedulers_config *config);
/* What a machine of the kind is worth to a class of tasks, above 0 up to 1. */
double schedulers_score(const struct schedulers_config *config, uint32_t class, uint32_t kind);

int schedulers_check(const struct schedulers_config *config, struct err *err);
/* On success `out` owns memory: release it with schedulers_result_fini().  ERR_REFUSED when told to stop. */
int schedulers_run(const struct schedulers_config *config, struct schedulers_result *out,
	struct err *err);
void schedulers_result_fini(struct schedulers_result *result);

#endif
