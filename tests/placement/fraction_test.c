/*
 * Parts of devices, and devices that go away one by one, against a model that
 * looks at everything.
 */
#include <string.h>

#include "placement/plan.h"
#include "support/planning.h"
#include "support/property.h"
#include "support/scene.h"

enum { NODES_LIMIT = 80, HOLDS_MAX = 96, EIGHTHS = 8 };

/* Somebody holds devices of one node. */
struct hold {
	struct job job;
	struct slot slot;
};

struct naive {
	const struct cluster *cluster;
	bool down[NODES_LIMIT];
	uint64_t devices_down[NODES_LIMIT];
	struct hold holds[HOLDS_MAX];
	size_t n;
	uint32_t jobs; /* so far */
};

static uint64_t all_of(const struct naive *m, uint32_t node)
{
	uint32_t devices = m->cluster->nodes[node].devices;

	return devices == 64 ? UINT64_MAX : (UINT64_C(1) << devices) - 1;
}

static uint64_t held_on(const struct naive *m, uint32_t node)
{
	uint64_t held = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (m->holds[i].slot.node == node)
			held |= m->holds[i].slot.devices;
	}
	return held;
}

static uint64_t free_on(const struct naive *m, uint32_t node)
{
	return all_of(m, node) & ~held_on(m, node) & ~m->devices_down[node];
}

/* What those who hold a device have of it, in eighths; a whole job has all. */
static int eighths_held(const struct naive *m, uint32_t node, uint32_t device)
{
	int sum = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct hold *h = &m->holds[i];

		if (h->slot.node == node && (h->slot.devices >> device & 1))
			sum += job_is_fraction(&h->job) ? (int)(h->job.share * EIGHTHS) : EIGHTHS;
	}
	return sum;
}

static int64_t memory_held(const struct naive *m, uint32_t node, uint32_t device)
{
	int64_t sum = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct hold *h = &m->holds[i];

		if (h->slot.node == node && (h->slot.devices >> device & 1))
			sum += h->job.gpu_mem_bytes;
	}
	return sum;
}

static bool has_room(const struct naive *m, const struct job *job, uint32_t node, uint32_t device)
{
	int64_t there = m->cluster->types[m->cluster->nodes[node].type].mem_bytes;

	if (m->down[node] || m->devices_down[node] >> device & 1 || !job_is_fraction(job) ||
		!(held_on(m, node) >> device & 1))
		return false;
	return eighths_held(m, node, device) + (int)(job->share * EIGHTHS) <= EIGHTHS &&
		(there == 0 || memory_held(m, node, device) + job->gpu_mem_bytes <= there);
}

static uint64_t room_on(const struct naive *m, const struct job *job, uint32_t node)
{
	uint64_t room = 0;

	for (uint32_t d = 0; d < m->cluster->nodes[node].devices; d++)
		room |= (uint64_t)has_room(m, job, node, d) << d;
	return room;
}

static struct job draw_job(struct rng *rng, uint32_t id)
{
	struct job job;

	job_init(&job);
	job.id = id;
	if (rng_below(rng, 4))
		job.share = (double)pick(rng, EIGHTHS) / EIGHTHS; /* sometimes 1: whole */
	job.gpu_mem_bytes = rng_below(rng, 2) ? (int64_t)rng_below(rng, 12) << 30 : 0;
	return job;
}

/* ---- the ledger */

static void compare_types(const struct space *space, const struct naive *m)
{
	for (uint32_t type = 0; type < m->cluster->ntypes; type++) {
		uint32_t up = 0, free_ = 0, parted = 0, at = 0;

		for (uint32_t node = 0; node < m->cluster->nnodes; node++) {
			if (m->cluster->nodes[node].type != type || m->down[node])
				continue;
			up += (uint32_t)__builtin_popcountll(all_of(m, node) & ~m->devices_down[node]);
			free_ += (uint32_t)__builtin_popcountll(free_on(m, node));
		}
		assert_int_equal(space->types[type].up, up);
		assert_int_equal(space->types[type].free, free_);
		for (uint32_t node; (node = space_next_parted(space, type, &at)) != UINT32_MAX;
			parted++) {
			assert_int_equal(m->cluster->nodes[node].type, type);
			assert_true(space->nodes[node].parted);
		}
		assert_int_equal(parted, space->types[type].parted.n);
	}
}

