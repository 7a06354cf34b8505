/*
 * Jobs that wait for each other, in words.
 */
#ifndef IO_CIRCLE_H
#define IO_CIRCLE_H

#include "base/text.h"
#include "model/trace.h"

/*
 * "job 'b' (line 3) waits for 'c' (line 4), which waits for 'b'": `jobs` are positions in the trace, each waits
 * for the next; `lines` says where they stand, by place in the circle, 0: not known.  NULL: none is.
 */
void circle_text(const struct trace *trace, const uint32_t *jobs, const uint32_t *lines, uint32_t n,
	struct buf *out);

#endif
