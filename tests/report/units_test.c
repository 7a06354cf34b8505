#include "report/units.h"

#include "report/fixture.h"

static void numbers_read_well(void **state)
{
	static const struct {
		const char *what;
		enum unit unit;
		double x;
		const char *want;
	} rows[] = {
		{ "nothing", UNIT_SECONDS, 0, "0.00 s" },
		{ "a short time", UNIT_SECONDS, 0.0125, "12.5 ms" },
		{ "seconds", UNIT_SECONDS, 119, "119.0 s" },
		{ "minutes", UNIT_SECONDS, 150, "2.50 min" },
		{ "hours", UNIT_SECONDS, 36000, "10.0 h" },
		{ "days", UNIT_SECONDS, 30 * 86400.0, "30.0 d" },
		{ "a century", UNIT_SECONDS, 36525 * 86400.0, "36,525 d" },
		{ "GPU-time", UNIT_GPU_SECONDS, 3600 * 12345.0, "12,345 GPU-h" },
		{ "a share", UNIT_SHARE, 0.8215, "82.2 %" },
		{ "a ratio", UNIT_RATIO, 1.5, "1.50" },
		{ "a ratio below one", UNIT_RATIO, 0.98765, "0.988" },
		{ "a count", UNIT_COUNT, 1234567, "1,234,567" },
		{ "a mean of counts", UNIT_COUNT, 12.5, "12.5" },
		{ "bytes", UNIT_BYTES, 1536.0 * 1024, "1.50 MiB" },
		{ "below zero", UNIT_COUNT, -1234, "-1,234" },
		{ "unknown", UNIT_SECONDS, NAN, "-" },
		{ "endless", UNIT_SECONDS, INFINITY, "-" },
		{ "larger than any number we print", UNIT_COUNT, 1e300, "-" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out = { 0 };

		unit_text(rows[i].unit, rows[i].x, &out);
		if (strcmp(out.at, rows[i].want))
			fail_msg("%s: got %s, want %s", rows[i].what, out.at, rows[i].want);
		buf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_read_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
