#include "base/names.h"

#include <string.h>

#include "property.h"

static uint32_t add(struct names *names, const char *text)
{
	return names_add(names, text, strlen(text));
}

static void equal_texts_get_equal_numbers(void **state)
{
	struct names names = { 0 };

	(void)state;
	assert_int_equal(names_find(&names, "alice", 5), NAME_NONE);
	assert_int_equal(add(&names, "alice"), 0);
	assert_int_equal(add(&names, "bob"), 1);
	assert_int_equal(add(&names, "alice"), 0);
	assert_int_equal(names_add(&names, "bobby", 3), 1);
	assert_int_equal(names_find(&names, "bob", 3), 1);
	assert_int_equal(names_find(&names, "bo", 2), NAME_NONE);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.at[1], "bob");
	names_fini(&names);
	names_fini(&names);
}

static void empty_and_cut_texts(void **state)
{
	struct names names = { 0 };

	(void)state;
	assert_int_equal(names_add(&names, NULL, 0), 0);
	assert_int_equal(add(&names, ""), 0);
	assert_int_equal(names_find(&names, NULL, 0), 0);
	assert_int_equal(names_add(&names, "ab\0cd", 5), 1); /* a NUL ends it */
	assert_int_equal(add(&names, "ab"), 1);
	assert_int_equal(names_find(&names, "ab\0xx", 5), 1);
	names_fini(&names);
}

static void many_names_keep_their_numbers(void **state)
{
	struct names names = { 0 };
	char text[32];
	uint32_t n = 50000;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "job-%u", i * 7919u);
		assert_int_equal(add(&names, text), i);
	}
	for (uint32_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "job-%u", i * 7919u);
		assert_int_equal(names_find(&names, text, strlen(text)), i);
		assert_string_equal(names.at[i], text);
	}
	assert_int_equal(names_find(&names, "job", 3), NAME_NONE);
	names_fini(&names);
}

static void a_copy_is_its_own(void **state)
{
	struct names names = { 0 }, copy, empty;

	(void)state;
	names_copy(&names, &empty);
	assert_int_equal(add(&empty, "first"), 0);
	for (char text[] = "a"; text[0] <= 'z'; text[0]++)
		add(&names, text);
	names_copy(&names, &copy);
	names_fini(&names);
	assert_int_equal(copy.n, 26);
	assert_int_equal(names_find(&copy, "q", 1), 'q' - 'a');
	assert_int_equal(add(&copy, "b"), 1);
	assert_int_equal(add(&copy, "new"), 26);
	assert_int_equal(names_find(&copy, "z", 1), 25);
	names_fini(&copy);
	names_fini(&empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_get_equal_numbers),
		cmocka_unit_test(empty_and_cut_texts),
		cmocka_unit_test(many_names_keep_their_numbers),
		cmocka_unit_test(a_copy_is_its_own),
	};

	return cmocka_run_group_tests_name("base/names", tests, NULL, NULL);
}
