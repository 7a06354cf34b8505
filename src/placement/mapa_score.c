/*
 * MAPA's scores, and the best devices of one node by each.
 */
#include "placement/mapa_score.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- predicted bandwidth */

double bandwidth_published(const uint32_t links[EMBED_KINDS])
{
	double x = links[LINK_DOUBLE], y = links[LINK_SINGLE], z = links[LINK_HOST];

	return 16.39670455 * x + 4.536821878 * y + 1.55623404 * z - 20.69484581 / (x + 1) -
		9.467461958 / (y + 1) + 7.615106783 / (z + 1) - 7.973335727 * x * y +
		12.73323772 * y * z - 4.195655221 * x * z - 8.413419363 / (x * y + 1) +
		62.85125807 / (y * z + 1) + 27.41832588 / (x * z + 1) - 5.114108079 * x * y * z -
		46.97390071 / (x * y * z + 1);
}

/* Grows with n, less and less at first. */
static double grown(double slope, double rise, double n)
{
	return slope * n + rise * (1 - 1 / (n + 1));
}

/*
 * A sum of growing functions of how many links there are, how many of them are direct, and how many of these
 * double: so another link, or a faster one instead, adds to some of the three and takes from none.
 * The numbers are those that come closest to the published values for one to five links of one
 * kind, where the polynomial behaves.
 */
double bandwidth_monotone(const uint32_t links[EMBED_KINDS])
{
	double doubled = links[LINK_DOUBLE], direct = doubled + links[LINK_SINGLE];

	return grown(0, 16, direct + links[LINK_HOST]) + grown(4, 15, direct) +
		grown(12.5, 10, doubled);
}

/* ---- one node */

struct mapa_graph {
	struct embed_graph edges;
	enum pattern pattern;
	embed_value *predict;
	double width[EMBED_MAX * EMBED_MAX]; /* GB/s */
	uint8_t kind[EMBED_MAX * EMBED_MAX];
	uint64_t socket[EMBED_MAX];
	double *linked;                  /* by set of devices */
	double *sum, *predicted;         /* likewise, of those sizes that have been asked for */
	uint32_t has_sum, has_predicted; /* sizes, as bits */
};

static void find_linked(struct mapa_graph *g)
{
	uint32_t n = g->edges.n;

	for (uint32_t set = 1; set < UINT32_C(1) << n; set++) {
		uint32_t first = (uint32_t)__builtin_ctz(set), rest = set & (set - 1);

		g->linked[set] = g->linked[rest];
		for (; rest; rest &= rest - 1) {
			uint32_t pair = first * n + (uint32_t)__builtin_ctz(rest);

			g->linked[set] += g->kind[pair] ? g->width[pair] : 0;
		}
	}
}

struct mapa_graph *mapa_graph_create(const struct topology *t, enum pattern pattern, embed_value *predict)
{
	struct mapa_graph *g;
	uint32_t n = t->devices;

	if (n > EMBED_MAX)
		return NULL;
	g = mem_alloc(sizeof(*g));
	g->edges = (struct embed_graph){ n, g->width, g->kind };
	g->pattern = pattern;
	g->predict = predict;
	for (uint32_t i = 0; i < n; i++) {
		g->socket[i] = topology_socket(t, i);
		for (uint32_t j = 0; j < n; j++) {
			uint8_t links = i == j ? 0 : topology_links(t, i, j);

			g->width[i * n + j] = topology_Bps(t, i, j) / 1e9;
			g->kind[i * n + j] = links < LINK_DOUBLE ? links : LINK_DOUBLE;
		}
	}
	g->linked = mem_alloc(sizeof(double) << n);
	g->sum = mem_alloc(sizeof(double) << n);
	g->predicted = mem_alloc(sizeof(double) << n);
	find_linked(g);
	return g;
}

void mapa_graph_destroy(struct mapa_graph *g)
{
	if (!g)
		return;
	free(g->linked);
	free(g->sum);
	free(g->predicted);
	free(g);
}

const struct embed_graph *mapa_graph_edges(const struct mapa_graph *g)
{
	return &g->edges;
}

double mapa_linked(const struct mapa_graph *g, uint64_t devices)
{
	return g->linked[devices];
}

static const double *sums_of(struct mapa_graph *g, uint32_t n)
{
	if (!(g->has_sum >> n & 1))
		embed_values(&g->edges, n, g->pattern, NULL, g->sum);
	g->has_sum |= UINT32_C(1) << n;
	return g->sum;
}

static const double *predicted_of(struct mapa_graph *g, uint32_t n)
{
	if (!(g->has_predicted >> n & 1))
		embed_values(&g->edges, n, g->pattern, g->predict, g->predicted);
	g->has_predicted |= UINT32_C(1) << n;
	return g->predicted;
}

static uint64_t lowest_of(uint64_t devices, uint32_t n)
{
	uint64_t taken = 0;

	for (; n > 0 && devices; n--, devices &= devices - 1)
		taken |= devices & -devices;
	return taken;
}

/* The lowest devices of a socket that has more than the job wants and enough of them free. */
static uint64_t in_socket(const struct mapa_graph *g, uint64_t free_, uint32_t n)
{
	for (uint32_t i = 0; i < g->edges.n; i++) {
		uint64_t socket = g->socket[i];

		if ((uint32_t)__builtin_popcountll(socket) > n &&
			(uint32_t)__builtin_popcountll(socket & free_) >= n)
			return lowest_of(socket & free_, n);
	}
	return 0;
}

static bool choose_by_number(struct mapa_graph *g, uint64_t free_, uint32_t n, enum mapa_rule rule,
	struct mapa_choice *out)
{
	uint64_t devices = rule == MAPA_SOCKET ? in_socket(g, free_, n) : 0;

	*out = (struct mapa_choice){ .value = devices ? 1 : 0 };
	out->devices = devices ? devices : lowest_of(free_, n);
	out->sum = n > 1 ? sums_of(g, n)[out->devices] : 0;
	return true;
}

bool mapa_choose(struct mapa_graph *g, uint64_t free_, uint32_t n, enum mapa_rule rule,
	double least, struct mapa_choice *out)
{
	static const double slack = 1e-9;
	const double *sum, *by;
	struct mapa_choice best = { .value = least, .sum = -INFINITY };

	if (n == 0 || (uint32_t)__builtin_popcountll(free_) < n)
		return false;
	if (rule == MAPA_LOWEST || rule == MAPA_SOCKET || (n == 1 && rule != MAPA_PRESERVE))
		return choose_by_number(g, free_, n, rule, out);
	sum = by = rule == MAPA_PREDICTED ? predicted_of(g, n) : sums_of(g, n);
	for (uint64_t set = lowest_of(free_, n); set; set = embed_next_set(free_, set)) {
		double value = rule == MAPA_PRESERVE ? g->linked[free_ & ~set] - g->linked[free_]
						     : by[set];

		if (value > best.value + slack ||
			(best.devices && value > best.value - slack &&
				sum[set] > best.sum + slack && rule == MAPA_PRESERVE))
			best = (struct mapa_choice){ set, value, sum[set] };
	}
	if (!best.devices)
		return false;
	*out = best;
	return true;
}

double mapa_best_sum(struct mapa_graph *g, uint32_t n)
{
	struct mapa_choice best;
	uint64_t all = (UINT64_C(1) << g->edges.n) - 1;

	return n > 1 && mapa_choose(g, all, n, MAPA_GREEDY, -INFINITY, &best) ? best.sum : 0;
}
