#include "report/advice.h"

#include "base/json.h"
#include "report/fixture.h"

enum { ARMS = 6, SEEDS = 11 };

static const char *const labels[ARMS] = { "present", "good", "best", "same", "slow", "broken" };
/* Completion times are so many times those of the present policy. */
static const double factors[ARMS] = { 1, 0.8, 0.5, 1.0001, 2, 1 };

struct scene {
	struct fixture f;
	struct comparison c;
	struct advice a;
};

static void fill(struct scene *s, uint32_t nseeds)
{
	struct contender contenders[ARMS] = { 0 };
	uint64_t seeds[SEEDS];

	*s = (struct scene){ 0 };
	fixture_init(&s->f, 4);
	for (uint32_t i = 0; i < SEEDS; i++)
		seeds[i] = i;
	for (uint32_t i = 0; i < ARMS; i++)
		contenders[i].label = labels[i];
	comparison_init(&s->c, &s->f.cluster, contenders, ARMS, seeds, nseeds);
	for (uint32_t i = 0; i < ARMS - 1; i++) {
		for (uint32_t k = 0; k < nseeds; k++) {
			struct outcome o = fixture_run(&s->f, (200 + 10.0 * k) * factors[i] - 100);

			comparison_put(&s->c, i, k, &s->f.trace, &o);
			fixture_run_fini(&o);
		}
	}
	comparison_finish(&s->c);
	s->a = (struct advice){ .result = &s->c, .goal = metric_index("jct_mean_s"), .n = ARMS };
	s->a.entries = mem_alloc(ARMS * sizeof(*s->a.entries));
	for (uint32_t i = 0; i < ARMS; i++)
		s->a.entries[i].label = labels[i];
	s->a.entries[ARMS - 1].verdict = ADVICE_CANNOT;
	s->a.entries[ARMS - 1].why = mem_strdup("it wants tea");
}

static void release(struct scene *s)
{
	free(s->a.entries[ARMS - 1].why);
	free(s->a.entries);
	comparison_fini(&s->c);
	fixture_fini(&s->f);
}

static void each_gets_its_verdict(void **state)
{
	static const enum advice_verdict want[ARMS] = { ADVICE_PRESENT, ADVICE_BETTER,
		ADVICE_BETTER, ADVICE_SAME, ADVICE_WORSE, ADVICE_CANNOT };
	struct scene s;
	struct buf text = { 0 };
	struct term term = { .width = 120 };

	(void)state;
	fill(&s, SEEDS);
	advice_judge(&s.a);
	for (uint32_t i = 0; i < ARMS; i++)
		assert_int_equal(s.a.entries[i].verdict, want[i]);
	assert_int_equal(s.a.best, 2);
	advice_lead(&s.a, &text);
	assert_non_null(strstr(text.at, "best would have been better than present: mean JCT -50 %"));
	assert_non_null(strstr(text.at, "in 11 of 11 seeds"));
	assert_null(strstr(text.at, "about as good")); /* good is not as good */
	buf_clear(&text);
	advice_text(&s.a, &term, &text);
	assert_true(strstr(text.at, "best") < strstr(text.at, "good "));
	assert_non_null(strstr(text.at, "broken cannot be used here: it wants tea"));
	assert_false(has_nan(text.at));
	buf_fini(&text);
	release(&s);
}

static void one_seed_recommends_nothing(void **state)
{
	struct scene s;
	struct buf text = { 0 };

	(void)state;
	fill(&s, 1);
	advice_judge(&s.a);
	assert_int_equal(s.a.best, -1);
	advice_lead(&s.a, &text);
	assert_non_null(strstr(text.at, "the present policy, present, is among the best"));
	buf_fini(&text);
	release(&s);
}

static void it_is_json(void **state)
{
	struct scene s;
	struct buf text = { 0 };
	struct json j;

	(void)state;
	fill(&s, SEEDS);
	s.a.entries[4].verdict = ADVICE_DROPPED;
	advice_judge(&s.a);
	json_init(&j, &text, true);
	json_begin_object(&j, NULL);
	advice_members(&j, &s.a, "stint policy set best");
	json_end(&j, '}');
	assert_non_null(strstr(text.at, "\"command\": \"stint policy set best\""));
	assert_non_null(strstr(text.at, "\"why\": \"it wants tea\""));
	assert_non_null(strstr(text.at, "\"verdict\": \"tried once\""));
	assert_false(has_nan(text.at));
	buf_fini(&text);
	release(&s);
}

static void what_is_no_number_is_never_preferred(void **state)
{
	size_t jct = metric_index("jct_mean_s"), jain = metric_index("jain");

	(void)state;
	assert_true(advice_prefers(jct, 1, 2) && !advice_prefers(jct, 2, 1));
	assert_true(advice_prefers(jain, 2, 1) && !advice_prefers(jain, 1, 1));
	assert_true(advice_prefers(jct, 1, NAN) && !advice_prefers(jct, NAN, 1));
	assert_false(advice_prefers(jct, NAN, NAN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_gets_its_verdict),
		cmocka_unit_test(one_seed_recommends_nothing),
		cmocka_unit_test(it_is_json),
		cmocka_unit_test(what_is_no_number_is_never_preferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
