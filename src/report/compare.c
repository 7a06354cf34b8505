/*
 * Collects the runs of a comparison and works out what they say together.
 */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/picture.h"

#define SIGNIFICANT 0.05

static char *copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static size_t count_metrics(void)
{
	size_t n = 0;

	while (metrics[n].key)
		n++;
	return n;
}

static void copy_nodes(struct comparison *c, const struct cluster *cluster)
{
	c->nnodes = cluster->nnodes;
	c->nodes = mem_alloc(mem_array_size(c->nnodes ? c->nnodes : 1, sizeof(*c->nodes)));
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *node = &cluster->nodes[i];

		c->nodes[i].name = mem_strdup(node->name ? node->name : "?");
		c->nodes[i].type = node->type < cluster->ntypes
			? copy(cluster->types[node->type].name)
			: NULL;
		c->nodes[i].devices = node->devices;
	}
}

void comparison_init(struct comparison *c, const struct cluster *cluster,
	const struct contender *contenders, uint32_t n, const uint64_t *seeds, uint32_t nseeds)
{
	*c = (struct comparison){ .npolicies = n, .nseeds = nseeds };
	c->policies = mem_alloc(mem_array_size(n ? n : 1, sizeof(*c->policies)));
	c->seeds = mem_alloc(mem_array_size(nseeds ? nseeds : 1, sizeof(*c->seeds)));
	for (uint32_t i = 0; i < nseeds; i++)
		c->seeds[i] = seeds[i];
	for (uint32_t i = 0; i < n; i++) {
		struct compare_policy *p = &c->policies[i];

		p->label = mem_strdup(contenders[i].label);
		p->policy = mem_strdup(contenders[i].policy ? contenders[i].policy : p->label);
		p->placer = copy(contenders[i].placer);
		p->cells = mem_alloc(mem_array_size(nseeds ? nseeds : 1, sizeof(*p->cells)));
		p->figures = mem_alloc(mem_array_size(count_metrics(), sizeof(*p->figures)));
	}
	if (cluster)
		copy_nodes(c, cluster);
}

static void policy_fini(struct compare_policy *p, uint32_t nseeds)
{
	for (uint32_t s = 0; s < nseeds; s++) {
		summary_fini(&p->cells[s].summary);
		by_model_fini(&p->cells[s].models);
		free(p->cells[s].quantiles);
		free(p->cells[s].jct_s);
	}
	picture_fini(&p->picture);
	refused_fini(&p->refused);
	by_model_fini(&p->models);
	free(p->label);
	free(p->policy);
	free(p->placer);
	free(p->cells);
	free(p->figures);
	free(p->failed);
}

void comparison_fini(struct comparison *c)
{
	for (uint32_t i = 0; i < c->npolicies; i++)
		policy_fini(&c->policies[i], c->nseeds);
	for (uint32_t i = 0; i < c->nfailed; i++)
		policy_fini(&c->failed[i], c->nseeds);
	for (uint32_t i = 0; i < c->nnodes; i++) {
		free(c->nodes[i].name);
		free(c->nodes[i].type);
	}
	free(c->policies);
	free(c->failed);
	free(c->nodes);
	free(c->seeds);
	*c = (struct comparison){ 0 };
}

/* ---- one run */

static double *all_jct(const struct outcome *o)
{
	double *jct = mem_alloc(mem_array_size(o->njobs ? o->njobs : 1, sizeof(*jct)));

	for (uint32_t i = 0; i < o->njobs; i++) {
		const struct job *job = &o->jobs[i];

		jct[i] = job->state == JOB_FINISHED ? job->finish_s - job->arrival_s : NAN;
	}
	return jct;
}

/* Sorts `jct`; a long list becomes quantiles at equal steps, which a curve cannot be told apart from. */
static void sketch(struct compare_cell *cell, double *jct, size_t n)
{
	n = stats_sort(jct, n);
	cell->nquantiles = (uint32_t)(n < SKETCH_POINTS ? n : SKETCH_POINTS);
	if (!n)
		return;
	cell->quantiles = mem_alloc(mem_array_size(cell->nquantiles, sizeof(double)));
	for (uint32_t i = 0; i < cell->nquantiles; i++)
		cell->quantiles[i] = n <= SKETCH_POINTS
			? jct[i]
			: stats_percentile(jct, n, 100.0 * i / (SKETCH_POINTS - 1));
}

