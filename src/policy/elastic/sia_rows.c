/*
 * Sia's matrix: the configurations of each job, its goodput in them against
 * the worst of them, and what that costs in the program.
 */
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "base/real.h"
#include "base/vec.h"
#include "model/agents.h"
#include "model/training.h"
#include "policy/elastic/sia.h"
#include "solver/choice.h"

/* The published simulator: entries below this are this, and costs no more than that. */
static const double PUBLISHED_ZERO = 1e-4, PUBLISHED_COST = 3000;
/* A job that was restarted more often than it is old would have changes worth nothing at all. */
static const double LEAST_VALUE = 1e-3;
static const double MOST_COST = 1e6;

/* ---- sizes */

static uint32_t whole_nodes(const struct plan *plan, uint32_t type, uint32_t per_node)
{
	const struct space_type *at = &plan->space.types[type];
	uint32_t n = 0;

	for (uint32_t i = 0; i < at->nnodes; i++) {
		const struct space_node *node = &plan->space.nodes[at->nodes[i]];
		uint32_t devices = plan->space.cluster->nodes[at->nodes[i]].devices;

		n += node->up && space_gone(node) == 0 && devices == per_node;
	}
	return n;
}

enum { EACH_NODES = 64 };

/* The number of nodes after n that is worth a size of its own. */
static uint32_t next_number(uint32_t n, uint32_t nodes, bool all)
{
	uint32_t next = n + (all || n < EACH_NODES ? 1 : n / EACH_NODES);

	return n < nodes && next > nodes ? nodes : next;
}

static void add_host(struct sia_sizes *sizes, const struct node *node, uint32_t devices)
{
	struct sia_host host = { devices, 1, node->cpus > 0 ? node->cpus : INFINITY,
		node->mem_bytes > 0 ? node->mem_bytes : INT64_MAX };

	/* Mostly all are alike. */
	for (uint32_t i = sizes->nhosts; i-- > 0;) {
		struct sia_host *known = &sizes->hosts[i];

		if (known->devices == host.devices && known->cpus == host.cpus &&
			known->mem_bytes == host.mem_bytes) {
			known->n++;
			return;
		}
	}
	sizes->hosts[sizes->nhosts++] = host;
}

static void list_hosts(const struct plan *plan, uint32_t type, struct arena *scratch,
	struct sia_sizes *out)
{
	const struct space_type *at = &plan->space.types[type];

	out->hosts = arena_array(scratch, struct sia_host, at->nnodes);
	for (uint32_t i = 0; i < at->nnodes; i++) {
		const struct space_node *node = &plan->space.nodes[at->nodes[i]];
		const struct node *there = &plan->space.cluster->nodes[at->nodes[i]];

		if (node->up)
			add_host(out, there,
				there->devices - (uint32_t)__builtin_popcountll(space_gone(node)));
	}
}

void sia_list_sizes(const struct plan *plan, uint32_t type, bool all, struct arena *scratch,
	struct sia_sizes *out)
{
	uint32_t per_node = plan->space.types[type].max;
	uint32_t nodes = whole_nodes(plan, type, per_node);

	*out = (struct sia_sizes){ .per_node = per_node };
	out->gpus = arena_array(scratch, uint32_t, 8 + nodes);
	for (uint32_t gpus = 1; gpus < per_node; gpus *= 2)
		out->gpus[out->n++] = gpus;
	for (uint32_t n = 1; n <= nodes; n = next_number(n, nodes, all))
		out->gpus[out->n++] = n * per_node;
	list_hosts(plan, type, scratch, out);
}

/* ---- one job */

/* A row in the making. */
struct draft {
	struct sia_rows *rows;
	const struct job *job;
	struct sia_row *row;
	bool rigid, measured;
	bool anyhow; /* ways count that no nodes have the CPUs and memory for, as whole ones and a part */
	struct sia_memo *memo; /* NULL: nothing is remembered of it */
	enum batching batching;
};

