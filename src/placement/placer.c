/*
 * The table of placers and the parts they are built from.
 */
#include "placement/placer.h"

#include <assert.h>

#include "base/lookup.h"
#include "base/vec.h"

#define PLACER(name) extern const struct placer placer_##name;
#include "placement/placers.def"
#undef PLACER

const struct placer *const placers[] = {
#define PLACER(name) &placer_##name,
#include "placement/placers.def"
#undef PLACER
	NULL,
};

const struct placer *placer_find(const char *name, struct err *err)
{
	const char *names[64];
	size_t n = 0;

	for (; placers[n]; n++) {
		if (strcmp(placers[n]->name, name) == 0)
			return placers[n];
		names[n] = placers[n]->name;
	}
	lookup_failed("placer", name, names, n, "stint placers", err);
	return NULL;
}

bool placer_keeps_cells(const struct placer *placer)
{
	return placer->cells != NULL;
}

void slots_add(struct slots *slots, uint32_t node, uint64_t devices)
{
	vec_push(slots, (struct slot){ .node = node, .devices = devices });
	slots->gpus += (uint32_t)__builtin_popcountll(devices);
}

bool placing_feeds(const struct placing *p, uint32_t node, uint32_t n)
{
	return space_feeds(p->space, p->job, p->gpus + p->rest, node, n);
}

uint32_t place_on_node(const struct placing *p, uint32_t node, uint32_t want, struct slots *out)
{
	uint32_t n = p->space->nodes[node].nfree;

	if (n > want)
		n = want;
	while (n > 0 && !placing_feeds(p, node, n))
		n--;
	if (n > 0)
		slots_add(out, node, space_lowest(p->space->nodes[node].free, n));
	return n;
}

/* The first node in order of number with at least `least` free devices, from position *at on. */
static uint32_t next_with(const struct placing *p, uint32_t least, uint32_t *at)
{
	const struct space_type *t = &p->space->types[p->type];

	for (uint32_t word = *at / 64; word < t->nwords; word++) {
		uint64_t bits = 0;

		for (uint32_t f = least; f <= t->max; f++)
			bits |= t->buckets[f].words[word];
		if (word == *at / 64)
			bits &= UINT64_MAX << (*at % 64);
		if (bits) {
			uint32_t position = word * 64 + (uint32_t)__builtin_ctzll(bits);

			*at = position + 1;
			return t->nodes[position];
		}
	}
	return UINT32_MAX;
}

bool place_first_whole(const struct placing *p, uint32_t want, struct slots *out)
{
	uint32_t at = 0, node;

	while ((node = next_with(p, want, &at)) != UINT32_MAX) {
		if (placing_feeds(p, node, want)) {
			place_on_node(p, node, want, out);
			return true;
		}
	}
	return false;
}

uint32_t place_first_fit(const struct placing *p, uint32_t want, struct slots *out)
{
	uint32_t at = 0, found = 0, node;

	while (found < want && (node = next_with(p, 1, &at)) != UINT32_MAX)
		found += place_on_node(p, node, want - found, out);
	return found;
}

uint32_t place_fullest(const struct placing *p, uint32_t want, struct slots *out)
{
	uint32_t found = 0, max = p->space->types[p->type].max;

	for (uint32_t f = 1; f <= max && found < want; f++) {
		uint32_t at = 0, node;

		while (found < want && (node = space_next(p->space, p->type, f, &at)) != UINT32_MAX)
			found += place_on_node(p, node, want - found, out);
	}
	return found;
}

uint32_t place_emptiest(const struct placing *p, uint32_t want, struct slots *out)
{
	uint32_t found = 0;

	for (uint32_t f = p->space->types[p->type].max; f > 0 && found < want; f--) {
		uint32_t at = 0, node;

		while (found < want && (node = space_next(p->space, p->type, f, &at)) != UINT32_MAX)
			found += place_on_node(p, node, want - found, out);
	}
	return found;
}

static bool chosen(const struct slots *out, uint32_t node)
{
	for (uint32_t i = 0; i < out->n; i++) {
		if (out->at[i].node == node)
			return true;
	}
	return false;
}

bool place_single(const struct placing *p, uint32_t want, struct slots *out)
{
	uint32_t max = p->space->types[p->type].max;

	for (uint32_t f = want; f <= max; f++) {
		uint32_t at = 0, node;

		while ((node = space_next(p->space, p->type, f, &at)) != UINT32_MAX) {
			if (!chosen(out, node) && placing_feeds(p, node, want)) {
				place_on_node(p, node, want, out);
				return true;
			}
		}
	}
	return false;
}

/* All of the largest empty node that takes no more than `want`; returns how many that were. */
static uint32_t place_whole_node(const struct placing *p, uint32_t want, struct slots *out)
{
	uint32_t max = p->space->types[p->type].max;

	for (uint32_t f = want < max ? want : max; f > 0; f--) {
		uint32_t at = 0, node;

		while ((node = space_next(p->space, p->type, f, &at)) != UINT32_MAX) {
			if (p->space->nodes[node].users.n == 0 && !chosen(out, node) &&
				placing_feeds(p, node, f))
				return place_on_node(p, node, f, out);
		}
	}
	return 0;
}

bool place_compact(const struct placing *p, struct slots *out)
{
	uint32_t rest = p->gpus;

	while (!place_single(p, rest, out)) {
		uint32_t got = place_whole_node(p, rest, out);

		if (got == 0)
			return false;
		rest -= got;
	}
	return true;
}

bool place_together(const struct placing *p, bool strict, struct slots *out)
{
	if (place_compact(p, out))
		return true;
	out->n = out->gpus = 0;
	return !strict && place_emptiest(p, p->gpus, out) == p->gpus;
}
