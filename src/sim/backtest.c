#include "sim/backtest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* What was said of a job, until it is known. */
struct said {
	bool open_start, open_finish;
	bool measured; /* of the part held back */
	double at_s;
	struct forecast_job job;
};

struct result {
	struct score score;
	double actual_s, width_s;
	bool below;
};

typedef VEC(struct result) results_t;

struct test {
	const struct backtest_config *config;
	struct backtest *out;
	uint32_t asked; /* visits so far */
	uint32_t asks;
	struct habits habits;
	struct calibration start, finish;
	struct said *said; /* by job of the trace */
	bool *learnt;      /* likewise: it has ended and is among the habits */
	results_t starts, finishes;
};

/* ---- what is known at a moment */

/* As the live core would copy it; policies do not know the truth, so it is not in it. */
static void take_snapshot(const struct test *t, const struct engine *engine,
	const struct engine_config *rules, double now_s, struct snapshot *out)
{
	const struct sim_config *sim = t->config->sim;
	uint32_t n;
	const struct job *jobs = engine_jobs(engine, &n);

	snapshot_init(out, rules->cluster, now_s);
	out->policy = mem_strdup(sim->policy);
	out->placer = sim->placer ? mem_strdup(sim->placer) : NULL;
	out->admit = sim->admit ? mem_strdup(sim->admit) : NULL;
	out->seed = sim->seed;
	snapshot_take_names(out, &sim->trace->tenants, &sim->trace->models);
	if (rules->belief->profile)
		snapshot_take_speeds(out, rules->belief->profile);
	if (sim->tenants)
		tenants_copy(sim->tenants, &out->tenants);
	out->agents = agents_create(rules->cluster->ntypes, (struct agents_options){ 0 });
	out->belief = (struct rates){ .cluster = &out->cluster, .profile = out->speeds };
	for (uint32_t i = 0; i < n; i++) {
		if (jobs[i].state == JOB_RUNNING && jobs[i].grant)
			snapshot_add(out, &jobs[i], jobs[i].grant, i + 1)->known = 0.5;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct job copy = jobs[i];
		struct snapshot_job *one;

		if (job_ended(&jobs[i]) || jobs[i].grant)
			continue;
		copy.state = JOB_FUTURE;
		one = snapshot_add(out, &copy, NULL, i + 1);
		one->known = 0.5;
		one->opens_s = -INFINITY;
	}
}

static const char *tenant_name(const struct test *t, const struct job *job)
{
	const struct names *names = &t->config->sim->trace->tenants;

	return job->tenant < names->n ? names->at[job->tenant] : NULL;
}

/* ---- what came */

static void note_result(results_t *results, const struct score *score, const struct moments *said,
	double actual_s)
{
	vec_push(results,
		((struct result){ *score, actual_s, said->p90 - said->p10, actual_s < said->p10 }));
}

static void settle_start(struct test *t, struct said *said, const struct job *job)
{
	double actual_s = job->start_s - said->at_s;
	struct score v = calibration_judge(&said->job.raw_start, &said->job.start,
		said->job.plain_start_s, actual_s);

	said->open_start = false;
	calibration_add(&t->start, &v);
	if (said->measured)
		note_result(&t->starts, &v, &said->job.start, actual_s);
}

static void settle_finish(struct test *t, struct said *said, const struct job *job)
{
	double actual_s = job->finish_s - said->at_s;
	struct score v = calibration_judge(&said->job.raw_finish, &said->job.finish,
		said->job.plain_finish_s, actual_s);

	said->open_finish = false;
	calibration_add(&t->finish, &v);
	if (said->measured)
		note_result(&t->finishes, &v, &said->job.finish, actual_s);
}

static void learn(struct test *t, const struct job *jobs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct said *said = &t->said[i];

		if (said->open_start && !isnan(jobs[i].start_s))
			settle_start(t, said, &jobs[i]);
		if (jobs[i].state != JOB_FINISHED || t->learnt[i])
			continue;
		if (said->open_finish)
			settle_finish(t, said, &jobs[i]);
		habits_add(&t->habits, &jobs[i], tenant_name(t, &jobs[i]), jobs[i].done, true);
		t->learnt[i] = true;
	}
}

/* ---- asking */

static bool wants_to_know(const struct test *t, const struct job *job, uint32_t i)
{
	return !job_ended(job) && isnan(job->start_s) && isnan(t->said[i].at_s);
}

static void remember(struct test *t, const struct forecast *forecast, const struct job *jobs)
{
	const struct trace *trace = t->config->sim->trace;
	double part = t->config->held_back > 0 ? t->config->held_back : 0.5;
	uint32_t from = (uint32_t)((1 - part) * trace->njobs);

	for (size_t k = 0; k < forecast->jobs.n; k++) {
		uint32_t i = forecast->jobs.at[k].number - 1;

		if (!wants_to_know(t, &jobs[i], i))
			continue;
		t->said[i] = (struct said){ true, true, i >= from, forecast->at_s,
			forecast->jobs.at[k] };
	}
}

