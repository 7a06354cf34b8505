/*
 * Jobs kept in order between rounds (kit_in_order).
 *
 * The plan is the greedy one: walk the jobs by (key, tie, id) and run each
 * that still fits.  Walking them all at every event would cost O(n).  Instead:
 *
 * - Waiting jobs are ranked per shape.  Only the first of a shape need be
 *   tried; if it does not fit, no other of its shape does, and the shape stays
 *   shut until something is freed or a better job of that shape comes.
 * - Running jobs are ranked per (type, slope of their key) in lanes, by the
 *   key's value at time 0: within a lane keys move alike, so the order stays.
 *   A job that does not fit takes devices from the worst running jobs until it
 *   does, never from one with a smaller key; whoever was put out competes again.
 */
#include "policy/kit.h"

#include <math.h>
#include <stdio.h>

#define LANE_NAME UINT32_C(0x80000000)

enum { USUAL_SHAPES = 32 };

void ranking_fini(struct ranking *ranking)
{
	rank_pool_fini(&ranking->pool);
	names_fini(&ranking->shapes);
	vec_fini(&ranking->classes);
	rank_pool_fini(&ranking->head_pool);
	vec_fini(&ranking->lanes);
	vec_fini(&ranking->class_of);
	vec_fini(&ranking->placed);
	vec_fini(&ranking->evicted);
	heap_fini(&ranking->jumps);
}

/* What every step of one decision needs. */
struct walk {
	struct ranking *ranking;
	const struct ordering *ordering;
	const void *self;
	const struct round *round;
	struct plan *plan;
	uint32_t failed; /* the last job that did not fit, RANK_NONE before */
};

static const struct job *job_of(const struct walk *w, uint32_t id)
{
	return &w->round->jobs[id];
}

/*
 * What decides whether it fits: jobs alike in this are tried one for all.  The model counts only for
 * gangs under a placer that looks at it, CPUs and memory only where a node models them.
 */
static struct rank_class shape_of(const struct walk *w, const struct job *job)
{
	uint32_t types[TYPES_MAX];
	uint32_t n = kit_types(w->round, job, types);
	bool by_model = w->plan->placer->by_model && (job->gpus > 1 || job->gpus_by_type);
	struct rank_class c = {
		.first = RANK_NONE,
		.gpus = job->gpus,
		.model = by_model ? job->model : NAME_NONE,
		.cpus = w->plan->space.models_cpus ? job->cpus : 0,
		.mem_bytes = w->plan->space.models_memory ? job->mem_bytes : 0,
		.share = job_is_fraction(job) ? job->share : 0,
		.gpu_mem_bytes = job->gpu_mem_bytes,
		.uneven = job->gpus_by_type || job->units || job->navoid,
	};

	for (uint32_t i = 0; i < n; i++)
		c.types |= UINT32_C(1) << types[i];
	return c;
}

/* The number of a shape is that of its description among all met so far. */
static uint32_t shape_number(struct ranking *r, const struct rank_class *c, const struct job *job)
{
	char text[192 + 12 * TYPES_MAX];
	int n = snprintf(text, sizeof(text), "%d %x %u %a %lld", c->gpus, c->types, c->model,
		c->cpus, (long long)c->mem_bytes);

	if (c->share > 0 || c->gpu_mem_bytes > 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %a of %lld", c->share,
			(long long)c->gpu_mem_bytes);
	if (job->navoid) /* there may be others alike, but seldom: it is alone of its shape */
		n += snprintf(text + n, sizeof(text) - (size_t)n, " job %u", job->id);
	for (uint32_t left = c->uneven ? c->types : 0; left; left &= left - 1)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %u",
			job_gpus_on(job, (uint32_t)__builtin_ctz(left)));
	return names_add(&r->shapes, text, (size_t)n);
}

static bool same_shape(const struct rank_class *a, const struct rank_class *b)
{
	return a->gpus == b->gpus && a->types == b->types && a->model == b->model &&
		a->cpus == b->cpus && a->mem_bytes == b->mem_bytes && a->share == b->share &&
		a->gpu_mem_bytes == b->gpu_mem_bytes;
}

/* Most workloads have few shapes: a look at those is cheaper than a description.  UINT32_MAX: none of these. */
static uint32_t usual_shape(const struct ranking *r, const struct rank_class *shape)
{
	for (uint32_t i = 0; i < r->classes.n && i < USUAL_SHAPES; i++) {
		if (!r->classes.at[i].uneven && same_shape(&r->classes.at[i], shape))
			return i;
	}
	return UINT32_MAX;
}

