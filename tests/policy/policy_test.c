/*
 * The tables: every entry is complete, found by its name, and its options read
 * back as they were written.
 */
#include "policy/policy.h"

#include <math.h>
#include <string.h>

#include "policy/admission.h"
#include "support/property.h"

static bool is_name(const char *name)
{
	return name[0] && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

static void every_policy_is_complete(void **state)
{
	static const char *const families[] = { "order", "fair", "hetero", "elastic", "deadline",
		"share", "locality", "tasks" };

	(void)state;
	for (size_t i = 0; policies[i]; i++) {
		const struct policy *p = policies[i];
		bool known = false;

		for (size_t k = 0; k < COUNT(families); k++)
			known |= strcmp(p->family, families[k]) == 0;
		if (!known || !is_name(p->name) || !p->summary || !p->decide || p->state_size == 0)
			fail_msg("policy %zu (%s) is not complete", i, p->name);
		if (i > 0 && strcmp(policies[i - 1]->name, p->name) >= 0)
			fail_msg("%s comes before %s", policies[i - 1]->name, p->name);
	}
}

/* Defaults, as text and back. */
static void round_trip(const char *name, const struct option *options, size_t size)
{
	char *a = mem_alloc(size + 1), *b = mem_alloc(size + 1);
	struct buf first = { 0 }, second = { 0 };
	struct err err = { 0 };

	option_defaults(options, a);
	option_format(options, a, &first);
	if (option_parse(options, b, name, first.n ? first.at : "", &err) < 0)
		fail_msg("%s: %s", name, err.text);
	option_format(options, b, &second);
	if (first.n)
		assert_string_equal(first.at, second.at);
	for (const struct option *o = options; o && o->name; o++) {
		if (!o->help || !o->help[0])
			fail_msg("%s: option %s has no help", name, o->name);
	}
	buf_fini(&first);
	buf_fini(&second);
	free(a);
	free(b);
}

static void options_read_back(void **state)
{
	(void)state;
	for (size_t i = 0; policies[i]; i++)
		round_trip(policies[i]->name, policies[i]->options, policies[i]->state_size);
	for (size_t i = 0; placers[i]; i++)
		round_trip(placers[i]->name, placers[i]->options, placers[i]->state_size);
	for (size_t i = 0; admissions[i]; i++)
		round_trip(admissions[i]->name, admissions[i]->options, admissions[i]->state_size);
}

static void policies_are_found_by_name(void **state)
{
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; policies[i]; i++)
		assert_ptr_equal(policy_find(policies[i]->name, &err), policies[i]);
	assert_null(policy_find("tiresius", &err));
	assert_int_equal(err.code, ERR_MISSING);
	assert_non_null(strstr(err.text, "did you mean 'tiresias'"));
	assert_null(policy_find("", &err));
}

/* A policy that says nothing of preemption does not preempt, and so on. */
static void preempting_policies_say_so(void **state)
{
	static const char *const quiet[] = { "fifo", "easy", "conservative" };
	static const char *const loud[] = { "srtf", "srsf", "las", "tiresias", "gittins", "e-las" };

	(void)state;
	for (size_t i = 0; i < COUNT(quiet); i++)
		assert_false(policy_find(quiet[i], NULL)->traits & POLICY_PREEMPTS);
	for (size_t i = 0; i < COUNT(loud); i++)
		assert_true(policy_find(loud[i], NULL)->traits & POLICY_PREEMPTS);
}

/* Those who look at run times that they do not admit to differ in policy/conformance_test.c. */
static void estimating_policies_say_so(void **state)
{
	static const char *const quiet[] = { "fifo", "las", "sia", "pollux", "kungfu" };
	static const char *const loud[] = { "srtf", "afs", "optimus", "lyra", "elasticflow", "heet" };

	(void)state;
	for (size_t i = 0; i < COUNT(quiet); i++)
		assert_false(policy_find(quiet[i], NULL)->traits & POLICY_ESTIMATES);
	for (size_t i = 0; i < COUNT(loud); i++)
		assert_true(policy_find(loud[i], NULL)->traits & POLICY_ESTIMATES);
}

static void growth_below_one_is_refused(void **state)
{
	static const char *const growing[] = { "sia", "pollux", "optimus" };

	(void)state;
	for (size_t i = 0; i < COUNT(growing); i++) {
		const struct policy *policy = policy_find(growing[i], NULL);
		void *self = mem_alloc(policy->state_size);
		struct err err = { 0 };

		option_defaults(policy->options, self);
		assert_int_equal(option_parse(policy->options, self, growing[i], "growth=0.5", &err),
			0);
		assert_int_equal(policy->init(self, &err), ERR_USAGE);
		assert_non_null(strstr(err.text, "growth=0.5"));
		assert_int_equal(option_parse(policy->options, self, growing[i], "growth=1", &err), 0);
		assert_int_equal(policy->init(self, &err), 0);
		free(self);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_policy_is_complete),
		cmocka_unit_test(options_read_back),
		cmocka_unit_test(policies_are_found_by_name),
		cmocka_unit_test(preempting_policies_say_so),
		cmocka_unit_test(estimating_policies_say_so),
		cmocka_unit_test(growth_below_one_is_refused),
	};

	return cmocka_run_group_tests_name("policy/policy", tests, NULL, NULL);
}
