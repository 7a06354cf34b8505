/*
 * Packing: the largest first, each to the node of its kind where it leaves least.
 */
#include <math.h>
#include <stdlib.h>

#include "policy/share/zhong.h"

/* ---- amounts */

struct amount zhong_all_of(const struct cluster *cluster, uint32_t node)
{
	const struct node *n = &cluster->nodes[node];

	return (struct amount){ { n->devices, n->cpus, (double)n->mem_bytes } };
}

struct amount zhong_free_of(const struct plan *plan, uint32_t node)
{
	const struct space_node *n = &plan->space.nodes[node];

	return (struct amount){ { n->nfree, n->cpus, (double)n->mem_bytes } };
}

struct amount zhong_wanted_by(const struct job *job, uint32_t type)
{
	return (struct amount){ { job_gpus_on(job, type), job->cpus, (double)job->mem_bytes } };
}

/* ---- packing */

static bool is_kind(const struct zhong_round *d, const struct job *job, uint32_t node)
{
	bool spot = d->round->cluster->nodes[node].spot;

	return !d->spots || spot == (job->class_ == JOB_OPPORTUNISTIC);
}

/* Whether it may go there; one that no node of its kind could ever take goes anywhere. */
static bool suits(const struct zhong_round *d, const struct job *job, uint32_t node, bool any)
{
	return job_may_use(job, d->round->cluster->nodes[node].type) && (any || is_kind(d, job, node));
}

/* Whether some node, of its kind unless `any`, could take it if it were empty. */
static bool has_node(const struct zhong_round *d, const struct job *job, bool any)
{
	const struct cluster *cluster = d->round->cluster;

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		struct amount all = zhong_all_of(cluster, i),
			      task = zhong_wanted_by(job, cluster->nodes[i].type);

		if (suits(d, job, i, any) && isfinite(renting_leftover(&all, &all, &task)))
			return true;
	}
	return false;
}

static bool homeless(const struct zhong_round *d, const struct job *job)
{
	return d->spots && !has_node(d, job, false);
}

bool zhong_suits(const struct zhong_round *d, const struct job *job, uint32_t node)
{
	return suits(d, job, node, homeless(d, job));
}

/* Between equals the node that has been here longest. */
static bool older(const struct zhong *z, uint32_t a, uint32_t b)
{
	return z->nodes.at[a].since_s < z->nodes.at[b].since_s;
}

uint32_t zhong_best_node(const struct zhong_round *d, const struct job *job, uint32_t except)
{
	const struct cluster *cluster = d->round->cluster;
	uint32_t best = UINT32_MAX;
	double least = INFINITY;
	bool any = homeless(d, job);

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		struct amount all = zhong_all_of(cluster, i), free = zhong_free_of(d->plan, i),
			      task = zhong_wanted_by(job, cluster->nodes[i].type);
		double left;

		if (i == except || d->leaving[i] || !d->plan->space.nodes[i].up ||
			!suits(d, job, i, any))
			continue;
		left = renting_leftover(&free, &all, &task);
		if (isinf(left))
			continue;
		left = d->z->pack == PACK_SPREAD ? -left : left;
		if (best == UINT32_MAX || left < least - 1e-12 ||
			(left < least + 1e-12 && older(d->z, i, best))) {
			best = i;
			least = left;
		}
	}
	return best;
}

bool zhong_put(struct zhong_round *d, const struct job *job, uint32_t node)
{
	uint32_t type = d->round->cluster->nodes[node].type;
	struct node_share at = { node, job_gpus_on(job, type) };

	return plan_run_at(d->plan, job, &at, 1, (struct want){ .move = true });
}

static int by_size(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

uint32_t zhong_line_up(const struct zhong_round *d, struct waiting **out)
{
	const struct round *round = d->round;
	struct waiting *line = arena_array(round->scratch, struct waiting, round->nactive + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		double size = 0;

		if (job->state != JOB_PENDING || plan_grant(d->plan, job->id))
			continue;
		for (uint32_t node = 0; node < round->cluster->nnodes; node++) {
			struct amount all = zhong_all_of(round->cluster, node),
				      task = zhong_wanted_by(job, round->cluster->nodes[node].type);

			if (node == 0 ||
				round->cluster->nodes[node].type != round->cluster->nodes[node - 1].type)
				size = fmax(size, renting_dominant(&all, &task));
		}
		line[n++] = (struct waiting){ size, job->id };
	}
	qsort(line, n, sizeof(*line), by_size);
	*out = line;
	return n;
}

/* Gangs that no node takes, and fractions, go where the placer finds room for them. */
void zhong_pack(struct zhong_round *d)
{
	struct waiting *line;
	uint32_t n = zhong_line_up(d, &line);

	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &d->round->jobs[line[i].job];
		bool odd = job->nodes || job_is_fraction(job) || !has_node(d, job, true);
		uint32_t node = odd ? UINT32_MAX : zhong_best_node(d, job, UINT32_MAX);
		bool runs = odd ? kit_run(d->round, d->plan, job)
				: node != UINT32_MAX && zhong_put(d, job, node);

		if (!runs)
			kit_no_room(d->round, d->plan, job);
	}
}
