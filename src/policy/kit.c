/*
 * Small parts, and the ordering kit that sorts anew each round.
 */
#include "policy/kit.h"

#include "policy/tried.h"

const char *const misfit_names[] = { "block", "skip", NULL };

double kit_tie(const struct ordering *ordering, const void *self, const struct round *round,
	const struct job *job)
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

		if (!job_may_use(job, type))
			continue;
		/* Nothing to choose, and the engine has refused jobs that cannot run at all. */
		if (round->cluster->ntypes == 1) {
			types[0] = type;
			return 1;
		}
		speed = rate_if(round->belief, job, type, job_gpus_on(job, type));
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

/* So many, or as many more as make whole units; 0 stays: as asked. */
static struct want want_on(const struct job *job, uint32_t type, uint32_t gpus)
{
	if (gpus > 0 && job->units)
		gpus = job_rounded_on(job, type, gpus);
	return (struct want){ .type = (int)type, .gpus = gpus };
}

bool kit_run_where(const struct round *round, struct plan *plan, const struct job *job,
	uint32_t gpus, may_run_fn *may, const void *self)
{
	uint32_t types[TYPES_MAX];
	uint32_t n = kit_types(round, job, types);
	const struct grant *held = job->grant;

	/* A running job stays on its type: going elsewhere costs a migration. */
	if (held && (!may || may(self, job, held->type, gpus ? gpus : job_gpus_on(job, held->type))) &&
		plan_run(plan, job, want_on(job, held->type, gpus)))
		return true;
	/* What is free on a slower type comes before what others would have to be stopped for. */
	for (int gentle = plan->reclaim.entitled ? 1 : 0; gentle >= 0; gentle--) {
		for (uint32_t i = 0; i < n; i++) {
			struct want want = want_on(job, types[i], gpus);

			want.gentle = gentle;
			if ((!may || may(self, job, types[i], gpus ? gpus : job_gpus_on(job, types[i]))) &&
				plan_run(plan, job, want))
				return true;
		}
	}
	return false;
}

bool kit_run_on(const struct round *round, struct plan *plan, const struct job *job, uint32_t gpus)
{
	return kit_run_where(round, plan, job, gpus, NULL, NULL);
}

bool kit_run(const struct round *round, struct plan *plan, const struct job *job)
{
	return kit_run_on(round, plan, job, 0);
}

/* The nodes of a type with most free devices first, up to `gpus` of them; returns how many nodes. */
static uint32_t emptiest(const struct plan *plan, uint32_t type, uint32_t gpus, struct node_share *out)
{
	uint32_t n = 0;

	for (uint32_t free = plan->space.types[type].max; free > 0 && gpus > 0; free--) {
		uint32_t at = 0, node;

		while (gpus > 0 && (node = space_next(&plan->space, type, free, &at)) != UINT32_MAX) {
			out[n] = (struct node_share){ node, free < gpus ? free : gpus };
			gpus -= out[n++].gpus;
		}
	}
	return n;
}

bool kit_run_emptiest(const struct round *round, struct plan *plan, const struct job *job,
	struct want want)
{
	const struct grant *grant = plan_grant(plan, job->id);
	uint32_t types[TYPES_MAX];
	uint32_t ntypes = kit_types(round, job, types);

	if (grant && grant->gpus == (want.gpus ? want.gpus : job_gpus_on(job, grant->type)))
		return plan_run(plan, job, want);
	for (uint32_t i = 0; i < ntypes; i++) {
		uint32_t gpus = want.gpus ? want.gpus : job_gpus_on(job, types[i]), n;
		struct node_share *at;

		if ((want.type != TYPE_ANY && (uint32_t)want.type != types[i]) ||
			plan_free(plan, types[i]) < gpus)
			continue;
		at = arena_array(round->scratch, struct node_share, gpus);
		n = emptiest(plan, types[i], gpus, at);
		if (plan_run_at(plan, job, at, n, want))
			return true;
	}
	return false;
}

void kit_outranked(struct plan *plan, const struct job *job, const struct job *by)
{
	plan_why(plan, job->id,
		(struct reason){ .why = WHY_OUTRANKED, .need = job->gpus, .other = by->id });
}

/* Devices that are there for the job on some type, against what it needs of that. */
struct room {
	int32_t need, have;
};

/* Whether `b` is nearer to enough than `a`. */
static bool nearer(struct room b, struct room a)
{
	return b.have - b.need > a.have - a.need;
}

