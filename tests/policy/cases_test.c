/*
 * Every tests/cases/NAME.case as one test per case, named by its title.
 */
#include <unistd.h>

#include "support/case.h"
#include "support/property.h"

static void run(void **state)
{
	struct text_case *c = *state;
	struct buf out = { 0 };
	bool ok = case_run(c, &out);

	if (!ok)
		print_error("%s", out.at);
	buf_fini(&out);
	assert_true(ok);
}

int main(void)
{
	const char *root = getenv("STINT_ROOT");
	struct text_cases cases = { 0 };
	VEC(struct CMUnitTest) tests = { 0 };
	struct err err = { 0 };
	int failed;

	if ((root && chdir(root) < 0) || cases_read(&cases, "tests/cases", &err) < 0) {
		fprintf(stderr, "%s: %s\n", root ? root : "tests/cases", err.text);
		return 1;
	}
	for (size_t i = 0; i < cases.at.n; i++)
		vec_push(&tests,
			(struct CMUnitTest){
				.name = cases.at.at[i]->title,
				.test_func = run,
				.initial_state = cases.at.at[i],
			});
	failed = _cmocka_run_group_tests("policy/cases", tests.at, tests.n, NULL, NULL);
	vec_fini(&tests);
	cases_fini(&cases);
	return failed;
}
