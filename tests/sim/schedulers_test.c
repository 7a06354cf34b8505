/*
 * Parallel schedulers: the worked examples, what must always hold, and the
 * same runs done again by looking at everything.
 */
#include "sim/schedulers.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "support/property.h"

struct log {
	VEC(struct schedulers_event) events;
};

static void note(void *ctx, const struct schedulers_event *ev)
{
	struct log *log = ctx;

	vec_push(&log->events, *ev);
}

static void run(const struct schedulers_config *config, struct log *log, struct schedulers_result *out)
{
	struct schedulers_config heard = *config;
	struct err err = { 0 };

	heard.tell = note;
	heard.ctx = log;
	if (schedulers_run(&heard, out, &err))
		fail_msg("%s", err.text);
}

static size_t count(const struct log *log, enum schedulers_event_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < log->events.n; i++)
		n += log->events.at[i].kind == kind;
	return n;
}

/* The nth grant or refusal. */
static const struct schedulers_event *verdict(const struct log *log, size_t nth)
{
	for (size_t i = 0; i < log->events.n; i++)
		if (log->events.at[i].kind <= SCHEDULERS_REFUSED && nth-- == 0)
			return &log->events.at[i];
	fail_msg("fewer verdicts");
	return NULL;
}

/* ---- worked examples */

static const struct schedulers_task one_each[] = {
	{ .arrival_s = 0.01, .run_s = 100, .scheduler = 0 },
	{ .arrival_s = 0.01, .run_s = 100, .scheduler = 1 },
};

/* Four partitions of one machine; 0 and 2 are refreshed in the first step. */
static struct schedulers_config two_on_four(enum schedulers_mode mode, const uint8_t *kinds)
{
	return (struct schedulers_config){
		.mode = mode,
		.plan = { .schedulers = 2, .partitions = 4, .period_s = 4 },
		.limits = parsync_limits_usual,
		.machines = 4,
		.slots = 1,
		.levels = 4,
		.classes = 1,
		.decision_s = 0.001,
		.rtt_s = 0.002,
		.duration_s = 0.9,
		.kinds = kinds,
		.tasks = one_each,
		.ntasks = COUNT(one_each),
	};
}

static void both_want_the_best(void **state)
{
	static const uint8_t kinds[] = { 0, 3, 1, 2 };
	struct schedulers_config config = two_on_four(SCHEDULERS_QUALITY, kinds);
	struct schedulers_result result;
	struct log log = { 0 };

	(void)state;
	run(&config, &log, &result);
	assert_int_equal(result.granted, 2);
	assert_int_equal(result.refused, 1);
	assert_int_equal(result.most_tries, 2);
	assert_int_equal(verdict(&log, 0)->machine, 1); /* the best */
	assert_int_equal(verdict(&log, 0)->scheduler, 0);
	assert_int_equal(verdict(&log, 1)->kind, SCHEDULERS_REFUSED);
	assert_int_equal(verdict(&log, 1)->machine, 1);
	assert_int_equal(verdict(&log, 1)->scheduler, 1);
	assert_int_equal(verdict(&log, 2)->machine, 3); /* the second best */
	assert_true(fabs(result.score - (1 + 0.75) / 2) < 1e-12);
	/* A decision and a way there and back; twice for who came second. */
	assert_int_equal(result.latency_s.n, 2);
	assert_true(fabs(result.latency_s.at[0] - 0.003) < 1e-12);
	assert_true(fabs(result.latency_s.at[1] - 0.006) < 1e-12);
	schedulers_result_fini(&result);
	vec_fini(&log.events);
}

static void each_takes_what_it_saw_last(void **state)
{
	static const uint8_t kinds[] = { 0, 3, 1, 2 };
	struct schedulers_config config = two_on_four(SCHEDULERS_LATENCY, kinds);
	struct schedulers_result result;
	struct log log = { 0 };

	(void)state;
	run(&config, &log, &result);
	assert_int_equal(result.granted, 2);
	assert_int_equal(result.refused, 0);
	assert_int_equal(verdict(&log, 0)->machine, 0);
	assert_int_equal(verdict(&log, 1)->machine, 2);
	schedulers_result_fini(&result);
	vec_fini(&log.events);
}

