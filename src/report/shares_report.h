/*
 * Shares of time, job by type, that a policy would choose at a moment: a copy
 * of its answer that outlives the run, and how it is shown.
 */
#ifndef REPORT_SHARES_REPORT_H
#define REPORT_SHARES_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/trace.h"
#include "policy/hetero/program.h"
#include "report/html.h"
#include "report/term.h"

struct share_type {
	const char *name;
	double devices; /* that are up */
	double used;    /* devices that the shares fill, on average */
	double price;   /* what one more would add to the value; NAN: not known */
};

struct share_job {
	const char *label;
	const char *model; /* NULL: none */
	double gpus, weight;
	const double *x; /* by type: the share of time alone on its devices */
	double paired;   /* the share of time beside another job, on all types */
	double sum;      /* of both */
	double level;    /* what the objective compares; NAN: nothing */
	bool tight;      /* it holds the value down */
};

/* Two jobs that share devices for some of the time. */
struct share_pair {
	uint32_t a, b;   /* in `jobs` */
	const double *x; /* by type */
};

/* A zeroed one is valid: nothing is active. */
struct shares_report {
	struct arena memory; /* owns everything below, but for what the caller sets */
	struct share_type *types;
	uint32_t ntypes;
	struct share_job *jobs; /* in order of arrival */
	uint32_t njobs;
	struct share_pair *pairs; /* those with a share */
	uint32_t npairs;
	double value;         /* of the objective; NAN: there is none */
	bool has_tight;       /* else who holds the value down is not known */
	const char *fallback; /* NULL: the objective itself was used */
	uint32_t held;        /* jobs that admission or dependencies hold back */

	/* the caller's to set; borrowed */
	const char *policy, *cluster, *source;
	double at_s;
	bool fullest;        /* nobody named the time: it is when most jobs are active */
	double last_end_s;   /* of jobs before at_s; NAN: none has ended */
	double next_start_s; /* first arrival after at_s; NAN: none */
};

/* Copies what the policy said: labels and names of models come from the trace. */
void shares_report_init(struct shares_report *report, const struct program *program,
	const struct shares *shares, const struct trace *trace);
void shares_report_fini(struct shares_report *report);

/* Jobs in the order to show them when there is room for `top`: those that hold the value down first if not all fit. */
uint32_t *shares_report_order(const struct shares_report *report, uint32_t top, struct arena *memory);
/* "No job is active at …" and when some are. */
void shares_report_nobody(const struct shares_report *report, struct buf *out);
/* One sentence: how many jobs, the value and who holds it down. */
void shares_report_lead(const struct shares_report *report, struct buf *out);

/* `top`: rows of jobs and of pairs at most. */
void shares_report_text(const struct shares_report *report, uint32_t top, const struct term *term,
	struct buf *out);
/* Everything, schema "shares/1". */
void shares_report_json(const struct shares_report *report, struct buf *out);
/* The heat map as a file of its own. */
void shares_report_svg(const struct shares_report *report, uint32_t top, struct buf *out);
void shares_report_html(const struct shares_report *report, uint32_t top,
	const struct html_info *info, struct buf *out);

#endif