static int ask(struct test *t, const struct engine *engine, const struct engine_config *rules,
	double now_s, struct err *err)
{
	uint32_t n;
	const struct job *jobs = engine_jobs(engine, &n);
	struct correction start = calibration_correction(&t->start);
	struct correction finish = calibration_correction(&t->finish);
	struct snapshot snapshot;
	struct forecast forecast;
	int rc;

	habits_settle(&t->habits);
	take_snapshot(t, engine, rules, now_s, &snapshot);
	rc = forecast_run(
		&(struct forecast_config){
			.from = &snapshot,
			.habits = &t->habits,
			.futures = t->config->futures,
			.start = t->config->raw ? NULL : &start,
			.finish = t->config->raw ? NULL : &finish,
			.plain = true,
			.seed = t->config->sim->seed + t->asked,
		},
		&forecast, err);
	if (rc == 0) {
		remember(t, &forecast, jobs);
		t->out->asks++;
		t->out->futures += forecast.futures;
		t->out->cpu_s += forecast.cpu_s;
	}
	forecast_fini(&forecast);
	snapshot_fini(&snapshot);
	return rc;
}

static int visit(void *self, const struct engine *engine, const struct engine_config *rules,
	double now_s, struct err *err)
{
	struct test *t = self;
	uint32_t n;
	const struct job *jobs = engine_jobs(engine, &n);
	bool wanted = false;

	learn(t, jobs, n);
	for (uint32_t i = 0; i < n && !wanted; i++)
		wanted = wants_to_know(t, &jobs[i], i);
	if (t->config->progress)
		t->config->progress(t->config->progress_ctx, t->asked, t->asks);
	return wanted && t->asked <= t->asks ? ask(t, engine, rules, now_s, err) : 0;
}

/* With every so many arrivals; long after the last once more, to see what became of them. */
static double next_s(void *self)
{
	struct test *t = self;
	const struct trace *trace = t->config->sim->trace;
	uint64_t at = (uint64_t)(t->asked + 1) * trace->njobs / (t->asks + 1);

	t->asked++;
	if (t->asked <= t->asks && at < trace->njobs)
		return trace->jobs[at].arrival_s;
	return t->asked <= t->asks + 1 ? trace->jobs[trace->njobs - 1].arrival_s + 1e8 : INFINITY;
}

/* ---- summing up */

static double median_at(const results_t *results, size_t offset)
{
	double *values = mem_alloc(mem_array_size(results->n + 1, sizeof(*values)));
	double median;

	for (size_t i = 0; i < results->n; i++)
		memcpy(&values[i], (const char *)&results->at[i] + offset, sizeof(double));
	median = median_of(values, (uint32_t)results->n);
	free(values);
	return median;
}

static struct backtest_part sum_up(const results_t *results)
{
	struct backtest_part part = {
		.jobs = (uint32_t)results->n,
		.median_error_s = median_at(results, offsetof(struct result, score.error_s)),
		.plain_error_s = median_at(results, offsetof(struct result, score.plain_s)),
		.median_s = median_at(results, offsetof(struct result, actual_s)),
		.median_width_s = median_at(results, offsetof(struct result, width_s)),
	};
	uint32_t covered = 0, below = 0;

	for (size_t i = 0; i < results->n; i++) {
		covered += results->at[i].score.covered;
		below += !results->at[i].score.covered && results->at[i].below;
	}
	part.coverage = (double)covered / (double)results->n;
	part.below = (double)below / (double)results->n;
	part.above = 1 - part.coverage - part.below;
	return part;
}

int backtest_run(const struct backtest_config *config, struct backtest *out, struct err *err)
{
	uint32_t njobs = config->sim->trace->njobs;
	struct test t = { .config = config, .out = out, .asks = config->asks ? config->asks : 200 };
	struct sim_visitor visitor = { &t, next_s, visit };
	int rc;

	*out = (struct backtest){ 0 };
	t.said = mem_alloc(mem_array_size(njobs + 1u, sizeof(*t.said)));
	t.learnt = mem_alloc(mem_array_size(njobs + 1u, sizeof(*t.learnt)));
	for (uint32_t i = 0; i < njobs; i++)
		t.said[i].at_s = NAN;
	rc = sim_visit(config->sim, &visitor, err);
	if (rc == 0) {
		out->start = sum_up(&t.starts);
		out->finish = sum_up(&t.finishes);
	}
	vec_fini(&t.starts);
	vec_fini(&t.finishes);
	habits_fini(&t.habits);
	free(t.said);
	free(t.learnt);
	return rc;
}
