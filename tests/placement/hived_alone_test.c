/*
 * The placer `hived` under every policy, also those that name nodes themselves (plan_run_at), and with jobs
 * that want so many nodes: a tenant that asks for no more than its cells fares as in a cluster of its own.  None
 * of its jobs waits for more than the next decision or is stopped, whatever others ask for.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "policy/policy.h"
#include "support/property.h"
#include "support/scene.h"

enum { ROUND_S = 5 };

/* They put jobs on devices of others, which are named one by one (plan_run_upon). */
static const char *const exempt[] = { "antman", "pool" };

/* ---- whoever looks on: jobs of tenant `mine` */

struct gone {
	uint32_t job;
	double at_s;
};

struct watch {
	uint32_t mine;
	double late_s; /* the longest time before a first start */
	size_t started, moved;
	VEC(struct gone) gone; /* who was stopped and did not go on at the same moment, elsewhere */
};

/* Takes it off the list if it was stopped just now. */
static bool is_back(struct watch *w, uint32_t job, double now_s)
{
	for (size_t i = 0; i < w->gone.n; i++) {
		if (w->gone.at[i].job == job && w->gone.at[i].at_s == now_s) {
			w->gone.at[i] = w->gone.at[w->gone.n - 1];
			return true;
		}
	}
	return false;
}

static void see(void *self, const struct event *event, const struct job *job)
{
	struct watch *w = self;

	if (!job || job->tenant != w->mine || job->class_ != JOB_GUARANTEED)
		return;
	if (event->kind == EV_START && event->attempt <= 1) {
		w->started++;
		w->late_s = fmax(w->late_s, event->at_s - job->arrival_s);
	}
	if (event->kind == EV_PREEMPT)
		vec_push(&w->gone, (struct gone){ job->id, event->at_s });
	w->gone.n -= event->kind == EV_START && is_back(w, job->id, event->at_s);
	w->moved += event->kind == EV_MIGRATE;
}

/* ---- worlds */

struct world {
	const char *cluster;
	uint32_t size;           /* devices of a node */
	uint32_t nodes, devices; /* cells of the tenant */
	bool elastic;            /* others only */
};

static void promise(struct tenants *tenants, const char *name, uint32_t nodes, uint32_t devices)
{
	struct tenant_cell cells[2];
	uint32_t tenant = tenants_add(tenants, name, strlen(name)), n = 0;

	if (nodes)
		cells[n++] = (struct tenant_cell){ "node", "v100", NULL, nodes, 0 };
	if (devices)
		cells[n++] = (struct tenant_cell){ "device", "v100", NULL, devices, 0 };
	tenants_set_cells(tenants, tenant, cells, n);
}

static struct job *add_job(struct scene *s, const char *tenant, double at_s, uint32_t gpus, double work)
{
	struct job *job = scene_job(s, at_s, (int)gpus, work);

	job->tenant = names_add(&s->trace.tenants, tenant, strlen(tenant));
	job->class_ = JOB_GUARANTEED;
	return job;
}

/*
 * One job at a time: so there is always a cell for whoever comes.  Where single devices are promised as well,
 * nodes are asked for as a whole: a small job of the tenant's might lie in them.
 */
static void fill_lane(struct scene *s, struct rng *rng, const struct world *w, uint32_t nodes)
{
	double at_s = (double)rng_below(rng, 20);

	while (at_s < 120) {
		uint32_t each = nodes == 0 ? 1 : w->devices ? w->size : pick(rng, w->size);
		double work = pick(rng, 30);
		struct job *job = add_job(s, "mine", at_s, each * (nodes ? nodes : 1), work);

		if (nodes > 1 || (nodes == 1 && rng_below(rng, 2)))
			job->nodes = nodes;
		at_s += work + 3 * ROUND_S + (double)rng_below(rng, 10);
	}
}

