/*
 * How many devices of which type meet a target: the sizes that were tried,
 * the answer for each type, the cheapest, and the curve.
 */
#ifndef REPORT_CAPACITY_REPORT_H
#define REPORT_CAPACITY_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"
#include "report/html.h"
#include "report/target.h"
#include "report/term.h"

enum { TARGETS_MAX = 8 };

/* One size that was tried. */
struct capacity_point {
	uint32_t nodes, devices; /* bought */
	double counts[TARGETS_MAX]; /* of each target, what nine in ten seeds are at least as good as */
	double mean[TARGETS_MAX]; /* over the seeds */
	uint32_t left;            /* most jobs of any seed that could not run or finish */
	bool idle;                /* nobody waited in any seed: more would stand idle */
	bool grown;               /* every job ran, and what more devices make easier is met */
	bool ok;                  /* the same and the others: the target as a whole */
};

/* One node shape that may be bought. */
struct capacity_option {
	char *type;
	uint32_t per_node;
	double price_per_h;                /* of a device; 0: unknown */
	VEC(struct capacity_point) points; /* by size */
	bool found;
	uint32_t nodes;   /* found: the answer; else the largest tried */
	bool monotone;    /* its neighbours agree */
	uint32_t by_luck; /* a smaller size that met it though larger ones did not; 0: none */
	char *why;        /* not found: what could be reached instead */
};

struct capacity_report {
	const struct target *targets;
	size_t ntargets;
	struct capacity_option *options;
	size_t noptions;
	uint32_t nseeds, njobs;
	bool keep;           /* beside what is there */
	const char *present; /* the cluster that there is; NULL: none was named */
	double present_per_h;
	uint32_t present_devices;
	const char *history, *policy, *note; /* for people; note may be NULL */
};

void capacity_option_fini(struct capacity_option *option);
/* In its place by size.  Returns it; valid until the next. */
struct capacity_point *capacity_add(struct capacity_option *option, const struct capacity_point *point);
/* Of that size, or NULL. */
const struct capacity_point *capacity_at(const struct capacity_option *option, uint32_t nodes);

/* Index of the option that costs least (of the fewest devices where a price is unknown); -1: none meets it. */
int capacity_cheapest(const struct capacity_report *report);
/* The whole in a sentence. */
void capacity_lead(const struct capacity_report *report, struct buf *out);

void capacity_text(const struct capacity_report *report, const struct term *term, struct buf *out);
/* Schema "capacity/1". */
void capacity_json(const struct capacity_report *report, struct buf *out);
void capacity_html(const struct capacity_report *report, const struct html_info *info, struct buf *out);

#endif
