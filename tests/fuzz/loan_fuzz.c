/*
 * Any bytes as a file of lent servers: read or refused with a text; what was
 * read is in order of time and within its range.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "io/loan_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct loan_series series;
	struct err err = { 0 };
	int rc = loan_read_csv("fuzz", (const char *)bytes, n, &series, &err);

	if (rc) {
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
		return 0;
	}
	assert(series.rows.n > 0);
	for (size_t i = 0; i < series.rows.n; i++) {
		assert(series.rows.at[i].at_s >= 0);
		assert(series.rows.at[i].value >= 0 &&
			(!series.demand || series.rows.at[i].value <= 1));
		assert(i == 0 || series.rows.at[i].at_s > series.rows.at[i - 1].at_s);
	}
	loan_series_fini(&series);
	return 0;
}
