/*
 * Queues by tenant.
 */
#include "policy/fair/tenant_queues.h"

#include <stdlib.h>
#include <string.h>

#include "base/real.h"

#define LN2 0.6931471805599453

double tenant_fade(double seconds, double half_life_s)
{
	return real_exp(-LN2 * seconds / half_life_s);
}

static int by_tenant(const void *a, const void *b, void *jobs)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct job *j = jobs;
	size_t tenant_x = tenant_number(&j[x]), tenant_y = tenant_number(&j[y]);

	if (tenant_x != tenant_y)
		return tenant_x < tenant_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool ascending(const uint32_t *jobs, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (jobs[i - 1] > jobs[i])
			return false;
	}
	return true;
}

/* In order of arrival already, so that it takes no comparisons: each tenant's part begins where the last one's ends. */
static void deal_out(const struct round *round, uint32_t *jobs, uint32_t n)
{
	uint32_t *came = arena_array(round->scratch, uint32_t, n), *begin;
	size_t tenants = 0;

	memcpy(came, jobs, n * sizeof(*jobs));
	for (uint32_t i = 0; i < n; i++) {
		size_t tenant = tenant_number(&round->jobs[came[i]]);

		tenants = tenant > tenants ? tenant : tenants;
	}
	begin = arena_array(round->scratch, uint32_t, tenants + 2);
	for (uint32_t i = 0; i < n; i++)
		begin[tenant_number(&round->jobs[came[i]]) + 1]++;
	for (size_t i = 1; i <= tenants; i++)
		begin[i] += begin[i - 1];
	for (uint32_t i = 0; i < n; i++)
		jobs[begin[tenant_number(&round->jobs[came[i]])]++] = came[i];
}

void tenant_queues_sort(const struct round *round, uint32_t *jobs, uint32_t n)
{
	if (n && ascending(jobs, n)) {
		deal_out(round, jobs, n);
		return;
	}
	qsort_r(jobs, n, sizeof(*jobs), by_tenant, (void *)round->jobs);
}

static int by_tenant_and_priority(const void *a, const void *b, void *jobs)
{
	const struct job *j = jobs;
	const struct job *x = &j[*(const uint32_t *)a], *y = &j[*(const uint32_t *)b];

	if (tenant_number(x) == tenant_number(y) && x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	/* Numbers say when a job came in; one that was changed or held meanwhile came in again. */
	if (tenant_number(x) == tenant_number(y) && x->arrival_s != y->arrival_s)
		return x->arrival_s < y->arrival_s ? -1 : 1;
	return by_tenant(a, b, jobs);
}

/* Most queues have one priority only: looking is cheaper than sorting. */
void tenant_queues_by_priority(const struct round *round, uint32_t *jobs, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (by_tenant_and_priority(&jobs[i - 1], &jobs[i], (void *)round->jobs) > 0) {
			qsort_r(jobs, n, sizeof(*jobs), by_tenant_and_priority, (void *)round->jobs);
			return;
		}
	}
}

struct stakes {
	const struct job *jobs;
	double now_s;
};

static int by_tenant_and_stake(const void *a, const void *b, void *ctx)
{
	const struct stakes *s = ctx;
	const struct job *x = &s->jobs[*(const uint32_t *)a], *y = &s->jobs[*(const uint32_t *)b];
	double at_x = job_at_stake_s(x, s->now_s), at_y = job_at_stake_s(y, s->now_s);

	if (tenant_number(x) == tenant_number(y) && at_x != at_y)
		return at_x > at_y ? -1 : 1;
	return by_tenant(a, b, (void *)s->jobs);
}

static bool has_stake(const struct stakes *s, uint32_t job)
{
	return job_at_stake_s(&s->jobs[job], s->now_s) > 0;
}

/*
 * In simulations nothing is at stake, and the order is that of arrival.  Few jobs of a long queue run: only
 * these are sorted, and come before the others of their tenant, which are in order.
 */
void tenant_queues_keep(const struct round *round, uint32_t *jobs, uint32_t n)
{
	struct stakes stakes = { round->jobs, round->now_s };
	uint32_t *staked, *others, nstaked = 0, nothers = 0, s = 0, o = 0;

	for (uint32_t i = 0; i < n; i++)
		nstaked += has_stake(&stakes, jobs[i]);
	if (!nstaked)
		return;
	staked = arena_array(round->scratch, uint32_t, nstaked);
	others = arena_array(round->scratch, uint32_t, n - nstaked);
	nstaked = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (has_stake(&stakes, jobs[i]))
			staked[nstaked++] = jobs[i];
		else
			others[nothers++] = jobs[i];
	}
	qsort_r(staked, nstaked, sizeof(*staked), by_tenant_and_stake, &stakes);
	for (uint32_t i = 0; i < n; i++) {
		bool first = s < nstaked &&
			(o == nothers ||
				tenant_number(&round->jobs[staked[s]]) <=
					tenant_number(&round->jobs[others[o]]));

		jobs[i] = first ? staked[s++] : others[o++];
	}
}