static void nobody_shares_with_static_partitions(void **state)
{
	static const uint8_t kinds[] = { 0, 3, 1, 2 };
	struct schedulers_config config = two_on_four(SCHEDULERS_STATIC, kinds);
	struct schedulers_result result;
	struct log log = { 0 };

	(void)state;
	run(&config, &log, &result);
	assert_int_equal(result.refused, 0);
	assert_int_equal(verdict(&log, 0)->machine, 1); /* the better of 0 and 1 */
	assert_int_equal(verdict(&log, 1)->machine, 3); /* of 2 and 3 */
	schedulers_result_fini(&result);
	vec_fini(&log.events);
}

/* A slot that becomes free is seen at the next refresh of its partition and no sooner. */
static void ends_are_seen_by_refreshes(void **state)
{
	static const struct schedulers_task tasks[] = {
		{ .arrival_s = 0.1, .run_s = 0.2, .scheduler = 0 },
		{ .arrival_s = 0.2, .run_s = 9, .scheduler = 0 },
	};
	struct schedulers_config config = {
		.mode = SCHEDULERS_QUALITY,
		.plan = { .schedulers = 1, .partitions = 1, .period_s = 1 },
		.machines = 1,
		.slots = 1,
		.levels = 1,
		.classes = 1,
		.decision_s = 0.001,
		.rtt_s = 0.002,
		.duration_s = 2,
		.tasks = tasks,
		.ntasks = COUNT(tasks),
	};
	struct schedulers_result result;
	struct log log = { 0 };

	(void)state;
	run(&config, &log, &result);
	assert_int_equal(result.granted, 2);
	assert_int_equal(result.stuck, 1);
	assert_true(fabs(verdict(&log, 1)->at_s - 1.002) < 1e-9);
	/* 0.2 s and from then on, of 2 s. */
	assert_true(fabs(result.utilisation - (0.2 + 2 - 1.002) / 2) < 1e-9);
	schedulers_result_fini(&result);
	vec_fini(&log.events);
}

static void senseless_input_is_refused(void **state)
{
	static const uint8_t kinds[] = { 0, 1, 2, 3 };
	struct schedulers_config good = two_on_four(SCHEDULERS_ADAPTIVE, kinds), bad;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(schedulers_check(&good, &err), 0);
#define REFUSED(field, value, words) \
	do { \
		bad = good; \
		bad.field = (value); \
		assert_int_equal(schedulers_check(&bad, &err), ERR_USAGE); \
		assert_non_null(strstr(err.text, words)); \
	} while (0)
	REFUSED(plan.partitions, 1, "2 partitions or more");
	REFUSED(machines, 3, "3 partitions at most");
	REFUSED(slots, 0, "slots");
	REFUSED(levels, 65, "1 to 64");
	REFUSED(classes, 5, "1 to 4 classes");
	REFUSED(decision_s, 0, "some time");
	REFUSED(hot, -1, "1 is as many");
	REFUSED(rtt_s, NAN, "0 or more");
	REFUSED(duration_s, 0, "time to look at");
	REFUSED(limits.back, 2, "no more than the first");
	REFUSED(tasks, NULL, "both must be more than 0");
	REFUSED(plan.schedulers, 0, "at least one");
#undef REFUSED
}

/* ---- what must always hold */

static struct schedulers_config random_config(struct rng *rng, enum schedulers_mode mode)
{
	uint32_t schedulers = 1 + (uint32_t)rng_below(rng, 6);
	uint32_t partitions = schedulers + (uint32_t)rng_below(rng, 6);
	uint32_t levels = 1 + (uint32_t)rng_below(rng, 8);
	struct schedulers_config config = {
		.mode = mode,
		.plan = { schedulers, partitions, rng_between(rng, 0.1, 2) },
		.limits = { .window_s = 0.2, .leave = 1.5, .back = 1.2 },
		.machines = partitions + (uint32_t)rng_below(rng, 100),
		.slots = 1 + (uint32_t)rng_below(rng, 4),
		.levels = levels,
		.classes = 1 + (uint32_t)rng_below(rng, levels),
		.task_s = rng_between(rng, 0.1, 2),
		.decision_s = 0.0005,
		.rtt_s = rng_below(rng, 4) ? rng_between(rng, 0, 0.02) : 0,
		.warm_up_s = rng_between(rng, 0, 1),
		.duration_s = 3,
		.seed = rng_u64(rng),
	};
	double slots = (double)config.machines * config.slots;