static uint32_t class_of(struct walk *w, const struct job *job)
{
	struct ranking *r = w->ranking;
	struct rank_class shape;
	uint32_t number;

	vec_grow_zero(&r->class_of, (size_t)job->id + 1);
	if (r->class_of.at[job->id])
		return r->class_of.at[job->id] - 1;
	shape = shape_of(w, job);
	number = shape.uneven ? UINT32_MAX : usual_shape(r, &shape);
	if (number == UINT32_MAX)
		number = shape_number(r, &shape, job);
	if (number == r->classes.n) {
		shape.waiting = RANK_EMPTY(number);
		vec_push(&r->classes, shape);
	}
	r->class_of.at[job->id] = number + 1;
	return number;
}

static uint32_t lane_of(struct ranking *r, uint32_t type, double slope)
{
	uint32_t spare = UINT32_MAX;

	for (uint32_t i = 0; i < r->lanes.n; i++) {
		if (r->lanes.at[i].type == type && r->lanes.at[i].slope == slope)
			return i;
		if (r->lanes.at[i].running.n == 0)
			spare = i;
	}
	if (spare == UINT32_MAX) {
		vec_push(&r->lanes,
			(struct rank_lane){ .running = RANK_EMPTY(LANE_NAME | (uint32_t)r->lanes.n) });
		spare = (uint32_t)r->lanes.n - 1;
	}
	r->lanes.at[spare].type = type;
	r->lanes.at[spare].slope = slope;
	return spare;
}

/* After its set changed: who leads it now. */
static void class_refresh(struct ranking *r, uint32_t number)
{
	struct rank_class *c = &r->classes.at[number];
	uint32_t first = rank_first(&r->pool, &c->waiting);

	if (first == c->first)
		return;
	if (c->first != RANK_NONE)
		rank_remove(&r->head_pool, &r->heads, c->first);
	if (first != RANK_NONE)
		rank_insert(&r->head_pool, &r->heads, first, r->pool.nodes[first].key,
			r->pool.nodes[first].tie);
	c->first = first;
	c->shut_at = 0; /* another job leads it: it has not been tried */
}

/* Takes the job out of whatever set it is in. */
static void unfile(struct walk *w, uint32_t id)
{
	struct ranking *r = w->ranking;
	uint32_t holder = rank_holder(&r->pool, id);

	heap_remove(&r->jumps, id);
	if (holder == RANK_NONE)
		return;
	if (holder & LANE_NAME) {
		rank_remove(&r->pool, &r->lanes.at[holder & ~LANE_NAME].running, id);
		return;
	}
	rank_remove(&r->pool, &r->classes.at[holder].waiting, id);
	class_refresh(r, holder);
}

static void file_waiting(struct walk *w, const struct job *job)
{
	struct ranking *r = w->ranking;
	uint32_t number = class_of(w, job);
	double key = w->ordering->key(w->self, w->round, job);
	double tie = kit_tie(w->ordering, w->self, w->round, job);

	rank_insert(&r->pool, &r->classes.at[number].waiting, job->id, key, tie);
	class_refresh(r, number);
}

static void file_running(struct walk *w, const struct job *job, const struct grant *grant)
{
	struct ranking *r = w->ranking;
	double slope = w->ordering->slope ? w->ordering->slope(w->self, w->round, job) : 0;
	double key = w->ordering->key(w->self, w->round, job) - slope * w->round->now_s;
	double tie = kit_tie(w->ordering, w->self, w->round, job);
	uint32_t lane = lane_of(r, grant->type, slope);

	rank_insert(&r->pool, &r->lanes.at[lane].running, job->id, key, tie);
}

/* Puts the job where it now belongs. */
static void refile(struct walk *w, uint32_t id)
{
	const struct job *job = job_of(w, id);
	const struct grant *grant = plan_grant(w->plan, id);

	vec_grow_zero(&w->ranking->placed, (size_t)id + 1);
	unfile(w, id);
	if (!job_active(job))
		return;
	if (!grant)
		file_waiting(w, job);
	else if (w->ordering->preempt)
		file_running(w, job, grant);
	if (w->ordering->jump_s) {
		double at_s = w->ordering->jump_s(w->self, w->round, job, grant != NULL);

		/* Rounding must not make it jump at this very instant again and again. */
		if (at_s < INFINITY)
			heap_put(&w->ranking->jumps, id, fmax(at_s, w->round->now_s + 1e-6), id);
	}
}

static void reopen(struct ranking *r)
{
	r->openings++;
}

static bool is_shut(const struct ranking *r, const struct rank_class *c)
{
	return c->shut_at == r->openings;
}

