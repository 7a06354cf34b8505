/*
 * A job's work is the seconds it ran for good; what it held devices for before its first
 * step is a cost, measured from the decision, so that it includes waiting for whoever had
 * to leave.
 */
#include "cli/db_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/ui.h"
#include "io/trace_io.h"

enum { EPOCHS_MAX = 200 }; /* that are looked back at */

/* ---- reading */

static struct live_job *read_job(const json_t *status)
{
	struct live_job *job = NULL;

	return status && live_job_from_status(status, &job, NULL) == 0 ? job : NULL;
}

static int take_ended(void *ctx, const struct record_job *row)
{
	struct recorded *r = ctx;
	json_t *status = json_loads(row->status, 0, NULL);
	struct live_job *job = read_job(status);
	bool ran = job && live_job_ran_s(job) > 0 && job->base.gpus > 0;

	json_decref(status);
	r->unreadable += !job;
	r->summaries += job && row->submit_seq == 0;
	r->never_ran += job && !ran;
	if (!ran) {
		live_job_destroy(job);
		return 0;
	}
	job->submit_seq = row->submit_seq;
	vec_push(&r->jobs, (struct recorded_job){ .ended = job });
	return 0;
}

/* They come newest first. */
static void put_in_order(struct recorded *r)
{
	for (size_t i = 0; i < r->jobs.n / 2; i++) {
		struct recorded_job swap = r->jobs.at[i];

		r->jobs.at[i] = r->jobs.at[r->jobs.n - 1 - i];
		r->jobs.at[r->jobs.n - 1 - i] = swap;
	}
}

static int take_asked(void *ctx, const struct record_event *event)
{
	struct recorded_job *job = ctx;
	json_t *body = json_loads(event->body, 0, NULL);

	if (!strcmp(event->kind, "submit") && event->job == job->ended->id)
		job->asked = read_job(json_object_get(body, "job"));
	json_decref(body);
	return 0;
}

/* From the decision to the first step: once for the first start, as a mean for the others. */
struct costs {
	double start_s, resume_s;
	uint32_t resumes;
};

static int take_cost(void *ctx, const struct record_attempt *attempt)
{
	struct costs *c = ctx;
	json_t *status = json_loads(attempt->status, 0, NULL);
	double cost_s = member_number(status, "begun_s", NAN) - member_number(status, "ordered_s", NAN);

	json_decref(status);
	if (isnan(cost_s)) {
		return 0;
	} else if (isnan(c->start_s)) {
		c->start_s = cost_s;
	} else {
		c->resume_s += cost_s;
		c->resumes++;
	}
	return 0;
}

static int look_up(struct record *record, struct recorded_job *job, struct err *err)
{
	struct costs costs = { .start_s = NAN };
	int rc = record_event_at(record, job->ended->submit_seq, take_asked, job, err);

	if (rc == ERR_MISSING)
		*err = (struct err){ 0 };
	else if (rc < 0)
		return rc;
	if (record_attempts(record, job->ended->id, take_cost, &costs, err) < 0)
		return err->code;
	job->start_cost_s = costs.start_s;
	job->resume_cost_s = costs.resumes ? costs.resume_s / costs.resumes : NAN;
	return 0;
}

static void read_epoch(struct record *record, struct recorded *r)
{
	struct buf text = { 0 };
	json_t *json = NULL;

	if (record_meta(record, "epoch", &text))
		json = json_loads(text.at, 0, NULL);
	r->has_epoch = json && epoch_from_json(json, &r->epoch, NULL) == 0;
	json_decref(json);
	buf_fini(&text);
}

/* An epoch of the past, looked for from the last one back. */
struct before {
	const char *policy; /* the last one's */
	uint64_t seq;
	double at_s;
	bool other;
};

static int see_epoch(void *ctx, const struct record_event *event)
{
	struct before *b = ctx;
	json_t *body = json_loads(event->body, 0, NULL);
	const char *policy = member_text(body, "policy");

	b->other = policy && strcmp(policy, b->policy) != 0;
	b->seq = event->seq;
	if (!b->other)
		b->at_s = event->at_s;
	json_decref(body);
	return 0;
}

static void read_policies(struct record *record, struct recorded *r)
{
	struct before b = { r->epoch.rules.policy, record_last_seq(record), INFINITY, false };
	struct err ignored = { 0 };

	r->policy_since_s = -INFINITY;
	if (!r->has_epoch || !b.policy)
		return;
	for (int i = 0; i < EPOCHS_MAX && b.seq > 0 && !b.other; i++) {
		if (record_last_of_kind(record, "epoch", b.seq, see_epoch, &b, &ignored) < 0)
			return;
		b.seq--;
	}
	if (b.other)
		r->policy_since_s = b.at_s;
}

