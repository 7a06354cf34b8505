/*
 * The placer `hived`: its books after every step, under policies and on their own; and the promise
 * that a tenant's guaranteed jobs get its cells, whatever others do.
 */
#include "placement/hived.h"

#include <math.h>
#include <string.h>

#include "placement/cell_check.h"
#include "placement/plan.h"
#include "support/property.h"
#include "support/scene.h"

/* ---- hived with its books audited whenever they change */

static struct {
	const struct placer *rule;
	void *state;
	size_t audits;
} watched;

static void audit(void)
{
	struct buf text = { 0 };

	watched.audits++;
	if (!cells_audit(hived_books(watched.state), &text))
		fail_msg("%s", text.at);
	buf_fini(&text);
}

static int watch_begin(void *self, const struct cluster *cluster, const struct tenants *tenants,
	struct err *err)
{
	(void)self;
	return watched.rule->begin(watched.state, cluster, tenants, err);
}

static void watch_took(void *self, const struct job *job, struct slot slot)
{
	(void)self;
	watched.rule->took(watched.state, job, slot);
	audit();
}

static void watch_gave(void *self, const struct job *job, struct slot slot)
{
	(void)self;
	watched.rule->gave(watched.state, job, slot);
	audit();
}

static void watch_turned(void *self, uint32_t node, uint64_t down)
{
	(void)self;
	watched.rule->turned(watched.state, node, down);
	audit();
}

static bool watch_choose(void *self, const struct placing *p, struct slots *out)
{
	bool found;

	(void)self;
	found = watched.rule->choose(watched.state, p, out);
	audit();
	return found;
}

static bool watch_suits(void *self, const struct placing *p, const struct slot *slots, uint32_t nslots)
{
	bool does;

	(void)self;
	does = watched.rule->suits(watched.state, p, slots, nslots);
	audit();
	return does;
}

static bool watch_entitled(void *self, const struct plan *plan, const struct job *job, uint32_t gpus)
{
	(void)self;
	return watched.rule->reclaim->entitled(watched.state, plan, job, gpus);
}

static double watch_yields(void *self, const struct plan *plan, const struct job *holder,
	const struct job *job)
{
	double readiness;

	(void)self;
	readiness = watched.rule->reclaim->yields(watched.state, plan, holder, job);
	audit();
	return readiness;
}

static bool watch_keeps(void *self, const struct plan *plan, const struct job *holder,
	const struct job *job)
{
	(void)self;
	return watched.rule->reclaim->keeps(watched.state, plan, holder, job);
}

static bool watch_due(void *self, const struct plan *plan, const struct job *job, struct grant_part part)
{
	bool right;

	(void)self;
	right = watched.rule->reclaim->due(watched.state, plan, job, part);
	audit();
	return right;
}

static const struct reclaim watch_reclaim = {
	.entitled = watch_entitled,
	.yields = watch_yields,
	.keeps = watch_keeps,
	.due = watch_due,
};

static const struct placer watch = {
	.name = "hived, watched",
	.summary = "hived",
	.particular = true,
	.counts_nodes = true,
	.takes_back = true,
	.reclaim = &watch_reclaim,
	.begin = watch_begin,
	.took = watch_took,
	.gave = watch_gave,
	.turned = watch_turned,
	.suits = watch_suits,
	.choose = watch_choose,
};

static void watch_open(void)
{
	watched.rule = placer_find("hived", NULL);
	watched.state = mem_alloc(watched.rule->state_size);
	watched.audits = 0;
}

static void watch_close(void)
{
	watched.rule->fini(watched.state);
	free(watched.state);
}

/* ---- tenants */

static const char *const names[] = { "a", "b", "c", "d" };

/* Cells that can be kept together, for the first three; the last has none. */
static void random_tenants(struct rng *rng, const struct cluster *cluster, struct tenants *out)
{
	static const char *const levels[] = { "device", "node" };

	*out = (struct tenants){ 0 };
	for (uint32_t i = 0; i < 4; i++)
		tenants_add(out, names[i], 1);
	for (uint32_t i = 0; i < 3; i++) {
		struct tenant_cell cells[2];
		uint32_t n = 0;

		for (uint32_t k = 0; k < 2; k++) {
			struct tenant_cell cell = { levels[k], cluster->types[0].name, NULL,
				pick(rng, 3), 0 };
			struct cell_design design;
			struct err err = { 0 };

			if (rng_below(rng, 3) == 0)
				continue;
			cells[n] = cell;
			tenants_set_cells(out, i, cells, n + 1);
			assert_int_equal(cell_design_of(cluster, out, &design, &err), 0);
			n += cell_check(&design, NULL);
			cell_design_fini(&design);
		}
		tenants_set_cells(out, i, cells, n);
	}
}