void kit_no_room(const struct round *round, struct plan *plan, const struct job *job)
{
	struct reason reason = { .why = WHY_BUSY, .need = job->gpus, .other = JOB_NONE };
	struct room free = { job->gpus, 0 }, up = { job->gpus, 0 };

	/* One that loses its devices in this very decision has been told who took them. */
	if (job->grant || plan_refuses(plan, job))
		return;
	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		int32_t need = (int32_t)job_gpus_on(job, type);
		struct room free_here = { need, (int32_t)plan_room(plan, job, type) };
		struct room up_here = { need, (int32_t)plan->space.types[type].up };

		if (!job_may_use(job, type))
			continue;
		if (nearer(free_here, free))
			free = free_here;
		if (nearer(up_here, up))
			up = up_here;
	}
	if (free.have >= free.need)
		reason.why = WHY_FRAGMENTED;
	if (up.have < up.need) {
		reason.why = WHY_DOWN;
		free = up;
	}
	reason.need = free.need;
	reason.have = free.have;
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

uint32_t kit_line(const struct ordering *ordering, const void *self, const struct round *round,
	uint32_t **out)
{
	struct keyed *keyed = arena_array(round->scratch, struct keyed, round->nactive);
	uint32_t *line = arena_array(round->scratch, uint32_t, round->nactive);
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		double key;

		if (!job_active(job))
			continue;
		key = ordering->key(self, round, job);
		keyed[n++] = (struct keyed){ key, kit_tie(ordering, self, round, job), job->id };
	}
	qsort(keyed, n, sizeof(*keyed), by_key);
	for (uint32_t i = 0; i < n; i++)
		line[i] = keyed[i].job;
	*out = line;
	return n;
}

/* The jobs that compete, in order; who runs stays where it is until somebody ahead needs the devices. */
struct queue {
	const struct round *round;
	struct plan *plan;
	struct keyed *at;
	uint32_t n;
	uint32_t next;     /* jobs before this have had their turn */
	uint32_t *holders; /* places in `at` of those that had devices when it began, in order */
	uint32_t nholders;
	uint32_t last[TYPES_MAX];   /* per type: no holder from here on has devices of it */
	uint32_t behind[TYPES_MAX]; /* per type: devices of jobs that have not had their turn */
	uint32_t *evicted;          /* scratch of one attempt: places in `at` */
	struct tried tried;
};

static const struct job *queue_job(const struct queue *q, uint32_t i)
{
	return &q->round->jobs[q->at[i].job];
}

static bool stops_nobody(const struct ordering *ordering)
{
	return !ordering->preempt || ordering->hold;
}

static void queue_fill(struct queue *q, const struct ordering *ordering, const void *self)
{
	const struct round *round = q->round;

	q->at = arena_array(round->scratch, struct keyed, round->nactive);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		struct keyed *entry;

		if (!job_active(job) || (stops_nobody(ordering) && job->grant))
			continue;
		entry = &q->at[q->n++];
		entry->job = job->id;
		entry->key = ordering->key(self, round, job);
		entry->tie = kit_tie(ordering, self, round, job);
		if (job->grant)
			q->behind[job->grant->type] += job->grant->gpus;
	}
	qsort(q->at, q->n, sizeof(*q->at), by_key);
	if (stops_nobody(ordering))
		return;
	q->holders = arena_array(round->scratch, uint32_t, q->n);
	q->evicted = arena_array(round->scratch, uint32_t, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		if (queue_job(q, i)->grant)
			q->holders[q->nholders++] = i;
	}
	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		q->last[type] = q->nholders;
}

/* Takes the devices of the last job that has some of the type and not had its turn; UINT32_MAX if there is none. */
static uint32_t queue_evict_last(struct queue *q, uint32_t type, const struct job *by, uint32_t *at)
{
	const struct reclaim *r = &q->plan->reclaim;

	while (*at > 0 && q->holders[*at - 1] >= q->next) {
		const struct job *job = queue_job(q, q->holders[--*at]);
		const struct grant *grant = plan_grant(q->plan, job->id);

		if (!grant || grant->type != type || (r->keeps && r->keeps(r->self, q->plan, job, by)))
			continue;
		q->behind[type] -= grant->gpus;
		plan_stop(q->plan, job);
		return q->holders[*at];
	}
	return UINT32_MAX;
}

static void queue_restore(struct queue *q, uint32_t type, uint32_t n)
{
	while (n-- > 0) {
		const struct job *job = queue_job(q, q->evicted[n]);

		if (kit_run(q->round, q->plan, job))
			q->behind[type] += plan_grant(q->plan, job->id)->gpus;
		else
			tried_forget(&q->tried);
	}
	q->last[type] = q->nholders;
}

static void queue_outranked(struct queue *q, uint32_t n, const struct job *by)
{
	for (uint32_t i = 0; i < n; i++)
		kit_outranked(q->plan, queue_job(q, q->evicted[i]), by);
}

