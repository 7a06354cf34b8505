/*
 * Parts that policies share.
 *
 * kit_in_order() serves every policy that is "the job with the smallest key
 * first".  It keeps the jobs ranked between rounds, so that an event costs
 * O(log n) and not a sort; keys that move while a job runs are given by their
 * slope.  kit_anew() sorts each time, for keys that move in their own way.
 * Both give the same plan where both apply: greedy in (key, tie, id).
 */
#ifndef POLICY_KIT_H
#define POLICY_KIT_H

#include "base/heap.h"
#include "base/names.h"
#include "base/rank.h"
#include "policy/policy.h"

enum misfit {
	MISFIT_BLOCK, /* nobody behind the first job that does not fit starts */
	MISFIT_SKIP,  /* later jobs may pass it */
};

extern const char *const misfit_names[]; /* for OPT_CHOICE */

typedef double key_fn(const void *self, const struct round *round, const struct job *job);

struct ordering {
	key_fn *key; /* smaller runs first; must be finite */
	key_fn *tie; /* between equal keys; NULL: arrival.  Then the id, which follows submission */
	key_fn *slope; /* change of the key per second while the job runs; NULL: none */
	/* When the key will change by a jump if the job runs (or waits) from now on, INFINITY never; NULL: never. */
	double (*jump_s)(const void *self, const struct round *round, const struct job *job, bool runs);
	enum misfit misfit;
	bool preempt; /* a job may take the devices of one with a larger key */
	bool hold;    /* but not in this decision */
};

/* Waiting jobs of one shape (gang or gangs, types, CPUs, memory, model, what it avoids): if the first does not fit, none does. */
struct rank_class {
	struct rank waiting;
	uint32_t first;   /* of waiting */
	uint32_t shut_at; /* when it did not fit: the value of ranking.openings, 0 never */
	int32_t gpus;
	uint32_t types;
	uint32_t model; /* NAME_NONE where it does not matter */
	double cpus;
	int64_t mem_bytes;
	double share; /* 0 unless a fraction */
	int64_t gpu_mem_bytes;
	bool uneven; /* its devices depend on the type, or it avoids some: its description is longer */
};

/* Running jobs of one type whose keys move alike, so that their order stays. */
struct rank_lane {
	struct rank running; /* by the key's value at time 0 */
	uint32_t type;
	double slope;
};

/* A zeroed ranking is valid and empty. */
struct ranking {
	struct rank_pool pool;
	struct names shapes;            /* what tells classes apart, as text */
	VEC(struct rank_class) classes; /* by number of the shape */
	struct rank_pool head_pool;
	struct rank heads; /* the first job of every class that has one */
	uint32_t openings; /* counts the times when something was freed */
	VEC(struct rank_lane) lanes;
	VEC(uint32_t) class_of; /* by job: 1 + its class, 0 unknown */
	VEC(uint32_t) placed;   /* by job: the walk that last put it to run */
	uint32_t walks;         /* decisions so far */
	bool held;              /* the last one could stop nobody */
	bool asked_each; /* the last one asked for each job (kit_is_particular()), and somebody waits */
	VEC(uint32_t) evicted; /* scratch of one attempt */
	struct heap jumps;
};

void ranking_fini(struct ranking *ranking);
/* After kit_in_order(): when a running job's key will have grown past that of a waiting one; INFINITY never. */
double ranking_crossing_s(const struct ranking *ranking);

void kit_in_order(struct ranking *ranking, const struct ordering *ordering, const void *self,
	const struct round *round, struct plan *plan);
void kit_anew(const struct ordering *ordering, const void *self, const struct round *round,
	struct plan *plan);

/* All active jobs, running or not, in order of (key, tie, id), in the round's scratch; returns how many. */
uint32_t kit_line(const struct ordering *ordering, const void *self, const struct round *round,
	uint32_t **out);

/* After kit_anew(): decide again when the key of some job jumps. */
void kit_wake_at_jumps(const struct ordering *ordering, const void *self, const struct round *round,
	struct plan *plan);