int recorded_read(struct record *record, struct recorded *out, struct err *err)
{
	struct record_filter all = { .uid = UINT32_MAX, .ended_since_s = NAN };
	struct recorded r = { 0 };
	int rc = record_ended_jobs(record, &all, take_ended, &r, err);

	put_in_order(&r);
	for (size_t i = 0; i < r.jobs.n && !rc; i++)
		rc = look_up(record, &r.jobs.at[i], err);
	if (rc < 0) {
		recorded_fini(&r);
		return rc;
	}
	read_epoch(record, &r);
	read_policies(record, &r);
	*out = r;
	return 0;
}

void recorded_fini(struct recorded *r)
{
	for (size_t i = 0; i < r->jobs.n; i++) {
		live_job_destroy(r->jobs.at[i].ended);
		live_job_destroy(r->jobs.at[i].asked);
	}
	vec_fini(&r->jobs);
	if (r->has_epoch)
		epoch_fini(&r->epoch);
	*r = (struct recorded){ 0 };
}

/* Position of the first job with at least this number. */
static size_t position_of(const struct recorded *r, uint32_t id)
{
	size_t low = 0, high = r->jobs.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->jobs.at[mid].ended->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct recorded_job *recorded_find(const struct recorded *r, uint32_t id)
{
	size_t i = position_of(r, id);

	return i < r->jobs.n && r->jobs.at[i].ended->id == id ? &r->jobs.at[i] : NULL;
}

/* ---- making a trace */

static uint32_t name_of(struct names *names, const char *text)
{
	return text && *text ? names_add(names, text, strlen(text)) : NAME_NONE;
}

/* A trace knows 31 types; a job that names others may use any. */
static uint32_t type_bit(struct trace *trace, const char *name, size_t n)
{
	uint32_t type = n ? names_add(&trace->types, name, n) : NAME_NONE;

	return type < 31 ? UINT32_C(1) << type : 0;
}

static uint32_t types_as_said(struct trace *trace, const char *list)
{
	struct slice rest = slice_of(list ? list : "");
	uint32_t bits = 0;

	while (rest.n) {
		struct slice one = slice_trim(slice_cut(&rest, ','));

		bits |= type_bit(trace, one.at, one.n);
	}
	return bits;
}

/* By their names on the machine, where CPU slots are a type that others do not get. */
static uint32_t types_of(struct trace *trace, const struct recorded *r, const struct live_job *job)
{
	const struct cluster *cluster = &r->epoch.cluster;
	uint32_t here = r->has_epoch ? live_job_types(job, cluster) : 0, bits = 0;
	uint32_t known = here & (uint32_t)((UINT64_C(1) << cluster->ntypes) - 1);

	if (!known)
		return types_as_said(trace, job->types);
	if (known == (uint32_t)((UINT64_C(1) << cluster->ntypes) - 1))
		return 0;
	for (; known; known &= known - 1) {
		const char *name = cluster->types[__builtin_ctz(known)].name;

		bits |= type_bit(trace, name, strlen(name));
	}
	return bits;
}

/*
 * Seconds of running as asked that were not in vain.  A job that counts steps has been as fast as
 * its devices were many, as far as anybody knows.
 */
static double useful_s(const struct live_job *job)
{
	const struct job *base = &job->base;
	double s = base->by_steps ? (base->served_s - base->lost_gpu_s) / base->gpus : base->done;

	return s > 0 ? s : live_job_ran_s(job);
}

/* What those paid that were stopped and started again, for those that never were. */
static double usual_resume_s(const struct recorded *r)
{
	double sum_s = 0;
	uint32_t n = 0;

	for (size_t i = 0; i < r->jobs.n; i++) {
		if (isnan(r->jobs.at[i].resume_cost_s))
			continue;
		sum_s += r->jobs.at[i].resume_cost_s;
		n++;
	}
	return n ? sum_s / n : NAN;
}

static double first_known(double a, double b, double c)
{
	return !isnan(a) ? a : !isnan(b) ? b : c;
}

static void set_asked(struct job *job, const struct live_job *from)
{
	job->gpus = from->base.gpus;
	job->min_gpus = from->base.min_gpus;
	job->max_gpus = from->base.max_gpus;
	job->class_ = from->base.class_;
	job->weight = from->base.weight;
	job->priority = from->base.priority;
	job->deadline_s = from->base.deadline_s;
	job->cpus = from->base.cpus;
	job->mem_bytes = from->base.mem_bytes;
	job->share = from->base.share;
	job->gpu_mem_bytes = from->base.gpu_mem_bytes;
}

static void add_job(struct trace *trace, const struct recorded *r, const struct recorded_job *from,
	double usual_resume_cost_s)
{
	const struct live_job *ended = from->ended, *asked = from->asked ? from->asked : ended;
	struct job *job = trace_add(trace);
	char id[16];

	snprintf(id, sizeof(id), "%u", ended->id);
	job->label = trace_text(trace, id, strlen(id));
	job->name = ended->name ? trace_text(trace, ended->name, strlen(ended->name)) : NULL;
	job->tenant = name_of(&trace->tenants, ended->tenant);
	job->model = name_of(&trace->models, ended->model);
	job->types = types_of(trace, r, ended);
	/* Nobody waits for a job that shall not begin yet. */
	job->arrival_s = fmax(asked->arrival_s, ended->begin_s);
	set_asked(job, ended);
	job->start_cost_s = first_known(from->start_cost_s, ended->base.start_cost_s, 0);
	job->resume_cost_s = first_known(from->resume_cost_s, usual_resume_cost_s,
		fmax(job->start_cost_s, ended->base.resume_cost_s));
	if (!asked->base.by_steps)
		job->work_est = asked->base.work_est;
	trace->work[trace->njobs - 1] = useful_s(ended);
}

/* A trace can only say "after it finished".  What was waited for is gone from the status in the end. */
static void add_after(struct trace *trace, const struct recorded *r, uint32_t at)
{
	const struct recorded_job *from = &r->jobs.at[at];
	const struct live_job *job = from->asked ? from->asked : from->ended;

	for (uint32_t i = 0; i < job->nafter; i++) {
		const struct recorded_job *other = recorded_find(r, job->after[i].job);

		if (job->after[i].kind != AFTER_START && other)
			trace_add_dep(trace, at, (uint32_t)(other - r->jobs.at));
	}
}

void recorded_trace(const struct recorded *r, struct trace *out)
{
	double resume_cost_s = usual_resume_s(r);
	uint32_t n = (uint32_t)r->jobs.n;

	trace_reserve(out, n);
	for (uint32_t i = 0; i < n; i++)
		add_job(out, r, &r->jobs.at[i], resume_cost_s);
	for (uint32_t i = 0; i < n; i++)
		add_after(out, r, i);
	trace_finish(out, NAN);
}

/* ---- writing */

void recorded_remarks(const struct args *args, const struct recorded *r)
{
	if (r->never_ran)
		ui_say(args, "%u ended without having run and are left out", r->never_ran);
	if (r->unreadable)
		ui_say(args, "%u could not be read and are left out", r->unreadable);
	if (r->summaries)
		ui_say(args,
			"%u job%s pruned: what %s first asked for is taken from the summary, which has what was asked for last",
			r->summaries, r->summaries == 1 ? " was" : "s were",
			r->summaries == 1 ? "it" : "they");
}

static bool is_elastic(const struct live_job *job)
{
	return job->base.min_gpus < job->base.max_gpus;
}

void recorded_tell_unseen(const struct args *args, const struct recorded *r)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->jobs.n; i++)
		n += is_elastic(r->jobs.at[i].ended) && !r->jobs.at[i].ended->speeds.n;
	if (n)
		ui_say(args,
			"%u elastic job%s did not show how %s: taken to be in proportion to devices",
			n, n == 1 ? "" : "s", n == 1 ? "it scales" : "they scale");
}

