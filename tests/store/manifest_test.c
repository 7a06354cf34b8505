#include "store/run_dir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static char folder[] = "/tmp/manifest_test.XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char *path = path_join(folder, RUN_MANIFEST);

	(void)state;
	unlink(path);
	free(path);
	return rmdir(folder);
}

static void put(const char *text)
{
	char *path = path_join(folder, RUN_MANIFEST);

	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
	free(path);
}

static void what_is_written_reads_back(void **state)
{
	struct manifest m = {
		.version = mem_strdup("0.1"),
		.trace = mem_strdup("a \"trace\".csv"),
		.directory = mem_strdup("/home/ana/experiments"),
		.throughputs = mem_strdup("speeds.json"),
		.throughputs_hash = 23,
		.tenants = mem_strdup("labs.yaml"),
		.tenants_hash = 29,
		.trace_format = mem_strdup("stint"),
		.trace_hash = UINT64_C(0xfedcba9876543210),
		.cluster_spec = mem_strdup("16x8:v100"),
		.cluster_yaml = mem_strdup("nodes:\n  - 16\n"),
		.policy = mem_strdup("tiresias:queues=2"),
		.seed = UINT64_MAX, /* larger than a double or a signed number can hold */
		.error = 0.1,
		.oracle = true,
		.estimate = mem_strdup("known=0.3,method=als"),
		.start_cost_s = NAN,
		.resume_cost_s = 30.5,
		.resize_cost_s = 0,
		.until_s = 1e9,
		.event_hash = 17,
		.events = 3000000,
	};
	struct manifest back;
	struct buf text = { 0 };
	struct err err = { 0 };

	(void)state;
	manifest_format(&m, &text);
	put(text.at);
	if (manifest_read(folder, &back, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(back.trace, m.trace);
	assert_string_equal(back.cluster_yaml, m.cluster_yaml);
	assert_string_equal(back.policy, m.policy);
	assert_null(back.placer);
	assert_string_equal(back.directory, m.directory);
	assert_true(back.throughputs_hash == 23 && back.failures_hash == 0);
	assert_string_equal(back.tenants, m.tenants);
	assert_true(back.tenants_hash == 29);
	assert_non_null(strstr(text.at, "\"failures_hash\": null"));
	assert_int_equal(text.at[text.n - 1], '\n');
	assert_true(back.trace_hash == m.trace_hash && back.seed == m.seed);
	assert_true(back.event_hash == 17 && back.events == 3000000);
	assert_true(back.error == 0.1 && back.oracle && back.until_s == 1e9);
	assert_string_equal(back.estimate, "known=0.3,method=als");
	assert_true(isnan(back.start_cost_s) && back.resume_cost_s == 30.5 && back.resize_cost_s == 0);
	manifest_fini(&m);
	manifest_fini(&back);
	buf_fini(&text);
}

static void what_is_missing_or_garbled_is_named(void **state)
{
	static const struct {
		const char *what, *text;
		int rc;
		const char *says;
	} rows[] = {
		{ "no JSON", "hello", ERR_FORMAT, "line 1" },
		{ "cut off", "{\"schema\": \"manifest/1\", \"version\": \"0", ERR_FORMAT, "line 1" },
		{ "another file", "{\"a\": 1}", ERR_FORMAT, "no \"schema\"" },
		{ "a list", "[1, 2]", ERR_FORMAT, "no \"schema\"" },
		{ "of the future", "{\"schema\": \"manifest/9\"}", ERR_FORMAT, "reads \"manifest/1\"" },
		{ "without a trace", "{\"schema\": \"manifest/1\", \"version\": \"1\"}", ERR_FORMAT,
			"\"trace\" is missing" },
		{ "with a number for a text", "{\"schema\": \"manifest/1\", \"version\": 1}",
			ERR_FORMAT, "\"version\" has a value of the wrong kind" },
		{ "with a bad hash",
			"{\"schema\": \"manifest/1\", \"version\": \"1\", \"trace\": \"t\", \"trace_hash\": \"xyz\"}",
			ERR_FORMAT, "\"trace_hash\" has a value of the wrong kind" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct manifest m;
		struct err err = { 0 };

		put(rows[i].text);
		assert_int_equal(manifest_read(folder, &m, &err), rows[i].rc);
		if (!strstr(err.text, rows[i].says) || !strstr(err.text, RUN_MANIFEST))
			fail_msg("%s: %s", rows[i].what, err.text);
	}
}

static void a_place_without_a_run_is_named(void **state)
{
	struct manifest m;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(manifest_read("/nowhere/at/all", &m, &err), ERR_MISSING);
	assert_non_null(strstr(err.text, "/nowhere/at/all"));
	assert_int_equal(manifest_read("/tmp", &m, &err), ERR_MISSING);
	assert_non_null(strstr(err.text, "not a run"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(what_is_missing_or_garbled_is_named),
		cmocka_unit_test(a_place_without_a_run_is_named),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
