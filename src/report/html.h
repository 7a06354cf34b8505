/*
 * One self-contained HTML file: no external assets, readable offline, in
 * print, by keyboard, without colour and without JavaScript.
 *
 * The same input gives the same bytes.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdbool.h>

#include "base/text.h"
#include "report/compare.h"

/* What was run, in words.  Every text may be NULL. */
struct html_info {
	const char *title;   /* "Five policies on philly.csv" */
	const char *command; /* reproduces it */
	const char *version;
	const char *trace;        /* "philly.csv (philly, 82,248 jobs)" */
	const char *cluster;      /* "16x8:v100" */
	const char *settings;     /* placer, error, costs, … as one line */
	const char *const *notes; /* what the reader of the trace assumed or dropped */
	size_t nnotes;
	bool timings; /* decision and CPU times, which differ from run to run */
};

/* A comparison that is finished; with one policy and one seed, the report of a single run. */
void html_compare(const struct comparison *c, const struct html_info *info, struct buf *out);

/* Text as text or attribute value: & < > " ' escaped, control characters and bytes that are not UTF-8 replaced. */
void html_text(struct buf *out, const char *text);

#endif
