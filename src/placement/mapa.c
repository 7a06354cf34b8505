/*
 * MAPA: devices whose links suit the pattern in which a job communicates.
 *
 * A job that communicates much gets the devices with the largest predicted bandwidth; another
 * those that leave the widest links to others (policy=preserve).  Of several nodes
 * the one with the best score is taken, of equals the fullest.  A job that no
 * node holds gets as few nodes as can be, and on each of them devices by the same rule.
 *
 * Nodes whose links are not known, or of more than 16 devices, are all alike.
 */
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "placement/answers.h"
#include "placement/closer.h"
#include "placement/mapa_score.h"
#include "placement/placer.h"

enum policy_kind { POLICY_GREEDY, POLICY_PRESERVE, POLICY_BASELINE, POLICY_TOPO_AWARE };
static const char *const policy_names[] = { "greedy", "preserve", "baseline", "topo-aware", NULL };

enum model_kind { MODEL_PUBLISHED, MODEL_MONOTONE };
static const char *const model_names[] = { "published", "monotone", NULL };

enum sensitive { SENSITIVE_MODEL, SENSITIVE_ALL, SENSITIVE_NONE };
static const char *const sensitive_names[] = { "model", "all", "none", NULL };

struct mapa {
	int policy, model, pattern, sensitive;
	double threshold;
	bool unknown;
	bool strict;
	double speed_min;

	const struct cluster *cluster;
	struct answers answers;
	VEC(struct mapa_graph *) graphs; /* by topology; NULL: not looked at yet, or too large */
};

static const struct option options[] = {
	OPT_CHOICE(struct mapa, policy, POLICY_PRESERVE, policy_names,
		"greedy: the widest links; preserve: spare wide links where a job does not need them; "
		"baseline: the lowest numbers; topo-aware: of one socket"),
	OPT_CHOICE(struct mapa, model, MODEL_MONOTONE, model_names,
		"how bandwidth is predicted: as published, or so that more and faster links never count less"),
	OPT_CHOICE(struct mapa, pattern, PATTERN_RING, pattern_names, "in which jobs communicate"),
	OPT_CHOICE(struct mapa, sensitive, SENSITIVE_MODEL, sensitive_names,
		"which jobs need bandwidth: as is known of their model, all, none"),
	OPT_DOUBLE(struct mapa, threshold, 0.1, 0, 1,
		"part of a step on the slowest links, spent communicating, above which a model needs bandwidth"),
	OPT_BOOL(struct mapa, unknown, 1, "models that nothing is known of need it"),
	OPT_BOOL(struct mapa, strict, 0, "wait rather than use more nodes than needed"),
	OPT_DOUBLE(struct mapa, speed_min, 0.8, 0, 1,
		"the same for jobs that would have less than this part of their speed there"),
	{ 0 },
};

static void mapa_fini(void *self)
{
	struct mapa *m = self;

	for (size_t i = 0; i < m->graphs.n; i++)
		mapa_graph_destroy(m->graphs.at[i]);
	vec_fini(&m->graphs);
	answers_fini(&m->answers);
	m->cluster = NULL;
}

static int mapa_begin(void *self, const struct cluster *cluster, const struct tenants *tenants,
	struct err *err)
{
	(void)tenants;
	(void)err;
	mapa_fini(self);
	((struct mapa *)self)->cluster = cluster;
	return 0;
}

static struct mapa_graph *graph_of(struct mapa *m, const struct cluster *cluster, uint32_t node)
{
	uint32_t topology = cluster->nodes[node].topology;

	if (topology == TOPOLOGY_NONE)
		return NULL;
	if (m->cluster != cluster)
		mapa_begin(m, cluster, NULL, NULL);
	vec_grow_zero(&m->graphs, cluster->ntopologies);
	if (!m->graphs.at[topology])
		m->graphs.at[topology] = mapa_graph_create(&cluster->topologies[topology],
			(enum pattern)m->pattern,
			m->model == MODEL_PUBLISHED ? bandwidth_published : bandwidth_monotone);
	return m->graphs.at[topology];
}

