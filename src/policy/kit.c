/*
 * Small parts, and the ordering kit that sorts anew each round.
 */
#include "policy/kit.h"

const char *const misfit_names[] = { "block", "skip", NULL };

double kit_tie(const struct ordering *ordering, const void *self, const struct round *round, const struct job *job)
{
	return ordering->tie ? ordering->tie(self, round, job) : job->arrival_s;
}

double kit_ready_s(const void *self, const struct round *round, const struct job *job, bool runs)
{
	(void)self;
	if (runs && job->state == JOB_RUNNING && job->ready_s > round->now_s)
		return job->ready_s;
	return INFINITY;
}

uint32_t kit_types(const struct round *round, const struct job *job, uint32_t types[TYPES_MAX])
{
	double speeds[TYPES_MAX];
	uint32_t n = 0;

	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		double speed;
		uint32_t at = n;

		if (job->types && !(job->types >> type & 1))
			continue;
		if (round->cluster->ntypes == 1) {
			types[0] = type;
			return 1;
		}
		speed = rate_if(round->belief, job, type, (uint32_t)job->gpus);
		if (!(speed > 0))
			continue;
		for (; at > 0 && speeds[at - 1] < speed; at--) {
			speeds[at] = speeds[at - 1];
			types[at] = types[at - 1];
		}
		speeds[at] = speed;
		types[at] = type;
		n++;
	}
	return n;
}

bool kit_run(const struct round *round, struct plan *plan, const struct job *job)
{
	uint32_t types[TYPES_MAX];
	uint32_t n = kit_types(round, job, types);
	const struct grant *held = job->grant;

	/* A running job stays on its type: going elsewhere costs a migration. */
	if (held && plan_run(plan, job, (struct want){ .type = (int)held->type }))
		return true;
	for (uint32_t i = 0; i < n; i++) {
		if (plan_run(plan, job, (struct want){ .type = (int)types[i] }))
			return true;
	}
	return false;
}

void kit_no_room(const struct round *round, struct plan *plan, const struct job *job)
{
	struct reason reason = { .why = WHY_BUSY, .need = job->gpus, .other = JOB_NONE };

	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		int32_t free_now = (int32_t)plan_free(plan, type);

		if ((job->types == 0 || job->types >> type & 1) && free_now > reason.have)
			reason.have = free_now;
	}
	if (reason.have >= reason.need)
		reason.why = WHY_FRAGMENTED;
	plan_why(plan, job->id, reason);
}

struct keyed {
	double key, tie;
	uint32_t job;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return rank_before(x->key, x->tie, x->job, y->key, y->tie, y->job) ? -1 : 1;
}

/* The jobs that compete: all of them, or only those that wait. */
static uint32_t competitors(const struct ordering *ordering, const void *self,
	const struct round *round, struct keyed *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (!job_active(job) || (!ordering->preempt && job->state == JOB_RUNNING))
			continue;
		out[n++] = (struct keyed){
			.key = ordering->key(self, round, job),
			.tie = kit_tie(ordering, self, round, job),
			.job = job->id,
		};
	}
	return n;
}

void kit_anew(const struct ordering *ordering, const void *self, const struct round *round,
	struct plan *plan)
{
	struct keyed *queue = arena_array(round->scratch, struct keyed, round->nactive);
	uint32_t n = competitors(ordering, self, round, queue);
	uint32_t blocked_by = JOB_NONE;

	qsort(queue, n, sizeof(*queue), by_key);
	if (ordering->preempt)
		plan_clear(plan, round->jobs, round->active, round->nactive);
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &round->jobs[queue[i].job];

		if (blocked_by != JOB_NONE) {
			plan_why(plan, job->id, (struct reason){ .why = WHY_BEHIND, .need = job->gpus, .other = blocked_by });
		} else if (!kit_run(round, plan, job)) {
			kit_no_room(round, plan, job);
			if (ordering->misfit == MISFIT_BLOCK)
				blocked_by = job->id;
		}
	}
}

void kit_wake_at_jumps(const struct ordering *ordering, const void *self,
	const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		bool runs = plan_grant(plan, job->id) != NULL;

		if (job_active(job))
			plan_wake(plan, fmax(ordering->jump_s(self, round, job, runs), round->now_s + 1e-6));
	}
}

void kit_wake_while_waiting(const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]) && !plan_grant(plan, round->active[i])) {
			plan_wake(plan, round->now_s);
			return;
		}
	}
}
