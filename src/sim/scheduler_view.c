/*
 * Buckets of machines by group and kind.
 */
#include "sim/scheduler_view.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static size_t bucket_of(const struct scheduler_shape *shape, uint32_t machine)
{
	return (size_t)shape->group[machine] * shape->kinds + shape->kind[machine];
}

static void set_groups(struct scheduler_shape *shape)
{
	for (uint32_t g = 0; g < shape->groups; g++) {
		uint32_t end = parsync_first(shape->machines, shape->groups, g + 1);

		for (uint32_t m = parsync_first(shape->machines, shape->groups, g); m < end; m++)
			shape->group[m] = g;
	}
}

void scheduler_shape_init(struct scheduler_shape *shape, uint32_t machines, uint32_t groups,
	uint32_t kinds, const uint8_t *kind)
{
	size_t nbuckets = (size_t)groups * kinds;
	uint32_t begin = 0;

	*shape = (struct scheduler_shape){
		.machines = machines,
		.groups = groups,
		.kinds = kinds,
		.kind = kind,
		.group = mem_alloc(mem_array_size(machines, sizeof(uint32_t))),
		.bucket = mem_alloc(mem_array_size(nbuckets, sizeof(uint32_t))),
	};
	set_groups(shape);
	for (uint32_t m = 0; m < machines; m++)
		shape->bucket[bucket_of(shape, m)]++;
	for (size_t b = 0; b < nbuckets; b++) {
		uint32_t size = shape->bucket[b];

		shape->bucket[b] = begin;
		begin += size;
	}
}

void scheduler_shape_fini(struct scheduler_shape *shape)
{
	free(shape->group);
	free(shape->bucket);
	*shape = (struct scheduler_shape){ 0 };
}

void scheduler_view_init(struct scheduler_view *view, const struct scheduler_shape *shape)
{
	uint32_t n = shape->machines;

	*view = (struct scheduler_view){
		.shape = shape,
		.free = mem_alloc(mem_array_size(n, sizeof(*view->free))),
		.pending = mem_alloc(mem_array_size(n, sizeof(*view->pending))),
		.place = mem_alloc(mem_array_size(n, sizeof(*view->place))),
		.items = mem_alloc(mem_array_size(n, sizeof(*view->items))),
		.filled = mem_alloc(
			mem_array_size((size_t)shape->groups * shape->kinds, sizeof(*view->filled))),
		.seen = mem_alloc(mem_array_size(shape->groups, sizeof(*view->seen))),
	};
	parsync_sight_init(&view->sight, shape->groups, shape->kinds);
}

void scheduler_view_fini(struct scheduler_view *view)
{
	free(view->free);
	free(view->pending);
	free(view->place);
	free(view->items);
	free(view->filled);
	free(view->seen);
	parsync_sight_fini(&view->sight);
	*view = (struct scheduler_view){ 0 };
}

static void add(struct scheduler_view *view, uint32_t machine)
{
	const struct scheduler_shape *shape = view->shape;
	size_t b = bucket_of(shape, machine);
	uint32_t at = shape->bucket[b] + view->filled[b]++;

	view->items[at] = machine;
	view->place[machine] = at;
	if (view->filled[b] == 1)
		parsync_sight_set(&view->sight, shape->group[machine], shape->kind[machine], true);
}

/* The last of the bucket takes its place. */
static void drop(struct scheduler_view *view, uint32_t machine)
{
	const struct scheduler_shape *shape = view->shape;
	size_t b = bucket_of(shape, machine);
	uint32_t last = view->items[shape->bucket[b] + --view->filled[b]];

	view->items[view->place[machine]] = last;
	view->place[last] = view->place[machine];
	if (!view->filled[b])
		parsync_sight_set(&view->sight, shape->group[machine], shape->kind[machine], false);
}

static void set_free(struct scheduler_view *view, uint32_t machine, uint16_t slots)
{
	uint16_t before = view->free[machine];

	view->free[machine] = slots;
	if (!before && slots)
		add(view, machine);
	else if (before && !slots)
		drop(view, machine);
}

void scheduler_view_refresh(struct scheduler_view *view, uint32_t group,
	const uint16_t *master_free, uint64_t turn)
{
	const struct scheduler_shape *shape = view->shape;
	uint32_t end = parsync_first(shape->machines, shape->groups, group + 1);

	for (uint32_t m = parsync_first(shape->machines, shape->groups, group); m < end; m++) {
		uint16_t pending = view->pending[m];
		uint16_t slots = master_free[m] > pending ? master_free[m] - pending : 0;

		if (slots != view->free[m])
			set_free(view, m, slots);
	}
	view->seen[group] = turn;
	view->freshest = group;
}

bool scheduler_view_choose(const struct scheduler_view *view, enum parsync_rule rule,
	const uint8_t *order, struct rng *rng, uint32_t *machine)
{
	const struct scheduler_shape *shape = view->shape;
	struct parsync_pick pick;
	size_t b;

	if (!parsync_choose(&view->sight, rule, order, view->freshest, &pick))
		return false;
	b = (size_t)pick.partition * shape->kinds + pick.kind;
	*machine = view->items[shape->bucket[b] + rng_below(rng, view->filled[b])];
	return true;
}

void scheduler_view_ask(struct scheduler_view *view, uint32_t machine)
{
	assert(view->free[machine]);
	set_free(view, machine, view->free[machine] - 1);
	view->pending[machine]++;
}

void scheduler_view_decided(struct scheduler_view *view, uint32_t machine)
{
	assert(view->pending[machine]);
	view->pending[machine]--;
}

void scheduler_view_full(struct scheduler_view *view, uint32_t machine, uint64_t turn)
{
	if (view->seen[view->shape->group[machine]] < turn)
		set_free(view, machine, 0);
}
