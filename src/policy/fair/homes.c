/*
 * Where jobs are at home.
 */
#include "policy/fair/homes.h"

/* A job that moves loses what it costs to resume it: it stays at least so many times as long. */
#define STAY_COSTS 10

/* Jobs of a tenant move to another type if they are so many times as crowded on theirs. */
#define TYPE_SLACK 1.5

/* Parts of a device below this are rounding. */
#define PART_MIN 1e-6

struct home_memory *home_of(const struct homes *h, uint32_t job)
{
	return (struct home_memory *)h->round->job_state + job;
}

static uint32_t central_of(const struct homes *h)
{
	return h->round->cluster->nnodes;
}

/* ---- what can be a home */

static bool can_host(const struct homes *h, const struct job *job, uint32_t node)
{
	return server_can_host(h->round->cluster, job, node, server_devices_up(h->plan, node));
}

static double load_of(const struct homes *h, uint32_t node)
{
	return h->servers[node].tickets / h->round->cluster->nodes[node].devices;
}

/* The server of a type with the least tickets for each device that can host the job; UINT32_MAX: none. */
static uint32_t least_loaded(const struct homes *h, const struct job *job, uint32_t type)
{
	const struct space_type *t = &h->plan->space.types[type];
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < t->nnodes; i++) {
		uint32_t node = t->nodes[i];

		if ((best == UINT32_MAX || load_of(h, node) < load_of(h, best) * (1 - 1e-9)) &&
			can_host(h, job, node))
			best = node;
	}
	return best;
}

/* How crowded a tenant's jobs of a type are without some, against what it is entitled to: empty where it has none. */
static double crowding(const struct entitled *t, uint32_t type, double less)
{
	return t->part[type] > PART_MIN ? (t->gpus_in[type] - less) / t->part[type] : INFINITY;
}

static uint32_t best_home(const struct homes *h, const struct entitled *t, const struct job *job)
{
	double least = INFINITY;
	uint32_t best = UINT32_MAX;

	for (uint32_t k = 0; k < h->e->ntypes; k++) {
		uint32_t type = h->e->order[k];
		double crowd = crowding(t, type, 0);
		uint32_t node;

		if (best != UINT32_MAX && !(crowd < least))
			continue;
		node = least_loaded(h, job, type);
		if (node != UINT32_MAX) {
			best = node;
			least = crowd;
		}
	}
	return best;
}

/* ---- joining and leaving */

static void count(struct homes *h, const struct job *job, double sign)
{
	const struct home_memory *m = home_of(h, job->id);
	struct entitled *t = entitled_of(h->e, job);

	if (!m->type)
		return;
	t->jobs_in[m->type - 1] += sign > 0 ? 1 : -1u;
	t->gpus_in[m->type - 1] += sign * job_gpus_on(job, m->type - 1);
}

/* With its new neighbours it is as far ahead or behind as it was with the old ones. */
static void move_in(struct homes *h, const struct job *job, uint32_t node, uint32_t type)
{
	struct home_memory *m = home_of(h, job->id);
	uint32_t from = m->home ? m->home - 1 : m->central ? central_of(h) : UINT32_MAX;
	double lag = from == UINT32_MAX ? 0 : m->pass - h->servers[from].least;

	count(h, job, -1);
	m->home = node == central_of(h) ? 0 : 1 + node;
	m->central = node == central_of(h);
	m->type = 1 + type;
	count(h, job, 1);
	m->pass = h->servers[node].least + fmax(0, lag);
	m->moved_s = h->round->now_s;
	m->tickets = entitled_tickets(h->e, entitled_of(h->e, job), type);
	h->servers[node].tickets += m->tickets;
}

static void find_home(struct homes *h, const struct job *job)
{
	const struct node *nodes = h->round->cluster->nodes;
	uint32_t node = best_home(h, entitled_of(h->e, job), job), types[TYPES_MAX];

	if (node != UINT32_MAX)
		move_in(h, job, node, nodes[node].type);
	else if (!home_of(h, job->id)->central)
		move_in(h, job, central_of(h), kit_types(h->round, job, types) > 0 ? types[0] : 0);
}

/* ---- charging and listing */

static void charge(struct homes *h, const struct job *job)
{
	struct home_memory *m = home_of(h, job->id);
	double occupied_s = job_occupied_s(job, h->round->now_s), more_s = occupied_s - m->counted_s;

	m->counted_s = occupied_s;
	if (!(more_s > 0))
		return;
	entitled_charge(h->e, job, more_s);
	if (m->tickets > 0)
		m->pass += more_s / h->quantum_s / m->tickets;
}

