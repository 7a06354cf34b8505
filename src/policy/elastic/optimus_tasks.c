#include "policy/elastic/optimus_tasks.h"

#include <math.h>

#include "policy/elastic/gain.h"

/* Gains that differ by less than this are rounding, and a parameter server is added. */
#define ALIKE 1e-9

struct allocation {
	const struct task_job *jobs;
	const double *capacity;
	struct task_rules rules;
	double left[TASK_RESOURCES];
	struct tasks *out;
};

static bool fits(const struct allocation *a, const double *demand)
{
	for (int r = 0; r < TASK_RESOURCES; r++) {
		if (demand[r] > a->left[r] * (1 + 1e-12))
			return false;
	}
	return true;
}

static void take(struct allocation *a, const double *demand)
{
	for (int r = 0; r < TASK_RESOURCES; r++)
		a->left[r] -= demand[r];
}

/* The resource that the demand takes most of, as its share or as the demand itself. */
static double dominant(const struct allocation *a, const double *demand)
{
	double share = 0, raw = 0;

	for (int r = 0; r < TASK_RESOURCES; r++) {
		if (a->capacity[r] > 0 && demand[r] / a->capacity[r] > share) {
			share = demand[r] / a->capacity[r];
			raw = demand[r];
		}
	}
	return a->rules.raw ? raw : share;
}

static double seconds(const struct task_job *job, double servers, double workers)
{
	return job->remaining / speed_at(&job->speed, servers, workers);
}

struct gains {
	double server, worker;
};

static struct gains gains_of(const struct allocation *a, uint32_t row)
{
	const struct task_job *job = &a->jobs[row];
	double p = a->out[row].servers, w = a->out[row].workers, now = seconds(job, p, w);

	return (struct gains){
		.server = (now - seconds(job, p + 1, w)) / dominant(a, job->server),
		.worker = (now - seconds(job, p, w + 1)) / dominant(a, job->worker),
	};
}

static bool prefers_server(struct gains g)
{
	return g.server >= g.worker - ALIKE * fabs(g.worker);
}

static double next_gain(void *self, uint32_t row)
{
	const struct allocation *a = self;
	struct gains g;

	if (a->out[row].workers == 0)
		return 0;
	g = gains_of(a, row);
	return prefers_server(g) ? g.server : g.worker;
}

static bool next_take(void *self, uint32_t row)
{
	struct allocation *a = self;
	bool server = prefers_server(gains_of(a, row));
	const double *demand = server ? a->jobs[row].server : a->jobs[row].worker;

	if (!fits(a, demand))
		return false;
	take(a, demand);
	if (server)
		a->out[row].servers++;
	else
		a->out[row].workers++;
	return true;
}

/* One of each, or nothing. */
static void begin(struct allocation *a, uint32_t row)
{
	double both[TASK_RESOURCES];

	for (int r = 0; r < TASK_RESOURCES; r++)
		both[r] = a->jobs[row].server[r] + a->jobs[row].worker[r];
	a->out[row] = (struct tasks){ 0, 0 };
	if (!fits(a, both))
		return;
	take(a, both);
	a->out[row] = (struct tasks){ 1, 1 };
}

void tasks_allocate(const struct task_job *jobs, uint32_t n, const double capacity[TASK_RESOURCES],
	struct task_rules rules, struct arena *arena, struct tasks *out)
{
	struct gain_steps steps = { .gain = next_gain,
		.take = next_take,
		.stop_at_misfit = rules.stop_at_misfit };
	struct allocation a = { .jobs = jobs, .capacity = capacity, .rules = rules, .out = out };

	for (int r = 0; r < TASK_RESOURCES; r++)
		a.left[r] = capacity[r];
	for (uint32_t row = 0; row < n; row++)
		begin(&a, row);
	gain_share_out(arena, n, &steps, &a);
}

static uint32_t part(uint32_t x, uint32_t i, uint32_t k)
{
	return x > i ? (x - i + k - 1) / k : 0;
}

uint32_t tasks_spread(struct tasks tasks, const uint32_t *room, uint32_t nservers)
{
	for (uint32_t k = 1; k <= nservers; k++) {
		uint32_t i = 0;

		while (i < k && part(tasks.servers, i, k) + part(tasks.workers, i, k) <= room[i])
			i++;
		if (i == k)
			return k;
	}
	return 0;
}
