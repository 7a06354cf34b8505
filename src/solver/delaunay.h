/*
 * Delaunay triangulation of points with whole coordinates in space, for
 * piecewise linear interpolation between measurements.
 *
 * Measurements lie on grids, where nearly every cell has more than four points
 * on its sphere and may be cut in several ways.  Qhull makes the cut: what the
 * published simulators interpolate with is Qhull too, and these ties follow
 * from how it goes about its work.  Whoever gives the same points in the same
 * order to the same release of Qhull gets the same triangulation.
 */
#ifndef SOLVER_DELAUNAY_H
#define SOLVER_DELAUNAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { DELAUNAY_COORDINATE_MAX = 1 << 20 };

/* Coordinates from 0 to DELAUNAY_COORDINATE_MAX. */
struct delaunay_point {
	int32_t x[3];
};

/* The corners around a place, and what each counts for; weights are 0 to 1 and add up to 1. */
struct delaunay_weights {
	uint32_t corner[4];
	double weight[4];
};

struct delaunay;

/*
 * Of points at one place, one is taken and the others are never a corner.  NULL with the reason in `err`:
 * the points lie in a plane, on a line or in one place (delaunay_flat_axis()), or Qhull gave up.
 */
struct delaunay *delaunay_create(const struct delaunay_point *points, uint32_t n, struct err *err);
void delaunay_destroy(struct delaunay *mesh);

/* An axis that leads out of the plane, line or place where all points lie; -1: they span space. */
int delaunay_flat_axis(const struct delaunay_point *points, uint32_t n);

/* False: `at` lies outside the hull of the points. */
bool delaunay_locate(const struct delaunay *mesh, const double at[3], struct delaunay_weights *out);

/* For tests: how many cells there are (some of no volume), and the corners of one. */
uint32_t delaunay_cells(const struct delaunay *mesh);
void delaunay_cell(const struct delaunay *mesh, uint32_t cell, uint32_t corner[4]);

#endif
