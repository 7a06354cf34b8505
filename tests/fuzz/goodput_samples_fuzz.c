/*
 * Any bytes as a table of measured steps: what is read can be fitted, and the
 * fit is finite.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "io/goodput_samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void fit(const struct goodput_samples *samples)
{
	struct goodput_sample few[16];
	uint32_t n = 0;
	struct goodput_fit out;

	for (size_t i = 0; i < samples->n; i++) {
		assert(samples->at[i].model < samples->models.n);
		assert(samples->at[i].type < samples->types.n);
		if (n < 16)
			few[n++] = samples->at[i].sample;
	}
	/* Times so near to each other that computing rounds to nothing are refused. */
	if (goodput_fit(few, n, NULL, &out, NULL) == 0)
		assert(isfinite(out.objective) && out.params.gamma >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct goodput_samples samples = { 0 };
	struct err err = { 0 };
	int rc = goodput_samples_read_text("bert/placements-t4.csv", (const char *)bytes, n,
		&samples, &err);

	if (rc)
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
	else
		fit(&samples);
	goodput_samples_fini(&samples);
	return 0;
}
