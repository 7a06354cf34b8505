/*
 * Discrete events: arrivals and decisions of each scheduler, requests and
 * answers on their way, ends of tasks, refreshes.
 *
 * Every way takes the same time, so that requests and answers are queues; only
 * ends need an ordered set.  At one instant ends come first, then the master's
 * decisions, answers, refreshes, windows, arrivals, decisions of schedulers.
 */
#include "sim/schedulers.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/mem.h"
#include "base/rng.h"
#include "sim/scheduler_view.h"

enum {
	SLOTS_MAX = UINT16_MAX,
	PROGRESS_EVERY = 1 << 14, /* turns */
	NO_TASK = -1,
};

static const double cells_max = 2e8; /* machines times schedulers: 12 bytes each */

const char *const schedulers_mode_names[SCHEDULERS_MODES] = {
	[SCHEDULERS_STATIC] = "static",
	[SCHEDULERS_STATESYNC] = "statesync",
	[SCHEDULERS_QUALITY] = "quality",
	[SCHEDULERS_LATENCY] = "latency",
	[SCHEDULERS_ADAPTIVE] = "adaptive",
};

/* ---- queues of tasks by number */

struct ring {
	uint32_t *at;
	size_t head, n, cap; /* cap: a power of two */
};

static void ring_make_room(struct ring *r)
{
	size_t cap = r->cap ? r->cap * 2 : 16;
	uint32_t *at;

	if (r->n < r->cap)
		return;
	at = mem_alloc(mem_array_size(cap, sizeof(*at)));
	for (size_t i = 0; i < r->n; i++)
		at[i] = r->at[(r->head + i) & (r->cap - 1)];
	free(r->at);
	*r = (struct ring){ at, 0, r->n, cap };
}

static void ring_put(struct ring *r, uint32_t task)
{
	ring_make_room(r);
	r->at[(r->head + r->n++) & (r->cap - 1)] = task;
}

static void ring_put_first(struct ring *r, uint32_t task)
{
	ring_make_room(r);
	r->head = (r->head + r->cap - 1) & (r->cap - 1);
	r->at[r->head] = task;
	r->n++;
}

static uint32_t ring_first(const struct ring *r)
{
	return r->at[r->head];
}

static uint32_t ring_take(struct ring *r)
{
	uint32_t task = ring_first(r);

	r->head = (r->head + 1) & (r->cap - 1);
	r->n--;
	return task;
}

/* ---- what there is */

struct task {
	double arrival_s, run_s;
	double there_s; /* when it, or the answer, arrives */
	uint64_t turn;  /* of the master's decision */
	uint32_t machine, scheduler;
	uint32_t tries;
	uint8_t class;
	uint8_t holders; /* of its number: whoever waits for it, and its end */
	bool granted;
};

struct scheduler {
	struct scheduler_view view;
	struct ring queue;
	struct rng arrivals, choices;
	struct schedulers_task coming; /* the next */
	size_t given;                  /* tasks of the list looked at so far */
	int64_t deciding;              /* a task's number, or NO_TASK */
	bool stuck;                    /* nothing is free until a refresh says otherwise */
	enum parsync_rule rule;
	double delays_s; /* in this window */
	uint64_t answers;
};

/* What is counted from the end of the warm-up on. */
struct tally {
	uint64_t decisions, latency_first;
	double score, busy_slot_s;
};

struct sim {
	const struct schedulers_config *config;
	uint8_t (*orders)[PARSYNC_KINDS_MAX]; /* by class: kinds, the best first */
	uint8_t *kinds;                       /* by machine */
	uint16_t *free;                       /* by machine: the truth */
	uint64_t busy;                        /* slots */
	struct scheduler_shape shape;
	struct scheduler *schedulers;
	VEC(struct task) tasks;
	VEC(uint32_t) spare; /* numbers of tasks that are gone */
	struct ring asked, answered;
	struct heap ends;  /* by task */
	struct heap clock; /* arrivals by scheduler, then decisions */
	uint64_t step, window;
	double now_s, counted_s; /* busy slots are counted up to here */
	uint64_t turn;
	bool counting;
	struct tally tally;
	struct schedulers_result result;
};

/* ---- scores */

static uint32_t turned(const struct schedulers_config *c, uint32_t class)
{
	return (uint32_t)((uint64_t) class * c->levels / c->classes);
}

double schedulers_score(const struct schedulers_config *c, uint32_t class, uint32_t kind)
{
	return ((kind + turned(c, class)) % c->levels + 1.0) / c->levels;
}

