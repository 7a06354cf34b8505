/*
 * Tickets, gangs and trades (Gandiva_fair).
 *
 * Every tenant has device-time in proportion to its tickets.  Each server gives
 * quanta to its own jobs by gang-aware stride; a central scheduler does so for
 * jobs that no server can hold, and reserves servers whose jobs are ahead of
 * them.  What is idle after that goes to whoever is furthest behind, wherever it
 * is at home, and is charged like any other quantum.  Jobs are moved so that
 * tickets lie evenly (homes.h); tenants trade fast types for slow ones, and none
 * is entitled to less by its own rates than before (entitled.h).
 *
 * compat=shockwave is what the simulator of Shockwave calls gandiva_fair: every
 * job has time in proportion to the number of jobs, whatever it takes with it.
 */
#include "policy/fair/homes.h"
#include "policy/fair/tenant_queues.h"
#include "policy/hetero/turns.h"

struct gandiva_fair {
	struct share_turns turns; /* round_s and compat; the rest for compat */
	double balance_s;
	bool trade;
	double stay;

	struct entitlements e;
	VEC(double) base;  /* of homes */
	double balanced_s; /* when jobs were last moved */
};

static const struct option options[] = {
	{ .name = "round_s",
		.kind = OPTION_DOUBLE,
		.offset = offsetof(struct gandiva_fair, turns.round_s),
		.preset = 60,
		.min = 1,
		.max = 1e6,
		.help = "the quantum: gangs change places at multiples of this" },
	OPT_DOUBLE(struct gandiva_fair, balance_s, 300, 1, 1e6,
		"seconds between two looks at how tickets lie; a job that moved stays that long at least"),
	OPT_BOOL(struct gandiva_fair, trade, 1, "tenants trade fast types for slow ones"),
	OPT_DOUBLE(struct gandiva_fair, stay, 4, 0, 1000,
		"a job is not stopped before it ran this many times its resume cost"),
	{ .name = "compat",
		.kind = OPTION_CHOICE,
		.offset = offsetof(struct gandiva_fair, turns.compat),
		.preset = TURNS_OWN,
		.choices = compat_names,
		.help = "gavel, shockwave: what that published simulator runs under this name, in its rounds" },
	{ 0 },
};

struct session {
	struct gandiva_fair *g;
	const struct round *round;
	struct plan *plan;
	struct homes homes;
	struct stride *strides; /* scratch */
};

static bool quantum_begins(const struct gandiva_fair *g, double now_s)
{
	return turn_begins(now_s, g->turns.round_s);
}

static double next_quantum_s(const struct gandiva_fair *g, double now_s)
{
	return turn_next_s(now_s, g->turns.round_s);
}

/* Those of a server that have no devices in this quantum yet. */
static uint32_t list_strides(const struct session *s, uint32_t server)
{
	const struct server *from = &s->homes.servers[server];
	uint32_t n = 0;

	for (uint32_t i = 0; i < from->n; i++) {
		const struct job *job = &s->round->jobs[s->homes.jobs[from->first + i]];
		const struct home_memory *m = home_of(&s->homes, job->id);

		if (!plan_grant(s->plan, job->id))
			s->strides[n++] = (struct stride){ .id = job->id,
				.gpus = job_gpus_on(job, m->type - 1),
				.tickets = m->tickets,
				.pass = m->pass };
	}
	return n;
}

/* ---- the central scheduler */

