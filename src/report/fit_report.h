/*
 * Fitted goodput models: parameters with their errors, what had to be assumed,
 * what follows for other numbers of devices, and pictures of it.
 */
#ifndef REPORT_FIT_REPORT_H
#define REPORT_FIT_REPORT_H

#include "model/goodput_fit.h"
#include "report/html.h"
#include "report/term.h"

/* One model on one type; all borrowed. */
struct fit_group {
	const char *model, *type;
	const struct goodput_sample *samples;
	uint32_t n;
	struct gradient gradient; /* zeroed: not measured */
	double initial;           /* total batch that its variance belongs to */
	struct goodput_fit fit;
};

struct fit_report {
	const struct fit_group *groups;
	size_t n;
	const char *source; /* "samples.csv" */
};

/* What the fit is off by, as shares: root mean squares of the logarithms, and the worst step. */
struct fit_errors {
	double grad, step;
	double worst;      /* signed: the fit is so much longer than the step was */
	uint32_t worst_at; /* sample */
};
struct fit_errors fit_group_errors(const struct fit_group *group);

/* What was measured, at most and at least. */
struct fit_range {
	double min_local, max_local;
	double replicas, nodes;
	double per_node; /* most devices on one node, on average over the nodes */
};
struct fit_range fit_group_range(const struct fit_group *group);
/* So many devices on as few nodes as they were measured on. */
struct goodput_shape fit_group_shape(const struct fit_group *group, double replicas);

void fit_report_text(const struct fit_report *report, const struct term *term, struct buf *out);
/* Schema "fit-goodput/1". */
void fit_report_json(const struct fit_report *report, struct buf *out);
/* All curves in one file. */
void fit_report_svg(const struct fit_report *report, struct buf *out);
void fit_report_html(const struct fit_report *report, const struct html_info *info, struct buf *out);

#endif