void comparison_put(struct comparison *c, uint32_t policy, uint32_t seed, const struct trace *trace,
	const struct outcome *outcome)
{
	struct compare_policy *p = &c->policies[policy];
	struct compare_cell *cell = &p->cells[seed];
	double *jct = all_jct(outcome);

	summary_of(trace, outcome, &cell->summary);
	cell->summary.policy = mem_strdup(p->policy);
	cell->summary.placer = copy(p->placer);
	cell->summary.seed = c->seeds[seed];
	by_model_of(trace, outcome, &cell->models);
	cell->njobs = outcome->njobs;
	if (seed == 0) {
		cell->jct_s = all_jct(outcome);
		picture_of(trace, outcome, PICTURE_SPANS / c->npolicies, &p->picture);
		refused_of(outcome, REFUSED_MOST, &p->refused);
	}
	sketch(cell, jct, outcome->njobs);
	free(jct);
	cell->there = true;
}

void comparison_fail(struct comparison *c, uint32_t policy, const char *why)
{
	if (!c->policies[policy].failed)
		c->policies[policy].failed = mem_strdup(why);
}

void comparison_failures(const struct comparison *c, const char *before, const char *after,
	struct buf *out)
{
	for (uint32_t i = 0; i < c->nfailed; i++)
		buf_printf(out, "%s%s failed: %s%s", before, c->failed[i].label,
			c->failed[i].failed, after);
}

/* ---- all together */

/* The metric of each seed, NAN where there was no run. */
static double *values_of(const struct comparison *c, const struct compare_policy *p,
	const struct metric *m)
{
	double *x = mem_alloc(mem_array_size(c->nseeds ? c->nseeds : 1, sizeof(*x)));

	for (uint32_t s = 0; s < c->nseeds; s++)
		x[s] = p->cells[s].there ? metric_value(m, &p->cells[s].summary) : NAN;
	return x;
}

/* Seeds that change nothing give no interval: one run said it all. */
static void drop_empty_interval(struct interval *v)
{
	if (v->half <= 1e-12 * fabs(v->mean))
		v->half = NAN;
}

/* Over seeds where they differ; of one run's mean JCT, over its jobs. */
static struct paired test(const struct comparison *c, const struct metric *m,
	const struct compare_policy *first, const struct compare_policy *p, const double *x,
	const double *y)
{
	struct paired r = stats_paired_t(x, y, c->nseeds);
	const struct compare_cell *a, *b;

	if (r.test != PAIRED_NONE || !c->nseeds || m != metric_find("jct_mean_s"))
		return r;
	a = &first->cells[0];
	b = &p->cells[0];
	if (!a->there || !b->there || a->njobs != b->njobs)
		return r;
	return stats_wilcoxon(a->jct_s, b->jct_s, a->njobs);
}

static void figure(struct comparison *c, size_t metric, uint32_t policy)
{
	struct compare_policy *first = &c->policies[0], *p = &c->policies[policy];
	struct compare_figure *f = &p->figures[metric];
	double *x = values_of(c, first, &metrics[metric]);
	double *y = values_of(c, p, &metrics[metric]);

	f->value = stats_interval(y, c->nseeds);
	drop_empty_interval(&f->value);
	f->against_first = (struct paired){ .p = NAN, .difference = NAN };
	if (policy > 0)
		f->against_first = test(c, &metrics[metric], first, p, x, y);
	f->differs = f->against_first.p < SIGNIFICANT;
	free(x);
	free(y);
}

static bool same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Marks the best values of a metric, several if equal; none if all are. */
static void mark_best(struct comparison *c, size_t metric)
{
	double sign = metrics[metric].better == BETTER_HIGH ? -1 : 1, best = INFINITY;
	uint32_t equal = 0, known = 0;

	if (metrics[metric].better == BETTER_NONE)
		return;
	for (uint32_t i = 0; i < c->npolicies; i++)
		best = fmin(best, sign * c->policies[i].figures[metric].value.mean);
	for (uint32_t i = 0; i < c->npolicies; i++) {
		struct compare_figure *f = &c->policies[i].figures[metric];

		known += !isnan(f->value.mean);
		f->best = same(sign * f->value.mean, best);
		equal += f->best;
	}
	for (uint32_t i = 0; equal == known && i < c->npolicies; i++)
		c->policies[i].figures[metric].best = false;
}

