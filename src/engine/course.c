/*
 * Recording the course of a run.
 */
#include "engine/course.h"

#include <math.h>

void course_init(struct course *course, const struct cluster *cluster, const uint32_t *held,
	bool want_spans)
{
	*course = (struct course){ .cluster = cluster,
		.held = held,
		.want_spans = want_spans,
		.step_s = 1 };
	course->crowd.up_gpus = cluster->devices;
}

void course_fini(struct course *course)
{
	vec_fini(&course->sums);
	vec_fini(&course->work);
	vec_fini(&course->spans);
	vec_fini(&course->open);
	vec_fini(&course->crowding_at_start_s);
}

static struct jumps join_jumps(struct jumps a, struct jumps b, double step_s)
{
	return (struct jumps){ a.by + b.by, a.brings + a.by * step_s + b.brings };
}

static void coarsen_work(struct course *c)
{
	size_t n = (c->work.n + 1) / 2;

	for (size_t i = 0; i < n; i++) {
		const struct work_step a = c->work.at[2 * i];
		const struct work_step b = 2 * i + 1 < c->work.n ? c->work.at[2 * i + 1]
								 : (struct work_step){ 0 };

		c->work.at[i].useful = join_jumps(a.useful, b.useful, c->step_s);
		c->work.at[i].good = join_jumps(a.good, b.good, c->step_s);
		c->work.at[i].worth = join_jumps(a.worth, b.worth, c->step_s);
	}
	c->work.n = n;
}

/* Halves the number of steps by joining neighbours. */
static void coarsen(struct course *c)
{
	size_t n = (c->sums.n + 1) / 2;

	for (size_t i = 0; i < n; i++) {
		struct sample sum = c->sums.at[2 * i];

		if (2 * i + 1 < c->sums.n) {
			const struct sample *next = &c->sums.at[2 * i + 1];

			sum.busy_gpus += next->busy_gpus;
			sum.up_gpus += next->up_gpus;
			sum.running += next->running;
			sum.pending += next->pending;
		}
		c->sums.at[i] = sum;
	}
	c->sums.n = n;
	coarsen_work(c);
	c->step_s *= 2;
}

static void add_jump(struct jumps *jumps, double by, double left_s)
{
	jumps->by += by;
	jumps->brings += by * left_s;
}

static void put_jump(struct course *c, double at_s, struct work by)
{
	size_t step = (size_t)(at_s / c->step_s);
	double left_s = (double)(step + 1) * c->step_s - at_s;

	vec_grow_zero(&c->work, step + 1);
	add_jump(&c->work.at[step].useful, by.useful, left_s);
	add_jump(&c->work.at[step].good, by.good, left_s);
	add_jump(&c->work.at[step].worth, by.worth, left_s);
}

/* Two jumps, however long it took: a run of a million jobs does not notice. */
void course_work(struct course *c, double from_s, double to_s, struct work work)
{
	double at_s = fmax(0, from_s - c->from_s), end_s = to_s - c->from_s;

	if (!c->begun || !(end_s > at_s))
		return;
	while (end_s >= c->step_s * SAMPLES_MAX)
		coarsen(c);
	put_jump(c, at_s, work);
	put_jump(c, end_s, (struct work){ -work.useful, -work.good, -work.worth });
}

static void add_to_step(struct course *c, size_t step, double seconds)
{
	struct sample *sum;

	vec_grow_zero(&c->sums, step + 1);
	sum = &c->sums.at[step];
	sum->busy_gpus += c->crowd.busy_gpus * seconds;
	sum->up_gpus += c->crowd.up_gpus * seconds;
	sum->running += c->crowd.running * seconds;
	sum->pending += c->crowd.pending * seconds;
}

/* Adds what was so since the last event to every step it touches. */
static void pass(struct course *c, double now_s)
{
	double at_s = c->now_s - c->from_s, to_s = now_s - c->from_s;

	if (!(to_s > at_s))
		return;
	c->busy_gpu_s += c->crowd.busy_gpus * (to_s - at_s);
	c->up_gpu_s += c->crowd.up_gpus * (to_s - at_s);
	if (c->crowd.up_gpus > 0)
		c->crowding_s += fmax(1, c->crowd.demand_gpus / c->crowd.up_gpus) * (to_s - at_s);
	else
		c->crowding_s += to_s - at_s;
	while (to_s >= c->step_s * SAMPLES_MAX)
		coarsen(c);
	while (at_s < to_s) {
		size_t step = (size_t)(at_s / c->step_s);
		double end_s = (double)(step + 1) * c->step_s;

		/* A quotient rounded up must not leave an empty piece behind for ever. */
		if (end_s <= at_s)
			end_s = (double)(++step + 1) * c->step_s;
		add_to_step(c, step, fmin(end_s, to_s) - at_s);
		at_s = end_s;
	}
	c->now_s = now_s;
}

static void open_spans(struct course *c, const struct event *event)
{
	vec_grow_zero(&c->open, (size_t)event->job + 1);
	c->open.at[event->job] = 0;
	if (c->spans.n + event->grant->nslots > SPANS_MAX) {
		c->spans_dropped += event->grant->nslots;
		return;
	}
	c->open.at[event->job] = (uint32_t)c->spans.n + 1;
	for (uint32_t i = 0; i < event->grant->nslots; i++) {
		struct span span = {
			.from_s = event->at_s,
			.to_s = NAN,
			.devices = event->grant->slots[i].devices,
			.node = event->grant->slots[i].node,
			.job = event->job,
			.attempt = event->attempt,
		};

		vec_push(&c->spans, span);
	}
}

