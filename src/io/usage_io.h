/*
 * What runs used, by category, from a CSV table: category, time_s, and any of
 * cpus, mem and disk (peaks; sizes as 2G or bytes); `exhausted` marks runs that
 * were stopped at a limit, whose peaks say nothing and are left out.
 */
#ifndef IO_USAGE_IO_H
#define IO_USAGE_IO_H

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"
#include "base/vec.h"

enum usage_resource { USAGE_CPUS, USAGE_MEM, USAGE_DISK, USAGE_RESOURCES };
extern const char *const usage_resource_names[USAGE_RESOURCES + 1];

struct usage_row {
	uint32_t category;
	double time_s;
	double peak[USAGE_RESOURCES]; /* NAN: not said */
};

/* A zeroed table is valid and empty. */
struct usage {
	struct names categories;
	VEC(struct usage_row) rows; /* in the order of the file */
	uint32_t exhausted;         /* rows left out */
};

/* Errors name file, line and what to do. */
int usage_read(const char *path, struct usage *out, struct err *err);
int usage_read_csv(const char *where, const char *text, size_t n, struct usage *out, struct err *err);
void usage_fini(struct usage *usage);

/* "cpus=16,mem=64G,disk=1T": those not named are NAN.  ERR_USAGE with `what` in front. */
int usage_amounts(const char *what, const char *text, double out[USAGE_RESOURCES], struct err *err);

#endif