static void compare(const struct space *space, const struct naive *m, struct rng *rng)
{
	struct job probe = draw_job(rng, 0);
	uint32_t held = 0;

	for (uint32_t node = 0; node < m->cluster->nnodes; node++) {
		held += (uint32_t)__builtin_popcountll(held_on(m, node));
		assert_true(space->nodes[node].free == free_on(m, node));
		assert_int_equal(space->nodes[node].nfree, __builtin_popcountll(free_on(m, node)));
		assert_true(space_room(space, &probe, node) == room_on(m, &probe, node));
	}
	assert_int_equal(space->held, held);
	assert_int_equal(space->overlaps, 0);
	compare_types(space, m);
}

static void take_some(struct space *space, struct naive *m, struct rng *rng)
{
	uint32_t node = (uint32_t)rng_below(rng, m->cluster->nnodes);
	struct hold h = { .job = draw_job(rng, m->jobs++) };
	uint64_t open_ = free_on(m, node) | room_on(m, &h.job, node);

	if (!open_ || m->n == HOLDS_MAX)
		return;
	h.slot = (struct slot){ node,
		space_lowest(open_, pick(rng, (uint32_t)__builtin_popcountll(open_))) };
	space_take(space, &h.job, (uint32_t)__builtin_popcountll(h.slot.devices), h.slot);
	m->holds[m->n++] = h;
}

static void give_some(struct space *space, struct naive *m, struct rng *rng)
{
	size_t i = m->n ? rng_below(rng, m->n) : 0;
	struct hold h = m->holds[i];

	if (m->n == 0)
		return;
	space_give(space, &h.job, (uint32_t)__builtin_popcountll(h.slot.devices), h.slot);
	m->holds[i] = m->holds[--m->n];
}

static void turn_some(struct space *space, struct naive *m, struct rng *rng)
{
	uint32_t node = (uint32_t)rng_below(rng, m->cluster->nnodes);
	uint64_t devices = rng_u64(rng) & rng_u64(rng); /* some that the node does not have */
	bool up = rng_below(rng, 2);

	if (rng_below(rng, 4) == 0) {
		m->down[node] = !up;
		space_set_up(space, node, up);
		return;
	}
	if (up)
		m->devices_down[node] &= ~devices;
	else
		m->devices_down[node] |= devices & all_of(m, node);
	space_set_devices_up(space, node, devices, up);
}

static void the_ledger_is_like_the_model(void **state)
{
	static const char *const clusters[] = { "3x4", "70x1", "1x64", "2x8:v100,3x3:k80,1x1:v100" };
	struct rng rng = property("fractions and lost devices against a model");

	(void)state;
	for (size_t k = 0; k < COUNT(clusters); k++) {
		struct cluster cluster;
		struct space space;
		struct err err;
		static struct naive m;

		assert_int_equal(cluster_parse(clusters[k], &cluster, &err), 0);
		memset(&m, 0, sizeof(m));
		m.cluster = &cluster;
		space_init(&space, &cluster);
		for (size_t op = 0; op < rounds(2000); op++) {
			uint64_t what = rng_below(&rng, 20);

			if (what < 10)
				take_some(&space, &m, &rng);
			else if (what < 18)
				give_some(&space, &m, &rng);
			else
				turn_some(&space, &m, &rng);
			compare(&space, &m, &rng);
		}
		while (m.n > 0)
			give_some(&space, &m, &rng);
		compare(&space, &m, &rng);
		space_fini(&space);
		cluster_fini(&cluster);
	}
}

