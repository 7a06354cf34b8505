/* Against CLP, and for finish-time fairness against bisection with it. */
#include "solver/arrow.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"
#include "solver/lp.h"

enum kind { MAX_MIN, MAX_SUM, FEASIBLE, LEVELS, KINDS };

struct instance {
	enum kind kind;
	struct arrow p;
	double *v, *g, *h, *cost, *gang, *capacity;
	double demand;
};

static struct instance instance_create(enum kind kind, uint32_t jobs, uint32_t types)
{
	uint32_t rows = kind == MAX_SUM ? 1 : kind == LEVELS ? 3 : 2;
	struct instance n = {
		.kind = kind,
		.v = mem_alloc((size_t)jobs * rows * types * sizeof(double)),
		.g = mem_alloc((size_t)jobs * rows * sizeof(double)),
		.h = mem_alloc((size_t)jobs * rows * sizeof(double)),
		.cost = mem_alloc((size_t)jobs * types * sizeof(double)),
		.gang = mem_alloc(jobs * sizeof(double)),
		.capacity = mem_alloc(types * sizeof(double)),
	};

	n.p = (struct arrow){
		.jobs = jobs,
		.types = types,
		.rows = rows,
		.v = n.v,
		.g = kind == MAX_MIN || kind == LEVELS ? n.g : NULL,
		.h = n.h,
		.cost = kind == MAX_SUM ? n.cost : NULL,
		.z_cost = -1,
		.gang = n.gang,
		.capacity = n.capacity,
	};
	return n;
}

static void instance_destroy(struct instance *n)
{
	free(n->v);
	free(n->g);
	free(n->h);
	free(n->cost);
	free(n->gang);
	free(n->capacity);
}

static double between(struct rng *rng, double least, double most)
{
	return least + (most - least) * rng_uniform(rng);
}

/* Few different speeds make ties; some types a job cannot use. */
static double speed(struct rng *rng, bool ties, bool zeros)
{
	if (zeros && rng_below(rng, 5) == 0)
		return 0;
	return ties ? 1.0 + (double)rng_below(rng, 3) : between(rng, 0.1, 10);
}

static void write_job(struct instance *n, struct rng *rng, uint32_t i, bool ties, bool zeros)
{
	uint32_t types = n->p.types, rows = n->p.rows;
	double *v = n->v + (size_t)i * rows * types, *h = n->h + (size_t)i * rows, most = 0;
	double scale = ties ? 1 : between(rng, 0.2, 5);

	n->gang[i] = (double)(1u << rng_below(rng, 4));
	n->demand += n->gang[i];
	h[0] = 1;
	for (uint32_t w = 0; w < types; w++) {
		double fast = speed(rng, ties, zeros) * scale;

		most = fmax(most, fast);
		v[w] = 1;
		n->cost[(size_t)i * types + w] = -fast;
		for (uint32_t k = 1; k < rows; k++)
			v[k * types + w] = -fast;
	}
	if (n->kind == MAX_MIN || n->kind == LEVELS)
		n->g[(size_t)i * rows + 1] = 1;
	if (n->kind == FEASIBLE)
		h[1] = -most * between(rng, 0, 0.5);
	if (n->kind == LEVELS) {
		h[1] = between(rng, 0, 0.02); /* what the job has reached does not count */
		h[2] = -most * between(rng, 0, 0.02);
	}
}

static struct instance draw(struct rng *rng, uint32_t jobs)
{
	uint32_t types = 1 + (uint32_t)rng_below(rng, 8);
	struct instance n = instance_create((enum kind)rng_below(rng, KINDS), jobs, types);
	bool ties = rng_below(rng, 3) == 0, zeros = rng_below(rng, 3) == 0;
	static const double levels[] = { 0.02, 0.1, 0.3, 0.7, 1.2, 4, 20 };
	double level = levels[rng_below(rng, COUNT(levels))];

	for (uint32_t i = 0; i < jobs; i++)
		write_job(&n, rng, i, ties, zeros);
	for (uint32_t w = 0; w < types; w++)
		n.capacity[w] = n.demand * level / types * between(rng, 0.5, 1.5);
	return n;
}

