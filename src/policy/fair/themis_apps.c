/*
 * The apps of Themis.
 */
#include "policy/fair/themis_apps.h"

#include <math.h>

#include "model/elastic.h"
#include "policy/fair/tenant_queues.h"

/* Bids of one app at most: whoever has more jobs than this leaves out every other count. */
#define BIDS_MAX 12

/* Less than this left tells that the belief was too short. */
#define LEFT_MIN_S 1

bool app_has_lease(const struct round *round, const struct job *job)
{
	const struct app_memory *m = (const struct app_memory *)round->job_state + job->id;

	return job->grant && m->lease_end_s > round->now_s * (1 + 1e-12);
}

/* ---- power: devices' worth */

static bool is_elastic(const struct apps *a, const struct job *job)
{
	return a->rules->elastic && job->min_gpus < job->max_gpus && !job->gpus_by_type;
}

/* Unless links matter and nobody knows how much to this model, the belief says it all. */
static bool locality_is_known(const struct round *round, const struct job *job, uint32_t type,
	struct shape shape)
{
	if (round->cluster->net_Bps == 0)
		return true;
	return round->belief->profile && job->model != NAME_NONE &&
		isfinite(profile_rate(round->belief->profile, job->model, type, shape));
}

/* What so many devices of a type that lie so are worth to the job, in devices as it asked for them. */
static double power_in(const struct apps *a, const struct job *job, uint32_t type, struct shape shape)
{
	const struct rates *belief = a->round->belief;
	double speed, factor = 1;

	if (is_elastic(a, job))
		speed = elastic_speed(belief, job,
			(struct configuration){ type, shape.gpus, shape.nodes }, BATCHING_FIXED, NULL);
	else
		speed = rate_in(belief, job, type, shape);
	if (!locality_is_known(a->round, job, type, shape)) {
		struct configuration c = configuration_packed(a->round->cluster, type, shape.gpus);

		factor = a->rules->spread[shape.nodes == 1  ? 0
					 : shape.racks == 1 ? 1
							    : 2] /
			a->rules->spread[c.nodes == 1 ? 0 : 1];
	}
	return speed > 0 ? job->gpus * speed / job->nominal_rate * fmin(factor, 1) : 0;
}

static double power_of_grant(const struct apps *a, const struct job *job)
{
	struct shape shape = grant_shape(a->round->cluster, job->grant);

	return power_in(a, job, job->grant->type, shape);
}

/* Its fastest type with all the devices it could ever have there. */
static double power_alone(const struct apps *a, const struct job *job)
{
	double most = 0;

	for (uint32_t type = 0; type < a->round->cluster->ntypes; type++) {
		uint32_t gpus = is_elastic(a, job) ? job_most_on(job, type) : job_gpus_on(job, type);
		struct configuration c;

		if (!job_may_use(job, type) || a->round->cluster->types[type].devices < gpus)
			continue;
		c = configuration_packed(a->round->cluster, type, gpus);
		most = fmax(most,
			power_in(a, job, type,
				(struct shape){ .gpus = gpus, .nodes = c.nodes, .racks = 1 }));
	}
	return most > 0 ? most : job->gpus;
}

/* ---- gathering */

static double run_gpu_s(const struct job *job)
{
	double run_s = job_run_s(job);

	return job->gpus * (run_s > LEFT_MIN_S ? run_s : LEFT_MIN_S);
}

static double left_gpu_s(const struct job *job, double now_s)
{
	double left_s = job_remaining_s(job, now_s);

	return job->gpus * (left_s > LEFT_MIN_S ? left_s : LEFT_MIN_S);
}

struct entry {
	uint32_t app, job;
	double left;
	bool runs;
};

static int by_app(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->app != y->app)
		return x->app < y->app ? -1 : 1;
	if (x->left != y->left)
		return x->left > y->left ? -1 : 1;
	if (x->runs != y->runs)
		return x->runs ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

static void add_job(struct apps *a, const struct entry *e)
{
	const struct round *round = a->round;
	const struct job *job = &round->jobs[e->job];
	struct app *app = a->n ? &a->at[a->n - 1] : NULL;

	if (!app || app->number != e->app) {
		app = &a->at[a->n++];
		*app = (struct app){ .number = e->app,
			.first = a->n > 1 ? app[-1].first + app[-1].njobs : 0,
			.leader = e->job,
			.leased = JOB_NONE,
			.since_s = job->arrival_s };
	}
	if (job->id < app->leader) {
		app->leader = job->id;
		app->since_s = job->arrival_s;
	}
	app->left_gpu_s += e->left;
	app->all_gpu_s += run_gpu_s(job);
	app->most += power_alone(a, job);
	if (!app_has_lease(round, job)) {
		a->jobs[app->first + app->njobs++] = job->id;
		return;
	}
	a->leases[a->nleases] = (struct app_lease){ job->id, a->n - 1, power_of_grant(a, job) };
	app->held += a->leases[a->nleases++].power;
	app->leased = job->id;
}

