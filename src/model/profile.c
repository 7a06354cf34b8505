/*
 * Speeds: hash tables of what was measured over the catalogue's estimate.
 */
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "model/catalogue.h"
#include "model/hosting.h"
#include "model/links.h"

/* ---- a table from four numbers to a value, open addressing */

struct key {
	uint32_t a, b, c, d;
};

struct entry {
	struct key key;
	bool used;
	double value;
};

struct table {
	struct entry *at;
	size_t n, cap; /* cap is a power of two, at least twice n */
};

static size_t slot_of(const struct table *table, struct key key)
{
	uint64_t h = hash_u64(hash_u64(HASH_START, (uint64_t)key.a << 32 | key.b),
		(uint64_t)key.c << 32 | key.d);
	size_t i = (size_t)(h ^ h >> 32) & (table->cap - 1);

	while (table->at[i].used && memcmp(&table->at[i].key, &key, sizeof(key)))
		i = (i + 1) & (table->cap - 1);
	return i;
}

static bool table_put(struct table *table, struct key key, double value);

static void table_grow(struct table *table)
{
	struct table bigger = { .cap = table->cap ? table->cap * 2 : 64 };

	bigger.at = mem_alloc(bigger.cap * sizeof(*bigger.at));
	for (size_t i = 0; i < table->cap; i++) {
		if (table->at[i].used)
			table_put(&bigger, table->at[i].key, table->at[i].value);
	}
	free(table->at);
	*table = bigger;
}

/* Whether that changed anything. */
static bool table_put(struct table *table, struct key key, double value)
{
	struct entry *e;
	bool news;

	if ((table->n + 1) * 2 > table->cap)
		table_grow(table);
	e = &table->at[slot_of(table, key)];
	news = !e->used || e->value != value;
	table->n += !e->used;
	*e = (struct entry){ key, true, value };
	return news;
}

/* NAN if there is none. */
static double table_get(const struct table *table, struct key key)
{
	const struct entry *e;

	if (!table->n)
		return NAN;
	e = &table->at[slot_of(table, key)];
	return e->used ? e->value : NAN;
}

/* ---- a profile */

/* What the catalogue says of a model; `facts` is NULL where it says nothing. */
struct known {
	const struct model *facts;
	int batch;
};

/* A measured speed that stands for configurations nobody measured. */
struct anchor {
	uint32_t type;
	struct shape shape;
	double steps_per_s;
};

#define ANY UINT32_MAX /* no type and no device count is that large */

struct profile {
	const struct cluster *cluster;
	const struct names *models;
	struct table speeds;  /* (model, type, gpus, nodes) */
	struct table pairs;   /* (a, b, type, gpus): speed of a */
	struct table beside;  /* likewise: what is left of a's speed */
	struct table nearest; /* (model, type or ANY, gpus or ANY, 0): index of an anchor */
	VEC(struct anchor) anchors;
	VEC(struct known) known;        /* by model, as far as names were there when last looked */
	double up_Bps;                  /* slowest uplink, 0: none known */
	uint32_t rack_nodes[TYPES_MAX]; /* most nodes of a type in one rack */
	bool has_links;                 /* some node has a topology */
	double best_Bps[TYPES_MAX][NODE_DEVICES_MAX + 1]; /* of a ring of so many devices of a node; 0: as the type's */
	uint64_t version;
	const struct hosting *hosting; /* NULL: hosts change nothing */
	struct hosting *own_hosting;   /* the same where it goes with this one */
};

static struct known look_up(const struct profile *profile, uint32_t model)
{
	struct known known = { 0 };

	if (model < profile->models->n)
		known.facts = catalogue_model(profile->models->at[model], &known.batch);
	return known;
}

void profile_learn_names(struct profile *profile)
{
	for (uint32_t i = (uint32_t)profile->known.n; i < profile->models->n; i++)
		vec_push(&profile->known, look_up(profile, i));
}

static struct known known_of(const struct profile *profile, uint32_t model)
{
	return model < profile->known.n ? profile->known.at[model] : look_up(profile, model);
}

