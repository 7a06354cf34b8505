#include "io/past_cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/vec.h"
#include "io/hostlist.h"

enum { USUAL_DEVICES = 8 };

/* A node, or all of a type where nodes are not named. */
struct place {
	uint32_t type; /* of the trace, NAME_NONE: nobody said */
	int64_t now, most;
};

/* Devices of a place are taken, or given back. */
struct change {
	double at_s;
	uint32_t place;
	int32_t devices; /* below 0: given back */
};

struct sight {
	const struct trace *trace;
	bool named;
	struct names names;
	struct place *places;
	size_t nplaces, places_cap;
	struct change *changes;
	size_t nchanges, changes_cap;
	const struct past_run *run; /* the present one */
	int32_t each;               /* its devices on each node */
};

static uint32_t place_of(struct sight *s, const char *name)
{
	uint32_t i = names_add(&s->names, name, strlen(name));

	while (s->nplaces <= i) {
		if (s->nplaces == s->places_cap) {
			s->places_cap = s->places_cap ? s->places_cap * 2 : 64;
			s->places = mem_resize(s->places,
				mem_array_size(s->places_cap, sizeof(*s->places)));
		}
		s->places[s->nplaces++] = (struct place){ .type = NAME_NONE };
	}
	return i;
}

static void add_change(struct sight *s, struct change change)
{
	if (s->nchanges == s->changes_cap) {
		s->changes_cap = s->changes_cap ? s->changes_cap * 2 : 256;
		s->changes = mem_resize(s->changes,
			mem_array_size(s->changes_cap, sizeof(*s->changes)));
	}
	s->changes[s->nchanges++] = change;
}

static void use(void *ctx, const char *name)
{
	struct sight *s = ctx;
	uint32_t place = place_of(s, name);

	if (s->run->type != NAME_NONE)
		s->places[place].type = s->run->type;
	add_change(s, (struct change){ s->run->start_s, place, s->each });
	add_change(s, (struct change){ s->run->end_s, place, -s->each });
}

/* Of a history without nodes a type is the place. */
static void see_run(struct sight *s, const struct past_run *run)
{
	size_t n;

	s->run = run;
	if (!s->named) {
		s->each = run->gpus;
		use(s, run->type == NAME_NONE ? "gpu" : s->trace->types.at[run->type]);
		return;
	}
	if (!run->nodes)
		return;
	n = hostlist_each(slice_of(run->nodes), NULL, NULL);
	if (!n)
		return;
	s->each = (int32_t)(((size_t)run->gpus + n - 1) / n);
	hostlist_each(slice_of(run->nodes), use, s);
}

/* What is given back at a moment can be taken again then. */
static int by_time(const void *a_, const void *b_)
{
	const struct change *a = a_, *b = b_;

	if (a->at_s != b->at_s)
		return a->at_s < b->at_s ? -1 : 1;
	return (a->devices > 0) - (b->devices > 0);
}

static void find_most(struct sight *s)
{
	if (s->nchanges)
		qsort(s->changes, s->nchanges, sizeof(*s->changes), by_time);
	for (size_t i = 0; i < s->nchanges; i++) {
		struct place *place = &s->places[s->changes[i].place];

		place->now += s->changes[i].devices;
		if (place->now > place->most)
			place->most = place->now;
	}
}

/* ---- nodes that are alike ---- */

/* The name without its number: "gpu-017" is of the kind "gpu-". */
static size_t stem(const char *name)
{
	size_t n = strlen(name);

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n;
}

struct found {
	const char *name;
	uint32_t type; /* after those with a name: NAME_NONE is the last */
	int64_t devices;
};

static int by_kind(const void *a_, const void *b_)
{
	const struct found *a = a_, *b = b_;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return strverscmp(a->name, b->name);
}

static bool alike(const struct found *a, const struct found *b)
{
	size_t n = stem(a->name);

	return a->type == b->type && stem(b->name) == n && !strncmp(a->name, b->name, n);
}

static int by_size(const void *a_, const void *b_)
{
	const struct found *a = a_, *b = b_;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->devices != b->devices)
		return a->devices > b->devices ? -1 : 1;
	return strverscmp(a->name, b->name);
}

