/*
 * Triangulations: no point within the sphere of any cell, the cells fill the
 * hull, interpolation reproduces what is linear.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "solver/delaunay.h"

enum { POINTS_MAX = 400 };

struct cloud {
	struct delaunay_point at[POINTS_MAX];
	uint32_t n;
};

static void add(struct cloud *cloud, int32_t x, int32_t y, int32_t z)
{
	for (uint32_t i = 0; i < cloud->n; i++) {
		const int32_t *p = cloud->at[i].x;

		if (p[0] == x && p[1] == y && p[2] == z)
			return;
	}
	assert_true(cloud->n < POINTS_MAX);
	cloud->at[cloud->n++] = (struct delaunay_point){ { x, y, z } };
}

static double volume(const struct cloud *cloud, const uint32_t v[4])
{
	double d[3][3];

	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++)
			d[i][k] = cloud->at[v[i + 1]].x[k] - cloud->at[v[0]].x[k];
	}
	return (d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
		       d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
		       d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0])) /
		6;
}

/* Above 0: q lies strictly within the sphere, computed otherwise than the solver does: by its centre. */
static double depth(const struct cloud *cloud, const uint32_t v[4], uint32_t q)
{
	const int32_t *o = cloud->at[v[0]].x;
	double a[3][4], c[3], r = 0, d = 0;

	for (int i = 0; i < 3; i++) {
		a[i][3] = 0;
		for (int k = 0; k < 3; k++) {
			a[i][k] = cloud->at[v[i + 1]].x[k] - o[k];
			a[i][3] += a[i][k] * a[i][k] / 2;
		}
	}
	for (int i = 0; i < 3; i++) {
		int p = i;

		for (int j = i + 1; j < 3; j++)
			p = fabs(a[j][i]) > fabs(a[p][i]) ? j : p;
		for (int k = 0; k < 4; k++) {
			double swap = a[i][k];

			a[i][k] = a[p][k];
			a[p][k] = swap;
		}
		for (int j = 0; j < 3; j++) {
			double f = j == i ? 0 : a[j][i] / a[i][i];

			for (int k = 0; k < 4; k++)
				a[j][k] -= f * a[i][k];
		}
	}
	for (int k = 0; k < 3; k++) {
		c[k] = a[k][3] / a[k][k];
		r += c[k] * c[k];
		d += (cloud->at[q].x[k] - o[k] - c[k]) * (cloud->at[q].x[k] - o[k] - c[k]);
	}
	return (r - d) / r;
}

/* Every cell is flat or empty of others; together they have the volume `whole` (0: not known). */
static void check_mesh(const struct cloud *cloud, const struct delaunay *mesh, double whole)
{
	double sum = 0;

	for (uint32_t i = 0; i < delaunay_cells(mesh); i++) {
		uint32_t v[4];

		delaunay_cell(mesh, i, v);
		if (volume(cloud, v) == 0)
			continue;
		sum += fabs(volume(cloud, v));
		for (uint32_t q = 0; q < cloud->n; q++)
			assert_true(depth(cloud, v, q) < 1e-9);
	}
	if (whole > 0)
		assert_true(fabs(sum - whole) < 1e-9 * whole);
}

static double plane(const double at[3])
{
	return 3 + 2 * at[0] - 0.5 * at[1] + 0.25 * at[2];
}

static void check_linear(const struct cloud *cloud, const struct delaunay *mesh, const double at[3])
{
	struct delaunay_weights w;
	double sum = 0, value = 0;

	assert_true(delaunay_locate(mesh, at, &w));
	for (int i = 0; i < 4; i++) {
		const int32_t *p = cloud->at[w.corner[i]].x;

		assert_true(w.weight[i] >= -1e-9 && w.weight[i] <= 1 + 1e-9);
		sum += w.weight[i];
		value += w.weight[i] * plane((const double[3]){ p[0], p[1], p[2] });
	}
	assert_true(fabs(sum - 1) < 1e-12);
	assert_true(fabs(value - plane(at)) < 1e-9 * (1 + fabs(plane(at))));
}

static void test_one_cell(void **state)
{
	struct cloud cloud = { .n = 0 };
	struct delaunay *mesh;
	struct delaunay_weights w;

	(void)state;
	add(&cloud, 0, 0, 0);
	add(&cloud, 4, 0, 0);
	add(&cloud, 0, 4, 0);
	add(&cloud, 4, 4, 0);
	add(&cloud, 0, 0, 4);
	mesh = delaunay_create(cloud.at, 5, NULL);
	assert_non_null(mesh);
	check_mesh(&cloud, mesh, 64. / 3);
	check_linear(&cloud, mesh, (const double[3]){ 1, 1, 1 });
	check_linear(&cloud, mesh, (const double[3]){ 0, 0, 4 });
	assert_false(delaunay_locate(mesh, (const double[3]){ 4, 4, 1 }, &w));
	assert_false(delaunay_locate(mesh, (const double[3]){ -0.01, 0, 0 }, &w));
	delaunay_destroy(mesh);
}

struct flat_case {
	const char *what;
	struct delaunay_point at[5];
	uint32_t n;
	int axis;
	const char *want; /* in the error; NULL: there is a mesh */
};

#define FAR DELAUNAY_COORDINATE_MAX

