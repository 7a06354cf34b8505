/*
 * Snapshots: jobs are found by number, everything in them is theirs, and memory
 * that comes back is used again, whoever brings it.
 */
#include "model/snapshot.h"

#include <pthread.h>
#include <string.h>

#include "support/property.h"

static void add(struct snapshot *s, uint32_t number, bool runs)
{
	struct grant grant = { .gpus = 1 };
	struct job job;
	char name[32];

	job_init(&job);
	snprintf(name, sizeof(name), "job-%u", number);
	job.name = name;
	job.label = name + 4;
	snapshot_add(s, &job, runs ? &grant : NULL, number);
	memset(name, '?', sizeof(name));
}

static void begin(struct snapshot *s, struct snapshot_store *store)
{
	struct cluster none = { 0 };

	snapshot_init(s, &none, 5);
	if (store)
		snapshot_take_memory(s, store);
}

static void jobs_are_found_by_number(void **state)
{
	static const struct {
		const char *what;
		uint32_t numbers[6], running;
	} rows[] = {
		{ "numbers ascend in both parts", { 3, 9, 1, 4, 8, 20 }, 2 },
		{ "nobody runs", { 1, 3, 4, 8, 9, 20 }, 0 },
		{ "all run", { 1, 3, 4, 8, 9, 20 }, 6 },
		{ "those that run are in no order", { 9, 3, 1, 4, 8, 20 }, 2 },
		{ "those that wait are in no order", { 3, 9, 8, 4, 1, 20 }, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct snapshot s;

		begin(&s, NULL);
		for (uint32_t k = 0; k < 6; k++)
			add(&s, rows[i].numbers[k], k < rows[i].running);
		for (uint32_t k = 0; k < 6; k++) {
			if (snapshot_find(&s, rows[i].numbers[k]) != k)
				fail_msg("%s: job %u", rows[i].what, rows[i].numbers[k]);
		}
		assert_int_equal(snapshot_find(&s, 0), JOB_NONE);
		assert_int_equal(snapshot_find(&s, 5), JOB_NONE);
		assert_int_equal(snapshot_find(&s, 21), JOB_NONE);
		assert_string_equal(s.jobs.at[0].job.label, s.jobs.at[0].job.name + 4);
		snapshot_fini(&s);
	}
}

static void memory_is_used_again(void **state)
{
	struct snapshot_store *store = snapshot_store_create();
	const struct snapshot_job *first;
	struct snapshot a, b, c;

	(void)state;
	for (size_t n = 1; n <= 1000; n++)
		snapshot_store_expect(store, n);
	begin(&a, store);
	first = a.jobs.at;
	assert_true(a.jobs.cap >= 1000 && a.jobs.n == 0);
	for (uint32_t i = 1; i <= 1000; i++)
		add(&a, i, false);
	assert_ptr_equal(a.jobs.at, first);
	begin(&b, store); /* beside it: there is no other memory yet */
	add(&b, 7, false);
	snapshot_store_expect(store, 1001);
	snapshot_fini(&a);
	begin(&c, store);
	assert_ptr_equal(c.jobs.at, first);
	assert_int_equal(c.jobs.n, 0);
	add(&c, 8, false);
	assert_int_equal(snapshot_find(&c, 8), 0);
	assert_int_equal(snapshot_find(&b, 7), 0);
	snapshot_fini(&c);
	/* The last one outlives its store. */
	snapshot_store_release(store);
	assert_string_equal(b.jobs.at[0].job.name, "job-7");
	snapshot_fini(&b);
}

static void *release_elsewhere(void *s)
{
	snapshot_fini(s);
	return NULL;
}

static void another_thread_may_bring_it_back(void **state)
{
	struct snapshot_store *store = snapshot_store_create();
	struct snapshot s[8];
	pthread_t threads[COUNT(s)];

	(void)state;
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < COUNT(s); i++) {
			begin(&s[i], store);
			s[i].agents = s[i].agents ? s[i].agents
						  : agents_create(1, (struct agents_options){ 0 });
			add(&s[i], 1, false);
			agents_limit(s[i].agents, 0, 0, (struct batch_limits){ .initial = 4 });
			pthread_create(&threads[i], NULL, release_elsewhere, &s[i]);
		}
		for (size_t i = 0; i < COUNT(s); i++)
			pthread_join(threads[i], NULL);
	}
	begin(&s[0], store);
	assert_non_null(s[0].agents);
	assert_null(agents_limits(s[0].agents, 0, 0)); /* nobody of before is in there */
	snapshot_fini(&s[0]);
	snapshot_store_release(store);
	snapshot_store_release(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_found_by_number),
		cmocka_unit_test(memory_is_used_again),
		cmocka_unit_test(another_thread_may_bring_it_back),
	};

	return cmocka_run_group_tests_name("model/snapshot", tests, NULL, NULL);
}
