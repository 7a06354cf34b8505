/*
 * What was done lately, in figures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/verbs_run.h"

struct figures {
	VEC(double) jct, wait;
	uint32_t finished, failed, cancelled, preemptions, resizes, restarts;
	uint32_t deadlines, met;
	double gpu_s, held_gpu_s, lost_s;
};

static int see_ended(void *ctx, const struct record_job *row)
{
	struct figures *f = ctx;
	json_t *status = json_loads(row->status, 0, NULL);
	double jct_s = row->end_s - row->arrival_s;
	double deadline_s = member_number(status, "deadline_s", INFINITY);
	bool fine = !strcmp(row->state, "COMPLETED");

	f->finished += fine;
	f->failed += !strcmp(row->state, "FAILED") || !strcmp(row->state, "TIMEOUT");
	f->cancelled += !strcmp(row->state, "CANCELLED");
	f->preemptions += (uint32_t)member_int(status, "preemptions", 0);
	f->resizes += (uint32_t)member_int(status, "resizes", 0);
	f->restarts += (uint32_t)member_int(status, "restarts", 0);
	f->deadlines += isfinite(deadline_s);
	f->met += fine && row->end_s <= deadline_s && isfinite(deadline_s);
	f->held_gpu_s += member_number(status, "occupied_s", 0);
	f->gpu_s += member_number(status, "served_s", 0);
	f->lost_s += member_number(status, "lost_s", 0);
	if (fine) {
		vec_push(&f->jct, jct_s);
		vec_push(&f->wait, fmax(0, jct_s - member_number(status, "used_s", 0)));
	}
	json_decref(status);
	return 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : NAN;
}

static double quantile(const double *sorted, size_t n, double q)
{
	return n ? sorted[(size_t)fmin((double)n - 1, floor(q * (double)n))] : NAN;
}

void verb_report(struct daemon *d, struct call *call)
{
	double since_s = member_number(call->args, "since_s", 86400), now_s = daemon_now_s(d);
	struct record_filter filter = {
		.uid = UINT32_MAX,
		.limit = 1000000,
		.ended_since_s = fmax(0, now_s - since_s),
	};
	struct figures f = { 0 };
	struct err err = { 0 };
	double span_s = fmin(since_s, now_s);
	size_t live;
	struct json j;

	if (record_ended_jobs(d->record, &filter, see_ended, &f, &err) < 0) {
		call_fail(call, err.code, err.text);
		return;
	}
	core_jobs(d->core, &live);
	if (f.jct.n) {
		qsort(f.jct.at, f.jct.n, sizeof(double), ascending);
		qsort(f.wait.at, f.wait.n, sizeof(double), ascending);
	}
	call_begin(call, &j);
	json_double(&j, "from", d->born_s + fmax(0, now_s - since_s));
	json_double(&j, "to", d->born_s + now_s);
	json_str(&j, "policy", core_rules(d->core)->policy);
	json_int(&j, "jobs_live", (int64_t)live);
	json_int(&j, "jobs_finished", f.finished);
	json_int(&j, "jobs_failed", f.failed);
	json_int(&j, "jobs_cancelled", f.cancelled);
	json_double(&j, "jct_mean_s", mean(f.jct.at, f.jct.n));
	json_double(&j, "jct_p50_s", quantile(f.jct.at, f.jct.n, 0.5));
	json_double(&j, "jct_p95_s", quantile(f.jct.at, f.jct.n, 0.95));
	json_double(&j, "wait_mean_s", mean(f.wait.at, f.wait.n));
	json_double(&j, "wait_p95_s", quantile(f.wait.at, f.wait.n, 0.95));
	json_int(&j, "preemptions", f.preemptions);
	json_int(&j, "resizes", f.resizes);
	json_int(&j, "restarts", f.restarts);
	json_int(&j, "deadlines", f.deadlines);
	json_int(&j, "deadlines_met", f.met);
	/* Of what is refused nothing stays, so this daemon alone knows of it. */
	json_int(&j, "deadlines_refused", (int64_t)d->refused);
	json_double(&j, "held_gpu_s", f.held_gpu_s);
	json_double(&j, "served_gpu_s", f.gpu_s);
	json_double(&j, "lost_s", f.lost_s);
	json_double(&j, "utilisation",
		span_s > 0 ? f.gpu_s / (span_s * d->epoch.cluster.devices) : NAN);
	json_end(&j, '}');
	vec_fini(&f.jct);
	vec_fini(&f.wait);
}