static void meet(const struct round *round, const struct job *job, const struct crowd *crowd)
{
	struct app_memory *m = (struct app_memory *)round->job_state + job->id;

	if (m->seen)
		return;
	*m = (struct app_memory){ .seen = true, .seen_s = round->now_s, .crowd = crowd->sum };
}

void apps_gather(struct apps *apps, const struct app_rules *rules, const struct round *round,
	const struct plan *plan, const struct crowd *crowd)
{
	struct entry *entries = arena_array(round->scratch, struct entry, round->nactive);
	uint32_t n = 0;

	*apps = (struct apps){
		.rules = rules,
		.round = round,
		.plan = plan,
		.at = arena_array(round->scratch, struct app, round->nactive),
		.jobs = arena_array(round->scratch, uint32_t, round->nactive),
		.leases = arena_array(round->scratch, struct app_lease, round->nactive),
		.bids = arena_array(round->scratch, struct auction_bid,
			(size_t)round->nactive * BIDS_MAX * round->cluster->ntypes),
	};
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (!job_active(job))
			continue;
		meet(round, job, crowd);
		entries[n++] = (struct entry){ rules->app == APP_JOB ? job->id
								     : (uint32_t)tenant_number(job),
			job->id, left_gpu_s(job, round->now_s), job->grant != NULL };
	}
	qsort(entries, n, sizeof(*entries), by_app);
	for (uint32_t i = 0; i < n; i++)
		add_job(apps, &entries[i]);
	for (uint32_t i = 0; i < apps->n; i++) {
		struct app *app = &apps->at[i];
		const struct app_memory *m = (const struct app_memory *)round->job_state + app->leader;
		double all = round->cluster->devices;

		app->ideal_s = app->all_gpu_s / fmin(app->most, all) *
			fmax(1, crowd_mean(crowd, m->crowd, m->seen_s, round->now_s));
	}
}

double apps_level(const struct apps *apps)
{
	double demand = 0, up = 0;

	if (apps->rules->ideal == IDEAL_APPS)
		return apps->n;
	for (uint32_t i = 0; i < apps->round->nactive; i++) {
		const struct job *job = &apps->round->jobs[apps->round->active[i]];

		demand += job_active(job) ? job_width(job) : 0;
	}
	for (uint32_t type = 0; type < apps->round->cluster->ntypes; type++)
		up += apps->plan->space.types[type].up;
	return up > 0 ? fmax(1, demand / up) : 1;
}

/* ---- who is how badly off */

static double rho_with(const struct apps *a, const struct app *app, double power)
{
	double age_s = a->round->now_s - app->since_s;

	return finish_rho(finish_shared_s(age_s, app->left_gpu_s, power), app->ideal_s);
}

double app_rho_after(const struct apps *apps, const struct app *app, double wait_s)
{
	return finish_rho(apps->round->now_s - app->since_s + wait_s + app->left_gpu_s / app->most,
		app->ideal_s);
}

/* Whoever has nothing gets something after the next lease, or never. */
static double rho_now(const struct apps *a, const struct app *app)
{
	if (app->held > 0)
		return rho_with(a, app, app->held);
	if (a->rules->starved == STARVED_NEVER)
		return FINISH_RHO_MAX;
	return app_rho_after(a, app, a->rules->lease_s);
}

static int by_rho(const void *a, const void *b)
{
	const struct app *x = a, *y = b;

	if (x->rho != y->rho)
		return x->rho > y->rho ? -1 : 1;
	if (x->best != y->best)
		return x->best > y->best ? -1 : 1;
	if (x->since_s != y->since_s)
		return x->since_s < y->since_s ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void apps_rank(struct apps *apps)
{
	for (uint32_t i = 0; i < apps->n; i++) {
		apps->at[i].rho = rho_now(apps, &apps->at[i]);
		apps->at[i].best = rho_with(apps, &apps->at[i], apps->at[i].most);
	}
	qsort(apps->at, apps->n, sizeof(*apps->at), by_rho);
}

/* ---- bids */

static int falling(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x > y ? -1 : x < y;
}

static void look_at_pool(struct apps *a, uint32_t type)
{
	const struct space_type *t = &a->plan->space.types[type];
	uint32_t *racks = arena_array(a->round->scratch, uint32_t, a->round->cluster->nracks + 1);

	if (a->node_free[type])
		return;
	a->node_free[type] = arena_array(a->round->scratch, uint32_t, t->nnodes + 1);
	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct space_node *node = &a->plan->space.nodes[t->nodes[i]];
		uint32_t rack = a->round->cluster->nodes[t->nodes[i]].rack,
			 n = node->up ? node->nfree : 0;

		a->node_free[type][i] = n;
		if (rack >= a->round->cluster->nracks)
			rack = a->round->cluster->nracks;
		racks[rack] += n;
		if (racks[rack] > a->rack_most[type])
			a->rack_most[type] = racks[rack];
	}
	qsort(a->node_free[type], t->nnodes, sizeof(uint32_t), falling);
}

