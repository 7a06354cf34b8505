/*
 * Grants: compared, by type, and beside each other.
 */
#include "model/grant.h"

#include "model/cluster.h"

bool grant_same_devices(const struct grant *a, const struct grant *b)
{
	if (a->nslots != b->nslots)
		return false;
	for (uint32_t i = 0; i < a->nslots; i++) {
		if (a->slots[i].node != b->slots[i].node || a->slots[i].devices != b->slots[i].devices)
			return false;
	}
	return true;
}

static uint64_t devices_on(const struct grant *grant, uint32_t node)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (grant->slots[i].node == node)
			return grant->slots[i].devices;
	}
	return 0;
}

bool grant_within(const struct grant *a, const struct grant *b)
{
	for (uint32_t i = 0; i < a->nslots; i++) {
		if (a->slots[i].devices & ~devices_on(b, a->slots[i].node))
			return false;
	}
	return true;
}

static uint32_t count(uint64_t devices)
{
	return (uint32_t)__builtin_popcountll(devices);
}

uint32_t grant_parts(const struct grant *grant, const struct cluster *cluster, struct grant_part *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		uint32_t type = cluster->nodes[grant->slots[i].node].type, at = 0;

		while (at < n && out[at].type != type)
			at++;
		if (at == n)
			out[n++] = (struct grant_part){ .type = type };
		out[at].gpus += count(grant->slots[i].devices);
	}
	return n;
}

void grant_set_type(struct grant *grant, const struct cluster *cluster)
{
	struct grant_part parts[TYPES_MAX];
	uint32_t n = grant_parts(grant, cluster, parts), most = 0;

	for (uint32_t i = 1; i < n; i++) {
		if (parts[i].gpus > parts[most].gpus)
			most = i;
	}
	grant->type = parts[most].type;
	grant->mixed = n > 1;
}

uint64_t neighbour_devices(const struct neighbour *neighbour, uint32_t node)
{
	return neighbour->grant ? devices_on(neighbour->grant, node) : UINT64_MAX;
}

uint64_t slot_alike(struct slot slot, const struct neighbour *beside, uint32_t n)
{
	uint64_t lowest = slot.devices & -slot.devices, alike = slot.devices;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t devices = neighbour_devices(&beside[i], slot.node);

		alike &= devices & lowest ? devices : ~devices;
	}
	return alike;
}

/* How many of `n` others on these devices take a part of them: guests take nothing of whoever they are beside. */
static uint32_t partners(const struct grant *grant, const struct neighbour *beside, uint32_t n,
	struct slot slot, bool *host)
{
	uint32_t others = 0;

	*host = false;
	for (uint32_t i = 0; i < n; i++) {
		bool guest = beside[i].grant && beside[i].grant->guest;

		if (!(neighbour_devices(&beside[i], slot.node) & slot.devices))
			continue;
		*host |= grant->guest && !guest;
		others += grant->guest || !guest;
	}
	return others;
}

double grant_lent(const struct grant *grant, const struct neighbour *beside, uint32_t n)
{
	double lent = 0;

	if (grant->share > 0 && grant->share < 1 && !grant->guest)
		return grant->gpus * (1 - grant->share);
	for (uint32_t i = 0; n > 0 && i < grant->nslots; i++) {
		struct slot slot = grant->slots[i];

		while (slot.devices) {
			uint64_t alike = slot_alike(slot, beside, n);
			bool host;
			uint32_t others = partners(grant, beside, n,
				(struct slot){ slot.node, alike }, &host);

			lent += host ? count(alike) : (double)count(alike) * others / (others + 1);
			slot.devices &= ~alike;
		}
	}
	return lent;
}
