#include "base/vec.h"

#include "property.h"

static void pushes_stay_in_order(void **state)
{
	VEC(int) v = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		vec_push(&v, i * 3);
	assert_int_equal(v.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v.at[i], i * 3);
	vec_fini(&v);
	assert_null(v.at);
	assert_int_equal(v.n, 0);
	vec_fini(&v);
}

static void structs_with_commas_can_be_pushed(void **state)
{
	struct point {
		int x, y;
	};
	VEC(struct point) v = { 0 };

	(void)state;
	vec_push(&v, (struct point){ 1, 2 });
	assert_int_equal(v.at[0].y, 2);
	vec_fini(&v);
}

static void growing_zeroes_only_what_is_new(void **state)
{
	VEC(char) v = { 0 };

	(void)state;
	vec_push(&v, 'a');
	vec_grow_zero(&v, 100);
	assert_int_equal(v.n, 100);
	assert_int_equal(v.at[0], 'a');
	for (int i = 1; i < 100; i++)
		assert_int_equal(v.at[i], 0);
	vec_grow_zero(&v, 5);
	assert_int_equal(v.n, 100);
	vec_reserve(&v, 5000);
	assert_true(v.cap >= 5000);
	vec_fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_stay_in_order),
		cmocka_unit_test(structs_with_commas_can_be_pushed),
		cmocka_unit_test(growing_zeroes_only_what_is_new),
	};

	return cmocka_run_group_tests_name("base/vec", tests, NULL, NULL);
}
