/*
 * Names that are in no table: what a person reads.
 */
#include "base/lookup.h"

#include <string.h>

#include "support/property.h"

static const char *const known[] = { "fifo", "srtf", "tiresias" };

static const struct {
	const char *what, *name, *want;
} rows[] = {
	{ "a slip", "tiresius",
		"there is no policy 'tiresius'; did you mean 'tiresias'? `stint policies` lists them all" },
	{ "nothing like it", "round-robin",
		"there is no policy 'round-robin'; `stint policies` lists them" },
	{ "nothing at all", "", "there is no policy ''; `stint policies` lists them" },
};

static void the_nearest_name_is_suggested(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };

		assert_int_equal(lookup_failed("policy", rows[i].name, known, COUNT(known),
					 "stint policies", &err),
			ERR_MISSING);
		assert_int_equal(err.code, ERR_MISSING);
		if (strcmp(err.text, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].what, err.text);
	}
}

static void nobody_need_listen(void **state)
{
	(void)state;
	assert_int_equal(lookup_failed("policy", "x", known, COUNT(known), "stint policies", NULL),
		ERR_MISSING);
	assert_int_equal(lookup_failed("policy", "x", NULL, 0, "stint policies", NULL), ERR_MISSING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_name_is_suggested),
		cmocka_unit_test(nobody_need_listen),
	};

	return cmocka_run_group_tests_name("base/lookup", tests, NULL, NULL);
}
