/*
 * How much output of its jobs each tenant keeps on the disk of the record, and the bound on it.
 *
 * What changes is counted: attempts that run are looked at now and then, the more often the less room their
 * tenant has, and once more when they are over; pruned jobs are taken off.  The sums are kept in the record across
 * restarts.  After a daemon that did not stop in order, and after a restore, a thread counts all directories once.
 *
 * While a tenant is beyond its bound (--output-total) the guards of its jobs keep their files from growing.
 */
#ifndef DAEMON_KEPT_USE_H
#define DAEMON_KEPT_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/names.h"
#include "base/vec.h"

struct daemon;
struct kept_use;

/* Of the record; {"clean":true,"generation":3,"of":{"nlp":1048576},"running":{}}: `of` has what runs, too. */
#define KEPT_META "kept_output"

/* Bytes by tenant.  A zeroed one is valid and empty. */
struct kept_sum {
	struct names tenants;
	VEC(int64_t) bytes;
};

void kept_sum_add(struct kept_sum *sum, const char *tenant, int64_t bytes);
void kept_sum_fini(struct kept_sum *sum);

/* Once the core has its jobs. */
int kept_use_open(struct daemon *d, struct err *err);
/* Writes the sums down; while core, hands and record are open. */
void kept_use_close(struct daemon *d);

/* The attempt was launched. */
void kept_use_watch(struct daemon *d, uint32_t job, uint32_t attempt);
/* Directories with that much output of jobs that were pruned are gone. */
void kept_use_drop(struct daemon *d, const struct kept_sum *gone);
/* All directories are being counted: none should be removed meanwhile. */
bool kept_use_is_counting(const struct daemon *d);

/* In each cycle, after launches; and when it is due next, by the wall clock of clock_wall_s(). */
void kept_use_turn(struct daemon *d);
double kept_use_next_s(const struct daemon *d);

/* What the tenant keeps now, and may; `limit` 0: any. */
int64_t kept_use_of(struct daemon *d, const char *tenant, int64_t *limit);
/* One tenant after the other, also those that keep nothing any more; NULL: there are no more. */
const char *kept_use_tenant(const struct daemon *d, uint32_t i);
/*
 * What is kept in all: "kept_output_bytes", "kept_output_tenants", "kept_output_counting"; and of each tenant that keeps
 * something, or of `only` one: "kept_output":[{"tenant":…,"bytes":…,"limit":…,"cut":false}].
 */
void kept_use_put(struct daemon *d, const char *only, struct json *j);

#endif
