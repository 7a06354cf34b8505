/*
 * An attempt's status has its times and its last devices; of a job that was
 * resized while it ran, its events have the devices before that.
 */
#include "daemon/spans.h"

#include <math.h>
#include <string.h>

#include "base/scan.h"

struct walk {
	struct record *record;
	const struct desk *desk;
	span_see *see;
	void *ctx;
	struct err *err;
	uint32_t ended;
	const struct span_range *range;
	/* of the present job */
	VEC(struct hold_span) spans;
	int64_t last_attempt;
	const char *state; /* its own, if it has ended */
	struct arena words;
};

/* ---- what a status says */

/* Of an attempt; slices are of its text. */
struct attempt_facts {
	int64_t attempt, code;
	double launched_s, over_s; /* NAN: not yet */
	struct slice stop;         /* why it was asked to, with quotes; empty: it was not */
	struct slice grant;
};

static struct attempt_facts attempt_facts(const char *status)
{
	struct attempt_facts f = { .code = -1, .launched_s = NAN, .over_s = NAN };
	struct scan s = scan_of(slice_of(status));
	struct slice key, value;

	while (scan_member(&s, &key, &value)) {
		if (scan_is(key, "attempt"))
			slice_int(value, &f.attempt);
		else if (scan_is(key, "code"))
			slice_int(value, &f.code);
		else if (scan_is(key, "launched_s"))
			slice_double(value, &f.launched_s);
		else if (scan_is(key, "over_s"))
			slice_double(value, &f.over_s);
		else if (scan_is(key, "stop"))
			f.stop = value;
		else if (scan_is(key, "grant"))
			f.grant = value;
	}
	return f;
}

struct job_facts {
	const char *user, *model;
	bool held, after;
	int64_t gpus, attempt, resizes;
	int64_t array_id, array_index;
	double begin_s;
};

static struct job_facts job_facts(const char *status, struct arena *words)
{
	struct job_facts f = { .gpus = 1 };
	struct scan s = scan_of(slice_of(status));
	struct slice key, value;

	while (scan_member(&s, &key, &value)) {
		if (scan_is(key, "user"))
			f.user = scan_text(value, words);
		else if (scan_is(key, "model"))
			f.model = scan_text(value, words);
		else if (scan_is(key, "array_id"))
			slice_int(value, &f.array_id);
		else if (scan_is(key, "array_index"))
			slice_int(value, &f.array_index);
		else if (scan_is(key, "held"))
			f.held = scan_is(value, "true");
		else if (scan_is(key, "after"))
			f.after = true;
		else if (scan_is(key, "gpus"))
			slice_int(value, &f.gpus);
		else if (scan_is(key, "attempt"))
			slice_int(value, &f.attempt);
		else if (scan_is(key, "resizes"))
			slice_int(value, &f.resizes);
		else if (scan_is(key, "begin_s"))
			slice_double(value, &f.begin_s);
	}
	return f;
}

/* What became of an attempt that is over. */
static const char *end_of(const struct walk *w, const struct attempt_facts *f)
{
	static const struct {
		const char *stop, *end;
	} stops[] = {
		{ "\"preempt\"", "PREEMPTED" },
		{ "\"move\"", "MOVED" },
		{ "\"lost\"", "NODE_FAIL" },
		{ "\"cancel\"", "CANCELLED" },
		{ "\"hold\"", "HELD" },
		{ "\"requeue\"", "REQUEUED" },
		{ "\"idle\"", "RECLAIMED" },
	};

	if (w->state && f->attempt == w->last_attempt)
		return w->state;
	for (size_t i = 0; f->stop.n && i < sizeof(stops) / sizeof(*stops); i++) {
		if (slice_is(f->stop, stops[i].stop))
			return stops[i].end;
	}
	if (f->code == EXIT_CHECKPOINTED)
		return "REQUEUED";
	return f->code == 0 ? "COMPLETED" : "FAILED";
}

/* "type":"v100", "on":[[node,bits],…] */
static void add_slots(struct walk *w, struct slice grant, struct hold_span span)
{
	struct scan members = scan_of(grant), slots = { 0 };
	struct slice key, value;

	while (scan_member(&members, &key, &value)) {
		if (scan_is(key, "on"))
			slots = scan_of(value);
		else if (scan_is(key, "type"))
			span.type = scan_text(value, &w->words);
	}
	while (scan_element(&slots, &value)) {
		struct scan pair = scan_of(value);
		struct slice node, devices;
		int64_t at, bits;

		if (!scan_element(&pair, &node) || !scan_element(&pair, &devices) ||
			!slice_int(node, &at) || !slice_int(devices, &bits) || at < 0 ||
			(at >= w->desk->nnodes && !w->range->all_nodes))
			continue;
		span.node = (uint32_t)at;
		span.devices = (uint64_t)bits;
		vec_push(&w->spans, span);
	}
}

