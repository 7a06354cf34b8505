/*
 * The one loop: wait, apply, admit, decide, check, carry out, tell.
 *
 * The engine is the only place that changes a job's state.  No clock reaches a
 * decision, and it knows no world; policies, placers and drivers come as tables.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/driver.h"
#include "engine/observer.h"
#include "engine/outcome.h"
#include "model/rate.h"
#include "model/tenant.h"
#include "policy/admission.h"
#include "policy/policy.h"

/* A table entry with its state, options read. */
struct chosen_policy {
	const struct policy *rule;
	void *state;
};
struct chosen_placer {
	const struct placer *rule;
	void *state;
};
struct chosen_admission {
	const struct admission *rule;
	void *state;
};

struct engine;
struct quota;

struct engine_config {
	const struct cluster *cluster;
	const struct rates *belief;
	const struct tenants *tenants; /* bound; NULL: none were given */
	const bool *pool; /* by node: others lend it, see EV_LOAN; NULL: all are ours */
	struct chosen_policy policy;
	struct chosen_placer placer;
	struct chosen_admission admission;
	uint64_t seed;
	const uint32_t *deps; /* what job.first_dep points into; may be NULL */
	bool want_spans;
	uint32_t expected_jobs; /* a hint for memory; 0: unknown */
	const struct observer *observers;
	uint32_t nobservers;
	double until_s; /* stop there; 0: when all is done */
	/* Later than when a policy without rounds asks to decide again though nothing happens; NULL: right then. */
	double (*put_off)(void *ctx, double wake_s);
	void *put_off_ctx;
	/* While nothing runs, whoever waits is decided upon at once, also between the rounds of a policy. */
	bool eager;
	/* Whom the policy does not welcome comes in without a promise, which EV_ADMIT tells, instead of being refused. */
	bool takes_all;
	/* Who comes has waited since job.wait_since_s, where that is before it comes; else from then on. */
	bool keeps_waits;
	bool (*progress)(void *ctx, uint32_t ended, double now_s); /* false: stop; may be NULL */
	void *progress_ctx;
	/* At the end, before jobs that did not finish are closed; may be NULL. */
	int (*look)(void *ctx, const struct chosen_policy *policy, const struct round *round,
		const struct plan *plan, struct err *err);
	void *look_ctx;
};

/*
 * An engine that is moved on from outside, for worlds in which time passes by itself:
 *
 *	engine_create(), engine_adopt() what is there already, then again and again
 *	engine_turn(e, now_s): everything the driver has to tell up to now, and every decision that is due
 *
 * Keeps `config` and what it points to.  NULL with the reason: the placer cannot work with this
 * cluster and these tenants.
 */
struct engine *engine_create(const struct engine_config *config, const struct driver *driver,
	void *world, double now_s, struct err *err);
void engine_destroy(struct engine *e);
int engine_turn(struct engine *e, double now_s, struct err *err);
/* When it wants to decide next if nothing happens; INFINITY: only if something does. */
double engine_next_s(const struct engine *e);

/*
 * Before the first turn: a job that runs on `grant` since before this engine, with totals, attempts and
 * held_s, ready_s, rate as they were.  Its devices must be free.  Returns its number.  (One that waits is
 * submitted by the driver as any other.)
 */
uint32_t engine_adopt(struct engine *e, const struct job *job, const struct grant *grant);

/* Every job submitted so far, by number; gone with the next turn. */
const struct job *engine_jobs(const struct engine *e, uint32_t *n);
uint64_t engine_decisions(const struct engine *e);
/* What the policy remembers beyond jobs (policy.remember), malloc'ed; 0 and NULL: nothing. */
size_t engine_remember(const struct engine *e, void **out);
/* The policy's bytes for a job; NULL: it keeps none.  Gone with the next job. */
void *engine_memory_of(struct engine *e, uint32_t job);
/* Devices of a node that are down, all of them if the node is. */
uint64_t engine_down(const struct engine *e, uint32_t node);
/* What tenants hold, and may; NULL: quotas are not kept. */
const struct quota *engine_quota(const struct engine *e);
/* Devices of a type that somebody has or could have. */
uint32_t engine_up(const struct engine *e, uint32_t type);
/* Whether `job` could run on the whole cluster if it were alone; else why not.  Changes nothing. */
bool engine_could_run(struct engine *e, const struct job *job, struct reason *why);

/* What submissions may say that the policy goes by under its options (enum policy_uses). */
unsigned engine_uses(const struct engine *e);
/* Whether the policy welcomes some and not others. */
bool engine_is_choosy(const struct engine *e);
/*
 * Whether the policy would welcome the last of these at `at_s`, now or later, if those before it were let in and
 * nothing else happened; else why not.  Changes nothing.
 */
bool engine_is_welcome(struct engine *e, const struct job *jobs, uint32_t n, double at_s,
	struct reason *why);

/* Runs until the driver has no more to tell and every job has ended, or none can.  `out` is written on success only. */
int engine_run(const struct engine_config *config, const struct driver *driver, void *world,
	struct outcome *out, struct err *err);

#endif
