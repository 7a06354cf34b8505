/*
 * The coordinator of a shared device: AntMan's worked examples, and what its law keeps to.
 */
#include "model/coordinator.h"

#include <math.h>

#include "support/property.h"

#define GB 1e9

static void rates_grow_by_steps_and_are_halved(void **state)
{
	static const struct {
		const char *what;
		double r, took_s, alone_s, cap, want;
	} rows[] = {
		{ "antman c: 4 % longer is within 5 %", 0.30, 1.04, 1, 1, 0.35 },
		{ "antman c: 10 % longer is not", 0.30, 1.10, 1, 1, 0.15 },
		{ "exactly the tolerance is within it", 0.30, 1.05, 1, 1, 0.35 },
		{ "less than a step is nothing", 0.08, 2, 1, 1, 0 },
		{ "it stays below its cap", 0.98, 1, 1, 1, 1 },
		{ "device: 104 of 100 ms at 0.4", 0.40, 104, 100, 0.5, 0.45 },
		{ "device: again, up to the cap", 0.45, 104, 100, 0.5, 0.5 },
		{ "device: and no further", 0.50, 104, 100, 0.5, 0.5 },
		{ "device: 106 of 100 ms", 0.40, 106, 100, 0.5, 0.2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct launch_law law = { 0.05, 0.05, rows[i].cap };
		double r = launch_rate_next(&law, rows[i].r, rows[i].took_s, rows[i].alone_s);

		if (fabs(r - rows[i].want) > 1e-12)
			fail_msg("%s: %g, not %g", rows[i].what, r, rows[i].want);
	}
}

static void guests_give_way_before_the_guaranteed_job_grows(void **state)
{
	struct guest_memory guest = { .need_bytes = 6 * GB, .gain = 1 };
	struct device_memory m = { .bytes = 16 * GB, .guests = &guest, .nguests = 1 };

	(void)state;
	memory_demand(&m, 10 * GB);
	memory_settle(&m);
	assert_float_equal(m.limit_bytes, 10 * GB, 1);
	assert_float_equal(guest.limit_bytes, 6 * GB, 1);

	memory_demand(&m, 13 * GB); /* antman d */
	assert_float_equal(guest.limit_bytes, 3 * GB, 1);
	assert_float_equal(guest.need_bytes - guest.limit_bytes, 3 * GB, 1);
	assert_float_equal(m.limit_bytes, 10 * GB, 1); /* until its mini-batch is over */
	assert_float_equal(memory_spilled(&m), 3 * GB, 1);
	memory_settle(&m);
	assert_float_equal(m.limit_bytes, 13 * GB, 1);
	assert_float_equal(memory_spilled(&m), 0, 1);
	assert_float_equal(guest.limit_bytes, 3 * GB, 1);
}

static void scarce_memory_goes_where_a_byte_is_worth_most(void **state)
{
	struct guest_memory guests[] = { { 4 * GB, 0.05, 0 }, { 4 * GB, 0.2, 0 } };
	struct device_memory m = { .bytes = 3 * GB, .guests = guests, .nguests = 2 };

	(void)state;
	memory_settle(&m);
	assert_float_equal(guests[0].limit_bytes, 0, 1);
	assert_float_equal(guests[1].limit_bytes, 3 * GB, 1);
}

static void speed_falls_with_what_crosses_to_the_host(void **state)
{
	(void)state;
	assert_float_equal(memory_speed(1, 8 * GB, 1), 1, 0);
	assert_float_equal(memory_speed(1, 8 * GB, 0), 1, 0);
	/* A tenth of 12 GB takes 100 ms at 12 GB/s: to a step of 100 ms that is its half. */
	assert_float_equal(memory_speed(0.9, 12 * GB, 0.1), 0.5, 1e-12);
	assert_float_equal(memory_speed(0, 8 * GB, 0), 0.25, 1e-12);
	assert_true(memory_gain(8 * GB, 0.1) > memory_gain(8 * GB, 10));
}

/* Limits never exceed the device, and the guaranteed job is never on the host for longer than one mini-batch. */
static void check_memory(struct rng *rng)
{
	struct guest_memory guests[4] = { 0 };
	struct device_memory m = {
		.bytes = (1 + rng_uniform(rng) * 31) * GB,
		.guests = guests,
		.nguests = (uint32_t)rng_below(rng, 5),
	};

	for (int step = 0; step < 50; step++) {
		double sum = 0, before = m.limit_bytes;

		for (uint32_t i = 0; i < m.nguests; i++) {
			guests[i].need_bytes = rng_uniform(rng) * 20 * GB;
			guests[i].gain = rng_uniform(rng);
		}
		memory_demand(&m, rng_uniform(rng) * 40 * GB);
		for (uint32_t i = 0; i < m.nguests; i++)
			sum += guests[i].limit_bytes;
		assert_true(m.limit_bytes == before); /* others first */
		assert_true(sum + m.limit_bytes <= m.bytes + 1);
		assert_true(sum + m.need_bytes <= m.bytes + 1);
		memory_settle(&m);
		assert_true(memory_spilled(&m) == 0);
		sum = m.limit_bytes;
		for (uint32_t i = 0; i < m.nguests; i++)
			sum += guests[i].limit_bytes;
		assert_true(sum <= m.bytes + 1);
	}
}

/* Once r has been within the tolerance, the slowdown is never above it by more than a step of the guests. */
static void check_law(struct rng *rng)
{
	struct launch_law law = { 0.01 + rng_uniform(rng) * 0.2, 0.01 + rng_uniform(rng) * 0.1, 1 };
	double guaranteed = rng_uniform(rng), guests = rng_uniform(rng) * 2, r = 0;
	struct launch_settled settled = launch_settle(&law, guaranteed, guests);

	for (int i = 0; i < 200; i++) {
		double slowdown = guarantee_slowdown(guaranteed, r, guests);

		assert_true(slowdown <= 1 + law.tolerance + law.step * guests + 1e-9);
		r = launch_rate_next(&law, r, slowdown, 1);
		assert_true(r >= 0 && r <= 1);
		guaranteed = fmin(1, fmax(0, guaranteed + (rng_uniform(rng) - 0.5) * 1e-6));
	}
	assert_true(settled.r >= 0 && settled.r <= 1);
	assert_true(settled.worst <= 1 + law.tolerance + law.step * guests + 1e-9);
	assert_true(settled.slowdown <= settled.worst + 1e-12 && settled.slowdown >= 1 - 1e-12);
}

static void the_law_keeps_its_promises(void **state)
{
	struct rng rng = property("limits within the device, slowdown within the tolerance and a step");

	(void)state;
	for (size_t i = 0; i < rounds(2000); i++) {
		check_memory(&rng);
		check_law(&rng);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_grow_by_steps_and_are_halved),
		cmocka_unit_test(guests_give_way_before_the_guaranteed_job_grows),
		cmocka_unit_test(scarce_memory_goes_where_a_byte_is_worth_most),
		cmocka_unit_test(speed_falls_with_what_crosses_to_the_host),
		cmocka_unit_test(the_law_keeps_its_promises),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
