/*
 * What tenants are entitled to.
 */
#include "policy/fair/entitled.h"

#include <math.h>

#include "policy/fair/tenant_queues.h"

/* After this time use counts half. */
#define HALF_LIFE_S 3600

/* A tenant that sold all it had of a type still moves its jobs off it in time. */
#define TICKETS_MIN 0.01

void entitlements_fini(struct entitlements *e)
{
	vec_fini(&e->at);
}

struct entitled *entitled_of(struct entitlements *e, const struct job *job)
{
	size_t number = tenant_number(job);

	vec_grow_zero(&e->at, number + 1);
	return &e->at.at[number];
}

/* ---- time */

void entitlements_pass(struct entitlements *e, double now_s)
{
	double seconds = now_s - e->at_s, fade = tenant_fade(seconds, HALF_LIFE_S);

	e->at_s = now_s;
	for (size_t i = 0; i < e->at.n; i++) {
		struct entitled *t = &e->at.at[i];

		t->used_s *= fade;
		t->due_s *= fade;
		for (uint32_t type = 0; t->njobs > 0 && type < TYPES_MAX; type++)
			t->due_s += t->part[type] * seconds;
	}
}

void entitled_charge(struct entitlements *e, const struct job *job, double gpu_s)
{
	entitled_of(e, job)->used_s += gpu_s;
}

double entitled_standing(const struct entitled *t)
{
	return t->due_s > 0 ? t->used_s / t->due_s : 1;
}

/* ---- rates */

static void rates_of(const struct round *round, const struct job *job, double rate[TYPES_MAX])
{
	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		rate[type] = job_may_use(job, type)
			? rate_if(round->belief, job, type, job_gpus_on(job, type))
			: 0;
}

static int faster(const void *a, const void *b, void *ctx)
{
	const double *speed = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (speed[x] != speed[y])
		return speed[x] > speed[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Types that are up, by how fast jobs are there on average, each against its own fastest. */
static void order_types(struct entitlements *e, const struct round *round, const struct plan *plan)
{
	double speed[TYPES_MAX] = { 0 }, rate[TYPES_MAX];

	e->ntypes = 0;
	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		if (plan->space.types[type].up > 0)
			e->order[e->ntypes++] = type;
	}
	if (e->ntypes < 2)
		return;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		double most = 0;

		if (!job_active(job))
			continue;
		rates_of(round, job, rate);
		for (uint32_t k = 0; k < e->ntypes; k++)
			most = fmax(most, rate[e->order[k]]);
		for (uint32_t k = 0; most > 0 && k < e->ntypes; k++)
			speed[e->order[k]] += rate[e->order[k]] / most;
	}
	qsort_r(e->order, e->ntypes, sizeof(*e->order), faster, speed);
}

/* The mean over its jobs of how much faster a type is than the slowest; jobs that use one of the two only do not count. */
static void weigh_types(struct entitlements *e, const struct round *round)
{
	uint32_t slowest = e->order[e->ntypes - 1];
	uint32_t *counted = arena_array(round->scratch, uint32_t, e->at.n * TYPES_MAX);
	double rate[TYPES_MAX];

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		struct entitled *t;

		if (!job_active(job))
			continue;
		t = entitled_of(e, job);
		rates_of(round, job, rate);
		for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
			uint32_t *n = &counted[(size_t)(t - e->at.at) * TYPES_MAX + type];

			if (!(rate[type] > 0) || !(rate[slowest] > 0))
				continue;
			t->worth[type] += (rate[type] / rate[slowest] - t->worth[type]) / ++*n;
		}
	}
}

/* ---- parts */

static void count_jobs(struct entitlements *e, const struct round *round)
{
	for (size_t i = 0; i < e->at.n; i++)
		e->at.at[i] = (struct entitled){ .used_s = e->at.at[i].used_s,
			.due_s = e->at.at[i].due_s };
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		struct entitled *t;

		if (!job_active(job))
			continue;
		t = entitled_of(e, job);
		t->tickets = fmax(t->tickets, tenant_weight(round, job));
		t->demand += job_width(job);
		t->njobs++;
	}
}

