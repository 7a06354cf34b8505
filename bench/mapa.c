/*
 * mapa: what the first look of the placer `mapa` at a machine costs, by pattern and number of devices.
 *
 * 16 devices as a torus of 4 x 4: double links along rows, single ones along columns, the host
 * between the others.  The least of five looks, each with memory that is new to the process.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "placement/mapa_score.h"

enum { SIDE = 4, LOOKS = 5 };

static const struct topology *torus(struct cluster *cluster)
{
	struct topology *t;

	cluster_add_topology(cluster, "torus", SIDE * SIDE);
	t = &cluster->topologies[0];
	topology_link_all(t, 12e9);
	for (uint32_t i = 0; i < SIDE * SIDE; i++) {
		uint32_t row = i / SIDE, column = i % SIDE;

		topology_link(t, i, row * SIDE + (column + 1) % SIDE, 50e9);
		topology_link(t, i, (row + 1) % SIDE * SIDE + column, 25e9);
	}
	return t;
}

static double look_s(const struct topology *t, enum pattern pattern, uint32_t n, enum mapa_rule rule)
{
	double least_s = INFINITY;

	for (int i = 0; i < LOOKS; i++) {
		double before_s = clock_cpu_s();
		struct mapa_graph *graph = mapa_graph_create(t, pattern, bandwidth_monotone);
		struct mapa_choice choice;

		mapa_choose(graph, 0xffff, n, rule, -INFINITY, &choice);
		least_s = fmin(least_s, clock_cpu_s() - before_s);
		mapa_graph_destroy(graph);
	}
	return least_s;
}

int main(void)
{
	static const uint32_t sizes[] = { 2, 4, 8, 10, 12, 14, 16 };
	struct cluster cluster = { 0 };
	const struct topology *t = torus(&cluster);
	double most_s = 0;

	mallopt(M_MMAP_THRESHOLD, 1 << 16);
	printf("%-8s %8s %16s %16s\n", "pattern", "devices", "bandwidth ms", "links spared ms");
	for (enum pattern pattern = PATTERN_RING; pattern < PATTERN_COUNT; pattern++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			double predicted_s = look_s(t, pattern, sizes[i], MAPA_PREDICTED);
			double preserve_s = look_s(t, pattern, sizes[i], MAPA_PRESERVE);

			most_s = fmax(most_s, fmax(predicted_s, preserve_s));
			printf("%-8s %8u %16.2f %16.2f\n", pattern_names[pattern], sizes[i],
				predicted_s * 1e3, preserve_s * 1e3);
		}
	}
	printf("most: %.2f ms (bar: 50)  %s\n", most_s * 1e3, most_s <= 0.05 ? "pass" : "MISS");
	cluster_fini(&cluster);
	return 0;
}