static void whole_jobs_beside_fractions_are_counted(void **state)
{
	const struct slot one = { 0, 1 };
	struct job whole, half;
	struct cluster cluster;
	struct space space;
	struct err err;

	(void)state;
	assert_int_equal(cluster_parse("1x2", &cluster, &err), 0);
	space_init(&space, &cluster);
	job_init(&whole);
	job_init(&half);
	half.id = 1;
	half.share = 0.5;
	space_take(&space, &half, 1, one);
	space_take(&space, &half, 1, one); /* as often as it likes: the ledger does not judge */
	assert_int_equal(space.overlaps, 0);
	space_take(&space, &whole, 1, one);
	assert_int_equal(space.overlaps, 1);
	assert_true(space_room(&space, &half, 0) == 0);
	space_give(&space, &half, 1, one);
	assert_int_equal(space.overlaps, 1);
	space_give(&space, &half, 1, one);
	assert_int_equal(space.overlaps, 0);
	assert_int_equal(space.held, 1);
	space_give(&space, &whole, 1, one);
	assert_int_equal(space.types[0].free, 2);
	space_fini(&space);
	cluster_fini(&cluster);
}

/* ---- plans */

static void setup(struct planning *p, const char *cluster, const char *placer)
{
	planning_init(p, cluster);
	for (uint32_t i = 0; i < PLANNING_JOBS; i++)
		p->jobs[i].share = 0.5;
	planning_begin(p, placer);
}

static bool run(struct planning *f, uint32_t job)
{
	return plan_run(&f->plan, &f->jobs[job], (struct want){ .type = TYPE_ANY });
}

static struct slot place_of(const struct planning *f, uint32_t job)
{
	return plan_grant(&f->plan, job)->slots[0];
}

static void the_fullest_first(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "2x2", "spread");
	f.jobs[0].share = 0.25;
	assert_true(run(&f, 0)); /* node 0, device 0 */
	f.jobs[1].share = 0.875;
	assert_true(run(&f, 1)); /* beside nobody: node 1, device 0 */
	assert_int_equal(place_of(&f, 1).node, 1);
	f.jobs[2].share = 0.125;
	assert_true(run(&f, 2)); /* fits both: the fuller */
	assert_int_equal(place_of(&f, 2).node, 1);
	assert_int_equal(place_of(&f, 2).devices, 1);
	f.jobs[3].share = 0.75;
	assert_true(run(&f, 3));
	assert_int_equal(place_of(&f, 3).node, 0);
	assert_true(plan_grant(&f.plan, 3)->share == 0.75);
	assert_int_equal(plan_free(&f.plan, 0), 2);
	f.jobs[4].share = 0;
	f.jobs[4].gpus = 3;
	assert_false(run(&f, 4)); /* only two are whole */
	f.jobs[4].gpus = 2;
	assert_true(run(&f, 4));
	assert_int_equal(plan_room(&f.plan, &f.jobs[5], 0), 0);
	assert_false(run(&f, 5));
	planning_fini(&f);
}

static void gangs_of_parts(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "2x2", "first-fit");
	f.jobs[0].gpus = 3;
	f.jobs[1].gpus = 4;
	f.jobs[2].gpus = 2;
	assert_true(run(&f, 0));
	assert_true(run(&f, 1)); /* the three begun and the free one */
	assert_int_equal(plan_grant(&f.plan, 1)->gpus, 4);
	assert_int_equal(plan_grant(&f.plan, 1)->nslots, 2);
	assert_int_equal(plan_free(&f.plan, 0), 0);
	assert_int_equal(plan_room(&f.plan, &f.jobs[2], 0), 1);
	assert_false(run(&f, 2));
	f.jobs[2].gpus = 1;
	assert_true(run(&f, 2));
	assert_int_equal(place_of(&f, 2).node, 1);
	assert_int_equal(place_of(&f, 2).devices, 2);
	assert_int_equal(f.plan.space.overlaps, 0);
	assert_false(plan_run_beside(&f.plan, &f.jobs[3], &f.jobs[2], (struct want){ 0 }));
	planning_fini(&f);
}