static uint32_t server_of(const struct homes *h, uint32_t job)
{
	const struct home_memory *m = home_of(h, job);

	return m->home ? m->home - 1 : central_of(h);
}

static void sum_up(struct homes *h)
{
	const struct round *round = h->round;

	for (uint32_t i = 0; i <= central_of(h); i++) {
		struct server *s = &h->servers[i];

		*s = (struct server){ .first = s->first, .n = s->n, .least = INFINITY, .pass = INFINITY };
	}
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		struct home_memory *m = home_of(h, job->id);
		struct server *s;

		if (!job_active(job) || !(m->home || m->central))
			continue;
		s = &h->servers[server_of(h, job->id)];
		m->tickets = entitled_tickets(h->e, entitled_of(h->e, job), m->type - 1);
		s->pass = s->tickets > 0 ? s->pass + m->tickets * m->pass : m->tickets * m->pass;
		s->tickets += m->tickets;
		s->least = fmin(s->least, m->pass);
	}
	for (uint32_t i = 0; i <= central_of(h); i++) {
		struct server *s = &h->servers[i];

		if (s->tickets > 0) {
			s->pass /= s->tickets;
			h->base[i] = s->least;
		}
		s->least = h->base[i];
	}
}

/* Jobs by server, each server's in order of arrival. */
static void list_jobs(struct homes *h)
{
	const struct round *round = h->round;
	uint32_t at = 0;

	for (uint32_t i = 0; i <= central_of(h); i++)
		h->servers[i].n = 0;
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			h->servers[server_of(h, round->active[i])].n++;
	}
	for (uint32_t i = 0; i <= central_of(h); i++) {
		h->servers[i].first = at;
		at += h->servers[i].n;
		h->servers[i].n = 0;
	}
	for (uint32_t i = 0; i < round->nactive; i++) {
		struct server *s = &h->servers[server_of(h, round->active[i])];

		if (job_active(&round->jobs[round->active[i]]))
			h->jobs[s->first + s->n++] = round->active[i];
	}
}

/* Those who have a home that still can be one are counted there. */
static void settle_in(struct homes *h, const struct job *job)
{
	struct home_memory *m = home_of(h, job->id);

	if (m->home && !can_host(h, job, m->home - 1)) {
		m->home = 0;
		m->type = 0;
	}
	count(h, job, 1);
}

/* The central scheduler's newcomers begin with those of the servers, else they would wait for these to catch up. */
static void base_central(struct homes *h)
{
	double least = INFINITY;

	if (h->servers[central_of(h)].tickets > 0)
		return;
	for (uint32_t i = 0; i < central_of(h); i++)
		least = fmin(least, h->servers[i].pass);
	if (least < INFINITY)
		h->base[central_of(h)] = h->servers[central_of(h)].least = least;
}

void homes_gather(struct homes *homes)
{
	const struct round *round = homes->round;

	homes->servers = arena_array(round->scratch, struct server, round->cluster->nnodes + 1);
	homes->jobs = arena_array(round->scratch, uint32_t, round->nactive + 1);
	for (uint32_t i = 0; i < round->nchanged; i++)
		charge(homes, &round->jobs[round->changed[i]]);
	for (uint32_t i = 0; i < round->nactive; i++) {
		charge(homes, &round->jobs[round->active[i]]);
		if (job_active(&round->jobs[round->active[i]]))
			settle_in(homes, &round->jobs[round->active[i]]);
	}
	sum_up(homes);
	base_central(homes);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !home_of(homes, job->id)->home)
			find_home(homes, job);
	}
	sum_up(homes);
	list_jobs(homes);
}

/* ---- balance */

bool homes_may_move(const struct homes *h, const struct job *job, double stay_s)
{
	double cost_s = job->attempts > 0 ? job->resume_cost_s : 0;

	return h->round->now_s - home_of(h, job->id)->moved_s >= fmax(stay_s, STAY_COSTS * cost_s);
}

static bool has_gang(const struct homes *h, uint32_t node, uint32_t gpus)
{
	const struct server *s = &h->servers[node];

	for (uint32_t i = 0; i < s->n; i++) {
		const struct job *job = &h->round->jobs[h->jobs[s->first + i]];

		if (job_gpus_on(job, h->round->cluster->nodes[node].type) == gpus)
			return true;
	}
	return s->n == 0;
}

struct swing {
	double average, before; /* the larger of the two deviations */
	uint32_t from, to;
};

