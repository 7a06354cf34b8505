/*
 * Who held which device when: a still picture for each policy, and the same as
 * a chart to zoom into where scripts run.
 */
#ifndef REPORT_GANTT_H
#define REPORT_GANTT_H

#include "report/compare.h"

/* Whether any run recorded bars. */
bool gantt_shows(const struct comparison *c);
/* The whole section; nothing if there are none. */
void gantt_html(const struct comparison *c, struct buf *out);

#endif