	config.rate = rng_between(rng, 0.3, 1.1) * slots / config.task_s;
	config.running = (uint32_t)rng_below(rng, (uint64_t)slots + 1);
	return config;
}

static void check_master(const struct schedulers_config *config, const struct log *log, uint32_t running)
{
	uint32_t *used = mem_alloc(mem_array_size(config->machines, sizeof(*used)));

	/* What ran at the beginning is only known by its end. */
	for (size_t i = 0; i < log->events.n && running; i++) {
		const struct schedulers_event *ev = &log->events.at[i];

		if (ev->kind == SCHEDULERS_ENDED && ev->arrival_s == 0)
			used[ev->machine]++;
	}
	for (size_t i = 0; i < log->events.n; i++) {
		const struct schedulers_event *ev = &log->events.at[i];

		if (ev->kind == SCHEDULERS_GRANTED)
			assert_true(++used[ev->machine] <= config->slots);
		else if (ev->kind == SCHEDULERS_ENDED)
			assert_true(used[ev->machine]-- > 0);
		else if (ev->kind == SCHEDULERS_REFUSED && !running)
			assert_int_equal(used[ev->machine], config->slots);
	}
	free(used);
}

static void the_master_never_overcommits(void **state)
{
	struct rng rng = property("no machine has more tasks than slots, and none is refused in vain");

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct schedulers_config config = random_config(&rng, round % SCHEDULERS_MODES);
		struct schedulers_result result;
		struct log log = { 0 };

		if (round % 2)
			config.running = 0;
		run(&config, &log, &result);
		check_master(&config, &log, config.running);
		assert_true(result.utilisation >= 0 && result.utilisation <= 1 + 1e-9);
		for (size_t i = 0; i < result.latency_s.n; i++)
			assert_true(result.latency_s.at[i] >= schedulers_usual_s(&config) - 1e-9);
		schedulers_result_fini(&result);
		vec_fini(&log.events);
	}
}

static void one_scheduler_alone_has_no_conflicts(void **state)
{
	struct rng rng = property("one scheduler alone, or with machines of its own, has no conflict");
	uint64_t granted = 0;

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct schedulers_config config = random_config(&rng, round % SCHEDULERS_MODES);
		struct schedulers_result result;
		struct log log = { 0 };

		if (config.mode != SCHEDULERS_STATIC)
			config.plan.schedulers = 1;
		run(&config, &log, &result);
		granted += result.granted;
		assert_int_equal(result.refused, 0);
		assert_int_equal(count(&log, SCHEDULERS_REFUSED), 0);
		schedulers_result_fini(&result);
		vec_fini(&log.events);
	}
	assert_true(granted > 1000);
}

static void check_refreshes(const struct schedulers_config *config, const struct log *log)
{
	uint32_t n = config->plan.schedulers, p = config->plan.partitions;
	uint32_t *times = mem_alloc(mem_array_size((size_t)n * p, sizeof(*times)));
	uint64_t in_step = 0;
	size_t nth = 0;

	for (size_t i = 0; i < log->events.n; i++) {
		const struct schedulers_event *ev = &log->events.at[i];

		if (ev->kind != SCHEDULERS_REFRESHED)
			continue;
		if (nth % n == 0)
			in_step = 0;
		assert_false(in_step >> ev->partition & 1);
		in_step |= UINT64_C(1) << ev->partition;
		if (nth < (size_t)n * p)
			times[(size_t)ev->scheduler * p + ev->partition]++;
		nth++;
	}
	assert_true(nth >= (size_t)n * p);
	for (size_t i = 0; i < (size_t)n * p; i++)
		assert_int_equal(times[i], 1);
	free(times);
}

