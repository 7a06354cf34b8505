/*
 * Gandiva's servers.
 */
#include "policy/fair/gandiva_servers.h"

struct slice_memory *slice_memory_of(const struct slice_servers *s, uint32_t job)
{
	return (struct slice_memory *)s->round->job_state + job;
}

uint32_t slice_gpus(const struct slice_servers *s, const struct job *job, uint32_t node)
{
	return job_gpus_on(job, s->round->cluster->nodes[node].type);
}

bool slice_can_host(const struct slice_servers *s, const struct job *job, uint32_t node)
{
	return server_can_host(s->round->cluster, job, node, s->at[node].devices);
}

/* ---- listing */

/* Whoever runs on one server without a home, from before there were any or on what was idle, is at home there. */
static void settle_in(struct slice_servers *s, const struct job *job)
{
	const struct grant *grant = plan_grant(s->plan, job->id);
	struct slice_memory *m = slice_memory_of(s, job->id);
	uint32_t node, gpus;

	if (m->home || !grant || grant->nslots != 1 || job_is_fraction(job) || job->nodes > 1)
		return;
	node = grant->slots[0].node;
	gpus = slice_gpus(s, job, node);
	if (grant->gpus < gpus)
		return;
	m->home = 1 + node;
	m->grown = grant->gpus - gpus;
	m->began_s = job->held_s;
	if (m->turn == 0)
		slice_to_the_end(s, job);
	if (s->affinity[node] == 0)
		s->affinity[node] = gpus;
}

static void count_devices(struct slice_servers *s)
{
	const struct round *round = s->round;

	for (uint32_t i = 0; i < round->cluster->nnodes; i++)
		s->at[i].devices = server_devices_up(s->plan, i);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		const struct grant *grant = job_active(job) ? plan_grant(s->plan, job->id) : NULL;

		for (uint32_t k = 0;
			grant && !slice_memory_of(s, job->id)->home && k < grant->nslots; k++) {
			uint32_t held = (uint32_t)__builtin_popcountll(grant->slots[k].devices);
			struct slice_server *at = &s->at[grant->slots[k].node];

			at->devices -= held < at->devices ? held : at->devices;
		}
	}
}

static bool is_there(const struct slice_servers *s, uint32_t other)
{
	return other && job_active(&s->round->jobs[other - 1]);
}

static bool share(const struct slice_servers *s, uint32_t guest, uint32_t host)
{
	const struct slice_memory *g = slice_memory_of(s, guest), *h = slice_memory_of(s, host);

	return g->home == h->home && g->beside == 1 + host && h->guest == 1 + guest;
}

/* Whose partner has ended, lives elsewhere or knows nothing of it is alone. */
static void part(const struct slice_servers *s, const struct job *job)
{
	struct slice_memory *m = slice_memory_of(s, job->id);

	if (m->beside && !(is_there(s, m->beside) && share(s, job->id, m->beside - 1)))
		m->beside = 0;
	if (m->guest && !(is_there(s, m->guest) && share(s, m->guest - 1, job->id)))
		m->guest = 0;
	if (!m->beside && !m->guest && m->action == ACTION_PACK)
		m->action = ACTION_NONE;
}

static int by_turn(const void *a, const void *b, void *ctx)
{
	const struct slice_servers *s = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct slice_memory *mx = slice_memory_of(s, x), *my = slice_memory_of(s, y);

	if (mx->home != my->home)
		return mx->home < my->home ? -1 : 1;
	if (mx->turn != my->turn)
		return mx->turn < my->turn ? -1 : 1;
	return x < y ? -1 : x > y;
}

void slice_servers_list(struct slice_servers *s)
{
	const struct round *round = s->round;
	uint32_t n = 0;

	if (!s->stale)
		return;
	s->stale = false;
	for (uint32_t i = 0; i < round->cluster->nnodes; i++)
		s->at[i] = (struct slice_server){ .devices = s->at[i].devices };
	for (uint32_t i = 0; i < round->nactive; i++) {
		uint32_t id = round->active[i];

		if (job_active(&round->jobs[id]) && slice_memory_of(s, id)->home)
			s->jobs[n++] = id;
	}
	qsort_r(s->jobs, n, sizeof(*s->jobs), by_turn, s);
	for (uint32_t i = 0; i < n; i++) {
		const struct slice_memory *m = slice_memory_of(s, s->jobs[i]);
		struct slice_server *server = &s->at[m->home - 1];

		if (server->n++ == 0)
			server->first = i;
		if (!m->beside)
			server->demand += slice_gpus(s, &round->jobs[s->jobs[i]], m->home - 1);
	}
	for (uint32_t i = 0; i < round->cluster->nnodes; i++) {
		if (s->at[i].n == 0)
			s->affinity[i] = 0;
		s->at[i].affinity = s->affinity[i];
	}
}

