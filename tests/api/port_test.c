/*
 * The port of the last run: kept, and nothing that is no port believed.
 */
#include "api/port.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "support/property.h"

static const struct {
	const char *what, *text;
	uint16_t want;
} rows[] = {
	{ "a port", "40123\n", 40123 },
	{ "the first that every user may bind", "1024", 1024 },
	{ "the last", "65535\n", 65535 },
	{ "one that is the system's", "80\n", 0 },
	{ "one too many", "65536\n", 0 },
	{ "a negative number", "-40123\n", 0 },
	{ "words", "http\n", 0 },
	{ "more than a number", "40123 x\n", 0 },
	{ "an empty file", "", 0 },
	{ "a long file", "40123\n#################################################################", 0 },
};

static char *new_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = mem_printf("%s/stint-port-XXXXXX", tmp ? tmp : "/tmp");

	assert_non_null(mkdtemp(dir));
	return dir;
}

static void remove_dir(char *dir)
{
	char *path = path_join(dir, "port");

	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	free(path);
	free(dir);
}

static void what_a_file_says(void **state)
{
	char *dir = new_dir(), *path = path_join(dir, "port");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(file_write(path, rows[i].text, strlen(rows[i].text), NULL), 0);
		if (port_recall(dir) != rows[i].want)
			fail_msg("%s: %u", rows[i].what, port_recall(dir));
	}
	free(path);
	remove_dir(dir);
}

static void a_port_is_remembered(void **state)
{
	char *dir = new_dir();

	(void)state;
	assert_int_equal(port_recall(dir), 0);
	assert_int_equal(port_remember(dir, 50001, NULL), 0);
	assert_int_equal(port_recall(dir), 50001);
	assert_int_equal(port_remember(dir, 50002, NULL), 0);
	assert_int_equal(port_recall(dir), 50002);
	remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_file_says),
		cmocka_unit_test(a_port_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
