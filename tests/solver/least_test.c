#include "solver/least.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 300 };

struct world {
	bool enough[MOST + 1];
	uint32_t asked[MOST + 1];
	uint32_t hopeless_from; /* 0: never */
	uint32_t fails_at;
	uint32_t calls;
};

static int is_enough(void *ctx, uint32_t n, struct err *err)
{
	struct world *w = ctx;

	assert_true(n <= MOST);
	assert_int_equal(w->asked[n]++, 0); /* once */
	w->calls++;
	if (w->fails_at && n == w->fails_at)
		return err_set(err, ERR_IO, "broken");
	return w->enough[n];
}

static bool is_hopeless(void *ctx, uint32_t n)
{
	const struct world *w = ctx;

	return w->hopeless_from && n >= w->hopeless_from;
}

static struct least_answer find(struct world *w, uint32_t low, uint32_t start)
{
	struct least_question q = {
		.low = low,
		.most = MOST,
		.start = start,
		.around = 2,
		.enough = is_enough,
		.hopeless = is_hopeless,
		.ctx = w,
	};
	struct least_answer a;

	assert_int_equal(least_find(&q, &a, NULL), 0);
	return a;
}

static struct world from(uint32_t n)
{
	struct world w = { 0 };

	for (uint32_t i = n; i <= MOST; i++)
		w.enough[i] = true;
	return w;
}

static void it_finds_the_least_from_any_start(void **state)
{
	(void)state;
	for (uint32_t least = 0; least <= MOST; least += 7) {
		for (uint32_t start = 0; start <= MOST; start += 13) {
			struct world w = from(least);
			struct least_answer a = find(&w, 0, start);

			assert_true(a.found && a.monotone && !a.by_luck);
			assert_int_equal(a.n, least);
			assert_true(w.calls <= 2 * 9 + 5);
		}
	}
}

static void it_stays_above_the_bound(void **state)
{
	struct world w = from(0);
	struct least_answer a = find(&w, 3, 50);

	(void)state;
	assert_true(a.found && a.n == 3);
}

static void nothing_is_enough(void **state)
{
	struct world w = { .hopeless_from = 20 };
	struct least_answer a = find(&w, 1, 3);

	(void)state;
	assert_false(a.found);
	assert_int_equal(a.n, 24);
	w = (struct world){ 0 };
	a = find(&w, 1, 3);
	assert_false(a.found);
	assert_int_equal(a.n, MOST);
}

static void luck_below_is_told(void **state)
{
	struct world w = from(40);
	struct least_answer a;

	(void)state;
	w.enough[38] = true;
	a = find(&w, 1, 64);
	assert_true(a.found && a.n == 40 && !a.monotone && a.by_luck == 38);
}

static void an_answer_whose_neighbour_fails_is_left(void **state)
{
	struct world w = from(40);
	struct least_answer a;

	(void)state;
	w.enough[41] = false;
	a = find(&w, 1, 40);
	assert_true(a.found && a.n == 42 && !a.monotone && a.by_luck == 40);
}

static void an_error_ends_it(void **state)
{
	struct world w = { .fails_at = 8 };
	struct least_question q = { 1, MOST, 4, 2, is_enough, NULL, &w };
	struct least_answer a;
	struct err err;

	(void)state;
	assert_int_equal(least_find(&q, &a, &err), ERR_IO);
	assert_string_equal(err.text, "broken");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_finds_the_least_from_any_start),
		cmocka_unit_test(it_stays_above_the_bound),
		cmocka_unit_test(nothing_is_enough),
		cmocka_unit_test(luck_below_is_told),
		cmocka_unit_test(an_answer_whose_neighbour_fails_is_left),
		cmocka_unit_test(an_error_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