static int64_t at_most(int64_t devices)
{
	return devices < NODE_DEVICES_MAX ? devices : NODE_DEVICES_MAX;
}

/* Runs of nodes that are alike get what the busiest of them had. */
static void level(struct found *found, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		int64_t most = 0;

		for (end = i; end < n && alike(&found[i], &found[end]); end++)
			most = found[end].devices > most ? found[end].devices : most;
		for (size_t k = i; k < end; k++)
			found[k].devices = at_most(most);
	}
}

static const char *type_name(const struct trace *trace, uint32_t type)
{
	const char *name = type == NAME_NONE ? "gpu" : trace->types.at[type];

	return cluster_is_type_name(slice_of(name)) ? name : "gpu";
}

/* A trace that names as many types as there can be leaves none for GPUs that nobody named. */
static uint32_t add_type(struct cluster *out, const char *name)
{
	return out->ntypes < TYPES_MAX || cluster_find_type(out, name) >= 0
		? cluster_add_type(out, name)
		: TYPES_MAX - 1;
}

static void add_spec(struct buf *spec, size_t nodes, int64_t devices, const char *type)
{
	buf_printf(spec, "%s%zux%lld:%s", spec->n ? "," : "", nodes, (long long)devices, type);
}

static void build_named(const struct sight *s, struct cluster *out, struct buf *spec)
{
	struct found *found = mem_alloc(mem_array_size(s->nplaces, sizeof(*found)));

	for (size_t i = 0; i < s->nplaces; i++)
		found[i] = (struct found){ s->names.at[i], s->places[i].type, s->places[i].most };
	qsort(found, s->nplaces, sizeof(*found), by_kind);
	level(found, s->nplaces);
	qsort(found, s->nplaces, sizeof(*found), by_size);
	for (size_t i = 0, end; i < s->nplaces; i = end) {
		const char *type = type_name(s->trace, found[i].type);

		for (end = i; end < s->nplaces && found[end].type == found[i].type &&
			found[end].devices == found[i].devices;
			end++)
			cluster_add_node(out,
				(struct node){ .name = found[end].name,
					.type = add_type(out, type),
					.devices = (uint32_t)found[end].devices,
					.topology = TOPOLOGY_NONE });
		add_spec(spec, end - i, found[i].devices, type);
	}
	free(found);
}

static void build_unnamed(const struct sight *s, struct cluster *out, struct buf *spec)
{
	for (size_t i = 0; i < s->nplaces; i++) {
		const char *type = type_name(s->trace, s->places[i].type);
		int64_t each = s->places[i].most < USUAL_DEVICES ? s->places[i].most : USUAL_DEVICES;
		size_t nodes = (size_t)((s->places[i].most + each - 1) / each);

		nodes = nodes < NODES_MAX ? nodes : NODES_MAX;
		for (size_t k = 0; k < nodes; k++)
			cluster_add_node(out,
				(struct node){ .type = add_type(out, type),
					.devices = (uint32_t)each,
					.topology = TOPOLOGY_NONE });
		add_spec(spec, nodes, each, type);
	}
}

static void sight_fini(struct sight *s)
{
	names_fini(&s->names);
	free(s->places);
	free(s->changes);
}

int past_cluster(const struct trace *trace, struct cluster *out, struct err *err)
{
	struct sight s = { .trace = trace };
	struct cluster cluster = { 0 };
	struct buf spec = { 0 };

	for (uint32_t i = 0; i < trace->npast; i++)
		s.named |= trace->past[i].nodes != NULL;
	for (uint32_t i = 0; i < trace->npast; i++)
		see_run(&s, &trace->past[i]);
	if (!s.nplaces) {
		sight_fini(&s);
		return err_set(err, ERR_FORMAT,
			"%s does not say when jobs ran, so that the cluster cannot be seen in it: say --cluster "
			"NODESxDEVICES:TYPE, or add Start, End and NodeList to the history",
			trace->source);
	}
	find_most(&s);
	if (s.named)
		build_named(&s, &cluster, &spec);
	else
		build_unnamed(&s, &cluster, &spec);
	cluster.spec = arena_strndup(&cluster.memory, spec.at, spec.n);
	buf_fini(&spec);
	sight_fini(&s);
	*out = cluster;
	return 0;
}