/* ---- simulations */

static const char *const policy_specs[] = { "fifo", "fifo:misfit=skip", "srtf", "las:round_s=5",
	"tiresias", "fair-share", "sia", "pollux", "afs", "easy", "gandiva" };

static void name_tenants(struct scene *s, struct rng *rng)
{
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		s->trace.jobs[i].tenant = names_add(&s->trace.tenants, names[rng_below(rng, 4)], 1);
		s->trace.jobs[i].class_ = rng_below(rng, 3) ? JOB_GUARANTEED : JOB_OPPORTUNISTIC;
	}
}

static void simulate(struct rng *rng, const char *policy, size_t *finished)
{
	static const char *const clusters[] = { "3x4:v100", "2x8:v100", "4x2:v100,1x4:k80" };
	struct tenants tenants;
	struct outcome outcome;
	struct chosen_policy rule = scene_policy(policy);
	struct scene s;

	scene_init(&s, clusters[rng_below(rng, COUNT(clusters))]);
	scene_draw(&s, rng,
		(struct draw){ .jobs = 40, .last_arrival_s = 60, .work_max = 30, .gpus_max = 4 });
	name_tenants(&s, rng);
	random_tenants(rng, &s.cluster, &tenants);
	s.config.tenants = &tenants;
	s.config.seed = rng_u64(rng);
	s.config.failures = (struct failures){ .mtbf_s = rng_below(rng, 2) ? 60 : 0, .repair_s = 20 };
	s.config.until_s = 2000;
	s.placer = &watch;
	scene_run_policy(&s, rule.rule, rule.state, &outcome);
	for (uint32_t i = 0; i < outcome.njobs; i++)
		*finished += outcome.jobs[i].state == JOB_FINISHED;
	outcome_fini(&outcome);
	scene_policy_fini(&rule);
	tenants_fini(&tenants);
	scene_fini(&s);
}

static void the_books_are_sound_under_every_policy(void **state)
{
	struct rng rng = property("simulations with hived, failures included");
	size_t finished = 0;

	(void)state;
	watch_open();
	for (size_t i = 0; i < rounds(110); i++)
		simulate(&rng, policy_specs[i % COUNT(policy_specs)], &finished);
	assert_true(finished > rounds(110) * 10 && watched.audits > rounds(110) * 100);
	watch_close();
}

/* ---- the promise */

enum { JOBS = 400 };

struct desk {
	struct cluster cluster;
	struct tenants tenants, bound;
	struct names names;
	struct plan plan;
	struct job jobs[JOBS];
	bool down[16];
};

static void desk_open(struct desk *d, const char *cluster)
{
	struct err err = { 0 };

	memset(d, 0, sizeof(*d));
	assert_int_equal(cluster_parse(cluster, &d->cluster, &err), 0);
}

static void desk_begin(struct desk *d)
{
	struct err err = { 0 };

	for (uint32_t i = 0; i < 4; i++)
		names_add(&d->names, names[i], 1);
	tenants_bind(&d->tenants, &d->names, &d->bound);
	if (watch_begin(NULL, &d->cluster, &d->bound, &err) < 0)
		fail_msg("%s", err.text);
	plan_init(&d->plan, &d->cluster, &watch, NULL, 1);
	d->plan.jobs = d->jobs;
	for (uint32_t i = 0; i < JOBS; i++) {
		job_init(&d->jobs[i]);
		d->jobs[i].id = i;
	}
	plan_begin(&d->plan);
}

static void desk_init(struct desk *d, struct rng *rng)
{
	desk_open(d, rng_below(rng, 2) ? "4x4:v100" : "3x8:v100");
	random_tenants(rng, &d->cluster, &d->tenants);
	desk_begin(d);
}

static void desk_fini(struct desk *d)
{
	plan_fini(&d->plan);
	tenants_fini(&d->bound);
	tenants_fini(&d->tenants);
	names_fini(&d->names);
	cluster_fini(&d->cluster);
}