/* Nodes per rack, type by type.  Nodes of a rack need not be neighbours. */
static void count_racks(struct profile *profile)
{
	const struct cluster *cluster = profile->cluster;
	uint32_t *nodes = mem_alloc(((size_t)cluster->nracks * cluster->ntypes + 1) * sizeof(*nodes));

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		const struct node *node = &cluster->nodes[i];
		uint32_t n = ++nodes[(size_t)node->rack * cluster->ntypes + node->type];

		if (n > profile->rack_nodes[node->type])
			profile->rack_nodes[node->type] = n;
	}
	free(nodes);
	for (uint32_t i = 0; i < cluster->nracks; i++) {
		double up_Bps = cluster->racks[i].up_Bps;

		if (up_Bps > 0 && (profile->up_Bps == 0 || up_Bps < profile->up_Bps))
			profile->up_Bps = up_Bps;
	}
}

/* The best ring that topologies of a type's nodes have, for every number of devices. */
static void find_best_rings(struct profile *profile)
{
	const struct cluster *cluster = profile->cluster;
	uint64_t *seen = mem_alloc(sizeof(*seen) * (cluster->ntopologies + 1)); /* types, as bits */

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		const struct node *node = &cluster->nodes[i];

		if (node->topology == TOPOLOGY_NONE || seen[node->topology] >> node->type & 1)
			continue;
		seen[node->topology] |= UINT64_C(1) << node->type;
		profile->has_links = true;
		for (uint32_t n = 2; n <= node->devices; n++) {
			double *best = &profile->best_Bps[node->type][n];

			*best = fmax(*best,
				topology_best_ring_Bps(&cluster->topologies[node->topology], n));
		}
	}
	free(seen);
}

struct profile *profile_create(const struct cluster *cluster, const struct names *models)
{
	struct profile *profile = mem_alloc(sizeof(*profile));

	profile->cluster = cluster;
	profile->models = models;
	count_racks(profile);
	find_best_rings(profile);
	profile_learn_names(profile);
	return profile;
}

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	free(profile->speeds.at);
	free(profile->pairs.at);
	free(profile->beside.at);
	free(profile->nearest.at);
	vec_fini(&profile->anchors);
	vec_fini(&profile->known);
	hosting_destroy(profile->own_hosting);
	free(profile);
}

void profile_set_hosting(struct profile *profile, const struct hosting *hosting)
{
	profile->version += profile->hosting != hosting;
	profile->hosting = hosting;
}

const struct hosting *profile_hosting(const struct profile *profile)
{
	return profile->hosting;
}

static void table_copy(const struct table *from, struct table *to)
{
	*to = *from;
	if (!from->cap)
		return;
	to->at = mem_alloc(mem_array_size(from->cap, sizeof(*to->at)));
	memcpy(to->at, from->at, from->cap * sizeof(*to->at));
}

struct profile *profile_copy(const struct profile *from, const struct cluster *cluster,
	const struct names *models)
{
	struct profile *profile = mem_alloc(sizeof(*profile));

	*profile = (struct profile){
		.cluster = cluster,
		.models = models,
		.up_Bps = from->up_Bps,
		.has_links = from->has_links,
		.version = from->version,
		.own_hosting = hosting_copy(from->hosting),
	};
	profile->hosting = profile->own_hosting;
	memcpy(profile->rack_nodes, from->rack_nodes, sizeof(profile->rack_nodes));
	memcpy(profile->best_Bps, from->best_Bps, sizeof(profile->best_Bps));
	for (size_t i = 0; i < from->known.n; i++)
		vec_push(&profile->known, from->known.at[i]);
	profile_learn_names(profile);
	table_copy(&from->speeds, &profile->speeds);
	table_copy(&from->pairs, &profile->pairs);
	table_copy(&from->beside, &profile->beside);
	table_copy(&from->nearest, &profile->nearest);
	for (size_t i = 0; i < from->anchors.n; i++)
		vec_push(&profile->anchors, from->anchors.at[i]);
	return profile;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return a / b + (a % b != 0);
}

