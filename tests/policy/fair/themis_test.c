/*
 * Themis: on workloads in which devices are scarce its worst finish-time ratio is
 * below that of every policy that goes by an order; nothing idles that could be
 * used; and leases are kept.
 */
#include <math.h>
#include <string.h>

#include "io/synth.h"
#include "support/desk.h"
#include "support/property.h"
#include "support/scene.h"

static double worst_rho(const struct cluster *cluster, const struct trace *trace, const char *policy)
{
	struct sim_config config;
	struct outcome out;
	struct err err = { 0 };
	double worst = 0;

	sim_config_init(&config);
	config.trace = trace;
	config.cluster = cluster;
	config.policy = policy;
	if (sim_run(&config, &out, &err) < 0)
		fail_msg("%s: %s", policy, err.text);
	for (uint32_t i = 0; i < out.njobs; i++) {
		const struct job *job = &out.jobs[i];

		assert_int_equal(job->state, JOB_FINISHED);
		worst = fmax(worst, (job->finish_s - job->arrival_s) / job->fair_s);
	}
	outcome_fini(&out);
	return worst;
}

/* Returns devices withheld; `ends_s`: when jobs ended, all together. */
static double withheld(const struct cluster *cluster, const struct trace *trace, const char *policy,
	double *ends_s)
{
	struct sim_config config;
	struct outcome out;
	struct err err = { 0 };
	double gpus = NAN;

	sim_config_init(&config);
	config.trace = trace;
	config.cluster = cluster;
	config.policy = policy;
	if (sim_run(&config, &out, &err) < 0)
		fail_msg("%s: %s", policy, err.text);
	for (uint32_t i = 0; i < out.nfigures; i++) {
		if (!strcmp(out.figures[i].name, "withheld_gpus"))
			gpus = out.figures[i].value;
	}
	*ends_s = 0;
	for (uint32_t i = 0; i < out.njobs; i++)
		*ends_s += out.jobs[i].finish_s;
	outcome_fini(&out);
	return gpus;
}

/*
 * On 64 devices: jobs of half an hour to a week that come evenly, nearly all in a row, all at once, by day; of 10 h, an
 * hour and 6 minutes on average; and as in two clusters, where most are shorter than a lease by far.
 */
static const char *const workloads[] = {
	"jobs=150,load=1.5,durations=blox,gpus=pow2",
	"jobs=200,load=2,durations=blox,arrivals=burst,gpus=pow2",
	"jobs=200,arrivals=static,durations=blox,gpus=pow2",
	"jobs=200,load=2,durations=blox,arrivals=diurnal,gpus=pow2",
	"jobs=200,load=2,durations=exponential,duration_scale=10,gpus=pow2",
	"jobs=300,load=1.5,durations=exponential,gpus=pow2",
	"jobs=300,load=2,durations=exponential,duration_scale=0.1,gpus=pow2",
	"jobs=300,load=2,durations=philly,gpus=pow2",
	"jobs=300,load=2,durations=helios,gpus=helios",
};

static void worst_ratio_is_below_every_order_policy_s(void **state)
{
	(void)state;
	for (size_t w = 0; w < COUNT(workloads); w++) {
		struct cluster cluster = { 0 };
		struct trace trace = { 0 };
		struct err err = { 0 };
		double themis;

		if (cluster_parse("8x8:v100", &cluster, &err) < 0 ||
			synth_trace(workloads[w], &cluster, &trace, &err) < 0)
			fail_msg("%s", err.text);
		themis = worst_rho(&cluster, &trace, "themis");
		printf("%s: themis %.3f;", workloads[w], themis);
		for (const struct policy *const *p = policies; *p; p++) {
			double other;

			if (strcmp((*p)->family, "order") != 0)
				continue;
			other = worst_rho(&cluster, &trace, (*p)->name);
			printf(" %s %.3f", (*p)->name, other);
			if (!(themis < other))
				fail_msg("%s: themis %.4f, %s %.4f", workloads[w], themis,
					(*p)->name, other);
		}
		printf("\n");
		trace_fini(&trace);
		cluster_fini(&cluster);
	}
}

/*
 * Ten apps of 100 s that came 100 s apart, one device: whoever came first is worst off, and whoever came last would gain
 * most by it.  So the last of those who are offered it has it.
 */
static void the_worst_off_are_offered(void **state)
{
	static const struct {
		const char *policy, *who;
	} rows[] = {
		{ "themis", "B" }, /* two of ten */
		{ "themis:f=1", "A" },
		{ "themis:f=0.5", "E" },
		{ "themis:f=0", "J" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct desk desk;

		desk_init(&desk, "1x1");
		for (int k = 0; k < 10; k++)
			desk_job(&desk, 100 * k, 1, 100, 0);
		desk_decide(&desk, rows[i].policy, 1000);
		assert_string_equal(desk_who(&desk), rows[i].who);
		desk_fini(&desk);
	}
}

/* Whoever waits after a decision would not have fitted. */
static void nothing_idles_that_somebody_can_use(void **state)
{
	static const char *const specs[] = { "themis", "themis:f=1", "themis:f=0,rounding=down",
		"themis:app=tenant", "themis:starved=never,rounding=down", "themis:noise=0.5" };
	struct rng rng = property("themis leaves nothing idle");

	(void)state;
	for (size_t round = 0; round < rounds(300); round++) {
		struct desk desk;
		uint32_t free;

		desk_init(&desk, "4x4");
		for (uint32_t n = pick(&rng, 30); n > 0; n--) {
			struct job *job = desk_job(&desk, (double)rng_below(&rng, 100),
				1 << rng_below(&rng, 3), 1 + (double)rng_below(&rng, 500), 0);

			job->tenant = (uint32_t)rng_below(&rng, 3);
		}
		desk_decide(&desk, specs[round % COUNT(specs)], 100);
		free = plan_free(&desk.plan, 0);
		for (uint32_t i = 0; i < desk.jobs.n; i++) {
			if (!desk_runs(&desk, i))
				assert_true((uint32_t)desk.jobs.at[i].gpus > free);
		}
		desk_fini(&desk);
	}
}

/* What winners pay with is withheld from them; by the paper's rule that changes who runs. */
static void who_pays_stands_back(void **state)
{
	struct cluster cluster = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };
	double paid_s, carried_s;

	(void)state;
	if (cluster_parse("8x8:v100", &cluster, &err) < 0 ||
		synth_trace(workloads[0], &cluster, &trace, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(withheld(&cluster, &trace, "themis:rounding=down", &paid_s) > 0);
	assert_true(withheld(&cluster, &trace, "themis", &carried_s) == 0); /* nobody owes a whole lease */
	assert_true(paid_s != carried_s);
	trace_fini(&trace);
	cluster_fini(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worst_ratio_is_below_every_order_policy_s),
		cmocka_unit_test(the_worst_off_are_offered),
		cmocka_unit_test(nothing_idles_that_somebody_can_use),
		cmocka_unit_test(who_pays_stands_back),
	};

	return cmocka_run_group_tests_name("policy/fair/themis", tests, NULL, NULL);
}