/* ---- the same by CLP */

static struct lp *as_lp(const struct arrow *p)
{
	struct lp *lp = lp_create();
	uint32_t z = p->jobs * p->types, capacity = p->jobs * p->rows;

	for (uint32_t i = 0; i < z; i++)
		lp_add_column(lp, p->cost ? p->cost[i] : 0, 0, INFINITY, false);
	if (p->g)
		lp_add_column(lp, p->z_cost, -INFINITY, INFINITY, false);
	for (uint32_t i = 0; i < capacity; i++)
		lp_add_row(lp, -INFINITY, p->h[i]);
	for (uint32_t w = 0; w < p->types; w++)
		lp_add_row(lp, -INFINITY, p->capacity[w]);
	for (uint32_t i = 0; i < capacity; i++) {
		for (uint32_t w = 0; w < p->types; w++)
			lp_set(lp, i, i / p->rows * p->types + w, p->v[i * p->types + w]);
		if (p->g && p->g[i] != 0)
			lp_set(lp, i, z, p->g[i]);
	}
	for (uint32_t i = 0; i < z; i++)
		lp_set(lp, capacity + i % p->types, i, p->gang[i / p->types]);
	return lp;
}

static double size_of(const double *v, uint32_t n, double least)
{
	for (uint32_t i = 0; i < n; i++)
		least = fmax(least, fabs(v[i]));
	return least;
}

/* The largest relative violation of any row. */
static double violation(const struct arrow *p, const double *x, double z)
{
	double worst = 0;

	for (uint32_t i = 0; i < p->jobs * p->rows; i++) {
		const double *v = p->v + (size_t)i * p->types, *own = x + i / p->rows * p->types;
		double sum = (p->g ? p->g[i] * z : 0) - p->h[i];

		for (uint32_t w = 0; w < p->types; w++)
			sum += v[w] * own[w];
		worst = fmax(worst, sum / size_of(v, p->types, 1));
	}
	for (uint32_t w = 0; w < p->types; w++) {
		double sum = -p->capacity[w];

		for (uint32_t i = 0; i < p->jobs; i++)
			sum += p->gang[i] * x[i * p->types + w];
		worst = fmax(worst, sum / fmax(1, p->capacity[w]));
	}
	return worst;
}

static double objective(const struct arrow *p, const double *x, double z)
{
	double sum = p->g ? p->z_cost * z : 0;

	for (uint32_t i = 0; p->cost && i < p->jobs * p->types; i++)
		sum += p->cost[i] * x[i];
	return sum;
}

/* By weak duality: no answer is better than what prices and duals say. */
static double dual_bound(const struct arrow *p, const struct arrow_answer *a)
{
	double sum = 0;

	for (uint32_t w = 0; w < p->types; w++)
		sum -= a->prices[w] * p->capacity[w];
	for (uint32_t i = 0; i < p->jobs * p->rows; i++)
		sum -= a->row_duals[i] * p->h[i];
	return sum;
}

static void check(const struct instance *n)
{
	const struct arrow *p = &n->p;
	double *x = mem_alloc((size_t)p->jobs * p->types * sizeof(double));
	double *duals = mem_alloc((size_t)p->jobs * p->rows * sizeof(double)), prices[8];
	struct arrow_answer answer = { .x = x, .prices = prices, .row_duals = duals };
	struct lp *lp = as_lp(p);
	enum lp_status status = lp_solve(lp, (struct lp_limits){ 0 });

	arrow_solve(p, &answer);
	if (status == LP_INFEASIBLE) {
		assert_int_equal(answer.status, INTERIOR_INFEASIBLE);
	} else {
		double best = lp_objective(lp), size = fmax(1, fabs(best));

		assert_int_equal(status, LP_OPTIMAL);
		assert_int_equal(answer.status, INTERIOR_OPTIMAL);
		assert_true(violation(p, x, answer.z) < 1e-6);
		assert_true(fabs(objective(p, x, answer.z) - best) < 1e-6 * size);
		assert_true(fabs(answer.objective - best) < 1e-6 * size);
		assert_true(fabs(dual_bound(p, &answer) - best) < 1e-5 * size);
		assert_true(answer.residual < 1e-6);
	}
	lp_destroy(lp);
	free(x);
	free(duals);
}

