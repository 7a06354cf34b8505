/*
 * Qhull finds the cells: lower faces of the hull of the points lifted to a
 * paraboloid.  A place is looked for by walking from cell to cell.
 *
 * On grids the cells of both sides of a square may cut it along different
 * diagonals, with a flat cell of four corners between them.  A place on such a
 * square has two values, and which one it gets depends on the walk.  So this
 * walk takes the steps of SciPy's: same beginning, same order of faces, same
 * tolerances.
 */
#include "solver/delaunay.h"

#include <float.h>
#include <libqhull_r/libqhull_r.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * Those of SciPy's interpolation in space: Delaunay (d), the last coordinate scaled (Qbb), points that are
 * no corner kept (Qc), a point at infinity (Qz), wide facets allowed (Q12), all cells cut to four corners (Qt).
 */
static const char options[] = "qhull d Qbb Qc Qz Q12 Qt";

enum { NONE = -1 };

/* Of weights: how far below 0 still counts as within, also towards a flat cell. */
#define SLACK (100 * DBL_EPSILON)
#define SLACK_FLAT 1.4901161193847656e-8 /* the square root of DBL_EPSILON */

struct cell {
	int32_t v[4];    /* in Qhull's order */
	int32_t at[4];   /* the cell across the face opposite to v[i]; NONE: the outside */
	double plane[5]; /* of the lifted face: normal and offset */
	int64_t volume;  /* six times, with a sign; 0: it is flat, and holds no place */
};

struct delaunay {
	struct delaunay_point *points;
	struct cell *cells;
	int32_t n;
	double lift, lift_from; /* the height of a place: its square times lift, plus lift_from */
};

/* ---- exact geometry */

