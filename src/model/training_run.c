#include "model/training_run.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum { NODES_SMALL = 64 };

struct batch_split training_spread(const struct batch_limits *limits, uint32_t replicas, double batch)
{
	double local = ceil(batch / replicas - 1e-8);

	return goodput_split(limits, replicas, local * replicas);
}

struct batch_split training_cut(struct batch_split split, const struct batch_limits *limits,
	uint32_t replicas)
{
	double most = floor(limits->max / (replicas * (split.accum + 1.0)));

	/* A pipeline has one batch: as many as that are it, whatever comes of it. */
	if (split.atomic > most && !(limits->unit > 0))
		split.atomic = (uint32_t)most;
	return split;
}

/* Devices on full nodes of `each` but the last; returns how many nodes. */
static uint32_t lay_out(uint32_t gpus, uint32_t each, uint16_t *on_node)
{
	uint32_t n = 0;

	for (uint32_t left = gpus; left > 0; left -= on_node[n++])
		on_node[n] = (uint16_t)(left < each ? left : each);
	return n;
}

static uint32_t per_node(uint32_t gpus, uint32_t nodes)
{
	return nodes > 0 ? (gpus + nodes - 1) / nodes : gpus;
}

/* A run at one batch. */
struct way {
	struct batch_split split;
	uint32_t replicas;
	double iter_s;
};

static double iteration_s(const struct training *training, uint32_t model, uint32_t type,
	struct lay lay, struct batch_split split)
{
	struct pass pass;

	if (split.atomic == 0 || !training_pass(training, model, type, lay, split.atomic, &pass))
		return 0;
	return pass.step_s + split.accum * (pass.step_s - pass.sync_s);
}

/* How the batch is run on devices that lie so. */
static struct batch_split split_on(const struct training *training, uint32_t model, uint32_t type,
	struct lay lay, uint32_t replicas, double batch)
{
	struct batch_limits limits = training_limits(training, model, type);
	double most = training_max_local(training, model, type, lay);
	struct batch_split split;

	if (most > 0)
		limits.max_local = most;
	split = training_spread(&limits, replicas, batch > 0 ? batch : limits.initial);
	most = training_max_local_of(training, model, type, replicas);
	if (most > 0 && split.atomic > most)
		split.atomic = (uint32_t)most;
	return training_cut(split, &limits, replicas);
}

/* `on_node` has room for every node of the place, and of its packed like. */
static bool find_way(const struct training *training, uint32_t model, struct training_place place,
	double batch, uint16_t *on_node, struct way *out)
{
	const struct training_model *facts = training_of(training, model);
	uint32_t each = training_cluster(training)->types[place.type].max_per_node;
	uint32_t packed = per_node(place.gpus, each), nodes = packed;
	uint32_t widest = training_widest(training, place.type), apart = each;
	struct lay lay = { on_node, 0 };

	if (place.nodes > packed)
		apart = per_node(place.gpus, nodes = place.nodes);
	if (widest > 0 && nodes > widest)
		apart = per_node(place.gpus, widest);
	out->replicas = facts->unit[place.type] ? place.gpus / facts->unit[place.type] : place.gpus;
	if (out->replicas == 0 || each == 0)
		return false;
	lay.nodes = lay_out(place.gpus, apart, on_node);
	out->split = split_on(training, model, place.type, lay, out->replicas, batch);
	out->iter_s = iteration_s(training, model, place.type, lay, out->split);
	if (!(out->iter_s > 0) && apart != each) {
		lay.nodes = lay_out(place.gpus, each, on_node);
		out->iter_s = iteration_s(training, model, place.type, lay, out->split);
	}
	return out->iter_s > 0;
}

/* Iterations that a unit of progress takes on average, from `done` on. */
static double iterations_left(const struct training *training, uint32_t model, double batch, double done)
{
	const struct training_model *facts = training_of(training, model);
	double sum = 0, before = done, gain = 1;

	if (batch == facts->initial_batch)
		return 1;
	for (uint32_t e = 0; e < facts->epochs; e++) {
		double upto = training_progress(training, model, e + 1);

		gain = goodput_gain(training_gradient(training, model, batch, e), batch,
			facts->initial_batch);
		if (!(upto > before))
			continue;
		sum += (upto - before) / gain;
		before = upto;
	}
	return before > done ? sum / (before - done) : 1 / gain;
}

double training_speed(const struct training *training, uint32_t model, struct training_place place,
	double batch, double done)
{
	uint16_t small[NODES_SMALL], *on_node = small;
	struct way way = { 0 };
	double total;
	bool found;

	if (place.gpus == 0 || !training_knows(training, model, place.type))
		return 0;
	if (place.gpus > NODES_SMALL)
		on_node = mem_alloc(place.gpus * sizeof(*on_node));
	found = find_way(training, model, place, batch, on_node, &way);
	if (on_node != small)
		free(on_node);
	if (!found)
		return 0;
	total = (double)way.replicas * way.split.atomic * (way.split.accum + 1.0);
	return 1 /
		(way.iter_s * iterations_left(training, model, total, done) *
			training_of(training, model)->slowdown);
}
