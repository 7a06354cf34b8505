/*
 * Any bytes as the track record of forecasts: read or refused with a text; what was
 * read gives a sound correction, and is the same when it was written and read again.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "daemon/outcomes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct calibration *c)
{
	struct correction correction = calibration_correction(c);
	struct moments raw = { 10, 100, 1000 }, said = correction_apply(&correction, &raw);
	struct track track = calibration_track(c);

	assert(c->n <= CALIBRATION_MAX && c->next < CALIBRATION_MAX && track.n == c->n);
	assert(correction.wider >= 0.5 && correction.wider <= 5);
	assert(said.p10 <= said.p50 && said.p50 <= said.p90 && isfinite(said.p90));
	assert(c->n ? track.coverage >= 0 && track.coverage <= 1 : isnan(track.coverage));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct outcomes out = { 0 }, again = { 0 };
	struct buf text = { 0 };
	struct err err = { 0 };
	int rc = outcomes_read_text("fuzz", (const char *)bytes, n, &out, &err);

	if (rc) {
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
		return 0;
	}
	check(&out.start);
	check(&out.finish);
	outcomes_write(&out.start, &out.finish, &text);
	rc = outcomes_read_text("again", text.at, text.n, &again, &err);
	assert(rc == 0 && again.start.n == out.start.n && again.finish.n == out.finish.n);
	buf_fini(&text);
	outcomes_fini(&out);
	outcomes_fini(&again);
	return 0;
}
