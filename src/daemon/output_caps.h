/*
 * How much of jobs' output Stint keeps on the disk of the record: a cap for each job, by its tenant, and what stays
 * free of the disk.
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

struct output_caps {
	int64_t cap;          /* bytes of a job; 0: no limit */
	int64_t reserve;      /* bytes of the disk; < 0: the share below */
	double reserve_share; /* of the disk */
	int64_t reserve_most; /* bytes that the share comes to at most; 0: any */
	VEC(struct tenant_cap) tenants;
};

/*
 * `cap` is "10G", "none", or a list "10G,nlp=50G,guests=1G" with tenants of their own; `reserve` is "2G" or "5%".
 * NULL: 10 GiB; 5 % of the disk and 1 GiB at most.
 */
int output_caps_parse(const char *cap, const char *reserve, struct output_caps *out, struct err *err);
void output_caps_fini(struct output_caps *caps);

/* Of a job of the tenant (NULL: of none). */
int64_t output_cap_of(const struct output_caps *caps, const char *tenant);
/* What stays free on a disk of this size. */
int64_t output_reserve_of(const struct output_caps *caps, double disk_bytes);

#endif
