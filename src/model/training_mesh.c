/*
 * Step times of placements that nobody measured: piecewise linear between the
 * points (nodes, devices, batch) that somebody did.
 *
 * Placements of equal numbers count as one point, their mean.  The coordinates
 * are taken as they are, unscaled, as the published simulators do.
 *
 * Points that lie in a plane or on a line (one node only, say) span no space.
 * They are given once more, one further along an axis that leads out of there:
 * between them that is interpolation in the plane or on the line.  Should Qhull
 * fail nevertheless, only placements that were measured have a step time.
 */
#include <math.h>

#include "model/training_parts.h"

struct spot {
	struct delaunay_point at;
	struct pass sum;
	uint32_t n;
};

struct spots {
	struct spot *at;
	size_t n, cap;
};

static int compare_spots(const void *a, const void *b)
{
	const struct spot *p = a, *q = b;

	for (int k = 0; k < 3; k++) {
		if (p->at.x[k] != q->at.x[k])
			return p->at.x[k] < q->at.x[k] ? -1 : 1;
	}
	return 0;
}

static void add_rows(struct spots *spots, const struct training_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct training_row *row = &rows->at[i];

		vec_push(spots,
			(struct spot){ { { (int32_t)row->nodes, (int32_t)row->replicas,
					       (int32_t)row->batch } },
				row->pass, 1 });
	}
}

/* Spots at the same place become one. */
static void merge(struct spots *spots)
{
	size_t kept = 0;

	if (spots->n)
		qsort(spots->at, spots->n, sizeof(*spots->at), compare_spots);
	for (size_t i = 0; i < spots->n; i++) {
		struct spot *last = kept ? &spots->at[kept - 1] : NULL;

		if (!last || compare_spots(last, &spots->at[i])) {
			spots->at[kept++] = spots->at[i];
			continue;
		}
		last->sum.step_s += spots->at[i].sum.step_s;
		last->sum.sync_s += spots->at[i].sum.sync_s;
		last->n += spots->at[i].n;
	}
	spots->n = kept;
}

/* The same again, one further along an axis that leads out of where they lie. */
static void thicken(struct spots *spots, int axis)
{
	size_t n = spots->n;

	for (size_t i = 0; i < n; i++) {
		struct spot copy = spots->at[i];

		copy.at.x[axis]++;
		vec_push(spots, copy);
	}
}

static struct delaunay_point *points_of(const struct spots *spots)
{
	struct delaunay_point *points = mem_alloc(mem_array_size(spots->n, sizeof(*points)));

	for (size_t i = 0; i < spots->n; i++)
		points[i] = spots->at[i].at;
	return points;
}

/* NULL: there are none, or Qhull failed; nothing is known then beyond the placements measured. */
static struct delaunay *mesh_of(struct spots *spots)
{
	struct delaunay_point *points = points_of(spots);
	struct delaunay *mesh;
	int axis;

	while (spots->n && (axis = delaunay_flat_axis(points, (uint32_t)spots->n)) >= 0) {
		thicken(spots, axis);
		free(points);
		points = points_of(spots);
	}
	mesh = delaunay_create(points, (uint32_t)spots->n, NULL);
	free(points);
	return mesh;
}

struct training_mesh *training_mesh_create(const struct training_table *table)
{
	struct training_mesh *out = mem_alloc(sizeof(*out));
	struct spots spots = { 0 };

	/*
	 * The order decides how ties of the triangulation are broken, and on these grids every prism
	 * between two batches is one; and which of two points at one place counts.  This is the order of
	 * the published simulators: placements ascending, then the other rows as their file has them.
	 */
	add_rows(&spots, &table->placed);
	merge(&spots);
	add_rows(&spots, &table->scaled);
	for (size_t i = 0; i < spots.n; i++) {
		if ((uint32_t)spots.at[i].at.x[0] > out->most_nodes)
			out->most_nodes = (uint32_t)spots.at[i].at.x[0];
	}
	out->mesh = mesh_of(&spots);
	out->pass = mem_alloc(mem_array_size(spots.n, sizeof(*out->pass)));
	for (size_t i = 0; i < spots.n; i++)
		out->pass[i] = (struct pass){ spots.at[i].sum.step_s / spots.at[i].n,
			spots.at[i].sum.sync_s / spots.at[i].n };
	vec_fini(&spots);
	return out;
}

void training_mesh_destroy(struct training_mesh *mesh)
{
	if (!mesh)
		return;
	delaunay_destroy(mesh->mesh);
	free(mesh->pass);
	free(mesh);
}

bool training_mesh_pass(const struct training_mesh *mesh, uint32_t nodes, uint32_t replicas,
	double batch, struct pass *out)
{
	double at[3] = { nodes < mesh->most_nodes ? nodes : mesh->most_nodes, replicas, batch };
	struct delaunay_weights around;

	*out = (struct pass){ 0 };
	if (!mesh->mesh || !delaunay_locate(mesh->mesh, at, &around))
		return false;
	for (int i = 0; i < 4; i++) {
		const struct pass *corner = &mesh->pass[around.corner[i]];

		out->step_s += around.weight[i] * corner->step_s;
		out->sync_s += around.weight[i] * corner->sync_s;
	}
	return true;
}