static bool run(struct desk *d, uint32_t job, uint32_t tenant, int gpus, enum job_class class)
{
	d->jobs[job].gpus = d->jobs[job].min_gpus = d->jobs[job].max_gpus = gpus;
	d->jobs[job].class_ = class;
	d->jobs[job].tenant = tenant;
	return plan_run(&d->plan, &d->jobs[job], (struct want){ .type = TYPE_ANY });
}

/* Stops everything of tenant a that it holds through its cells or not. */
static void stop_all_of(struct desk *d, uint32_t tenant)
{
	for (uint32_t i = 0; i < JOBS; i++) {
		if (plan_grant(&d->plan, i) && d->jobs[i].tenant == tenant)
			plan_stop(&d->plan, &d->jobs[i]);
	}
}

/* Each of its cells is asked for by a gang of just that size, largest first: every one must come. */
static void ask_for_everything(struct desk *d, uint32_t tenant, uint32_t *next)
{
	const struct tenant *t = &d->tenants.at[tenant];

	for (uint32_t k = t->ncells; k-- > 0;) {
		int size = strcmp(t->cells[k].cell, "node") ? 1 : (int)d->cluster.nodes[0].devices;

		for (uint32_t i = 0; i < t->cells[k].count; i++) {
			uint32_t job = (*next)++;

			assert_true(run(d, job, tenant, size, JOB_GUARANTEED));
			assert_int_equal(plan_grant(&d->plan, job)->nslots, 1);
		}
	}
}

static void a_tenant_always_gets_its_cells(void **state)
{
	struct rng rng = property("guaranteed requests within the assignment succeed");
	static struct desk d;

	(void)state;
	watch_open();
	for (size_t i = 0; i < rounds(40); i++) {
		uint32_t next = 0;

		desk_init(&d, &rng);
		for (int k = 0; k < 12; k++) {
			uint32_t tenant = (uint32_t)rng_below(&rng, 3);

			/* The others do what they like, also all that they can: */
			for (int n = 0; n < 15 && next < JOBS - 40; n++, next++)
				run(&d, next, (uint32_t)rng_below(&rng, 4), 1 << rng_below(&rng, 4),
					rng_below(&rng, 2) ? JOB_GUARANTEED : JOB_OPPORTUNISTIC);
			for (uint32_t n = 0; n < next; n++) {
				if (rng_below(&rng, 4) == 0)
					plan_stop(&d.plan, &d.jobs[n]);
			}
			/* then one of them, with none of its own in the way, asks for all it was promised. */
			stop_all_of(&d, tenant);
			if (next < JOBS - 40)
				ask_for_everything(&d, tenant, &next);
			plan_commit(&d.plan);
			plan_begin(&d.plan);
		}
		desk_fini(&d);
	}
	watch_close();
}

/* ---- devices that a policy names, and so many nodes */

/* Two nodes of four: a has one of them and a device, b three devices. */
static void open_desk(struct desk *d)
{
	struct tenant_cell cells[] = { { "device", NULL, NULL, 1, 0 }, { "node", NULL, NULL, 1, 0 } };
	struct tenant_cell three = { "device", NULL, NULL, 3, 0 };

	desk_open(d, "2x4:v100");
	tenants_set_cells(&d->tenants, tenants_add(&d->tenants, "a", 1), cells, 2);
	tenants_set_cells(&d->tenants, tenants_add(&d->tenants, "b", 1), &three, 1);
	desk_begin(d);
}

static bool run_at(struct desk *d, uint32_t job, uint32_t tenant, uint32_t node, uint32_t gpus,
	bool there)
{
	d->jobs[job].gpus = d->jobs[job].min_gpus = d->jobs[job].max_gpus = (int)gpus;
	d->jobs[job].class_ = JOB_GUARANTEED;
	d->jobs[job].tenant = tenant;
	return plan_run_at(&d->plan, &d->jobs[job], &(struct node_share){ node, gpus }, 1,
		(struct want){ .there = there });
}

static uint32_t node_of(const struct desk *d, uint32_t job)
{
	return plan_grant(&d->plan, job)->slots[0].node;
}