static const struct flat_case flat_cases[] = {
	{ "nothing", { { { 0 } } }, 0, 0, "the 0 points span no space" },
	{ "one place", { { { 1, 2, 3 } }, { { 1, 2, 3 } } }, 2, 0, "the 2 points span no space" },
	{ "along the first axis", { { { 1, 2, 3 } }, { { 4, 2, 3 } }, { { 9, 2, 3 } } }, 3, 1,
		"the 3 points span no space" },
	{ "along the last axis", { { { 1, 2, 3 } }, { { 1, 2, 5 } } }, 2, 0,
		"the 2 points span no space" },
	{ "across", { { { 1, 2, 3 } }, { { 2, 3, 3 } }, { { 3, 4, 3 } } }, 3, 0,
		"the 3 points span no space" },
	{ "a plane", { { { 0, 0, 4 } }, { { 4, 0, 4 } }, { { 0, 4, 4 } }, { { 4, 4, 4 } } }, 4, 2,
		"the 4 points span no space" },
	{ "a slanting plane", { { { 1, 1, 4 } }, { { 2, 2, 4 } }, { { 2, 2, 8 } }, { { 4, 4, 9 } } },
		4, 0, "the 4 points span no space" },
	{ "four points", { { { 0, 0, 0 } }, { { 1, 0, 0 } }, { { 0, 1, 0 } }, { { 0, 0, 1 } } }, 4,
		-1, NULL },
	/* A millionth of a millionth high: exact arithmetic sees it, Qhull does not. */
	{ "too thin", { { { 0, 0, 0 } }, { { FAR, 0, 1 } }, { { 1, FAR, 0 } }, { { FAR, 1, 1 } } },
		4, -1, "Qhull cannot triangulate the measured points (error" },
};

static void test_flat(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(flat_cases) / sizeof(*flat_cases); i++) {
		const struct flat_case *c = &flat_cases[i];
		struct err err = { 0 };
		struct delaunay *mesh = delaunay_create(c->at, c->n, &err);

		print_message("%s: %s\n", c->what, err.text);
		assert_int_equal(delaunay_flat_axis(c->at, c->n), c->axis);
		assert_int_equal(!mesh, c->want != NULL);
		assert_true(!c->want || strstr(err.text, c->want) == err.text);
		delaunay_destroy(mesh);
	}
}

/* Of points at one place one is a corner; the mesh is one of the places. */
static void test_twice(void **state)
{
	struct cloud cloud = { .n = 0 };
	struct delaunay *mesh;
	bool corner[POINTS_MAX] = { false };

	(void)state;
	for (int32_t i = 0; i < 27; i++)
		add(&cloud, i % 3, i / 3 % 3, i / 9 * 2);
	for (uint32_t i = 0; i < 27; i += 2)
		cloud.at[cloud.n++] = cloud.at[i];
	mesh = delaunay_create(cloud.at, cloud.n, NULL);
	assert_non_null(mesh);
	check_mesh(&cloud, mesh, 2 * 2 * 4);
	for (uint32_t i = 0; i < delaunay_cells(mesh); i++) {
		uint32_t v[4];

		delaunay_cell(mesh, i, v);
		for (int k = 0; k < 4; k++)
			corner[v[k]] = true;
	}
	for (uint32_t i = 0; i < 27; i++)
		assert_int_equal(1, corner[i] + (i % 2 == 0 && corner[27 + i / 2]));
	check_linear(&cloud, mesh, (const double[3]){ 0.5, 1, 3.25 });
	delaunay_destroy(mesh);
}

/* A grid has nothing but ties. */
static void test_grid(void **state)
{
	struct cloud cloud = { .n = 0 };
	struct delaunay *mesh;

	(void)state;
	for (int32_t x = 0; x < 5; x++) {
		for (int32_t y = 0; y < 5; y++) {
			for (int32_t z = 0; z < 5; z++)
				add(&cloud, x, y, 1 << z);
		}
	}
	mesh = delaunay_create(cloud.at, cloud.n, NULL);
	check_mesh(&cloud, mesh, 4. * 4 * 15);
	for (double x = 0; x <= 4; x += 0.5) {
		for (double z = 1; z <= 16; z += 0.75)
			check_linear(&cloud, mesh, (const double[3]){ x, 4 - x / 2, z });
	}
	delaunay_destroy(mesh);
}

/* Coordinates from a small range make many ties, from a large one hardly any. */
static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct cloud *cloud = mem_alloc(sizeof(*cloud));
		uint32_t range = seed % 3 == 0 ? 4 : seed % 3 == 1 ? 20 : DELAUNAY_COORDINATE_MAX;
		struct delaunay *mesh;
		struct rng rng;

		rng_init(&rng, seed, 0);
		for (uint32_t i = 0; i < 60; i++)
			add(cloud, (int32_t)rng_below(&rng, range), (int32_t)rng_below(&rng, range),
				(int32_t)rng_below(&rng, range));
		mesh = delaunay_create(cloud->at, cloud->n, NULL);
		if (!mesh) {
			print_message("seed %llu: no mesh\n", (unsigned long long)seed);
			fail();
		}
		check_mesh(cloud, mesh, 0);
		for (uint32_t i = 0; i + 3 < cloud->n; i++) {
			double at[3] = { 0, 0, 0 };

			for (int k = 0; k < 3; k++) {
				for (int j = 0; j < 4; j++)
					at[k] += cloud->at[i + (uint32_t)j].x[k] / 4.0;
			}
			check_linear(cloud, mesh, at);
		}
		delaunay_destroy(mesh);
		free(cloud);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_cell),
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_grid),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("delaunay", tests, NULL, NULL);
}
