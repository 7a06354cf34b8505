/*
 * Topology-aware placement (Amaral et al.): the devices of the largest utility.
 *
 * Utility weighs nearness, quiet neighbours and full sockets (placement/topo_utility.h).  Of
 * several machines the best is taken, the lowest of equals.  With u_min a job for
 * which no place is good enough waits for a better one, and so does one that would be
 * slow on more machines than it needs (placement/closer.h), though not longer than
 * patience_s, nor where nobody runs who could leave a better one.
 *
 * How two jobs disturb each other is not measured: each is believed to lose interference
 * times the parts of their steps that both spend communicating, where they share a socket.
 */
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "placement/answers.h"
#include "placement/closer.h"
#include "placement/placer.h"
#include "placement/topo_utility.h"

enum method { METHOD_AUTO, METHOD_EXACT, METHOD_DRB };
static const char *const method_names[] = { "auto", "exact", "drb", NULL };

/* Somebody on a node. */
struct resident {
	uint32_t job, model, gpus;
	uint64_t devices;
};

struct topo {
	double near, quiet, full;
	double u_min, speed_min, patience_s, interference;
	int method;
	bool strict;
	double d_switch, d_socket, d_node;

	const struct cluster *cluster;
	VEC(VEC(struct resident)) nodes;
	struct answers answers; /* for machines on which nobody is loud */
};

static const struct option options[] = {
	OPT_DOUBLE(struct topo, near, 1.0 / 3, 0, 1, "weight of nearness"),
	OPT_DOUBLE(struct topo, quiet, 1.0 / 3, 0, 1, "weight of quiet neighbours"),
	OPT_DOUBLE(struct topo, full, 1.0 / 3, 0, 1, "weight of full sockets"),
	OPT_DOUBLE(struct topo, u_min, 0, 0, 1,
		"a job waits where no place has this utility; 0: it takes the best"),
	OPT_DOUBLE(struct topo, speed_min, 0.8, 0, 1,
		"nor where on more nodes than it needs it would have less than this part of its speed"),
	OPT_DOUBLE(struct topo, patience_s, 43200, 0, 1e15, "for so long"),
	OPT_DOUBLE(struct topo, interference, 0.5, 0, 10,
		"what two jobs that only communicate take from each other on one socket"),
	OPT_CHOICE(struct topo, method, METHOD_AUTO, method_names,
		"try all sets (of at most 16 devices), or recursive bipartitioning; auto: that on more than 8"),
	OPT_BOOL(struct topo, strict, 0, "wait rather than use more nodes than needed"),
	OPT_DOUBLE(struct topo, d_switch, 1, 0.001, 1e6, "distance on one switch, or by a direct link"),
	OPT_DOUBLE(struct topo, d_socket, 10, 0.001, 1e6, "on one socket"),
	OPT_DOUBLE(struct topo, d_node, 20, 0.001, 1e6, "across sockets"),
	{ 0 },
};

/* ---- who is where */

static void topo_fini(void *self)
{
	struct topo *t = self;

	for (size_t i = 0; i < t->nodes.n; i++)
		vec_fini(&t->nodes.at[i]);
	vec_fini(&t->nodes);
	answers_fini(&t->answers);
	t->cluster = NULL;
}

static int topo_begin(void *self, const struct cluster *cluster, const struct tenants *tenants,
	struct err *err)
{
	(void)tenants;
	(void)err;
	topo_fini(self);
	((struct topo *)self)->cluster = cluster;
	return 0;
}

static void topo_took(void *self, const struct job *job, struct slot slot)
{
	struct topo *t = self;

	vec_grow_zero(&t->nodes, (size_t)slot.node + 1);
	vec_push(&t->nodes.at[slot.node],
		(struct resident){ job->id, job->model, (uint32_t)job->gpus, slot.devices });
}

