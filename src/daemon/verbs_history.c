/*
 * What happened to a job.  The worker reads the record by itself, so that a
 * long history delays nobody.
 */
#include <stdlib.h>

#include "daemon/history.h"
#include "daemon/verbs_run.h"

struct history_task {
	struct task task;
	char *path; /* of the record */
	uint32_t job;
	uid_t reader;
	struct wallclock wall;
	int rc;
	struct err err;
	struct buf members; /* of the answer: an object */
};

static void run_task(struct task *task)
{
	struct history_task *t = (struct history_task *)task;
	struct record *record = NULL;
	struct json j;

	t->rc = record_open(t->path, true, &record, &t->err);
	if (t->rc < 0)
		return;
	json_init(&j, &t->members, false);
	json_begin_object(&j, NULL);
	t->rc = history_to_json(record, t->job, &t->wall, t->reader, &j, &t->err);
	json_end(&j, '}');
	record_close(record);
}

static void destroy_task(struct task *task)
{
	struct history_task *t = (struct history_task *)task;

	free(t->path);
	wallclock_fini(&t->wall);
	buf_fini(&t->members);
	free(t);
}

static void begin_task(struct daemon *d, struct call *call)
{
	struct history_task *t = mem_alloc(sizeof(*t));

	t->task.run = run_task;
	t->task.destroy = destroy_task;
	t->path = mem_printf("%s/stint.db", d->config.state_dir);
	t->job = call->job;
	t->reader = call->caller.admin ? HISTORY_ADMIN : call->caller.uid;
	wallclock_copy(&d->clock.wall, &t->wall);
	daemon_give(d, call, &t->task);
}

void verb_history(struct daemon *d, struct call *call)
{
	const struct history_task *t = (const struct history_task *)call->task;
	struct json j;

	if (!t) {
		call->job = call_job(d, call, false);
		if (call->job)
			begin_task(d, call);
		return;
	}
	if (t->rc < 0) {
		call_fail(call, t->rc, t->err.text);
		return;
	}
	call_begin(call, &j);
	json_int(&j, "job", call->job);
	if (d->reasons)
		reasons_to_json(d->reasons, call->job, &d->clock.wall, &j);
	/* The members of one object go into another: without its braces. */
	buf_char(&call->body, ',');
	buf_add(&call->body, t->members.at + 1, t->members.n - 2);
	json_end(&j, '}');
}