static void agrees_with_the_simplex_method(void **state)
{
	struct rng rng = property("small share programs against CLP");

	(void)state;
	for (size_t i = 0; i < rounds(2500); i++) {
		uint32_t jobs = 1 + (uint32_t)rng_below(&rng, rng_below(&rng, 2) ? 60 : 12);
		struct instance n = draw(&rng, jobs);

		check(&n);
		instance_destroy(&n);
	}
}

static void agrees_on_many_jobs(void **state)
{
	struct rng rng = property("share programs of 512 jobs against CLP");

	(void)state;
	for (size_t i = 0; i < rounds(12); i++) {
		struct instance n = draw(&rng, 511 + (uint32_t)rng_below(&rng, 2));

		check(&n);
		instance_destroy(&n);
	}
}

/* ---- by hand */

static void shares_two_devices_among_equals(void **state)
{
	const double v[] = { 1, 1, -1, -2, 1, 1, -1, -2, 1, 1, -1, -2 };
	const double g[] = { 0, 1, 0, 1, 0, 1 }, h[] = { 1, 0, 1, 0, 1, 0 };
	const double gang[] = { 1, 1, 1 }, capacity[] = { 1, 1 };
	double x[6], prices[2];
	struct arrow program = { 3, 2, 2, v, g, h, NULL, -1, gang, capacity, NULL };
	struct arrow_answer answer = { .x = x, .prices = prices };

	(void)state;
	arrow_solve(&program, &answer);
	assert_int_equal(answer.status, INTERIOR_OPTIMAL);
	assert_true(fabs(answer.z - 1) < 1e-7);
	for (int i = 0; i < 6; i++)
		assert_true(fabs(x[i] - 1.0 / 3) < 1e-6);
	assert_true(fabs(prices[0] - 1.0 / 3) < 1e-6 && fabs(prices[1] - 2.0 / 3) < 1e-6);
}

static void recognises_what_cannot_be_met(void **state)
{
	const double v[] = { 1, -1, 1, -1 }, h[] = { 1, -0.6, 1, -0.6 };
	const double gang[] = { 1, 1 }, enough[] = { 1.25 }, short_of[] = { 1.19 };
	double x[2];
	struct arrow program = { 2, 1, 2, v, NULL, h, NULL, 0, gang, enough, NULL };
	struct arrow_answer answer = { .x = x };

	(void)state;
	arrow_solve(&program, &answer);
	assert_int_equal(answer.status, INTERIOR_OPTIMAL);
	assert_true(x[0] > 0.6 - 1e-7 && x[1] > 0.6 - 1e-7 && x[0] + x[1] < 1.25 + 1e-7);
	program.capacity = short_of;
	arrow_solve(&program, &answer);
	assert_int_equal(answer.status, INTERIOR_INFEASIBLE);
}

static void memory_given_is_memory_used(void **state)
{
	struct rng rng = property("a work arena changes nothing");
	struct arena work = { 0 };

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct instance n = draw(&rng, 1 + (uint32_t)rng_below(&rng, 30));
		size_t size = (size_t)n.p.jobs * n.p.types * sizeof(double);
		double *x = mem_alloc(size), *again = mem_alloc(size);
		struct arrow_answer one = { .x = x }, two = { .x = again, .work = &work };

		arrow_solve(&n.p, &one);
		arrow_solve(&n.p, &two);
		arena_reset(&work);
		assert_int_equal(one.status, two.status);
		assert_memory_equal(x, again, size);
		free(x);
		free(again);
		instance_destroy(&n);
	}
	arena_fini(&work);
}

/* ---- finish-time fairness */

struct finish {
	struct arrow_finish p;
	double *speed, *age, *work, *limit, *gang, *capacity;
};

