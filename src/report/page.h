/*
 * What every page carries inside itself.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

extern const char page_style[]; /* CSS */
extern const char page_gantt[]; /* JavaScript: the zoomable chart of report/gantt.c */

#endif
