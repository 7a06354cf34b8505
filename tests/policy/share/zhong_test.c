/*
 * Renting nodes: when they come and go, and that nobody is lost over it.
 */
#include <math.h>
#include <string.h>

#include "io/cluster_io.h"
#include "support/property.h"
#include "support/referee.h"
#include "support/scene.h"

static void cloud_init(struct scene *s, const char *text)
{
	struct err err = { 0 };

	scene_init(s, "1x1");
	cluster_fini(&s->cluster);
	if (cluster_read_yaml("cloud.yaml", text, strlen(text), &s->cluster, &err) < 0)
		fail_msg("%s", err.text);
	s->config.policy = "zhong";
}

static double figure(const struct outcome *out, const char *name)
{
	for (uint32_t i = 0; i < out->nfigures; i++) {
		if (!strcmp(out->figures[i].name, name))
			return out->figures[i].value;
	}
	return NAN;
}

static const char tens[] =
	"renting: {boot: 100s}\n"
	"nodes: [{count: 2, devices: 10, type: v100, price_per_h: 36, rentable: true}]\n";

/* A filler leaves the first node when it ends; whether the last job then fits there is the question. */
static void run_two(struct scene *s, int first, int filler, bool stays, struct outcome *out)
{
	cloud_init(s, tens);
	scene_job(s, 0, first, 5000);
	scene_job(s, 0, filler, 1000);
	scene_job(s, 0, 2, 4000)->stays = stays;
	scene_run(s, out);
	for (uint32_t i = 0; i < out->njobs; i++)
		assert_int_equal(out->jobs[i].state, JOB_FINISHED);
}

static void a_node_is_emptied_if_all_its_jobs_fit_elsewhere(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	run_two(&s, 7, 3, false, &out); /* zhong c: 0.7 and 0.2 */
	assert_int_equal(out.jobs[2].migrations, 1);
	assert_true(figure(&out, "nodes_returned") >= 1);
	assert_true(figure(&out, "cost") < 2 * 5160 / 100.0); /* less than both all the time */
	outcome_fini(&out);
	scene_fini(&s);

	run_two(&s, 9, 1, false, &out); /* 0.9 and 0.2: no room */
	assert_int_equal(out.jobs[2].migrations, 0);
	outcome_fini(&out);
	scene_fini(&s);

	run_two(&s, 7, 3, true, &out); /* zhong d: it cannot be moved */
	assert_int_equal(out.jobs[2].migrations, 0);
	outcome_fini(&out);
	scene_fini(&s);
}

/* For so many periods after renting none is emptied, though all its jobs would fit elsewhere. */
static void none_is_emptied_before_it_has_cooled_down(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	run_two(&s, 7, 3, false, &out);
	assert_int_equal(out.jobs[2].migrations, 1);
	outcome_fini(&out);
	s.config.policy = "zhong:cool_down=1000";
	scene_run(&s, &out);
	assert_int_equal(out.jobs[2].migrations, 0);
	outcome_fini(&out);
	scene_fini(&s);
}

/* 60 s until it is overdue, 100 s to boot; paid for from the asking to the end. */
static void a_node_costs_from_asking_to_giving_back(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	cloud_init(&s, tens);
	scene_job(&s, 0, 10, 1000);
	scene_run(&s, &out);
	assert_float_equal(out.jobs[0].start_s, 160, 1e-9);
	assert_float_equal(figure(&out, "node_hours"), 1100 / 3600.0, 1e-9);
	assert_float_equal(figure(&out, "cost"), 11, 1e-9);
	outcome_fini(&out);
	s.cluster.renting.period_s = 3600; /* the hour is paid as a whole */
	scene_run(&s, &out);
	assert_float_equal(figure(&out, "cost"), 36, 1e-9);
	outcome_fini(&out);
	s.config.policy = "fifo"; /* both nodes, for as long as it takes */
	s.cluster.renting.period_s = 0;
	scene_run(&s, &out);
	assert_float_equal(figure(&out, "cost"), 20, 1e-9);
	outcome_fini(&out);
	scene_fini(&s);
}

static void nothing_is_rented_twice_for_the_same_demand(void **state)
{
	static const char text[] =
		"renting: {boot: 1000s}\n"
		"nodes: [{count: 9, devices: 4, type: v100, price_per_h: 1, rentable: true}]\n";
	struct outcome out;
	struct scene s;

	(void)state;
	cloud_init(&s, text);
	for (int i = 0; i < 4; i++)
		scene_job(&s, 0, 2, 100);
	scene_run(&s, &out);
	assert_int_equal(figure(&out, "nodes_rented"), 2);
	outcome_fini(&out);
	scene_fini(&s);
}

