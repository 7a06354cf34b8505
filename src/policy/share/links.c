/*
 * Flows over links: counted as jobs are placed, shared when all are.
 */
#include "policy/share/links.h"

#include <math.h>

#include "model/pooling.h"
#include "solver/linkfill.h"

enum { PATH_MAX_LINKS = 4 };

/* Links are the nodes', then the racks'. */
static double capacity_of(const struct cluster *cluster, uint32_t link)
{
	double Bps = link < cluster->nnodes ? cluster->net_Bps
					    : cluster->racks[link - cluster->nnodes].up_Bps;

	return Bps > 0 ? Bps : INFINITY;
}

static uint32_t path_of(const struct cluster *cluster, uint32_t host, uint32_t node,
	uint32_t path[PATH_MAX_LINKS])
{
	uint32_t n = 0;

	if (host == node)
		return 0;
	path[n++] = host;
	path[n++] = node;
	if (cluster->nodes[host].rack != cluster->nodes[node].rack) {
		path[n++] = cluster->nnodes + cluster->nodes[host].rack;
		path[n++] = cluster->nnodes + cluster->nodes[node].rack;
	}
	return n;
}

void links_count(struct links *links, const struct grant *grant, int sign)
{
	uint32_t path[PATH_MAX_LINKS];

	for (uint32_t i = 0; grant->host && i < grant->nslots; i++) {
		uint32_t n = path_of(links->round->cluster, grant->host - 1, grant->slots[i].node,
			path);
		int gpus = __builtin_popcountll(grant->slots[i].devices);

		for (uint32_t k = 0; k < n; k++)
			links->users[path[k]] += sign * gpus;
	}
}

void links_make(struct links *links, const struct round *round, const struct plan *plan)
{
	const struct cluster *cluster = round->cluster;

	*links = (struct links){ .round = round };
	links->users = arena_array(round->scratch, double, cluster->nnodes + cluster->nracks);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct grant *grant = plan_grant(plan, round->active[i]);

		if (grant)
			links_count(links, grant, 1);
	}
}

double links_offer(const struct links *links, uint32_t host, uint32_t node, uint32_t gpus)
{
	uint32_t path[PATH_MAX_LINKS], n = path_of(links->round->cluster, host, node, path);
	double Bps = INFINITY;

	for (uint32_t i = 0; i < n; i++)
		Bps = fmin(Bps,
			capacity_of(links->round->cluster, path[i]) / (links->users[path[i]] + gpus));
	return isinf(Bps) ? 0 : Bps;
}

/* ---- shares */

/* One flow for each node where a job has remote devices. */
struct flows {
	uint32_t n, *job, *first, *path;
	double *weight, *share;
};

static void list_flows(const struct links *links, const struct plan *plan, struct flows *f)
{
	const struct round *round = links->round;
	uint32_t slots = 0;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct grant *grant = plan_grant(plan, round->active[i]);

		slots += grant && grant->host ? grant->nslots : 0;
	}
	f->job = arena_array(round->scratch, uint32_t, slots + 1);
	f->first = arena_array(round->scratch, uint32_t, slots + 2);
	f->path = arena_array(round->scratch, uint32_t, slots * PATH_MAX_LINKS + 1);
	f->weight = arena_array(round->scratch, double, slots + 1);
	f->share = arena_array(round->scratch, double, slots + 1);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct grant *grant = plan_grant(plan, round->active[i]);

		for (uint32_t k = 0; grant && grant->host && k < grant->nslots; k++) {
			if (grant->slots[k].node == grant->host - 1)
				continue;
			f->job[f->n] = round->active[i];
			f->weight[f->n] = __builtin_popcountll(grant->slots[k].devices);
			f->first[f->n + 1] = f->first[f->n] +
				path_of(round->cluster, grant->host - 1, grant->slots[k].node,
					&f->path[f->first[f->n]]);
			f->n++;
		}
	}
}

/* The flows of a job follow each other; the slowest counts. */
static void set_terms(const struct links *links, struct plan *plan, const struct flows *f)
{
	for (uint32_t i = 0; i < f->n;) {
		const struct job *job = &links->round->jobs[f->job[i]];
		const struct grant *grant = plan_grant(plan, job->id);
		double least = INFINITY;

		for (; i < f->n && f->job[i] == job->id; i++)
			least = fmin(least, f->share[i]);
		plan_run_upon(plan, job, grant->slots, grant->nslots,
			(struct want){
				.share = grant->share,
				.host = grant->host,
				.link_Bps = isinf(least) ? 0 : least,
			});
	}
}

void links_share(const struct links *links, struct plan *plan)
{
	const struct cluster *cluster = links->round->cluster;
	uint32_t n = cluster->nnodes + cluster->nracks;
	double *capacity;
	struct flows f = { 0 };

	list_flows(links, plan, &f);
	if (f.n == 0)
		return;
	capacity = arena_array(links->round->scratch, double, n);
	for (uint32_t i = 0; i < n; i++)
		capacity[i] = capacity_of(cluster, i);
	linkfill_solve(&(struct linkfill){ f.n, n, capacity, f.first, f.path, f.weight }, f.share);
	set_terms(links, plan, &f);
}
