#include "daemon/reports.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "daemon/daemon_state.h"

#define REPORT_EVERY_S 1.0

static struct report *find(const struct daemon *d, uint32_t job, uint32_t attempt)
{
	for (size_t i = 0; i < d->reports.n; i++) {
		if (d->reports.at[i].job == job && d->reports.at[i].attempt == attempt)
			return &d->reports.at[i];
	}
	return NULL;
}

/* Members of the later one count; those it does not have stay. */
static void merge(json_t *into, const json_t *later)
{
	json_t *metrics = json_object_get(into, "metrics");
	const json_t *more = json_object_get(later, "metrics");

	if (json_is_object(metrics) && json_is_object(more)) {
		json_incref(metrics);
		json_object_update(metrics, (json_t *)more);
		json_object_update(into, (json_t *)later);
		json_object_set_new(into, "metrics", metrics);
		return;
	}
	json_object_update(into, (json_t *)later);
}

/* Whether it says nothing but how far the job is: what else it says may matter to decisions now. */
static bool is_plain(const struct daemon *d, uint32_t id, uint32_t attempt, const json_t *body)
{
	const struct live_job *job = core_job(d->core, id);
	const struct attempt *a = core_attempt(d->core, id, attempt);

	return job && a && a->phase == PHASE_RUNNING && member_number(body, "step", -1) >= 0 &&
		isnan(job->idle_since_s) &&
		member_bool(body, "resizable", job->progress.resizable) == job->progress.resizable;
}

bool reports_hold(struct daemon *d, uint32_t job, uint32_t attempt, const json_t *body)
{
	struct report *r = find(d, job, attempt);

	if (!r || d->last_s >= r->taken_s + REPORT_EVERY_S || !is_plain(d, job, attempt, body))
		return false;
	if (r->held)
		merge(r->held, body);
	else
		r->held = json_deep_copy(body);
	return true;
}

void reports_taken(struct daemon *d, uint32_t job, uint32_t attempt)
{
	struct report *r = find(d, job, attempt);

	if (!r) {
		vec_push(&d->reports, (struct report){ .job = job, .attempt = attempt });
		r = &d->reports.at[d->reports.n - 1];
	}
	json_decref(r->held);
	r->held = NULL;
	r->taken_s = d->last_s;
}

static void take(struct daemon *d, struct report *r)
{
	char *text = json_dumps(r->held, JSON_COMPACT);
	struct err err = { 0 };

	if (core_apply(d->core, "progress", r->job, r->attempt, d->last_s, r->held, &err) == 0)
		daemon_row(d, "progress", r->job, r->attempt, d->last_s, text, false);
	else
		log_debug(d->log, "progress of job %u, attempt %u: %s", r->job, r->attempt, err.text);
	free(text);
	json_decref(r->held);
	r->held = NULL;
	r->taken_s = d->last_s;
}

void reports_flush(struct daemon *d, uint32_t job)
{
	for (size_t i = 0; i < d->reports.n; i++) {
		struct report *r = &d->reports.at[i];

		if (r->held && (!job || r->job == job))
			take(d, r);
	}
}

void reports_turn(struct daemon *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->reports.n; i++) {
		struct report r = d->reports.at[i];

		if (r.held && d->last_s >= r.taken_s + REPORT_EVERY_S)
			take(d, &r);
		if (r.held || core_attempt(d->core, r.job, r.attempt))
			d->reports.at[kept++] = r;
	}
	d->reports.n = kept;
}

double reports_in_s(struct daemon *d)
{
	double in_s = INFINITY;

	for (size_t i = 0; i < d->reports.n; i++) {
		const struct report *r = &d->reports.at[i];

		if (r->held)
			in_s = fmin(in_s, r->taken_s + REPORT_EVERY_S - daemon_now_s(d));
	}
	return in_s;
}

const json_t *reports_held(const struct daemon *d, uint32_t job, uint32_t attempt)
{
	const struct report *r = find(d, job, attempt);

	return r ? r->held : NULL;
}

void reports_fini(struct daemon *d)
{
	for (size_t i = 0; i < d->reports.n; i++)
		json_decref(d->reports.at[i].held);
	vec_fini(&d->reports);
}