static void an_idle_node_goes_at_the_end_of_what_is_paid(void **state)
{
	static const char text[] = "renting: {boot: 0s, period: 1h}\n"
				   "nodes:\n"
				   "  - {devices: 1, type: plain}\n"
				   "  - {devices: 1, type: plain, price_per_h: 1, rentable: true}\n";
	struct outcome out;
	struct scene s;

	(void)state;
	cloud_init(&s, text);
	scene_job(&s, 0, 1, 20000);
	scene_job(&s, 0, 1, 100); /* rents the second, and leaves it idle */
	scene_run(&s, &out);
	assert_int_equal(figure(&out, "nodes_returned"), 1);
	assert_float_equal(figure(&out, "cost"), 1, 1e-9);
	outcome_fini(&out);
	scene_fini(&s);
}

/*
 * Emptied before the hour is over a node would cost as much: who ends within it stays where it is, and who does
 * not moves at the end of the hour.
 */
static void a_node_is_not_emptied_while_it_is_paid_for(void **state)
{
	static const struct {
		double work;
		uint32_t moves;
		double cost;
	} rows[] = { { 3000, 0, 36 + 72 }, { 5000, 1, 36 + 72 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome out;
		struct scene s;

		cloud_init(&s, tens);
		s.cluster.renting.period_s = 3600;
		scene_job(&s, 0, 7, 5500);
		scene_job(&s, 0, 3, 1000);
		scene_job(&s, 0, 2, rows[i].work);
		scene_run(&s, &out);
		assert_int_equal(out.jobs[2].migrations, rows[i].moves);
		assert_float_equal(figure(&out, "cost"), rows[i].cost, 1e-9);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* The same placement, and an empty node that goes or stays: never dearer without it. */
static void giving_an_empty_node_back_costs_nothing(void **state)
{
	static const double periods_s[] = { 0, 600, 3600 };
	struct rng rng = property("zhong: cost is not more when an empty node is given back");

	(void)state;
	for (size_t i = 0; i < rounds(60); i++) {
		struct outcome gone, kept;
		struct scene s;

		cloud_init(&s, tens);
		s.cluster.renting.period_s = periods_s[i % COUNT(periods_s)];
		scene_job(&s, 0, 10, 4000 + (double)rng_below(&rng, 6000));
		scene_job(&s, 0, 10, 100 + (double)rng_below(&rng, 3000)); /* leaves its node empty */
		s.config.policy = "zhong:round_s=60,wait_s=0";
		scene_run(&s, &gone);
		s.config.policy = "zhong:round_s=1e6,wait_s=0"; /* looks once, and never again */
		scene_run(&s, &kept);
		assert_true(figure(&gone, "nodes_returned") > figure(&kept, "nodes_returned"));
		assert_true(figure(&gone, "cost") <= figure(&kept, "cost") * (1 + 1e-9));
		outcome_fini(&gone);
		outcome_fini(&kept);
		scene_fini(&s);
	}
}

static void opportunistic_jobs_have_spot_nodes(void **state)
{
	static const char text[] =
		"nodes:\n"
		"  - {devices: 4, type: v100, price_per_h: 2, rentable: true}\n"
		"  - {devices: 4, type: v100, price_per_h: 1, rentable: true, spot: true}\n";
	struct outcome out;
	struct scene s;

	(void)state;
	cloud_init(&s, text);
	scene_job(&s, 0, 1, 100);
	scene_job(&s, 0, 1, 100)->class_ = JOB_OPPORTUNISTIC;
	s.config.want_spans = true;
	scene_run(&s, &out);
	for (uint32_t i = 0; i < out.nspans; i++)
		assert_int_equal(out.spans[i].node, out.spans[i].job);
	outcome_fini(&out);
	scene_fini(&s);
}

/* Between nodes that would be left alike: the one that has been here longest, here the second. */
static void of_equals_the_older_node_is_taken(void **state)
{
	static const char text[] = "renting: {period: 10h}\n"
				   "nodes:\n"
				   "  - {devices: 4, type: v100, price_per_h: 9, rentable: true}\n"
				   "  - {devices: 4, type: v100, price_per_h: 2, rentable: true}\n";
	struct outcome out;
	struct scene s;

	(void)state;
	cloud_init(&s, text);
	scene_job(&s, 0, 4, 1000);   /* the cheaper one is rented */
	scene_job(&s, 100, 4, 1000); /* and then the other */
	scene_job(&s, 2000, 4, 100); /* both are idle, and paid for */
	s.config.policy = "zhong:wait_s=0";
	s.config.want_spans = true;
	scene_run(&s, &out);
	assert_int_equal(out.nspans, 3);
	for (uint32_t i = 0; i < out.nspans; i++)
		assert_int_equal(out.spans[i].node, out.spans[i].job == 1 ? 0 : 1);
	outcome_fini(&out);
	scene_fini(&s);
}

/* ---- properties */

struct witness {
	double boot_s;
	double asked_s[400], gone_s[400];
	uint32_t nasked, ngone;
};

static void see(void *self, const struct event *event, const struct job *job)
{
	struct witness *w = self;

	(void)job;
	if (event->kind == EV_NODE_UP && w->nasked < 400)
		w->asked_s[w->nasked++] = event->at_s - w->boot_s;
	if (event->kind == EV_NODE_DOWN && w->ngone < 400)
		w->gone_s[w->ngone++] = event->at_s;
}

static void draw(struct scene *s, struct rng *rng)
{
	scene_draw(s, rng, (struct draw){ 40, 3000, 600, 8 });
	for (uint32_t i = 0; i < s->trace.njobs; i++) {
		s->trace.jobs[i].cpus = (double)rng_below(rng, 9);
		s->trace.jobs[i].class_ = (uint32_t)rng_below(rng, 2);
		s->trace.jobs[i].stays = rng_below(rng, 4) == 0;
		s->trace.jobs[i].resume_cost_s = 5;
	}
}

static void nobody_is_lost_and_nodes_do_not_come_and_go_at_once(void **state)
{
	static const char text[] =
		"renting: {boot: 90s, period: 10m}\n"
		"nodes:\n"
		"  - {count: 3, devices: 4, cpus: 16, type: v100, price_per_h: 1, rentable: true}\n"
		"  - {count: 2, devices: 8, cpus: 16, type: v100, price_per_h: 3, rentable: true}\n"
		"  - {count: 2, devices: 8, cpus: 16, type: v100, price_per_h: 1, rentable: true, spot: true}\n";
	static const char *const specs[] = { "zhong", "zhong:round_s=30,wait_s=10,threshold=0.6",
		"zhong:pack=spread,reschedule=0" };
	struct rng rng = property(
		"zhong: everybody ends, no node over capacity, no renting and returning at once");

	(void)state;
	for (size_t i = 0; i < rounds(60); i++) {
		struct witness w = { .boot_s = 90 };
		struct observer observers[2];
		struct chosen_policy chosen = scene_policy(specs[i % COUNT(specs)]);
		struct outcome out = { 0 };
		struct referee r;
		struct scene s;

		cloud_init(&s, text);
		draw(&s, &rng);
		scene_ready(&s);
		referee_init(&r, &s.cluster, &s.trace);
		observers[0] = (struct observer){ &w, see };
		observers[1] = referee_observer(&r);
		s.config.observers = observers;
		s.config.nobservers = 2;
		scene_run_policy(&s, referee_policy(&r, chosen), &r, &out);
		referee_end(&r, &out);
		if (r.breach[0])
			fail_msg("%s, round %zu: %s", specs[i % COUNT(specs)], i, r.breach);
		for (uint32_t k = 0; k < out.njobs; k++)
			assert_int_equal(out.jobs[k].state, JOB_FINISHED);
		for (uint32_t a = 0; a < w.nasked; a++) {
			for (uint32_t b = s.cluster.nnodes; b < w.ngone; b++)
				assert_true(fabs(w.asked_s[a] - w.gone_s[b]) > 1e-6);
		}
		outcome_fini(&out);
		scene_policy_fini(&chosen);
		referee_fini(&r);
		scene_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_is_emptied_if_all_its_jobs_fit_elsewhere),
		cmocka_unit_test(none_is_emptied_before_it_has_cooled_down),
		cmocka_unit_test(a_node_costs_from_asking_to_giving_back),
		cmocka_unit_test(nothing_is_rented_twice_for_the_same_demand),
		cmocka_unit_test(an_idle_node_goes_at_the_end_of_what_is_paid),
		cmocka_unit_test(a_node_is_not_emptied_while_it_is_paid_for),
		cmocka_unit_test(giving_an_empty_node_back_costs_nothing),
		cmocka_unit_test(opportunistic_jobs_have_spot_nodes),
		cmocka_unit_test(of_equals_the_older_node_is_taken),
		cmocka_unit_test(nobody_is_lost_and_nodes_do_not_come_and_go_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