static const struct training_model *model_of(const struct draft *d)
{
	const struct rates *rates = d->rows->round->belief;

	return rates->training && d->job->model != NAME_NONE
		? training_of(rates->training, d->job->model)
		: NULL;
}

/* Devices that it runs in multiples of. */
static uint32_t unit_of(const struct draft *d, uint32_t type)
{
	const struct training_model *model = model_of(d);

	return model && model->unit[type] > 1 ? model->unit[type] : 1;
}

/* Nodes of the type that speeds are known for. */
static uint32_t widest(const struct draft *d, uint32_t type)
{
	const struct training *training = d->rows->round->belief->training;
	uint32_t nodes = training && model_of(d) ? training_widest(training, type) : 0;

	/* A pipeline goes as fast however it lies. */
	if (unit_of(d, type) > 1 && !d->rows->terms->published)
		return UINT32_MAX;
	return nodes > 0 ? nodes : UINT32_MAX;
}

static double speed_of(const struct draft *d, struct configuration c)
{
	struct sia_memo *memo = d->memo;
	double speed;

	/* Mostly it is asked the same in the same order. */
	for (uint32_t i = 0; memo && i < memo->n; i++) {
		const struct sia_known *known = &memo->at[(memo->next + i) % memo->n];

		if (known->c.type != c.type || known->c.gpus != c.gpus)
			continue;
		memo->next = (uint32_t)(known - memo->at) + 1;
		return known->speed;
	}
	speed = elastic_speed(d->rows->round->belief, d->job, c, d->batching, NULL);
	if (memo) {
		if (memo->n == memo->cap) {
			memo->cap = memo->cap ? 2 * memo->cap : 16;
			memo->at = mem_resize(memo->at, memo->cap * sizeof(*memo->at));
		}
		memo->at[memo->n++] = (struct sia_known){ c, speed };
	}
	return speed;
}

static void add_way(struct draft *d, uint32_t type, uint32_t gpus, double value)
{
	struct sia_row *row = d->row;

	if (!(value > 0) || !isfinite(value))
		return;
	row->ways[row->n++] = (struct sia_way){
		.c = configuration_packed(d->rows->round->cluster, type, gpus),
		.value = value,
	};
}

static bool host_feeds(const struct sia_host *host, const struct job *job, uint32_t gpus, uint32_t n)
{
	double part = (double)n / gpus;

	return host->devices >= n && job->cpus * part <= host->cpus + 1e-9 &&
		(double)job->mem_bytes * part <= (double)host->mem_bytes;
}

/* Whether it could have so many as whole nodes and a part of one if all were free. */
static bool can_lie(const struct draft *d, uint32_t type, uint32_t gpus)
{
	const struct sia_sizes *sizes = &d->rows->sizes[type];
	uint32_t whole = gpus / sizes->per_node, rest = gpus % sizes->per_node;
	uint32_t wholes = 0, rests = 0;

	for (uint32_t i = 0; i < sizes->nhosts; i++) {
		const struct sia_host *host = &sizes->hosts[i];

		if (whole > 0 && host_feeds(host, d->job, gpus, sizes->per_node))
			wholes += host->n;
		if (rest > 0 && host_feeds(host, d->job, gpus, rest))
			rests += host->n;
	}
	return wholes >= whole && (rest == 0 || rests > whole);
}

/* What the published program lists it lists, however many there are. */
static bool can_have(const struct draft *d, uint32_t type, uint32_t gpus)
{
	if (d->rows->terms->published)
		return true;
	return gpus <= d->rows->plan->space.types[type].up &&
		(d->anyhow || job_is_fraction(d->job) || can_lie(d, type, gpus));
}

static double value_on(const struct draft *d, uint32_t type, uint32_t gpus)
{
	return d->measured ? speed_of(d, configuration_packed(d->rows->round->cluster, type, gpus))
			   : 1;
}

