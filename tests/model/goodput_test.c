#include "model/goodput.h"

#include <math.h>

#include "model/sia_vectors.h"

static const struct goodput_params known = { 0.1, 0.01, 0.2, 0.02, 0.05, 0.005, 1 };

static double throughput(double gamma, double nodes, double replicas, uint32_t atomic, uint32_t accum)
{
	struct goodput_params p = known;
	struct goodput_shape shape = { nodes, replicas };

	p.gamma = gamma;
	return replicas * atomic * (accum + 1) /
		goodput_iter_s(&p, shape, (struct batch_split){ atomic, accum });
}

static void test_throughput(void **state)
{
	(void)state;
	assert_float_equal(throughput(1, 1, 1, 10, 0), 50, 1e-5);
	assert_float_equal(throughput(2, 2, 4, 10, 0), 128.0369, 5e-5);
	assert_float_equal(throughput(2, 1, 4, 10, 0), 191.5653, 5e-5);
	assert_float_equal(throughput(2, 2, 4, 10, 1), 156.1250, 5e-5);
}

static void test_efficiency(void **state)
{
	struct gradient g = { .sqr = 1, .var = 4 };

	(void)state;
	assert_float_equal(goodput_efficiency(g, 200, 100), 0.833333, 1e-6);
	assert_float_equal(goodput_efficiency(g, 100, 100), 1, 1e-15);
	assert_float_equal(goodput_gain(g, 200, 100), 2 * 0.833333, 1e-5);
	assert_float_equal(goodput_gain((struct gradient){ 0 }, 200, 100), 2, 0); /* nothing felt yet */
}

/* The micro tests of Pollux' specification: a is efficiency, b the times of a step. */
static void test_published_numbers(void **state)
{
	struct gradient g = { .sqr = 1, .var = 3 };
	struct goodput_params p = { .alpha_c = 0.1,
		.beta_c = 0.001,
		.alpha_r = 0.05,
		.beta_r = 0.01,
		.gamma = 1 };
	struct goodput_shape node = { 1, 4 };
	struct batch_split split = { .atomic = 100 };

	(void)state;
	assert_float_equal(goodput_efficiency(g, 100, 100), 1, 1e-12);
	assert_float_equal(goodput_efficiency(g, 200, 100), 0.8, 1e-12);
	assert_float_equal(goodput_efficiency(g, 400, 100), 0.5714, 5e-5);
	assert_float_equal(goodput_grad_s(&p, 100), 0.2, 1e-12);
	assert_float_equal(goodput_sync_s(&p, node), 0.07, 1e-12);
	assert_float_equal(goodput_iter_s(&p, node, split), 0.27, 1e-12);
	p.gamma = 10;
	assert_float_equal(goodput_iter_s(&p, node, split), 0.20000055, 1e-8);
}

static void test_split(void **state)
{
	static const struct {
		double replicas, batch;
		uint32_t atomic, accum;
	} rows[] = {
		{ 1, 12, 12, 0 },
		{ 1, 13, 7, 1 },  /* one device accumulates as soon as it grows */
		{ 1, 24, 12, 1 }, /* and no more than it must */
		{ 1, 25, 9, 2 },
		{ 2, 24, 12, 0 }, /* several need not */
		{ 2, 25, 7, 1 },
		{ 3, 12.00000001, 4, 0 }, /* rounding of a progression is forgiven */
		{ 3, 13, 5, 0 },          /* and a fraction is not */
		{ 4, 384, 12, 7 },
	};
	struct batch_limits limits = { .initial = 12, .max = 384, .min_local = 4, .max_local = 12 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct batch_split s = goodput_split(&limits, rows[i].replicas, rows[i].batch);

		if (s.atomic != rows[i].atomic || s.accum != rows[i].accum)
			fail_msg("%g on %g devices: %u x %u", rows[i].batch, rows[i].replicas,
				s.atomic, s.accum + 1);
	}
}

