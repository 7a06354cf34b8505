/*
 * The columns of Stint's own trace: one table drives reading and writing.
 */
#ifndef IO_IMPORT_STINT_H
#define IO_IMPORT_STINT_H

#include "io/rows.h"

enum kind {
	LABEL,
	NAME,
	TENANT,
	MODEL,
	TYPES,
	GANGS,
	MEASURED_ON,
	CLASS,
	AFTER,
	INT, /* int32_t at `offset` */
	DOUBLE,
	SECONDS, /* double */
	BYTES,   /* int64_t */
	WORK,    /* one of the columns that together say how much work it is */
};

struct field {
	enum kind kind;
	size_t offset;
	double min, max, preset; /* of numbers */
};

enum {
	C_ID,
	C_NAME,
	C_TENANT,
	C_MODEL,
	C_GPUS,
	C_MIN_GPUS,
	C_MAX_GPUS,
	C_TYPES,
	C_GPUS_BY_TYPE,
	C_ARRIVAL,
	C_DURATION,
	C_STEPS,
	C_RATE,
	C_EST_S,
	C_EST_STEPS,
	C_WEIGHT,
	C_PRIORITY,
	C_CLASS,
	C_DEADLINE,
	C_CPUS,
	C_MEM,
	C_SHARE,
	C_GPU_MEM,
	C_UTIL,
	C_MOVES,
	C_CALLS,
	C_STAYS,
	C_BATCH,
	C_EPOCHS,
	C_AFTER,
	C_START_COST,
	C_RESUME_COST,
	C_RESIZE_COST,
	C_CHECKPOINT,
	C_MEASURED_ON,
	NCOLUMNS
};

enum { NCLASSES = JOB_OPPORTUNISTIC + 1 };

extern const struct column stint_columns[]; /* ends with a NULL name */
extern const struct field stint_fields[NCOLUMNS];
extern const char *const stint_classes[NCLASSES]; /* by enum job_class */

#endif
