/*
 * A copy with a part of the queue: which jobs it has, and that what becomes of them is what becomes of them
 * with all others.
 */
#include "play.h"
#include "sim/forecast.h"
#include "sim/habits.h"

enum { JOBS = 90, MOST = 30 };

static uint32_t jobs_in(const struct snapshot *s)
{
	return (uint32_t)s->jobs.n;
}

static void copy(struct play *p, double at_s, size_t most, uint32_t keep, struct snapshot *out)
{
	core_snapshot_of(p->core, at_s, &(struct snapshot_want){ .most = most, .keep = keep }, out);
}

static void a_short_queue_is_copied_whole(void **state)
{
	struct snapshot s;
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	for (int i = 0; i < 5; i++)
		play_submit(&p, i, (struct ask){ .gpus = 1, .estimate_s = 60 });
	copy(&p, 10, 4, 0, &s);
	assert_int_equal(jobs_in(&s), 5);
	assert_int_equal(s.rest.n + s.absent.n, 0);
	snapshot_fini(&s);
	play_close(&p);
}

/* A tenant that came late, a priority, a job that is asked about, what it follows: all are there. */
static void every_kind_has_a_part(void **state)
{
	struct snapshot s;
	struct play p;
	uint32_t left = 0;

	(void)state;
	play_open(&p, "1x1", "fair-share");
	for (int i = 0; i < 40; i++)
		play_submit(&p, i, (struct ask){ .gpus = 1, .tenant = "many", .estimate_s = 60 });
	play_submit(&p, 40, (struct ask){ .gpus = 1, .tenant = "few", .estimate_s = 60 });
	play_submit(&p, 41,
		(struct ask){ .gpus = 1, .tenant = "many", .priority = 3, .estimate_s = 60 });
	play_submit(&p, 42,
		(struct ask){ .gpus = 1, .tenant = "many", .hold = true, .estimate_s = 60 });
	play_submit(&p, 43,
		(struct ask){ .gpus = 1, .tenant = "many", .after = { { AFTER_ANY, 39 } } });
	play_submit(&p, 44, (struct ask){ .gpus = 1, .tenant = "many", .after = { { AFTER_ANY, 2 } } });
	copy(&p, 50, 16, 0, &s);
	assert_int_equal(s.nrunning, 1);
	for (uint32_t job = 1; job <= 10; job++)
		assert_true(snapshot_find(&s, job) != JOB_NONE);
	assert_true(snapshot_find(&s, 30) == JOB_NONE);
	assert_true(snapshot_find(&s, 41) != JOB_NONE);
	assert_true(snapshot_find(&s, 42) != JOB_NONE);
	assert_true(snapshot_find(&s, 43) == JOB_NONE); /* held: it takes no room */
	assert_true(snapshot_find(&s, 44) == JOB_NONE); /* follows one that is not there */
	assert_true(snapshot_find(&s, 45) != JOB_NONE);
	assert_int_equal(jobs_in(&s) + s.absent.n, 45);
	for (size_t i = 0; i < s.rest.n; i++)
		left += s.rest.at[i].njobs;
	assert_int_equal(left, s.absent.n);
	for (size_t i = 1; i < s.absent.n; i++)
		assert_true(s.absent.at[i - 1].number < s.absent.at[i].number);
	snapshot_fini(&s);
	copy(&p, 50, 16, 44, &s);
	assert_true(snapshot_find(&s, 44) != JOB_NONE);
	assert_true(snapshot_find(&s, 39) != JOB_NONE);
	assert_int_equal(s.jobs.at[snapshot_find(&s, 44)].nafter, 1);
	snapshot_fini(&s);
	play_close(&p);
}

/* Every job another: kinds are made wider until there is room for some of each. */
static void kinds_are_made_wider(void **state)
{
	struct snapshot s;
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	for (int i = 0; i < 60; i++)
		play_submit(&p, i,
			(struct ask){ .gpus = 1, .tenant = i % 2 ? "a" : "b", .estimate_s = 60 + i });
	copy(&p, 100, 20, 0, &s);
	assert_in_range(jobs_in(&s), 18, 22);
	assert_int_equal(jobs_in(&s) + s.absent.n, 60);
	snapshot_fini(&s);
	play_close(&p);
}

/* ---- the same future */

static double work_of(uint64_t seed, uint32_t number)
{
	struct rng rng;

	rng_for(&rng, seed, RNG_SAMPLE, number);
	return 20 + 400 * rng_uniform(&rng);
}