/* Most devices of any type, by the published rule: types share the largest limit of all. */
static uint32_t published_most(const struct draft *d)
{
	const struct rates *rates = d->rows->round->belief;
	double most = 1;

	for (uint32_t t = 0; rates->agents && t < rates->cluster->ntypes; t++) {
		const struct batch_limits *limits = agents_limits(rates->agents, d->job->id, t);

		if (limits && limits->min_local > 0)
			most = fmax(most,
				fmin(d->rows->terms->growth * agents_most(rates->agents, d->job->id, t),
					floor(limits->max / limits->min_local)));
	}
	return (uint32_t)fmin(most, d->job->max_gpus);
}

static uint32_t most_on(const struct draft *d, uint32_t type)
{
	const struct sia_terms *terms = d->rows->terms;
	enum batching batching = terms->published ? BATCHING_TUNED : d->batching;

	if (terms->published && terms->growth > 0)
		return published_most(d) * unit_of(d, type); /* agents count units */
	return elastic_most(d->rows->round->belief, d->job, type, batching, terms->growth);
}

/* Of the sizes of a type those that the job may have now; if there is none, the least that it can use. */
static void add_elastic(struct draft *d, uint32_t type)
{
	const struct sia_sizes *sizes = &d->rows->sizes[type];
	uint32_t unit = unit_of(d, type), least = job_least_on(d->job, type);
	uint32_t most = most_on(d, type), before = d->row->n;

	if (most > job_most_on(d->job, type))
		most = job_most_on(d->job, type);
	least = (least + unit - 1) / unit * unit;
	if (most < least)
		most = least;
	for (uint32_t i = 0; i < sizes->n && sizes->gpus[i] <= most; i++) {
		uint32_t gpus = sizes->gpus[i];

		if (gpus < least || gpus % unit != 0 || !can_have(d, type, gpus) ||
			gpus > (uint64_t)widest(d, type) * sizes->per_node)
			continue;
		add_way(d, type, gpus, d->measured ? value_on(d, type, gpus) : unit);
		if (!d->measured)
			return;
	}
	if (d->row->n == before && can_have(d, type, least))
		add_way(d, type, least, d->measured ? value_on(d, type, least) : unit);
}

static void add_rigid(struct draft *d, uint32_t type)
{
	uint32_t gpus = job_gpus_on(d->job, type);

	if (can_have(d, type, gpus))
		add_way(d, type, gpus,
			speed_of(d, configuration_packed(d->rows->round->cluster, type, gpus)));
}

static bool may_have(const struct draft *d, uint32_t type)
{
	int64_t mem = d->rows->round->cluster->types[type].mem_bytes;

	return job_may_use(d->job, type) && (mem == 0 || d->job->gpu_mem_bytes <= mem) &&
		d->rows->plan->space.types[type].up > 0;
}

/* Nothing is known of how fast it is anywhere: the fewest devices of any type are all the same. */
static void add_unknown(struct draft *d)
{
	for (uint32_t type = 0; type < d->rows->round->cluster->ntypes; type++) {
		if (may_have(d, type) && can_have(d, type, job_least_on(d->job, type)))
			add_way(d, type, job_least_on(d->job, type), 1);
	}
}

static void list_known(struct draft *d)
{
	for (uint32_t type = 0; type < d->rows->round->cluster->ntypes; type++) {
		if (!may_have(d, type))
			continue;
		if (d->rigid)
			add_rigid(d, type);
		else
			add_elastic(d, type);
	}
}

static void list_ways(struct draft *d)
{
	for (int anyhow = 0; anyhow < 2 && d->row->n == 0; anyhow++) {
		d->anyhow = anyhow;
		list_known(d);
		if (d->row->n == 0)
			add_unknown(d);
	}
	d->row->scattered = d->anyhow;
}

/* ---- values and costs */

