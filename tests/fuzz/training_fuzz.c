/*
 * Any bytes as one of the files of a profile folder, the first byte says which;
 * what was read answers without ever making up a time below zero.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "io/training_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void ask(struct training *training)
{
	static const uint16_t lays[][3] = { { 1 }, { 4 }, { 2, 3 }, { 4, 4, 4 } };

	training_finish(training);
	for (size_t i = 0; training_knows(training, 0, 0) && i < sizeof(lays) / sizeof(*lays); i++) {
		struct lay lay = { lays[i], 3 };
		struct pass pass;

		if (training_pass(training, 0, 0, lay, training_max_local(training, 0, 0, lay), &pass))
			assert(pass.step_s > 0 && pass.sync_s >= 0);
	}
	training_gradient(training, 0, 64, 1);
	assert(training_work(training, 0) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct cluster cluster;
	struct names models = { 0 };
	struct err err = { 0 };
	struct training *training;
	int rc = cluster_parse("2x4:t4,2x4:a100", &cluster, &err);

	assert(!rc);
	names_add(&models, "m", 1);
	training = training_create(&cluster, &models);
	training_add_model(training, 0);
	if (n > 0) {
		struct training_text text = { "fuzz", (const char *)bytes + 1, n - 1 };

		rc = training_read_text(bytes[0] % 4, text, 0, 0, 32, training, &err);
		if (rc)
			assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
		else
			ask(training);
	}
	training_destroy(training);
	names_fini(&models);
	cluster_fini(&cluster);
	return 0;
}
