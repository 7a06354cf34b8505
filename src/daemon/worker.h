/*
 * One thread beside the loop, for questions whose answers take longer than a
 * decision may wait.
 *
 * The loop copies what is needed into a task and gives it away; the task touches
 * nothing else.  When it is done the loop is woken and finds it so.
 */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>

struct task {
	void (*run)(struct task *task);     /* in the worker's thread */
	void (*destroy)(struct task *task); /* in the loop, done or not */
	struct task *next;
	atomic_bool done;
};

struct worker;

/*
 * `wake` is called from the worker's thread after each task.  `niceness` is how far the thread steps back
 * for others, 0: not at all.
 */
struct worker *worker_create(void (*wake)(void *ctx), void *ctx, int niceness);
/* Waits for the task that runs; those not begun never are.  Tasks stay their owners'.  Takes NULL. */
void worker_destroy(struct worker *worker);
/* In turn.  The task must last until it is done, or the worker is gone. */
void worker_give(struct worker *worker, struct task *task);

static inline bool task_done(const struct task *task)
{
	return atomic_load(&task->done);
}

#endif
