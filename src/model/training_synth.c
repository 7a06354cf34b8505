/*
 * Profiles from the catalogue: step times by the roofline estimate at several
 * batches and shapes, and a gradient noise that grows as training goes on.
 *
 * With B0 the model's usual batch, training has 30 epochs; in epoch e the noise
 * scale is B0 * 16^(e / 29) samples, so that the variance at B0 is
 * 16^(e / 29) times the squared norm: large batches are worth little at first
 * and much at the end, as measurements of real training show.
 * doc/formats.md says what that means for whoever uses it.
 */
#include <math.h>

#include "base/real.h"
#include "model/catalogue.h"
#include "model/training_parts.h"

enum {
	EPOCHS = 30,
	NOISE_GROWTH = 16,
	SIZES_MAX = 23,
	WIDEST = 64,       /* nodes; wider jobs are read as if they were on so many */
	BATCH_FACTOR = 32, /* the largest batch over the usual one, unless the cluster is larger */
};

struct synth {
	struct training *out;
	const struct model *facts;
	uint32_t model;
	int batch; /* usual */
};

static double noise(uint32_t epoch)
{
	return real_exp(real_log(NOISE_GROWTH) * epoch / (EPOCHS - 1));
}

static void add_curve(struct synth *s, double batch)
{
	struct training_epoch at = { 0 };

	for (uint32_t e = 0; e < EPOCHS; e++) {
		at.gradient = (struct gradient){ .sqr = 1, .var = noise(e) };
		at.progress += 1;
		at.iteration += 1 / goodput_gain(at.gradient, batch, s->batch);
		training_add_epoch(s->out, s->model, batch, at);
	}
}

static struct pass pass_on(const struct synth *s, uint32_t type, uint32_t nodes, uint32_t replicas,
	int batch)
{
	const struct cluster *cluster = s->out->cluster;
	const struct device_type *device = &cluster->types[type];
	struct step_time t = catalogue_step(s->facts, batch,
		(struct roof){ device->flops, device->mem_Bps });
	double Bps = device->link_Bps;

	if (nodes > 1 && cluster->net_Bps > 0 && (Bps == 0 || cluster->net_Bps < Bps))
		Bps = cluster->net_Bps;
	t.sync_s = replicas > 1 ? catalogue_sync_s(s->facts, t, replicas, Bps) : 0;
	return (struct pass){ t.device_s + t.overhead_s + t.sync_s, t.sync_s };
}

static bool fits(const struct synth *s, uint32_t type, int batch)
{
	int64_t mem = s->out->cluster->types[type].mem_bytes;

	return batch >= 1 && (mem == 0 || catalogue_mem_bytes(s->facts, batch) <= (double)mem);
}

static void add_shape(struct synth *s, uint32_t type, uint32_t nodes, uint32_t replicas, int batch)
{
	struct pass pass = pass_on(s, type, nodes, replicas, batch);
	uint16_t on_node = (uint16_t)replicas;

	if (nodes == 1)
		training_add_pass(s->out, s->model, type, (struct lay){ &on_node, 1 }, batch, pass);
	else
		training_add_scaled(s->out, s->model, type, nodes, replicas, batch, pass);
}

/* 1, 2, 3, 4, 6, 8, 12, 16, … and the last. */
static uint32_t next_nodes(uint32_t nodes, uint32_t last)
{
	uint32_t next = nodes < 2            ? nodes + 1
		: (nodes & (nodes - 1)) == 0 ? nodes * 3 / 2
					     : nodes / 3 * 4;

	return nodes < last && next > last ? last : next;
}

static void add_shapes(struct synth *s, uint32_t type, int batch)
{
	const struct device_type *device = &s->out->cluster->types[type];
	uint32_t last = device->nodes < WIDEST ? device->nodes : WIDEST;
	uint32_t each = device->max_per_node;

	for (uint32_t gpus = 1; gpus <= each; gpus++)
		add_shape(s, type, 1, gpus, batch);
	for (uint32_t nodes = 2; nodes <= last; nodes = next_nodes(nodes, last)) {
		add_shape(s, type, nodes, nodes, batch);
		if (each > 2)
			add_shape(s, type, nodes, nodes * ((each + 1) / 2), batch);
		if (each > 1)
			add_shape(s, type, nodes, nodes * each, batch);
	}
}

/*
 * Four times the usual batch and its halves down to one sample, as far as they fit the device, so that a
 * fixed batch can be spread over many; one size alone tells nothing.
 */
static void add_type(struct synth *s, uint32_t type)
{
	const struct device_type *device = &s->out->cluster->types[type];
	double usual_s =
		catalogue_step(s->facts, s->batch, (struct roof){ device->flops, device->mem_Bps }).device_s;
	int sizes[SIZES_MAX], n = 0;

	if (!(usual_s > 0) || device->nodes == 0)
		return;
	for (int i = 2; i > 2 - SIZES_MAX; i--) {
		int batch = i < 0 ? s->batch >> -i : s->batch << i;

		if (fits(s, type, batch))
			sizes[n++] = batch;
	}
	for (int i = 0; n > 1 && i < n; i++)
		add_shapes(s, type, sizes[i]);
	if (n > 1)
		training_set_widest(s->out, type, WIDEST);
}

static double most_batch(const struct synth *s)
{
	uint32_t most = BATCH_FACTOR;

	for (uint32_t type = 0; type < s->out->cluster->ntypes; type++) {
		if (s->out->cluster->types[type].devices > most)
			most = s->out->cluster->types[type].devices;
	}
	return (double)s->batch * most;
}

static void add_model(struct synth *s)
{
	struct training_model *facts = training_add_model(s->out, s->model);

	facts->initial_batch = s->batch;
	facts->max_batch = most_batch(s);
	facts->epochs = EPOCHS;
	facts->by_job = true;
	for (double batch = s->batch; batch < facts->max_batch; batch *= 2)
		add_curve(s, batch);
	add_curve(s, facts->max_batch);
	for (uint32_t type = 0; type < s->out->cluster->ntypes; type++)
		add_type(s, type);
}

void training_synthesise(struct training *training)
{
	for (uint32_t i = 0; i < training->names->n; i++) {
		struct synth s = { .out = training, .model = i };

		s.facts = catalogue_model(training->names->at[i], &s.batch);
		if (s.facts && s.batch > 0 && s.batch <= TRAINING_LOCAL_MAX / 4)
			add_model(&s);
	}
	training_finish(training);
}
