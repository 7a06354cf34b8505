/*
 * Several policies on one workload, each with one or more seeds: the figures
 * of every run, and of the first seed also the course, for pictures.
 *
 * Runs may end in any order and on any thread: each has its own cell, and
 * everything derived is computed from the cells in their order, so that the
 * result does not depend on how many threads worked.
 *
 *	comparison_init(&c, &cluster, contenders, n, seeds, nseeds);
 *	... comparison_put(&c, policy, seed, &trace, &outcome) for each run ...
 *	... or comparison_fail(&c, policy, "why") ...
 *	comparison_finish(&c);
 *	comparison_table(&c, ...); comparison_json(&c, ...); html_compare(&c, ...);
 *	comparison_fini(&c);
 *
 * A single run is a comparison of one.
 */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "engine/outcome.h"
#include "model/cluster.h"
#include "model/trace.h"
#include "report/by_model.h"
#include "report/metric.h"
#include "report/refused.h"
#include "report/stats.h"
#include "report/summary.h"
#include "report/table.h"
#include "report/timeline.h"
#include "report/units.h"

struct json;

enum {
	SKETCH_POINTS = 513,   /* quantiles kept of a run's JCTs */
	PICTURE_SAMPLES = 240, /* points over time */
	PICTURE_SPANS = 16000, /* bars of the Gantt charts of all policies */
	PICTURE_DOTS = 250,    /* jobs of the wait-against-JCT chart */
	REFUSED_MOST = 50,     /* jobs that are named with what was said to them */
};

/* Who competes.  Text is copied. */
struct contender {
	const char *label;  /* for people, distinct: "tiresias:queues=2" */
	const char *policy; /* full options; NULL: the label */
	const char *placer; /* likewise; may be NULL */
};

/* One job of a Gantt chart. */
struct picture_job {
	uint32_t id;
	char *label, *name, *tenant, *model; /* all but label may be NULL */
	int32_t gpus;
	double arrival_s, start_s, finish_s;
	uint32_t preemptions;
};

/* The course of a run, thinned out to what a picture can show. */
struct picture {
	double from_s, to_s, step_s;
	struct sample *samples;
	uint32_t nsamples;
	uint32_t gpus;
	struct span *spans; /* `job` is an index in `jobs` */
	uint32_t nspans;
	uint64_t spans_left_out;  /* the shortest, and what the run itself dropped */
	struct picture_job *jobs; /* those of the spans */
	uint32_t njobs;
	struct timelines lines; /* what some elastic jobs held */
	bool trained;           /* some job's efficiency is known */
	double *dot_wait_s, *dot_jct_s;
	uint32_t ndots;
};

/* One run of one policy with one seed. */
struct compare_cell {
	bool there; /* a run was put here */
	struct summary summary;
	double *quantiles; /* of the JCT: all of them sorted, or SKETCH_POINTS at equal steps; NULL if none */
	uint32_t nquantiles;
	struct by_model models;
	double *jct_s; /* by job, NAN where unfinished; first seed only */
	uint32_t njobs;
};

struct compare_figure {
	struct interval value; /* over the seeds */
	struct paired against_first;
	bool best;    /* of all policies, where one is better than another */
	bool differs; /* from the first policy at p < 0.05 */
};

struct compare_policy {
	char *label, *policy, *placer;
	struct compare_cell *cells;        /* one for each seed */
	struct picture picture;            /* of the first seed */
	struct refused refused;            /* likewise */
	struct by_model models;            /* of all seeds; by comparison_finish() */
	struct compare_figure *figures;    /* one for each of metrics[]; by comparison_finish() */
	double waited_by_why_s[WHY_COUNT]; /* means over the seeds; by comparison_finish() */
	char *failed;                      /* why a run of it came to no end; NULL: all did */
};

/* The nodes, for the rows of the Gantt chart. */
struct compare_node {
	char *name, *type;
	uint32_t devices;
};

struct comparison {
	struct compare_policy *policies;
	uint32_t npolicies;
	/* Those of which a run failed; comparison_finish() takes them from the others, who are compared without. */
	struct compare_policy *failed;
	uint32_t nfailed;
	uint64_t *seeds;
	uint32_t nseeds;
	struct compare_node *nodes;
	uint32_t nnodes;
	const char *what; /* are compared, for the table's first column; NULL: policies.  Borrowed */
	bool same_seeds;  /* every seed gave the same figures: nothing random was in play */
};

/* Copies what it is given.  `cluster` may be NULL: no Gantt chart. */
void comparison_init(struct comparison *c, const struct cluster *cluster,
	const struct contender *contenders, uint32_t n, const uint64_t *seeds, uint32_t nseeds);
void comparison_fini(struct comparison *c);

/* Copies what it needs of a run; keeps nothing of the caller's.  Different cells may be put by different threads at once. */
void comparison_put(struct comparison *c, uint32_t policy, uint32_t seed, const struct trace *trace,
	const struct outcome *outcome);

/* A run of the policy failed, so that nothing it did counts.  The first reason is kept; not for several threads. */
void comparison_fail(struct comparison *c, uint32_t policy, const char *why);

/* Intervals, best values and tests, of those that did not fail.  Call after the last put and before any of the outputs. */
void comparison_finish(struct comparison *c);

/*
 * Whether the figure (an index of metrics[]) tells anything: it is not unknown for everybody, and
 * unless it is a share (of deadlines met, say) not zero for everybody.
 */
bool comparison_shows(const struct comparison *c, size_t metric, bool timings);
/*
 * One unit for all means of a figure and of those that share its unit, with digits enough for the
 * smallest, and no more than the intervals leave a meaning to.
 */
struct scale comparison_scale(const struct comparison *c, size_t metric);
/* The same for one policy: digits that its own interval leaves no meaning to are not shown. */
struct scale comparison_cell_scale(const struct comparison *c, size_t metric, uint32_t policy);
/* Whether the mean as it is shown is the best of its figure; nobody is where all look the same. */
bool comparison_best(const struct comparison *c, size_t metric, uint32_t policy);

/*
 * The share of submitted jobs that finished within x seconds, all seeds together, as at most CURVE_POINTS
 * steps from (least, 0) up.  Arrays are malloc'ed; n is 0 if no job finished.
 */
enum { CURVE_POINTS = 400 };
struct curve {
	double *x, *y;
	size_t n;
};
struct curve comparison_curve(const struct comparison *c, uint32_t policy);
void curve_fini(struct curve *curve);

struct compare_style {
	enum table_form form;
	bool timings; /* decision and CPU time, which differ from run to run */
};

/* A sentence for each policy that failed, between `before` and `after`. */
void comparison_failures(const struct comparison *c, const char *before, const char *after,
	struct buf *out);

/* The table of `stint compare`, with a legend; for TABLE_CSV every figure, mean and half width, in plain units. */
void comparison_table(const struct comparison *c, const struct compare_style *style,
	const struct term *term, struct buf *out);
/* The figures of one run, one on a line, for `stint sim`. */
void summary_table(const struct summary *summary, const struct compare_style *style,
	const struct term *term, struct buf *out);
/* Schema "compare/1".  Timings make it differ from run to run. */
void comparison_json(const struct comparison *c, bool timings, struct buf *out);
/* Its members but the schema, for answers that say more. */
void comparison_members(struct json *j, const struct comparison *c, bool timings);

#endif