/* How far the two are from the average if the job changes over; gangs among others of their size leave no holes. */
static double swing_after(const struct homes *h, const struct swing *s, const struct job *job)
{
	const struct node *nodes = h->round->cluster->nodes;
	double tickets = home_of(h, job->id)->tickets;
	double from = (h->servers[s->from].tickets - tickets) / nodes[s->from].devices;
	double to = (h->servers[s->to].tickets + tickets) / nodes[s->to].devices;
	double after = fmax(fabs(from - s->average), fabs(to - s->average));

	return has_gang(h, s->to, job_gpus_on(job, nodes[s->to].type)) ? after
								       : (after + s->before) / 2;
}

static const struct job *best_to_move(const struct homes *h, const struct swing *s, double stay_s)
{
	const struct server *from = &h->servers[s->from];
	const struct job *best = NULL;
	double least = s->before * (1 - 1e-3);

	for (uint32_t i = 0; i < from->n; i++) {
		const struct job *job = &h->round->jobs[h->jobs[from->first + i]];
		double after;

		if (!homes_may_move(h, job, stay_s) || !can_host(h, job, s->to))
			continue;
		after = swing_after(h, s, job);
		if (after < least ||
			(best && after == least && job->resume_cost_s < best->resume_cost_s)) {
			least = after;
			best = job;
		}
	}
	return best;
}

static bool find_swing(const struct homes *h, uint32_t type, struct swing *s)
{
	const struct space_type *t = &h->plan->space.types[type];
	double tickets = 0, devices = 0;

	*s = (struct swing){ .from = UINT32_MAX };
	for (uint32_t i = 0; i < t->nnodes; i++) {
		uint32_t node = t->nodes[i];

		if (!h->plan->space.nodes[node].up)
			continue;
		if (s->from == UINT32_MAX)
			s->from = s->to = node;
		if (load_of(h, node) > load_of(h, s->from))
			s->from = node;
		if (load_of(h, node) < load_of(h, s->to))
			s->to = node;
		tickets += h->servers[node].tickets;
		devices += h->round->cluster->nodes[node].devices;
	}
	if (s->from == UINT32_MAX || s->from == s->to)
		return false;
	s->average = tickets / devices;
	s->before = fmax(fabs(load_of(h, s->from) - s->average), fabs(load_of(h, s->to) - s->average));
	return true;
}

static void relocate(struct homes *h, const struct job *job, uint32_t to)
{
	h->servers[server_of(h, job->id)].tickets -= home_of(h, job->id)->tickets;
	move_in(h, job, to, h->round->cluster->nodes[to].type);
	h->e->moves++;
	sum_up(h);
	list_jobs(h);
}

static void balance_servers(struct homes *h, uint32_t type, double stay_s)
{
	uint32_t moves = h->plan->space.types[type].nnodes;
	const struct job *job;
	struct swing s;

	while (moves-- > 0 && find_swing(h, type, &s) && (job = best_to_move(h, &s, stay_s)))
		relocate(h, job, s.to);
}

/* Jobs of tenants that bought or sold a type follow, one for each type at a time. */
static void balance_types(struct homes *h, double stay_s)
{
	const struct round *round = h->round;
	bool moved[TYPES_MAX] = { false };

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		const struct home_memory *m = home_of(h, job->id);
		const struct entitled *t = entitled_of(h->e, job);
		uint32_t node, to;

		if (!job_active(job) || !m->home || moved[m->type - 1] ||
			!homes_may_move(h, job, stay_s))
			continue;
		node = best_home(h, t, job);
		if (node == UINT32_MAX)
			continue;
		to = round->cluster->nodes[node].type;
		if (to == m->type - 1 ||
			!(crowding(t, to, 0) * TYPE_SLACK <
				crowding(t, m->type - 1, job_gpus_on(job, m->type - 1))))
			continue;
		moved[m->type - 1] = true;
		relocate(h, job, node);
	}
}

void homes_balance(struct homes *homes, double stay_s)
{
	if (homes->e->ntypes > 1)
		balance_types(homes, stay_s);
	for (uint32_t k = 0; k < homes->e->ntypes; k++)
		balance_servers(homes, homes->e->order[k], stay_s);
}

void homes_adopt(struct homes *h, const struct job *job, uint32_t node, bool anyway)
{
	const struct node *nodes = h->round->cluster->nodes;
	const struct home_memory *m = home_of(h, job->id);
	uint32_t home = m->home ? m->home - 1 : UINT32_MAX;

	if (home == UINT32_MAX || home == node || !can_host(h, job, node))
		return;
	if (!anyway &&
		(nodes[node].type != nodes[home].type ||
			load_of(h, node) + m->tickets / nodes[node].devices > load_of(h, home)))
		return;
	h->servers[home].tickets -= m->tickets;
	move_in(h, job, node, nodes[node].type);
	h->e->moves++;
}