static void nodes_feed_parts(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "1x4", "first-fit");
	f.cluster.nodes[0].cpus = 4;
	plan_fini(&f.plan);
	plan_init(&f.plan, &f.cluster, placer_find("first-fit", NULL), NULL, 1);
	f.jobs[0].cpus = 1;
	f.jobs[1].gpus = 2; /* one begun, one free: both of the same node */
	f.jobs[1].cpus = 4;
	assert_true(run(&f, 0));
	assert_true(run(&f, 2));
	assert_false(run(&f, 1));
	f.jobs[1].cpus = 3;
	assert_true(run(&f, 1));
	planning_fini(&f);
}

static void parts_are_kept(void **state)
{
	const struct grant *before;
	struct planning f;

	(void)state;
	setup(&f, "1x3", "first-fit");
	for (uint32_t i = 0; i < 4; i++)
		run(&f, i); /* two and two */
	plan_commit(&f.plan);
	before = plan_grant(&f.plan, 3);
	plan_begin(&f.plan);
	plan_stop(&f.plan, &f.jobs[0]);
	plan_stop(&f.plan, &f.jobs[3]);
	assert_true(run(&f, 3)); /* device 0 is fuller by number, but it was on device 1 */
	assert_ptr_equal(plan_grant(&f.plan, 3), before);
	assert_true(run(&f, 4));
	assert_int_equal(place_of(&f, 4).devices, 1);
	assert_true(run(&f, 0)); /* its part is taken meanwhile */
	assert_int_equal(place_of(&f, 0).devices, 4);
	planning_fini(&f);
}

static void devices_go_and_come(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "2x2", "first-fit");
	assert_true(run(&f, 0));
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	plan_devices_up(&f.plan, 0, 3, false);
	assert_int_equal(f.plan.space.types[0].up, 2);
	assert_true(run(&f, 1)); /* not beside job 0, whose device is down */
	assert_int_equal(place_of(&f, 1).node, 1);
	plan_stop(&f.plan, &f.jobs[0]);
	assert_true(run(&f, 0)); /* nor does that go back */
	assert_int_equal(place_of(&f, 0).node, 1);
	plan_commit(&f.plan);
	plan_begin(&f.plan);
	plan_node_up(&f.plan, 0, false);
	plan_devices_up(&f.plan, 0, 1, true);
	assert_int_equal(f.plan.space.types[0].up, 2);
	plan_node_up(&f.plan, 0, true);
	assert_int_equal(f.plan.space.types[0].up, 3);
	assert_int_equal(plan_free(&f.plan, 0), 2);
	f.jobs[2].share = 0;
	f.jobs[2].gpus = 2;
	assert_true(run(&f, 2)); /* one on each node */
	assert_int_equal(plan_free(&f.plan, 0), 0);
	plan_devices_up(&f.plan, 1, 3, false);
	plan_drop(&f.plan, &f.jobs[1]);
	assert_int_equal(plan_free(&f.plan, 0), 0);
	plan_devices_up(&f.plan, 0, 2, true);
	assert_int_equal(plan_free(&f.plan, 0), 1);
	planning_fini(&f);
}

static void memory_of_whole_devices(void **state)
{
	struct planning f;

	(void)state;
	setup(&f, "1x1:v100,1x1:a100", "first-fit");
	f.jobs[0].share = 0;
	f.jobs[0].gpu_mem_bytes = INT64_C(30) << 30;
	assert_true(run(&f, 0));
	assert_int_equal(plan_grant(&f.plan, 0)->type, 1);
	f.jobs[1].gpu_mem_bytes = INT64_C(90) << 30;
	assert_false(plan_could_ever(&f.plan, &f.jobs[1]));
	f.jobs[1].gpu_mem_bytes = INT64_C(16) << 30;
	assert_true(plan_could_ever(&f.plan, &f.jobs[1]));
	planning_fini(&f);
}

