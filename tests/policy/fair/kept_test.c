/*
 * fair-share:reserve_s: a wide job does not starve behind a stream of small ones, which it does
 * without; and what is kept for it is not kept from those that do not delay it.
 */
#include "policy/fair/kept.h"

#include <string.h>

#include "support/property.h"
#include "support/scene.h"

enum {
	DEVICES = 8,
	STREAM_S = 12000, /* small jobs keep coming for so long */
	LONGEST_S = 200,  /* that a small job takes */
	RESERVE_S = 600,
	WIDE_S = 1000, /* when the wide job comes */
};

struct stream {
	bool limits;      /* small jobs have time limits, half as long again as they take */
	uint32_t tenants; /* that they belong to; the wide job is of the first, or, where there are several, of none of them */
};

/* More small jobs than the devices can run, and one that needs all of them. */
static void draw_stream(struct scene *s, struct rng *rng, struct stream stream)
{
	static const char *const names[] = { "ann", "bob", "cy" };
	double at_s = 0;

	scene_init(s, "1x8:v100");
	for (uint32_t i = 0; i < COUNT(names); i++)
		names_add(&s->trace.tenants, names[i], strlen(names[i]));
	for (uint32_t n = 0; at_s < STREAM_S; n++) {
		double work = 50 + (double)rng_below(rng, LONGEST_S - 50);
		struct job *job = scene_job(s, at_s, 1 + (int)rng_below(rng, 2), work);

		job->tenant = (uint32_t)rng_below(rng, stream.tenants);
		job->limit_s = stream.limits ? work * 1.5 : 0;
		job->stop_loses = true;
		at_s += (double)rng_below(rng, 40);
	}
	scene_job(s, WIDE_S, DEVICES, 100)->tenant = stream.tenants == 1 ? 0 : NAME_NONE;
	scene_ready(s);
}

/* Seconds that the wide job waited. */
static double wide_waited_s(uint64_t seed, struct stream stream, const char *policy)
{
	struct outcome out;
	struct rng rng;
	struct scene s;
	double waited_s = NAN;

	rng_for(&rng, seed, RNG_TEST, 0);
	draw_stream(&s, &rng, stream);
	s.config.policy = policy;
	scene_run(&s, &out);
	for (uint32_t i = 0; i < out.njobs; i++) {
		assert_int_equal(out.jobs[i].state, JOB_FINISHED);
		if (out.jobs[i].gpus == DEVICES)
			waited_s = out.jobs[i].start_s - out.jobs[i].arrival_s;
	}
	outcome_fini(&out);
	scene_fini(&s);
	return waited_s;
}

/*
 * Small jobs of its own tenant that came later stand behind it, and so do those of tenants that have had more: once it has
 * waited long enough, those that run end, at their limit at the latest.
 */
static const struct {
	struct stream stream;
	const char *options;
} cases[] = {
	{ { false, 1 }, "" },
	{ { true, 1 }, ",priority=1" },
	{ { false, 1 }, ",preempt=1,elastic=1,priority=1" },
	{ { true, 1 }, ",preempt=1,elastic=1,priority=1" },
	{ { false, 3 }, "" },
	{ { true, 3 }, ",priority=1" },
};

static void a_wide_job_starts_in_time(void **state)
{
	uint64_t first = property_seed();

	(void)state;
	printf("[   SEED   ] %llu: a stream of small jobs and a wide one\n", (unsigned long long)first);
	for (uint64_t seed = first; seed < first + rounds(60); seed++) {
		size_t i = seed % COUNT(cases);
		char with[128], without[128];
		double kept_s, starved_s;

		snprintf(with, sizeof(with), "fair-share:reserve_s=%d%s", RESERVE_S, cases[i].options);
		snprintf(without, sizeof(without), "fair-share:reserve_s=0%s", cases[i].options);
		kept_s = wide_waited_s(seed, cases[i].stream, with);
		starved_s = wide_waited_s(seed, cases[i].stream, without);
		if (kept_s > RESERVE_S + 2 * LONGEST_S)
			fail_msg("%s, seed %llu: the wide job waited %g s", with,
				(unsigned long long)seed, kept_s);
		if (starved_s < STREAM_S - WIDE_S)
			fail_msg("%s, seed %llu: the wide job waited only %g s, so this shows nothing",
				without, (unsigned long long)seed, starved_s);
	}
}

static struct job *limited(struct scene *s, double at_s, int gpus, double work, double limit_s)
{
	struct job *job = scene_job(s, at_s, gpus, work);

	job->limit_s = limit_s;
	return job;
}

/* Two jobs that run until 100 and 300, then a wide one; what others may do meanwhile. */
static void others_start_if_they_do_not_delay_it(void **state)
{
	static const struct {
		const char *what;
		int wide;
		double limit_s; /* of another job of 150 s */
		double starts_s, wide_starts_s;
	} rows[] = {
		{ "one that ends in time", 4, 200, 100, 300 },
		{ "one that may not", 4, 201, 400, 300 },
		{ "one that may run for ever", 4, 0, 400, 300 },
		{ "one beside which there is room for both", 3, 0, 100, 300 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome out;
		struct scene s;

		scene_init(&s, "1x4:v100");
		limited(&s, 0, 2, 100, 100);
		limited(&s, 0, 2, 300, 300);
		limited(&s, 1, rows[i].wide, 100, 0);
		limited(&s, 50, 1, 150, rows[i].limit_s);
		s.config.policy = "fair-share:reserve_s=10";
		scene_run(&s, &out);
		if (out.jobs[2].start_s != rows[i].wide_starts_s ||
			out.jobs[3].start_s != rows[i].starts_s)
			fail_msg("%s: starts at %g, the wide job at %g", rows[i].what,
				out.jobs[3].start_s, out.jobs[2].start_s);
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* Jobs without a limit may run for ever, so that no moment is known. */
static void without_limits_what_comes_free_is_kept(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	scene_init(&s, "1x4:v100");
	limited(&s, 0, 2, 100, 0);
	limited(&s, 0, 2, 300, 0);
	limited(&s, 1, 4, 100, 0);
	limited(&s, 50, 1, 10, 10);
	s.config.policy = "fair-share:reserve_s=10";
	scene_run(&s, &out);
	assert_true(out.jobs[2].start_s == 300);
	assert_true(out.jobs[3].start_s == 400);
	outcome_fini(&out);
	scene_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wide_job_starts_in_time),
		cmocka_unit_test(others_start_if_they_do_not_delay_it),
		cmocka_unit_test(without_limits_what_comes_free_is_kept),
	};

	return cmocka_run_group_tests_name("policy/fair/kept", tests, NULL, NULL);
}