static void refreshes_follow_the_plan(void **state)
{
	struct rng rng = property("no two refresh the same in a step, each pair once in a period");

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		struct schedulers_config config = random_config(&rng, SCHEDULERS_QUALITY + round % 3);
		struct schedulers_result result;
		struct log log = { 0 };

		run(&config, &log, &result);
		check_refreshes(&config, &log);
		schedulers_result_fini(&result);
		vec_fini(&log.events);
	}
}

static void the_same_again_is_the_same(void **state)
{
	struct rng rng = property("the same configuration gives the same events");

	(void)state;
	for (size_t round = 0; round < rounds(10); round++) {
		struct schedulers_config config = random_config(&rng, round % SCHEDULERS_MODES);
		struct schedulers_result a, b;
		struct log first = { 0 }, second = { 0 };

		run(&config, &first, &a);
		run(&config, &second, &b);
		assert_int_equal(first.events.n, second.events.n);
		assert_memory_equal(first.events.at, second.events.at,
			first.events.n * sizeof(*first.events.at));
		schedulers_result_fini(&a);
		schedulers_result_fini(&b);
		vec_fini(&first.events);
		vec_fini(&second.events);
	}
}

/* The first scheduler has three times as much to do, and as many machines as others. */
static void a_hot_scheduler_needs_others_machines(void **state)
{
	struct schedulers_config config = {
		.plan = { 4, 4, 0.2 },
		.machines = 200,
		.slots = 2,
		.levels = 4,
		.classes = 2,
		.rate = 300,
		.hot = 3,
		.task_s = 1,
		.decision_s = 0.0001,
		.rtt_s = 0.001,
		.duration_s = 20,
		.seed = 7,
	};
	uint64_t waiting[SCHEDULERS_MODES], by_first = 0;

	(void)state;
	for (config.mode = 0; config.mode < SCHEDULERS_ADAPTIVE; config.mode++) {
		struct schedulers_result result;
		struct log log = { 0 };

		run(&config, &log, &result);
		waiting[config.mode] = result.waiting;
		by_first = 0;
		for (size_t i = 0; i < log.events.n; i++)
			by_first += log.events.at[i].kind == SCHEDULERS_GRANTED &&
				log.events.at[i].scheduler == 0;
		if (config.mode == SCHEDULERS_LATENCY)
			assert_true(fabs((double)by_first / (double)result.granted - 0.5) < 0.03);
		schedulers_result_fini(&result);
		vec_fini(&log.events);
	}
	assert_true(waiting[SCHEDULERS_STATIC] > 100);
	assert_true(waiting[SCHEDULERS_QUALITY] < 10);
	assert_true(waiting[SCHEDULERS_LATENCY] < 10);
}

static bool stop_at_once(void *ctx, double part)
{
	(void)ctx;
	(void)part;
	return false;
}

static void it_stops_when_told(void **state)
{
	struct schedulers_config config = {
		.mode = SCHEDULERS_QUALITY,
		.plan = { 2, 2, 1 },
		.machines = 100,
		.slots = 10,
		.levels = 4,
		.classes = 2,
		.rate = 1000,
		.task_s = 0.5,
		.decision_s = 0.0001,
		.duration_s = 60,
		.progress = stop_at_once,
	};
	struct schedulers_result result;
	struct err err;

	(void)state;
	assert_int_equal(schedulers_run(&config, &result, &err), ERR_REFUSED);
}

/* ---- the same by looking at everything */

enum { MACHINES = 40, PARTS = 8, TEAM = 4, TASKS = 400 };

enum { P_END, P_REQUEST, P_ANSWER, P_STEP, P_WINDOW, P_ARRIVAL, P_DECISION };

struct slow_event {
	double at_s;
	int what;
	uint64_t order; /* among equals */
	uint32_t task, scheduler;
};

struct slow_task {
	uint32_t machine;
	double refused_turn;
	bool granted;
};