static void mean_waits(const struct comparison *c, struct compare_policy *p)
{
	uint32_t runs = 0;

	for (int w = 0; w < WHY_COUNT; w++)
		p->waited_by_why_s[w] = 0;
	for (uint32_t s = 0; s < c->nseeds; s++) {
		if (!p->cells[s].there)
			continue;
		runs++;
		for (int w = 0; w < WHY_COUNT; w++)
			p->waited_by_why_s[w] += p->cells[s].summary.waited_by_why_s[w];
	}
	for (int w = 0; runs && w < WHY_COUNT; w++)
		p->waited_by_why_s[w] /= runs;
}

static bool all_seeds_equal(const struct comparison *c)
{
	for (uint32_t i = 0; i < c->npolicies; i++) {
		const struct compare_cell *cells = c->policies[i].cells;

		for (uint32_t s = 1; s < c->nseeds; s++) {
			if (cells[s].there && cells[s].summary.event_hash != cells[0].summary.event_hash)
				return false;
		}
	}
	return c->nseeds > 1;
}

static void part_with_failed(struct comparison *c)
{
	uint32_t kept = 0;

	c->failed = mem_resize(c->failed,
		mem_array_size((size_t)c->npolicies + c->nfailed + 1, sizeof(*c->failed)));
	for (uint32_t i = 0; i < c->npolicies; i++) {
		if (c->policies[i].failed)
			c->failed[c->nfailed++] = c->policies[i];
		else
			c->policies[kept++] = c->policies[i];
	}
	c->npolicies = kept;
}

void comparison_finish(struct comparison *c)
{
	part_with_failed(c);
	for (size_t m = 0; metrics[m].key; m++) {
		for (uint32_t i = 0; i < c->npolicies; i++)
			figure(c, m, i);
		mark_best(c, m);
	}
	for (uint32_t i = 0; i < c->npolicies; i++)
		mean_waits(c, &c->policies[i]);
	for (uint32_t i = 0; i < c->npolicies; i++) {
		by_model_fini(&c->policies[i].models);
		for (uint32_t s = 0; s < c->nseeds; s++)
			by_model_add(&c->policies[i].models, &c->policies[i].cells[s].models);
	}
	c->same_seeds = all_seeds_equal(c);
}

/* ---- answers for tables and pictures */

/* The least and the largest mean but 0, as sizes; 0 if there is none. */
static void range_of(const struct comparison *c, size_t metric, double *least, double *most)
{
	*least = *most = 0;
	for (uint32_t i = 0; i < c->npolicies; i++) {
		double mean = fabs(c->policies[i].figures[metric].value.mean);

		if (!isfinite(mean) || mean == 0)
			continue;
		*least = *least > 0 ? fmin(*least, mean) : mean;
		*most = fmax(*most, mean);
	}
}

bool comparison_shows(const struct comparison *c, size_t metric, bool timings)
{
	bool zero_tells = metrics[metric].unit == UNIT_SHARE;

	if (metrics[metric].timing && !timings)
		return false;
	for (uint32_t i = 0; i < c->npolicies; i++) {
		double mean = c->policies[i].figures[metric].value.mean;

		if (isfinite(mean) && (mean != 0 || zero_tells))
			return true;
	}
	return false;
}

/* Decimals that show two digits of the smallest interval; as many as there are if none has one. */
static int decimals_for_intervals(const struct comparison *c, size_t metric, double per, int decimals)
{
	double least = INFINITY;
	int enough = 0;

	for (uint32_t i = 0; i < c->npolicies; i++) {
		double half = c->policies[i].figures[metric].value.half / per;

		if (half > 0)
			least = fmin(least, half);
	}
	if (!isfinite(least))
		return decimals;
	if (decimals < 0)
		decimals = 1;
	while (enough < decimals && least < 10) {
		least *= 10;
		enough++;
	}
	return enough;
}

struct scale comparison_scale(const struct comparison *c, size_t metric)
{
	const struct metric *m = &metrics[metric];
	double least, most, leads = 0;
	struct scale scale, shared;
	int enough;