static struct finish finish_create(uint32_t jobs, uint32_t types)
{
	struct finish f = {
		.speed = mem_alloc((size_t)jobs * types * sizeof(double)),
		.age = mem_alloc(jobs * sizeof(double)),
		.work = mem_alloc(jobs * sizeof(double)),
		.limit = mem_alloc(jobs * sizeof(double)),
		.gang = mem_alloc(jobs * sizeof(double)),
		.capacity = mem_alloc(types * sizeof(double)),
	};

	f.p = (struct arrow_finish){
		.jobs = jobs,
		.types = types,
		.speed = f.speed,
		.age = f.age,
		.work = f.work,
		.limit = f.limit,
		.gang = f.gang,
		.capacity = f.capacity,
	};
	return f;
}

static struct finish draw_finish(struct rng *rng, uint32_t jobs)
{
	uint32_t types = 1 + (uint32_t)rng_below(rng, 5);
	struct finish f = finish_create(jobs, types);
	double demand = 0, level = between(rng, 0.05, 3);
	bool new = rng_below(rng, 3) == 0;

	for (uint32_t i = 0; i < jobs; i++) {
		double unit = between(rng, 0.1, 20), sum = 0;

		f.gang[i] = (double)(1u << rng_below(rng, 4));
		demand += f.gang[i];
		for (uint32_t w = 0; w < types; w++)
			sum += f.speed[i * types + w] = unit * between(rng, 0.2, 1 + w);
		f.age[i] = new ? 0 : between(rng, 0, 20000);
		f.work[i] = unit * between(rng, 100, 50000);
		f.limit[i] = f.age[i] * between(rng, 0.3, 1) + f.work[i] / sum * between(rng, 1, 20);
	}
	for (uint32_t w = 0; w < types; w++)
		f.capacity[w] = demand * level / types;
	return f;
}

static void finish_destroy(struct finish *f)
{
	free(f->speed);
	free(f->age);
	free(f->work);
	free(f->limit);
	free(f->gang);
	free(f->capacity);
}

/* Whether everybody can finish by z times the limit. */
static bool reachable(const struct arrow_finish *p, double z)
{
	struct instance n = instance_create(FEASIBLE, p->jobs, p->types);
	struct lp *lp;
	bool yes = true;

	memcpy(n.gang, p->gang, p->jobs * sizeof(double));
	memcpy(n.capacity, p->capacity, p->types * sizeof(double));
	for (uint32_t i = 0; i < p->jobs; i++) {
		double left = z * p->limit[i] - p->age[i], need = p->work[i] / left;
		double most = size_of(p->speed + i * p->types, p->types, 0);

		yes = yes && left > 0 && need <= most;
		n.h[2 * i] = 1;
		n.h[2 * i + 1] = -need / most;
		for (uint32_t w = 0; w < p->types; w++) {
			n.v[2 * i * p->types + w] = 1;
			n.v[(2 * i + 1) * p->types + w] = -p->speed[i * p->types + w] / most;
		}
	}
	if (yes) {
		lp = as_lp(&n.p);
		yes = lp_solve(lp, (struct lp_limits){ 0 }) == LP_OPTIMAL;
		lp_destroy(lp);
	}
	instance_destroy(&n);
	return yes;
}

/* What x alone achieves. */
static double reached(const struct arrow_finish *p, const double *x)
{
	double worst = 0;

	for (uint32_t i = 0; i < p->jobs; i++) {
		double rate = 0;

		for (uint32_t w = 0; w < p->types; w++)
			rate += p->speed[i * p->types + w] * x[i * p->types + w];
		worst = fmax(worst, (p->age[i] + p->work[i] / rate) / p->limit[i]);
	}
	return worst;
}

static void finish_is_as_early_as_can_be(void **state)
{
	struct rng rng = property("finish-time fairness against bisection");

	(void)state;
	for (size_t i = 0; i < rounds(250); i++) {
		struct finish f = draw_finish(&rng, 1 + (uint32_t)rng_below(&rng, 40));
		double *x = mem_alloc((size_t)f.p.jobs * f.p.types * sizeof(double));
		struct arrow_answer answer = { .x = x };

		arrow_solve_finish(&f.p, &answer);
		assert_int_equal(answer.status, INTERIOR_OPTIMAL);
		assert_true(fabs(reached(&f.p, x) - answer.z) < 1e-5 * answer.z);
		assert_true(reachable(&f.p, answer.z * (1 + 2e-5)));
		assert_false(reachable(&f.p, answer.z * (1 - 2e-5)));
		free(x);
		finish_destroy(&f);
	}
}