struct slow {
	const struct schedulers_config *c;
	int free[MACHINES];
	int seen[TEAM][MACHINES], pending[TEAM][MACHINES];
	double turn_of[TEAM][PARTS]; /* of the last refresh; before the first, as if the plan had gone on */
	uint32_t queue[TEAM][TASKS], queued[TEAM];
	bool busy[TEAM], stuck[TEAM];
	enum parsync_rule rule[TEAM];
	double delays[TEAM];
	int answers[TEAM];
	struct slow_task tasks[TASKS];
	VEC(struct slow_event) coming;
	uint64_t turn, sequence, step, window;
	double now_s;
	struct log log;
};

static void plan_event(struct slow *w, double at_s, int what, uint64_t order, uint32_t task,
	uint32_t scheduler)
{
	vec_push(&w->coming, (struct slow_event){ at_s, what, order, task, scheduler });
}

static struct slow_event next_event(struct slow *w)
{
	size_t best = 0;
	struct slow_event ev;

	for (size_t i = 1; i < w->coming.n; i++) {
		const struct slow_event *a = &w->coming.at[i], *b = &w->coming.at[best];

		if (a->at_s < b->at_s ||
			(a->at_s == b->at_s &&
				(a->what < b->what || (a->what == b->what && a->order < b->order))))
			best = i;
	}
	ev = w->coming.at[best];
	w->coming.at[best] = w->coming.at[--w->coming.n];
	return ev;
}

static void hear(struct slow *w, enum schedulers_event_kind kind, uint32_t task)
{
	vec_push(&w->log.events,
		(struct schedulers_event){
			.kind = kind,
			.at_s = w->now_s,
			.scheduler = w->c->tasks[task].scheduler,
			.machine = w->tasks[task].machine,
			.arrival_s = w->c->tasks[task].arrival_s,
		});
}

static uint32_t groups_of(const struct slow *w)
{
	return w->c->mode == SCHEDULERS_STATESYNC ? 1 : w->c->plan.partitions;
}

static uint32_t group_of(const struct slow *w, uint32_t machine)
{
	uint32_t g = 0;

	while (parsync_first(w->c->machines, groups_of(w), g + 1) <= machine)
		g++;
	return g;
}

static uint32_t own_first(const struct slow *w, uint32_t s)
{
	return parsync_first(w->c->plan.partitions, w->c->plan.schedulers, s);
}

static uint32_t refreshed_by(const struct slow *w, uint32_t s, int64_t step)
{
	uint32_t p = w->c->plan.partitions, first = own_first(w, s);
	uint32_t own = own_first(w, s + 1) - first;

	if (w->c->mode == SCHEDULERS_STATESYNC)
		return 0;
	if (w->c->mode == SCHEDULERS_STATIC)
		return first + (uint32_t)((step + (int64_t)own * 1000) % own);
	return (uint32_t)((step + (int64_t)p * 1000 + s * (p / w->c->plan.schedulers)) % p);
}

static void slow_refresh(struct slow *w, uint32_t s, uint32_t group, double turn)
{
	for (uint32_t m = 0; m < w->c->machines; m++)
		if (group_of(w, m) == group)
			w->seen[s][m] = w->free[m] - w->pending[s][m];
	w->turn_of[s][group] = turn;
}

static void slow_begin(struct slow *w, uint32_t s)
{
	if (w->busy[s] || w->stuck[s] || !w->queued[s])
		return;
	w->busy[s] = true;
	plan_event(w, w->now_s + w->c->decision_s, P_DECISION, s, w->queue[s][0], s);
	memmove(&w->queue[s][0], &w->queue[s][1], --w->queued[s] * sizeof(uint32_t));
}

static void slow_first(struct slow *w, uint32_t s, uint32_t task)
{
	memmove(&w->queue[s][1], &w->queue[s][0], w->queued[s]++ * sizeof(uint32_t));
	w->queue[s][0] = task;
}