static void order_kinds(struct sim *sim)
{
	const struct schedulers_config *c = sim->config;

	sim->orders = mem_alloc(mem_array_size(c->classes, sizeof(*sim->orders)));
	for (uint32_t class = 0; class < c->classes; class ++)
		for (uint32_t i = 0; i < c->levels; i++)
			sim->orders[class][i] =
				(uint8_t)((2 * c->levels - 1 - i - turned(c, class)) % c->levels);
}

static double fleet_score(const struct sim *sim)
{
	const struct schedulers_config *c = sim->config;
	double sum = 0;

	for (uint32_t m = 0; m < c->machines; m++)
		for (uint32_t class = 0; class < c->classes; class ++)
			sum += schedulers_score(c, class, sim->kinds[m]);
	return sum / c->machines / c->classes;
}

double schedulers_usual_s(const struct schedulers_config *c)
{
	return c->decision_s + c->rtt_s;
}

/* ---- tasks */

static uint32_t task_add(struct sim *sim, const struct schedulers_task *from)
{
	struct task task = {
		.arrival_s = from->arrival_s,
		.run_s = from->run_s,
		.scheduler = from->scheduler,
		.class = (uint8_t)from->class,
		.holders = 1,
	};
	uint32_t id;

	if (!sim->spare.n) {
		vec_push(&sim->tasks, task);
		return (uint32_t)(sim->tasks.n - 1);
	}
	id = sim->spare.at[--sim->spare.n];
	sim->tasks.at[id] = task;
	return id;
}

static void task_let_go(struct sim *sim, uint32_t id)
{
	if (--sim->tasks.at[id].holders == 0)
		vec_push(&sim->spare, id);
}

static void tell(const struct sim *sim, enum schedulers_event_kind kind, const struct task *task)
{
	if (sim->config->tell)
		sim->config->tell(sim->config->ctx,
			&(struct schedulers_event){
				.kind = kind,
				.at_s = sim->now_s,
				.scheduler = task->scheduler,
				.machine = task->machine,
				.arrival_s = task->arrival_s,
			});
}

/* ---- the master */

static void count_busy(struct sim *sim, double until_s)
{
	sim->tally.busy_slot_s += (double)sim->busy * (until_s - sim->counted_s);
	sim->counted_s = until_s;
}

static void start(struct sim *sim, uint32_t id)
{
	struct task *task = &sim->tasks.at[id];

	assert(sim->free[task->machine]);
	count_busy(sim, sim->now_s);
	sim->free[task->machine]--;
	sim->busy++;
	task->holders++;
	heap_put(&sim->ends, id, sim->now_s + task->run_s, sim->turn);
}

static void on_end(struct sim *sim)
{
	uint32_t id = heap_pop(&sim->ends).id;
	const struct task *task = &sim->tasks.at[id];

	count_busy(sim, sim->now_s);
	sim->free[task->machine]++;
	sim->busy--;
	tell(sim, SCHEDULERS_ENDED, task);
	task_let_go(sim, id);
}

static void grant(struct sim *sim, uint32_t id)
{
	const struct task *task = &sim->tasks.at[id];

	start(sim, id);
	sim->result.granted++;
	sim->tally.score += schedulers_score(sim->config, task->class, sim->kinds[task->machine]);
}

static void on_request(struct sim *sim)
{
	uint32_t id = ring_take(&sim->asked);
	struct task *task = &sim->tasks.at[id];

	scheduler_view_decided(&sim->schedulers[task->scheduler].view, task->machine);
	task->granted = sim->free[task->machine] > 0;
	if (task->granted)
		grant(sim, id);
	else
		sim->result.refused++;
	task->turn = sim->turn;
	task->there_s = sim->now_s + sim->config->rtt_s / 2;
	ring_put(&sim->answered, id);
	tell(sim, task->granted ? SCHEDULERS_GRANTED : SCHEDULERS_REFUSED, task);
}

/* ---- a scheduler */

static void begin_decision(struct sim *sim, uint32_t s)
{
	struct scheduler *own = &sim->schedulers[s];
	uint32_t id = sim->config->plan.schedulers + s;

	if (own->deciding != NO_TASK || own->stuck || !own->queue.n)
		return;
	own->deciding = ring_take(&own->queue);
	heap_put(&sim->clock, id, sim->now_s + sim->config->decision_s, id);
}