static void divide(struct entitlements *e, const struct round *round, const struct plan *plan)
{
	double *tickets = arena_array(round->scratch, double, e->at.n);
	double *demand = arena_array(round->scratch, double, e->at.n);
	double *share = arena_array(round->scratch, double, e->at.n);
	double total = 0;

	for (uint32_t k = 0; k < e->ntypes; k++)
		total += plan->space.types[e->order[k]].up;
	for (size_t i = 0; i < e->at.n; i++) {
		tickets[i] = e->at.at[i].tickets;
		demand[i] = e->at.at[i].demand;
	}
	stride_shares(tickets, demand, (uint32_t)e->at.n, total, share);
	for (size_t i = 0; i < e->at.n; i++) {
		for (uint32_t k = 0; total > 0 && k < e->ntypes; k++) {
			uint32_t type = e->order[k];

			e->at.at[i].plain[type] = share[i] / total * plan->space.types[type].up;
			e->at.at[i].part[type] = e->at.at[i].plain[type];
		}
	}
}

/* ---- trades */

static double value_of(const struct entitled *t, const double *part)
{
	double sum = 0;

	for (uint32_t type = 0; type < TYPES_MAX; type++)
		sum += part[type] * t->worth[type];
	return sum;
}

double entitled_gain(const struct entitled *t, uint32_t ntypes)
{
	double before = value_of(t, t->plain);

	return ntypes > 1 && before > 0 ? value_of(t, t->part) / before : 1;
}

/* Devices it could use beyond those it has. */
static double room_of(const struct entitled *t)
{
	double has = 0;

	for (uint32_t type = 0; type < TYPES_MAX; type++)
		has += t->part[type];
	return fmax(0, t->demand - has);
}

static void trade_pair(struct entitlements *e, struct arena *scratch, uint32_t fast, uint32_t slow)
{
	struct trader *traders = arena_array(scratch, struct trader, e->at.n);
	struct trade *trades = arena_array(scratch, struct trade, 2 * e->at.n);
	uint32_t n;

	for (size_t i = 0; i < e->at.n; i++) {
		const struct entitled *t = &e->at.at[i];

		traders[i] = (struct trader){ .fast = t->part[fast],
			.slow = t->part[slow],
			.room = room_of(t) };
		if (t->worth[fast] > 0 && t->worth[slow] > 0)
			traders[i].speedup = t->worth[fast] / t->worth[slow];
	}
	n = trade_all(traders, (uint32_t)e->at.n, trades);
	for (size_t i = 0; n > 0 && i < e->at.n; i++) {
		e->at.at[i].part[fast] = traders[i].fast;
		e->at.at[i].part[slow] = traders[i].slow;
	}
	e->trades += n;
	for (uint32_t i = 0; i < n; i++) {
		e->traded_gpus += trades[i].fast;
		e->least_gain = fmin(e->least_gain, fmin(trades[i].buyer_gain, trades[i].seller_gain));
	}
}

/* Every faster type against every slower one, the largest difference first. */
static void trade(struct entitlements *e, struct arena *scratch)
{
	uint32_t before = e->trades;
	double before_gpus = e->traded_gpus;

	e->trades = 0;
	e->traded_gpus = 0;
	for (uint32_t fast = 0; fast < e->ntypes; fast++) {
		for (uint32_t slow = e->ntypes; --slow > fast;)
			trade_pair(e, scratch, e->order[fast], e->order[slow]);
	}
	if (e->trades != before || e->traded_gpus != before_gpus) /* else they are the same as before */
		e->all_trades += e->trades;
	for (size_t i = 0; i < e->at.n; i++)
		e->least_gain = fmin(e->least_gain, entitled_gain(&e->at.at[i], e->ntypes));
}

void entitlements_compute(struct entitlements *e, const struct round *round,
	const struct plan *plan, bool trading)
{
	if (e->least_gain == 0)
		e->least_gain = 1;
	count_jobs(e, round);
	order_types(e, round, plan);
	divide(e, round, plan);
	if (e->ntypes < 2)
		return;
	weigh_types(e, round);
	if (trading)
		trade(e, round->scratch);
}

/* Tickets count as they are, also for who can use less than its share: strides make up for what it leaves. */
double entitled_tickets(const struct entitlements *e, const struct entitled *t, uint32_t type)
{
	double tickets = t->part[type], share = 0;

	for (uint32_t k = 0; k < e->ntypes; k++) {
		uint32_t other = e->order[k];
		uint32_t here = 0;

		share += t->plain[other];
		if (other == type || t->jobs_in[other] > 0)
			continue;
		for (uint32_t i = 0; i < e->ntypes; i++)
			here += t->jobs_in[e->order[i]] > 0;
		if (t->worth[type] > 0 && here > 0)
			tickets += t->part[other] * t->worth[other] / t->worth[type] / here;
		else if (here > 0)
			tickets += t->part[other] / here;
	}
	tickets = share > 0 ? fmax(tickets / share, TICKETS_MIN) * t->tickets : t->tickets;
	return tickets / (t->jobs_in[type] ? t->jobs_in[type] : 1);
}
