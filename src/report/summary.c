/*
 * The figures of a run, from its jobs as they ended.
 */
#include "report/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/metric.h"
#include "report/refused.h"
#include "report/stats.h"

/* One number for each job that finished. */
struct columns {
	double *jct_s, *wait_s, *ftf, *speed;
	size_t n;
};

/* Of jobs in measured training. */
struct training_sums {
	double served_s, eff_s, worth_s; /* of all jobs */
	bool any;                        /* one of them is */
	uint64_t restarts;               /* of those that finished */
};

static void columns_init(struct columns *c, uint32_t n)
{
	size_t size = mem_array_size(n ? n : 1, sizeof(double));

	*c = (struct columns){ mem_alloc(size), mem_alloc(size), mem_alloc(size), mem_alloc(size), 0 };
}

static void columns_fini(struct columns *c)
{
	free(c->jct_s);
	free(c->wait_s);
	free(c->ftf);
	free(c->speed);
}

static void add_finished(struct columns *c, const struct job *job)
{
	double jct = job->finish_s - job->arrival_s;

	c->jct_s[c->n] = jct;
	c->wait_s[c->n] = job->waited_s;
	c->ftf[c->n] = job->fair_s > 0 ? jct / job->fair_s : NAN;
	c->speed[c->n] = 1 / c->ftf[c->n];
	c->n++;
}

/* Of a job that changes its size, what was asked for says little. */
static double overhead_gpu_s(const struct job *job)
{
	if (job->max_gpus > job->min_gpus && job->occupied_s > 0)
		return fmax(0, job->occupied_s - job->served_s);
	return job->overhead_s * job->gpus;
}

static void count_job(struct summary *s, const struct job *job)
{
	s->jobs_submitted += job->state != JOB_FUTURE;
	s->jobs_finished += job->state == JOB_FINISHED;
	s->jobs_rejected += job->state == JOB_REJECTED;
	s->deadlines_refused += job->state == JOB_REJECTED && job->reason.why == WHY_DEADLINE;
	s->jobs_unfinished += job->state != JOB_FUTURE && job->state != JOB_FINISHED &&
		job->state != JOB_REJECTED;
	s->preemptions += job->preemptions;
	s->migrations += job->migrations;
	s->resizes += job->resizes;
	s->failures += job->failures;
	s->overhead_gpu_s += overhead_gpu_s(job);
	s->lost_gpu_s += job->lost_gpu_s;
}

/* A deadline is not met by a job that was refused or never ended, too; missed it is by those let in. */
static void add_deadline(struct summary *s, const struct job *job, uint32_t *asked, uint32_t *met)
{
	if (!isfinite(job->deadline_s) || job->state == JOB_FUTURE)
		return;
	(*asked)++;
	*met += job_met_deadline(job);
	s->deadlines_missed += job->state != JOB_REJECTED && !job_met_deadline(job);
}

static void set_times(struct summary *s, struct columns *c)
{
	size_t n = c->n;

	s->jct_mean_s = stats_mean(c->jct_s, n);
	s->wait_mean_s = stats_mean(c->wait_s, n);
	s->ftf_mean = stats_mean(c->ftf, n);
	s->jain = stats_jain(c->speed, n);
	stats_sort(c->jct_s, n);
	s->jct_p50_s = stats_percentile(c->jct_s, n, 50);
	s->jct_p90_s = stats_percentile(c->jct_s, n, 90);
	s->jct_p95_s = stats_percentile(c->jct_s, n, 95);
	s->jct_p99_s = stats_percentile(c->jct_s, n, 99);
	s->jct_max_s = stats_percentile(c->jct_s, n, 100);
	stats_sort(c->wait_s, n);
	s->wait_p50_s = stats_percentile(c->wait_s, n, 50);
	s->wait_p90_s = stats_percentile(c->wait_s, n, 90);
	s->wait_p95_s = stats_percentile(c->wait_s, n, 95);
	s->wait_p99_s = stats_percentile(c->wait_s, n, 99);
	s->ftf_max = stats_percentile(c->ftf, stats_sort(c->ftf, n), 100);
}

