#include "sim/monotasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/rng.h"
#include "base/vec.h"
#include "sim/monotasks_parts.h"

const char *const mono_scheduler_names[MONO_SCHEDULERS + 1] = { "ursa", "slots", "tetris", NULL };

/* ---- what can be at all */

static int check_stage(const struct mono_config *c, const struct mono_stage *stage, struct err *err)
{
	const struct mono_job *job = &c->load->jobs[stage->job];

	for (uint32_t k = 0; k < stage->nsteps; k++)
		if (!c->worker.slots[stage->steps[k].resource])
			return err_set(err, ERR_USAGE,
				"stage %s of job %s needs %s and workers have none; give them some (--%s)",
				stage->name, job->name, mono_resource_names[stage->steps[k].resource],
				mono_resource_names[stage->steps[k].resource]);
	if (stage->mem_bytes > c->worker.mem_bytes)
		return err_set(err, ERR_USAGE,
			"a task of stage %s of job %s needs %.3g GiB of memory and a worker has %.3g; raise --mem",
			stage->name, job->name, stage->mem_bytes / (1 << 30),
			c->worker.mem_bytes / (1 << 30));
	return 0;
}

static int check(const struct mono_config *c, struct err *err)
{
	if (!(c->interval_s > 0) || !(c->ept_s > c->interval_s))
		return err_set(err, ERR_USAGE,
			"--ept %g must be more than --interval %g: queues would run empty between decisions",
			c->ept_s, c->interval_s);
	for (uint32_t i = 0; i < c->load->nstages; i++)
		if (check_stage(c, &c->load->stages[i], err) < 0)
			return err->code;
	return 0;
}

/* ---- the state */

static void mono_init(struct mono *m, const struct mono_config *c)
{
	const struct mono_load *load = c->load;
	struct rng rng;
	uint32_t task = 0;

	*m = (struct mono){ .config = c, .load = load };
	m->stages = arena_array(&m->memory, struct stage_state, load->nstages);
	m->jobs = arena_array(&m->memory, struct mono_progress, load->njobs);
	m->tasks = arena_array(&m->memory, struct task, load->ntasks);
	m->workers = arena_array(&m->memory, struct worker, c->workers);
	m->depth = arena_array(&m->memory, uint32_t, load->nstages);
	dag_depths(&load->dag, m->depth);
	rng_init(&rng, c->seed, RNG_TRACE);
	for (uint32_t i = 0; i < load->nstages; i++) {
		m->stages[i] = (struct stage_state){ .first = task,
			.unfinished = load->stages[i].tasks,
			.waits = load->dag.first_pred[i + 1] - load->dag.first_pred[i] };
		for (uint32_t k = 0; k < load->stages[i].tasks; k++)
			m->tasks[task++].stage = i;
	}
	for (uint32_t j = 0; j < load->njobs; j++)
		m->jobs[j].stages_left = load->jobs[j].nstages;
	for (uint32_t w = 0; w < c->workers; w++) {
		m->workers[w].mem_free = c->worker.mem_bytes;
		for (int r = 0; r < MONO_RESOURCES; r++)
			m->workers[w].measured[r] = c->worker.slots[r] *
				(c->noise > 0 ? rng_lognormal(&rng, 0, c->noise) : 1);
	}
}

static void mono_fini(struct mono *m)
{
	for (uint32_t w = 0; w < m->config->workers; w++)
		for (int r = 0; r < MONO_RESOURCES; r++)
			heap_fini(&m->workers[w].queue[r]);
	heap_fini(&m->ends);
	arena_fini(&m->memory);
}

/* ---- running */

static const struct mono_step *step_of(const struct mono *m, const struct task *t)
{
	return &m->load->stages[t->stage].steps[t->step];
}

static void start_waiting(struct mono *m, uint32_t worker, enum mono_resource r)
{
	struct worker *w = &m->workers[worker];

	while (w->queue[r].n && w->running[r] < m->config->worker.slots[r]) {
		uint32_t id = heap_pop(&w->queue[r]).id;
		struct task *t = &m->tasks[id];

		w->running[r]++;
		t->start_s = m->now_s;
		heap_put(&m->ends, id, m->now_s + step_of(m, t)->size_s, id);
	}
}

/* By the job that is first, then the earlier stage, then the task. */
static void enqueue(struct mono *m, uint32_t id)
{
	struct task *t = &m->tasks[id];
	uint32_t job = m->load->stages[t->stage].job;
	enum mono_resource r = step_of(m, t)->resource;

	heap_put(&m->workers[t->worker].queue[r], id, m->jobs[job].priority,
		(uint64_t)m->depth[t->stage] << 32 | id);
	start_waiting(m, t->worker, r);
}

void mono_place(struct mono *m, uint32_t id, uint32_t worker)
{
	struct task *t = &m->tasks[id];
	const struct mono_stage *stage = &m->load->stages[t->stage];
	struct worker *w = &m->workers[worker];
	bool uses[MONO_RESOURCES] = { false };

	t->worker = worker;
	w->mem_free -= stage->mem_bytes;
	w->tasks++;
	for (uint32_t k = 0; k < stage->nsteps; k++) {
		w->queued[stage->steps[k].resource] += stage->steps[k].size_s;
		uses[stage->steps[k].resource] = true;
	}
	for (int r = 0; r < MONO_RESOURCES; r++)
		w->taken[r] += uses[r];
	enqueue(m, id);
}

static void stage_ends(struct mono *m, uint32_t stage)
{
	const struct dag *dag = &m->load->dag;
	uint32_t job = m->load->stages[stage].job;

	for (uint32_t k = dag->first_succ[stage]; k < dag->first_succ[stage + 1]; k++)
		m->stages[dag->succs[k]].waits--;
	if (--m->jobs[job].stages_left == 0) {
		m->jobs[job].end_s = m->now_s;
		m->left--;
	}
}

