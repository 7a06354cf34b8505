/*
 * The five machines of the published MAPA program, from DATA/mapa (DATA is STINT_DATA, else ../shared/data), and
 * its choices by trying every ring of every set, straight from their files.
 */
#ifndef TESTS_SUPPORT_MAPA_MACHINE_H
#define TESTS_SUPPORT_MAPA_MACHINE_H

#include "base/file.h"
#include "placement/mapa_score.h"

struct machine {
	const char *name;
	uint32_t gpus;
	uint32_t best[9]; /* published: the sum of the best ring, by size */
};

enum { MAPA_MACHINES = 5, MAPA_GPUS = 16 };
extern const struct machine mapa_machines[MAPA_MACHINES];

/* Links as the file has them. */
struct machine_links {
	uint32_t n;
	int GBps[MAPA_GPUS][MAPA_GPUS];
	int kind[MAPA_GPUS][MAPA_GPUS]; /* 0: PCIe, 1: single, 2: double */
};

/* The text of a file of the data, or the test is skipped and says so. */
void mapa_data(const char *name, struct file *out);
int64_t mapa_number(struct slice text);
void machine_read(const struct machine *m, struct machine_links *out);
/* The same as a graph for rings and the published model; the caller's, and so is the cluster. */
struct mapa_graph *machine_graph(const struct machine *m, struct cluster *cluster);

/* What one set of devices is worth. */
struct tried {
	int sum;          /* of the widest ring */
	double predicted; /* of the ring with the largest */
};
void try_rings(const struct machine_links *links, uint64_t set, struct tried *out);
/* The program's choice of n of the free devices by these rules, MAPA_GREEDY, _PREDICTED or _PRESERVE.  0: none. */
uint64_t try_sets(const struct machine_links *links, uint64_t free, uint32_t n, enum mapa_rule rule);

#endif
