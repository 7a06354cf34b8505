/*
 * What was done lately, in figures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "daemon/library.h"
#include "daemon/verbs_run.h"

struct figures {
	VEC(double) jct, wait;
	uint32_t finished, failed, cancelled, preemptions, resizes, restarts;
	uint32_t deadlines, met;
	double gpu_s, held_gpu_s, lost_s;
};

/* What a status says of a job that has ended; a few of its members are numbers of its course. */
struct course_facts {
	double preemptions, resizes, restarts, deadline_s, occupied_s, served_s, lost_s, used_s;
};

static struct course_facts course_facts(const char *status)
{
	struct course_facts f = { .deadline_s = INFINITY };
	struct scan s = scan_of(slice_of(status));
	struct slice key, value;

	while (scan_member(&s, &key, &value)) {
		if (scan_is(key, "preemptions"))
			slice_double(value, &f.preemptions);
		else if (scan_is(key, "resizes"))
			slice_double(value, &f.resizes);
		else if (scan_is(key, "restarts"))
			slice_double(value, &f.restarts);
		else if (scan_is(key, "deadline_s"))
			slice_double(value, &f.deadline_s);
		else if (scan_is(key, "occupied_s"))
			slice_double(value, &f.occupied_s);
		else if (scan_is(key, "served_s"))
			slice_double(value, &f.served_s);
		else if (scan_is(key, "lost_s"))
			slice_double(value, &f.lost_s);
		else if (scan_is(key, "used_s"))
			slice_double(value, &f.used_s);
	}
	return f;
}

static int see_ended(void *ctx, const struct record_job *row)
{
	struct figures *f = ctx;
	struct course_facts c = course_facts(row->status);
	double jct_s = row->end_s - row->arrival_s;
	bool fine = !strcmp(row->state, "COMPLETED");

	f->finished += fine;
	f->failed += !strcmp(row->state, "FAILED") || !strcmp(row->state, "TIMEOUT");
	f->cancelled += !strcmp(row->state, "CANCELLED");
	f->preemptions += (uint32_t)c.preemptions;
	f->resizes += (uint32_t)c.resizes;
	f->restarts += (uint32_t)c.restarts;
	f->deadlines += isfinite(c.deadline_s);
	f->met += fine && row->end_s <= c.deadline_s && isfinite(c.deadline_s);
	f->held_gpu_s += c.occupied_s;
	f->gpu_s += c.served_s;
	f->lost_s += c.lost_s;
	if (fine) {
		vec_push(&f->jct, jct_s);
		vec_push(&f->wait, fmax(0, jct_s - c.used_s));
	}
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

static void read_report(struct record *record, const struct desk *desk, struct call *call)
{
	double since_s = member_number(call->args, "since_s", 86400), now_s = desk->now_s;
	struct record_filter filter = {
		.uid = UINT32_MAX,
		.limit = 1000000,
		.ended_since_s = fmax(0, now_s - since_s),
	};
	struct figures f = { 0 };
	struct err err = { 0 };
	double span_s = fmin(since_s, now_s);
	struct json j;

	if (record_ended_jobs(record, &filter, see_ended, &f, &err) < 0) {
		call_fail(call, err.code, err.text);
		return;
	}
	if (f.jct.n) {
		qsort(f.jct.at, f.jct.n, sizeof(double), ascending);
		qsort(f.wait.at, f.wait.n, sizeof(double), ascending);
	}
	call_begin(call, &j);
	json_double(&j, "from", wallclock_s(&desk->wall, fmax(0, now_s - since_s)));
	json_double(&j, "to", wallclock_s(&desk->wall, now_s));
	json_str(&j, "policy", desk->policy);
	json_int(&j, "jobs_live", (int64_t)desk->live);
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
	json_int(&j, "deadlines_refused", (int64_t)desk->refused);
	json_double(&j, "held_gpu_s", f.held_gpu_s);
	json_double(&j, "served_gpu_s", f.gpu_s);
	json_double(&j, "lost_s", f.lost_s);
	json_double(&j, "utilisation", span_s > 0 ? f.gpu_s / (span_s * desk->ndevices) : NAN);
	json_end(&j, '}');
	vec_fini(&f.jct);
	vec_fini(&f.wait);
}

void verb_report(struct daemon *d, struct call *call)
{
	library_ask(d, call, read_report);
}