/* Servers in the order in which a large job takes them: those whose jobs are furthest ahead first. */
static int by_pass_falling(const void *a, const void *b, void *ctx)
{
	const struct server *servers = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (servers[x].pass != servers[y].pass)
		return servers[x].pass > servers[y].pass ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Where it is already, if it runs; else what it takes of each server until it has all. */
static uint32_t choose_servers(const struct session *s, const struct job *job, uint32_t type,
	struct node_share *at)
{
	const struct space_type *t = &s->plan->space.types[type];
	uint32_t *nodes = arena_array(s->round->scratch, uint32_t, t->nnodes), n = 0;
	uint32_t need = job_gpus_on(job, type), each = job->nodes > 1 ? need / job->nodes : need;

	memcpy(nodes, t->nodes, t->nnodes * sizeof(*nodes));
	qsort_r(nodes, t->nnodes, sizeof(*nodes), by_pass_falling, s->homes.servers);
	for (uint32_t i = 0; i < t->nnodes && need > 0; i++) {
		const struct space_node *node = &s->plan->space.nodes[nodes[i]];
		uint32_t takes = node->nfree < need ? node->nfree : need;

		takes = takes < each ? takes : each;
		if (!node->up || takes == 0 || (job->nodes > 1 && takes < each))
			continue;
		at[n++] = (struct node_share){ nodes[i], takes };
		need -= takes;
	}
	return need == 0 ? n : 0;
}

static uint32_t present_servers(const struct session *s, const struct job *job, struct node_share *at)
{
	const struct grant *grant = job->grant;

	for (uint32_t i = 0; grant && i < grant->nslots; i++) {
		at[i] = (struct node_share){ grant->slots[i].node,
			(uint32_t)__builtin_popcountll(grant->slots[i].devices) };
		if (s->plan->space.nodes[at[i].node].nfree < at[i].gpus)
			return 0;
	}
	return grant ? grant->nslots : 0;
}

/* A large job goes before the local ones only where these are ahead of it, or nobody is. */
static bool is_first(const struct session *s, const struct job *job, const struct node_share *at,
	uint32_t n)
{
	double pass = home_of(&s->homes, job->id)->pass;

	for (uint32_t i = 0; i < n; i++) {
		if (pass > s->homes.servers[at[i].node].pass + 1e-6)
			return false;
	}
	return n > 0;
}

static bool reserve(const struct session *s, const struct job *job)
{
	struct node_share *at = arena_array(s->round->scratch, struct node_share,
		s->round->cluster->nnodes);
	uint32_t types[TYPES_MAX], ntypes, n;
	struct want want = { .type = TYPE_ANY };

	if (job_is_fraction(job))
		return kit_run(s->round, s->plan, job);
	n = present_servers(s, job, at);
	if (is_first(s, job, at, n) && plan_run_at(s->plan, job, at, n, want))
		return true;
	ntypes = kit_types(s->round, job, types);
	for (uint32_t k = 0; k < ntypes; k++) {
		n = choose_servers(s, job, types[k], at);
		if (is_first(s, job, at, n) &&
			(plan_run_at(s->plan, job, at, n, want) || kit_run(s->round, s->plan, job))) {
			home_of(&s->homes, job->id)->type = 1 + types[k];
			return true;
		}
	}
	return false;
}

static void run_central(const struct session *s)
{
	uint32_t central = s->round->cluster->nnodes, n = list_strides(s, central);

	stride_choose(s->strides, n, UINT32_MAX);
	for (uint32_t i = 0; i < n; i++)
		reserve(s, &s->round->jobs[s->strides[i].id]);
}

/* ---- the servers */

/* Those who were there keep their devices, so that nobody moves within a server for nothing. */
static void run_local(const struct session *s, uint32_t node)
{
	uint32_t n = list_strides(s, node);

	stride_choose(s->strides, n, s->plan->space.nodes[node].nfree);
	for (int stays = 1; stays >= 0; stays--) {
		for (uint32_t i = 0; i < n; i++) {
			const struct job *job = &s->round->jobs[s->strides[i].id];

			if (s->strides[i].runs && job_is_at(job, node) == stays)
				plan_run_at(s->plan, job,
					&(struct node_share){ node, s->strides[i].gpus }, 1,
					(struct want){ .type = TYPE_ANY });
		}
	}
}

/* ---- what is idle */

static double lag_of(const struct homes *h, uint32_t job)
{
	const struct home_memory *m = home_of(h, job);

	return m->pass - h->servers[m->home ? m->home - 1 : h->round->cluster->nnodes].least;
}

/* Everybody who waits, by how far behind its neighbours it is. */
static uint32_t line_up(const struct session *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];

		if (job_active(job) && !plan_grant(s->plan, job->id))
			s->strides[n++] = (struct stride){ .id = job->id,
				.gpus = 1,
				.tickets = 1,
				.pass = lag_of(&s->homes, job->id) };
	}
	stride_choose(s->strides, n, n);
	return n;
}

