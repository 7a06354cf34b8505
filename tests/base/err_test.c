#include "base/err.h"

#include <string.h>

#include "property.h"

static void set_keeps_code_and_text(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(err_set(&err, ERR_FORMAT, "line %d is %s", 3, "empty"), ERR_FORMAT);
	assert_int_equal(err.code, ERR_FORMAT);
	assert_string_equal(err.text, "line 3 is empty");
}

static void prefix_puts_the_place_in_front(void **state)
{
	struct err err = { 0 };

	(void)state;
	err_set(&err, ERR_IO, "no such job");
	assert_int_equal(err_prefix(&err, "%s:%d", "trace.csv", 7), ERR_IO);
	assert_int_equal(err_prefix(&err, "policy %s", "fifo"), ERR_IO);
	assert_string_equal(err.text, "policy fifo: trace.csv:7: no such job");
}

static void nobody_listening_is_fine(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, ERR_NEVER, "unseen"), ERR_NEVER);
	assert_true(err_prefix(NULL, "unseen") < 0);
}

static void arguments_may_point_into_the_text(void **state)
{
	struct err err = { 0 };

	(void)state;
	err_set(&err, ERR_IO, "inner");
	err_set(&err, ERR_USAGE, "outer (%s)", err.text);
	assert_string_equal(err.text, "outer (inner)");
	err_prefix(&err, "%s", err.text);
	assert_string_equal(err.text, "outer (inner): outer (inner)");
}

static void long_texts_are_cut_not_spilled(void **state)
{
	char word[3000];
	struct err err = { 0 };

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	err_set(&err, ERR_IO, "%s", word);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_prefix(&err, "place");
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, "place: xxx", 10);
	err_prefix(&err, "%s", word);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_keeps_code_and_text),
		cmocka_unit_test(prefix_puts_the_place_in_front),
		cmocka_unit_test(nobody_listening_is_fine),
		cmocka_unit_test(arguments_may_point_into_the_text),
		cmocka_unit_test(long_texts_are_cut_not_spilled),
	};

	return cmocka_run_group_tests_name("base/err", tests, NULL, NULL);
}