static void ask(struct sim *sim, struct scheduler *own, uint32_t id, uint32_t machine)
{
	struct task *task = &sim->tasks.at[id];

	scheduler_view_ask(&own->view, machine);
	task->machine = machine;
	task->there_s = sim->now_s + sim->config->rtt_s / 2;
	task->tries++;
	if (task->tries > sim->result.most_tries)
		sim->result.most_tries = task->tries;
	ring_put(&sim->asked, id);
}

static void on_decision(struct sim *sim, uint32_t s)
{
	struct scheduler *own = &sim->schedulers[s];
	uint32_t id = (uint32_t)own->deciding, machine;
	const uint8_t *order = sim->orders[sim->tasks.at[id].class];

	own->deciding = NO_TASK;
	sim->tally.decisions++;
	sim->tally.latency_first += own->rule == PARSYNC_LATENCY;
	if (scheduler_view_choose(&own->view, own->rule, order, &own->choices, &machine)) {
		ask(sim, own, id, machine);
	} else {
		ring_put_first(&own->queue, id);
		own->stuck = true;
		sim->result.stuck++;
	}
	begin_decision(sim, s);
}

static void note_latency(struct sim *sim, struct scheduler *own, double latency_s)
{
	own->delays_s += latency_s;
	own->answers++;
	if (sim->counting)
		vec_push(&sim->result.latency_s, latency_s);
}

static void on_answer(struct sim *sim)
{
	uint32_t id = ring_take(&sim->answered);
	const struct task *task = &sim->tasks.at[id];
	uint32_t s = task->scheduler;
	struct scheduler *own = &sim->schedulers[s];

	if (task->granted) {
		note_latency(sim, own, sim->now_s - task->arrival_s);
		task_let_go(sim, id);
		return;
	}
	scheduler_view_full(&own->view, task->machine, task->turn);
	ring_put_first(&own->queue, id);
	begin_decision(sim, s);
}

/* ---- arrivals */

static bool take_given(struct sim *sim, uint32_t s)
{
	const struct schedulers_config *c = sim->config;
	struct scheduler *own = &sim->schedulers[s];

	while (own->given < c->ntasks && c->tasks[own->given].scheduler != s)
		own->given++;
	if (own->given == c->ntasks)
		return false;
	own->coming = c->tasks[own->given++];
	return true;
}

/* Tasks in a second that come to this one. */
static double rate_of(const struct schedulers_config *c, uint32_t s)
{
	double hot = c->hot > 0 ? c->hot : 1;

	return c->rate * (s ? 1 : hot) / (c->plan.schedulers - 1 + hot);
}

/* One by one: the order in which a list is worked out is the compiler's. */
static void draw_task(const struct schedulers_config *c, struct rng *rng, struct schedulers_task *out)
{
	out->run_s = rng_exponential(rng, c->task_s);
	out->class = (uint32_t)rng_below(rng, c->classes);
}

static bool draw(struct sim *sim, uint32_t s)
{
	const struct schedulers_config *c = sim->config;
	struct scheduler *own = &sim->schedulers[s];

	own->coming.arrival_s += rng_exponential(&own->arrivals, 1 / rate_of(c, s));
	own->coming.scheduler = s;
	draw_task(c, &own->arrivals, &own->coming);
	return true;
}

static void expect_next(struct sim *sim, uint32_t s)
{
	if (sim->config->tasks ? take_given(sim, s) : draw(sim, s))
		heap_put(&sim->clock, s, sim->schedulers[s].coming.arrival_s, s);
}

static void on_arrival(struct sim *sim, uint32_t s)
{
	struct scheduler *own = &sim->schedulers[s];

	sim->result.arrived++;
	ring_put(&own->queue, task_add(sim, &own->coming));
	expect_next(sim, s);
	begin_decision(sim, s);
}

static void on_clock(struct sim *sim)
{
	uint32_t id = heap_pop(&sim->clock).id, n = sim->config->plan.schedulers;

	if (id < n)
		on_arrival(sim, id);
	else
		on_decision(sim, id - n);
}

/* ---- refreshes */

static void refresh(struct sim *sim, uint32_t s, uint32_t group)
{
	const struct schedulers_config *c = sim->config;
	struct scheduler *own = &sim->schedulers[s];

	scheduler_view_refresh(&own->view, group, sim->free, sim->turn);
	sim->result.refreshes += c->plan.partitions / sim->shape.groups;
	sim->result.rows += parsync_first(c->machines, sim->shape.groups, group + 1) -
		parsync_first(c->machines, sim->shape.groups, group);
	if (c->tell)
		c->tell(c->ctx,
			&(struct schedulers_event){
				.kind = SCHEDULERS_REFRESHED,
				.at_s = sim->now_s,
				.scheduler = s,
				.partition = group,
			});
	own->stuck = false;
	begin_decision(sim, s);
}

