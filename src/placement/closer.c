#include "placement/closer.h"

#include <math.h>

/* Devices of the gang that the node would take if nobody else were there. */
static uint32_t holds(const struct placing *p, uint32_t node)
{
	const struct node *whole = &p->space->cluster->nodes[node];
	const struct space_node *now = &p->space->nodes[node];
	double gpus = p->gpus,
	       most = whole->devices - __builtin_popcountll(now->down | now->drained | now->hidden);

	if (!now->up)
		return 0;
	if (whole->cpus > 0 && p->job->cpus > 0)
		most = fmin(most, floor(whole->cpus * gpus / p->job->cpus + 1e-9));
	if (whole->mem_bytes > 0 && p->job->mem_bytes > 0)
		most = fmin(most,
			floor((double)whole->mem_bytes * gpus / (double)p->job->mem_bytes + 1e-9));
	return (uint32_t)fmin(most, gpus);
}

/* As few nodes as would take it if nobody else were there; 0: all of them do not. */
static uint32_t fewest(const struct placing *p)
{
	const struct space_type *type = &p->space->types[p->type];
	uint32_t by_size[NODE_DEVICES_MAX + 1] = { 0 }, left = p->gpus, nodes = 0;

	for (uint32_t i = 0; i < type->nnodes; i++) {
		uint32_t n = holds(p, type->nodes[i]);

		if (n == p->gpus)
			return 1;
		by_size[n]++;
	}
	for (uint32_t n = NODE_DEVICES_MAX; n > 0 && left > 0; n--) {
		for (; by_size[n] > 0 && left > 0; by_size[n]--, nodes++)
			left -= n < left ? n : left;
	}
	return left > 0 ? 0 : nodes;
}

static uint32_t count_racks(const struct placing *p, const struct slots *found)
{
	const struct node *nodes = p->space->cluster->nodes;
	uint32_t racks = 0;

	for (uint32_t i = 0; i < found->n; i++) {
		uint32_t before = 0;

		while (nodes[found->at[before].node].rack != nodes[found->at[i].node].rack)
			before++;
		racks += before == i;
	}
	return racks;
}

double closer_speed(const struct placing *p, const struct slots *found)
{
	struct shape here = { .gpus = p->gpus, .nodes = found->n }, there = here;
	uint32_t model = p->job->model;
	double best;

	if (!p->belief || model == NAME_NONE || p->rest > 0 || found->n < 2)
		return 1;
	there.nodes = fewest(p);
	if (there.nodes == 0 || there.nodes >= here.nodes)
		return 1;
	here.racks = count_racks(p, found);
	there.racks = there.nodes > 1 ? here.racks : 1;
	best = profile_locality(p->belief, model, p->type, there);
	return best > 0 ? profile_locality(p->belief, model, p->type, here) / best : 1;
}

void closer_refuse(const struct placing *p, double until_s)
{
	if (!p->note)
		return;
	p->note->why = (struct reason){
		.why = WHY_CLOSER,
		.need = (int32_t)p->gpus,
		.have = (int32_t)p->space->types[p->type].free,
		.other = JOB_NONE,
		.at_s = isfinite(until_s) ? until_s : 0,
	};
	p->note->wake_s = until_s;
}