/*
 * Turns, for keys that grow as jobs are served: equals would else take each other's place at every
 * event.  Jobs are stopped at multiples of round_s only; in between devices that are free are handed
 * out (BETWEEN_FILL), or nothing happens at all (BETWEEN_WAIT: the engine's rounds).
 */
enum between { BETWEEN_FILL, BETWEEN_WAIT };
extern const char *const between_names[]; /* for OPT_CHOICE */

struct turns {
	double round_s;
	int between;
};

/* The options above as options of the policy that embeds a `struct turns` in `field`. */
#define TURNS_OPTIONS(type, field) \
	{ .name = "round_s", \
		.kind = OPTION_DOUBLE, \
		.offset = offsetof(type, field.round_s), \
		.preset = 300, \
		.min = 1e-3, \
		.max = 1e6, \
		.help = "jobs are stopped for others at multiples of this only" }, \
	{ \
		.name = "between", .kind = OPTION_CHOICE, .offset = offsetof(type, field.between), \
		.preset = BETWEEN_FILL, .choices = between_names, \
		.help = "between these: fill free devices, or wait for the next" \
	}

/* What the policy's period_s() answers. */
double turns_period_s(const struct turns *turns);
/* Whether this decision may stop nobody. */
bool turns_hold(const struct turns *turns, const struct round *round);
/* Decide again at the first turn after now that is not before at_s. */
void turns_wake(const struct turns *turns, const struct round *round, double at_s, struct plan *plan);

/* Whether jobs of one shape may be answered differently, so that each has to be asked for. */
static inline bool kit_is_particular(const struct plan *plan)
{
	return plan->placer->particular || plan->reclaim.entitled;
}

/* Whether any device is free, lent, or has fractions on it, which may leave room for more, if the plan ran. */
bool kit_any_free(const struct round *round, const struct plan *plan);
/* Nothing is free: says so to jobs that came to wait since the last decision; the others know. */
void kit_turn_newcomers_away(const struct round *round, struct plan *plan);
bool kit_anybody_waits(const struct round *round, const struct plan *plan);
/* Decide again in the next round if anybody waits: for keys that move all the time. */
void kit_wake_while_waiting(const struct round *round, struct plan *plan);

/* What breaks ties between equal keys. */
double kit_tie(const struct ordering *ordering, const void *self, const struct round *round,
	const struct job *job);

/* For orderings whose slope is 0 until a job makes steps: when a running job begins to. */
double kit_ready_s(const void *self, const struct round *round, const struct job *job, bool runs);

/* Types `job` may use, the one it is believed to run fastest on first; returns how many. */
uint32_t kit_types(const struct round *round, const struct job *job, uint32_t types[TYPES_MAX]);

/* Runs the job as asked on the first such type that has room.  False: none has. */
bool kit_run(const struct round *round, struct plan *plan, const struct job *job);
/* The same on so many devices, rounded to what it takes of the type (job_rounded_on()); 0: as asked. */
bool kit_run_on(const struct round *round, struct plan *plan, const struct job *job, uint32_t gpus);
/* The same where `may` agrees, which is asked with whole numbers of devices; NULL: wherever there is room. */
typedef bool may_run_fn(const void *self, const struct job *job, uint32_t type, uint32_t gpus);
bool kit_run_where(const struct round *round, struct plan *plan, const struct job *job,
	uint32_t gpus, may_run_fn *may, const void *self);

/*
 * Runs `job` on so many devices (0: as asked) of the nodes with most free ones, each as far as it goes, the
 * first of equals; whoever has devices keeps them if they are as many.  False: no type has room.
 */
bool kit_run_emptiest(const struct round *round, struct plan *plan, const struct job *job,
	struct want want);

/* Says that `by` took the devices of `job`. */
void kit_outranked(struct plan *plan, const struct job *job, const struct job *by);

/* Says that `job` found no room: too few devices are up or free, or they lie apart. */
void kit_no_room(const struct round *round, struct plan *plan, const struct job *job);

#endif
