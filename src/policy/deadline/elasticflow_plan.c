#include "policy/deadline/elasticflow_plan.h"

#include <math.h>

#include "base/vec.h"

void flow_course_fini(struct flow_course *course)
{
	vec_fini(course);
}

void flow_course_copy(struct flow_course *to, const struct flow_course *from)
{
	to->n = 0;
	vec_reserve(to, from->n);
	for (size_t i = 0; i < from->n; i++)
		to->at[i] = from->at[i];
	to->n = from->n;
}

/* Adds a stretch at the end, which joins the last one if nothing changes. */
static void append(struct flow_course *course, double from_s, double to_s, uint32_t gpus)
{
	struct flow_part *last = course->n ? &course->at[course->n - 1] : NULL;

	if (!(to_s > from_s))
		return;
	if (last && last->gpus == gpus && last->to_s == from_s)
		last->to_s = to_s;
	else
		vec_push(course, (struct flow_part){ from_s, to_s, gpus });
}

/* ---- the table */

void flow_table_init(struct flow_table *table, double now_s, double slot_s, uint32_t capacity)
{
	table->now_s = now_s;
	table->slot_s = slot_s;
	table->capacity = capacity;
	table->used.n = 0;
}

void flow_table_fini(struct flow_table *table)
{
	flow_course_fini(&table->used);
}

double flow_slot_end_s(const struct flow_table *table, double at_s)
{
	return (floor(at_s / table->slot_s + 1e-9) + 1) * table->slot_s;
}

/* The end of the slot in which it is, itself if it is between two. */
static double slot_up_s(const struct flow_table *table, double at_s)
{
	return fmax(at_s, ceil(at_s / table->slot_s - 1e-9) * table->slot_s);
}

uint32_t flow_at(const struct flow_course *course, double at_s)
{
	for (size_t i = 0; i < course->n; i++) {
		if (at_s < course->at[i].to_s)
			return at_s >= course->at[i].from_s ? course->at[i].gpus : 0;
	}
	return 0;
}

double flow_next_change_s(const struct flow_course *course, double at_s)
{
	for (size_t i = 0; i < course->n; i++) {
		if (course->at[i].from_s > at_s)
			return course->at[i].from_s;
		if (course->at[i].to_s > at_s)
			return course->at[i].to_s;
	}
	return INFINITY;
}

/* The stretch of a course in which a time is, or the next one, from `i` on. */
static size_t stretch_at(const struct flow_course *course, size_t i, double at_s)
{
	while (i < course->n && course->at[i].to_s <= at_s)
		i++;
	return i;
}

static uint32_t gpus_in(const struct flow_course *course, size_t i, double at_s)
{
	return i < course->n && course->at[i].from_s <= at_s ? course->at[i].gpus : 0;
}

static double change_in(const struct flow_course *course, size_t i, double at_s)
{
	if (i >= course->n)
		return INFINITY;
	return course->at[i].from_s > at_s ? course->at[i].from_s : course->at[i].to_s;
}

void flow_take(struct flow_table *table, const struct flow_course *course)
{
	struct flow_course sum = { 0 };
	size_t i = 0, k = 0;

	for (double at_s = table->now_s, to_s;; at_s = to_s) {
		i = stretch_at(&table->used, i, at_s);
		k = stretch_at(course, k, at_s);
		to_s = fmin(change_in(&table->used, i, at_s), change_in(course, k, at_s));
		if (isinf(to_s))
			break;
		append(&sum, at_s, to_s, gpus_in(&table->used, i, at_s) + gpus_in(course, k, at_s));
	}
	flow_course_fini(&table->used);
	table->used = sum;
}

bool flow_fits(const struct flow_table *table, const struct flow_course *course)
{
	size_t i = 0, k = 0;

	for (double at_s = table->now_s; at_s < INFINITY;) {
		i = stretch_at(&table->used, i, at_s);
		k = stretch_at(course, k, at_s);
		if (gpus_in(&table->used, i, at_s) + gpus_in(course, k, at_s) > table->capacity)
			return false;
		at_s = fmin(change_in(&table->used, i, at_s), change_in(course, k, at_s));
	}
	return true;
}

uint32_t flow_left(const struct flow_table *table, double until_s)
{
	uint32_t most = 0;

	for (size_t i = 0; i < table->used.n; i++) {
		if (table->used.at[i].from_s < until_s && table->used.at[i].gpus > most)
			most = table->used.at[i].gpus;
	}
	return table->capacity > most ? table->capacity - most : 0;
}

/* ---- a job on a course */

uint32_t flow_level_of(const struct flow_ask *ask, uint32_t gpus)
{
	uint32_t i = 0;

	while (i < ask->nlevels && ask->level[i] != gpus)
		i++;
	return i;
}

/* How far a job is at the end of a stretch. */
struct walk {
	const struct flow_ask *ask;
	double work;     /* left */
	uint32_t holds;  /* devices at the end of the last stretch */
	double ready_s;  /* when it makes steps on them */
	double gpu_s;    /* device-seconds so far */
	double finish_s; /* INFINITY: not yet */
	bool began;      /* it had devices before: the next start is after a pause */
};

static struct walk walk_from(const struct flow_ask *ask)
{
	return (struct walk){
		.ask = ask,
		.work = ask->work - ask->rounding,
		.holds = ask->holds,
		.began = ask->holds > 0,
		.ready_s = ask->ready_s,
		.finish_s = INFINITY,
	};
}

