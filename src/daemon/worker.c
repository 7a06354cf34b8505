/*
 * A thread and its queue.
 */
#include "daemon/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"

struct worker {
	pthread_t thread;
	bool started; /* the thread is made with the first task */
	pthread_mutex_t mutex;
	pthread_cond_t more;
	struct task *first, **end;
	bool stopping;
	void (*wake)(void *ctx);
	void *ctx;
	int niceness;
};

/* NULL: no more will come. */
static struct task *take(struct worker *w)
{
	struct task *task;

	pthread_mutex_lock(&w->mutex);
	while (!w->first && !w->stopping)
		pthread_cond_wait(&w->more, &w->mutex);
	task = w->stopping ? NULL : w->first;
	if (task) {
		w->first = task->next;
		if (!w->first)
			w->end = &w->first;
	}
	pthread_mutex_unlock(&w->mutex);
	return task;
}

static void *work(void *self)
{
	struct worker *w = self;

	if (w->niceness)
		setpriority(PRIO_PROCESS, (id_t)gettid(), w->niceness);
	for (struct task *task = take(w); task; task = take(w)) {
		task->run(task);
		atomic_store(&task->done, true); /* from here on it is the loop's */
		w->wake(w->ctx);
	}
	return NULL;
}

struct worker *worker_create(void (*wake)(void *ctx), void *ctx, int niceness)
{
	struct worker *w = mem_alloc(sizeof(*w));

	w->end = &w->first;
	w->wake = wake;
	w->ctx = ctx;
	w->niceness = niceness;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->more, NULL);
	return w;
}

/* Signals are the loop's. */
static void start(struct worker *w)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	w->started = pthread_create(&w->thread, NULL, work, w) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void worker_give(struct worker *w, struct task *task)
{
	if (!w->started)
		start(w);
	/* Without a thread it is slow, but there is an answer. */
	if (!w->started) {
		task->run(task);
		atomic_store(&task->done, true);
		w->wake(w->ctx);
		return;
	}
	pthread_mutex_lock(&w->mutex);
	task->next = NULL;
	*w->end = task;
	w->end = &task->next;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->mutex);
}

void worker_destroy(struct worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->mutex);
	w->stopping = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->mutex);
	if (w->started)
		pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