/* The least becomes 1; of a rigid job its devices, of a hybrid one those of a unit. */
static void normalise(struct draft *d)
{
	struct sia_row *row = d->row;
	double least = INFINITY, base = 1;

	for (uint32_t i = 0; i < row->n; i++) {
		if (row->ways[i].value < least) {
			least = row->ways[i].value;
			base = d->rigid ? row->ways[i].c.gpus : unit_of(d, row->ways[i].c.type);
		}
	}
	for (uint32_t i = 0; i < row->n; i++)
		row->ways[i].value *= base / least;
}

double sia_restart_factor(double age_s, double restarts, double cost_s)
{
	return age_s + cost_s > 0 ? fmax(age_s - restarts * cost_s, 0) / (age_s + cost_s) : 1;
}

/* Its age, or if it is rigid its service, must have paid for one restart before the factor counts. */
static double change_factor(const struct draft *d, uint32_t gpus)
{
	const struct round *round = d->rows->round;
	double cost_s = d->rows->terms->published ? elastic_restart_s(round->belief, d->job)
						  : elastic_change_s(round->belief, d->job, gpus);
	double age_s = round->now_s - d->job->arrival_s;
	double paid_s = d->rigid ? job_occupied_s(d->job, round->now_s) : age_s;

	if (!d->rows->terms->restart || !d->job->grant || paid_s < cost_s)
		return 1;
	return sia_restart_factor(age_s, d->job->restarts, cost_s);
}

static double cost_of(const struct sia_terms *terms, double value)
{
	double cost;

	value = fmax(value, terms->published ? 1e-300 : LEAST_VALUE);
	if (terms->p > 0)
		return -fmin(real_pow(value, terms->p), terms->published ? MOST_COST : 1e300);
	cost = fmin(real_pow(value, terms->p), terms->published ? PUBLISHED_COST : MOST_COST);
	return terms->round2 ? rint(cost * 100) / 100 : cost;
}

static double changed_value(const struct sia_terms *terms, double value, double factor)
{
	if (!terms->published)
		return value * factor;
	return (float)((float)fmax(value, PUBLISHED_ZERO) * factor);
}

/* The fewest devices it takes, on whichever type those are fewest. */
static double least_anywhere(const struct draft *d)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < d->row->n; i++)
		least = fmin(least, d->row->ways[i].c.gpus);
	return isfinite(least) ? least : 1;
}

/*
 * What it costs that a job does not run.  By lambda alone, a gang of one device that is left out saves less
 * than another job's second device, and may wait as long as there are such; so it grows with age.  It is
 * age and not waiting that counts, of those who run as well: else whoever waits would take its turn with whoever runs.
 */
static double cost_without(const struct draft *d)
{
	const struct sia_terms *terms = d->rows->terms;
	double age_s = fmax(0, d->rows->round->now_s - d->job->arrival_s);
	double cost = terms->lambda + terms->ageing * age_s * least_anywhere(d);

	return fmin(cost, MOST_COST) + (d->job->grant ? terms->lambda_a : 0);
}

static void weigh(struct draft *d)
{
	const struct sia_terms *terms = d->rows->terms;
	struct sia_row *row = d->row;

	row->without = cost_without(d);
	for (uint32_t i = 0; i < row->n; i++) {
		struct sia_way *way = &row->ways[i];

		way->value = changed_value(terms, way->value,
			i == row->now ? 1 : change_factor(d, way->c.gpus));
		way->cost = cost_of(terms, way->value);
		if (i != row->now && d->job->grant)
			way->cost += terms->lambda_a;
	}
}

/* Which of the ways it has now; one that is none of them is one more: it may stay as it is. */
static void find_now(struct draft *d)
{
	const struct grant *grant = d->job->grant;
	struct sia_row *row = d->row;

	row->now = row->forced = CHOICE_NONE;
	if (!grant || grant->mixed)
		return;
	for (uint32_t i = 0; i < row->n && row->now == CHOICE_NONE; i++) {
		if (row->ways[i].c.type == grant->type && row->ways[i].c.gpus == grant->gpus)
			row->now = i;
	}
	if (row->now == CHOICE_NONE && !d->rigid) {
		double value = value_on(d, grant->type, grant->gpus);

		row->now = row->n;
		add_way(d, grant->type, grant->gpus, value > 0 ? value : 1e-9);
	}
	if (d->job->ready_s > d->rows->round->now_s)
		row->forced = row->now;
}