static void fill(struct session *s)
{
	uint32_t n = line_up(s);

	for (uint32_t i = 0; i < n && kit_any_free(s->round, s->plan); i++) {
		const struct job *job = &s->round->jobs[s->strides[i].id];
		const struct home_memory *m = home_of(&s->homes, job->id);
		const struct grant *grant;

		if (m->home &&
			plan_run_at(s->plan, job,
				&(struct node_share){ m->home - 1, job_gpus_on(job, m->type - 1) },
				1, (struct want){ .type = TYPE_ANY }))
			continue;
		if (!kit_run(s->round, s->plan, job))
			continue;
		grant = plan_grant(s->plan, job->id);
		if (grant->nslots == 1)
			homes_adopt(&s->homes, job, grant->slots[0].node, false);
	}
}

/* ---- faster devices that nobody uses */

/* The type on which a job that runs elsewhere would be fastest, if enough of it is free; else -1. */
static int faster_type(const struct session *s, const struct job *job)
{
	const struct grant *grant = plan_grant(s->plan, job->id);
	uint32_t types[TYPES_MAX];

	if (!grant || s->homes.e->ntypes < 2 || job_is_fraction(job) ||
		kit_types(s->round, job, types) < 2 || types[0] == grant->type)
		return -1;
	return plan_free(s->plan, types[0]) >= job_gpus_on(job, types[0]) ? (int)types[0] : -1;
}

/* Whoever waits has had its choice: those on slower types change over.  Says when to look again. */
static void upgrade(struct session *s)
{
	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];
		int type = job_active(job) ? faster_type(s, job) : -1;

		if (type < 0)
			continue;
		if (!quantum_begins(s->g, s->round->now_s) ||
			!homes_may_move(&s->homes, job, s->g->balance_s)) {
			plan_wake(s->plan, next_quantum_s(s->g, s->round->now_s));
		} else if (plan_run(s->plan, job, (struct want){ .type = type })) {
			const struct grant *grant = plan_grant(s->plan, job->id);

			homes_adopt(&s->homes, job, grant->slots[0].node, true);
		}
	}
}

/* ---- */

/* All gangs are decided anew, but for those that have only just begun. */
static void end_quantum(const struct session *s)
{
	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];

		if (job_active(job) && job->grant && turn_was_worth_it(s->round, job, s->g->stay))
			plan_stop(s->plan, job);
	}
}

static void run_quantum(struct session *s)
{
	struct gandiva_fair *g = s->g;

	if (s->round->now_s >= g->balanced_s + g->balance_s) {
		homes_balance(&s->homes, g->balance_s);
		g->balanced_s = s->round->now_s;
	}
	end_quantum(s);
	run_central(s);
	for (uint32_t node = 0; node < s->round->cluster->nnodes; node++) {
		if (s->homes.servers[node].n > 0 && s->plan->space.nodes[node].up)
			run_local(s, node);
	}
}

static int published_shares(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	(void)self;
	(void)err;
	program_proportional(p, true, shares);
	return 0;
}