static void topo_gave(void *self, const struct job *job, struct slot slot)
{
	struct topo *t = self;

	for (size_t i = 0; slot.node < t->nodes.n && i < t->nodes.at[slot.node].n; i++) {
		struct resident *r = &t->nodes.at[slot.node].at[i];

		if (r->job == job->id && r->devices == slot.devices) {
			*r = t->nodes.at[slot.node].at[--t->nodes.at[slot.node].n];
			return;
		}
	}
}

/* ---- neighbours */

enum { LOUD_MAX = NODE_DEVICES_MAX };

/* Others on the machine who communicate, and how much. */
struct company {
	const struct topo_machine *machine;
	double strength, own;
	double traffic[LOUD_MAX];
	uint64_t devices[LOUD_MAX];
	uint32_t n;
};

/* What a model spends communicating on slow links; 0 where nothing is known. */
static double traffic_of(const struct placing *p, uint32_t model, uint32_t gpus, double slow_Bps)
{
	struct shape shape = { .gpus = gpus, .nodes = 1, .racks = 1, .link_Bps = slow_Bps };
	double traffic = NAN;

	if (p->belief && model != NAME_NONE && gpus > 1)
		traffic = profile_traffic(p->belief, model, p->type, shape);
	return traffic > 0 ? traffic : 0;
}

static void gather(const struct topo *t, const struct placing *p, uint32_t node, double slow_Bps,
	struct company *c)
{
	c->n = 0;
	c->strength = t->interference;
	c->own = t->quiet > 0 && t->interference > 0
		? traffic_of(p, p->job->model, p->gpus + p->rest, slow_Bps)
		: 0;
	if (c->own == 0 || node >= t->nodes.n)
		return;
	for (size_t i = 0; i < t->nodes.at[node].n && c->n < LOUD_MAX; i++) {
		const struct resident *r = &t->nodes.at[node].at[i];
		double traffic = traffic_of(p, r->model, r->gpus, slow_Bps);

		if (r->job == p->job->id || traffic == 0)
			continue;
		c->traffic[c->n] = traffic;
		c->devices[c->n++] = r->devices;
	}
}

static uint64_t sockets_of(const struct topo_machine *m, uint64_t devices)
{
	uint64_t sockets = 0;

	for (uint64_t left = devices; left; left &= left - 1)
		sockets |= m->socket[__builtin_ctzll(left)];
	return sockets;
}

/* The mean of what is left to the job and to those it disturbs. */
static double quiet(const void *ctx, uint64_t devices)
{
	const struct company *c = ctx;
	uint64_t sockets = sockets_of(c->machine, devices);
	double own = 1, others = 0;
	uint32_t disturbed = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		double left = 1 / (1 + c->strength * c->own * c->traffic[i]);

		if (!(c->devices[i] & sockets))
			continue;
		own *= left;
		others += left;
		disturbed++;
	}
	return (own + others) / (1 + disturbed);
}

/* ---- one machine */

enum { RULE_BEST, RULE_IDLE }; /* what answers are about */

static uint64_t search(const struct topo *t, const struct topo_machine *m, uint32_t n)
{
	static const uint32_t exact_up_to[] = { [METHOD_AUTO] = 8, [METHOD_EXACT] = 16, [METHOD_DRB] = 0 };

	return m->devices <= exact_up_to[t->method] ? topo_exact(m, n) : topo_bipartition(m, n);
}

/* What an idle machine of the kind could offer: asked again for each set of free devices, so it is kept. */
static double nearest(struct topo *t, const struct topo_machine *m, const struct answer *key)
{
	struct answer idle = {
		.topology = key->topology,
		.devices = key->devices,
		.n = key->n,
		.rule = RULE_IDLE,
		.best = 1,
	};

	if (!answers_find(&t->answers, &idle)) {
		idle.value = topo_nearest(m, key->n);
		answers_keep(&t->answers, &idle);
	}
	return idle.value;
}