/* Runs the job on devices of jobs behind it, worst first. */
static bool queue_take_over(struct queue *q, const struct job *job, uint32_t type)
{
	uint32_t n = 0, i, at = q->last[type];

	if (plan_room(q->plan, job, type) + q->behind[type] < job_gpus_on(job, type))
		return false;
	while ((i = queue_evict_last(q, type, job, &at)) != UINT32_MAX) {
		q->evicted[n++] = i;
		/* Who was passed over for this one may go for another. */
		if (!q->plan->reclaim.keeps)
			q->last[type] = at;
		if (plan_run(q->plan, job, (struct want){ .type = (int)type })) {
			queue_outranked(q, n, job);
			return true;
		}
	}
	queue_restore(q, type, n);
	return false;
}

static bool queue_run(struct queue *q, const struct ordering *ordering, const struct job *job)
{
	uint32_t types[TYPES_MAX], n;

	if (kit_run(q->round, q->plan, job))
		return true;
	n = stops_nobody(ordering) ? 0 : kit_types(q->round, job, types);
	for (uint32_t i = 0; i < n; i++) {
		if (queue_take_over(q, job, types[i]))
			return true;
	}
	return false;
}

static bool queue_try(struct queue *q, const struct ordering *ordering, const struct job *job)
{
	/* Where the queue keeps its order it matters for each why it does not fit. */
	bool remember = ordering->misfit == MISFIT_SKIP;

	if (remember && tried_like(&q->tried, job))
		return false;
	if (queue_run(q, ordering, job)) {
		tried_forget(&q->tried);
		return true;
	}
	if (remember)
		tried_add(&q->tried, job);
	return false;
}

/* The queue keeps its order and `blocker` does not fit: nobody behind it starts. */
static void queue_block(struct queue *q, const struct job *blocker)
{
	for (; q->next < q->n; q->next++) {
		const struct job *job = queue_job(q, q->next);

		if (!plan_grant(q->plan, job->id))
			plan_why(q->plan, job->id,
				(struct reason){ .why = WHY_BEHIND,
					.need = job->gpus,
					.other = blocker->id });
	}
}

bool kit_any_free(const struct round *round, const struct plan *plan)
{
	if (plan->reclaim.entitled)
		return true; /* what is lent can be had, too */
	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		/* Beside fractions there may be room for more. */
		if (plan_free(plan, type) > 0 || plan->space.types[type].parted.n > 0)
			return true;
	}
	return false;
}

void kit_turn_newcomers_away(const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nchanged; i++) {
		const struct job *job = &round->jobs[round->changed[i]];

		if (job->state == JOB_PENDING && !plan_grant(plan, job->id))
			kit_no_room(round, plan, job);
	}
}

void kit_anew(const struct ordering *ordering, const void *self, const struct round *round,
	struct plan *plan)
{
	struct queue q = { .round = round, .plan = plan };

	/* Nobody may be stopped either: no order changes that, so none is made. */
	if (ordering->hold && !kit_any_free(round, plan)) {
		kit_turn_newcomers_away(round, plan);
		return;
	}
	tried_init(&q.tried, round, plan);
	queue_fill(&q, ordering, self);
	while (q.next < q.n) {
		const struct job *job = queue_job(&q, q.next++);
		const struct grant *grant = plan_grant(plan, job->id);

		if (grant) {
			q.behind[grant->type] -= grant->gpus;
		} else if (!queue_try(&q, ordering, job)) {
			kit_no_room(round, plan, job);
			/* One that the rule of placement keeps waiting, for its quota or a closer place, stands in nobody's way. */
			if (ordering->misfit == MISFIT_BLOCK && !plan_refuses(plan, job))
				queue_block(&q, job);
		}
	}
}

void kit_wake_at_jumps(const struct ordering *ordering, const void *self, const struct round *round,
	struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		bool runs = plan_grant(plan, job->id) != NULL;

		if (job_active(job))
			plan_wake(plan,
				fmax(ordering->jump_s(self, round, job, runs), round->now_s + 1e-6));
	}
}

const char *const between_names[] = { "fill", "wait", NULL };

double turns_period_s(const struct turns *turns)
{
	return turns->between == BETWEEN_WAIT ? turns->round_s : 0;
}

bool turns_hold(const struct turns *turns, const struct round *round)
{
	double turn = rint(round->now_s / turns->round_s);

	return turns->between == BETWEEN_FILL && turn * turns->round_s != round->now_s;
}

void turns_wake(const struct turns *turns, const struct round *round, double at_s, struct plan *plan)
{
	double next = floor(round->now_s / turns->round_s + 1e-9) + 1;

	if (at_s < INFINITY)
		plan_wake(plan, fmax(next, ceil(at_s / turns->round_s)) * turns->round_s);
}

bool kit_anybody_waits(const struct round *round, const struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		uint32_t id = round->active[i];

		if (job_active(&round->jobs[id]) && !plan_grant(plan, id))
			return true;
	}
	return false;
}

void kit_wake_while_waiting(const struct round *round, struct plan *plan)
{
	if (kit_anybody_waits(round, plan))
		plan_wake(plan, round->now_s);
}
