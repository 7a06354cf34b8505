#include "daemon/output_caps.h"

#include "support/property.h"

static const int64_t GiB = INT64_C(1) << 30;

static void caps_by_tenant(void **state)
{
	struct output_caps caps;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(output_caps_parse(NULL, NULL, NULL, &caps, &err), 0);
	assert_int_equal(output_cap_of(&caps, NULL), 10 * GiB);
	assert_int_equal(output_cap_of(&caps, "nlp"), 10 * GiB);
	output_caps_fini(&caps);
	assert_int_equal(output_caps_parse("2G,nlp=50G,guests=none", NULL, NULL, &caps, &err), 0);
	assert_int_equal(output_cap_of(&caps, NULL), 2 * GiB);
	assert_int_equal(output_cap_of(&caps, "vision"), 2 * GiB);
	assert_int_equal(output_cap_of(&caps, "nlp"), 50 * GiB);
	assert_int_equal(output_cap_of(&caps, "guests"), 0);
	output_caps_fini(&caps);
	assert_int_equal(output_caps_parse("nlp=1G", NULL, NULL, &caps, &err), 0);
	assert_int_equal(output_cap_of(&caps, NULL), 10 * GiB);
	output_caps_fini(&caps);
}

static void the_reserve_is_a_share_or_a_size(void **state)
{
	static const struct {
		const char *text;
		double disk_GiB;
		int64_t want;
	} rows[] = {
		{ NULL, 1000, INT64_C(1) << 30 },
		{ NULL, 10, (INT64_C(10) << 30) / 20 },
		{ "10%", 1000, INT64_C(100) << 30 },
		{ "2G", 10, INT64_C(2) << 30 },
		{ "0", 10, 0 },
		{ "none", 10, 0 },
		{ "0%", 10, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct output_caps caps;
		struct err err = { 0 };

		assert_int_equal(output_caps_parse(NULL, rows[i].text, NULL, &caps, &err), 0);
		assert_int_equal(output_reserve_of(&caps, rows[i].disk_GiB * (double)GiB),
			rows[i].want);
		output_caps_fini(&caps);
	}
}

static void the_total_is_a_share_or_a_size_by_tenant(void **state)
{
	static const struct {
		const char *text, *tenant;
		int64_t want_GiB;
	} rows[] = {
		{ NULL, "nlp", 500 },
		{ NULL, NULL, 500 },
		{ "20G", "nlp", 20 },
		{ "none", "nlp", 0 },
		{ "10%", "nlp", 100 },
		{ "nlp=30G", "nlp", 30 },
		{ "nlp=30G", "vision", 500 },
		{ "10%,nlp=100%,guests=none", "nlp", 1000 },
		{ "10%,nlp=100%,guests=none", "guests", 0 },
		{ "10%,nlp=100%,guests=none", NULL, 100 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct output_caps caps;
		struct err err = { 0 };

		assert_int_equal(output_caps_parse(NULL, NULL, rows[i].text, &caps, &err), 0);
		assert_int_equal(output_total_of(&caps, rows[i].tenant, 1000 * (double)GiB),
			rows[i].want_GiB * GiB);
		output_caps_fini(&caps);
	}
}

static void nonsense_is_refused(void **state)
{
	static const char *const caps[] = { "much", "-1", "10G,=2G", "nlp=", "nlp=x", "10G,,x" };
	static const char *const reserves[] = { "", "95%", "%", "-1%", "x%", "lots" };
	static const char *const totals[] = { "much", "-1", "0%", "101%", "%", "=2G", "nlp=", "nlp=x%" };
	struct output_caps out;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		assert_int_equal(output_caps_parse(NULL, NULL, totals[i], &out, &err), ERR_USAGE);
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		assert_int_equal(output_caps_parse(caps[i], NULL, NULL, &out, &err), ERR_USAGE);
	for (size_t i = 0; i < sizeof(reserves) / sizeof(reserves[0]); i++)
		assert_int_equal(output_caps_parse(NULL, reserves[i], NULL, &out, &err), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caps_by_tenant),
		cmocka_unit_test(the_reserve_is_a_share_or_a_size),
		cmocka_unit_test(the_total_is_a_share_or_a_size_by_tenant),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests_name("daemon/output_caps", tests, NULL, NULL);
}