/* Whether the job would lose much on slow links. */
static bool is_sensitive(const struct mapa *m, const struct placing *p, const struct topology *t)
{
	struct shape slow = { .gpus = p->gpus + p->rest, .nodes = 1, .racks = 1 };
	double traffic = NAN;

	if (m->sensitive != SENSITIVE_MODEL)
		return m->sensitive == SENSITIVE_ALL;
	slow.link_Bps = topology_slowest_Bps(t);
	if (p->belief && p->job->model != NAME_NONE)
		traffic = profile_traffic(p->belief, p->job->model, p->type, slow);
	return isnan(traffic) ? m->unknown : traffic > m->threshold;
}

static enum mapa_rule rule_for(const struct mapa *m, const struct placing *p, const struct topology *t)
{
	switch (m->policy) {
	case POLICY_GREEDY:
		return MAPA_GREEDY;
	case POLICY_BASELINE:
		return MAPA_LOWEST;
	case POLICY_TOPO_AWARE:
		return MAPA_SOCKET;
	default:
		return is_sensitive(m, p, t) && p->gpus > 1 ? MAPA_PREDICTED : MAPA_PRESERVE;
	}
}

/* n devices of the node by its rule. */
static struct answer choose_on(struct mapa *m, const struct placing *p, uint32_t node, uint32_t n)
{
	const struct cluster *cluster = p->space->cluster;
	const struct node *where = &cluster->nodes[node];
	struct mapa_graph *graph = graph_of(m, cluster, node);
	struct answer a = {
		.topology = where->topology,
		.devices = where->devices,
		.n = n,
		.free = p->space->nodes[node].free,
	};
	struct mapa_choice choice;

	a.best = space_lowest(a.free, n);
	if (!graph)
		return a;
	a.rule = rule_for(m, p, &cluster->topologies[where->topology]);
	if (answers_find(&m->answers, &a))
		return a;
	if (mapa_choose(graph, a.free, n, (enum mapa_rule)a.rule, -INFINITY, &choice)) {
		a.best = choice.devices;
		a.value = choice.value;
	}
	answers_keep(&m->answers, &a);
	return a;
}

/* All of it on one node, that with the best score; nodes come fullest first. */
static bool choose_node(struct mapa *m, const struct placing *p, struct slots *out)
{
	struct answer best = { 0 };
	uint32_t on = UINT32_MAX;

	for (uint32_t f = p->gpus; f <= p->space->types[p->type].max; f++) {
		uint32_t at = 0, node;

		while ((node = space_next(p->space, p->type, f, &at)) != UINT32_MAX) {
			struct answer choice;

			if (!placing_feeds(p, node, p->gpus))
				continue;
			choice = choose_on(m, p, node, p->gpus);
			if (on == UINT32_MAX || choice.value > best.value + 1e-9) {
				best = choice;
				on = node;
			}
		}
	}
	if (on != UINT32_MAX)
		slots_add(out, on, best.best);
	return on != UINT32_MAX;
}

/* While somebody runs who could make room on fewer nodes. */
static bool waits(const struct mapa *m, const struct placing *p, const struct slots *found)
{
	const struct space_type *type = &p->space->types[p->type];

	if (p->ever || type->free == type->up || closer_speed(p, found) >= m->speed_min)
		return false;
	closer_refuse(p, INFINITY);
	return true;
}

static bool choose(void *self, const struct placing *p, struct slots *out)
{
	if (choose_node(self, p, out))
		return true;
	if (!place_together(p, ((struct mapa *)self)->strict, out) || waits(self, p, out))
		return false;
	for (uint32_t i = 0; i < out->n; i++)
		out->at[i].devices = choose_on(self, p, out->at[i].node,
			(uint32_t)__builtin_popcountll(out->at[i].devices))
					     .best;
	return true;
}

const struct placer placer_mapa = {
	.name = "mapa",
	.summary = "devices whose links suit the job's pattern, wide links spared for those who need them",
	.origin = "MAPA: Ranganath et al., SC 2021",
	.options = options,
	.state_size = sizeof(struct mapa),
	.by_model = true,
	.begin = mapa_begin,
	.fini = mapa_fini,
	.choose = choose,
};
