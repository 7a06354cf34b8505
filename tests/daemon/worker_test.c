#include "daemon/worker.h"

#include <semaphore.h>

#include "support/property.h"

struct sum {
	struct task task;
	int value, *total;
	sem_t *gate; /* waits there; NULL: goes on */
};

static void run(struct task *task)
{
	struct sum *sum = (struct sum *)task;

	if (sum->gate)
		sem_wait(sum->gate);
	*sum->total = *sum->total * 10 + sum->value;
}

static void tell(void *ctx)
{
	sem_post(ctx);
}

static void tasks_are_done_in_turn(void **state)
{
	struct sum sums[5] = { 0 };
	int total = 0;
	sem_t woken;
	struct worker *w;

	(void)state;
	sem_init(&woken, 0, 0);
	w = worker_create(tell, &woken, 0);
	for (int i = 0; i < 5; i++) {
		sums[i] = (struct sum){ .task = { .run = run }, .value = i + 1, .total = &total };
		worker_give(w, &sums[i].task);
	}
	for (int i = 0; i < 5; i++)
		sem_wait(&woken);
	assert_int_equal(total, 12345);
	for (int i = 0; i < 5; i++)
		assert_true(task_done(&sums[i].task));
	worker_destroy(w);
	sem_destroy(&woken);
}

/* What was not begun when the worker goes is left alone. */
static void who_goes_finishes_what_it_began(void **state)
{
	struct sum slow = { 0 };
	int total = 0;
	sem_t woken, gate;
	struct worker *w;

	(void)state;
	sem_init(&woken, 0, 0);
	sem_init(&gate, 0, 0);
	worker_destroy(NULL);
	worker_destroy(worker_create(tell, &woken, 0));
	w = worker_create(tell, &woken, 0);
	slow = (struct sum){ .task = { .run = run }, .value = 7, .total = &total, .gate = &gate };
	worker_give(w, &slow.task);
	assert_false(task_done(&slow.task));
	sem_post(&gate);
	sem_wait(&woken);
	worker_destroy(w);
	assert_int_equal(total, 7);
	sem_destroy(&woken);
	sem_destroy(&gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_are_done_in_turn),
		cmocka_unit_test(who_goes_finishes_what_it_began),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