static int gandiva_fair_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct gandiva_fair *g = self;
	struct session s = { .g = g, .round = round, .plan = plan };

	if (g->turns.compat != TURNS_OWN)
		return share_turns_decide(&g->turns, published_shares, self, round, plan, err);
	vec_grow_zero(&g->base, (size_t)round->cluster->nnodes + 1);
	s.strides = arena_array(round->scratch, struct stride, round->nactive + 1);
	s.homes = (struct homes){ .round = round,
		.plan = plan,
		.e = &g->e,
		.base = g->base.at,
		.quantum_s = g->turns.round_s };
	entitlements_pass(&g->e, round->now_s);
	entitlements_compute(&g->e, round, plan, g->trade);
	homes_gather(&s.homes);
	if (quantum_begins(g, round->now_s) && kit_anybody_waits(round, plan))
		run_quantum(&s);
	fill(&s);
	upgrade(&s);
	if (!kit_anybody_waits(round, plan))
		return 0;
	homes_say_why(&s.homes, plan, next_quantum_s(g, round->now_s));
	plan_wake(plan, next_quantum_s(g, round->now_s));
	return 0;
}

/* Passes and homes are kept job by job; here is what servers begin with, then how tenants stand. */
struct kept {
	double at_s, balanced_s;
	size_t nbase;
};

static size_t gandiva_fair_remember(const void *self, const struct job *jobs, uint32_t njobs,
	const void *memory, void **out)
{
	const struct gandiva_fair *g = self;
	size_t bases = g->base.n * sizeof(*g->base.at), tenants = g->e.at.n * sizeof(*g->e.at.at);
	struct kept *kept;

	(void)jobs;
	(void)njobs;
	(void)memory;
	if (g->turns.compat != TURNS_OWN)
		return 0;
	kept = mem_alloc(sizeof(*kept) + bases + tenants);
	*kept = (struct kept){ g->e.at_s, g->balanced_s, g->base.n };
	if (bases)
		memcpy(kept + 1, g->base.at, bases);
	if (tenants)
		memcpy((char *)(kept + 1) + bases, g->e.at.at, tenants);
	*out = kept;
	return sizeof(*kept) + bases + tenants;
}

static void gandiva_fair_resume(void *self, const void *bytes, size_t n)
{
	struct gandiva_fair *g = self;
	const struct kept *kept = bytes;
	size_t bases = kept->nbase * sizeof(*g->base.at), tenants = n - sizeof(*kept) - bases;

	g->e.at_s = kept->at_s;
	g->balanced_s = kept->balanced_s;
	vec_grow_zero(&g->base, kept->nbase);
	vec_grow_zero(&g->e.at, tenants / sizeof(*g->e.at.at));
	if (bases)
		memcpy(g->base.at, kept + 1, bases);
	if (tenants)
		memcpy(g->e.at.at, (const char *)(kept + 1) + bases, tenants);
}

static void gandiva_fair_fini(void *self)
{
	struct gandiva_fair *g = self;

	share_turns_fini(&g->turns);
	entitlements_fini(&g->e);
	vec_fini(&g->base);
}

static uint32_t gandiva_fair_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct gandiva_fair *g = self;

	if (g->turns.compat != TURNS_OWN)
		return share_turns_figures(&g->turns, out);
	out[0] = (struct figure){ "trades", g->e.all_trades };
	out[1] = (struct figure){ "least_gain", g->e.least_gain };
	out[2] = (struct figure){ "moves", g->e.moves };
	return 3;
}

static enum compat gandiva_fair_compat(const void *self)
{
	return share_turns_compat(&((const struct gandiva_fair *)self)->turns);
}

const struct policy policy_gandiva_fair = {
	.name = "gandiva-fair",
	.summary = "tenants have device-time by tickets, in gangs, and trade fast types for slow ones",
	.origin = "Gandiva_fair, Chaudhary et al., EuroSys 2020",
	.family = "fair",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.uses = USES_WEIGHT,
	.options = options,
	.state_size = sizeof(struct gandiva_fair),
	.job_state_size = sizeof(struct home_memory),
	.fini = gandiva_fair_fini,
	.figures = gandiva_fair_figures,
	.compat = gandiva_fair_compat,
	.remember = gandiva_fair_remember,
	.resume = gandiva_fair_resume,
	.carry = policy_carry,
	.decide = gandiva_fair_decide,
};