/* Brings the sets up to date with what happened since the last round. */
static void catch_up(struct walk *w)
{
	struct ranking *r = w->ranking;
	const struct round *round = w->round;
	bool freed = round->capacity_changed || (r->held && !w->ordering->hold);

	/* Jumps first: a job that changed, too, would be filed anew below and its jump forgotten. */
	for (const struct heap_item *top; (top = heap_top(&r->jumps)) && top->key <= round->now_s;) {
		freed = true;
		refile(w, heap_pop(&r->jumps).id);
	}
	for (uint32_t i = 0; i < round->nchanged; i++) {
		uint32_t id = round->changed[i];

		freed |= !plan_grant(w->plan, id) && job_of(w, id)->attempts > 0;
		refile(w, id);
	}
	for (size_t i = 0; i < r->lanes.n; i++)
		freed |= r->lanes.at[i].slope > 0 && r->lanes.at[i].running.n > 0;
	if (freed)
		reopen(r);
}

static struct rank_class *class_led_by(struct walk *w, uint32_t head)
{
	return head == RANK_NONE ? NULL : &w->ranking->classes.at[class_of(w, job_of(w, head))];
}

/* The shape whose first job comes first of all. */
static struct rank_class *first_class(struct walk *w)
{
	return class_led_by(w, rank_first(&w->ranking->head_pool, &w->ranking->heads));
}

/*
 * The shape to try next, or NULL.  Jobs are tried in order, so it comes after the last one that did not
 * fit; under MISFIT_BLOCK a first job that did not fit ends the walk.
 */
static struct rank_class *next_class(struct walk *w)
{
	const struct ranking *r = w->ranking;
	struct rank_class *c = first_class(w);
	uint32_t head;

	if (w->ordering->misfit == MISFIT_BLOCK)
		return c && !is_shut(r, c) ? c : NULL;
	head = w->failed == RANK_NONE ? rank_first(&r->head_pool, &r->heads)
				      : rank_next(&r->head_pool, w->failed);
	while ((c = class_led_by(w, head)) && is_shut(r, c))
		head = rank_next(&r->head_pool, head);
	return c;
}

/* The key as it is now: computed from the lane it would differ in its last bits, and ties would not be ties. */
static double key_now(const struct walk *w, uint32_t id)
{
	return w->ordering->key(w->self, w->round, job_of(w, id));
}

/*
 * Whether the running job comes after the waiting one.  Jobs are tried in order, so
 * one that was put to run in this very walk does not; saying so keeps two keys that
 * differ by rounding alone from evicting each other for ever.
 */
static bool worse(const struct walk *w, uint32_t running, uint32_t waiting)
{
	const struct rank_node *nodes = w->ranking->pool.nodes;

	if (w->ranking->placed.at[running] == w->ranking->walks)
		return false;
	return rank_before(nodes[waiting].key, nodes[waiting].tie, waiting, key_now(w, running),
		nodes[running].tie, running);
}

/* Whether the devices of all jobs of the type that come after `job` would be enough. */
static bool could_take(const struct walk *w, const struct job *job, uint32_t type)
{
	const struct ranking *r = w->ranking;
	uint32_t have = plan_room(w->plan, job, type), need = job_gpus_on(job, type);

	for (size_t i = 0; i < r->lanes.n && have < need; i++) {
		const struct rank_lane *lane = &r->lanes.at[i];
		uint32_t id = lane->type == type ? rank_last(&r->pool, &lane->running) : RANK_NONE;

		for (; id != RANK_NONE && have < need && worse(w, id, job->id);
			id = rank_prev(&r->pool, id))
			have += plan_grant(w->plan, id)->gpus;
	}
	return have >= need;
}

/* The running job of the type that comes last, if it comes after `job`; else RANK_NONE. */
static uint32_t worst_after(const struct walk *w, const struct job *job, uint32_t type)
{
	const struct ranking *r = w->ranking;
	uint32_t worst = RANK_NONE;
	double worst_key = 0;

	for (size_t i = 0; i < r->lanes.n; i++) {
		const struct rank_lane *lane = &r->lanes.at[i];
		uint32_t id = lane->type == type ? rank_last(&r->pool, &lane->running) : RANK_NONE;
		double key;

		if (id == RANK_NONE || !worse(w, id, job->id))
			continue;
		key = key_now(w, id);
		if (worst == RANK_NONE ||
			rank_before(worst_key, r->pool.nodes[worst].tie, worst, key,
				r->pool.nodes[id].tie, id)) {
			worst = id;
			worst_key = key;
		}
	}
	return worst;
}

/* Those put out compete again, or take back what they had when it was in vain. */
static void settle(struct walk *w, const struct job *winner)
{
	struct ranking *r = w->ranking;

	while (r->evicted.n > 0) {
		const struct job *job = job_of(w, r->evicted.at[--r->evicted.n]);

		if (winner) {
			kit_outranked(w->plan, job, winner);
		} else {
			kit_run(w->round, w->plan, job);
		}
		refile(w, job->id);
	}
}