static struct topo_machine *machine_for(struct topo *t, const struct topology *links,
	const struct answer *key)
{
	struct distances d = { { t->d_switch, t->d_socket, t->d_node, 5 * t->d_node } };
	struct topo_machine *m = mem_alloc(sizeof(*m));

	topo_machine_init(m, links, key->devices, &d);
	m->weight[UTILITY_NEAR] = t->near;
	m->weight[UTILITY_QUIET] = t->quiet;
	m->weight[UTILITY_FULL] = t->full;
	m->nearest = nearest(t, m, key);
	m->free = key->free;
	return m;
}

static struct answer choose_on(struct topo *t, const struct placing *p, uint32_t node, uint32_t n)
{
	const struct cluster *cluster = p->space->cluster;
	const struct node *where = &cluster->nodes[node];
	const struct topology *links = where->topology == TOPOLOGY_NONE
		? NULL
		: &cluster->topologies[where->topology];
	struct answer key = {
		.topology = where->topology,
		.devices = where->devices,
		.n = n,
		.free = p->space->nodes[node].free,
	};
	struct company company;
	struct topo_machine *m;

	gather(t, p, node, links ? topology_slowest_Bps(links) : 0, &company);
	if (company.n == 0 && answers_find(&t->answers, &key))
		return key;
	m = machine_for(t, links, &key);
	company.machine = m;
	m->quiet = company.n ? quiet : NULL;
	m->ctx = &company;
	key.best = search(t, m, n);
	key.value = topo_utility(m, key.best).all;
	free(m);
	if (company.n == 0)
		answers_keep(&t->answers, &key);
	return key;
}

/* ---- all of them */

static bool choose_node(struct topo *t, const struct placing *p, struct slots *out, double *utility)
{
	const struct space_type *type = &p->space->types[p->type];
	struct answer best = { .value = -INFINITY };
	uint32_t on = UINT32_MAX;

	for (uint32_t i = 0; i < type->nnodes; i++) {
		uint32_t node = type->nodes[i];
		struct answer one;

		if (!p->space->nodes[node].up || p->space->nodes[node].nfree < p->gpus ||
			!placing_feeds(p, node, p->gpus))
			continue;
		one = choose_on(t, p, node, p->gpus);
		if (one.value > best.value + 1e-9) {
			best = one;
			on = node;
		}
	}
	if (on == UINT32_MAX)
		return false;
	slots_add(out, on, best.best);
	*utility = best.value;
	return true;
}

/* Whether it should wait for a better place. */
static bool postpone(const struct topo *t, const struct placing *p, bool good)
{
	const struct space_type *type = &p->space->types[p->type];
	double since_s = p->job->grant ? p->now_s : p->job->wait_since_s;
	double until_s = since_s + t->patience_s;

	if (good || p->ever || type->free == type->up || until_s <= p->now_s)
		return false;
	closer_refuse(p, until_s);
	return true;
}

static bool choose(void *self, const struct placing *p, struct slots *out)
{
	struct topo *t = self;
	double utility;

	if (t->cluster != p->space->cluster) {
		answers_fini(&t->answers);
		t->cluster = p->space->cluster;
	}
	if (choose_node(t, p, out, &utility))
		return !postpone(t, p, utility >= t->u_min);
	if (!place_together(p, t->strict, out) || postpone(t, p, closer_speed(p, out) >= t->speed_min))
		return false;
	for (uint32_t i = 0; i < out->n; i++)
		out->at[i].devices = choose_on(t, p, out->at[i].node,
			(uint32_t)__builtin_popcountll(out->at[i].devices))
					     .best;
	return true;
}

const struct placer placer_topo = {
	.name = "topo",
	.summary = "devices that are near each other, disturb nobody and leave no gaps",
	.origin = "Amaral et al., SC 2017",
	.options = options,
	.state_size = sizeof(struct topo),
	.by_model = true,
	.particular = true,
	.begin = topo_begin,
	.fini = topo_fini,
	.took = topo_took,
	.gave = topo_gave,
	.choose = choose,
};