void tenant_queue_add(struct tenant_queue *queue, uint32_t place)
{
	if (queue->end == 0)
		queue->next = place;
	queue->end = place + 1;
}

void tenant_queue_block(struct tenant_queue *queue, const uint32_t *jobs, uint32_t blocker,
	struct plan *plan)
{
	for (; queue->next < queue->end; queue->next++)
		plan_why(plan, jobs[queue->next],
			(struct reason){ .why = WHY_BEHIND, .other = blocker });
}

void tenant_latest_make(struct tenant_latest *latest, const struct round *round, size_t tenants)
{
	latest->n = tenants;
	latest->job = arena_array(round->scratch, uint32_t, tenants + 1);
	for (size_t i = 0; i < tenants; i++)
		latest->job[i] = JOB_NONE;
}

void tenant_latest_note(struct tenant_latest *latest, const struct job *job)
{
	size_t tenant = tenant_number(job);

	if (tenant < latest->n && (latest->job[tenant] == JOB_NONE || latest->job[tenant] < job->id))
		latest->job[tenant] = job->id;
}

/* Whether what the other shall have could be the job's: of one that waits, if it came first and it is enough. */
static bool could_have(const struct plan *plan, const struct job *job, uint32_t other)
{
	const struct grant *grant = plan_grant(plan, other);

	if (!grant || !job_may_use(job, grant->type))
		return false;
	return job->grant ||
		(other > job->id &&
			grant->gpus + plan_room(plan, job, grant->type) >=
				job_gpus_on(job, grant->type));
}

/* The latest job of a tenant, if what it has could be the other's; else JOB_NONE. */
static uint32_t has_instead(const struct tenant_latest *latest, const struct plan *plan,
	const struct job *job, size_t tenant)
{
	uint32_t other = latest->job[tenant];

	if (other == JOB_NONE || tenant == tenant_number(job) || !could_have(plan, job, other))
		return JOB_NONE;
	return other;
}

bool tenant_tell_share(const struct tenant_latest *latest, struct plan *plan, const struct job *job,
	double share, standing_fn *standing, const void *self)
{
	uint32_t best = JOB_NONE;
	double least = share;

	for (size_t i = 0; i < latest->n; i++) {
		uint32_t other = has_instead(latest, plan, job, i);
		double theirs = other == JOB_NONE ? INFINITY : standing(self, i);

		if (theirs < least - 1e-9) {
			least = theirs;
			best = other;
		}
	}
	if (best != JOB_NONE)
		tenant_why_share(plan, job, share, best, least);
	return best != JOB_NONE;
}

void tenant_latest_note_prior(struct tenant_latest *prior, const struct round *round,
	const struct job *job)
{
	size_t tenant = tenant_number(job);
	const struct job *top;

	if (tenant >= prior->n)
		return;
	top = prior->job[tenant] == JOB_NONE ? NULL : &round->jobs[prior->job[tenant]];
	if (!top || top->priority < job->priority ||
		(top->priority == job->priority && top->id < job->id))
		prior->job[tenant] = job->id;
}

bool tenant_tell_priority(const struct tenant_latest *prior, const struct round *round,
	struct plan *plan, const struct job *job)
{
	size_t tenant = tenant_number(job);
	uint32_t other = tenant < prior->n ? prior->job[tenant] : JOB_NONE;

	if (other == JOB_NONE || round->jobs[other].priority <= job->priority ||
		!could_have(plan, job, other))
		return false;
	kit_outranked(plan, job, &round->jobs[other]);
	return true;
}

void tenant_left_out(const struct round *round, struct plan *plan, const struct job *job)
{
	if (job->grant)
		plan_why(plan, job->id, (struct reason){ .why = WHY_TURN, .other = JOB_NONE });
	else
		kit_no_room(round, plan, job);
}

void tenant_why_share(struct plan *plan, const struct job *job, double share, uint32_t other,
	double against)
{
	plan_why(plan, job->id,
		(struct reason){ .why = WHY_SHARE,
			.need = job->gpus,
			.other = other,
			.share = share,
			.against = against });
}

void tenant_queues_settle(const struct round *round, struct plan *plan,
	const struct tenant_gift *gifts, uint32_t n)
{
	plan_clear(plan, round->jobs, round->active, round->nactive);
	for (int running = 1; running >= 0; running--) {
		for (uint32_t i = 0; i < n; i++) {
			const struct job *job = &round->jobs[gifts[i].job];

			if ((job->grant != NULL) == running &&
				!kit_run_on(round, plan, job, gifts[i].gpus))
				tenant_left_out(round, plan, job);
		}
	}
}
