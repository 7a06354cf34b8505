/*
 * The plan of refreshes, and the choice of a machine by what was seen when.
 */
#include "model/parsync.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

const struct parsync_limits parsync_limits_usual = { .window_s = 1, .leave = 1.5, .back = 1.2 };

/* ---- the plan */

int parsync_check(const struct parsync_plan *plan, struct err *err)
{
	if (!plan->schedulers)
		return err_set(err, ERR_USAGE, "no schedulers: at least one is needed");
	if (plan->partitions < plan->schedulers)
		return err_set(err, ERR_USAGE,
			"%u partitions for %u schedulers: two would refresh the same one in a step; "
			"make it %u partitions or more, or fewer schedulers",
			plan->partitions, plan->schedulers, plan->schedulers);
	if (!(plan->period_s > 0) || !isfinite(plan->period_s))
		return err_set(err, ERR_USAGE,
			"a period of %g s: it must be more than 0, such as 0.5", plan->period_s);
	return 0;
}

uint32_t parsync_offset(const struct parsync_plan *plan, uint32_t scheduler)
{
	return scheduler * (plan->partitions / plan->schedulers);
}

uint32_t parsync_partition(const struct parsync_plan *plan, uint32_t scheduler, uint64_t step)
{
	return (uint32_t)((step + parsync_offset(plan, scheduler)) % plan->partitions);
}

/* Products and no sum of steps: it does not drift, and whole periods are exact. */
double parsync_step_s(const struct parsync_plan *plan, uint64_t step)
{
	uint64_t whole = step / plan->partitions, rest = step % plan->partitions;

	return (double)whole * plan->period_s + (double)rest * plan->period_s / plan->partitions;
}

double parsync_staleness_s(const struct parsync_plan *plan, uint32_t scheduler, uint64_t step,
	uint32_t partition)
{
	uint32_t now = parsync_partition(plan, scheduler, step);

	return parsync_step_s(plan, (now + plan->partitions - partition) % plan->partitions);
}

uint32_t parsync_first(uint32_t items, uint32_t partitions, uint32_t partition)
{
	return (uint32_t)((uint64_t)items * partition / partitions);
}

/* ---- conflicts */

/* m - S (1 - (1 - 1/S)^m), without losing digits where S is large. */
double parsync_expected_rejections(double slots, double requests)
{
	if (!(requests > 0))
		return 0;
	if (!(slots > 0))
		return requests;
	if (slots <= 1)
		return fmax(requests - slots, 0);
	return fmax(requests + slots * expm1(requests * log1p(-1 / slots)), 0);
}

/* ---- sets of partitions */

static uint64_t *set_of_kind(const struct parsync_sight *sight, uint32_t kind)
{
	return &sight->of_kind[(size_t)kind * sight->words];
}

static void set_bit(uint64_t *set, uint32_t i, bool there)
{
	uint64_t bit = UINT64_C(1) << i % 64;

	if (there)
		set[i / 64] |= bit;
	else
		set[i / 64] &= ~bit;
}

/* The largest member of `word`, which has one. */
static uint32_t largest(uint64_t word)
{
	return 63 - (uint32_t)__builtin_clzll(word);
}

/* The first member from `from` downwards, and then from the top; the set is not empty. */
static uint32_t last_around(const uint64_t *set, uint32_t words, uint32_t from)
{
	uint32_t w = from / 64;
	uint64_t here = set[w] & (~UINT64_C(0) >> (63 - from % 64));

	/* The first word is seen twice: below `from` now, above it at the end. */
	for (uint32_t i = 0; i <= words; i++) {
		if (here)
			return w * 64 + largest(here);
		w = w ? w - 1 : words - 1;
		here = set[w];
	}
	assert(!"an empty set");
	return 0;
}

void parsync_sight_init(struct parsync_sight *sight, uint32_t partitions, uint32_t kinds)
{
	uint32_t words = (partitions + 63) / 64;

	assert(partitions && kinds && kinds <= PARSYNC_KINDS_MAX);
	*sight = (struct parsync_sight){
		.partitions = partitions,
		.kinds = kinds,
		.words = words,
		.of_kind = mem_alloc(mem_array_size((size_t)kinds * words, sizeof(uint64_t))),
		.of_any = mem_alloc(mem_array_size(words, sizeof(uint64_t))),
		.kinds_in = mem_alloc(mem_array_size(partitions, sizeof(uint64_t))),
		.spread = mem_alloc(mem_array_size(kinds, sizeof(uint32_t))),
	};
}

void parsync_sight_fini(struct parsync_sight *sight)
{
	free(sight->of_kind);
	free(sight->of_any);
	free(sight->kinds_in);
	free(sight->spread);
	*sight = (struct parsync_sight){ 0 };
}

void parsync_sight_set(struct parsync_sight *sight, uint32_t partition, uint32_t kind, bool there)
{
	uint64_t bit = UINT64_C(1) << kind;

	if (there == !!(sight->kinds_in[partition] & bit))
		return;
	sight->kinds_in[partition] ^= bit;
	sight->spread[kind] += there ? 1 : -1u;
	set_bit(set_of_kind(sight, kind), partition, there);
	set_bit(sight->of_any, partition, sight->kinds_in[partition] != 0);
}

/* ---- the choice */

static bool is_bare(const struct parsync_sight *sight)
{
	for (uint32_t w = 0; w < sight->words; w++)
		if (sight->of_any[w])
			return false;
	return true;
}

static struct parsync_pick best_of_all(const struct parsync_sight *sight, const uint8_t *order,
	uint32_t freshest)
{
	uint32_t i = 0;

	while (!sight->spread[order[i]])
		i++;
	return (struct parsync_pick){
		.partition = last_around(set_of_kind(sight, order[i]), sight->words, freshest),
		.kind = order[i],
	};
}

static struct parsync_pick best_of_freshest(const struct parsync_sight *sight, const uint8_t *order,
	uint32_t freshest)
{
	uint32_t partition = last_around(sight->of_any, sight->words, freshest), i = 0;

	while (!(sight->kinds_in[partition] >> order[i] & 1))
		i++;
	return (struct parsync_pick){ partition, order[i] };
}

bool parsync_choose(const struct parsync_sight *sight, enum parsync_rule rule, const uint8_t *order,
	uint32_t freshest, struct parsync_pick *out)
{
	if (is_bare(sight))
		return false;
	*out = rule == PARSYNC_QUALITY ? best_of_all(sight, order, freshest)
				       : best_of_freshest(sight, order, freshest);
	return true;
}

/* ---- adapting */

int parsync_limits_check(const struct parsync_limits *limits, struct err *err)
{
	if (!(limits->window_s > 0))
		return err_set(err, ERR_USAGE,
			"a window of %g s: it must be more than 0, such as 1", limits->window_s);
	if (!(limits->back > 0) || !(limits->leave >= limits->back))
		return err_set(err, ERR_USAGE,
			"quality is given up above %g and sought again below %g times the usual delay: "
			"the second must be more than 0 and no more than the first",
			limits->leave, limits->back);
	return 0;
}

enum parsync_rule parsync_adapt(enum parsync_rule now, double delay_s, double usual_s,
	const struct parsync_limits *limits)
{
	if (delay_s > limits->leave * usual_s)
		return PARSYNC_LATENCY;
	if (delay_s < limits->back * usual_s)
		return PARSYNC_QUALITY;
	return now;
}