/* Before it was launched it held nothing. */
static int see_attempt(void *ctx, const struct record_attempt *attempt)
{
	struct walk *w = ctx;
	struct attempt_facts f = attempt_facts(attempt->status);
	struct hold_span span = {
		.attempt = attempt->attempt,
		.from_s = f.launched_s,
		.to_s = attempt->over ? f.over_s : NAN,
		.end = attempt->over ? end_of(w, &f) : NULL,
	};

	if (isfinite(span.from_s) && !(span.to_s < w->range->from_s))
		add_slots(w, f.grant, span);
	return 0;
}

/* ---- attempts that were resized: a span from each event that changed the devices */

struct resized {
	struct walk *w;
	uint32_t attempt;
	struct buf grant; /* that it has; empty: none */
	double since_s;
};

static void close_piece(struct resized *r, double to_s, const char *end)
{
	if (r->grant.n && !(to_s < r->w->range->from_s))
		add_slots(r->w, (struct slice){ r->grant.at, r->grant.n },
			(struct hold_span){ .attempt = r->attempt,
				.from_s = r->since_s,
				.to_s = to_s,
				.end = end });
	buf_clear(&r->grant);
}

static int see_event(void *ctx, const struct record_event *event)
{
	struct resized *r = ctx;
	struct attempt_facts f = attempt_facts(event->attempt_after ? event->attempt_after : "");
	bool another = event->attempt != r->attempt || !r->grant.n || !slice_is(f.grant, r->grant.at);

	if (f.grant.n && isfinite(f.launched_s) && another && !event->attempt_over) {
		bool same_attempt = event->attempt == r->attempt;

		close_piece(r, event->at_s, NULL);
		r->attempt = event->attempt;
		buf_add(&r->grant, f.grant.at, f.grant.n);
		r->since_s = same_attempt ? event->at_s : f.launched_s;
	}
	if (event->attempt_over && event->attempt == r->attempt)
		close_piece(r, isfinite(f.over_s) ? f.over_s : event->at_s, end_of(r->w, &f));
	return 0;
}

static int walk_resized(struct walk *w, uint32_t job)
{
	struct resized r = { .w = w };
	int rc = record_events(w->record, 0, job, 0, see_event, &r, w->err);

	close_piece(&r, NAN, NULL);
	buf_fini(&r.grant);
	return rc;
}

/* ---- jobs */

/* One that never had an attempt has no spans.  Of one that was pruned the last devices of each attempt are known. */
static int find_spans(struct walk *w, uint32_t id, const struct job_facts *f, bool pruned)
{
	w->spans.n = 0;
	if (f->resizes > 0 && !pruned)
		return walk_resized(w, id);
	return f->attempt ? record_attempts(w->record, id, see_attempt, w, w->err) : 0;
}

static int see_job(void *ctx, const struct record_job *row)
{
	struct walk *w = ctx;
	struct job_facts f;
	struct span_job job;
	int rc;

	arena_reset(&w->words);
	f = job_facts(row->status, &w->words);
	job = (struct span_job){
		.id = row->id,
		.name = row->name,
		.array_id = (uint32_t)f.array_id,
		.array_index = (uint32_t)f.array_index,
		.user = f.user,
		.model = f.model,
		.tenant = row->tenant,
		.state = row->state,
		.live = row->live,
		.waits = !f.held && !f.after,
		.gpus = (uint32_t)f.gpus,
		.arrival_s = row->arrival_s,
		.begin_s = f.begin_s,
		.end_s = row->end_s,
	};
	w->ended += !row->live;
	w->state = row->live ? NULL : row->state;
	w->last_attempt = f.attempt;
	rc = find_spans(w, row->id, &f, row->submit_seq == 0);
	job.spans = w->spans.at;
	job.n = w->spans.n;
	if (rc == 0)
		w->see(w->ctx, &job);
	return rc;
}

int spans_walk(struct record *record, const struct desk *desk, const struct span_range *range,
	span_see *see, void *ctx, bool *more, struct err *err)
{
	struct walk w = { .record = record, .desk = desk, .see = see, .ctx = ctx, .err = err, .range = range };
	struct record_filter filter = {
		.uid = UINT32_MAX,
		.limit = range->jobs_max,
		.ended_since_s = range->from_s,
	};
	int rc = record_ended_jobs(record, &filter, see_job, &w, err);

	if (more)
		*more = range->jobs_max && w.ended >= range->jobs_max;
	if (rc == 0)
		rc = record_live_jobs(record, see_job, &w, err);
	vec_fini(&w.spans);
	arena_fini(&w.words);
	return rc;
}
