/*
 * Lyra: what goes back, what is left of jobs then, and that base workers stay.
 */
#include "policy/elastic/lyra_place.h"

#include <math.h>
#include <string.h>

#include "sim/loan.h"
#include "support/property.h"
#include "support/scene.h"

/* ---- which nodes go back */

enum { NODES = 5, JOBS = 4 };

/* Devices of each job on each node; node 0 stays, the others are on loan. */
struct lay_case {
	const char *what;
	int base[JOBS];
	int on[JOBS][NODES];
	uint32_t n;
	uint32_t want[NODES];
	uint32_t harmless;
};

static const struct lay_case lays[] = {
	{ "b: costs 1.5, .5, .5, 1.5: the second, then, since the first now costs 1, the third",
		{ 1, 2, 2, 1 },
		{ { 0, 1, 0, 0, 0 }, { 0, 1, 1, 0, 0 }, { 0, 0, 0, 1, 1 }, { 0, 0, 0, 0, 1 } }, 2,
		{ 2, 3 }, 0 },
	{ "idle ones first", { 1, 1, 0, 0 }, { { 0, 1, 0, 0, 0 }, { 0, 0, 1, 0, 0 } }, 3,
		{ 3, 4, 1 }, 2 },
	{ "d: then those with flexible workers only", { 1, 1, 0, 0 },
		{ { 1, 0, 1, 0, 0 }, { 0, 1, 0, 1, 1 } }, 3, { 2, 3, 4 }, 3 },
	{ "a preempted job frees its other nodes", { 3, 1, 0, 0 },
		{ { 0, 1, 1, 1, 0 }, { 0, 0, 0, 0, 1 } }, 3, { 1, 2, 3 }, 2 },
};

static void lay_out(struct scene *s, const struct lay_case *lay, struct grant **grants)
{
	for (int j = 0; j < JOBS && lay->base[j]; j++) {
		struct job *job = scene_job(s, 0, lay->base[j], 100);
		struct grant *g = mem_alloc(sizeof(*g) + sizeof(struct slot) * NODES);

		for (uint32_t node = 0; node < NODES; node++) {
			if (!lay->on[j][node])
				continue;
			g->slots[g->nslots].node = node;
			g->slots[g->nslots++].devices = UINT64_C(1) << j;
			g->gpus++;
		}
		job->id = (uint32_t)j;
		job->min_gpus = lay->base[j];
		job->max_gpus = (int32_t)g->gpus;
		job->state = JOB_RUNNING;
		grants[j] = g;
	}
	for (uint32_t j = 0; j < s->trace.njobs; j++)
		s->trace.jobs[j].grant = grants[j];
}

static void test_returns(void **state)
{
	static const bool on_loan[NODES] = { false, true, true, true, true };
	static const uint32_t active[JOBS] = { 0, 1, 2, 3 };

	(void)state;
	for (size_t i = 0; i < COUNT(lays); i++) {
		struct grant *grants[JOBS] = { 0 };
		struct arena scratch = { 0 };
		struct round round;
		uint32_t nodes[NODES], harmless;
		struct scene s;

		scene_init(&s, "5x4");
		lay_out(&s, &lays[i], grants);
		round = (struct round){
			.cluster = &s.cluster,
			.jobs = s.trace.jobs,
			.njobs = s.trace.njobs,
			.active = active,
			.nactive = s.trace.njobs,
			.on_loan = on_loan,
			.scratch = &scratch,
		};
		harmless = lyra_choose_returns(&round, lays[i].n, nodes);
		for (uint32_t k = 0; k < lays[i].n; k++) {
			if (nodes[k] != lays[i].want[k])
				fail_msg("%s: number %u is node %u, not %u", lays[i].what, k,
					nodes[k], lays[i].want[k]);
		}
		if (harmless != lays[i].harmless)
			fail_msg("%s: %u harmless ones, not %u", lays[i].what, harmless,
				lays[i].harmless);
		for (int j = 0; j < JOBS; j++)
			free(grants[j]);
		arena_fini(&scratch);
		scene_fini(&s);
	}
}

/* ---- whole runs */

static bool pool_of_one[] = { false, true };
static bool pool_of_two[] = { false, false, true, true };

static void run_with(struct scene *s, bool *pool, uint32_t servers, struct loan_step *steps,
	size_t n, struct outcome *out)
{
	struct loan loan = { pool, servers, { steps, n, n } };

	s->config.loan = &loan;
	scene_run(s, out);
	s->config.loan = NULL;
}

static struct job *elastic_job(struct scene *s, double at_s, int min, int max, double work)
{
	struct job *job = scene_job(s, at_s, min, work);

	job->min_gpus = min;
	job->max_gpus = max;
	return job;
}

static void test_scale_in_preempts_nobody(void **state)
{
	struct loan_step steps[] = { { 0, 1 }, { 10, 0 } };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "2x2");
	s.config.policy = "lyra";
	elastic_job(&s, 0, 2, 4, 100); /* two at home, two on the borrowed node */
	run_with(&s, pool_of_one, 1, steps, 2, &out);
	assert_int_equal(out.jobs[0].preemptions, 0);
	assert_int_equal(out.jobs[0].resizes, 1);
	/* Twice as fast for 10 s, then as asked. */
	assert_true(fabs(out.jobs[0].finish_s - 90) < 1e-9);
	assert_int_equal(out.figures[0].value, 1);
	assert_int_equal(out.figures[1].value, 1);
	outcome_fini(&out);
	scene_fini(&s);
}