static void finish_of_one_job(void **state)
{
	const double speed[] = { 2, 4 }, age[] = { 10 }, work[] = { 80 }, limit[] = { 20 };
	const double gang[] = { 1 }, capacity[] = { 1, 0.5 };
	double x[2];
	struct arrow_finish program = { 1, 2, speed, age, work, limit, gang, capacity, NULL };
	struct arrow_answer answer = { .x = x };

	(void)state;
	arrow_solve_finish(&program, &answer);
	assert_int_equal(answer.status, INTERIOR_OPTIMAL);
	assert_true(fabs(x[0] - 0.5) < 1e-6 && fabs(x[1] - 0.5) < 1e-6);
	assert_true(fabs(answer.z - (10 + 80.0 / 3) / 20) < 1e-6);
}

/* ---- jobs that are alike */

struct alike {
	uint32_t jobs; /* written out */
	uint32_t *count;
	double lift; /* of the demand, by the counts */
};

static struct alike draw_counts(struct rng *rng, const double *gang, uint32_t jobs)
{
	struct alike a = { .count = mem_alloc(jobs * sizeof(*a.count)) };
	double whole = 0, demand = 0;

	for (uint32_t i = 0; i < jobs; i++) {
		a.count[i] = rng_below(rng, 3) == 0 ? 1 : 1 + (uint32_t)rng_below(rng, 50);
		a.jobs += a.count[i];
		whole += a.count[i] * gang[i];
		demand += gang[i];
	}
	a.lift = whole / demand;
	return a;
}

/* `from` has `width` numbers per job; each job's are written as often as it is there. */
static void repeat(const struct alike *a, uint32_t jobs, const double *from, uint32_t width, double *to)
{
	for (uint32_t i = 0; i < jobs; i++) {
		for (uint32_t k = 0; k < a->count[i]; k++, to += width)
			memcpy(to, from + (size_t)i * width, width * sizeof(double));
	}
}

/* Last job first. */
static void reverse(double *numbers, uint32_t jobs, uint32_t width)
{
	for (uint32_t i = 0; i < jobs / 2 * width; i++) {
		uint32_t other = (jobs - 1 - i / width) * width + i % width;
		double first = numbers[i];

		numbers[i] = numbers[other];
		numbers[other] = first;
	}
}

/* The largest difference, and that of what is below 1e-6, relative. */
struct difference {
	double most, tiny;
};

static struct difference compare(const double *one, const double *other, size_t n)
{
	struct difference d = { 0, 0 };

	for (size_t i = 0; i < n; i++) {
		double apart = fabs(one[i] - other[i]), size = fmax(one[i], other[i]);

		d.most = fmax(d.most, apart);
		if (size < 1e-6 && size > 0)
			d.tiny = fmax(d.tiny, apart / size);
	}
	return d;
}

enum { COUNTED, REORDERED, WAYS };

/* How far answers are from those with every job written out. */
struct record {
	double *most[WAYS], *tiny[WAYS];
	size_t n;
	size_t unlike; /* another verdict or number of iterations */
};

static void record_init(struct record *r, size_t room)
{
	*r = (struct record){ .n = 0 };
	for (int way = 0; way < WAYS; way++) {
		r->most[way] = mem_alloc(room * sizeof(double));
		r->tiny[way] = mem_alloc(room * sizeof(double));
	}
}