struct shape profile_packed(const struct profile *profile, uint32_t type, uint32_t gpus)
{
	uint32_t per_node = profile->cluster->types[type].max_per_node;
	uint32_t per_rack = profile->rack_nodes[type];
	struct shape shape = { .gpus = gpus, .nodes = 1, .racks = 1 };

	if (per_node)
		shape.nodes = divide_up(gpus, per_node);
	if (per_rack)
		shape.racks = divide_up(shape.nodes, per_rack);
	return shape;
}

/* ---- what was measured */

static void set_anchor(struct profile *profile, struct key key, size_t anchor)
{
	if (isnan(table_get(&profile->nearest, key)))
		table_put(&profile->nearest, key, (double)anchor);
}

/* The first of each configuration stands for it; its speed is kept up to date. */
static void add_anchor(struct profile *profile, uint32_t model, struct anchor anchor)
{
	struct key key = { model, anchor.type, anchor.shape.gpus, 0 };
	double at = table_get(&profile->nearest, key);
	size_t i = profile->anchors.n;

	if (!isnan(at)) {
		struct anchor *old = &profile->anchors.at[(size_t)at];

		if (old->shape.nodes == anchor.shape.nodes) {
			profile->version += old->steps_per_s != anchor.steps_per_s;
			old->steps_per_s = anchor.steps_per_s;
		}
		return;
	}
	vec_push(&profile->anchors, anchor);
	set_anchor(profile, key, i);
	set_anchor(profile, (struct key){ model, anchor.type, ANY, 0 }, i);
	set_anchor(profile, (struct key){ model, ANY, ANY, 0 }, i);
}

void profile_add(struct profile *profile, uint32_t model, uint32_t type, uint32_t gpus,
	uint32_t nodes, double steps_per_s)
{
	struct anchor anchor = { type, profile_packed(profile, type, gpus), steps_per_s };

	profile_learn_names(profile);
	profile->version += table_put(&profile->speeds, (struct key){ model, type, gpus, nodes },
		steps_per_s);
	if (!(steps_per_s > 0))
		return;
	if (nodes) {
		anchor.shape.racks = nodes > anchor.shape.nodes ? nodes : anchor.shape.racks;
		anchor.shape.nodes = nodes;
	}
	add_anchor(profile, model, anchor);
}

void profile_add_pair(struct profile *profile, uint32_t type, uint32_t gpus, uint32_t a,
	double a_steps_per_s, uint32_t b, double b_steps_per_s)
{
	profile_learn_names(profile);
	profile->version += table_put(&profile->pairs, (struct key){ b, a, type, gpus }, b_steps_per_s);
	profile->version += table_put(&profile->pairs, (struct key){ a, b, type, gpus }, a_steps_per_s);
}

void profile_add_beside(struct profile *profile, uint32_t type, uint32_t gpus, uint32_t a,
	uint32_t b, double fraction)
{
	profile_learn_names(profile);
	profile->version += table_put(&profile->beside, (struct key){ a, b, type, gpus }, fraction);
}

uint64_t profile_version(const struct profile *profile)
{
	return profile->version;
}

void profile_each(const struct profile *profile, void (*see)(void *ctx, const struct measured *one),
	void *ctx)
{
	for (size_t i = 0; i < profile->speeds.cap; i++) {
		const struct entry *e = &profile->speeds.at[i];

		if (e->used)
			see(ctx,
				&(struct measured){ e->key.a, e->key.b, e->key.c, e->key.d,
					NAME_NONE, e->value });
	}
	for (size_t i = 0; i < profile->pairs.cap; i++) {
		const struct entry *e = &profile->pairs.at[i];

		if (e->used)
			see(ctx, &(struct measured){ e->key.a, e->key.c, e->key.d, 0, e->key.b, e->value });
	}
}

/* ---- what is estimated */

