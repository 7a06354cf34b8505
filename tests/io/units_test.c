#include "io/units.h"

#include "base/property.h"

static const struct {
	const char *text;
	double speed; /* -1: is none */
} speeds[] = {
	{ "0", 0 },
	{ "1.5e9", 1.5e9 },
	{ "25GB/s", 25e9 },
	{ " 25 GBps ", 25e9 },
	{ "100Gb/s", 12.5e9 },
	{ "100Gbps", 12.5e9 },
	{ "8 Kibit/s", 1024 },
	{ "1KiB/s", 1024 },
	{ "1kB/s", 1000 },
	{ "1KB/s", 1000 },
	{ "-1GB/s", -1 },
	{ "25GB", -1 },
	{ "25 parsecs", -1 },
	{ "fast", -1 },
	{ "", -1 },
	{ "1e308TB/s", -1 },
};

static void speeds_are_bytes_per_second(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(speeds); i++) {
		double x = -1;
		bool good = unit_speed(slice_of(speeds[i].text), &x);

		print_message("\"%s\"\n", speeds[i].text);
		assert_int_equal(good, speeds[i].speed >= 0);
		if (good)
			assert_true(x == speeds[i].speed);
	}
}

static void flops_are_operations_per_second(void **state)
{
	double x = 0;

	(void)state;
	assert_true(unit_flops(slice_of("125 TFLOPS"), &x) && x == 125e12);
	assert_true(unit_flops(slice_of("1.5Pflop/s"), &x) && x == 1.5e15);
	assert_true(unit_flops(slice_of("7T"), &x) && x == 7e12);
	assert_false(unit_flops(slice_of("7TB/s"), &x));
	assert_false(unit_flops(slice_of("-7T"), &x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speeds_are_bytes_per_second),
		cmocka_unit_test(flops_are_operations_per_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