/* A trace has no place for what they showed. */
static void tell_elastic(const struct args *args, const struct recorded *r)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->jobs.n; i++)
		n += is_elastic(r->jobs.at[i].ended);
	if (n)
		ui_say(args,
			"%u elastic job%s: a trace does not say how they scale, and they are taken to do so in "
			"proportion to devices; --format sim writes what they showed, too",
			n, n == 1 ? "" : "s");
}

static int write_trace(const struct args *args, const struct recorded *r, struct err *err)
{
	const char *to = args->out ? args->out : "-";
	struct trace trace = { 0 };
	struct buf text = { 0 };
	int rc;

	recorded_trace(r, &trace);
	trace_write(&trace, &text);
	rc = file_write(to, text.at, text.n, err);
	if (!rc && args->out)
		ui_say(args, "wrote %u job%s to %s", trace.njobs, trace.njobs == 1 ? "" : "s", to);
	if (!rc) {
		recorded_remarks(args, r);
		tell_elastic(args, r);
	}
	buf_fini(&text);
	trace_fini(&trace);
	return rc;
}

int db_export_trace(const struct args *args, struct record *record, struct err *err)
{
	struct recorded r;
	int rc = recorded_read(record, &r, err);

	if (rc < 0)
		return rc;
	rc = write_trace(args, &r, err);
	recorded_fini(&r);
	return rc;
}
