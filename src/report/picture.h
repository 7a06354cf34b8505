/*
 * The course of a run, thinned out to what a picture can show.
 */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include "engine/outcome.h"
#include "model/trace.h"
#include "report/compare.h"

/* Copies what it keeps; at most `max_spans` bars, the largest by devices x time.  Release with picture_fini(). */
void picture_of(const struct trace *trace, const struct outcome *outcome, uint32_t max_spans,
	struct picture *out);
void picture_fini(struct picture *picture);

#endif
