/*
 * Any bytes as profiles of hosts, JSON or CSV; speeds of what was read are never
 * below zero, and more CPUs or memory never make them smaller.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "io/hosting_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void ask(const struct host_table *t)
{
	double last = 0;

	for (double x = 0.25; x <= 64; x *= 2) {
		struct host_share share = { x, x * 4e9 };
		double speed = host_table_speed(t, share);
		struct host_share best = host_table_best(t, share, (struct host_share){ 64, 4e11 }, 0);

		assert(speed >= last * (1 - 1e-9));
		assert(best.cpus >= 0 && best.cpus <= 64);
		last = speed;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct cluster cluster;
	struct names models = { 0 };
	struct err err = { 0 };
	struct profile *profile;
	struct hosting *hosting = hosting_create();
	int rc = cluster_parse("2x4:v100", &cluster, &err);

	assert(!rc);
	profile = profile_create(&cluster, &models);
	rc = hosting_read_text("fuzz", (struct slice){ (const char *)bytes, n }, &cluster, &models,
		hosting, profile, NULL, &err);
	if (rc)
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
	for (uint32_t m = 0; !rc && m < models.n && m < 20; m++) {
		if (hosting_find(hosting, m, 1))
			ask(hosting_find(hosting, m, 1));
	}
	profile_destroy(profile);
	hosting_destroy(hosting);
	names_fini(&models);
	cluster_fini(&cluster);
	return 0;
}