static void add_training(struct training_sums *t, const struct job *job)
{
	t->any |= job->trained;
	t->served_s += job->served_s;
	t->eff_s += job->eff_s;
	t->worth_s += job->worth_s;
	if (job->state == JOB_FINISHED)
		t->restarts += job->restarts;
}

static void set_training(struct summary *s, const struct training_sums *t, double up_gpu_s)
{
	s->restarts_mean = s->jobs_finished ? (double)t->restarts / s->jobs_finished : NAN;
	s->efficiency = t->any && t->served_s > 0 ? t->eff_s / t->served_s : NAN;
	s->goodput = t->any && up_gpu_s > 0 ? t->worth_s / up_gpu_s : NAN;
}

static void set_totals(struct summary *s, const struct outcome *o)
{
	double up = o->up_gpu_s;

	s->utilisation = up > 0 ? o->busy_gpu_s / up : NAN;
	s->useful = up > 0 ? o->useful_gpu_s / up : NAN;
	s->held_gpu_s = o->busy_gpu_s;
	s->decisions = o->decisions;
	s->decision_cpu_s = o->decision_cpu_s;
	s->cpu_s = o->cpu_s;
	s->rss_bytes = clock_peak_rss_bytes();
	s->events = o->events;
	s->event_hash = o->event_hash;
	s->speed_error_before = o->speed_error_before;
	s->speed_error = o->speed_error;
	for (int w = 0; w < WHY_COUNT; w++)
		s->waited_by_why_s[w] = o->waited_by_why_s[w];
	s->nfigures = o->nfigures;
	for (uint32_t i = 0; i < o->nfigures; i++)
		s->figures[i] = o->figures[i];
}

void summary_of(const struct trace *trace, const struct outcome *outcome, struct summary *out)
{
	struct summary s = { .makespan_s = NAN };
	struct training_sums training = { 0 };
	uint32_t asked = 0, met = 0;
	double last = -INFINITY;
	struct columns c;

	(void)trace; /* for figures that jobs do not carry; none so far */
	columns_init(&c, outcome->njobs);
	for (uint32_t i = 0; i < outcome->njobs; i++) {
		const struct job *job = &outcome->jobs[i];

		count_job(&s, job);
		add_deadline(&s, job, &asked, &met);
		add_training(&training, job);
		if (job->state != JOB_FINISHED)
			continue;
		add_finished(&c, job);
		last = fmax(last, job->finish_s);
	}
	set_times(&s, &c);
	set_totals(&s, outcome);
	set_training(&s, &training, outcome->up_gpu_s);
	if (c.n)
		s.makespan_s = last - outcome->from_s;
	s.deadline_met = asked ? (double)met / asked : NAN;
	columns_fini(&c);
	*out = s;
}

void summary_fini(struct summary *summary)
{
	free(summary->policy);
	free(summary->placer);
	*summary = (struct summary){ 0 };
}

void json_seed(struct json *j, const char *key, uint64_t seed)
{
	char text[24];

	if (seed <= UINT64_C(1) << 53) {
		json_int(j, key, (int64_t)seed);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, seed);
	json_str(j, key, text);
}

void json_hash(struct json *j, const char *key, uint64_t hash)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, hash);
	json_str(j, key, text);
}

void summary_json(const struct summary *s, struct buf *out)
{
	summary_json_of(s, NULL, out);
}

void summary_json_of(const struct summary *s, const struct outcome *outcome, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "summary/1");
	json_str(&j, "policy", s->policy);
	json_str(&j, "placer", s->placer);
	json_seed(&j, "seed", s->seed);
	for (const struct metric *m = metrics; m->key; m++)
		metric_json(&j, m, s);
	json_hash(&j, "event_hash", s->event_hash);
	json_begin_object(&j, "waited_by_why_s");
	for (int w = WHY_NONE + 1; w < WHY_COUNT; w++)
		json_double(&j, why_name(w), s->waited_by_why_s[w]);
	json_end(&j, '}');
	json_begin_object(&j, "policy_figures");
	for (uint32_t i = 0; i < s->nfigures; i++)
		json_double(&j, s->figures[i].name, s->figures[i].value);
	json_end(&j, '}');
	if (outcome)
		refused_json(outcome, &j);
	json_end(&j, '}');
	buf_char(out, '\n');
}
