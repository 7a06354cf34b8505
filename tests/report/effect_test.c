#include "report/effect.h"

#include "report/fixture.h"

enum { ARMS = 4, SEEDS = 11 };

static const struct contender contenders[ARMS] = {
	{ .label = "present" },
	{ .label = "half" },
	{ .label = "same" },
	{ .label = "noisy" },
};

/* The run time is 100 s: waiting 100 s makes a completion time of 200 s. */
static double wait_of(uint32_t arm, uint32_t seed)
{
	double present = 100 + 10.0 * seed;

	switch (arm) {
	case 1:
		return present / 2 - 50; /* its completion time is half of the present one's */
	case 3:
		return present + (seed % 2 ? 5 : -5);
	default:
		return present;
	}
}

static void fill(struct comparison *c, struct fixture *f, uint32_t nseeds)
{
	uint64_t seeds[SEEDS];

	fixture_init(f, 4);
	for (uint32_t s = 0; s < nseeds; s++)
		seeds[s] = s;
	comparison_init(c, &f->cluster, contenders, ARMS, seeds, nseeds);
	for (uint32_t a = 0; a < ARMS; a++) {
		for (uint32_t s = 0; s < nseeds; s++) {
			struct outcome o = fixture_run(f, wait_of(a, s));

			comparison_put(c, a, s, &f->trace, &o);
			fixture_run_fini(&o);
		}
	}
	comparison_finish(c);
}

static void release(struct comparison *c, struct fixture *f)
{
	comparison_fini(c);
	fixture_fini(f);
}

static void a_factor_is_seen_as_one(void **state)
{
	size_t jct = metric_index("jct_mean_s");
	struct comparison c;
	struct fixture f;
	struct effect e;
	struct buf text = { 0 };

	(void)state;
	fill(&c, &f, SEEDS);
	e = effect_of(&c, jct, 0, 1);
	assert_true(fabs(e.change + 0.5) < 1e-9 && fabs(e.low + 0.5) < 1e-9);
	assert_true(e.p < 0.002 && e.sign == 1);
	assert_int_equal(e.better, SEEDS);
	effect_text(&e, jct, &text);
	assert_string_equal(text.at, "-50 % (-50 to -50)");
	buf_clear(&text);
	e = effect_of(&c, jct, 0, 2);
	assert_true(e.change == 0 && e.sign == 0 && e.better == 0 && isnan(e.p));
	effect_text(&e, jct, &text);
	assert_string_equal(text.at, "the same");
	e = effect_of(&c, jct, 0, 3);
	assert_true(e.p > 0.1 && e.low < 0 && e.high > 0);
	e = effect_of(&c, jct, 1, 0);
	assert_true(e.sign == -1 && e.better == 0 && fabs(e.change - 1) < 1e-9);
	buf_fini(&text);
	release(&c, &f);
}

static void one_seed_has_no_interval(void **state)
{
	size_t jct = metric_index("jct_mean_s");
	struct comparison c;
	struct fixture f;
	struct effect e;
	struct buf text = { 0 };

	(void)state;
	fill(&c, &f, 1);
	e = effect_of(&c, jct, 0, 1);
	assert_true(isnan(e.low) && isnan(e.p) && e.n == 1);
	effect_text(&e, jct, &text);
	assert_string_equal(text.at, "-50 %");
	buf_fini(&text);
	release(&c, &f);
}

static void from_nothing_the_values_are_said(void **state)
{
	struct effect e = { .before = 0, .after = 7200, .change = NAN, .n = 2 };
	struct effect none = { .n = 0 };
	struct buf text = { 0 };

	(void)state;
	effect_text(&e, metric_index("wait_mean_s"), &text);
	assert_non_null(strstr(text.at, " to 2.00 h"));
	buf_clear(&text);
	effect_text(&none, metric_index("wait_mean_s"), &text);
	assert_string_equal(text.at, "unknown");
	buf_fini(&text);
}

static void holm_is_as_in_the_books(void **state)
{
	double p[] = { 0.01, 0.04, NAN, 0.03, 0.005 }, all[] = { 0.9, 0.8 };

	(void)state;
	effect_holm(p, 5);
	assert_true(fabs(p[0] - 0.03) < 1e-12 && fabs(p[1] - 0.06) < 1e-12);
	assert_true(isnan(p[2]) && fabs(p[3] - 0.06) < 1e-12 && fabs(p[4] - 0.02) < 1e-12);
	effect_holm(all, 2);
	assert_true(all[0] == 1 && all[1] == 1);
	effect_holm(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_factor_is_seen_as_one),
		cmocka_unit_test(one_seed_has_no_interval),
		cmocka_unit_test(from_nothing_the_values_are_said),
		cmocka_unit_test(holm_is_as_in_the_books),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