static void cross(const int64_t a[3], const int64_t b[3], int64_t out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static int64_t dot(const int64_t a[3], const int64_t b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool is_zero(const int64_t a[3])
{
	return !a[0] && !a[1] && !a[2];
}

static void from_to(const struct delaunay_point *a, const struct delaunay_point *b, int64_t out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = (int64_t)b->x[k] - a->x[k];
}

/* Six times the volume, with a sign: above 0 for (0,0,0), (1,0,0), (0,1,0), (0,0,1). */
static int64_t orient(const struct delaunay_point *points, const int32_t v[4])
{
	int64_t d[3][3], normal[3];

	for (int i = 0; i < 3; i++)
		from_to(&points[v[0]], &points[v[i + 1]], d[i]);
	cross(d[1], d[2], normal);
	return dot(d[0], normal);
}

/* The first axis that is not along `line`. */
static int axis_off_line(const int64_t line[3])
{
	return line[1] || line[2] ? 0 : 1;
}

int delaunay_flat_axis(const struct delaunay_point *points, uint32_t n)
{
	int64_t line[3] = { 0 }, normal[3] = { 0 }, d[3];

	for (uint32_t i = 1; i < n; i++) {
		from_to(&points[0], &points[i], d);
		if (is_zero(line))
			memcpy(line, d, sizeof(line));
		else if (is_zero(normal))
			cross(line, d, normal);
		else if (dot(normal, d))
			return NONE;
	}
	for (int k = 0; k < 3; k++) {
		if (normal[k])
			return k;
	}
	return is_zero(line) ? 0 : axis_off_line(line);
}

/* ---- cells from Qhull */

/* Qhull's cell as ours; `index` is by facet id, NONE for what is outside. */
static struct cell cell_from(qhT *qh, const struct delaunay *m, facetT *facet, const int32_t *index)
{
	struct cell c;

	for (int i = 0; i < 4; i++) {
		vertexT *vertex = SETelemt_(facet->vertices, i, vertexT);
		facetT *neighbor = SETelemt_(facet->neighbors, i, facetT);

		c.v[i] = qh_pointid(qh, vertex->point);
		c.at[i] = index[neighbor->id];
	}
	for (int k = 0; k < 4; k++)
		c.plane[k] = facet->normal[k];
	c.plane[4] = facet->offset;
	c.volume = orient(m->points, c.v);
	return c;
}

/* From `facet` on, the first that is a cell; NULL: no more. */
static facetT *next_cell(facetT *facet)
{
	while (facet && facet->next && facet->upperdelaunay)
		facet = facet->next;
	return facet && facet->next ? facet : NULL; /* the list ends in one that is none */
}

/* Option Qt has cut what has more corners; true unless Qhull could not. */
static bool all_have_four(qhT *qh)
{
	for (facetT *f = next_cell(qh->facet_list); f; f = next_cell(f->next)) {
		if (qh_setsize(qh, f->vertices) != 4 || qh_setsize(qh, f->neighbors) != 4)
			return false;
	}
	return next_cell(qh->facet_list) != NULL;
}

/* Cells in the order of Qhull's list, so that walks begin where SciPy's do. */
static void take_cells(qhT *qh, struct delaunay *m)
{
	size_t ids = (size_t)qh->facet_id + 1; /* ids begin at 1 */
	int32_t *index = mem_alloc(mem_array_size(ids, sizeof(*index)));

	for (size_t i = 0; i < ids; i++)
		index[i] = NONE;
	for (facetT *f = next_cell(qh->facet_list); f; f = next_cell(f->next))
		index[f->id] = m->n++;
	m->cells = mem_alloc(mem_array_size((size_t)m->n, sizeof(*m->cells)));
	for (facetT *f = next_cell(qh->facet_list); f; f = next_cell(f->next))
		m->cells[index[f->id]] = cell_from(qh, m, f, index);
	m->lift = qh->last_newhigh / (qh->last_high - qh->last_low);
	m->lift_from = -qh->last_low * m->lift;
	free(index);
}

/* Qhull's coordinates are doubles; it leaves them as they are, and keeps pointing at them. */
static coordT *coordinates(const struct delaunay_point *points, uint32_t n)
{
	coordT *out = mem_alloc(mem_array_size(n, 3 * sizeof(*out)));

	for (uint32_t i = 0; i < n; i++) {
		for (int k = 0; k < 3; k++)
			out[3 * i + (uint32_t)k] = points[i].x[k];
	}
	return out;
}

/*
 * Errors inside qh_new_qhull() end in a jump that it catches itself; what it has to say goes to `log`, as
 * nothing is printed here.
 */
static int triangulate(struct delaunay *m, uint32_t n, FILE *log)
{
	qhT *qh = mem_alloc(sizeof(*qh));
	coordT *x = coordinates(m->points, n);
	char command[sizeof(options)];
	int failed, pieces, bytes;

	memcpy(command, options, sizeof(options));
	qh_zero(qh, log);
	failed = qh_new_qhull(qh, 3, (int)n, x, 0, command, NULL, log);
	if (!failed && !all_have_four(qh)) {
		fputs("its cells are no tetrahedra", log);
		failed = qh_ERRother;
	}
	if (!failed)
		take_cells(qh, m);
	qh_freeqhull(qh, qh_ALL);
	qh_memfreeshort(qh, &pieces, &bytes);
	free(qh);
	free(x);
	return failed;
}

/* Qhull's reports are long; the first line says what happened. */
static void say_failed(struct err *err, int code, char *log)
{
	log[strcspn(log, "\n")] = '\0';
	err_set(err, ERR_BROKEN, "Qhull cannot triangulate the measured points (error %d): %s",
		code, log);
}

struct delaunay *delaunay_create(const struct delaunay_point *points, uint32_t n, struct err *err)
{
	struct delaunay *m;
	char *text = NULL;
	size_t size;
	FILE *log;
	int failed;

	if (delaunay_flat_axis(points, n) != NONE) {
		err_set(err, ERR_MISSING, "the %u points span no space", n);
		return NULL;
	}
	m = mem_alloc(sizeof(*m));
	m->points = mem_alloc(mem_array_size(n, sizeof(*points)));
	memcpy(m->points, points, n * sizeof(*points));
	log = open_memstream(&text, &size);
	failed = log ? triangulate(m, n, log) : -1;
	if (log)
		fclose(log);
	if (failed) {
		say_failed(err, failed, text ? text : (char[]){ "no memory" });
		delaunay_destroy(m);
		m = NULL;
	}
	free(text);
	return m;
}

void delaunay_destroy(struct delaunay *mesh)
{
	if (!mesh)
		return;
	free(mesh->cells);
	free(mesh->points);
	free(mesh);
}

/* ---- looking */

/* Six times the volume of the cell with corner i moved to `at`; long double holds whole ones exactly. */
static long double volume_at(const struct delaunay *m, const struct cell *c, int i, const double at[3])
{
	long double p[4][3];

	for (int j = 0; j < 4; j++) {
		for (int k = 0; k < 3; k++)
			p[j][k] = j == i ? (long double)at[k] : (long double)m->points[c->v[j]].x[k];
	}
	for (int j = 1; j < 4; j++) {
		for (int k = 0; k < 3; k++)
			p[j][k] -= p[0][k];
	}
	return p[1][0] * (p[2][1] * p[3][2] - p[2][2] * p[3][1]) -
		p[1][1] * (p[2][0] * p[3][2] - p[2][2] * p[3][0]) +
		p[1][2] * (p[2][0] * p[3][1] - p[2][1] * p[3][0]);
}

static void weigh(const struct delaunay *m, const struct cell *c, const double at[3],
	struct delaunay_weights *out)
{
	for (int i = 0; i < 4; i++) {
		out->corner[i] = (uint32_t)c->v[i];
		out->weight[i] = (double)(volume_at(m, c, i, at) / (long double)c->volume);
	}
}

/* The first face beyond which the place lies; NONE: it is within. */
static int face_towards(const struct delaunay_weights *w)
{
	for (int i = 0; i < 4; i++) {
		if (!(w->weight[i] >= -SLACK))
			return i;
	}
	return NONE;
}

/* Quick, for most cells: false if the place is beside the box around the corners, by any tolerance. */
static bool in_box(const struct delaunay *m, const struct cell *c, const double at[3])
{
	for (int k = 0; k < 3; k++) {
		int32_t low = m->points[c->v[0]].x[k], high = low;

		for (int i = 1; i < 4; i++) {
			int32_t x = m->points[c->v[i]].x[k];

			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		if (!(at[k] >= low - 0.5 && at[k] <= high + 0.5))
			return false;
	}
	return true;
}

/* Within a neighbour of a flat cell, or so little outside towards it that the flat one is where it is. */
static bool within_beside(const struct delaunay *m, int32_t flat, const struct cell *c,
	const double at[3], struct delaunay_weights *out)
{
	weigh(m, c, at, out);
	for (int i = 0; i < 4; i++) {
		if (out->weight[i] < -(c->at[i] == flat ? SLACK_FLAT : SLACK))
			return false;
	}
	return true;
}

static bool look_beside(const struct delaunay *m, int32_t flat, const double at[3],
	struct delaunay_weights *out)
{
	for (int i = 0; i < 4; i++) {
		int32_t next = m->cells[flat].at[i];

		if (next != NONE && m->cells[next].volume && in_box(m, &m->cells[next], at) &&
			within_beside(m, flat, &m->cells[next], at, out))
			return true;
	}
	return false;
}

static bool look_everywhere(const struct delaunay *m, const double at[3], struct delaunay_weights *out)
{
	for (int32_t i = 0; i < m->n; i++) {
		if (!m->cells[i].volume) {
			if (look_beside(m, i, at, out))
				return true;
			continue;
		}
		if (!in_box(m, &m->cells[i], at))
			continue;
		weigh(m, &m->cells[i], at, out);
		if (face_towards(out) == NONE)
			return true;
	}
	return false;
}

static double above_plane(const struct cell *c, const double lifted[4])
{
	double sum = c->plane[4];

	for (int k = 0; k < 4; k++)
		sum += c->plane[k] * lifted[k];
	return sum;
}

/* A cell near the place: from the first on to ones that its image on the paraboloid is further above. */
static int32_t climb(const struct delaunay *m, const double at[3])
{
	double lifted[4] = { at[0], at[1], at[2],
		(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]) * m->lift + m->lift_from };
	double best = above_plane(&m->cells[0], lifted);
	bool moved = true;
	int32_t here = 0;

	while (moved && best <= 0) {
		moved = false;
		/* After a step the next face is one of the new cell. */
		for (int i = 0; i < 4; i++) {
			int32_t next = m->cells[here].at[i];
			double above = next == NONE ? -INFINITY : above_plane(&m->cells[next], lifted);

			if (above > best + SLACK * (1 + fabs(best))) {
				here = next;
				best = above;
				moved = true;
			}
		}
	}
	return here;
}

/* Flat cells say nothing of the way on, nor do walks that go round: the place is then looked for in all. */
bool delaunay_locate(const struct delaunay *mesh, const double at[3], struct delaunay_weights *out)
{
	int32_t here = climb(mesh, at);

	for (int32_t steps = 0; steps <= mesh->n / 4 && mesh->cells[here].volume; steps++) {
		int face;

		weigh(mesh, &mesh->cells[here], at, out);
		face = face_towards(out);
		if (face == NONE)
			return true;
		here = mesh->cells[here].at[face];
		if (here == NONE)
			return false;
	}
	return look_everywhere(mesh, at, out);
}

uint32_t delaunay_cells(const struct delaunay *mesh)
{
	return (uint32_t)mesh->n;
}

void delaunay_cell(const struct delaunay *mesh, uint32_t cell, uint32_t corner[4])
{
	for (int i = 0; i < 4; i++)
		corner[i] = (uint32_t)mesh->cells[cell].v[i];
}
