/*
 * Renting: of all flavours the cheapest for what it takes of those who wait.
 */
#include "policy/share/zhong.h"

/* A kind of node that can be rented, and which of them are left. */
struct offer {
	struct flavour flavour;
	const struct node *like;
	uint32_t *nodes;
};

static bool alike(const struct node *a, const struct node *b)
{
	return a->type == b->type && a->devices == b->devices && a->cpus == b->cpus &&
		a->mem_bytes == b->mem_bytes && a->price_per_h == b->price_per_h && a->spot == b->spot;
}

static uint32_t list_offers(const struct zhong_round *d, struct offer **out)
{
	const struct cluster *cluster = d->round->cluster;
	struct offer *offers = arena_array(d->round->scratch, struct offer, cluster->nnodes + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		uint32_t at = 0;

		if (!cluster->nodes[i].rentable || d->z->nodes.at[i].rented)
			continue;
		while (at < n && !alike(offers[at].like, &cluster->nodes[i]))
			at++;
		if (at == n)
			offers[n++] = (struct offer){
				{ zhong_all_of(cluster, i), node_price_per_h(cluster, i), 0 },
				&cluster->nodes[i],
				arena_array(d->round->scratch, uint32_t, cluster->nnodes),
			};
		offers[at].nodes[offers[at].flavour.count++] = i;
	}
	*out = offers;
	return n;
}

/* Jobs of one kind and type that wait and that nothing booting will take, the largest first. */
struct demand {
	struct amount *tasks;
	uint32_t n;
};

static struct demand demand_for(const struct zhong_round *d, const struct node *like,
	const struct waiting *line, uint32_t nline)
{
	const struct cluster *cluster = d->round->cluster;
	struct amount *tasks = arena_array(d->round->scratch, struct amount, nline + 1),
		      *free = arena_array(d->round->scratch, struct amount, cluster->nnodes + 1),
		      *all = arena_array(d->round->scratch, struct amount, cluster->nnodes + 1);
	bool *covered = arena_array(d->round->scratch, bool, nline + 1);
	uint32_t n = 0, booting = 0, left = 0;
	uint32_t sample = (uint32_t)(like - cluster->nodes);

	for (uint32_t i = 0; i < nline; i++) {
		const struct job *job = &d->round->jobs[line[i].job];

		if (!plan_grant(d->plan, job->id) && zhong_suits(d, job, sample))
			tasks[n++] = zhong_wanted_by(job, like->type);
	}
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (d->z->nodes.at[i].booting && cluster->nodes[i].type == like->type &&
			cluster->nodes[i].spot == like->spot)
			free[booting] = all[booting] = zhong_all_of(cluster, i), booting++;
	}
	renting_first_fit(free, all, booting, tasks, n, covered);
	for (uint32_t i = 0; i < n; i++) {
		if (!covered[i])
			tasks[left++] = tasks[i];
	}
	return (struct demand){ tasks, left };
}

/* Whether somebody has waited longer than it should. */
static bool overdue(const struct zhong_round *d, const struct waiting *line, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &d->round->jobs[line[i].job];

		if (!plan_grant(d->plan, job->id) &&
			d->round->now_s - job->wait_since_s >= d->z->wait_s - 1e-9)
			return true;
	}
	return false;
}

static void rent(struct zhong_round *d, const struct offer *offer, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		plan_rent(d->plan, offer->nodes[i], true);
		d->z->nodes.at[offer->nodes[i]] = (struct tenure){ true, true, d->round->now_s };
		d->z->rented++;
	}
	d->z->scaled_s = d->round->now_s;
}

bool zhong_scale_out(struct zhong_round *d)
{
	struct renting_choice best = { 0 };
	struct amount unit = { 0 };
	struct offer *offers;
	struct waiting *line;
	uint32_t n = zhong_line_up(d, &line), noffers = list_offers(d, &offers);

	if (!overdue(d, line, n))
		return false;
	for (uint32_t i = 0; i < noffers; i++)
		renting_most(&unit, &offers[i].flavour.all);
	for (uint32_t i = 0; i < noffers; i++) {
		struct demand demand = demand_for(d, offers[i].like, line, n);
		struct renting_choice c = renting_try(&offers[i].flavour, &unit, demand.tasks,
			demand.n, true);

		if (renting_cheaper(&c, &best)) {
			best = c;
			best.flavour = i;
		}
	}
	if (best.nodes)
		rent(d, &offers[best.flavour], best.nodes);
	return best.nodes > 0;
}
