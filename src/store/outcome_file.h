/*
 * An outcome as bytes, for a process of the same build that has the same trace.
 *
 * It is the memory as it is: nothing to keep, and nothing for another version.
 */
#ifndef STORE_OUTCOME_FILE_H
#define STORE_OUTCOME_FILE_H

#include "base/err.h"
#include "base/text.h"
#include "engine/outcome.h"
#include "model/trace.h"

/* Adds it to `out`. */
void outcome_pack(const struct outcome *outcome, struct buf *out);
/*
 * ERR_FORMAT if it is cut short, of another build, or not of this trace.  On success release `out` with
 * outcome_fini(); its labels and names belong to the trace, names of figures to `names`.
 */
int outcome_unpack(struct slice bytes, const struct trace *trace, struct names *names,
	struct outcome *out, struct err *err);

#endif
