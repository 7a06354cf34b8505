/*
 * Schedulers of fine-grained tasks side by side: makespan, completion times,
 * how busy each resource was; and who ran where as a picture.
 */
#ifndef REPORT_TASKS_REPORT_H
#define REPORT_TASKS_REPORT_H

#include "base/text.h"
#include "report/table.h"
#include "report/term.h"
#include "sim/monotasks.h"

struct tasks_row {
	enum mono_scheduler scheduler;
	struct mono_result result; /* owned */
};

struct tasks_report {
	const struct mono_config *config; /* without the scheduler */
	const struct tasks_row *rows;
	size_t n;
};

void tasks_report_text(const struct tasks_report *report, enum table_form form,
	const struct term *term, struct buf *out);
/* Schema "tasks/1". */
void tasks_report_json(const struct tasks_report *report, struct buf *out);

/* A picture of its own: a lane for each resource of each worker, a colour for each job. */
void tasks_svg(const struct mono_config *config, const struct mono_span *spans, size_t n,
	double makespan_s, struct buf *out);

#endif