/* The partitions that are the scheduler's alone. */
static uint32_t first_own(const struct sim *sim, uint32_t s)
{
	const struct parsync_plan *plan = &sim->config->plan;

	return parsync_first(plan->partitions, plan->schedulers, s);
}

/* What the scheduler refreshes now. */
static uint32_t group_of_step(const struct sim *sim, uint32_t s)
{
	uint32_t first;

	switch (sim->config->mode) {
	case SCHEDULERS_STATIC:
		first = first_own(sim, s);
		return first + (uint32_t)(sim->step % (first_own(sim, s + 1) - first));
	case SCHEDULERS_STATESYNC:
		return 0; /* the only one */
	default:
		return parsync_partition(&sim->config->plan, s, sim->step);
	}
}

static double step_s(const struct sim *sim)
{
	const struct parsync_plan *plan = &sim->config->plan;
	bool whole = sim->config->mode == SCHEDULERS_STATESYNC;

	return parsync_step_s(plan, sim->step * (whole ? plan->partitions : 1));
}

static void on_step(struct sim *sim)
{
	for (uint32_t s = 0; s < sim->config->plan.schedulers; s++)
		refresh(sim, s, group_of_step(sim, s));
	sim->step++;
}

/* ---- adapting */

/* Nothing granted and somebody waiting is no quick scheduler. */
static double delay_of(const struct sim *sim, const struct scheduler *own)
{
	double delay_s = own->answers ? own->delays_s / (double)own->answers : 0;

	if (own->queue.n)
		delay_s = fmax(delay_s, sim->now_s - sim->tasks.at[ring_first(&own->queue)].arrival_s);
	return delay_s;
}

static void on_window(struct sim *sim)
{
	const struct schedulers_config *c = sim->config;

	for (uint32_t s = 0; s < c->plan.schedulers; s++) {
		struct scheduler *own = &sim->schedulers[s];

		own->rule = parsync_adapt(own->rule, delay_of(sim, own), schedulers_usual_s(c),
			&c->limits);
		own->delays_s = 0;
		own->answers = 0;
	}
	sim->window++;
}

static double window_s(const struct sim *sim)
{
	if (sim->config->mode != SCHEDULERS_ADAPTIVE)
		return INFINITY;
	return (double)sim->window * sim->config->limits.window_s;
}

/* ---- the beginning */

static void choose_kinds(struct sim *sim, struct rng *rng)
{
	const struct schedulers_config *c = sim->config;

	sim->kinds = mem_alloc(mem_array_size(c->machines, sizeof(*sim->kinds)));
	for (uint32_t m = 0; m < c->machines; m++)
		sim->kinds[m] = c->kinds ? c->kinds[m] : (uint8_t)rng_below(rng, c->levels);
}

/* Tasks that run already, each on the best machine that was left: as one scheduler with the truth would do. */
static void fill(struct sim *sim, struct rng *rng)
{
	const struct schedulers_config *c = sim->config;
	struct scheduler_view truth;

	scheduler_view_init(&truth, &sim->shape);
	for (uint32_t g = 0; g < sim->shape.groups; g++)
		scheduler_view_refresh(&truth, g, sim->free, 0);
	for (uint32_t i = 0; i < c->running; i++) {
		struct schedulers_task from = { 0 };
		uint32_t id, machine;

		draw_task(c, rng, &from);
		if (!scheduler_view_choose(&truth, PARSYNC_QUALITY, sim->orders[from.class], rng,
			    &machine))
			break;
		scheduler_view_ask(&truth, machine);
		scheduler_view_decided(&truth, machine);
		id = task_add(sim, &from);
		sim->tasks.at[id].machine = machine;
		start(sim, id);
		task_let_go(sim, id);
	}
	scheduler_view_fini(&truth);
}

static bool is_own(const struct sim *sim, uint32_t s, uint32_t group)
{
	return sim->config->mode != SCHEDULERS_STATIC ||
		(group >= first_own(sim, s) && group < first_own(sim, s + 1));
}

