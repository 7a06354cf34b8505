/*
 * Max-min fair shares of links by progressive filling: all flows grow alike
 * until a link is full; those on it stay and the others go on.
 */
#ifndef SOLVER_LINKFILL_H
#define SOLVER_LINKFILL_H

#include <stdint.h>

struct linkfill {
	uint32_t flows, links;
	const double *capacity; /* [links] >= 0; INFINITY: never full */
	const uint32_t *first;  /* [flows + 1] where the links of a flow begin in `path` */
	const uint32_t *path;   /* links, one flow's after the other's; none of a flow twice */
	const double *weight;   /* [flows] > 0: as many flows in one; NULL: 1 */
};

/* `share` [flows] becomes what one unit of weight of each has; INFINITY where nothing limits it. */
void linkfill_solve(const struct linkfill *problem, double *share);

#endif