/* Runs the job on devices of jobs that come after it, worst first. */
static bool take_over(struct walk *w, const struct job *job, uint32_t type)
{
	uint32_t victim;

	if (!could_take(w, job, type))
		return false;
	while ((victim = worst_after(w, job, type)) != RANK_NONE) {
		plan_stop(w->plan, job_of(w, victim));
		unfile(w, victim);
		vec_push(&w->ranking->evicted, victim);
		if (plan_run(w->plan, job, (struct want){ .type = (int)type })) {
			settle(w, job);
			/* What was freed and not taken may do for shapes that did not fit before. */
			if (plan_free(w->plan, type) > 0 || w->plan->space.types[type].parted.n > 0)
				reopen(w->ranking);
			return true;
		}
	}
	settle(w, NULL);
	return false;
}

static bool try_to_run(struct walk *w, const struct job *job)
{
	uint32_t types[TYPES_MAX];
	uint32_t n;

	if (kit_run(w->round, w->plan, job))
		return true;
	if (!w->ordering->preempt || w->ordering->hold)
		return false;
	n = kit_types(w->round, job, types);
	for (uint32_t i = 0; i < n; i++) {
		if (take_over(w, job, types[i]))
			return true;
	}
	return false;
}

/* Jobs that came (or came back) and still wait are told why. */
static void explain_newcomers(struct walk *w)
{
	const struct rank_class *c = first_class(w);
	uint32_t head = c && w->ordering->misfit == MISFIT_BLOCK ? c->first : JOB_NONE;

	for (uint32_t i = 0; i < w->round->nchanged; i++) {
		const struct job *job = job_of(w, w->round->changed[i]);

		if (!job_active(job) || plan_grant(w->plan, job->id))
			continue;
		if (job->reason.why == WHY_OUTRANKED)
			continue; /* it was told when its devices were taken */
		if (head == JOB_NONE || head == job->id)
			kit_no_room(w->round, w->plan, job);
		else
			plan_why(w->plan, job->id,
				(struct reason){ .why = WHY_BEHIND, .need = job->gpus, .other = head });
	}
}

double ranking_crossing_s(const struct ranking *r)
{
	double best_waiting = INFINITY, crossing_s = INFINITY;

	if (r->asked_each)
		return -INFINITY;
	if (r->heads.n > 0)
		best_waiting = r->head_pool.nodes[rank_first(&r->head_pool, &r->heads)].key;
	for (size_t i = 0; i < r->lanes.n && best_waiting < INFINITY; i++) {
		const struct rank_lane *lane = &r->lanes.at[i];
		uint32_t last = rank_last(&r->pool, &lane->running);

		if (last == RANK_NONE)
			continue;
		if (lane->slope > 0)
			crossing_s = fmin(crossing_s,
				(best_waiting - r->pool.nodes[last].key) / lane->slope);
		else if (r->held && r->pool.nodes[last].key >= best_waiting)
			crossing_s = -INFINITY; /* it was spared, and its key stands still while it restores */
	}
	return crossing_s;
}

/* Where jobs of one shape are not alike nothing is gained by ranking shapes. */
static void in_order_one_by_one(struct ranking *ranking, const struct ordering *ordering,
	const void *self, const struct round *round, struct plan *plan)
{
	kit_anew(ordering, self, round, plan);
	if (ordering->jump_s)
		kit_wake_at_jumps(ordering, self, round, plan);
	ranking->asked_each = kit_anybody_waits(round, plan);
}

void kit_in_order(struct ranking *ranking, const struct ordering *ordering, const void *self,
	const struct round *round, struct plan *plan)
{
	struct walk w = { ranking, ordering, self, round, plan, RANK_NONE };
	struct rank_class *c;
	uint32_t number;

	if (kit_is_particular(plan)) {
		in_order_one_by_one(ranking, ordering, self, round, plan);
		return;
	}
	if (ranking->walks++ == 0) {
		ranking->heads = RANK_EMPTY(0);
		ranking->openings = 1;
	}
	catch_up(&w);
	ranking->held = ordering->hold;
	while ((c = next_class(&w))) {
		const struct job *job = job_of(&w, c->first);

		if (try_to_run(&w, job)) {
			ranking->placed.at[job->id] = ranking->walks;
			refile(&w, job->id);
			continue;
		}
		number = class_of(&w, job); /* which may move the list */
		ranking->classes.at[number].shut_at = ranking->openings;
		w.failed = job->id;
		kit_no_room(round, plan, job);
		if (ordering->misfit == MISFIT_BLOCK)
			break;
	}
	explain_newcomers(&w);
	if (heap_top(&ranking->jumps))
		plan_wake(plan, heap_top(&ranking->jumps)->key);
}
