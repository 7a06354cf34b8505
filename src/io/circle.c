#include "io/circle.h"

enum { SHOWN = 8 }; /* of a long circle */

static void call(const struct trace *trace, uint32_t job, uint32_t line, struct buf *out)
{
	buf_printf(out, "'%.60s'", trace->jobs[job].label ? trace->jobs[job].label : "?");
	if (line)
		buf_printf(out, " (line %u)", line);
}

void circle_text(const struct trace *trace, const uint32_t *jobs, const uint32_t *lines, uint32_t n,
	struct buf *out)
{
	uint32_t shown = n > SHOWN ? SHOWN : n;

	buf_str(out, "job ");
	for (uint32_t i = 0; i < shown; i++) {
		call(trace, jobs[i], lines ? lines[i] : 0, out);
		buf_str(out, i ? ", which waits for " : " waits for ");
	}
	if (shown < n)
		buf_printf(out, "another and so on, %u jobs in all, the last of which waits for ", n);
	call(trace, jobs[0], 0, out);
}