/* The grants of a plan as the model has them. */
static void model_plan(const struct planning *f, struct naive *m)
{
	m->n = 0;
	for (uint32_t i = 0; i < PLANNING_JOBS; i++) {
		const struct grant *g = plan_grant(&f->plan, i);

		for (uint32_t k = 0; g && k < g->nslots; k++)
			m->holds[m->n++] = (struct hold){ f->jobs[i], g->slots[k] };
	}
}

static void check_devices(const struct naive *m)
{
	for (uint32_t node = 0; node < m->cluster->nnodes; node++) {
		int64_t there = m->cluster->types[m->cluster->nodes[node].type].mem_bytes;

		for (uint32_t d = 0; d < m->cluster->nodes[node].devices; d++) {
			assert_true(eighths_held(m, node, d) <= EIGHTHS);
			assert_true(there == 0 || memory_held(m, node, d) <= there);
		}
	}
}

/* Devices that the job could have, on the type where there are most. */
static uint32_t most_room(const struct naive *m, const struct job *job)
{
	uint32_t most = 0;

	for (uint32_t type = 0; type < m->cluster->ntypes; type++) {
		uint32_t room = 0;

		if (m->cluster->types[type].mem_bytes < job->gpu_mem_bytes)
			continue;
		for (uint32_t node = 0; node < m->cluster->nnodes; node++) {
			if (m->cluster->nodes[node].type == type && !m->down[node])
				room += (uint32_t)__builtin_popcountll(
					free_on(m, node) | room_on(m, job, node));
		}
		most = room > most ? room : most;
	}
	return most;
}

static void edit(struct planning *f, struct naive *m, struct rng *rng)
{
	struct job *job = &f->jobs[rng_below(rng, PLANNING_JOBS)];
	uint32_t node = (uint32_t)rng_below(rng, f->cluster.nnodes);
	uint64_t devices = UINT64_C(1) << rng_below(rng, 4);
	uint32_t room;

	switch (rng_below(rng, 8)) {
	case 0:
		if (m->devices_down[node] & devices)
			m->devices_down[node] &= ~devices;
		else
			m->devices_down[node] |= devices & all_of(m, node);
		plan_devices_up(&f->plan, node, devices, !(m->devices_down[node] & devices));
		return;
	case 1:
	case 2:
		plan_stop(&f->plan, job);
		return;
	case 3:
		plan_commit(&f->plan);
		plan_begin(&f->plan);
		return;
	default:
		if (plan_grant(&f->plan, job->id))
			return;
		room = most_room(m, job);
		assert_int_equal(run(f, job->id), room >= (uint32_t)job->gpus);
		return;
	}
}

static void plans_are_like_the_model(void **state)
{
	static const char *const clusters[] = { "3x4:v100", "2x2:v100,1x4:k80" };
	struct rng rng = property("random edits of a plan with fractions");

	(void)state;
	for (size_t k = 0; k < COUNT(clusters); k++) {
		struct planning f;
		static struct naive m;

		setup(&f, clusters[k], k ? "first-fit" : "best-fit");
		memset(&m, 0, sizeof(m));
		m.cluster = &f.cluster;
		for (uint32_t i = 0; i < PLANNING_JOBS; i++) {
			f.jobs[i] = draw_job(&rng, i);
			f.jobs[i].gpus = (int32_t)pick(&rng, 3);
		}
		for (size_t op = 0; op < rounds(3000); op++) {
			edit(&f, &m, &rng);
			model_plan(&f, &m);
			check_devices(&m);
			compare(&f.plan.space, &m, &rng);
		}
		assert_false(f.plan.placer_erred);
		planning_fini(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ledger_is_like_the_model),
		cmocka_unit_test(whole_jobs_beside_fractions_are_counted),
		cmocka_unit_test(the_fullest_first),
		cmocka_unit_test(gangs_of_parts),
		cmocka_unit_test(nodes_feed_parts),
		cmocka_unit_test(parts_are_kept),
		cmocka_unit_test(devices_go_and_come),
		cmocka_unit_test(memory_of_whole_devices),
		cmocka_unit_test(plans_are_like_the_model),
	};

	return cmocka_run_group_tests_name("placement/fraction", tests, NULL, NULL);
}
