#include "model/event.h"

#include <string.h>

#include "base/property.h"

static void test_every_kind_has_its_own_word(void **state)
{
	(void)state;
	for (int i = 0; i < EV_KINDS; i++) {
		const char *name = event_name((enum event_kind)i);

		assert_non_null(name);
		assert_true(strlen(name) > 2);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(name, event_name((enum event_kind)j));
	}
	assert_string_equal(event_name(EV_SUBMIT), "submit");
	assert_string_equal(event_name((enum event_kind)99), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_has_its_own_word),
	};

	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
