/*
 * Qhull finds the cells: lower faces of the hull of the points lifted to a
 * paraboloid.  A place is looked for by walking from cell to cell.
 */
#include "solver/delaunay.h"

#include <libqhull_r/libqhull_r.h>
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

struct cell {
	int32_t v[4];   /* positively oriented */
	int32_t at[4];  /* the cell across the face opposite to v[i]; NONE: the outside */
	int64_t volume; /* six times; 0: it is flat, and holds no place */
};

struct delaunay {
	struct delaunay_point *points;
	struct cell *cells;
	int32_t n;
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
	c.volume = orient(m->points, c.v);
	if (c.volume < 0) {
		struct cell was = c;

		c.v[0] = was.v[1];
		c.v[1] = was.v[0];
		c.at[0] = was.at[1];
		c.at[1] = was.at[0];
		c.volume = -was.volume;
	}
	return c;
}

/* From `facet` on, the first that is a cell; NULL: no more. */
static facetT *next_cell(facetT *facet)
{
	while (facet && facet->next && facet->upperdelaunay)
		facet = facet->next;
	return facet && facet->next ? facet : NULL; /* the list ends in one that is none */
}

/* Cells in the order of Qhull's list, so that walks begin where SciPy's do. */
static void take_cells(qhT *qh, struct delaunay *m)
{
	size_t ids = (size_t)qh->facet_id + 1;
	int32_t *index = mem_alloc(mem_array_size(ids, sizeof(*index)));

	for (size_t i = 0; i < ids; i++)
		index[i] = NONE;
	for (facetT *f = next_cell(qh->facet_list); f; f = next_cell(f->next))
		index[f->id] = m->n++;
	m->cells = mem_alloc(mem_array_size((size_t)m->n, sizeof(*m->cells)));
	for (facetT *f = next_cell(qh->facet_list); f; f = next_cell(f->next))
		m->cells[index[f->id]] = cell_from(qh, m, f, index);
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

/* Fills the weights; the face with the most negative one, or NONE if the place is within. */
static int weigh(const struct delaunay *m, const struct cell *c, const double at[3],
	struct delaunay_weights *out)
{
	long double worst = 0;
	int face = NONE;

	for (int i = 0; i < 4; i++) {
		long double w = volume_at(m, c, i, at) / (long double)c->volume;

		if (w < worst) {
			worst = w;
			face = i;
		}
		out->corner[i] = (uint32_t)c->v[i];
		out->weight[i] = (double)w;
	}
	return worst < -1e-12L ? face : NONE;
}

static bool look_everywhere(const struct delaunay *m, const double at[3], struct delaunay_weights *out)
{
	for (int32_t i = 0; i < m->n; i++) {
		if (m->cells[i].volume && weigh(m, &m->cells[i], at, out) == NONE)
			return true;
	}
	return false;
}

/* Flat cells say nothing of the way on, nor do walks that go round: the answer is then looked for in all. */
bool delaunay_locate(const struct delaunay *mesh, const double at[3], struct delaunay_weights *out)
{
	int32_t here = 0;

	for (int32_t steps = 0; steps < mesh->n; steps++) {
		int face;

		if (!mesh->cells[here].volume)
			break;
		face = weigh(mesh, &mesh->cells[here], at, out);
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
