/*
 * Links inside a node.
 */
#include "model/links.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "solver/ring.h"

const char *const nearness_names[NEAR_COUNT] = {
	[NEAR_SWITCH] = "switch",
	[NEAR_SOCKET] = "socket",
	[NEAR_NODE] = "node",
	[NEAR_CLUSTER] = "cluster",
};

const struct distances distances_usual = { { 1, 10, 20, 100 } };

void topology_link(struct topology *t, uint32_t i, uint32_t j, double Bps)
{
	t->Bps[i * t->devices + j] = Bps;
	t->Bps[j * t->devices + i] = Bps;
	topology_say_links(t, i, j, LINKS_UNSAID);
}

void topology_link_all(struct topology *t, double Bps)
{
	for (uint32_t i = 0; i < t->devices; i++) {
		for (uint32_t j = i + 1; j < t->devices; j++) {
			topology_link(t, i, j, Bps);
			topology_say_links(t, i, j, 0);
		}
	}
}

void topology_say_links(struct topology *t, uint32_t i, uint32_t j, uint8_t links)
{
	t->links[i * t->devices + j] = links;
	t->links[j * t->devices + i] = links;
}

void topology_begin_groups(struct topology *t)
{
	t->grouped = true;
	memset(t->near, NEAR_NODE, (size_t)t->devices * t->devices);
	for (uint32_t i = 0; i < t->devices; i++)
		t->near[i * t->devices + i] = NEAR_SWITCH;
}

void topology_group(struct topology *t, uint64_t devices, enum nearness near)
{
	for (uint64_t i = devices; i; i &= i - 1) {
		for (uint64_t j = devices; j; j &= j - 1) {
			uint8_t *at = &t->near[(uint32_t)__builtin_ctzll(i) * t->devices +
				(uint32_t)__builtin_ctzll(j)];

			*at = near < *at ? (uint8_t)near : *at;
		}
	}
}

void topology_copy_links(const struct topology *from, struct topology *to)
{
	size_t n = (size_t)from->devices * from->devices;

	memcpy(to->Bps, from->Bps, n * sizeof(*to->Bps));
	memcpy(to->links, from->links, n);
	memcpy(to->near, from->near, n);
	to->grouped = from->grouped;
}

static const double HOST_BPS = 16e9; /* PCIe 3.0 */
static const double LINK_BPS = 25e9; /* one NVLink, one direction */

uint8_t links_of_speed(double Bps)
{
	double n = rint(Bps / LINK_BPS);

	if (Bps <= HOST_BPS)
		return 0;
	return n < 1 ? 1 : n < LINKS_UNSAID ? (uint8_t)n : LINKS_UNSAID - 1;
}

uint8_t topology_links(const struct topology *t, uint32_t i, uint32_t j)
{
	uint8_t said = t->links[i * t->devices + j];

	return said == LINKS_UNSAID ? links_of_speed(topology_Bps(t, i, j)) : said;
}

static bool same_half(const struct topology *t, uint32_t i, uint32_t j)
{
	return i / ((t->devices + 1) / 2) == j / ((t->devices + 1) / 2);
}

static bool all_alike(const struct topology *t)
{
	for (uint32_t i = 0; i < t->devices * t->devices; i++) {
		if (i % (t->devices + 1) && t->Bps[i] != t->Bps[1])
			return false;
	}
	return true;
}

enum nearness topology_nearness(const struct topology *t, uint32_t i, uint32_t j)
{
	if (i == j)
		return NEAR_SWITCH;
	if (t->grouped)
		return (enum nearness)t->near[i * t->devices + j];
	if (topology_links(t, i, j) > 0 || all_alike(t))
		return NEAR_SWITCH;
	return same_half(t, i, j) ? NEAR_SOCKET : NEAR_NODE;
}

/* Links that cross sockets do not make them one. */
static bool shares_socket(const struct topology *t, uint32_t i, uint32_t j)
{
	if (t->grouped)
		return t->near[i * t->devices + j] <= NEAR_SOCKET;
	return same_half(t, i, j) || all_alike(t);
}

uint64_t topology_socket(const struct topology *t, uint32_t i)
{
	uint64_t devices = 0;

	for (uint32_t j = 0; j < t->devices; j++)
		devices |= shares_socket(t, i, j) ? UINT64_C(1) << j : 0;
	return devices;
}

/* What was found for a set is kept: whoever asks finds the same, so that it does not matter who writes it. */
double topology_ring_Bps(const struct topology *t, uint64_t devices)
{
	uint64_t bits = t->rings ? atomic_load_explicit(&t->rings[devices], memory_order_relaxed) : 0;
	double Bps;

	if (bits) {
		memcpy(&Bps, &bits, sizeof(Bps));
		return Bps;
	}
	Bps = ring_widest(t->Bps, t->devices, devices);
	memcpy(&bits, &Bps, sizeof(bits));
	if (t->rings)
		atomic_store_explicit(&t->rings[devices], bits, memory_order_relaxed);
	return Bps;
}

double topology_best_ring_Bps(const struct topology *t, uint32_t n)
{
	return ring_widest_of(t->Bps, t->devices, n);
}

double topology_slowest_Bps(const struct topology *t)
{
	double Bps = t->devices > 1 ? INFINITY : 0;

	for (uint32_t i = 0; i < t->devices; i++) {
		for (uint32_t j = i + 1; j < t->devices; j++)
			Bps = fmin(Bps, topology_Bps(t, i, j));
	}
	return Bps;
}