static void run(const struct snapshot *s, uint64_t seed, struct future_job *out)
{
	double work[JOBS];
	struct err err = { 0 };

	for (size_t i = 0; i < s->jobs.n; i++)
		work[i] = work_of(seed, s->jobs.at[i].number);
	if (future_run(&(struct future_config){ .from = s,
			       .work = work,
			       .until_s = 1e7,
			       .until_ended = true,
			       .seed = 7 },
		    out, &err) < 0)
		fail_msg("%s", err.text);
}

static void submit_some(struct play *p, struct rng *rng)
{
	static const char *const tenants[] = { "ann", "bob", "cyd" };

	for (int i = 0; i < JOBS; i++)
		play_submit(p, i,
			(struct ask){
				.gpus = 1 + (int)rng_below(rng, 2),
				.tenant = tenants[rng_below(rng, 20) < 17 ? 0 : 1 + rng_below(rng, 2)],
				.priority = rng_below(rng, 8) == 0,
				.estimate_s = 120,
			});
}

static void a_part_of_the_queue_goes_the_same_way(void **state)
{
	static const char *const rules[] = { "fifo", "easy", "sjf", "fair-share", "priority", "las" };
	struct rng rng = property("futures of a part of the queue");
	size_t exact = 0, bounded = 0;

	(void)state;
	for (size_t round = 0; round < rounds(24); round++) {
		const char *rule = rules[round % COUNT(rules)];
		struct future_job whole[JOBS], some[JOBS];
		struct snapshot all, part;
		struct play p;
		double until_s;

		play_open(&p, "1x4", rule);
		submit_some(&p, &rng);
		copy(&p, JOBS + 1, 0, 0, &all);
		copy(&p, JOBS + 1, MOST, 0, &part);
		assert_true(part.absent.n > 0);
		run(&all, round, whole);
		run(&part, round, some);
		until_s = future_complete_s(&part, some);
		for (uint32_t i = 0; i < part.jobs.n; i++) {
			uint32_t number = part.jobs.at[i].number;
			double start_s = whole[snapshot_find(&all, number)].start_s;
			bool known = future_is_exact(&part, some, i, until_s);

			if (known && some[i].start_s != start_s)
				fail_msg("%s, round %zu: job %u starts at %g, with all others at %g",
					rule, round, number, some[i].start_s, start_s);
			if (!known && start_s < until_s)
				fail_msg("%s, round %zu: job %u is bound by %g and starts at %g",
					rule, round, number, until_s, start_s);
			*(known ? &exact : &bounded) += 1;
		}
		for (size_t i = 0; i < part.absent.n; i++) {
			uint32_t number = part.absent.at[i].number;

			if (whole[snapshot_find(&all, number)].start_s < until_s)
				fail_msg("%s, round %zu: job %u was left out and starts at %g, before %g",
					rule, round, number,
					whole[snapshot_find(&all, number)].start_s, until_s);
		}
		snapshot_fini(&all);
		snapshot_fini(&part);
		play_close(&p);
	}
	assert_true(exact > 0 && bounded > 0);
}

/* ---- forecasts */

static void who_is_left_out_has_a_bound(void **state)
{
	struct habits habits = { 0 };
	struct forecast f;
	struct snapshot s;
	struct err err = { 0 };
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	for (int i = 0; i < 50; i++)
		play_submit(&p, i, (struct ask){ .gpus = 1, .tenant = "ann", .estimate_s = 100 });
	play_submit(&p, 50,
		(struct ask){ .gpus = 1, .hold = true, .tenant = "ann", .estimate_s = 100 });
	copy(&p, 60, 10, 0, &s);
	habits_settle(&habits);
	if (forecast_run(&(struct forecast_config){ .from = &s, .habits = &habits, .futures = 40 },
		    &f, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(f.jobs.n, 11);
	assert_int_equal(f.absent.n, 40);
	for (size_t i = 0; i < f.jobs.n; i++)
		assert_false(f.jobs.at[i].bounded);
	assert_null(forecast_find_absent(&f, 11));
	assert_non_null(forecast_find_absent(&f, 12));
	assert_null(forecast_find(&f, 12));
	assert_true(forecast_find_absent(&f, 50)->not_before_s == forecast_find(&f, 11)->start.p10);
	assert_true(f.rest_s == forecast_find(&f, 11)->start.p10);
	assert_true(isinf(forecast_find_absent(&f, 51)->not_before_s));
	forecast_fini(&f);
	snapshot_fini(&s);
	habits_fini(&habits);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_queue_is_copied_whole),
		cmocka_unit_test(every_kind_has_a_part),
		cmocka_unit_test(kinds_are_made_wider),
		cmocka_unit_test(a_part_of_the_queue_goes_the_same_way),
		cmocka_unit_test(who_is_left_out_has_a_bound),
	};

	return cmocka_run_group_tests_name("live/core_part", tests, NULL, NULL);
}
