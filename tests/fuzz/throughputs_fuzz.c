/*
 * Any bytes as a file of speeds, JSON or CSV; the answers of what was read are
 * never below zero.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "io/cluster_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void ask(const struct profile *profile, const struct names *models)
{
	for (uint32_t m = 0; m < models->n && m < 20; m++) {
		for (uint32_t gpus = 1; gpus <= 8; gpus *= 2) {
			struct shape shape = { gpus, 1, 1, 0 };
			double speed = profile_rate(profile, m, 0, shape);
			double beside = profile_beside(profile, 0, gpus, m, 0);

			assert(isnan(speed) || speed >= 0);
			assert(beside >= 0);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct cluster cluster;
	struct names models = { 0 };
	struct err err = { 0 };
	struct profile *profile;
	int rc = cluster_parse("2x4:v100,2x4:k80", &cluster, &err);

	assert(!rc);
	profile = profile_create(&cluster, &models);
	rc = profile_read_text("fuzz", (const char *)bytes, n, &cluster, &models, profile, &err);
	if (rc)
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
	else
		ask(profile, &models);
	profile_destroy(profile);
	names_fini(&models);
	cluster_fini(&cluster);
	return 0;
}
