/*
 * How much of jobs' output Stint keeps on the disk of the record: a cap for each job, by its tenant, a cap for all
 * jobs of a tenant together, and what stays free of the disk.
 */
#ifndef DAEMON_OUTPUT_CAPS_H
#define DAEMON_OUTPUT_CAPS_H

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

struct tenant_cap {
	char *tenant;
	int64_t bytes;
};

/* All jobs of a tenant together. */
struct tenant_total {
	char *tenant;  /* NULL: each that is not named */
	int64_t bytes; /* 0: no limit */
	double share;  /* of the disk, in place of bytes; 0: bytes count */
};

struct output_caps {
	int64_t cap;          /* bytes of a job; 0: no limit */
	int64_t reserve;      /* bytes of the disk; < 0: the share below */
	double reserve_share; /* of the disk */
	int64_t reserve_most; /* bytes that the share comes to at most; 0: any */
	VEC(struct tenant_cap) tenants;
	struct tenant_total total;
	VEC(struct tenant_total) totals;
};

/*
 * `cap` is "10G", "none", or a list "10G,nlp=50G,guests=1G" with tenants of their own; `reserve` is "2G" or "5%".
 * `total` is "200G", "50%" of the disk, "none", or a list with tenants as `cap` has.
 * NULL: 10 GiB; 5 % of the disk and 1 GiB at most; half of the disk.
 */
int output_caps_parse(const char *cap, const char *reserve, const char *total,
	struct output_caps *out, struct err *err);
void output_caps_fini(struct output_caps *caps);

/* Of a job of the tenant (NULL: of none). */
int64_t output_cap_of(const struct output_caps *caps, const char *tenant);
/* Of all jobs of the tenant together on a disk of this size; 0: no limit. */
int64_t output_total_of(const struct output_caps *caps, const char *tenant, double disk_bytes);
/* What stays free on a disk of this size. */
int64_t output_reserve_of(const struct output_caps *caps, double disk_bytes);

#endif
