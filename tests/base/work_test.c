#include "base/work.h"

#include <pthread.h>
#include <stdatomic.h>

#include "property.h"

enum { PIECES = 1000 };

struct tally {
	atomic_int times[PIECES];
	pthread_t caller;
	atomic_int elsewhere;
};

static void count(void *ctx, size_t piece)
{
	struct tally *t = ctx;

	atomic_fetch_add(&t->times[piece], 1);
	if (!pthread_equal(pthread_self(), t->caller))
		atomic_fetch_add(&t->elsewhere, 1);
}

static void every_piece_runs_once(void **state)
{
	static const struct {
		const char *what;
		size_t n;
		int threads;
	} rows[] = {
		{ "inline", PIECES, 1 },
		{ "all cores", PIECES, 0 },
		{ "more threads than cores", PIECES, 8 },
		{ "more threads than pieces", 3, 8 },
		{ "a negative number means all cores", PIECES, -1 },
		{ "nothing to do", 0, 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tally *t = calloc(1, sizeof(*t));

		assert_non_null(t);
		t->caller = pthread_self();
		work_each(rows[i].n, rows[i].threads, count, t);
		for (size_t k = 0; k < PIECES; k++) {
			if (t->times[k] != (k < rows[i].n))
				fail_msg("%s: piece %zu ran %d times", rows[i].what, k, t->times[k]);
		}
		if (rows[i].threads == 1)
			assert_int_equal(t->elsewhere, 0);
		free(t);
	}
}

static void there_is_a_core(void **state)
{
	(void)state;
	assert_true(work_cores() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_piece_runs_once),
		cmocka_unit_test(there_is_a_core),
	};

	return cmocka_run_group_tests_name("base/work", tests, NULL, NULL);
}
