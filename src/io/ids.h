/*
 * The ids of a trace's jobs: is one new, and which job has it.
 *
 * Most traces number their jobs upwards; such ids are new by comparing with
 * the last, and no table is built until one asks for more than that.
 */
#ifndef IO_IDS_H
#define IO_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/text.h"
#include "model/trace.h"

/* A zeroed value is valid and empty. */
struct ids {
	struct names table; /* the number of an id is its job's position */
	int64_t last;       /* greatest numeric id while `tabled` is false */
	bool tabled;
};

void ids_fini(struct ids *ids);
/*
 * Call before the job is added to `trace`, and for every job: false if one there has this id already.
 */
bool ids_add(struct ids *ids, const struct trace *trace, struct slice id);
/* The position of the job with this id, or JOB_NONE. */
uint32_t ids_find(struct ids *ids, const struct trace *trace, struct slice id);

#endif