static bool is_better(const struct slow *w, uint32_t s, uint32_t class, uint32_t a, uint32_t b)
{
	double x = schedulers_score(w->c, class, w->c->kinds[a]);
	double y = schedulers_score(w->c, class, w->c->kinds[b]);
	double p = w->turn_of[s][group_of(w, a)], q = w->turn_of[s][group_of(w, b)];

	if (w->rule[s] == PARSYNC_QUALITY)
		return x != y ? x > y : p > q;
	return p != q ? p > q : x > y;
}

static void slow_decision(struct slow *w, uint32_t s, uint32_t task)
{
	int best = -1;

	w->busy[s] = false;
	for (uint32_t m = 0; m < w->c->machines; m++)
		if (w->seen[s][m] > 0 &&
			(best < 0 || is_better(w, s, w->c->tasks[task].class, m, (uint32_t)best)))
			best = (int)m;
	if (best < 0) {
		slow_first(w, s, task);
		w->stuck[s] = true;
	} else {
		w->seen[s][best]--;
		w->pending[s][best]++;
		w->tasks[task].machine = (uint32_t)best;
		plan_event(w, w->now_s + w->c->rtt_s / 2, P_REQUEST, w->sequence++, task, s);
	}
	slow_begin(w, s);
}

static void slow_request(struct slow *w, uint32_t s, uint32_t task)
{
	struct slow_task *t = &w->tasks[task];

	w->pending[s][t->machine]--;
	t->granted = w->free[t->machine] > 0;
	t->refused_turn = (double)w->turn;
	if (t->granted) {
		w->free[t->machine]--;
		plan_event(w, w->now_s + w->c->tasks[task].run_s, P_END, w->turn, task, s);
	}
	plan_event(w, w->now_s + w->c->rtt_s / 2, P_ANSWER, w->sequence++, task, s);
	hear(w, t->granted ? SCHEDULERS_GRANTED : SCHEDULERS_REFUSED, task);
}

static void slow_answer(struct slow *w, uint32_t s, uint32_t task)
{
	const struct slow_task *t = &w->tasks[task];

	if (t->granted) {
		w->delays[s] += w->now_s - w->c->tasks[task].arrival_s;
		w->answers[s]++;
		return;
	}
	if (w->turn_of[s][group_of(w, t->machine)] < t->refused_turn)
		w->seen[s][t->machine] = 0;
	slow_first(w, s, task);
	slow_begin(w, s);
}

static void slow_step(struct slow *w)
{
	const struct parsync_plan *plan = &w->c->plan;
	bool whole = w->c->mode == SCHEDULERS_STATESYNC;

	for (uint32_t s = 0; s < plan->schedulers; s++) {
		uint32_t group = refreshed_by(w, s, (int64_t)w->step);

		slow_refresh(w, s, group, (double)w->turn);
		vec_push(&w->log.events,
			(struct schedulers_event){
				.kind = SCHEDULERS_REFRESHED,
				.at_s = w->now_s,
				.scheduler = s,
				.partition = group,
			});
		w->stuck[s] = false;
		slow_begin(w, s);
	}
	w->step++;
	plan_event(w, parsync_step_s(plan, w->step * (whole ? plan->partitions : 1)), P_STEP, 0, 0, 0);
}

static void slow_window(struct slow *w)
{
	const struct schedulers_config *c = w->c;

	for (uint32_t s = 0; s < c->plan.schedulers; s++) {
		double usual = c->decision_s + c->rtt_s;
		double delay = w->answers[s] ? w->delays[s] / w->answers[s] : 0;

		if (w->queued[s])
			delay = fmax(delay, w->now_s - c->tasks[w->queue[s][0]].arrival_s);
		if (delay > c->limits.leave * usual)
			w->rule[s] = PARSYNC_LATENCY;
		else if (delay < c->limits.back * usual)
			w->rule[s] = PARSYNC_QUALITY;
		w->delays[s] = w->answers[s] = 0;
	}
	plan_event(w, (double)++w->window * c->limits.window_s, P_WINDOW, 0, 0, 0);
}

