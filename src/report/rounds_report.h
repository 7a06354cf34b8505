/*
 * One policy with rounds of several lengths: the curve, which length is best,
 * and whether that can be told from chance.
 *
 * Best is the least mean completion time.  Short rounds spend GPU-time on
 * stopping and resuming, long ones leave jobs waiting: both are shown.
 */
#ifndef REPORT_ROUNDS_REPORT_H
#define REPORT_ROUNDS_REPORT_H

#include "report/compare.h"
#include "report/html.h"
#include "report/term.h"

/* All borrowed. */
struct rounds_report {
	const struct comparison *result; /* finished; a contender is a length */
	const double *round_s;           /* by contender, rising */
	const double *idle_gpu_s;        /* [contenders][seeds] rounds_idle() of each run */
	uint32_t own;                    /* the contender with the policy's own length */
	const char *policy, *cluster, *source;
	const char *note; /* what the seeds change; NULL: there is one */
};

/*
 * GPU-seconds of devices that were idle while jobs waited: at most so many, since a run keeps means over
 * steps of time.
 */
double rounds_idle(const struct outcome *outcome);

struct rounds_best {
	uint32_t best;
	double gain; /* the part of the own length's mean completion time that it saves; 0 if it is the own */
	/*
	 * The chance to see this where there is no difference: paired over the seeds, and times the number of
	 * lengths to choose from, since the best of many looks better than it is.  NAN: one seed tells nothing.
	 */
	double p;
	uint32_t from, to; /* around it, all within a hundredth of its mean completion time */
};
struct rounds_best rounds_report_best(const struct rounds_report *report);
/* The same in sentences, on one line. */
void rounds_report_lead(const struct rounds_report *report, struct buf *out);

void rounds_report_text(const struct rounds_report *report, const struct term *term, struct buf *out);
/* Schema "rounds/1". */
void rounds_report_json(const struct rounds_report *report, struct buf *out);
/* The curve as a file of its own. */
void rounds_report_svg(const struct rounds_report *report, struct buf *out);
void rounds_report_html(const struct rounds_report *report, const struct html_info *info,
	struct buf *out);

#endif
