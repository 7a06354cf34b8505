/*
 * The audit events of the record, the newest first.  A worker reads them, since
 * they are few among many.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/members.h"
#include "daemon/verbs_run.h"

enum { AUDIT_LIMIT = 1000, SINCE_S = 7 * 86400 };

struct audit_task {
	struct task task;
	char *path; /* of the record */
	double from_s;
	double born_s;
	uint64_t seq; /* look before this one */
	bool over;
	int rc;
	struct err err;
	json_t *events;
};

static int see(void *ctx, const struct record_event *event)
{
	struct audit_task *t = ctx;
	json_t *body = json_loads(event->body, 0, NULL);

	t->seq = event->seq - 1;
	t->over = event->at_s < t->from_s || event->seq == 1;
	if (body && event->at_s >= t->from_s) {
		json_object_set_new(body, "seq", json_integer((json_int_t)event->seq));
		json_object_set_new(body, "at", json_real(t->born_s + event->at_s));
		json_array_append(t->events, body);
	}
	json_decref(body);
	return 0;
}

static void run_task(struct task *task)
{
	struct audit_task *t = (struct audit_task *)task;
	struct record *record = NULL;

	t->rc = record_open(t->path, true, &record, &t->err);
	if (t->rc < 0)
		return;
	t->seq = record_last_seq(record);
	while (t->rc == 0 && !t->over && json_array_size(t->events) < AUDIT_LIMIT)
		t->rc = record_last_of_kind(record, "audit", t->seq, see, t, &t->err);
	if (t->rc == ERR_MISSING)
		t->rc = 0;
	record_close(record);
}

static void destroy_task(struct task *task)
{
	struct audit_task *t = (struct audit_task *)task;

	free(t->path);
	json_decref(t->events);
	free(t);
}

static void begin_task(struct daemon *d, struct call *call)
{
	struct audit_task *t = mem_alloc(sizeof(*t));

	t->task.run = run_task;
	t->task.destroy = destroy_task;
	t->path = mem_printf("%s/stint.db", d->config.state_dir);
	t->born_s = d->born_s;
	t->from_s = d->last_s - member_number(call->args, "since_s", SINCE_S);
	t->events = json_array();
	daemon_give(d, call, &t->task);
}

void verb_audit(struct daemon *d, struct call *call)
{
	const struct audit_task *t = (const struct audit_task *)call->task;
	struct json j;
	char *text;
	size_t i;
	json_t *event;

	if (!t) {
		begin_task(d, call);
		return;
	}
	if (t->rc < 0) {
		call_fail(call, t->rc, t->err.text);
		return;
	}
	json_array_foreach(t->events, i, event)
	{
		int64_t uid = member_int(event, "uid", -1);

		if (uid >= 0)
			json_object_set_new(event, "user", json_string(verb_user_name(d, (uid_t)uid)));
		uid = member_int(event, "owner", -1);
		if (uid >= 0)
			json_object_set_new(event, "owner_name",
				json_string(verb_user_name(d, (uid_t)uid)));
	}
	text = json_dumps(t->events, JSON_COMPACT);
	call_begin(call, &j);
	json_raw(&j, "events", text, strlen(text));
	json_bool(&j, "more", json_array_size(t->events) >= AUDIT_LIMIT);
	json_end(&j, '}');
	free(text);
}
