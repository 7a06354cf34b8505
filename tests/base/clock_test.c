#include "base/clock.h"

#include <pthread.h>
#include <string.h>

#include "property.h"

static volatile uint64_t sum;

/* A cheap loop that cannot be left out. */
static void burn(void)
{
	for (uint64_t i = 0; i < 5000000; i++)
		sum = sum + i;
}

static void *burn_elsewhere(void *unused)
{
	burn();
	return unused;
}

static void clocks_do_not_go_back(void **state)
{
	double cpu = clock_cpu_s(), thread = clock_thread_cpu_s(), wall = clock_wall_s();

	(void)state;
	burn();
	assert_true(clock_cpu_s() > cpu);
	assert_true(clock_thread_cpu_s() > thread);
	assert_true(clock_wall_s() > wall);
}

static void only_the_process_clock_counts_other_threads(void **state)
{
	double cpu = clock_cpu_s(), thread = clock_thread_cpu_s();
	pthread_t other;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, burn_elsewhere, NULL), 0);
	pthread_join(other, NULL);
	cpu = clock_cpu_s() - cpu;
	thread = clock_thread_cpu_s() - thread;
	assert_true(thread < cpu);
}

static void peak_memory_covers_what_was_touched(void **state)
{
	size_t n = 8 << 20;
	char *p = malloc(n);

	(void)state;
	assert_non_null(p);
	memset(p, 1, n);
	assert_int_equal(p[n / 2], 1);
	assert_true(clock_peak_rss_bytes() > (int64_t)n);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_do_not_go_back),
		cmocka_unit_test(only_the_process_clock_counts_other_threads),
		cmocka_unit_test(peak_memory_covers_what_was_touched),
	};

	return cmocka_run_group_tests_name("base/clock", tests, NULL, NULL);
}
