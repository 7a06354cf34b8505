/*
 * What the files of model/moldable share.
 */
#ifndef MODEL_MOLDABLE_PARTS_H
#define MODEL_MOLDABLE_PARTS_H

#include "model/moldable.h"

struct front_point {
	double time_s, area;
	uint32_t point; /* of the job */
};

/* Points by time, the fastest first; each takes less area than those before. */
struct front {
	struct front_point *at;
	uint32_t n;
};

struct front *moldable_fronts(const struct moldable *m, struct arena *arena);
/* The greater of the least area and the shortest critical path, each by itself: at most what phase 1 finds. */
double moldable_floor(const struct moldable *m, const struct front *fronts, struct arena *arena);
/* moldable_lp.c: fractional times with the least L, which is written too.  False: not solved. */
bool moldable_relax(const struct moldable *m, const struct front *fronts, struct arena *arena,
	double *time_s, double *least_s);
/*
 * moldable_series.c: points whose area and critical path are at most (1 + MOLDABLE_EPS) times `least_s`, which no
 * allocation has both of below.  False: the graph is not series-parallel, or too large for that.
 */
bool moldable_series(const struct moldable *m, const struct front *fronts, struct arena *arena,
	uint32_t *wished, double *least_s);

#endif
