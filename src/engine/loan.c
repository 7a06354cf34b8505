/*
 * Borrowed nodes: they come when they are lent and go when they are called
 * back, which node it is being the policy's choice.
 *
 * Nobody's work is lost.  A job that has enough devices elsewhere goes on with
 * these, any other is stopped and waits.
 */
#include "engine/state.h"

const bool *engine_on_loan(struct engine *e)
{
	uint32_t n = e->config->cluster->nnodes;

	if (!e->config->pool)
		return NULL;
	/* Until it is said how many are lent, all are. */
	for (uint32_t i = (uint32_t)e->on_loan.n; i < n; i++) {
		vec_push(&e->on_loan, e->config->pool[i]);
		vec_push(&e->broken, false);
	}
	return e->on_loan.at;
}

bool engine_node_turns(struct engine *e, uint32_t node, bool up)
{
	const bool *on_loan = engine_on_loan(e);

	if (!on_loan)
		return true;
	e->broken.at[node] = !up;
	return on_loan[node] || !e->config->pool[node];
}

static uint32_t count_lent(const struct engine *e)
{
	uint32_t n = 0;

	for (size_t i = 0; i < e->on_loan.n; i++)
		n += e->on_loan.at[i];
	return n;
}

/* ---- coming */

static void lend(struct engine *e, uint32_t n)
{
	for (uint32_t i = 0; i < e->config->cluster->nnodes && n > 0; i++) {
		if (!e->config->pool[i] || e->on_loan.at[i])
			continue;
		n--;
		e->on_loan.at[i] = true;
		if (e->broken.at[i])
			continue;
		plan_node_up(&e->plan, i, true);
		e->capacity_changed = true;
		engine_tell(e, (struct event){ .kind = EV_NODE_UP, .job = JOB_NONE, .node = i });
	}
}

/* ---- going */

static bool is_on(const struct job *job, uint32_t node)
{
	for (uint32_t i = 0; job->grant && i < job->grant->nslots; i++) {
		if (job->grant->slots[i].node == node)
			return true;
	}
	return false;
}

static uint32_t jobs_on(const struct engine *e, uint32_t node)
{
	uint32_t n = 0;

	for (size_t i = 0; i < e->active.n; i++)
		n += is_on(&e->jobs.at[e->active.at[i]], node);
	return n;
}

/* For policies that do not mind: those with the fewest jobs, the lowest of equals. */
static void choose_emptiest(const struct engine *e, uint32_t n, uint32_t *nodes)
{
	uint32_t nnodes = e->config->cluster->nnodes, found = 0;

	for (uint32_t jobs = 0; found < n; jobs++) {
		for (uint32_t i = 0; i < nnodes && found < n; i++) {
			if (e->on_loan.at[i] && jobs_on(e, i) == jobs)
				nodes[found++] = i;
		}
	}
}

/* Marks what the policy chose; they must be on loan, and each another one. */
static int choose(struct engine *e, uint32_t n, bool *leaving, struct err *err)
{
	const struct chosen_policy *policy = &e->config->policy;
	uint32_t *nodes = arena_array(&e->scratch, uint32_t, n);
	struct round round = engine_round(e);

	if (policy->rule->recall)
		policy->rule->recall(policy->state, &round, n, nodes);
	else
		choose_emptiest(e, n, nodes);
	for (uint32_t i = 0; i < n; i++) {
		if (nodes[i] >= e->config->cluster->nnodes || !e->on_loan.at[nodes[i]] ||
			leaving[nodes[i]])
			return err_set(err, ERR_BROKEN,
				"policy %s returns node %u, which is not on loan or returned already",
				policy->rule->name, nodes[i]);
		leaving[nodes[i]] = true;
	}
	return 0;
}

/* Devices of the job on nodes that stay, and on those that leave. */
static uint32_t staying(const struct job *job, const bool *leaving, uint32_t *gone)
{
	uint32_t stays = 0;

	*gone = 0;
	for (uint32_t i = 0; i < job->grant->nslots; i++) {
		uint32_t n = (uint32_t)__builtin_popcountll(job->grant->slots[i].devices);

		if (leaving[job->grant->slots[i].node])
			*gone += n;
		else
			stays += n;
	}
	return stays;
}

/* Whether it can go on with fewer devices at any moment: not if it was given them for a turn. */
static bool can_shrink(const struct job *job, uint32_t gpus)
{
	return gpus >= job_least_on(job, job->grant->type) && gpus > 0 && !job->grant->mixed &&
		gpus % job_unit_on(job, job->grant->type) == 0 && job->grant->until_s == 0 &&
		job->company == 0;
}

static void clear_nodes(struct engine *e, const bool *leaving)
{
	for (size_t i = 0; i < e->active.n; i++) {
		struct job *job = &e->jobs.at[e->active.at[i]];
		uint32_t gone, stays;

		if (!job->grant)
			continue;
		stays = staying(job, leaving, &gone);
		if (gone == 0)
			continue;
		if (can_shrink(job, stays))
			plan_leave(&e->plan, job, leaving);
		else
			plan_stop(&e->plan, job);
	}
}

/* Who was stopped hears why, and that before anybody decides. */
static void tell_why(struct engine *e)
{
	for (size_t i = 0; i < e->plan.touched.n; i++) {
		struct job *job = &e->jobs.at[e->plan.touched.at[i]];
		struct reason why = { .why = WHY_RECALLED, .need = job->min_gpus, .other = JOB_NONE };

		if (job->grant)
			continue;
		engine_set_reason(e, job, why);
		engine_tell(e, (struct event){ .kind = EV_WAIT, .job = job->id, .reason = why });
	}
}

static int recall(struct engine *e, uint32_t n, struct err *err)
{
	bool *leaving = arena_array(&e->scratch, bool, e->config->cluster->nnodes);
	double wake_s = e->plan.wake_s;

	if (choose(e, n, leaving, err) < 0)
		return err->code;
	plan_begin(&e->plan);
	clear_nodes(e, leaving);
	if (engine_carry_out(e, err) < 0)
		return err->code;
	tell_why(e);
	plan_commit(&e->plan);
	plan_wake(&e->plan, wake_s);
	for (uint32_t i = 0; i < e->config->cluster->nnodes; i++) {
		if (!leaving[i])
			continue;
		e->on_loan.at[i] = false;
		if (e->broken.at[i])
			continue;
		plan_node_up(&e->plan, i, false);
		e->capacity_changed = true;
		engine_tell(e, (struct event){ .kind = EV_NODE_DOWN, .job = JOB_NONE, .node = i });
	}
	return 0;
}

int engine_borrow(struct engine *e, double servers, struct err *err)
{
	uint32_t lent, want;

	if (!engine_on_loan(e))
		return err_set(err, ERR_BROKEN,
			"driver %s lends nodes, but there is no pool of them", e->driver->name);
	lent = count_lent(e);
	want = (uint32_t)servers;
	if (want > lent)
		lend(e, want - lent);
	else if (want < lent && recall(e, lent - want, err) < 0)
		return err->code;
	return engine_settle_company(e, err);
}