static void close_spans(struct course *c, const struct event *event)
{
	size_t at = event->job < c->open.n ? c->open.at[event->job] : 0;

	if (at == 0)
		return;
	for (at--; at < c->spans.n && c->spans.at[at].job == event->job && isnan(c->spans.at[at].to_s);
		at++)
		c->spans.at[at].to_s = event->at_s;
	c->open.at[event->job] = 0;
}

static void begin_hold(struct course *c, const struct event *event)
{
	c->crowd.running++;
	if (c->want_spans)
		open_spans(c, event);
}

static void end_hold(struct course *c, const struct event *event)
{
	c->crowd.running--;
	if (c->want_spans)
		close_spans(c, event);
}

/* A migration or a resize. */
static void change_hold(struct course *c, const struct event *event)
{
	if (!c->want_spans)
		return;
	close_spans(c, event);
	open_spans(c, event);
}

static void remember_crowding(struct course *c, uint32_t job)
{
	vec_grow_zero(&c->crowding_at_start_s, (size_t)job + 1);
	c->crowding_at_start_s.at[job] = c->crowding_s;
}

/* Nodes come and go before the first job is submitted, too. */
static void count_node(struct course *c, const struct event *event)
{
	if (event->kind == EV_NODE_DOWN)
		c->crowd.up_gpus -= c->cluster->nodes[event->node].devices;
	else if (event->kind == EV_NODE_UP)
		c->crowd.up_gpus += c->cluster->nodes[event->node].devices;
	else if (event->kind == EV_DEVICES_DOWN)
		c->crowd.up_gpus -= __builtin_popcountll(event->devices);
	else if (event->kind == EV_DEVICES_UP)
		c->crowd.up_gpus += __builtin_popcountll(event->devices);
}

static void course_see(void *self, const struct event *event, const struct job *job)
{
	struct course *c = self;

	if (!c->begun) {
		if (event->kind != EV_SUBMIT) {
			count_node(c, event);
			return;
		}
		c->begun = true;
		c->from_s = c->now_s = event->at_s;
	}
	pass(c, event->at_s);
	switch (event->kind) {
	case EV_SUBMIT:
		c->crowd.pending++;
		c->crowd.demand_gpus += job->gpus;
		remember_crowding(c, event->job);
		break;
	case EV_REJECT:
		c->crowd.pending--;
		c->crowd.demand_gpus -= job->gpus;
		break;
	case EV_START:
		c->crowd.pending--;
		begin_hold(c, event);
		break;
	case EV_PREEMPT:
	case EV_LOST:
	case EV_YIELD:
		c->crowd.pending++;
		end_hold(c, event);
		break;
	case EV_FINISH:
	case EV_WITHDRAW:
		c->crowd.demand_gpus -= job->gpus;
		if (event->grant)
			end_hold(c, event);
		else
			c->crowd.pending--;
		break;
	case EV_MIGRATE:
	case EV_RESIZE:
		change_hold(c, event);
		break;
	default:
		count_node(c, event);
		break;
	}
	c->crowd.busy_gpus = *c->held;
}

struct observer course_observer(struct course *course)
{
	return (struct observer){ .self = course, .see = course_see };
}

double course_crowding(const struct course *course, uint32_t job, double arrival_s)
{
	double life_s = course->now_s - arrival_s;

	if (!(life_s > 0))
		return 1;
	return fmax(1, (course->crowding_s - course->crowding_at_start_s.at[job]) / life_s);
}

/* Rounding may leave a little of jumps that cancel. */
static double pass_jumps(const struct jumps *jumps, double *rate, double step_s)
{
	double sum = fmax(0, *rate * step_s + jumps->brings);

	*rate = fmax(0, *rate + jumps->by);
	return sum;
}

static void work_to_sums(struct course *c)
{
	double useful = 0, good = 0, worth = 0;

	for (size_t i = 0; i < c->sums.n && i < c->work.n; i++) {
		c->sums.at[i].useful_gpus = pass_jumps(&c->work.at[i].useful, &useful, c->step_s);
		c->sums.at[i].good_gpus = pass_jumps(&c->work.at[i].good, &good, c->step_s);
		c->sums.at[i].worth_gpus = pass_jumps(&c->work.at[i].worth, &worth, c->step_s);
	}
}

static void sums_to_means(struct course *c)
{
	double length_s = c->now_s - c->from_s;

	for (size_t i = 0; i < c->sums.n; i++) {
		struct sample *sum = &c->sums.at[i];
		double seconds = fmin(c->step_s, length_s - (double)i * c->step_s);

		sum->busy_gpus /= seconds;
		sum->up_gpus /= seconds;
		sum->running /= seconds;
		sum->pending /= seconds;
		sum->useful_gpus /= seconds;
		sum->good_gpus /= seconds;
		sum->worth_gpus /= seconds;
	}
}

void course_finish(struct course *c, double now_s, struct outcome *out)
{
	if (c->begun)
		pass(c, now_s);
	work_to_sums(c);
	sums_to_means(c);
	for (size_t i = 0; i < c->spans.n; i++) {
		if (isnan(c->spans.at[i].to_s))
			c->spans.at[i].to_s = c->now_s;
	}
	out->from_s = c->from_s;
	out->to_s = c->now_s;
	out->samples = c->sums.at;
	out->nsamples = (uint32_t)c->sums.n;
	out->step_s = c->step_s;
	out->spans = c->spans.at;
	out->nspans = (uint32_t)c->spans.n;
	out->spans_dropped = c->spans_dropped;
	out->busy_gpu_s = c->busy_gpu_s;
	out->up_gpu_s = c->up_gpu_s;
	c->sums.at = NULL;
	c->spans.at = NULL;
	c->sums.n = c->spans.n = 0;
}