static void test_no_batch_fits(void **state)
{
	struct batch_limits limits = { .initial = 12, .max = 384, .min_local = 4, .max_local = 12 };
	struct batch_limits crossed = { .initial = 12, .max = 384, .min_local = 13, .max_local = 12 };
	struct batch_limits empty = { 0 };
	struct gradient g = { 1, 4 };
	struct goodput_shape one = { 1, 1 }, many = { 16, 128 };
	struct goodput_choice c;

	(void)state;
	assert_false(goodput_best(&known, g, &crossed, one, 384, 0, &c));
	assert_float_equal(c.goodput, 0, 0);
	assert_false(goodput_best(&known, g, &empty, one, 384, 0, &c));
	assert_false(goodput_best(&known, g, &limits, many, 384, 0, &c)); /* 512 samples at least */
	assert_false(goodput_best(&known, g, &limits, one, 384, 3, &c)); /* less than a device's least */
	assert_false(goodput_best(&known, g, &limits, one, 384, NAN, &c));
	assert_false(goodput_best(&known, g, &limits, one, 384, INFINITY, &c));
	assert_true(goodput_best(&known, g, &limits, one, INFINITY, 0, &c));
	assert_true(c.batch <= 384 + 12);
	assert_true(goodput_best(&known, g, &limits, one, 384, 12, &c));
	assert_float_equal(c.batch, 12, 0);
}

/* The least batch of so many devices is tried though the user asked for a smaller one. */
static void test_above_cap(void **state)
{
	struct batch_limits limits = { .initial = 12, .max = 384, .min_local = 4, .max_local = 12 };
	struct goodput_choice c;

	(void)state;
	assert_true(goodput_best(&known, (struct gradient){ 1, 4 }, &limits,
		(struct goodput_shape){ 2, 8 }, 24, 0, &c));
	assert_float_equal(c.batch, 32, 0);
}

/* 64 samples on seven devices are 70: without a gradient those on top count for nothing. */
static void test_rounding_is_no_gain(void **state)
{
	struct batch_limits limits = { .initial = 64, .max = 64, .min_local = 1, .max_local = 64 };
	struct goodput_params linear = { .beta_c = 0.01, .gamma = 1 };
	struct goodput_choice c;

	(void)state;
	for (int fixed = 0; fixed <= 64; fixed += 64) {
		limits.max = fixed ? 1024 : 64;
		assert_true(goodput_best(&linear, (struct gradient){ 0 }, &limits,
			(struct goodput_shape){ 1, 7 }, 64, fixed, &c));
		assert_float_equal(c.batch, 70, 0);
		assert_float_equal(c.goodput, 1 / 0.1, 1e-5);
	}
	assert_true(goodput_best(&linear, (struct gradient){ 0, 1 }, &limits,
		(struct goodput_shape){ 1, 7 }, 64, 0, &c));
	assert_float_equal(c.goodput, 70. / 64 / 0.1, 1e-5); /* what was felt says what they are worth */
}

/* ---- against all 50 by the book */

static double by_the_book(const struct goodput_params *p, struct gradient g,
	const struct batch_limits *limits, struct goodput_shape shape, double cap,
	struct batch_split *best)
{
	double low = fmax(limits->initial, limits->min_local * shape.replicas), most = 0;

	for (int i = 0; i < 50; i++) {
		double batch = i == 49 ? cap : low * pow(cap / low, i / 49.0),
		       local = batch / shape.replicas;
		double accum = fmax(ceil(local / limits->max_local - 1e-8) - 1, 0), atomic, grad,
		       sync, s;

		if (shape.replicas == 1 && local > limits->initial + 1e-8)
			accum = fmax(accum, 1);
		atomic = ceil(local / (accum + 1) - 1e-8);
		if (atomic < limits->min_local || atomic > limits->max_local)
			continue;
		batch = shape.replicas * atomic * (accum + 1);
		grad = p->alpha_c + p->beta_c * atomic;
		sync = goodput_sync_s(p, shape);
		s = batch /
			(accum * grad + pow(pow(grad, p->gamma) + pow(sync, p->gamma), 1 / p->gamma)) *
			goodput_efficiency(g, batch, limits->initial) / limits->initial;
		if (s > most * (1 + 1e-13)) {
			most = s;
			*best = (struct batch_split){ (uint32_t)atomic, (uint32_t)accum };
		}
	}
	return most;
}

