/*
 * The sections of the page of a comparison that have a file each.
 */
#ifndef REPORT_HTML_SECTIONS_H
#define REPORT_HTML_SECTIONS_H

#include "report/compare.h"
#include "report/html_parts.h"

/* Width of a chart among several, of one by itself, and of one over the whole page. */
enum { HTML_SMALL = 340, HTML_WIDE = 720, HTML_FULL = 960 };

void html_completion(const struct comparison *c, struct buf *out); /* distribution of completion times */
void html_over_time(const struct comparison *c, struct buf *out); /* devices held and jobs waiting */
void html_goodput(const struct comparison *c, struct buf *out); /* devices held, useful, and what came of it */
void html_allocation(const struct comparison *c, struct buf *out); /* what single jobs held over time */
void html_models(const struct comparison *c, struct buf *out);     /* figures by model */
void html_waiting(const struct comparison *c, struct buf *out); /* why jobs waited, and how long */
void html_refused(const struct comparison *c, struct buf *out); /* who was not let in, and why */

/* Whether these say anything of the comparison; else they write nothing. */
bool goodput_shows(const struct comparison *c);
bool allocation_shows(const struct comparison *c);
bool models_show(const struct comparison *c);
bool refused_show(const struct comparison *c);

/* The mean of a figure over the seeds, by its key. */
double compare_mean(const struct comparison *c, uint32_t policy, const char *key);

/* ",1.2346": a short number for data that a picture shows anyway. */
void csv_short(struct buf *out, double x);

#endif