static void slow_handle(struct slow *w, const struct slow_event *ev)
{
	switch (ev->what) {
	case P_END:
		w->free[w->tasks[ev->task].machine]++;
		hear(w, SCHEDULERS_ENDED, ev->task);
		break;
	case P_REQUEST:
		slow_request(w, ev->scheduler, ev->task);
		break;
	case P_ANSWER:
		slow_answer(w, ev->scheduler, ev->task);
		break;
	case P_STEP:
		slow_step(w);
		break;
	case P_WINDOW:
		slow_window(w);
		break;
	case P_ARRIVAL:
		w->queue[ev->scheduler][w->queued[ev->scheduler]++] = ev->task;
		slow_begin(w, ev->scheduler);
		break;
	case P_DECISION:
		slow_decision(w, ev->scheduler, ev->task);
		break;
	}
}

static void slow_init(struct slow *w, const struct schedulers_config *c)
{
	w->c = c;
	for (uint32_t m = 0; m < c->machines; m++)
		w->free[m] = (int)c->slots;
	for (uint32_t s = 0; s < c->plan.schedulers; s++) {
		w->rule[s] = c->mode == SCHEDULERS_LATENCY ? PARSYNC_LATENCY : PARSYNC_QUALITY;
		for (int64_t k = -(int64_t)c->plan.partitions; k < 0; k++)
			slow_refresh(w, s, refreshed_by(w, s, k), (double)k);
	}
	for (uint32_t i = 0; i < c->ntasks; i++)
		plan_event(w, c->tasks[i].arrival_s, P_ARRIVAL,
			(uint64_t)c->tasks[i].scheduler * TASKS + i, i, c->tasks[i].scheduler);
	plan_event(w, 0, P_STEP, 0, 0, 0);
	if (c->mode == SCHEDULERS_ADAPTIVE)
		plan_event(w, 0, P_WINDOW, 0, 0, 0);
}

static void run_slowly(const struct schedulers_config *c, struct log *log)
{
	struct slow *w = mem_alloc(sizeof(*w));

	slow_init(w, c);
	for (;;) {
		struct slow_event ev = next_event(w);

		if (ev.at_s >= c->warm_up_s + c->duration_s)
			break;
		w->now_s = ev.at_s;
		w->turn++;
		slow_handle(w, &ev);
	}
	vec_fini(&w->coming);
	*log = w->log;
	free(w);
}

/* Kinds that differ wherever a choice between equals would be drawn. */
static void draw_kinds(struct rng *rng, uint32_t machines, uint8_t *kinds)
{
	for (uint32_t m = 0; m < machines; m++)
		kinds[m] = (uint8_t)m;
	for (uint32_t m = machines; m > 1; m--) {
		uint32_t k = (uint32_t)rng_below(rng, m);
		uint8_t other = kinds[k];

		kinds[k] = kinds[m - 1];
		kinds[m - 1] = other;
	}
}

/* The same kinds again in each partition, so that partitions compete. */
static void draw_kinds_by_partition(struct rng *rng, struct schedulers_config *c, uint8_t *kinds)
{
	c->levels = 1;
	for (uint32_t p = 0; p < c->plan.partitions; p++) {
		uint32_t first = parsync_first(c->machines, c->plan.partitions, p);
		uint32_t size = parsync_first(c->machines, c->plan.partitions, p + 1) - first;

		draw_kinds(rng, size, &kinds[first]);
		if (size > c->levels)
			c->levels = size;
	}
}

static void draw_tasks(struct rng *rng, const struct schedulers_config *c, struct schedulers_task *tasks)
{
	double at_s = 0, load = rng_between(rng, 0.5, 1.2);
	/* A third of the times are on a grid, so that things happen at once. */
	bool grid = rng_below(rng, 3) == 0;

	for (uint32_t i = 0; i < TASKS; i++) {
		double run_s = rng_exponential(rng, 1);

		at_s += rng_exponential(rng, 1 / (load * c->machines * c->slots));
		tasks[i] = (struct schedulers_task){
			.arrival_s = grid ? ceil(at_s * 20) / 20 : at_s,
			.run_s = grid ? ceil(run_s * 4) / 4 : run_s,
			.scheduler = (uint32_t)rng_below(rng, c->plan.schedulers),
			.class = (uint32_t)rng_below(rng, c->classes),
		};
	}
}

