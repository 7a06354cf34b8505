/*
 * Lines that commands about forecasts share.
 */
#include "cli/live_print.h"

#include "support/property.h"

static void fewer_futures_than_usual_are_told(void **state)
{
	static const struct {
		int ran, usual; /* usual 0: a daemon that does not say */
		const char *want;
	} rows[] = {
		{ 200, 200, "" },
		{ 200, 0, "" },
		{ 37, 200, "  note: 37 futures in place of 200, for which the time was too short: intervals are less sure\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		json_t *answer = json_pack("{s:i}", "futures", rows[i].ran);
		struct buf out = { 0 };

		if (rows[i].usual)
			json_object_set_new(answer, "futures_wanted", json_integer(rows[i].usual));
		live_few_futures(answer, "  ", &out);
		assert_string_equal(out.n ? out.at : "", rows[i].want);
		buf_fini(&out);
		json_decref(answer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewer_futures_than_usual_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
