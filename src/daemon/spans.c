/*
 * An attempt's status has its times and its last devices; of a job that was
 * resized while it ran, its events have the devices before that.
 */
#include "daemon/spans.h"

#include <math.h>
#include <string.h>

struct walk {
	struct record *record;
	const struct desk *desk;
	span_see *see;
	void *ctx;
	struct err *err;
	uint32_t ended;
	double from_s;
	/* of the present job */
	VEC(struct hold_span) spans;
	uint32_t last_attempt;
	const char *state; /* its own, if it has ended */
};

/* What became of an attempt that is over. */
static const char *end_of(const struct walk *w, const json_t *status)
{
	static const struct {
		const char *stop, *end;
	} stops[] = {
		{ "preempt", "PREEMPTED" },
		{ "move", "MOVED" },
		{ "lost", "NODE_FAIL" },
		{ "cancel", "CANCELLED" },
		{ "hold", "HELD" },
		{ "requeue", "REQUEUED" },
		{ "idle", "RECLAIMED" },
	};
	const char *stop = member_text(status, "stop");

	if (w->state && member_int(status, "attempt", 0) == w->last_attempt)
		return w->state;
	for (size_t i = 0; stop && i < sizeof(stops) / sizeof(*stops); i++) {
		if (!strcmp(stop, stops[i].stop))
			return stops[i].end;
	}
	if (member_int(status, "code", -1) == EXIT_CHECKPOINTED)
		return "REQUEUED";
	return member_int(status, "code", -1) == 0 ? "COMPLETED" : "FAILED";
}

static void add_slots(struct walk *w, const json_t *grant, struct hold_span span)
{
	const json_t *on = json_object_get(grant, "on"), *slot;
	size_t i;

	json_array_foreach(on, i, slot)
	{
		int64_t node = json_integer_value(json_array_get(slot, 0));

		if (node < 0 || node >= w->desk->nnodes)
			continue;
		span.node = (uint32_t)node;
		span.devices = (uint64_t)json_integer_value(json_array_get(slot, 1));
		vec_push(&w->spans, span);
	}
}

/* Before it was launched it held nothing. */
static int see_attempt(void *ctx, const struct record_attempt *attempt)
{
	struct walk *w = ctx;
	json_t *status = json_loads(attempt->status, 0, NULL);
	struct hold_span span = {
		.attempt = attempt->attempt,
		.from_s = member_number(status, "launched_s", NAN),
		.to_s = attempt->over ? member_number(status, "over_s", NAN) : NAN,
		.end = attempt->over ? end_of(w, status) : NULL,
	};

	if (isfinite(span.from_s) && !(span.to_s < w->from_s))
		add_slots(w, json_object_get(status, "grant"), span);
	json_decref(status);
	return 0;
}

/* ---- attempts that were resized: a span from each event that changed the devices */

struct resized {
	struct walk *w;
	uint32_t attempt;
	json_t *grant; /* that it has */
	double since_s;
};

static void close_piece(struct resized *r, double to_s, const char *end)
{
	if (r->grant && !(to_s < r->w->from_s))
		add_slots(r->w, r->grant,
			(struct hold_span){ .attempt = r->attempt,
				.from_s = r->since_s,
				.to_s = to_s,
				.end = end });
	json_decref(r->grant);
	r->grant = NULL;
}

static int see_event(void *ctx, const struct record_event *event)
{
	struct resized *r = ctx;
	json_t *status = event->attempt_after ? json_loads(event->attempt_after, 0, NULL) : NULL;
	json_t *grant = json_object_get(status, "grant");
	bool another = event->attempt != r->attempt || !json_equal(grant, r->grant);

	if (grant && json_object_get(status, "launched_s") && another && !event->attempt_over) {
		bool same_attempt = event->attempt == r->attempt;

		close_piece(r, event->at_s, NULL);
		r->attempt = event->attempt;
		r->grant = json_incref(grant);
		r->since_s = same_attempt ? event->at_s
					  : member_number(status, "launched_s", event->at_s);
	}
	if (event->attempt_over && event->attempt == r->attempt)
		close_piece(r, member_number(status, "over_s", event->at_s), end_of(r->w, status));
	json_decref(status);
	return 0;
}

static int walk_resized(struct walk *w, uint32_t job)
{
	struct resized r = { .w = w };
	int rc = record_events(w->record, 0, job, 0, see_event, &r, w->err);

	close_piece(&r, NAN, NULL);
	return rc;
}

/* ---- jobs */

static int see_job(void *ctx, const struct record_job *row)
{
	struct walk *w = ctx;
	json_t *status = json_loads(row->status, 0, NULL);
	struct span_job job = {
		.id = row->id,
		.name = row->name,
		.user = member_text(status, "user"),
		.tenant = row->tenant,
		.state = row->state,
		.live = row->live,
		.waits = !member_bool(status, "held", false) && !json_object_get(status, "after"),
		.gpus = (uint32_t)member_int(status, "gpus", 1),
		.arrival_s = row->arrival_s,
		.begin_s = member_number(status, "begin_s", 0),
		.end_s = row->end_s,
	};
	int rc;

	w->ended += !row->live;
	w->spans.n = 0;
	w->state = row->live ? NULL : row->state;
	w->last_attempt = (uint32_t)member_int(status, "attempt", 0);
	rc = member_int(status, "resizes", 0) > 0
		? walk_resized(w, row->id)
		: record_attempts(w->record, row->id, see_attempt, w, w->err);
	job.spans = w->spans.at;
	job.n = w->spans.n;
	if (rc == 0)
		w->see(w->ctx, &job);
	json_decref(status);
	return rc;
}

int spans_walk(struct record *record, const struct desk *desk, double from_s, span_see *see,
	void *ctx, bool *more, struct err *err)
{
	struct walk w = { .record = record, .desk = desk, .see = see, .ctx = ctx, .err = err, .from_s = from_s };
	struct record_filter filter = {
		.uid = UINT32_MAX,
		.limit = SPAN_JOBS_MAX,
		.ended_since_s = from_s,
	};
	int rc = record_ended_jobs(record, &filter, see_job, &w, err);

	*more = w.ended >= SPAN_JOBS_MAX;
	if (rc == 0)
		rc = record_live_jobs(record, see_job, &w, err);
	vec_fini(&w.spans);
	return rc;
}