static void test_base_prefers_home(void **state)
{
	struct loan_step steps[] = { { 0, 2 }, { 10, 0 }, { 1000, 2 } };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "4x2");
	s.config.policy = "lyra";
	elastic_job(&s, 0, 2, 4, 100);
	elastic_job(&s, 0, 2, 4, 100);
	run_with(&s, pool_of_two, 2, steps, 3, &out);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(out.jobs[i].preemptions, 0);
		assert_true(fabs(out.jobs[i].finish_s - 90) < 1e-9);
	}
	outcome_fini(&out);
	scene_fini(&s);
}

/* Other policies lose nothing but the node. */
static void test_without_lyra(void **state)
{
	struct loan_step steps[] = { { 0, 1 }, { 10, 0 }, { 20, 1 } };
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "2x2");
	s.config.policy = "fifo";
	scene_job(&s, 0, 2, 100);
	scene_job(&s, 0, 2, 100); /* on the borrowed node: stopped for ten seconds */
	run_with(&s, pool_of_one, 1, steps, 3, &out);
	assert_true(out.jobs[0].finish_s == 100 && out.jobs[0].preemptions == 0);
	assert_true(out.jobs[1].finish_s == 110 && out.jobs[1].preemptions == 1);
	assert_true(out.jobs[1].waited_s == 10 && out.jobs[1].lost_s == 0);
	assert_int_equal(out.node_failures, 0);
	outcome_fini(&out);
	scene_fini(&s);
}

static void test_value_is_time_saved(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	/* One spare device: 100 steps at 2 are 50 s, at 3 33.3 s; 60 at 2 are 30 s and 20 s. */
	scene_init(&s, "1x5");
	s.config.policy = "lyra";
	elastic_job(&s, 0, 2, 4, 50);
	elastic_job(&s, 0, 2, 4, 30);
	scene_run(&s, &out);
	/* Work counts at the size asked for: 50 s at 2.  The first gets the fifth device and then, at 30 s, the others. */
	assert_true(out.jobs[1].finish_s == 30);
	assert_true(fabs(out.jobs[0].finish_s - (30 + (50 - 45) / 2.0)) < 1e-9);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- properties */

struct watch {
	const struct loan *loan;
	const struct cluster *cluster;
	bool *down;
	struct job_seen {
		uint32_t gpus;
	} seen[64];
	uint32_t home_down, shrunk_below;
};

static uint32_t lent_at(const struct loan *loan, double at_s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < loan->steps.n && loan->steps.at[i].at_s <= at_s; i++)
		n = loan->steps.at[i].servers;
	return n;
}

static void see(void *self, const struct event *event, const struct job *job)
{
	struct watch *w = self;

	if (event->kind == EV_NODE_DOWN || event->kind == EV_NODE_UP) {
		w->down[event->node] = event->kind == EV_NODE_DOWN;
		w->home_down += event->kind == EV_NODE_DOWN && !w->loan->pool[event->node];
	} else if (event->kind == EV_START || event->kind == EV_RESIZE) {
		w->shrunk_below += event->grant->gpus < (uint32_t)job->min_gpus;
		/* At the first decision after an instant's events as many are here as are lent. */
		for (uint32_t i = 0, up = 0; i < w->cluster->nnodes; i++) {
			up += w->loan->pool[i] && !w->down[i];
			if (i + 1 == w->cluster->nnodes && event->kind == EV_START)
				assert_int_equal(up, lent_at(w->loan, event->at_s));
		}
	}
}

static void test_properties(void **state)
{
	struct rng rng = property("as many go back as are asked for, none of ours, and no base is cut");

	(void)state;
	for (size_t round = 0; round < rounds(80); round++) {
		struct loan_step steps[12];
		bool pool[6] = { false, false, true, true, true, true };
		struct loan loan = { pool, 4, { steps, COUNT(steps), COUNT(steps) } };
		bool down[6] = { false };
		struct watch w = { .loan = &loan, .down = down };
		struct observer observer = { .self = &w, .see = see };
		struct outcome out;
		struct scene s;

		scene_init(&s, "6x2");
		w.cluster = &s.cluster;
		for (size_t i = 0; i < COUNT(steps); i++)
			steps[i] = (struct loan_step){ i ? 7.5 * (double)i : 0,
				i + 1 == COUNT(steps) ? 4 : (uint32_t)rng_below(&rng, 5) };
		for (int i = 0; i < 16; i++) {
			int min = 1 << rng_below(&rng, 2);

			elastic_job(&s, (double)rng_below(&rng, 60), min,
				min + (int)rng_below(&rng, 5), 1 + (double)rng_below(&rng, 30));
		}
		s.config.policy = "lyra";
		s.config.loan = &loan;
		s.config.observers = &observer;
		s.config.nobservers = 1;
		scene_run(&s, &out);
		assert_int_equal(w.home_down, 0);
		assert_int_equal(w.shrunk_below, 0);
		for (uint32_t i = 0; i < out.njobs; i++)
			assert_int_equal(out.jobs[i].state, JOB_FINISHED);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_scale_in_preempts_nobody),
		cmocka_unit_test(test_base_prefers_home),
		cmocka_unit_test(test_without_lyra),
		cmocka_unit_test(test_value_is_time_saved),
		cmocka_unit_test(test_properties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