static struct schedulers_config small_config(struct rng *rng, enum schedulers_mode mode)
{
	uint32_t schedulers = 1 + (uint32_t)rng_below(rng, TEAM);
	uint32_t partitions = schedulers + (uint32_t)rng_below(rng, PARTS - schedulers + 1);

	return (struct schedulers_config){
		.mode = mode,
		.plan = { schedulers, partitions, rng_below(rng, 2) ? 1 : rng_between(rng, 0.1, 3) },
		.limits = { .window_s = 0.25, .leave = 1.5, .back = 1.2 },
		.machines = partitions + (uint32_t)rng_below(rng, MACHINES - partitions + 1),
		.slots = 1 + (uint32_t)rng_below(rng, 3),
		.decision_s = rng_below(rng, 2) ? 0.0125 : 0.001,
		.rtt_s = rng_below(rng, 3) * 0.025,
		.duration_s = 20,
	};
}

static bool same_event(const struct schedulers_event *a, const struct schedulers_event *b)
{
	return a->kind == b->kind && a->at_s == b->at_s && a->scheduler == b->scheduler &&
		a->machine == b->machine && a->partition == b->partition &&
		a->arrival_s == b->arrival_s;
}

static uint64_t compare_with_slow(struct rng *rng, enum schedulers_mode mode)
{
	struct schedulers_config config = small_config(rng, mode);
	struct schedulers_task tasks[TASKS];
	uint8_t kinds[MACHINES];
	struct schedulers_result result;
	struct log fast = { 0 }, slow = { 0 };
	uint64_t refused;

	config.levels = config.machines;
	if (mode == SCHEDULERS_STATESYNC)
		draw_kinds(rng, config.machines, kinds);
	else
		draw_kinds_by_partition(rng, &config, kinds);
	config.classes = 1 + (uint32_t)rng_below(rng, config.levels);
	draw_tasks(rng, &config, tasks);
	config.kinds = kinds;
	config.tasks = tasks;
	config.ntasks = TASKS;
	run(&config, &fast, &result);
	run_slowly(&config, &slow);
	for (size_t i = 0; i < fast.events.n && i < slow.events.n; i++)
		if (!same_event(&fast.events.at[i], &slow.events.at[i]))
			fail_msg("mode %d: event %zu of %zu differs", mode, i, fast.events.n);
	assert_int_equal(fast.events.n, slow.events.n);
	assert_int_equal(result.refused, count(&slow, SCHEDULERS_REFUSED));
	assert_int_equal(result.granted, count(&slow, SCHEDULERS_GRANTED));
	refused = result.refused;
	schedulers_result_fini(&result);
	vec_fini(&fast.events);
	vec_fini(&slow.events);
	return refused;
}

static void every_event_is_that_of_a_plain_simulation(void **state)
{
	struct rng rng = property("every event is that of a simulation that looks at everything");
	uint64_t refused = 0;

	(void)state;
	for (size_t round = 0; round < rounds(100); round++)
		refused += compare_with_slow(&rng, round % SCHEDULERS_MODES);
	assert_true(refused > 100); /* else nothing was compared */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_want_the_best),
		cmocka_unit_test(each_takes_what_it_saw_last),
		cmocka_unit_test(nobody_shares_with_static_partitions),
		cmocka_unit_test(ends_are_seen_by_refreshes),
		cmocka_unit_test(senseless_input_is_refused),
		cmocka_unit_test(the_master_never_overcommits),
		cmocka_unit_test(one_scheduler_alone_has_no_conflicts),
		cmocka_unit_test(refreshes_follow_the_plan),
		cmocka_unit_test(the_same_again_is_the_same),
		cmocka_unit_test(a_hot_scheduler_needs_others_machines),
		cmocka_unit_test(it_stops_when_told),
		cmocka_unit_test(every_event_is_that_of_a_plain_simulation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