/* Of `n` numbers in `written`; `reversed` are those of the jobs in reverse order. */
static void record_add(struct record *r, const struct arrow_answer *counted,
	const struct arrow_answer *written, const double *reversed, const double *spread, size_t n)
{
	struct difference d = compare(spread, written->x, n);
	struct difference noise = compare(reversed, written->x, n);

	r->unlike += counted->status != written->status || counted->iterations != written->iterations;
	if (counted->status != INTERIOR_OPTIMAL || written->status != INTERIOR_OPTIMAL)
		return;
	assert_true(fabs(counted->objective - written->objective) <
		1e-7 * fmax(1, fabs(written->objective)));
	r->most[COUNTED][r->n] = d.most;
	r->tiny[COUNTED][r->n] = d.tiny;
	r->most[REORDERED][r->n] = noise.most;
	r->tiny[REORDERED][r->n++] = noise.tiny;
}

static int upwards(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static void compare_quantiles(double *const *of, size_t n, double least)
{
	for (int way = 0; way < WAYS; way++)
		qsort(of[way], n, sizeof(double), upwards);
	for (size_t percent = 50; percent <= 90; percent += 10) {
		size_t at = n * percent / 100;

		assert_true(of[COUNTED][at] <= fmax(least, 10 * of[REORDERED][at]));
	}
}

/*
 * Where an answer hangs on the last digits, so it does on the order of the jobs:
 * counting may change it about as much as that does.
 */
static void record_check(struct record *r, double median)
{
	assert_true(r->unlike <= r->n / 200);
	compare_quantiles(r->most, r->n, 1e-12);
	compare_quantiles(r->tiny, r->n, 1e-6);
	assert_true(r->most[COUNTED][r->n / 2] < median);
	assert_true(r->most[COUNTED][r->n * 4 / 5] < 100 * median);
	assert_true(r->most[COUNTED][r->n - 1] < 1e-2);
	for (int way = 0; way < WAYS; way++) {
		free(r->most[way]);
		free(r->tiny[way]);
	}
}

static struct instance write_out(const struct instance *n, const struct alike *a)
{
	uint32_t types = n->p.types, rows = n->p.rows, jobs = n->p.jobs;
	struct instance out = instance_create(n->kind, a->jobs, types);

	repeat(a, jobs, n->v, rows * types, out.v);
	repeat(a, jobs, n->g, rows, out.g);
	repeat(a, jobs, n->h, rows, out.h);
	repeat(a, jobs, n->cost, types, out.cost);
	repeat(a, jobs, n->gang, 1, out.gang);
	memcpy(out.capacity, n->capacity, types * sizeof(double));
	return out;
}

static void instance_reverse(struct instance *n)
{
	uint32_t types = n->p.types, rows = n->p.rows, jobs = n->p.jobs;

	reverse(n->v, jobs, rows * types);
	reverse(n->g, jobs, rows);
	reverse(n->h, jobs, rows);
	reverse(n->cost, jobs, types);
	reverse(n->gang, jobs, 1);
}

/* One program, counted, written out and that reversed. */
static void check_counted(struct rng *rng, struct instance *n, struct record *record)
{
	struct alike a = draw_counts(rng, n->gang, n->p.jobs);
	uint32_t types = n->p.types, rows = n->p.rows;
	size_t all = (size_t)a.jobs * types;
	double *x = mem_alloc(all * sizeof(double)), *spread = mem_alloc(all * sizeof(double));
	double *written = mem_alloc(all * sizeof(double)), *back = mem_alloc(all * sizeof(double));
	double *duals = mem_alloc((size_t)n->p.jobs * rows * sizeof(double)), prices[8], bound = 0;
	struct arrow_answer one = { .x = x, .prices = prices, .row_duals = duals };
	struct arrow_answer whole = { .x = written }, other = { .x = back };
	struct instance out;

	for (uint32_t w = 0; w < types; w++)
		n->capacity[w] *= a.lift;
	out = write_out(n, &a);
	n->p.count = a.count;
	arrow_solve(&n->p, &one);
	arrow_solve(&out.p, &whole);
	instance_reverse(&out);
	arrow_solve(&out.p, &other);
	reverse(back, a.jobs, types);
	repeat(&a, n->p.jobs, x, types, spread);
	record_add(record, &one, &whole, back, spread, all);
	if (one.status == INTERIOR_OPTIMAL) {
		for (uint32_t w = 0; w < types; w++)
			bound -= prices[w] * n->capacity[w];
		for (uint32_t i = 0; i < n->p.jobs * rows; i++)
			bound -= a.count[i / rows] * duals[i] * n->h[i];
		assert_true(fabs(bound - one.objective) < 1e-5 * fmax(1, fabs(bound)));
	}
	free(x);
	free(spread);
	free(written);
	free(back);
	free(duals);
	free(a.count);
	instance_destroy(&out);
}

static void counting_is_writing_out(void **state)
{
	struct rng rng = property("alike jobs counted against written out");
	size_t n = rounds(600);
	struct record record;

	(void)state;
	record_init(&record, n);
	for (size_t i = 0; i < n; i++) {
		struct instance one = draw(&rng, 1 + (uint32_t)rng_below(&rng, 16));

		check_counted(&rng, &one, &record);
		instance_destroy(&one);
	}
	record_check(&record, 1e-10);
}

static struct finish write_out_finish(const struct finish *f, const struct alike *a)
{
	uint32_t types = f->p.types, jobs = f->p.jobs;
	struct finish out = finish_create(a->jobs, types);

	repeat(a, jobs, f->speed, types, out.speed);
	repeat(a, jobs, f->age, 1, out.age);
	repeat(a, jobs, f->work, 1, out.work);
	repeat(a, jobs, f->limit, 1, out.limit);
	repeat(a, jobs, f->gang, 1, out.gang);
	memcpy(out.capacity, f->capacity, types * sizeof(double));
	return out;
}

static void finish_reverse(struct finish *f)
{
	reverse(f->speed, f->p.jobs, f->p.types);
	reverse(f->age, f->p.jobs, 1);
	reverse(f->work, f->p.jobs, 1);
	reverse(f->limit, f->p.jobs, 1);
	reverse(f->gang, f->p.jobs, 1);
}

static void check_finish_counted(struct rng *rng, struct finish *f, struct record *record)
{
	struct alike a = draw_counts(rng, f->gang, f->p.jobs);
	size_t all = (size_t)a.jobs * f->p.types;
	double *x = mem_alloc(all * sizeof(double)), *spread = mem_alloc(all * sizeof(double));
	double *written = mem_alloc(all * sizeof(double)), *back = mem_alloc(all * sizeof(double));
	struct arrow_answer one = { .x = x }, whole = { .x = written }, other = { .x = back };
	struct finish out;

	for (uint32_t w = 0; w < f->p.types; w++)
		f->capacity[w] *= a.lift;
	out = write_out_finish(f, &a);
	f->p.count = a.count;
	arrow_solve_finish(&f->p, &one);
	arrow_solve_finish(&out.p, &whole);
	finish_reverse(&out);
	arrow_solve_finish(&out.p, &other);
	reverse(back, a.jobs, f->p.types);
	repeat(&a, f->p.jobs, x, f->p.types, spread);
	record_add(record, &one, &whole, back, spread, all);
	free(x);
	free(spread);
	free(written);
	free(back);
	free(a.count);
	finish_destroy(&out);
}

static void counting_is_writing_out_with_cones(void **state)
{
	struct rng rng = property("finish-time fairness counted against written out");
	size_t n = rounds(200);
	struct record record;

	(void)state;
	record_init(&record, n);
	for (size_t i = 0; i < n; i++) {
		struct finish f = draw_finish(&rng, 1 + (uint32_t)rng_below(&rng, 16));

		check_finish_counted(&rng, &f, &record);
		finish_destroy(&f);
	}
	record_check(&record, 1e-7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_two_devices_among_equals),
		cmocka_unit_test(recognises_what_cannot_be_met),
		cmocka_unit_test(memory_given_is_memory_used),
		cmocka_unit_test(agrees_with_the_simplex_method),
		cmocka_unit_test(agrees_on_many_jobs),
		cmocka_unit_test(counting_is_writing_out),
		cmocka_unit_test(finish_of_one_job),
		cmocka_unit_test(finish_is_as_early_as_can_be),
		cmocka_unit_test(counting_is_writing_out_with_cones),
	};

	return cmocka_run_group_tests_name("solver/arrow", tests, NULL, NULL);
}
