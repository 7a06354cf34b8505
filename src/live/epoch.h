/*
 * What is fixed for an epoch, as the record keeps it: rules, seed, machine,
 * tenants.  Its body is complete, so that a record needs no other file to be
 * replayed.
 */
#ifndef LIVE_EPOCH_H
#define LIVE_EPOCH_H

#include <jansson.h>

#include "base/err.h"
#include "base/text.h"
#include "engine/rules.h"
#include "live/health.h"
#include "model/cluster.h"
#include "model/tenant.h"

struct epoch {
	const char *why; /* "start", "restart", "policy", "tenants", "compact"; not kept by epoch_from_json() */
	struct rule_specs rules; /* with epoch_from_json(): owned */
	uint64_t seed;
	double born_s;          /* the record's zero, in seconds since 1970 */
	struct cluster cluster; /* owned by whoever filled it */
	struct tenants tenants; /* not bound; may be empty */
	char *hosts; /* text of what CPUs and memory do to models, owned by whoever filled it; NULL: none */
	struct care care;
	struct health health; /* of devices as the epoch begins */
	/* Identities of devices, by node: [["GPU-…",…],…]; for whoever makes the next epoch.  NULL: not known. */
	json_t *devices;
};

/*
 * {"why","policy","placer","admit","seed","born_s","cluster":YAML,"tenants":[{"name","parent","weight","within",
 * "guaranteed","borrow","lend","cells"}],"hosts":TEXT,
 * "avoid_after","drain_after","drain_users","health":[…],"devices":[…]}
 */
void epoch_to_json(const struct epoch *epoch, struct buf *out);
int epoch_from_json(const json_t *json, struct epoch *out, struct err *err);
void epoch_fini(struct epoch *epoch); /* of one that was read */

/*
 * What is left of the dependencies in a job's status at the beginning of an epoch: those on jobs that
 * ended as wanted are dropped, those that can never be met get the number 0.  `state_of` answers the
 * state of a job that has ended, NULL if it is alive.  Changes `status`.
 */
void epoch_settle_after(json_t *status, const char *(*state_of)(void *ctx, uint32_t job), void *ctx);

#endif