void slice_servers_gather(struct slice_servers *s)
{
	const struct round *round = s->round;

	s->at = arena_array(round->scratch, struct slice_server, round->cluster->nnodes);
	s->jobs = arena_array(round->scratch, uint32_t, round->nactive + 1);
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			settle_in(s, &round->jobs[round->active[i]]);
	}
	count_devices(s);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		struct slice_memory *m = slice_memory_of(s, job->id);

		if (!job_active(job))
			continue;
		if (m->home && !slice_can_host(s, job, m->home - 1))
			*m = (struct slice_memory){ .turn = m->turn,
				.queued_s = m->queued_s,
				.failed = m->failed };
	}
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (job_active(&round->jobs[round->active[i]]))
			part(s, &round->jobs[round->active[i]]);
	}
	s->stale = true;
	slice_servers_list(s);
}

/* ---- a home */

enum rule { RULE_AFFINE, RULE_IDLE, RULE_ANY, RULE_TURNS, RULE_MIXED };

static bool suits(const struct slice_servers *s, enum rule rule, const struct job *job, uint32_t node)
{
	const struct slice_server *server = &s->at[node];
	uint32_t gpus = slice_gpus(s, job, node);

	if (!slice_can_host(s, job, node))
		return false;
	switch (rule) {
	case RULE_AFFINE:
		return server->affinity == gpus && slice_room(server) >= gpus;
	case RULE_IDLE:
		return server->affinity == 0 && slice_room(server) >= gpus;
	case RULE_ANY:
		return slice_room(server) >= gpus;
	case RULE_TURNS:
		return server->affinity == gpus;
	case RULE_MIXED:
		return server->affinity != 0;
	}
	return false;
}

static double load_of(const struct slice_server *server)
{
	return (double)server->demand / server->devices;
}

/* The least loaded server that suits, on the fastest type that has one. */
static uint32_t choose(const struct slice_servers *s, enum rule rule, const struct job *job)
{
	uint32_t types[TYPES_MAX], ntypes = kit_types(s->round, job, types), best = UINT32_MAX;

	for (uint32_t k = 0; k < ntypes && best == UINT32_MAX; k++) {
		const struct space_type *t = &s->plan->space.types[types[k]];

		for (uint32_t i = 0; i < t->nnodes; i++) {
			uint32_t node = t->nodes[i];

			if (suits(s, rule, job, node) &&
				(best == UINT32_MAX || load_of(&s->at[node]) < load_of(&s->at[best])))
				best = node;
		}
	}
	return best;
}

/* Most of the time nobody has: that is found out without asking by rule and type. */
static bool anybody_has_room(const struct slice_servers *s, const struct job *job)
{
	for (uint32_t i = 0; i < s->round->cluster->nnodes; i++) {
		if (slice_room(&s->at[i]) >= slice_gpus(s, job, i))
			return true;
	}
	return false;
}

uint32_t slice_find_room(const struct slice_servers *s, const struct job *job)
{
	uint32_t node;

	if (!anybody_has_room(s, job))
		return UINT32_MAX;
	node = choose(s, RULE_AFFINE, job);

	/* Idle servers are kept for those that cannot have a home. */
	if (node == UINT32_MAX && s->nhomeless == 0)
		node = choose(s, RULE_IDLE, job);
	return node == UINT32_MAX && s->nhomeless == 0 ? choose(s, RULE_ANY, job) : node;
}

void slice_to_the_end(struct slice_servers *s, const struct job *job)
{
	struct slice_memory *m = slice_memory_of(s, job->id);

	m->turn = ++*s->turns;
	m->queued_s = s->round->now_s;
	s->stale = true;
}

void slice_move(struct slice_servers *s, const struct job *job, uint32_t node)
{
	struct slice_memory *m = slice_memory_of(s, job->id);

	if (m->home)
		s->at[m->home - 1].demand -= slice_gpus(s, job, m->home - 1);
	s->stale = true;
	m->home = 1 + node;
	if (m->turn == 0)
		slice_to_the_end(s, job);
	if (s->affinity[node] == 0)
		s->affinity[node] = s->at[node].affinity = slice_gpus(s, job, node);
	s->at[node].demand += slice_gpus(s, job, node);
}

/* Where it takes turns: with others of its size, or after a while with whomever. */
static uint32_t find_turns(const struct slice_servers *s, const struct job *job)
{
	uint32_t node = choose(s, RULE_TURNS, job);

	if (node == UINT32_MAX &&
		s->round->now_s - slice_memory_of(s, job->id)->queued_s >= s->patience_s)
		node = choose(s, RULE_MIXED, job);
	return node;
}

static bool could_have_home(const struct slice_servers *s, const struct job *job)
{
	for (uint32_t i = 0; i < s->round->cluster->nnodes; i++) {
		if (slice_can_host(s, job, i))
			return true;
	}
	return false;
}

void slice_servers_admit(struct slice_servers *s)
{
	const struct round *round = s->round;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		uint32_t node;

		if (!job_active(job) || slice_memory_of(s, job->id)->home ||
			plan_grant(s->plan, job->id))
			continue;
		if (!could_have_home(s, job)) {
			s->nhomeless++;
			continue;
		}
		if (slice_memory_of(s, job->id)->turn == 0)
			slice_to_the_end(s, job);
		node = slice_find_room(s, job);
		if (node == UINT32_MAX)
			node = find_turns(s, job);
		if (node != UINT32_MAX)
			slice_move(s, job, node);
	}
	slice_servers_list(s);
}
