/*
 * Pieces that the pages are made of.
 */
#ifndef REPORT_HTML_PARTS_H
#define REPORT_HTML_PARTS_H

#include "base/text.h"
#include "report/html.h"
#include "report/metric.h"
#include "report/units.h"

/* Everything up to the content: head with style, title, what was run.  `lead` says in a sentence what came out. */
void html_begin(const struct html_info *info, const char *lead, struct buf *out);
/* What the reader of the input assumed, the command that reproduces it, and the end; `script` may be NULL. */
void html_end(const struct html_info *info, const char *script, struct buf *out);

/* Text as the content of <script type="application/json">: "</script" cannot end it. */
void html_script_data(struct buf *out, const char *json);

void html_section(const char *id, const char *title, const char *note, struct buf *out);
void html_section_end(struct buf *out);

/* A figure with its title and a line below it; `wide` takes the whole width and scrolls on small screens. */
void html_figure(const char *title, const char *note, bool wide, struct buf *out);
void html_figure_end(bool wide, struct buf *out);

/* A link that saves `csv` as `name`, without a server. */
void html_download(const char *name, const struct buf *csv, struct buf *out);

/* A label; a long one may break after its punctuation. */
void html_label(const char *label, struct buf *out);
/* The same as the heading of a row. */
void html_row(const char *label, struct buf *out);
/* A number with unit as a table cell. */
void html_cell(enum unit unit, double x, struct buf *out);

#endif
