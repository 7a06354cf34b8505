/*
 * Threads that take the next piece of work until none is left.
 */
#include "base/work.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "base/mem.h"

struct work {
	atomic_size_t next;
	size_t n;
	void (*run)(void *ctx, size_t piece);
	void *ctx;
};

/* The cores this process may use, which under taskset or a container are fewer than there are. */
int work_cores(void)
{
	cpu_set_t set;

	/* It fails where there are more cores than cpu_set_t has bits. */
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : get_nprocs();
}

static void *worker(void *arg)
{
	struct work *work = arg;
	size_t piece;

	while ((piece = atomic_fetch_add(&work->next, 1)) < work->n)
		work->run(work->ctx, piece);
	return NULL;
}

void work_each(size_t n, int threads, void (*run)(void *ctx, size_t piece), void *ctx)
{
	struct work work = { .n = n, .run = run, .ctx = ctx };
	size_t want = (size_t)(threads > 0 ? threads : work_cores()), started = 0;
	pthread_t *others;

	if (want > n)
		want = n;
	others = mem_alloc(mem_array_size(want, sizeof(*others)));
	/* The caller is one of them; if the system gives fewer threads, the rest do the work. */
	while (started + 1 < want && !pthread_create(&others[started], NULL, worker, &work))
		started++;
	worker(&work);
	for (size_t i = 0; i < started; i++)
		pthread_join(others[i], NULL);
	free(others);
}
