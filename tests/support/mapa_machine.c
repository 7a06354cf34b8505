/*
 * Reading and trying.
 */
#include "support/mapa_machine.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "support/data.h"
#include "support/property.h"

const struct machine mapa_machines[MAPA_MACHINES] = {
	{ "dgx-v", 8, { 0, 0, 100, 125, 175, 210, 275, 325, 400 } },
	{ "dgx-p", 8, { 0, 0, 40, 60, 80, 100, 120, 130, 160 } },
	{ "summit", 6, { 0, 0, 100, 150, 170, 220, 320 } },
	{ "torus-2d", 16, { 0, 0, 100, 110, 175, 210, 260 } },
	{ "cubeMesh-16", 16, { 0, 0, 100, 110, 175, 210, 260 } },
};

void mapa_data(const char *name, struct file *out)
{
	char *path = mem_printf("%s/mapa/%s", data_dir(), name);
	struct err err = { 0 };

	if (!file_exists(path)) {
		printf("%s is not there (STINT_DATA names the folder of data)\n", path);
		free(path);
		skip();
	}
	if (file_read(path, out, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
}

int64_t mapa_number(struct slice text)
{
	int64_t n = 0;

	if (!slice_int(slice_trim(text), &n))
		fail_msg("'%.*s' is no number", (int)text.n, text.at);
	return n;
}

static void read_pair(struct slice line, struct machine_links *out)
{
	uint32_t i = (uint32_t)mapa_number(slice_cut(&line, ',')) - 1;
	uint32_t j = (uint32_t)mapa_number(slice_cut(&line, ',')) - 1;
	int GBps = (int)mapa_number(slice_cut(&line, ','));
	struct slice kind = slice_trim(line);

	out->GBps[i][j] = out->GBps[j][i] = GBps;
	out->kind[i][j] = out->kind[j][i] = slice_is(kind, "pcie") ? 0
		: slice_is(kind, "nvlink1")                        ? 1
								   : 2;
}

void machine_read(const struct machine *m, struct machine_links *out)
{
	char *name = mem_printf("%s.csv", m->name);
	struct lines lines;
	struct slice line;
	struct file file;
	bool heading = true;

	*out = (struct machine_links){ .n = m->gpus };
	mapa_data(name, &file);
	for (lines = lines_of(file.at, file.n); lines_next(&lines, &line); heading = false) {
		if (!heading && slice_trim(line).n)
			read_pair(line, out);
	}
	file_fini(&file);
	free(name);
}

struct mapa_graph *machine_graph(const struct machine *m, struct cluster *cluster)
{
	struct machine_links links;
	struct topology *t;

	machine_read(m, &links);
	cluster_add_topology(cluster, m->name, m->gpus);
	t = &cluster->topologies[0];
	for (uint32_t i = 0; i < m->gpus; i++) {
		for (uint32_t j = 0; j < i; j++) {
			topology_link(t, i, j, links.GBps[i][j] * 1e9);
			topology_say_links(t, i, j, (uint8_t)links.kind[i][j]);
		}
	}
	return mapa_graph_create(t, PATTERN_RING, bandwidth_published);
}

/* ---- every ring */

/* The published polynomial in double, single and PCIe links, written down once more: terms by degree, not by sign. */
static double published(double x, double y, double z)
{
	const double linear = 16.39670455 * x + 4.536821878 * y + 1.55623404 * z;
	const double pairs = -7.973335727 * (x * y) + 12.73323772 * (y * z) - 4.195655221 * (x * z);
	const double single_inverse = -20.69484581 / (1 + x) - 9.467461958 / (1 + y) +
		7.615106783 / (1 + z);
	const double pair_inverse = -8.413419363 / (1 + x * y) + 62.85125807 / (1 + y * z) +
		27.41832588 / (1 + x * z);

	return linear + pairs + single_inverse + pair_inverse - 5.114108079 * (x * y * z) -
		46.97390071 / (1 + x * y * z);
}

struct ring {
	const struct machine_links *links;
	uint32_t at[MAPA_GPUS], n;
	struct tried *best;
};

static void measure(struct ring *r)
{
	int kinds[3] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t a = r->at[i], b = r->at[(i + 1) % r->n];

		sum += r->links->GBps[a][b];
		kinds[r->links->kind[a][b]]++;
	}
	r->best->sum = sum > r->best->sum ? sum : r->best->sum;
	r->best->predicted = fmax(r->best->predicted, published(kinds[2], kinds[1], kinds[0]));
}

/* Places from `p` on are tried with each of what is left; the first stays. */
static void permute(struct ring *r, uint32_t p)
{
	if (p == r->n)
		measure(r);
	for (uint32_t i = p; i < r->n; i++) {
		uint32_t kept = r->at[p];

		r->at[p] = r->at[i];
		r->at[i] = kept;
		permute(r, p + 1);
		r->at[i] = r->at[p];
		r->at[p] = kept;
	}
}

void try_rings(const struct machine_links *links, uint64_t set, struct tried *out)
{
	struct ring r = { .links = links, .best = out };

	*out = (struct tried){ 0, -INFINITY };
	for (uint32_t i = 0; i < links->n; i++) {
		if (set >> i & 1)
			r.at[r.n++] = i;
	}
	permute(&r, 1);
}

static int preserved(const struct machine_links *links, uint64_t left)
{
	int sum = 0;

	for (uint32_t i = 0; i < links->n; i++) {
		for (uint32_t j = 0; j < i; j++) {
			if (left >> i & 1 && left >> j & 1 && links->kind[i][j])
				sum += links->GBps[i][j];
		}
	}
	return sum;
}

/* Whether set `a` comes before `b` when both are written down in order. */
static bool comes_first(uint64_t a, uint64_t b)
{
	uint64_t differs = a ^ b;

	return a & differs & -differs;
}

uint64_t try_sets(const struct machine_links *links, uint64_t free_, uint32_t n, enum mapa_rule rule)
{
	double most = -INFINITY, second = -INFINITY;
	uint64_t best = 0;

	for (uint64_t set = 1; set < UINT64_C(1) << links->n; set++) {
		double value, other;
		struct tried t;

		if (set & ~free_ || (uint32_t)__builtin_popcountll(set) != n)
			continue;
		try_rings(links, set, &t);
		value = rule == MAPA_GREEDY      ? t.sum
			: rule == MAPA_PREDICTED ? t.predicted
						 : preserved(links, free_ & ~set);
		other = rule == MAPA_PRESERVE ? t.sum : 0;
		if (!best || value > most + 1e-9 ||
			(value > most - 1e-9 &&
				(other > second || (other == second && comes_first(set, best))))) {
			best = set;
			most = value;
			second = other;
		}
	}
	return best;
}