	range_of(c, metric, &least, &most);
	scale = scale_for(m->unit, most);
	if (m->unit_of)
		range_of(c, metric_index(m->unit_of), &least, &leads);
	if (leads > 0) {
		shared = scale_for(m->unit, leads);
		scale = scale_with(&shared, most);
	}
	range_of(c, metric, &least, &most);
	least /= scale.per;
	enough = least >= 10 || least == 0 ? 0 : least >= 1 ? 1 : least >= 0.1 ? 2 : 3;
	if (scale.decimals >= 0 && scale.decimals < enough)
		scale.decimals = enough;
	scale.decimals = decimals_for_intervals(c, metric, scale.per, scale.decimals);
	return scale;
}

struct scale comparison_cell_scale(const struct comparison *c, size_t metric, uint32_t policy)
{
	struct scale scale = comparison_scale(c, metric);
	double half = c->policies[policy].figures[metric].value.half / scale.per;
	int most = half >= 100 ? 0 : half >= 10 ? 1 : 3;

	if (isfinite(half) && scale.decimals > most)
		scale.decimals = most;
	return scale;
}

/* What the table shows of a mean. */
static void shown(const struct comparison *c, size_t metric, uint32_t policy, struct buf *out)
{
	struct scale scale = comparison_cell_scale(c, metric, policy);

	buf_clear(out);
	scale_number(&scale, c->policies[policy].figures[metric].value.mean, out);
}

bool comparison_best(const struct comparison *c, size_t metric, uint32_t policy)
{
	struct buf mine = { 0 }, other = { 0 };
	bool best = false, all_alike = true;

	shown(c, metric, policy, &mine);
	for (uint32_t i = 0; i < c->npolicies; i++) {
		const struct compare_figure *f = &c->policies[i].figures[metric];
		bool alike;

		if (!isfinite(f->value.mean))
			continue;
		shown(c, metric, i, &other);
		alike = !strcmp(mine.at, other.at);
		best |= alike && f->best;
		all_alike &= alike;
	}
	buf_fini(&mine);
	buf_fini(&other);
	return best && !all_alike;
}

struct weighted {
	double x, weight;
};

static int by_x(const void *a, const void *b)
{
	double x = ((const struct weighted *)a)->x, y = ((const struct weighted *)b)->x;

	return (x > y) - (x < y);
}

/* Every quantile of every seed, with the part of all jobs that it stands for. */
static struct weighted *pool(const struct comparison *c, const struct compare_policy *p, size_t *n)
{
	struct weighted *all = mem_alloc(
		mem_array_size((size_t)c->nseeds * SKETCH_POINTS + 1, sizeof(*all)));
	uint32_t runs = 0;

	*n = 0;
	for (uint32_t s = 0; s < c->nseeds; s++)
		runs += p->cells[s].there;
	for (uint32_t s = 0; s < c->nseeds; s++) {
		const struct compare_cell *cell = &p->cells[s];
		double share = (double)cell->summary.jobs_finished / cell->summary.jobs_submitted;

		for (uint32_t i = 0; i < cell->nquantiles; i++)
			all[(*n)++] = (struct weighted){ cell->quantiles[i],
				share / cell->nquantiles / runs };
	}
	if (*n)
		qsort(all, *n, sizeof(*all), by_x);
	return all;
}

struct curve comparison_curve(const struct comparison *c, uint32_t policy)
{
	struct curve curve = { 0 };
	size_t n, points, at = 0;
	struct weighted *all = pool(c, &c->policies[policy], &n);
	double share = 0;

	points = n < CURVE_POINTS - 1 ? n : CURVE_POINTS - 1;
	curve.x = mem_alloc(mem_array_size(points + 1, sizeof(double)));
	curve.y = mem_alloc(mem_array_size(points + 1, sizeof(double)));
	if (n) {
		curve.x[0] = all[0].x;
		curve.n = 1;
	}
	for (size_t i = 0; i < points; i++) {
		size_t last = (i + 1) * n / points;

		for (; at < last; at++)
			share += all[at].weight;
		curve.x[curve.n] = all[last - 1].x;
		curve.y[curve.n++] = fmin(share, 1);
	}
	free(all);
	return curve;
}

void curve_fini(struct curve *curve)
{
	free(curve->x);
	free(curve->y);
	*curve = (struct curve){ 0 };
}
