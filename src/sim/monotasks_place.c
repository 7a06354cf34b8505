/*
 * Who is placed where: Ursa, and two that hand out whole tasks.
 */
#include <math.h>
#include <stdlib.h>

#include "model/ursa.h"
#include "sim/monotasks_parts.h"

/* ---- in which order */

/* Seconds that all workers take for what is left of a job. */
static double remaining_s(const struct mono *m, uint32_t job)
{
	double left[URSA_RESOURCES] = { 0 }, rate[URSA_RESOURCES] = { 0 };
	const struct mono_job *j = &m->load->jobs[job];

	for (uint32_t s = j->first; s < j->first + j->nstages; s++)
		for (uint32_t k = 0; k < m->load->stages[s].nsteps; k++)
			left[m->load->stages[s].steps[k].resource] +=
				m->load->stages[s].steps[k].size_s * m->load->stages[s].tasks;
	for (int r = 0; r < MONO_RESOURCES; r++) {
		left[r] -= m->jobs[job].done[r];
		rate[r] = (double)m->config->worker.slots[r] * m->config->workers;
	}
	return ursa_remaining(left, rate);
}

static int by_priority(const void *a_, const void *b_, void *jobs_)
{
	const struct mono_progress *jobs = jobs_;
	const struct mono_progress *a = &jobs[*(const uint32_t *)a_],
				   *b = &jobs[*(const uint32_t *)b_];

	if (a->priority != b->priority)
		return a->priority < b->priority ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void line_up(struct mono *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->nactive; i++)
		if (m->jobs[m->active[i]].stages_left)
			m->active[kept++] = m->active[i];
	m->nactive = kept;
	for (uint32_t i = 0; i < kept && m->config->order == MONO_SRJF; i++)
		m->jobs[m->active[i]].priority = remaining_s(m, m->active[i]);
	qsort_r(m->active, kept, sizeof(*m->active), by_priority, m->jobs);
}

/* ---- ursa */

/* What is queued and runs: of that which runs only what is left of it. */
static void see_worker(const struct mono *m, uint32_t worker, struct ursa_worker *out)
{
	const struct worker *w = &m->workers[worker];

	for (int r = 0; r < MONO_RESOURCES; r++) {
		out->queued[r] = fmax(0, w->queued[r]);
		out->rate[r] = w->measured[r];
	}
}

static void forget_progress(const struct mono *m, struct ursa_worker *workers)
{
	for (uint32_t i = 0; i < m->ends.n; i++) {
		const struct task *t = &m->tasks[m->ends.items[i].id];
		const struct mono_step *step = &m->load->stages[t->stage].steps[t->step];
		double *queued = &workers[t->worker].queued[step->resource];

		*queued = fmax(0, *queued - (m->now_s - t->start_s));
	}
}

static struct ursa_task task_of(const struct mono_stage *stage)
{
	struct ursa_task task = { 0 };

	for (uint32_t k = 0; k < stage->nsteps; k++)
		task.size[stage->steps[k].resource] += stage->steps[k].size_s;
	return task;
}

/* The worker with the highest score, the first of equals; UINT32_MAX: none lacks what it brings. */
static uint32_t best_worker(const struct mono *m, const struct ursa_worker *seen,
	const struct mono_stage *stage, const struct ursa_task *task)
{
	uint32_t best = UINT32_MAX;
	double most = 0;

	for (uint32_t w = 0; w < m->config->workers; w++) {
		double score;

		if (m->workers[w].mem_free < stage->mem_bytes)
			continue;
		score = ursa_score(&seen[w], task, m->config->ept_s, m->config->strict);
		if (score > most) {
			most = score;
			best = w;
		}
	}
	return best;
}

static void place_ursa(struct mono *m, uint32_t stage, struct ursa_worker *seen)
{
	const struct mono_stage *s = &m->load->stages[stage];
	struct stage_state *state = &m->stages[stage];
	struct ursa_task task = task_of(s);

	while (state->placed < s->tasks) {
		uint32_t w = best_worker(m, seen, s, &task);

		if (w == UINT32_MAX)
			return;
		ursa_put(&seen[w], &task);
		mono_place(m, state->first + state->placed++, w);
	}
}

/* ---- whole tasks */

static bool uses(const struct mono_stage *stage, int r)
{
	for (uint32_t k = 0; k < stage->nsteps; k++)
		if ((int)stage->steps[k].resource == r)
			return true;
	return false;
}

/* A core for each task, and a device for those that use one. */
static double slots_score(const struct mono *m, uint32_t worker, const struct mono_stage *stage)
{
	const struct worker *w = &m->workers[worker];
	const uint32_t *slots = m->config->worker.slots;

	if (w->tasks >= slots[MONO_CPU] ||
		(uses(stage, MONO_GPU) && w->taken[MONO_GPU] >= slots[MONO_GPU]))
		return 0;
	return slots[MONO_CPU] - w->tasks;
}

/* A slot of all it uses; alignment of what it takes with what is free. */
static double tetris_score(const struct mono *m, uint32_t worker, const struct mono_stage *stage)
{
	const struct worker *w = &m->workers[worker];
	double score = 0;

	for (int r = 0; r < MONO_RESOURCES; r++) {
		double slots = m->config->worker.slots[r];

		if (!uses(stage, r))
			continue;
		if (w->taken[r] >= slots)
			return 0;
		score += (slots - w->taken[r]) / slots / slots;
	}
	return score;
}

static void place_whole(struct mono *m, uint32_t stage)
{
	const struct mono_stage *s = &m->load->stages[stage];
	struct stage_state *state = &m->stages[stage];

	while (state->placed < s->tasks) {
		uint32_t best = UINT32_MAX;
		double most = 0;

		for (uint32_t w = 0; w < m->config->workers; w++) {
			double score;

			if (m->workers[w].mem_free < s->mem_bytes)
				continue;
			score = m->config->scheduler == MONO_SLOTS ? slots_score(m, w, s)
								   : tetris_score(m, w, s);
			if (score > most) {
				most = score;
				best = w;
			}
		}
		if (best == UINT32_MAX)
			return;
		mono_place(m, state->first + state->placed++, best);
	}
}

/* ---- a decision */

static void tell_placed(const struct mono *m, const struct ursa_worker *seen)
{
	for (uint32_t w = 0; w < m->config->workers && m->config->placed; w++) {
		double apt_s[MONO_RESOURCES];

		for (uint32_t r = 0; r < MONO_RESOURCES; r++)
			apt_s[r] = ursa_apt(&seen[w], r);
		m->config->placed(m->config->ctx, w, apt_s);
	}
}

/* Jobs in order; of each the stages that may start, all their tasks together. */
void mono_decide(struct mono *m)
{
	struct ursa_worker *seen = NULL;

	line_up(m);
	if (m->config->scheduler == MONO_URSA) {
		seen = mem_alloc(mem_array_size(m->config->workers, sizeof(*seen)));
		for (uint32_t w = 0; w < m->config->workers; w++)
			see_worker(m, w, &seen[w]);
		forget_progress(m, seen);
	}
	m->waiting = 0;
	for (uint32_t i = 0; i < m->nactive; i++) {
		const struct mono_job *job = &m->load->jobs[m->active[i]];

		for (uint32_t s = job->first; s < job->first + job->nstages; s++) {
			if (m->stages[s].waits)
				continue;
			if (seen)
				place_ursa(m, s, seen);
			else
				place_whole(m, s);
			m->waiting += m->load->stages[s].tasks - m->stages[s].placed;
		}
	}
	if (seen)
		tell_placed(m, seen);
	free(seen);
}
