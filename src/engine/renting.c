/*
 * Rented nodes: they come some time after the policy asks for them and go when it
 * gives them back; what they cost in between.
 *
 * Paid for is the time from asking to giving back, in whole periods where the cluster
 * has some.  Nodes that nobody rents are paid for as long as the run lasts.
 */
#include <math.h>

#include "engine/state.h"

static bool rents(const struct engine *e)
{
	return e->rented.n > 0;
}

void engine_begin_renting(struct engine *e)
{
	const struct cluster *cluster = e->config->cluster;

	if (!(e->config->policy.rule->traits & POLICY_RENTS) || rents(e))
		return;
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		bool ours = !cluster->nodes[i].rentable;

		vec_push(&e->rented,
			(struct rented){ .asked = ours, .up = ours, .since_s = -INFINITY });
		if (ours || !e->plan.space.nodes[i].up)
			continue;
		plan_node_up(&e->plan, i, false);
		engine_tell(e, (struct event){ .kind = EV_NODE_DOWN, .job = JOB_NONE, .node = i });
	}
}

/* ---- what it costs */

static double paid_s(const struct engine *e, uint32_t node, double held_s)
{
	double period_s = e->config->cluster->renting.period_s;

	if (!(period_s > 0) || !e->config->cluster->nodes[node].rentable)
		return held_s;
	return ceil(held_s / period_s - 1e-9) * period_s;
}

static void charge(struct engine *e, uint32_t node)
{
	double paid = paid_s(e, node, e->now_s - e->rented.at[node].since_s);

	e->node_s += paid;
	e->money += paid / 3600 * node_price_per_h(e->config->cluster, node);
}

static bool has_prices(const struct cluster *cluster)
{
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (cluster->nodes[i].price_per_h > 0 || cluster->nodes[i].rentable)
			return true;
	}
	return false;
}

uint32_t engine_cost(const struct engine *e, struct figure *out, uint32_t n)
{
	const struct cluster *cluster = e->config->cluster;
	double node_s = e->node_s, money = e->money;

	if (!has_prices(cluster) || n + 2 > FIGURES_MAX)
		return n;
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		double since_s = rents(e) ? fmax(e->rented.at[i].since_s, e->course.from_s)
					  : e->course.from_s;
		double paid;

		if (rents(e) && !e->rented.at[i].asked)
			continue;
		paid = paid_s(e, i, fmax(0, e->now_s - since_s));
		node_s += paid;
		money += paid / 3600 * node_price_per_h(cluster, i);
	}
	out[n++] = (struct figure){ "node_hours", node_s / 3600 };
	out[n++] = (struct figure){ "cost", money };
	return n;
}

/* ---- coming and going */

bool engine_rented_turns(struct engine *e, uint32_t node, bool up, bool rented)
{
	if (!rents(e))
		return true;
	if (rented)
		e->rented.at[node].up = true;
	/* A node that is not here cannot fail, and one that comes anew is whole. */
	return e->rented.at[node].up && e->plan.space.nodes[node].up != up;
}

static int ask(struct engine *e, uint32_t node, struct err *err)
{
	if (!e->driver->rent)
		return err_set(err, ERR_BROKEN, "nobody lends nodes to driver %s", e->driver->name);
	e->rented.at[node] = (struct rented){ .asked = true, .since_s = e->now_s };
	return e->driver->rent(e->world, node, e->now_s, err);
}

static int give_back(struct engine *e, uint32_t node, struct err *err)
{
	const struct space_node *there = &e->plan.space.nodes[node];

	if (there->users.n > 0 || there->hosted > 0)
		return err_set(err, ERR_BROKEN, "policy %s gives node %u back, where jobs are",
			e->config->policy.rule->name, node);
	charge(e, node);
	e->rented.at[node] = (struct rented){ 0 };
	if (!there->up)
		return 0;
	plan_node_up(&e->plan, node, false);
	e->capacity_changed = true;
	engine_tell(e, (struct event){ .kind = EV_NODE_DOWN, .job = JOB_NONE, .node = node });
	return 0;
}

int engine_rent(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->plan.rentals.n; i++) {
		struct plan_rental r = e->plan.rentals.at[i];

		if (!rents(e) || !e->config->cluster->nodes[r.node].rentable ||
			e->rented.at[r.node].asked == r.rent || (!r.rent && !e->rented.at[r.node].up))
			return err_set(err, ERR_BROKEN, "policy %s cannot %s node %u",
				e->config->policy.rule->name, r.rent ? "rent" : "give back", r.node);
		if ((r.rent ? ask : give_back)(e, r.node, err) < 0)
			return err->code;
	}
	return 0;
}
