/*
 * Several ways in which schedulers share a cluster, side by side: latency,
 * conflicts, quality, and what refreshing costs.
 */
#ifndef REPORT_SCHEDULERS_REPORT_H
#define REPORT_SCHEDULERS_REPORT_H

#include "base/text.h"
#include "report/html.h"
#include "report/table.h"
#include "report/term.h"
#include "sim/schedulers.h"

/* A mode with the figures of its run. */
struct schedulers_row {
	enum schedulers_mode mode;
	double mean_s, p50_s, p90_s, p99_s, max_s; /* latency; NAN without any */
	double conflicts;                          /* share of requests; NAN without any */
	double retries;                            /* requests for a task beyond the first, mean */
	double refreshes, rows;                    /* partitions and machines sent, in a second */
	struct schedulers_result result;           /* owned */
};

/* Takes `result` over; release it with schedulers_row_fini(). */
void schedulers_row_init(struct schedulers_row *row, const struct schedulers_config *config,
	struct schedulers_result *result);
void schedulers_row_fini(struct schedulers_row *row);
/* Queues that grow: latency then says how long was simulated, not how long tasks wait. */
bool schedulers_row_lags(const struct schedulers_row *row);

/* All borrowed. */
struct schedulers_report {
	const struct schedulers_config *config; /* without the mode */
	const struct schedulers_row *rows;
	size_t n;
};

/* Slots that tasks would take if none waited, of all. */
double schedulers_load(const struct schedulers_config *config);
/* What was simulated, on one line. */
void schedulers_report_lead(const struct schedulers_report *report, struct buf *out);

void schedulers_report_text(const struct schedulers_report *report, enum table_form form,
	const struct term *term, struct buf *out);
/* Schema "schedulers/1". */
void schedulers_report_json(const struct schedulers_report *report, struct buf *out);
void schedulers_report_html(const struct schedulers_report *report, const struct html_info *info,
	struct buf *out);

#endif
