/*
 * What each tenant deserved, used and waited for, from the record.
 */
#include <math.h>
#include <string.h>

#include "daemon/fairness.h"
#include "daemon/spans.h"
#include "daemon/verbs_run.h"

enum { STEPS = 120 };

struct sums {
	struct fairness f;
	const struct desk *desk;
};

static double until(const struct sums *s, double at_s)
{
	return isnan(at_s) ? s->desk->now_s : at_s;
}

/* A job waits from when it came, and from each end of an attempt, to the next beginning. */
static void add_job(void *ctx, const struct span_job *job)
{
	struct sums *s = ctx;
	size_t tenant = fairness_tenant(&s->f, job->tenant ? job->tenant : "");
	double since_s = fmax(job->arrival_s, job->begin_s);

	for (size_t i = 0; i < job->n; i++) {
		const struct hold_span *span = &job->spans[i];

		fairness_use(&s->f, tenant, __builtin_popcountll(span->devices), span->from_s,
			until(s, span->to_s));
		if (job->waits)
			fairness_wait(&s->f, tenant, job->gpus, since_s, span->from_s);
		since_s = fmax(since_s, until(s, span->to_s));
	}
	if (job->waits)
		fairness_wait(&s->f, tenant, job->gpus, since_s, until(s, job->end_s));
}

static void put_steps(struct json *j, const char *key, const double *at, uint32_t n)
{
	json_begin_array(j, key);
	for (uint32_t i = 0; i < n; i++)
		json_double(j, NULL, round(at[i] * 1000) / 1000);
	json_end(j, ']');
}

static void put_tenants(const struct fairness *f, struct json *j)
{
	json_begin_array(j, "tenants");
	for (size_t i = 0; i < f->tenants.n; i++) {
		const struct fair_tenant *t = &f->tenants.at[i];

		json_begin_object(j, NULL);
		json_str(j, "name", t->name);
		json_double(j, "weight", t->weight);
		put_steps(j, "deserved", t->deserved, f->steps);
		put_steps(j, "used", t->used, f->steps);
		put_steps(j, "waiting", t->waiting, f->steps);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_waits(const struct fairness *f, struct json *j)
{
	size_t n = f->tenants.n;

	json_begin_array(j, "waits");
	for (size_t i = 0; i < n * n; i++) {
		if (f->because[i] <= 0)
			continue;
		json_begin_object(j, NULL);
		json_str(j, "tenant", f->tenants.at[i / n].name);
		json_str(j, "because_of", f->tenants.at[i % n].name);
		json_double(j, "seconds", f->because[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void read_fairness(struct record *record, const struct desk *desk, struct call *call)
{
	double since_s = fmin(member_number(call->args, "since_s", 86400), desk->now_s);
	struct sums s = {
		.f = { .from_s = desk->now_s - since_s,
			.step_s = since_s / STEPS,
			.steps = STEPS,
			.devices = desk->ndevices },
		.desk = desk,
	};
	struct span_range range = { .jobs_max = SPAN_JOBS_MAX };
	struct err err = { 0 };
	bool more;
	struct json j;

	for (uint32_t i = 0; i < desk->ntenants; i++) {
		size_t at = fairness_tenant(&s.f, desk->tenants[i].name); /* which may move the list */

		s.f.tenants.at[at].weight = desk->tenants[i].weight;
	}
	range.from_s = s.f.from_s;
	if (spans_walk(record, desk, &range, add_job, &s, &more, &err) < 0) {
		call_fail(call, err.code, err.text);
		fairness_fini(&s.f);
		return;
	}
	fairness_finish(&s.f);
	call_begin(call, &j);
	json_double(&j, "from", wallclock_s(&desk->wall, s.f.from_s));
	json_double(&j, "to", wallclock_s(&desk->wall, desk->now_s));
	json_double(&j, "step_s", s.f.step_s);
	json_double(&j, "devices", s.f.devices);
	put_tenants(&s.f, &j);
	put_waits(&s.f, &j);
	json_bool(&j, "more", more);
	json_end(&j, '}');
	fairness_fini(&s.f);
}

void verb_fairness(struct daemon *d, struct call *call)
{
	if (member_number(call->args, "since_s", 86400) > 0)
		library_ask(d, call, read_fairness);
	else
		call_problem(call, 400, 2, "since_s: seconds back from now, above 0");
}
