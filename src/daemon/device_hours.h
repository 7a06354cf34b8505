/*
 * Device time by user, tenant, model, type and calendar time: sums of who held how many devices from when to when.
 *
 * A span that crosses midnight or the end of a month is divided there.  Calendar time is the local time of the
 * daemon.
 */
#ifndef DAEMON_DEVICE_HOURS_H
#define DAEMON_DEVICE_HOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/names.h"
#include "base/vec.h"

enum hours_key {
	HOURS_USER,
	HOURS_TENANT,
	HOURS_MODEL,
	HOURS_NAME,
	HOURS_TYPE,
	HOURS_DAY,
	HOURS_MONTH,
	HOURS_KEYS
};

/* "user", "tenant", …; HOURS_KEYS: NULL. */
extern const char *const hours_words[HOURS_KEYS + 1];

struct hours_price {
	const char *type;
	double per_h;
};

struct hours_row {
	const char *words[HOURS_KEYS]; /* by place in hours.by; "" where a job names none */
	uint32_t jobs, last_job;       /* jobs; the last one counted */
	double gpu_s, slot_s; /* devices times seconds; slots are CPU slots that stand for devices */
	double cost;          /* of those whose type has a price */
	double unpriced_s;    /* devices times seconds of the others */
};

/* A zeroed one is valid; hours_set_by() comes first. */
struct hours {
	enum hours_key by[HOURS_KEYS];
	size_t nby;
	VEC(struct hours_price) prices;
	struct names keys; /* one text for each row, of the same number */
	VEC(struct hours_row) rows;
	struct hours_row total;
	struct arena words;
};

/* One job's hold of devices of one type; moments in seconds since 1970. */
struct hours_span {
	uint32_t job, devices;
	const char *user, *tenant, *model, *name, *type; /* NULL: none */
	double from_s, to_s;
	double lasted_s; /* in record time; a clock that was set meanwhile makes to_s - from_s another */
};

/* "user,month"; ERR_USAGE. */
int hours_set_by(struct hours *hours, const char *text, struct err *err);
/* "v100=2.5,a100=4", per device and hour; ERR_USAGE. */
int hours_set_prices(struct hours *hours, const char *text, struct err *err);
void hours_add(struct hours *hours, const struct hours_span *span);
/* In the order of days or months if they are named, then those with most use first. */
void hours_sort(struct hours *hours);
void hours_fini(struct hours *hours);

#endif