static struct goodput_params draw_params(struct rng *rng)
{
	struct goodput_params p = { 0.01 + rng_uniform(rng), 0.05 * rng_uniform(rng),
		rng_uniform(rng), 0.3 * rng_uniform(rng), 0.5 * rng_uniform(rng),
		0.1 * rng_uniform(rng), 1 + 9 * rng_uniform(rng) * rng_uniform(rng) };

	if (rng_uniform(rng) < 0.2)
		p.gamma = 1;
	return p;
}

static struct goodput_shape draw_shape(struct rng *rng)
{
	double replicas = 1 + floor(rng_uniform(rng) * 32);

	return (struct goodput_shape){ ceil(replicas * rng_uniform(rng)), replicas };
}

static struct batch_limits draw_limits(struct rng *rng)
{
	double min = 1 + floor(rng_uniform(rng) * 16), initial = min + floor(rng_uniform(rng) * 100);

	double max = initial * (1 + floor(rng_uniform(rng) * 60));

	return (struct batch_limits){ .initial = initial,
		.max = max,
		.min_local = min,
		.max_local = min + floor(rng_uniform(rng) * 200) };
}

static void test_best_is_best(void **state)
{
	struct rng rng = property("the best of 50 batches is found");
	uint32_t possible = 0;

	(void)state;
	for (size_t i = 0; i < rounds(4000); i++) {
		struct goodput_params p = draw_params(&rng);
		struct goodput_shape shape = draw_shape(&rng);
		struct batch_limits limits = draw_limits(&rng);
		struct gradient g = { 1, 100 * rng_uniform(&rng) * rng_uniform(&rng) };
		struct batch_split want = { 0 };
		struct goodput_choice c;
		double most;

		if (limits.min_local * shape.replicas > limits.max)
			continue;
		most = by_the_book(&p, g, &limits, shape, limits.max, &want);
		assert_true(goodput_best(&p, g, &limits, shape, limits.max, 0, &c) == (most > 0));
		possible += most > 0;
		if (fabs(c.goodput - most) > 1e-12 * most || c.split.atomic != want.atomic ||
			c.split.accum != want.accum)
			fail_msg("round %zu: %.17g with %u x %u, not %.17g with %u x %u", i, c.goodput,
				c.split.atomic, c.split.accum + 1, most, want.atomic, want.accum + 1);
	}
	assert_true(possible > rounds(1000));
}

static void test_properties(void **state)
{
	struct rng rng = property("efficiency, goodput and steps keep to their bounds");

	(void)state;
	for (size_t i = 0; i < rounds(4000); i++) {
		struct goodput_params p = draw_params(&rng);
		struct goodput_shape shape = draw_shape(&rng);
		struct gradient g = { rng_uniform(&rng) + 1e-9, rng_uniform(&rng) * 1e3 };
		double initial = 1 + rng_uniform(&rng) * 100,
		       atomic = 1 + floor(rng_uniform(&rng) * 100);
		double grad = goodput_grad_s(&p, atomic), sync = goodput_sync_s(&p, shape);
		double step = goodput_step_s(&p, shape, atomic), last = 1 + 1e-15;

		assert_true(step >= fmax(grad, sync) * (1 - 1e-12) &&
			step <= (grad + sync) * (1 + 1e-12));
		for (double batch = initial; batch < 100 * initial; batch *= 1.3) {
			double efficiency = goodput_efficiency(g, batch, initial);

			assert_true(efficiency > 0 && efficiency <= last * (1 + 1e-15));
			last = efficiency;
		}
	}
}