static void task_ends(struct mono *m, struct task *t)
{
	const struct mono_stage *stage = &m->load->stages[t->stage];
	struct worker *w = &m->workers[t->worker];
	bool uses[MONO_RESOURCES] = { false };

	w->mem_free += stage->mem_bytes;
	w->tasks--;
	for (uint32_t k = 0; k < stage->nsteps; k++)
		uses[stage->steps[k].resource] = true;
	for (int r = 0; r < MONO_RESOURCES; r++)
		w->taken[r] -= uses[r];
	if (--m->stages[t->stage].unfinished == 0)
		stage_ends(m, t->stage);
}

static void step_ends(struct mono *m, uint32_t id)
{
	struct task *t = &m->tasks[id];
	const struct mono_step *step = step_of(m, t);
	const struct mono_stage *stage = &m->load->stages[t->stage];
	struct worker *w = &m->workers[t->worker];

	w->running[step->resource]--;
	w->queued[step->resource] -= step->size_s;
	m->busy_s[step->resource] += step->size_s;
	m->monotasks++;
	m->jobs[stage->job].done[step->resource] += step->size_s;
	if (m->config->tell)
		m->config->tell(m->config->ctx,
			&(struct mono_span){ stage->job, t->stage, id - m->stages[t->stage].first,
				t->step, t->worker, step->resource, t->start_s, m->now_s });
	start_waiting(m, t->worker, step->resource);
	if (++t->step < stage->nsteps)
		enqueue(m, id);
	else
		task_ends(m, t);
}

/* ---- the loop */

static int by_arrival(const void *a_, const void *b_, void *load_)
{
	const struct mono_load *load = load_;
	uint32_t a = *(const uint32_t *)a_, b = *(const uint32_t *)b_;

	if (load->jobs[a].arrival_s != load->jobs[b].arrival_s)
		return load->jobs[a].arrival_s < load->jobs[b].arrival_s ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void come(struct mono *m, const uint32_t *line, uint32_t *next)
{
	while (*next < m->load->njobs && m->load->jobs[line[*next]].arrival_s <= m->now_s) {
		m->jobs[line[*next]].priority = *next;
		m->jobs[line[*next]].order = *next;
		m->active[m->nactive++] = line[(*next)++];
	}
}

static void end_all_now(struct mono *m)
{
	while (m->ends.n && heap_top(&m->ends)->key <= m->now_s)
		step_ends(m, heap_pop(&m->ends).id);
}

/* Decisions are at multiples of the interval; those at which nobody is there are left out. */
static void simulate(struct mono *m, const uint32_t *line)
{
	uint32_t next = 0;
	double tick = ceil(m->load->jobs[line[0]].arrival_s / m->config->interval_s);

	m->left = m->load->njobs;
	while (m->left) {
		double tick_s = tick * m->config->interval_s;
		double end_s = m->ends.n ? heap_top(&m->ends)->key : INFINITY;

		if (end_s <= tick_s) {
			m->now_s = end_s;
			end_all_now(m);
			continue;
		}
		m->now_s = tick_s;
		come(m, line, &next);
		mono_decide(m);
		m->decisions++;
		tick++;
		if (!m->ends.n && !m->nactive && next < m->load->njobs)
			tick = fmax(tick,
				ceil(m->load->jobs[line[next]].arrival_s / m->config->interval_s));
		else if (!m->waiting && m->ends.n) /* nobody waits to be placed until something ends */
			tick = fmax(tick,
				ceil(fmin(heap_top(&m->ends)->key,
					     next < m->load->njobs ? m->load->jobs[line[next]].arrival_s
								   : INFINITY) /
					m->config->interval_s));
	}
}

static void sum_up(const struct mono *m, double first_s, struct mono_result *out)
{
	double last_s = first_s;

	*out = (struct mono_result){ .monotasks = m->monotasks, .decisions = m->decisions };
	out->jct_s = mem_alloc(mem_array_size(m->load->njobs, sizeof(double)));
	for (uint32_t j = 0; j < m->load->njobs; j++) {
		out->jct_s[j] = m->jobs[j].end_s - m->load->jobs[j].arrival_s;
		out->mean_jct_s += out->jct_s[j] / m->load->njobs;
		last_s = fmax(last_s, m->jobs[j].end_s);
	}
	out->makespan_s = last_s - first_s;
	for (int r = 0; r < MONO_RESOURCES; r++) {
		double slots = (double)m->config->worker.slots[r] * m->config->workers;

		out->utilisation[r] = slots > 0 ? m->busy_s[r] / (slots * out->makespan_s) : NAN;
	}
}

int mono_run(const struct mono_config *config, struct mono_result *out, struct err *err)
{
	uint32_t *line;
	struct mono m;

	if (check(config, err) < 0)
		return err->code;
	mono_init(&m, config);
	line = arena_array(&m.memory, uint32_t, config->load->njobs);
	m.active = arena_array(&m.memory, uint32_t, config->load->njobs);
	for (uint32_t j = 0; j < config->load->njobs; j++)
		line[j] = j;
	qsort_r(line, config->load->njobs, sizeof(*line), by_arrival, (void *)config->load);
	simulate(&m, line);
	sum_up(&m, config->load->jobs[line[0]].arrival_s, out);
	mono_fini(&m);
	return 0;
}

void mono_result_fini(struct mono_result *result)
{
	free(result->jct_s);
	*result = (struct mono_result){ 0 };
}