/* How so many free devices of a type lie if they are taken as close together as can be. */
static struct shape shape_in_pool(struct apps *a, uint32_t type, uint32_t gpus)
{
	struct shape shape = { .gpus = gpus, .racks = 1 };
	uint32_t found = 0;

	look_at_pool(a, type);
	while (found < gpus && shape.nodes < a->plan->space.types[type].nnodes)
		found += a->node_free[type][shape.nodes++];
	if (a->rack_most[type] < gpus)
		shape.racks = 2;
	return shape;
}

static void add_bid(struct apps *a, struct app *app, uint32_t type, uint32_t gpus, double power)
{
	double value = 1 / rho_with(a, app, app->held + power);

	if (gpus == 0 || gpus > plan_free(a->plan, type) || !(power > 0))
		return;
	if (a->rules->noise > 0)
		value *= 1 + a->rules->noise * (2 * rng_uniform(a->round->rng) - 1);
	a->bids[a->nbids++] = (struct auction_bid){ type, gpus, value };
	app->nbids++;
}

/* One job alone: each size it may have, doubling from the least. */
static void bid_sizes(struct apps *a, struct app *app, const struct job *job, uint32_t type)
{
	uint32_t least = job_least_on(job, type), most = job_most_on(job, type);
	uint32_t sizes[BIDS_MAX], n = 0;

	for (uint32_t gpus = least; gpus < most && n < BIDS_MAX - 1; gpus *= 2)
		sizes[n++] = job_rounded_on(job, type, gpus);
	sizes[n++] = most;
	while (n-- > 0) {
		if (n == 0 || sizes[n] != sizes[n - 1])
			add_bid(a, app, type, sizes[n],
				power_in(a, job, type, shape_in_pool(a, type, sizes[n])));
	}
}

/* Several jobs: the one with most work, that and the next, and so on, as far as devices go. */
static void bid_counts(struct apps *a, struct app *app, uint32_t type)
{
	uint32_t every = (app->njobs + BIDS_MAX - 1) / BIDS_MAX, gpus = 0, first = a->nbids;
	double power = 0;

	for (uint32_t i = 0; i < app->njobs; i++) {
		const struct job *job = &a->round->jobs[a->jobs[app->first + i]];
		uint32_t more = job_gpus_on(job, type);

		if (!job_may_use(job, type) || gpus + more > plan_free(a->plan, type))
			continue;
		gpus += more;
		power += power_in(a, job, type, shape_in_pool(a, type, more));
		if ((i + 1) % every == 0 || i + 1 == app->njobs)
			add_bid(a, app, type, gpus, power);
	}
	/* the largest first, so that of equals the larger is taken */
	for (uint32_t i = first, j = a->nbids; i + 1 < j; i++) {
		struct auction_bid swap = a->bids[i];

		a->bids[i] = a->bids[--j];
		a->bids[j] = swap;
	}
}

void app_bid(struct apps *apps, struct app *app)
{
	app->first_bid = apps->nbids;
	app->nbids = 0;
	for (uint32_t type = 0; app->njobs > 0 && type < apps->round->cluster->ntypes; type++) {
		const struct job *job = &apps->round->jobs[apps->jobs[app->first]];

		if (app->njobs > 1)
			bid_counts(apps, app, type);
		else if (job_may_use(job, type) && is_elastic(apps, job))
			bid_sizes(apps, app, job, type);
		else if (job_may_use(job, type))
			add_bid(apps, app, type, job_gpus_on(job, type),
				power_in(apps, job, type,
					shape_in_pool(apps, type, job_gpus_on(job, type))));
	}
}

double app_empty_value(const struct apps *apps, const struct app *app)
{
	return 1 / rho_now(apps, app);
}
