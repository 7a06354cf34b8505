/*
 * cells [OPERATIONS] [SEED]: what an operation on cells costs, and whether it breaks a promise.
 *
 * 256 nodes of 2 x 2 x 2 devices, four virtual clusters with 64 nodes each, gangs of 1, 2, 4
 * and 8 devices with priorities -1 to 1, nodes that fail and are repaired: the measurement
 * of the published program in ../shared/specs, with faults on top.  Everything is counted anew
 * too, which is not part of the time.
 */
#include "base/clock.h"
#include "../tests/support/cell_ops.h"

enum { BATCH = 1000 };

static uint64_t audit_every(struct ops *ops, uint64_t n)
{
	uint64_t bad = 0;

	for (uint64_t i = 0; i < n; i++) {
		ops_step(ops);
		bad += !cells_audit(ops->cells, NULL);
	}
	return bad;
}

/* CPU seconds of n operations, with the slack looked at after each. */
static double timed(struct ops *ops, uint64_t n, uint64_t *bad)
{
	double spent_s = 0;

	for (uint64_t done = 0; done < n; done += BATCH) {
		double before_s = clock_cpu_s();

		for (int i = 0; i < BATCH; i++) {
			ops_step(ops);
			*bad += !ops_safe(ops->cells);
		}
		spent_s += clock_cpu_s() - before_s;
		*bad += !cells_audit(ops->cells, NULL);
	}
	return spent_s;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, bad = 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct cell_design design = { 0 };
	struct ops ops;
	double spent_s;

	ops_published(&design);
	ops_init(&ops, cells_create(&design), seed);
	spent_s = timed(&ops, n, &bad);
	printf("operations          %llu on %u devices\n", (unsigned long long)n, ops.cells->nleaves);
	printf("CPU                 %.2f us each (bar: 13; published program: 260)\n",
		spent_s / (double)n * 1e6);
	printf("scheduled           %llu, refused %llu, deleted %llu, preempted %llu, nodes failed %llu\n",
		(unsigned long long)ops.scheduled, (unsigned long long)ops.refused,
		(unsigned long long)ops.deleted, (unsigned long long)ops.preempted,
		(unsigned long long)ops.failed);
	bad += audit_every(&ops, n / 20);
	printf("violations          %llu (slack after each, all counted anew after each 1000th and after each of %llu more)\n",
		(unsigned long long)bad, (unsigned long long)(n / 20));
	cells_destroy(ops.cells);
	ops_fini(&ops);
	cell_design_fini(&design);
	return bad != 0;
}