/* A lane for each cell, or one for both nodes. */
static void fill_lanes(struct scene *s, struct rng *rng, const struct world *w)
{
	bool wide = w->nodes == 2 && rng_below(rng, 2);

	for (uint32_t i = 0; i < w->nodes && !wide; i++)
		fill_lane(s, rng, w, 1);
	if (wide)
		fill_lane(s, rng, w, 2);
	for (uint32_t i = 0; i < w->devices; i++)
		fill_lane(s, rng, w, 0);
}

static void add_others(struct scene *s, struct rng *rng, const struct world *w)
{
	static const char *const names[] = { "mine", "theirs", "nobody" };

	for (int i = 0; i < 40; i++) {
		const char *name = names[rng_below(rng, 3)];
		struct job *job = add_job(s, name, (double)rng_below(rng, 120),
			UINT32_C(1) << rng_below(rng, 4), pick(rng, 60));

		if (name == names[0] || rng_below(rng, 2))
			job->class_ = JOB_OPPORTUNISTIC;
		if (w->elastic && rng_below(rng, 2)) {
			job->min_gpus = 1;
			job->max_gpus = 2 * job->gpus;
		}
	}
}

static struct world draw_world(struct rng *rng)
{
	static const struct world worlds[] = { { "4x4:v100", 4, 0, 0, false },
		{ "3x8:v100", 8, 0, 0, false } };
	struct world w = worlds[rng_below(rng, 2)];

	w.nodes = (uint32_t)rng_below(rng, 3);
	w.devices = (uint32_t)rng_below(rng, w.nodes == 2 && w.size == 8 ? 1 : 4);
	w.elastic = rng_below(rng, 2);
	return w;
}

static void run_world(struct rng *rng, const char *policy, struct watch *watch)
{
	struct observer observer = { watch, see };
	struct world w = draw_world(rng);
	struct tenants tenants = { 0 };
	struct outcome outcome;
	struct scene s;

	scene_init(&s, w.cluster);
	promise(&tenants, "mine", w.nodes, w.devices);
	promise(&tenants, "theirs", 1, 0);
	watch->mine = names_add(&s.trace.tenants, "mine", 4);
	fill_lanes(&s, rng, &w);
	add_others(&s, rng, &w);
	s.config.tenants = &tenants;
	s.config.seed = rng_u64(rng);
	s.config.until_s = 2000;
	s.config.observers = &observer;
	s.config.nobservers = 1;
	s.config.placer = "hived";
	s.config.policy = policy;
	scene_run(&s, &outcome);
	outcome_fini(&outcome);
	tenants_fini(&tenants);
	scene_fini(&s);
}

static bool is_exempt(const char *policy)
{
	for (size_t i = 0; i < COUNT(exempt); i++) {
		if (!strcmp(policy, exempt[i]))
			return true;
	}
	return false;
}

/* With short rounds, where it has any. */
static void spec_of(const struct policy *policy, char *out, size_t size)
{
	bool has_rounds = false;

	for (const struct option *o = policy->options; o && o->name; o++)
		has_rounds |= !strcmp(o->name, "round_s");
	snprintf(out, size, "%s%s", policy->name, has_rounds ? ":round_s=5" : "");
}

static void nobody_within_its_cells_waits(void **state)
{
	struct rng rng = property("a tenant within its cells, under every policy");

	(void)state;
	for (size_t p = 0; policies[p]; p++) {
		struct watch watch = { 0 };
		char spec[64];

		if (is_exempt(policies[p]->name))
			continue;
		spec_of(policies[p], spec, sizeof(spec));
		for (size_t i = 0; i < rounds(8); i++)
			run_world(&rng, spec, &watch);
		printf("%-22s %zu jobs, at most %.4g s late, %zu without devices, %zu moved\n",
			spec, watch.started, watch.late_s, watch.gone.n, watch.moved);
		assert_true(watch.late_s < ROUND_S);
		assert_int_equal(watch.gone.n, 0);
		assert_true(watch.started > rounds(8));
		vec_fini(&watch.gone);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_within_its_cells_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
