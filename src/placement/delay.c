/*
 * Delay scheduling (Dally): a job waits a while for one machine, then a while
 * for one rack, and then takes what there is.
 *
 * How long is learnt from those of its size who got a place before.  A better
 * tier that fits is always taken before a worse one; a job that no machine (no rack)
 * could hold does not wait for it.  What was learnt from the waits of others is not for
 * jobs that would be slow there: those who do not wait keep devices many times as long,
 * everybody then waits, and nobody learns to.
 */
#include <math.h>
#include <stdlib.h>

#include "placement/closer.h"
#include "placement/delay_timers.h"
#include "placement/placer.h"

struct delay {
	double machine_s, rack_s;
	bool tune;
	double speed_min;
	double window_s;
	int window;
	struct delay_timers timers;
};

static const struct option options[] = {
	OPT_DOUBLE(struct delay, machine_s, 43200, 0, 1e15,
		"longest wait for one machine, and how long where nobody has waited yet"),
	OPT_DOUBLE(struct delay, rack_s, 86400, 0, 1e15, "the same for one rack"),
	OPT_BOOL(struct delay, tune, 1, "learn from how long jobs of its size waited for theirs"),
	OPT_DOUBLE(struct delay, speed_min, 0.8, 0, 1,
		"jobs that would have less than this part of their speed there wait the longest, whatever was learnt"),
	OPT_DOUBLE(struct delay, window_s, 86400, 1, 1e15, "what is longer ago does not count"),
	OPT_INT(struct delay, window, 100, 1, 10000, "most jobs of one size and tier that are looked at"),
	{ 0 },
};

static void delay_fini(void *self)
{
	delay_timers_fini(&((struct delay *)self)->timers);
}

static int delay_begin(void *self, const struct cluster *cluster, const struct tenants *tenants,
	struct err *err)
{
	(void)cluster;
	(void)tenants;
	(void)err;
	delay_fini(self);
	return 0;
}

static struct delay_rule rule_of(const struct delay *d)
{
	return (struct delay_rule){
		.most_s = { d->machine_s, d->rack_s },
		.tune = d->tune,
		.window_s = d->window_s,
		.window = (uint32_t)d->window,
	};
}

/* ---- places */

static const uint32_t ANYWHERE = UINT32_MAX;

/* Devices of the emptiest nodes of a rack first, so that they are as few as can be. */
static bool place_in(const struct placing *p, uint32_t rack, struct slots *out)
{
	out->n = out->gpus = 0;
	for (uint32_t f = p->space->types[p->type].max; f > 0 && out->gpus < p->gpus; f--) {
		uint32_t at = 0, node;

		while (out->gpus < p->gpus &&
			(node = space_next(p->space, p->type, f, &at)) != UINT32_MAX) {
			if (rack == ANYWHERE || p->space->cluster->nodes[node].rack == rack)
				place_on_node(p, node, p->gpus - out->gpus, out);
		}
	}
	return out->gpus == p->gpus;
}

/* Devices of the type by rack: all of them, and those that are free. */
struct rack_room {
	uint32_t rack, all, free;
};

static struct rack_room *count_racks(const struct placing *p)
{
	const struct cluster *cluster = p->space->cluster;
	const struct space_type *t = &p->space->types[p->type];
	struct rack_room *rooms = mem_alloc(sizeof(*rooms) * (cluster->nracks + 1));

	for (uint32_t i = 0; i < cluster->nracks; i++)
		rooms[i].rack = i;
	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct node *node = &cluster->nodes[t->nodes[i]];
		const struct space_node *n = &p->space->nodes[t->nodes[i]];

		rooms[node->rack].all += node->devices;
		rooms[node->rack].free += n->up ? n->nfree : 0;
	}
	return rooms;
}

static int by_free(const void *a, const void *b)
{
	const struct rack_room *x = a, *y = b;

	if (x->free != y->free)
		return x->free < y->free ? -1 : 1;
	return x->rack < y->rack ? -1 : x->rack > y->rack;
}

/* The rack with the least room that takes it; says also whether one could if it were empty. */
static bool place_in_rack(const struct placing *p, struct slots *out, bool *could)
{
	struct rack_room *rooms = count_racks(p);
	bool found = false;

	qsort(rooms, p->space->cluster->nracks, sizeof(*rooms), by_free);
	*could = false;
	for (uint32_t i = 0; i < p->space->cluster->nracks; i++) {
		*could |= rooms[i].all >= p->gpus;
		found = found || (rooms[i].free >= p->gpus && place_in(p, rooms[i].rack, out));
	}
	free(rooms);
	return found;
}

/* The best tier there is room in, TIER_COUNT if none; and the best it could ever have. */
static enum tier best_offer(const struct placing *p, struct slots *out, enum tier *could)
{
	bool machine = p->gpus <= p->space->types[p->type].max, rack;

	if (machine && place_single(p, p->gpus, out)) {
		*could = TIER_MACHINE;
		return TIER_MACHINE;
	}
	if (place_in_rack(p, out, &rack)) {
		*could = machine ? TIER_MACHINE : TIER_RACK;
		return TIER_RACK;
	}
	*could = machine ? TIER_MACHINE : rack ? TIER_RACK : TIER_NETWORK;
	return place_in(p, ANYWHERE, out) ? TIER_NETWORK : TIER_COUNT;
}

/* ---- whether it takes it */

/* A job that is moved or has just been stopped begins to wait now. */
static double waits_since(const struct placing *p)
{
	return p->job->grant ? p->now_s : p->job->wait_since_s;
}

static bool choose(void *self, const struct placing *p, struct slots *out)
{
	struct delay *d = self;
	struct delay_rule rule = rule_of(d);
	enum tier could, offer = best_offer(p, out, &could);
	double since_s = waits_since(p), until_s = since_s;

	if (offer == TIER_COUNT)
		return false;
	if (p->ever)
		return true;
	if (offer > could) {
		rule.tune = d->tune && closer_speed(p, out) >= d->speed_min;
		until_s += delay_timers_s(&d->timers, &rule, p->gpus, offer - 1, p->now_s);
	}
	if (until_s > p->now_s + 1e-9 * fmax(1, fabs(p->now_s))) {
		closer_refuse(p, until_s);
		return false;
	}
	if (!p->job->grant)
		delay_timers_took(&d->timers, &rule, p->gpus, offer,
			(struct delay_sample){ p->job->id, p->now_s, p->now_s - since_s });
	return true;
}

const struct placer placer_delay = {
	.name = "delay",
	.summary = "waits a while for one machine, then for one rack, as long as that has paid",
	.origin = "Dally: Sharma et al., 2024",
	.options = options,
	.state_size = sizeof(struct delay),
	.particular = true,
	.begin = delay_begin,
	.fini = delay_fini,
	.choose = choose,
};