static void scheduler_init(struct sim *sim, uint32_t s)
{
	const struct schedulers_config *c = sim->config;
	struct scheduler *own = &sim->schedulers[s];

	*own = (struct scheduler){
		.deciding = NO_TASK,
		.rule = c->mode == SCHEDULERS_LATENCY ? PARSYNC_LATENCY : PARSYNC_QUALITY,
	};
	rng_for(&own->arrivals, c->seed, RNG_SCHEDULERS, 1 + 2 * (uint64_t)s);
	rng_for(&own->choices, c->seed, RNG_SCHEDULERS, 2 + 2 * (uint64_t)s);
	scheduler_view_init(&own->view, &sim->shape);
	for (uint32_t g = 0; g < sim->shape.groups; g++)
		if (is_own(sim, s, g))
			scheduler_view_refresh(&own->view, g, sim->free, 0);
	expect_next(sim, s);
}

static void sim_init(struct sim *sim, const struct schedulers_config *c)
{
	uint32_t groups = c->mode == SCHEDULERS_STATESYNC ? 1 : c->plan.partitions;
	struct rng rng;

	*sim = (struct sim){ .config = c };
	rng_for(&rng, c->seed, RNG_SCHEDULERS, 0);
	order_kinds(sim);
	choose_kinds(sim, &rng);
	scheduler_shape_init(&sim->shape, c->machines, groups, c->levels, sim->kinds);
	sim->free = mem_alloc(mem_array_size(c->machines, sizeof(*sim->free)));
	for (uint32_t m = 0; m < c->machines; m++)
		sim->free[m] = (uint16_t)c->slots;
	fill(sim, &rng);
	sim->schedulers = mem_alloc(mem_array_size(c->plan.schedulers, sizeof(*sim->schedulers)));
	for (uint32_t s = 0; s < c->plan.schedulers; s++)
		scheduler_init(sim, s);
}

static void sim_fini(struct sim *sim)
{
	for (uint32_t s = 0; s < sim->config->plan.schedulers; s++) {
		scheduler_view_fini(&sim->schedulers[s].view);
		free(sim->schedulers[s].queue.at);
	}
	free(sim->schedulers);
	free(sim->asked.at);
	free(sim->answered.at);
	heap_fini(&sim->ends);
	heap_fini(&sim->clock);
	vec_fini(&sim->tasks);
	vec_fini(&sim->spare);
	scheduler_shape_fini(&sim->shape);
	free(sim->orders);
	free(sim->kinds);
	free(sim->free);
	schedulers_result_fini(&sim->result);
}

/* ---- the loop */

enum source { ENDS, REQUESTS, ANSWERS, STEPS, WINDOWS, CLOCK, SOURCES };

static void (*const handlers[SOURCES])(struct sim *) = {
	[ENDS] = on_end,
	[REQUESTS] = on_request,
	[ANSWERS] = on_answer,
	[STEPS] = on_step,
	[WINDOWS] = on_window,
	[CLOCK] = on_clock,
};

static double heap_s(const struct heap *heap)
{
	return heap->n ? heap_top(heap)->key : INFINITY;
}

static double ring_s(const struct sim *sim, const struct ring *ring)
{
	return ring->n ? sim->tasks.at[ring_first(ring)].there_s : INFINITY;
}

static enum source next_source(const struct sim *sim, double *at_s)
{
	const double times[SOURCES] = {
		[ENDS] = heap_s(&sim->ends),
		[REQUESTS] = ring_s(sim, &sim->asked),
		[ANSWERS] = ring_s(sim, &sim->answered),
		[STEPS] = step_s(sim),
		[WINDOWS] = window_s(sim),
		[CLOCK] = heap_s(&sim->clock),
	};
	enum source next = 0;

	for (enum source i = 1; i < SOURCES; i++)
		if (times[i] < times[next])
			next = i;
	*at_s = times[next];
	return next;
}

/* The warm-up is over: what was counted is forgotten. */
static void begin_counting(struct sim *sim)
{
	count_busy(sim, sim->config->warm_up_s);
	sim->tally = (struct tally){ 0 };
	sim->result = (struct schedulers_result){ 0 };
	sim->counting = true;
}

static bool goes_on(const struct sim *sim)
{
	const struct schedulers_config *c = sim->config;

	return !c->progress || sim->turn % PROGRESS_EVERY != 0 ||
		c->progress(c->ctx, sim->now_s / (c->warm_up_s + c->duration_s));
}