static void named_devices_are_had_through_cells(void **state)
{
	static struct desk d;

	(void)state;
	watch_open();
	open_desk(&d);
	/* It can have either node; the next is not given the other one, which would leave nothing to split. */
	assert_true(run_at(&d, 0, 0, 1, 1, false));
	assert_int_equal(node_of(&d, 0), 1);
	assert_true(run_at(&d, 1, 1, 0, 1, false));
	assert_int_equal(node_of(&d, 1), 1);
	assert_true(run_at(&d, 2, 0, 0, 4, false));
	/* All that a has is in use: nobody names a device for it, unless that is a fact. */
	assert_false(run_at(&d, 3, 0, 1, 1, false));
	assert_true(run_at(&d, 3, 0, 1, 1, true));
	/* An elastic job may grow beyond its cells, on loan. */
	plan_stop(&d.plan, &d.jobs[3]);
	plan_stop(&d.plan, &d.jobs[0]);
	d.jobs[4] = d.jobs[3];
	d.jobs[4].id = 4;
	d.jobs[4].min_gpus = 1;
	d.jobs[4].gpus = d.jobs[4].max_gpus = 2;
	assert_true(plan_run_at(&d.plan, &d.jobs[4], &(struct node_share){ 1, 2 }, 1,
		(struct want){ 0 }));
	/* and what it has so goes to whoever claims it: b has three devices */
	assert_true(run(&d, 5, 1, 1, JOB_GUARANTEED) && plan_grant(&d.plan, 4));
	assert_true(run(&d, 6, 1, 1, JOB_GUARANTEED) && !plan_grant(&d.plan, 4));
	desk_fini(&d);
	watch_close();
}

static void so_many_nodes_come_from_cells(void **state)
{
	struct tenant_cell nodes = { "node", NULL, NULL, 2, 0 };
	static struct desk d;

	(void)state;
	watch_open();
	desk_open(&d, "3x4:v100");
	tenants_set_cells(&d.tenants, tenants_add(&d.tenants, "a", 1), &nodes, 1);
	tenants_add(&d.tenants, "b", 1);
	desk_begin(&d);
	/* Somebody stands everywhere on loan. */
	for (uint32_t i = 0; i < 3; i++)
		assert_true(run(&d, i, 1, 4, JOB_GUARANTEED));
	d.jobs[3].nodes = 2;
	assert_true(run(&d, 3, 0, 4, JOB_GUARANTEED));
	assert_int_equal(plan_grant(&d.plan, 3)->nslots, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(__builtin_popcountll(plan_grant(&d.plan, 3)->slots[i].devices), 2);
	/* Its cells are bound now: others of the tenant lie there, too; three nodes it has not. */
	d.jobs[4].nodes = 2;
	assert_true(run(&d, 4, 0, 4, JOB_GUARANTEED));
	d.jobs[5].nodes = 3;
	assert_false(run(&d, 5, 0, 3, JOB_GUARANTEED));
	assert_false(plan_could_ever(&d.plan, &d.jobs[5]));
	/* On loan there is one node left, and the devices of two. */
	d.jobs[6].nodes = 2;
	assert_false(run(&d, 6, 1, 2, JOB_OPPORTUNISTIC));
	desk_fini(&d);
	watch_close();
}

/* ---- refusals */

static void impossible_promises_are_refused_by_name(void **state)
{
	struct tenant_cell cells[] = { { "node", NULL, NULL, 2, 0 } };
	struct tenants tenants = { 0 }, bound;
	struct names nobody = { 0 };
	struct cluster cluster = { 0 };
	struct err err = { 0 };

	(void)state;
	watch_open();
	assert_int_equal(cluster_parse("3x4:v100", &cluster, &err), 0);
	tenants_set_cells(&tenants, tenants_add(&tenants, "a", 1), cells, 1);
	tenants_set_cells(&tenants, tenants_add(&tenants, "b", 1), cells, 1);
	tenants_bind(&tenants, &nobody, &bound);
	assert_int_equal(watch_begin(NULL, &cluster, &bound, &err), ERR_REFUSED);
	assert_string_equal(err.text,
		"more cells are promised than can be kept: a (2 node) and b (2 node) need 4 "
		"node of v100, there are 3");
	tenants_fini(&bound);
	tenants_fini(&tenants);
	cluster_fini(&cluster);
	watch_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_books_are_sound_under_every_policy),
		cmocka_unit_test(a_tenant_always_gets_its_cells),
		cmocka_unit_test(named_devices_are_had_through_cells),
		cmocka_unit_test(so_many_nodes_come_from_cells),
		cmocka_unit_test(impossible_promises_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