/* Before its first step on other devices than it has. */
static double cost_s(const struct walk *w)
{
	if (w->holds)
		return w->ask->change_s;
	return w->began ? w->ask->resume_s : w->ask->start_s;
}

static void walk_on(struct walk *w, double from_s, double to_s, uint32_t gpus)
{
	uint32_t level = flow_level_of(w->ask, gpus);
	double speed = level < w->ask->nlevels ? w->ask->speed[level] : 0, from;

	if (w->finish_s < INFINITY)
		return;
	if (gpus == 0) {
		w->holds = 0;
		return;
	}
	if (gpus != w->holds)
		w->ready_s = from_s + cost_s(w);
	w->holds = gpus;
	w->began = true;
	from = fmax(from_s, w->ready_s);
	if (from < to_s && speed * (to_s - from) >= w->work) {
		w->finish_s = w->work > 0 ? from + w->work / speed : from;
		w->gpu_s += gpus * (w->finish_s - from_s);
		return;
	}
	w->gpu_s += gpus * (to_s - from_s);
	w->work -= speed * fmax(0, to_s - from);
}

double flow_finish_s(const struct flow_ask *ask, const struct flow_course *course, double now_s,
	double *gpu_s)
{
	struct walk w = walk_from(ask);

	for (size_t i = 0; i < course->n; i++) {
		if (course->at[i].to_s > now_s)
			walk_on(&w, fmax(now_s, course->at[i].from_s), course->at[i].to_s,
				course->at[i].gpus);
	}
	if (gpu_s)
		*gpu_s = w.gpu_s;
	return w.finish_s;
}

/* ---- filling */

/* The largest level up to `most` (an index) that so many devices are enough for; 0 devices: none. */
static uint32_t level_within(const struct flow_ask *ask, uint32_t most, uint32_t gpus)
{
	for (uint32_t i = most + 1; i-- > 0;) {
		if (ask->level[i] <= gpus)
			return ask->level[i];
	}
	return 0;
}

/* Levels: up to `low` before turn_s, up to `high` after; a level of nlevels is nothing at all. */
struct filling {
	uint32_t low, high;
	double turn_s;
};

static uint32_t share_of(const struct flow_table *table, const struct flow_ask *ask, uint32_t level,
	uint32_t used)
{
	if (level >= ask->nlevels || used >= table->capacity)
		return 0;
	return level_within(ask, level, table->capacity - used);
}

/* The course of such a filling; false: the work is not done by the deadline. */
static bool follow(const struct flow_table *table, const struct flow_ask *ask,
	const struct filling *f, struct flow_course *out)
{
	struct walk w = walk_from(ask);
	size_t i = 0;

	out->n = 0;
	for (double at_s = table->now_s; at_s < ask->deadline_s && w.finish_s == INFINITY;) {
		double to_s = ask->deadline_s;
		uint32_t gpus;

		i = stretch_at(&table->used, i, at_s);
		to_s = fmin(to_s, change_in(&table->used, i, at_s));
		if (f->turn_s > at_s)
			to_s = fmin(to_s, f->turn_s);
		gpus = share_of(table, ask, at_s < f->turn_s ? f->low : f->high,
			gpus_in(&table->used, i, at_s));
		walk_on(&w, at_s, to_s, gpus);
		if (w.finish_s < INFINITY)
			to_s = fmax(slot_up_s(table, w.finish_s), flow_slot_end_s(table, at_s));
		append(out, at_s, to_s, gpus);
		at_s = to_s;
	}
	return w.finish_s <= ask->deadline_s;
}

/* The latest turn of the filling to its last level that keeps the deadline. */
static void turn_late(const struct flow_table *table, const struct flow_ask *ask, struct filling *f,
	struct flow_course *out)
{
	struct flow_course trial = { 0 };
	double first = floor(table->now_s / table->slot_s), good = 0;
	double bad = ceil((ask->deadline_s - first * table->slot_s) / table->slot_s) + 1;

	while (bad - good > 1) {
		double middle = floor((good + bad) / 2);

		f->turn_s = (first + middle) * table->slot_s;
		if (follow(table, ask, f, &trial)) {
			good = middle;
			flow_course_copy(out, &trial);
		} else {
			bad = middle;
		}
	}
	flow_course_fini(&trial);
}

bool flow_fill(const struct flow_table *table, const struct flow_ask *ask, struct flow_course *out)
{
	struct flow_course trial = { 0 };
	bool found = false;

	for (uint32_t q = 0; q < ask->nlevels && !found; q++) {
		struct filling f = { q, q, table->now_s };

		found = follow(table, ask, &f, &trial);
		if (found && ask->backward) {
			f.low = q > 0 ? q - 1 : ask->nlevels;
			turn_late(table, ask, &f, &trial);
		}
	}
	if (found)
		flow_course_copy(out, &trial);
	flow_course_fini(&trial);
	return found;
}

void flow_raise(const struct flow_table *table, const struct flow_course *course, uint32_t gpus,
	double until_s, struct flow_course *out)
{
	out->n = 0;
	append(out, table->now_s, until_s, gpus);
	for (double at_s = until_s; at_s < INFINITY;) {
		double to_s = flow_next_change_s(course, at_s);

		if (isinf(to_s))
			return;
		append(out, at_s, to_s, flow_at(course, at_s));
		at_s = to_s;
	}
}