static void finish(struct sim *sim, double end_s)
{
	const struct schedulers_config *c = sim->config;
	struct schedulers_result *r = &sim->result;

	count_busy(sim, end_s);
	r->score = r->granted ? sim->tally.score / (double)r->granted : NAN;
	r->utilisation = sim->tally.busy_slot_s / c->duration_s / c->machines / c->slots;
	r->latency_first = sim->tally.decisions
		? (double)sim->tally.latency_first / (double)sim->tally.decisions
		: 0;
	r->fleet_score = fleet_score(sim);
	for (uint32_t s = 0; s < c->plan.schedulers; s++)
		r->waiting += sim->schedulers[s].queue.n;
}

static int run(struct sim *sim, struct err *err)
{
	const struct schedulers_config *c = sim->config;
	double end_s = c->warm_up_s + c->duration_s, at_s;

	for (;;) {
		enum source next = next_source(sim, &at_s);

		if (!sim->counting && at_s >= c->warm_up_s)
			begin_counting(sim);
		if (at_s >= end_s)
			break;
		sim->now_s = at_s;
		sim->turn++;
		handlers[next](sim);
		if (!goes_on(sim))
			return err_set(err, ERR_REFUSED, "stopped");
	}
	finish(sim, end_s);
	return 0;
}

/* ---- outside */

static int check_size(const struct schedulers_config *c, struct err *err)
{
	if (c->machines < c->plan.partitions)
		return err_set(err, ERR_USAGE,
			"%u machines in %u partitions: some would be empty; add machines, or take %u "
			"partitions at most and no more schedulers",
			c->machines, c->plan.partitions, c->machines);
	if (c->slots < 1 || c->slots > SLOTS_MAX)
		return err_set(err, ERR_USAGE, "%u slots to a machine: 1 to %d are possible",
			c->slots, SLOTS_MAX);
	if ((double)c->machines * c->plan.schedulers > cells_max)
		return err_set(err, ERR_USAGE,
			"%u schedulers with views of %u machines do not fit into memory: at most %g "
			"machines times schedulers; take fewer of either",
			c->plan.schedulers, c->machines, cells_max);
	if (c->levels < 1 || c->levels > PARSYNC_KINDS_MAX)
		return err_set(err, ERR_USAGE, "%u levels of quality: 1 to %d are possible",
			c->levels, PARSYNC_KINDS_MAX);
	if (c->classes < 1 || c->classes > c->levels)
		return err_set(err, ERR_USAGE,
			"%u classes of tasks with %u levels of quality: 1 to %u classes can differ",
			c->classes, c->levels, c->levels);
	return 0;
}

/* Negated, so that NAN is refused as well. */
static int check_times(const struct schedulers_config *c, struct err *err)
{
	if (!(c->decision_s > 0))
		return err_set(err, ERR_USAGE,
			"decisions of %g s: they must take some time, such as 0.0001", c->decision_s);
	if (!(c->rtt_s >= 0))
		return err_set(err, ERR_USAGE, "a way of %g s to the master and back: 0 or more",
			c->rtt_s);
	if (!c->tasks && !(c->task_s > 0 && c->rate > 0))
		return err_set(err, ERR_USAGE,
			"%g tasks in a second, %g s each: both must be more than 0", c->rate,
			c->task_s);
	if (!(c->hot >= 0))
		return err_set(err, ERR_USAGE,
			"%g times as many tasks for the first scheduler: 1 is as many as for others",
			c->hot);
	if (!(c->warm_up_s >= 0 && c->duration_s > 0))
		return err_set(err, ERR_USAGE,
			"%g s after a warm-up of %g s: there must be some time to look at",
			c->duration_s, c->warm_up_s);
	return 0;
}

int schedulers_check(const struct schedulers_config *c, struct err *err)
{
	int rc = parsync_check(&c->plan, err);

	if (!rc)
		rc = check_size(c, err);
	if (!rc)
		rc = check_times(c, err);
	if (!rc && c->mode == SCHEDULERS_ADAPTIVE)
		rc = parsync_limits_check(&c->limits, err);
	return rc;
}

int schedulers_run(const struct schedulers_config *config, struct schedulers_result *out,
	struct err *err)
{
	struct sim sim;
	int rc = schedulers_check(config, err);

	if (rc)
		return rc;
	sim_init(&sim, config);
	rc = run(&sim, err);
	if (!rc) {
		*out = sim.result;
		sim.result = (struct schedulers_result){ 0 };
	}
	sim_fini(&sim);
	return rc;
}

void schedulers_result_fini(struct schedulers_result *result)
{
	vec_fini(&result->latency_s);
}
