/*
 * Any bytes as a table of what runs used: read or refused with a text; what was
 * read has times and amounts that labels can be made of.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "io/usage_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct usage usage = { 0 };
	struct err err = { 0 };
	int rc = usage_read_csv("fuzz", (const char *)bytes, n, &usage, &err);

	if (rc) {
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
		return 0;
	}
	assert(usage.rows.n > 0);
	for (size_t i = 0; i < usage.rows.n; i++) {
		assert(usage.rows.at[i].category < usage.categories.n && usage.rows.at[i].time_s > 0);
		for (int r = 0; r < USAGE_RESOURCES; r++)
			assert(isnan(usage.rows.at[i].peak[r]) || usage.rows.at[i].peak[r] >= 0);
	}
	usage_fini(&usage);
	return 0;
}