double profile_link_Bps(const struct profile *profile, uint32_t type, struct shape shape)
{
	uint32_t most = profile->cluster->types[type].max_per_node;
	double best_Bps = 0;

	if (shape.link_Bps > 0)
		return shape.link_Bps;
	if (profile->has_links)
		best_Bps = profile->best_Bps[type][shape.gpus < most ? shape.gpus : most];
	return best_Bps > 0 ? best_Bps : profile->cluster->types[type].link_Bps;
}

static double slowest_link(const struct profile *profile, uint32_t type, struct shape shape)
{
	double Bps = profile_link_Bps(profile, type, shape);

	if (shape.nodes < 2 || profile->cluster->net_Bps == 0)
		return Bps;
	if (Bps == 0 || profile->cluster->net_Bps < Bps)
		Bps = profile->cluster->net_Bps;
	if (shape.racks > 1 && profile->up_Bps > 0 && profile->up_Bps < Bps)
		Bps = profile->up_Bps;
	return Bps;
}

static struct step_time step_time(const struct profile *profile, struct known known, uint32_t type,
	struct shape shape)
{
	const struct device_type *device = &profile->cluster->types[type];
	struct step_time t = catalogue_step(known.facts, known.batch,
		(struct roof){ device->flops, device->mem_Bps });

	t.sync_s = catalogue_sync_s(known.facts, t, shape.gpus, slowest_link(profile, type, shape));
	return t;
}

static double seconds(struct step_time t)
{
	return t.device_s + t.overhead_s + t.sync_s;
}

static double estimate(const struct profile *profile, struct known known, uint32_t type,
	struct shape shape)
{
	if (!known.facts)
		return NAN;
	return shape.gpus / seconds(step_time(profile, known, type, shape));
}

static double estimated_locality(const struct profile *profile, uint32_t model, uint32_t type,
	struct shape shape)
{
	struct known known = known_of(profile, model);
	double factor;

	if ((profile->cluster->net_Bps == 0 && shape.link_Bps == 0) || !known.facts)
		return 1;
	factor = seconds(step_time(profile, known, type, profile_packed(profile, type, shape.gpus))) /
		seconds(step_time(profile, known, type, shape));
	return factor < 1 ? factor : 1;
}

double profile_link_locality(const struct profile *profile, uint32_t model, uint32_t type,
	struct shape shape)
{
	struct known known = known_of(profile, model);
	struct shape best = shape;
	double factor;

	if (shape.link_Bps == 0 || !known.facts)
		return 1;
	best.link_Bps = 0;
	factor = seconds(step_time(profile, known, type, best)) /
		seconds(step_time(profile, known, type, shape));
	return factor < 1 ? factor : 1;
}

double profile_traffic(const struct profile *profile, uint32_t model, uint32_t type, struct shape shape)
{
	struct known known = known_of(profile, model);
	struct step_time t;

	if (!known.facts)
		return NAN;
	t = step_time(profile, known, type, shape);
	return t.sync_s / seconds(t);
}

static const struct anchor *nearest_anchor(const struct profile *profile, uint32_t model,
	uint32_t type, uint32_t gpus)
{
	const struct key keys[] = {
		{ model, type, gpus, 0 },
		{ model, type, ANY, 0 },
		{ model, ANY, ANY, 0 },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		double at = table_get(&profile->nearest, keys[i]);

		if (!isnan(at))
			return &profile->anchors.at[(size_t)at];
	}
	return NULL;
}

/* From a measurement elsewhere to here: by the ratio of estimates, or by devices on the same type. */
static double carry_over(const struct profile *profile, struct known known,
	const struct anchor *anchor, uint32_t type, struct shape shape)
{
	double ratio = estimate(profile, known, type, shape) /
		estimate(profile, known, anchor->type, anchor->shape);

	if (isnan(ratio) && anchor->type == type)
		ratio = (double)shape.gpus / anchor->shape.gpus;
	return anchor->steps_per_s * ratio;
}