/* ---- all jobs */

/* Sizes of all types, one more for each type's least, and one for the present grant. */
static uint32_t most_ways(const struct sia_rows *rows)
{
	uint32_t n = 1;

	for (uint32_t type = 0; type < rows->round->cluster->ntypes; type++)
		n += rows->sizes[type].n + 1;
	return n;
}

static bool has_agent(const struct rates *rates, const struct job *job)
{
	for (uint32_t type = 0; rates->agents && type < rates->cluster->ntypes; type++) {
		if (agents_limits(rates->agents, job->id, type))
			return true;
	}
	return false;
}

static bool is_rigid(const struct round *round, const struct job *job)
{
	for (uint32_t type = 0; type < round->cluster->ntypes; type++) {
		if (job_may_use(job, type) && job_least_on(job, type) < job_most_on(job, type))
			return false;
	}
	return true;
}

/* What is remembered of a job with an agent, emptied if that has learnt something. */
static struct sia_memo *memo_of(struct sia_rows *rows, const struct job *job)
{
	struct sia_memo *memo = &rows->memos[job->id];
	uint32_t version = agents_version(rows->round->belief->agents, job->id) + 1;

	if (memo->version != version)
		memo->n = 0;
	memo->version = version;
	memo->next = 0;
	return memo;
}

static void draft_row(struct sia_rows *rows, const struct job *job, struct sia_row *row)
{
	struct draft d = {
		.rows = rows,
		.job = job,
		.row = row,
		.rigid = is_rigid(rows->round, job),
	};
	bool has_one = has_agent(rows->round->belief, job);

	row->job = job;
	row->tuned = !d.rigid && has_one;
	d.batching = !row->tuned         ? BATCHING_FIXED
		: rows->terms->published ? BATCHING_ASKED
					 : BATCHING_TUNED;
	d.measured = elastic_is_measured(rows->round->belief, job);
	d.memo = has_one && rows->memos ? memo_of(rows, job) : NULL;
	list_ways(&d);
	find_now(&d);
	normalise(&d);
	weigh(&d);
}

/* With p above 0 costs have no limit, but the solver has: all are made smaller alike. */
static void scale_costs(struct sia_rows *rows)
{
	double most = 0, scale;

	for (uint32_t i = 0; i < rows->n; i++) {
		most = fmax(most, fabs(rows->at[i].without));
		for (uint32_t k = 0; k < rows->at[i].n; k++)
			most = fmax(most, fabs(rows->at[i].ways[k].cost));
	}
	if (most <= MOST_COST)
		return;
	scale = MOST_COST / most;
	for (uint32_t i = 0; i < rows->n; i++) {
		rows->at[i].without *= scale;
		for (uint32_t k = 0; k < rows->at[i].n; k++)
			rows->at[i].ways[k].cost *= scale;
	}
}

void sia_list_rows(struct sia_rows *rows)
{
	const struct round *round = rows->round;
	struct sia_way *ways = arena_array(round->scratch, struct sia_way, most_ways(rows));

	rows->at = arena_array(round->scratch, struct sia_row, round->nactive);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		struct sia_row *row = &rows->at[rows->n];

		if (!job_active(job))
			continue;
		row->ways = ways;
		draft_row(rows, job, row);
		row->ways = arena_array(round->scratch, struct sia_way, row->n);
		memcpy(row->ways, ways, row->n * sizeof(*ways));
		rows->n++;
	}
	if (!rows->terms->published)
		scale_costs(rows);
}
