/*
 * Sizes of past jobs: read from a file, or learnt.
 */
#include "policy/order/sizes.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "support/property.h"

static char *write_sizes(const char *text)
{
	const char *dir = getenv("TMPDIR");
	char *path = mem_printf("%s/stint-sizes-%ld.txt", dir ? dir : "/tmp", (long)getpid());
	struct err err = { 0 };

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	return path;
}

static const struct {
	const char *what, *text;
	size_t want;       /* sizes */
	const char *error; /* NULL: none */
} rows[] = {
	{ "a heading and three sizes", "duration\n2\n4\n12\n", 3, NULL },
	{ "no heading", "12\n4\n", 2, NULL },
	{ "empty lines and spaces", "\n 2 \n\n4", 2, NULL },
	{ "zero is a size", "0\n", 1, NULL },
	{ "words in the middle", "1\ntwo\n", 0, ":2: 'two' is not a size" },
	{ "negative sizes", "1\n-4\n", 0, ":2:" },
	{ "nothing in it", "", 0, "no sizes" },
	{ "a heading alone", "duration\n", 0, "no sizes" },
};

static void reading(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *path = write_sizes(rows[i].text);
		struct sizes sizes = { 0 };
		struct err err = { 0 };
		int rc;

		snprintf(sizes.history, sizeof(sizes.history), "%s", path);
		rc = sizes_init(&sizes, &err);
		if (rows[i].error) {
			if (rc == 0 || !strstr(err.text, rows[i].error))
				fail_msg("%s: '%s'", rows[i].what, err.text);
		} else if (rc < 0 || sizes.known.sizes.n != rows[i].want) {
			fail_msg("%s: %zu sizes, '%s'", rows[i].what, sizes.known.sizes.n, err.text);
		}
		sizes_fini(&sizes);
		unlink(path);
		free(path);
	}
}

static void a_missing_file_is_named(void **state)
{
	struct sizes sizes = { .history = "/nowhere/sizes.txt" };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(sizes_init(&sizes, &err), ERR_MISSING);
	assert_non_null(strstr(err.text, "/nowhere/sizes.txt"));
	sizes_fini(&sizes);
}

static void published_indices_need_a_quantum(void **state)
{
	struct sizes sizes = { .index = INDEX_PUBLISHED };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(sizes_init(&sizes, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "quantum_s"));
	sizes.quantum_s = 3250;
	assert_int_equal(sizes_init(&sizes, &err), 0);
	sizes_fini(&sizes);
}

static void learning(void **state)
{
	struct job jobs[3];
	uint32_t changed[] = { 0, 1, 2 };
	struct round round = { .jobs = jobs, .njobs = 3, .changed = changed, .nchanged = 3 };
	struct sizes sizes = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(sizes_init(&sizes, &err), 0);
	for (uint32_t i = 0; i < 3; i++) {
		job_init(&jobs[i]);
		jobs[i].state = i == 1 ? JOB_RUNNING : JOB_FINISHED;
		jobs[i].served_s = 10 * (3 - i);
	}
	assert_true(sizes_index(&sizes, 0) == 0); /* nothing known: all alike */
	sizes_learn(&sizes, &round);
	assert_int_equal(sizes.known.sizes.n, 2); /* only those that finished */
	assert_true(sizes.known.sizes.at[0] == 10 && sizes.known.sizes.at[1] == 30);
	sizes_fini(&sizes);
}

static void a_file_is_not_added_to(void **state)
{
	char *path = write_sizes("5\n");
	struct job job;
	uint32_t changed[] = { 0 };
	struct round round = { .jobs = &job, .njobs = 1, .changed = changed, .nchanged = 1 };
	struct sizes sizes = { 0 };
	struct err err = { 0 };

	(void)state;
	job_init(&job);
	job.state = JOB_FINISHED;
	job.served_s = 7;
	snprintf(sizes.history, sizeof(sizes.history), "%s", path);
	assert_int_equal(sizes_init(&sizes, &err), 0);
	sizes_learn(&sizes, &round);
	assert_int_equal(sizes.known.sizes.n, 1);
	sizes_fini(&sizes);
	unlink(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(published_indices_need_a_quantum),
		cmocka_unit_test(learning),
		cmocka_unit_test(a_file_is_not_added_to),
	};

	return cmocka_run_group_tests_name("policy/order/sizes", tests, NULL, NULL);
}
