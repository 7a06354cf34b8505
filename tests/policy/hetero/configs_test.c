/*
 * Configurations: which there are, what shares of them are worth, and that
 * turns give them.
 */
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "policy/hetero/gavel.h"
#include "support/desk.h"
#include "support/property.h"
#include "support/scene.h"

/* ---- which there are */

static const struct round *round_of(const struct desk *desk, struct round *round)
{
	*round = (struct round){
		.cluster = &desk->cluster,
		.belief = &desk->belief,
		.jobs = desk->jobs.at,
		.njobs = (uint32_t)desk->jobs.n,
		.active = desk->ids.at,
		.nactive = (uint32_t)desk->ids.n,
		.scratch = (struct arena *)&desk->scratch,
	};
	return round;
}

/* "2a 1a+1b": counts by type, types as letters. */
static void write_configs(const struct configs *configs, struct buf *out)
{
	for (size_t i = 0; i < configs->list.n; i++) {
		const struct grant_part *part = configs->list.at[i].part;

		buf_printf(out, "%s%u%c", i ? " " : "", part[0].gpus, 'a' + (int)part[0].type);
		if (config_mixed(part))
			buf_printf(out, "+%u%c", part[1].gpus, 'a' + (int)part[1].type);
	}
}

static void a_job_has_these(void **state)
{
	static const struct {
		const char *what, *cluster;
		int least, asked, most;
		uint32_t types;
		struct config_rules rules;
		const char *want;
	} rows[] = {
		{ "as asked", "1x8:a,1x8:b", 1, 4, 8, 0, { 0 }, "4a 4b" },
		{ "powers of two", "1x8:a", 1, 4, 8, 0, { .free_gangs = true }, "4a 1a 2a 8a" },
		{ "and the ends", "1x16:a", 3, 5, 11, 0, { .free_gangs = true }, "5a 3a 4a 8a 11a" },
		{ "no more than there are", "1x4:a", 1, 2, 8, 0, { .free_gangs = true }, "2a 1a 4a" },
		{ "on types it may use", "1x4:a,1x4:b", 1, 1, 2, 2, { .free_gangs = true }, "1a 1b 2b" },
		{ "not elastic", "1x8:a", 4, 4, 4, 0, { .free_gangs = true }, "4a" },
		{ "one device is never mixed", "1x4:a,1x4:b", 1, 1, 1, 0,
			{ .across = ACROSS_SLOWEST }, "1a 1b" },
		{ "two are", "1x4:a,1x4:b", 2, 2, 2, 0, { .across = ACROSS_SLOWEST }, "2a 2b 1a+1b" },
		{ "splits", "1x8:a,1x8:b", 8, 8, 8, 0, { .across = ACROSS_BALANCED },
			"8a 8b 7a+1b 6a+2b 4a+4b 2a+6b 1a+7b" },
		{ "that there are devices for", "1x8:a,1x2:b", 4, 4, 4, 0,
			{ .across = ACROSS_BALANCED }, "4a 4b 3a+1b 2a+2b" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct configs configs = { 0 };
		struct buf text = { 0 };
		struct round round;
		struct desk desk;
		struct job *job;

		desk_init(&desk, rows[i].cluster);
		job = desk_job(&desk, 0, rows[i].asked, 100, 0);
		job->min_gpus = rows[i].least;
		job->max_gpus = rows[i].most;
		job->types = rows[i].types;
		configs_add(&configs, round_of(&desk, &round), job, &rows[i].rules);
		write_configs(&configs, &text);
		if (strcmp(text.at, rows[i].want) != 0)
			fail_msg("%s: %s, not %s", rows[i].what, text.at, rows[i].want);
		buf_fini(&text);
		vec_fini(&configs.list);
		desk_fini(&desk);
	}
}

/* ---- what they are worth */

/* Twice the devices are one and a half times as fast. */
static void add_bad_scaling(struct profile *profile, uint32_t model, uint32_t type, double speed)
{
	for (uint32_t gpus = 1; gpus <= 8; gpus *= 2, speed *= 1.5)
		profile_add(profile, model, type, gpus, 0, speed);
}

static void elastic_jobs_are_worth_more_apart(void **state)
{
	static const struct {
		bool free;
		double level;
	} rows[] = {
		/* Each has all four devices for a quarter of the time, or one of them all the time. */
		{ false, 1 },
		{ true, 4 / 2.25 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct gavel g = { .hetero = true, .turns.configs.free_gangs = rows[i].free };
		struct names models = { 0 };
		struct program program;
		struct shares shares;
		struct round round;
		struct err err = { 0 };
		struct desk desk;

		desk_init(&desk, "1x4:a");
		names_add(&models, "m", 1);
		desk.belief.profile = profile_create(&desk.cluster, &models);
		add_bad_scaling((struct profile *)desk.belief.profile, 0, 0, 1);
		for (int k = 0; k < 4; k++) {
			struct job *job = desk_job(&desk, 0, 4, 100, 0);

			job->min_gpus = 1;
			job->model = 0;
			job->by_steps = true;
		}
		program_init_configs(&program, round_of(&desk, &round), &desk.plan, false,
			&g.turns.configs);
		shares_init(&shares, &program);
		assert_int_equal(program.config_rows, rows[i].free ? 4 : 0);
		if (rows[i].free)
			gavel_configs(&g, &program, &shares, &err);
		else
			gavel_max_min(&g, &program, &shares, &err);
		assert_true(fabs(shares.value - rows[i].level) < 1e-6);
		profile_destroy((struct profile *)desk.belief.profile);
		names_fini(&models);
		desk_fini(&desk);
	}
}

enum { MODELS = 4 };

/* A cluster of three types, and jobs of random models, counts and weights. */
struct world {
	struct desk desk;
	struct names models;
	struct round round;
};

static void draw_world(struct world *w, struct rng *rng, bool elastic)
{
	struct profile *profile;

	desk_init(&w->desk, "2x4:a,4x2:b,8x1:c");
	w->models = (struct names){ 0 };
	for (uint32_t m = 0; m < MODELS; m++)
		names_add(&w->models, &"mnop"[m], 1);
	profile = profile_create(&w->desk.cluster, &w->models);
	for (uint32_t m = 0; m < MODELS; m++) {
		for (uint32_t type = 0; type < 3; type++)
			add_bad_scaling(profile, m, type, pick(rng, 100) / 10.0);
	}
	w->desk.belief.profile = profile;
	for (uint32_t n = pick(rng, 20); n > 0; n--) {
		struct job *job = desk_job(&w->desk, 0, 1 << rng_below(rng, 4), pick(rng, 100), 0);

		job->model = (uint32_t)rng_below(rng, MODELS);
		job->by_steps = true;
		job->weight = pick(rng, 3);
		if (elastic && rng_below(rng, 2)) {
			job->min_gpus = (int32_t)pick(rng, (uint32_t)job->gpus);
			job->max_gpus = job->gpus + (int32_t)rng_below(rng, 4);
		}
	}
	round_of(&w->desk, &w->round);
}

static void destroy_world(struct world *w)
{
	profile_destroy((struct profile *)w->desk.belief.profile);
	names_fini(&w->models);
	desk_fini(&w->desk);
}

static double value_of(struct world *w, struct gavel *g, struct program *program, struct shares *shares)
{
	struct err err = { 0 };

	program_init_configs(program, &w->round, &w->desk.plan, false, &g->turns.configs);
	shares_init(shares, program);
	if (program->config_rows > 0)
		assert_int_equal(gavel_configs(g, program, shares, &err), 0);
	else if (g->objective == OBJECTIVE_MAX_MIN)
		assert_int_equal(gavel_max_min(g, program, shares, &err), 0);
	else
		assert_int_equal(gavel_makespan(g, program, shares, &err), 0);
	return shares->value;
}

/* Nobody has more than all its time, no type more than it has, and each as much as the value says. */
static void assert_holds(const struct program *p, const struct shares *s, int objective)
{
	double used[3] = { 0 };

	assert_null(s->fallback);
	for (uint32_t row = 0; row < p->jobs; row++) {
		double sum = 0;

		for (uint32_t i = p->config_start[row]; i < p->config_start[row + 1]; i++) {
			const struct config *c = &p->config[i];

			assert_true(s->config_x[i] >= 0);
			assert_true(c->speed > 0 || s->config_x[i] == 0);
			sum += s->config_x[i];
			for (int k = 0; k < 2; k++)
				used[c->part[k].type] += s->config_x[i] * c->part[k].gpus;
		}
		assert_true(sum < 1 + 1e-6);
		assert_true(objective == OBJECTIVE_MAX_MIN ? s->level[row] > s->value * (1 - 1e-5)
							   : s->level[row] < s->value * (1 + 1e-5));
	}
	for (uint32_t type = 0; type < 3; type++)
		assert_true(used[type] < 8 + 1e-5);
}

static void more_to_choose_from_is_never_worse(void **state)
{
	struct rng rng = property("configurations hold and are worth at least what plain shares are");

	(void)state;
	for (size_t i = 0; i < rounds(60); i++) {
		struct gavel plain = { .hetero = true };
		struct gavel g = { .hetero = true };
		struct program program;
		struct shares shares;
		struct world w;
		double before, after;

		plain.objective = g.objective = i % 2 ? OBJECTIVE_MAX_MIN : OBJECTIVE_MAKESPAN;
		g.turns.configs.free_gangs = rng_below(&rng, 3) > 0;
		g.turns.configs.across = (int)rng_below(&rng, 3);
		if (!config_rules_any(&g.turns.configs))
			g.turns.configs.free_gangs = true;
		draw_world(&w, &rng, true);
		before = value_of(&w, &plain, &program, &shares);
		after = value_of(&w, &g, &program, &shares);
		assert_holds(&program, &shares, g.objective);
		if (g.objective == OBJECTIVE_MAX_MIN)
			assert_true(after > before * (1 - 1e-5));
		else
			assert_true(after < before * (1 + 1e-5));
		destroy_world(&w);
	}
}

/* With nothing to choose but types, both ways must find the same. */
static void plain_configurations_are_worth_what_types_are(void **state)
{
	struct rng rng = property("the general program agrees with the one for types");

	(void)state;
	for (size_t i = 0; i < rounds(60); i++) {
		struct gavel plain = { .hetero = true }, g = { .hetero = true };
		struct program program;
		struct shares shares;
		struct world w;
		double before;

		plain.objective = g.objective = i % 2 ? OBJECTIVE_MAX_MIN : OBJECTIVE_MAKESPAN;
		g.turns.configs.free_gangs = true;
		draw_world(&w, &rng, false);
		before = value_of(&w, &plain, &program, &shares);
		assert_true(fabs(value_of(&w, &g, &program, &shares) / before - 1) < 1e-5);
		destroy_world(&w);
	}
}

/* ---- turns */

/* A model that needs four small devices or one large one. */
static void a_gang_may_depend_on_the_type(void **state)
{
	static const uint16_t gangs[TYPES_MAX] = { 1, 4 };
	struct outcome out;
	struct scene scene;

	(void)state;
	scene_init(&scene, "1x1:large,1x4:small");
	names_add(&scene.trace.types, "large", 5);
	names_add(&scene.trace.types, "small", 5);
	for (int i = 0; i < 2; i++)
		scene_job(&scene, 0, 4, 1000)->gpus_by_type = trace_gangs(&scene.trace, gangs);
	scene.config.policy = "gavel";
	scene_run(&scene, &out);
	/* Each has one type; nobody waits. */
	for (uint32_t i = 0; i < out.njobs; i++)
		assert_true(fabs(out.jobs[i].finish_s - 1000) < 1e-6);
	outcome_fini(&out);
	scene_fini(&scene);
}

/* Four alike with a device each: nothing is to be had by changing. */
static void who_has_its_share_is_left_alone(void **state)
{
	struct outcome out;
	struct scene scene;

	(void)state;
	scene_init(&scene, "1x4:a");
	scene.config.costs = (struct costs){ .resume_s = 10, .resize_s = 10 };
	for (int i = 0; i < 4; i++)
		scene_job(&scene, 0, 2, 5000)->min_gpus = 1;
	scene.config.policy = "gavel:gangs=free";
	scene_run(&scene, &out);
	for (uint32_t i = 0; i < out.njobs; i++) {
		assert_int_equal(out.jobs[i].resizes, 0);
		assert_int_equal(out.jobs[i].preemptions, 0);
	}
	outcome_fini(&out);
	scene_fini(&scene);
}

/* ---- options */

static void options_that_do_not_go_together_are_named(void **state)
{
	static const struct {
		const char *options, *says;
	} rows[] = {
		{ "gangs=free,objective=fifo",
			"gangs=free goes with objective=max-min, makespan or "
			"throughput, not with fifo" },
		{ "across=balanced,objective=cost",
			"across=balanced goes with objective=max-min, "
			"makespan or throughput, not with cost" },
		{ "across=slowest,packing=1", "across=slowest does not go together with" },
		{ "gangs=free,compat=gavel", "gangs=free does not go together with" },
		{ "gangs=free,water_filling=1", "gangs=free does not go together with" },
		{ "gangs=free,hetero=0", "gangs=free does not go together with" },
	};
	struct err err = { 0 };
	const struct policy *policy = policy_find("gavel", &err);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		void *self = mem_alloc(policy->state_size);

		err = (struct err){ 0 };
		option_defaults(policy->options, self);
		assert_int_equal(option_parse(policy->options, self, "gavel", rows[i].options, &err),
			0);
		assert_int_equal(policy->init(self, &err), ERR_USAGE);
		assert_non_null(strstr(err.text, rows[i].says));
		policy->fini(self);
		free(self);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_has_these),
		cmocka_unit_test(elastic_jobs_are_worth_more_apart),
		cmocka_unit_test(more_to_choose_from_is_never_worse),
		cmocka_unit_test(plain_configurations_are_worth_what_types_are),
		cmocka_unit_test(a_gang_may_depend_on_the_type),
		cmocka_unit_test(who_has_its_share_is_left_alone),
		cmocka_unit_test(options_that_do_not_go_together_are_named),
	};

	return cmocka_run_group_tests_name("policy/hetero/configs", tests, NULL, NULL);
}
