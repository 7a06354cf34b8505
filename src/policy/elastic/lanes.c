#include "policy/elastic/lanes.h"

#include <math.h>

#include "model/elastic.h"

/* So many times faster must a job be to change, restart included: or it would flutter between lanes that are alike. */
static const double WORTH = 1.25;

/* How many devices of a type a job can do with. */
struct span {
	uint32_t least, most; /* both 0: it cannot be there */
};

struct lane {
	uint32_t room;
	double least;        /* devices that those in it must have */
	int32_t *more, *end; /* by number of devices: jobs whose span begins before, ends there */
};

struct traffic {
	const struct lanes *lanes;
	struct lane at[TYPES_MAX];
	const struct job *const *jobs;
	struct span *spans; /* by job and type */
};

/* ---- a job on a type */

static double speed_on(const struct traffic *t, const struct job *job, uint32_t type, uint32_t gpus)
{
	const struct round *round = t->lanes->round;

	return elastic_speed(round->belief, job, configuration_packed(round->cluster, type, gpus),
		BATCHING_FIXED, NULL);
}

static uint32_t most_on(const struct traffic *t, const struct job *job, uint32_t type)
{
	const struct lanes *lanes = t->lanes;
	uint32_t most = lanes->most ? lanes->most(lanes->self, lanes->round, job, type)
				    : job_most_on(job, type);

	return most < t->at[type].room ? most : t->at[type].room;
}

/* From its least up to where twice as many bring nothing. */
static struct span span_on(const struct traffic *t, const struct job *job, uint32_t type)
{
	struct span span = { 0 };
	uint32_t most, next;
	double speed, faster;

	if (!job_may_use(job, type) || job_least_on(job, type) > t->at[type].room)
		return span;
	span.least = span.most = job_least_on(job, type);
	most = job_is_fraction(job) ? span.least : most_on(t, job, type);
	speed = span.least < most ? speed_on(t, job, type, span.least) : 0;
	for (; span.most < most; span.most = next, speed = faster) {
		next = 2 * span.most < most ? 2 * span.most : most;
		faster = speed_on(t, job, type, next);
		if (!(faster > speed))
			break;
	}
	return span;
}

static struct span *span_of(const struct traffic *t, uint32_t i, uint32_t type)
{
	return &t->spans[(size_t)i * t->lanes->round->cluster->ntypes + type];
}

/* What it takes at least; fractions take but their part. */
static double weight(const struct job *job, struct span span)
{
	return job_is_fraction(job) ? span.least * job->share : span.least;
}

/* ---- shares */

/* The job goes into the lane, or out of it. */
static void pass(struct traffic *t, uint32_t i, uint32_t type, int32_t sign)
{
	struct span span = *span_of(t, i, type);
	struct lane *lane = &t->at[type];

	lane->least += sign * weight(t->jobs[i], span);
	if (span.most > span.least) {
		lane->more[span.least + 1] += sign;
		lane->end[span.most] += sign;
	}
}

/* What everybody in the lane could have, within its span. */
static uint32_t even_share(const struct lane *lane)
{
	double left = lane->room - lane->least, takers = 0;
	uint32_t level = 0;

	while (left >= 0 && level < lane->room) {
		takers += lane->more[level + 1];
		if (takers > left)
			break;
		left -= takers;
		takers -= lane->end[++level];
	}
	return level;
}

/* How fast a job would be there beside the others; 0: not at all.  It must not be in the lane. */
static double prospect(struct traffic *t, uint32_t i, uint32_t type, bool *room_for_all)
{
	struct span span = *span_of(t, i, type);
	uint32_t node = t->lanes->round->cluster->types[type].max_per_node, share;
	double speed, least;

	if (span.least == 0)
		return 0;
	pass(t, i, type, 1);
	share = even_share(&t->at[type]);
	least = t->at[type].least;
	pass(t, i, type, -1);
	share = share < span.least ? span.least : share > span.most ? span.most : share;
	speed = speed_on(t, t->jobs[i], type, share);
	/* A part of a second node may be worse than none of it. */
	if (share > node && node >= span.least)
		speed = fmax(speed, speed_on(t, t->jobs[i], type, node));
	*room_for_all = least <= t->at[type].room;
	return *room_for_all ? speed : speed * t->at[type].room / least;
}