double profile_rate(const struct profile *profile, uint32_t model, uint32_t type, struct shape shape)
{
	const struct anchor *anchor;
	struct known known;
	double measured = table_get(&profile->speeds,
		(struct key){ model, type, shape.gpus, shape.nodes });

	if (!isnan(measured))
		return measured * profile_link_locality(profile, model, type, shape);
	measured = table_get(&profile->speeds, (struct key){ model, type, shape.gpus, 0 });
	if (!isnan(measured))
		return measured * estimated_locality(profile, model, type, shape);
	known = known_of(profile, model);
	anchor = nearest_anchor(profile, model, type, shape.gpus);
	if (anchor)
		return carry_over(profile, known, anchor, type, shape);
	return estimate(profile, known, type, shape);
}

double profile_locality(const struct profile *profile, uint32_t model, uint32_t type, struct shape shape)
{
	struct shape packed = profile_packed(profile, type, shape.gpus);
	double here, best;

	if (shape.nodes == packed.nodes && shape.racks == packed.racks)
		return profile_link_locality(profile, model, type, shape);
	here = table_get(&profile->speeds, (struct key){ model, type, shape.gpus, shape.nodes });
	best = table_get(&profile->speeds, (struct key){ model, type, shape.gpus, packed.nodes });
	if (shape.nodes != packed.nodes && here >= 0 && best > 0)
		return (here < best ? here / best : 1) *
			profile_link_locality(profile, model, type, shape);
	return estimated_locality(profile, model, type, shape);
}

/* ---- sharing */

double profile_measured_beside(const struct profile *profile, uint32_t type, uint32_t gpus,
	uint32_t a, uint32_t b)
{
	double together = table_get(&profile->pairs, (struct key){ a, b, type, gpus });
	double fraction = table_get(&profile->beside, (struct key){ a, b, type, gpus });

	if (!isnan(fraction))
		return fraction;
	if (isnan(together) || together == 0)
		return together;
	return together / profile_rate(profile, a, type, profile_packed(profile, type, gpus));
}

static double busy_fraction(const struct profile *profile, struct known known, uint32_t type,
	uint32_t gpus)
{
	struct step_time t = step_time(profile, known, type, profile_packed(profile, type, gpus));

	return t.device_s / seconds(t);
}

/* Without measurements: `a` is stretched by the time that `b` keeps the device busy. */
double profile_beside(const struct profile *profile, uint32_t type, uint32_t gpus, uint32_t a,
	uint32_t b)
{
	const struct device_type *device = &profile->cluster->types[type];
	struct known ka = known_of(profile, a), kb = known_of(profile, b);
	double measured = profile_measured_beside(profile, type, gpus, a, b);
	double busy;

	if (!isnan(measured))
		return measured;
	if (!ka.facts || !kb.facts)
		return 0.5;
	if (device->mem_bytes &&
		catalogue_mem_bytes(ka.facts, ka.batch) + catalogue_mem_bytes(kb.facts, kb.batch) >
			device->mem_bytes)
		return 0;
	busy = busy_fraction(profile, kb, type, gpus);
	return isnan(busy) ? 0.5 : 1 / (1 + busy);
}

double profile_busy(const struct profile *profile, uint32_t type, uint32_t gpus, uint32_t model)
{
	struct known known = known_of(profile, model);

	return known.facts ? busy_fraction(profile, known, type, gpus) : NAN;
}

double profile_step_s(const struct profile *profile, uint32_t type, uint32_t gpus, uint32_t model)
{
	struct known known = known_of(profile, model);

	if (!known.facts)
		return NAN;
	return seconds(step_time(profile, known, type, profile_packed(profile, type, gpus)));
}

double profile_mem_bytes(const struct profile *profile, uint32_t model)
{
	struct known known = known_of(profile, model);

	return known.facts ? catalogue_mem_bytes(known.facts, known.batch) : 0;
}

double profile_skew(const struct profile *profile, uint32_t model)
{
	struct known known = known_of(profile, model);

	return known.facts ? known.facts->skew : NAN;
}