static void test_goodput_below_throughput(void **state)
{
	struct rng rng = property("goodput is at most throughput");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		struct goodput_params p = draw_params(&rng);
		struct goodput_shape shape = draw_shape(&rng);
		struct batch_limits limits = draw_limits(&rng);
		struct goodput_choice c;

		if (!goodput_best(&p, (struct gradient){ 1, 20 * rng_uniform(&rng) }, &limits,
			    shape, limits.max, 0, &c))
			continue;
		assert_true(c.batch >= limits.initial);
		assert_true(c.goodput <= c.batch / limits.initial /
				goodput_iter_s(&p, shape, c.split) * (1 + 1e-12));
	}
}

/* ---- published */

static void test_published_gains(void **state)
{
	struct vectors v;
	uint32_t n = 0;

	(void)state;
	if (!vectors_open(&v, "gain.csv"))
		skip();
	for (; csv_next(&v.csv, NULL) == 1; n++) {
		struct gradient g = { vector_field(&v, 3), vector_field(&v, 4) };
		char model[16];
		double gain;

		vector_word(&v, 0, model);
		gain = goodput_gain(g, vector_field(&v, 1), vector_initial(model));
		if (fabs(gain / vector_field(&v, 5) - 1) > 1e-12)
			fail_msg("line %zu: %.17g, not %.17g", v.csv.line, gain, vector_field(&v, 5));
	}
	assert_int_equal(n, 72);
	vectors_close(&v);
}

/* Of the published fits, and of our own from the same samples. */
static void test_published_goodputs(void **state)
{
	struct vector_fit *fits = mem_alloc(VECTOR_CASES_MAX * sizeof(*fits));
	uint32_t n = 0, nfits = vectors_fits(fits);
	struct vectors v;
	double worst = 0;

	(void)state;
	if (nfits == 0 || !vectors_open(&v, "goodput.csv")) {
		free(fits);
		skip();
	}
	for (; csv_next(&v.csv, NULL) == 1; n++) {
		const struct vector_fit *f = &fits[(uint32_t)vector_field(&v, 0)];
		struct gradient g = { vector_field(&v, 3), vector_field(&v, 4) };
		struct batch_limits limits = { .initial = vector_initial(f->model),
			.max = vector_field(&v, 5),
			.min_local = vector_field(&v, 6),
			.max_local = vector_field(&v, 7) };
		struct goodput_shape shape = { vector_field(&v, 8), vector_field(&v, 9) };
		double want = vector_field(&v, 10) / limits.initial;
		struct goodput_choice c;
		struct goodput_fit fit;

		assert_true(goodput_best(&f->params, g, &limits, shape, limits.max, 0, &c));
		if (fabs(c.goodput / want - 1) > 1e-12 || c.split.atomic != vector_field(&v, 11) ||
			c.split.accum != vector_field(&v, 12))
			fail_msg("line %zu: %.17g (%u x %u), not %.17g", v.csv.line, c.goodput,
				c.split.atomic, c.split.accum + 1, want);
		assert_int_equal(goodput_fit(f->samples, f->n, NULL, &fit, NULL), 0);
		assert_true(goodput_best(&fit.params, g, &limits, shape, limits.max, 0, &c));
		worst = fmax(worst, fabs(c.goodput / want - 1));
	}
	assert_int_equal(n, 300);
	print_message("goodputs by our fits differ from the published by at most %.4f %%\n",
		100 * worst);
	assert_true(worst < 1e-3);
	vectors_close(&v);
	free(fits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_throughput),
		cmocka_unit_test(test_efficiency),
		cmocka_unit_test(test_published_numbers),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_no_batch_fits),
		cmocka_unit_test(test_rounding_is_no_gain),
		cmocka_unit_test(test_above_cap),
		cmocka_unit_test(test_best_is_best),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_goodput_below_throughput),
		cmocka_unit_test(test_published_gains),
		cmocka_unit_test(test_published_goodputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