/* ---- who goes where */

static bool may_change(const struct traffic *t, uint32_t i, uint32_t type)
{
	const struct job *job = t->jobs[i];

	if (!job->grant)
		return true;
	return job->ready_s <= t->lanes->round->now_s && !job_is_fraction(job) &&
		job_least_on(job, type) < job_most_on(job, type);
}

/* Seconds that it has before it at such a speed. */
static double rest_s(const struct traffic *t, const struct job *job, double speed)
{
	double now_s = t->lanes->round->now_s, done = job_done(job, now_s);

	if (t->lanes->blind || isnan(job->work_est))
		return now_s - job->arrival_s;
	return fmax(job->work_est - done, done / 20) / speed;
}

/* Whether it is over sooner at `there` than at `here` though it has to change. */
static bool pays(const struct traffic *t, const struct job *job, double here, double there)
{
	double stay_s, cost_s;

	if (!(there > WORTH * here))
		return false;
	if (!job->grant || !(here > 0))
		return true;
	stay_s = rest_s(t, job, here);
	cost_s = elastic_restart_s(t->lanes->round->belief, job);
	return (stay_s * here / there + cost_s) * WORTH < stay_s;
}

/* The best lane for a job that is in none; `has` is the one it was in, TYPES_MAX: none. */
static uint32_t choose(struct traffic *t, uint32_t i, uint32_t has)
{
	uint32_t best = has;
	double best_speed = 0, here = 0, speed;
	bool fits;

	if (has != TYPES_MAX)
		here = best_speed = prospect(t, i, has, &fits);
	for (uint32_t type = 0; type < t->lanes->round->cluster->ntypes; type++) {
		if (type == has)
			continue;
		speed = prospect(t, i, type, &fits);
		if (!(speed > best_speed))
			continue;
		if (has == TYPES_MAX || (fits && pays(t, t->jobs[i], here, speed))) {
			best = type;
			best_speed = speed;
		}
	}
	return best;
}

static void survey(struct traffic *t, uint32_t n, uint32_t *types)
{
	const struct round *round = t->lanes->round;
	uint32_t ntypes = round->cluster->ntypes;

	for (uint32_t type = 0; type < ntypes; type++) {
		struct lane *lane = &t->at[type];

		lane->room = t->lanes->room[type];
		lane->more = arena_array(round->scratch, int32_t, lane->room + 2);
		lane->end = arena_array(round->scratch, int32_t, lane->room + 2);
	}
	t->spans = arena_array(round->scratch, struct span, (size_t)n * ntypes);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t type = 0; type < ntypes; type++)
			*span_of(t, i, type) = span_on(t, t->jobs[i], type);
		if (types[i] != TYPES_MAX && span_of(t, i, types[i])->least == 0)
			types[i] = TYPES_MAX; /* its nodes are down */
		if (types[i] != TYPES_MAX)
			pass(t, i, types[i], 1);
	}
}

void lanes_choose(const struct lanes *lanes, const struct job *const *jobs, uint32_t n, uint32_t *types)
{
	struct traffic t = { .lanes = lanes, .jobs = jobs };

	survey(&t, n, types);
	for (uint32_t i = 0; i < n; i++) {
		if (types[i] != TYPES_MAX)
			continue;
		types[i] = choose(&t, i, TYPES_MAX);
		if (types[i] != TYPES_MAX)
			pass(&t, i, types[i], 1);
	}
	/* Those who came first did not know who would follow. */
	for (uint32_t i = 0; i < n; i++) {
		if (types[i] == TYPES_MAX || !may_change(&t, i, types[i]))
			continue;
		pass(&t, i, types[i], -1);
		types[i] = choose(&t, i, types[i]);
		pass(&t, i, types[i], 1);
	}
}
