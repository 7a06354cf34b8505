/*
 * Utility of devices, by trying all sets or by bipartitioning.
 */
#include "placement/topo_utility.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solver/bisect.h"
#include "solver/embed.h"

enum { TRIED_MAX = 8 };

static const double SLACK = 1e-9;

static uint32_t count(uint64_t devices)
{
	return (uint32_t)__builtin_popcountll(devices);
}

static uint64_t all_of(const struct topo_machine *m)
{
	return m->devices < NODE_DEVICES_MAX ? (UINT64_C(1) << m->devices) - 1 : UINT64_MAX;
}

void topo_machine_init(struct topo_machine *m, const struct topology *t, uint32_t devices,
	const struct distances *distances)
{
	m->devices = devices;
	m->free = all_of(m);
	for (uint32_t i = 0; i < devices; i++) {
		m->socket[i] = t ? topology_socket(t, i) : all_of(m);
		for (uint32_t j = 0; j < devices; j++)
			m->distance[i * devices + j] = i == j ? 0
				: t ? distances->of[topology_nearness(t, i, j)]
				    : distances->of[NEAR_SWITCH];
	}
}

double topo_distance(const struct topo_machine *m, uint64_t devices)
{
	double sum = 0;

	for (uint64_t i = devices; i; i &= i - 1) {
		for (uint64_t j = i & (i - 1); j; j &= j - 1)
			sum += m->distance[(uint32_t)__builtin_ctzll(i) * m->devices +
				(uint32_t)__builtin_ctzll(j)];
	}
	return sum;
}

static uint64_t sockets_of(const struct topo_machine *m, uint64_t devices)
{
	uint64_t sockets = 0;

	for (uint64_t left = devices; left; left &= ~m->socket[__builtin_ctzll(left)])
		sockets |= m->socket[__builtin_ctzll(left)];
	return sockets;
}

struct utility topo_utility(const struct topo_machine *m, uint64_t devices)
{
	uint64_t sockets = sockets_of(m, devices);
	double distance = topo_distance(m, devices);
	struct utility u;

	u.part[UTILITY_NEAR] = distance > 0 ? fmin(1, m->nearest / distance) : 1;
	u.part[UTILITY_QUIET] = m->quiet ? m->quiet(m->ctx, devices) : 1;
	u.part[UTILITY_FULL] = 1 - (double)count(m->free & sockets & ~devices) / count(sockets);
	u.all = 0;
	for (int i = 0; i < UTILITY_PARTS; i++)
		u.all += m->weight[i] * u.part[i];
	return u;
}

/* ---- all sets */

static uint64_t lowest_of(uint64_t devices, uint32_t n)
{
	uint64_t taken = 0;

	for (; n > 0 && devices; n--, devices &= devices - 1)
		taken |= devices & -devices;
	return taken;
}

uint64_t topo_exact(const struct topo_machine *m, uint32_t n)
{
	double most = -INFINITY;
	uint64_t best = 0;

	if (n == 0 || count(m->free) < n)
		return 0;
	for (uint64_t set = lowest_of(m->free, n); set; set = embed_next_set(m->free, set)) {
		double u = topo_utility(m, set).all;

		if (u > most + SLACK) {
			most = u;
			best = set;
		}
	}
	return best;
}

/* ---- bipartitioning */

/* A part of the free devices, and the best of it for every size of a part of the job. */
struct branch {
	uint64_t devices;
	struct branch *halves[2];
	uint64_t best[NODE_DEVICES_MAX + 1];
};

static struct branch *split(const double *nearness, uint32_t n, uint64_t devices)
{
	struct branch *b = mem_alloc(sizeof(*b));

	b->devices = devices;
	if (count(devices) > 1) {
		uint64_t half = bisect(nearness, n, devices, count(devices) / 2);

		b->halves[0] = split(nearness, n, half);
		b->halves[1] = split(nearness, n, devices & ~half);
	}
	return b;
}

static void branch_free(struct branch *b)
{
	if (!b)
		return;
	branch_free(b->halves[0]);
	branch_free(b->halves[1]);
	free(b);
}

static bool is_lower(uint64_t a, uint64_t b)
{
	return a != b && (a & ((a ^ b) & -(a ^ b)));
}

/* The job's tasks are alike, so its parts differ in size only: the division with the largest utility. */
static uint64_t best_division(const struct topo_machine *m, const struct branch *b, uint32_t n)
{
	const struct branch *x = b->halves[0], *y = b->halves[1];
	double most = -INFINITY;
	uint64_t best = 0;

	for (uint32_t k = 0; k <= n && k <= count(x->devices); k++) {
		uint64_t set;
		double u;

		if (n - k > count(y->devices))
			continue;
		set = x->best[k] | y->best[n - k];
		u = topo_utility(m, set).all;
		if (u > most + SLACK || (u > most - SLACK && is_lower(set, best))) {
			most = u;
			best = set;
		}
	}
	return best;
}

static void choose_sizes(const struct topo_machine *m, struct branch *b, uint32_t most)
{
	uint32_t size = count(b->devices);

	if (b->halves[0]) {
		choose_sizes(m, b->halves[0], most);
		choose_sizes(m, b->halves[1], most);
	}
	for (uint32_t n = 1; n <= size && n <= most; n++)
		b->best[n] = n == size ? b->devices : best_division(m, b, n);
}

uint64_t topo_bipartition(const struct topo_machine *m, uint32_t n)
{
	double *nearness;
	struct branch *root;
	uint64_t best;

	if (n == 0 || count(m->free) < n)
		return 0;
	nearness = mem_alloc(sizeof(*nearness) * m->devices * m->devices);
	for (uint32_t i = 0; i < m->devices * m->devices; i++)
		nearness[i] = m->distance[i] > 0 ? 1 / m->distance[i] : 0;
	root = split(nearness, m->devices, m->free);
	choose_sizes(m, root, n);
	best = root->best[n];
	branch_free(root);
	free(nearness);
	return best;
}

static double smallest_distance(const struct topo_machine *m)
{
	double smallest = INFINITY;

	for (uint32_t i = 0; i < m->devices * m->devices; i++)
		smallest = m->distance[i] > 0 ? fmin(smallest, m->distance[i]) : smallest;
	return smallest;
}

double topo_nearest(const struct topo_machine *m, uint32_t n)
{
	struct topo_machine idle = *m;

	idle.free = all_of(m);
	idle.quiet = NULL;
	idle.nearest = smallest_distance(m); /* below every sum: of two the smaller is the better */
	for (int i = 0; i < UTILITY_PARTS; i++)
		idle.weight[i] = i == UTILITY_NEAR;
	return topo_distance(m,
		m->devices <= TRIED_MAX ? topo_exact(&idle, n) : topo_bipartition(&idle, n));
}
