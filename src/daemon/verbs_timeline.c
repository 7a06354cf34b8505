/*
 * Who had which devices, from when to when: the record left of now.
 */
#include <math.h>
#include <string.h>

#include "daemon/spans.h"
#include "daemon/verbs_run.h"

struct drawing {
	const struct desk *desk;
	struct json *j;
};

static void put_text(struct json *j, const char *key, const char *text)
{
	if (text)
		json_str(j, key, text);
}

static void put_job(void *ctx, const struct span_job *job)
{
	struct drawing *d = ctx;

	for (size_t i = 0; i < job->n; i++) {
		const struct hold_span *span = &job->spans[i];

		json_begin_object(d->j, NULL);
		json_int(d->j, "job", job->id);
		if (job->array_id) {
			json_int(d->j, "array_id", job->array_id);
			json_int(d->j, "array_index", job->array_index);
		}
		json_int(d->j, "attempt", span->attempt);
		put_text(d->j, "name", job->name);
		put_text(d->j, "user", job->user);
		put_text(d->j, "tenant", job->tenant);
		json_str(d->j, "node", d->desk->nodes[span->node]);
		desk_put_devices(d->desk, span->node, span->devices, "devices", d->j);
		json_double(d->j, "from", wallclock_s(&d->desk->wall, span->from_s));
		json_double(d->j, "to", wallclock_s(&d->desk->wall, span->to_s)); /* NAN: null */
		json_str(d->j, "end", span->end);
		json_end(d->j, '}');
	}
}

static void put_site(const struct desk *desk, struct json *j)
{
	json_begin_array(j, "devices");
	for (uint32_t i = 0; i < desk->ndevices; i++) {
		const struct desk_device *device = &desk->devices[i];

		json_begin_object(j, NULL);
		json_str(j, "node", desk->nodes[device->node]);
		json_int(j, "device", device->index);
		json_str(j, "type", device->type);
		json_str(j, "name", device->title);
		json_bool(j, "up", device->up);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void read_timeline(struct record *record, const struct desk *desk, struct call *call)
{
	double from_s = fmax(0, desk->now_s - member_number(call->args, "since_s", 86400));
	const struct span_range range = { .from_s = from_s, .jobs_max = SPAN_JOBS_MAX };
	struct err err = { 0 };
	bool more = false;
	struct json j;
	struct drawing d = { desk, &j };

	call_begin(call, &j);
	json_double(&j, "from", wallclock_s(&desk->wall, from_s));
	json_double(&j, "now", wallclock_s(&desk->wall, desk->now_s));
	put_site(desk, &j);
	json_begin_array(&j, "spans");
	if (spans_walk(record, desk, &range, put_job, &d, &more, &err) < 0) {
		call_fail(call, err.code, err.text);
		return;
	}
	json_end(&j, ']');
	json_bool(&j, "more", more);
	json_end(&j, '}');
}

/* Answered with 400 unless it is a time. */
static bool since_is_fine(struct call *call)
{
	double since_s = member_number(call->args, "since_s", 86400);

	if (since_s > 0)
		return true;
	call_problem(call, 400, 2, "since_s: seconds back from now, above 0");
	return false;
}

void verb_timeline(struct daemon *d, struct call *call)
{
	if (since_is_fine(call))
		library_ask(d, call, read_timeline);
}
