#include "sim/loan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/property.h"

static char path[64];

static void write_file(const char *text)
{
	int fd;

	strcpy(path, "/tmp/stint-loan-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static const struct {
	const char *what, *cluster, *text, *options;
	const char *says; /* of an error; NULL: it is good */
	const char *pool; /* by node, + of the pool */
	uint32_t steps, last;
} rows[] = {
	{ "the last nodes, as many as are ever lent", "4x2", "time_s,servers\n0,1\n5,2\n", "", NULL,
		"--++", 2, 2 },
	{ "steps that change nothing are left out", "4x2", "time_s,servers\n0,1\n5,1\n9,0\n", "",
		NULL, "---+", 2, 0 },
	{ "nodes of a type", "2x2:v100,2x1:t4,1x2:v100", "time_s,servers\n0,2\n", ":type=T4", NULL,
		"--++-", 1, 2 },
	{ "so many nodes", "4x2", "time_s,servers\n0,1\n", ":nodes=3", NULL, "-+++", 1, 1 },
	{ "demand with headroom", "10x1", "time_s,demand\n0,0.5\n", ":nodes=10", NULL, "++++++++++",
		1, 4 },
	{ "demand without", "10x1", "time_s,demand\n0,0.5\n", ":nodes=10,headroom=0", NULL,
		"++++++++++", 1, 5 },
	{ "all are needed", "4x1", "time_s,demand\n0,1\n", ":nodes=2", NULL, "--++", 1, 0 },
	{ "an unknown type", "2x2:v100", "time_s,servers\n0,1\n", ":type=t4",
		"no node of the cluster is of type 't4'; its types are v100", NULL, 0, 0 },
	{ "more than the type has", "2x2:v100,1x1:t4", "time_s,servers\n0,1\n9,2\n", ":type=t4",
		":3: 2 servers are lent, but there are only 1", NULL, 0, 0 },
	{ "more than there are", "2x2", "time_s,servers\n0,3\n", "", ":2: 3 servers are lent", NULL,
		0, 0 },
	{ "more nodes than there are", "2x2", "time_s,servers\n0,1\n", ":nodes=3",
		"nodes=3, but the cluster has 2", NULL, 0, 0 },
	{ "both", "2x2:v100", "time_s,servers\n0,1\n", ":nodes=1,type=v100", "give one", NULL, 0, 0 },
	{ "a demand of what", "2x2", "time_s,demand\n0,1\n", "", "say which these are", NULL, 0, 0 },
	{ "a slip", "2x2", "time_s,servers\n0,1\n", ":nods=1", "nodes", NULL, 0, 0 },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cluster cluster;
		struct loan loan = { 0 };
		struct err err = { 0 };
		char spec[128];
		int rc;

		write_file(rows[i].text);
		snprintf(spec, sizeof(spec), "%s%s", path, rows[i].options);
		assert_int_equal(cluster_parse(rows[i].cluster, &cluster, &err), 0);
		rc = loan_create(spec, &cluster, &loan, &err);
		unlink(path);
		if (rows[i].says && (rc == 0 || !strstr(err.text, rows[i].says)))
			fail_msg("%s: '%s'", rows[i].what, err.text);
		if (!rows[i].says && rc != 0)
			fail_msg("%s: %s", rows[i].what, err.text);
		for (uint32_t n = 0; rc == 0 && n < cluster.nnodes; n++)
			assert_int_equal(loan.pool[n], rows[i].pool[n] == '+');
		if (rc == 0) {
			assert_int_equal(loan.steps.n, rows[i].steps);
			assert_int_equal(loan.steps.at[loan.steps.n - 1].servers, rows[i].last);
		}
		loan_fini(&loan);
		cluster_fini(&cluster);
	}
}

static void test_path(void **state)
{
	static const char *const specs[][2] = {
		{ "a.csv", "a.csv" },
		{ "a.csv:type=t4", "a.csv" },
		{ "x:y/a.csv", "x:y/a.csv" },
		{ "d=1:2/a.csv", "d=1:2/a.csv" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(specs); i++) {
		char *name = loan_path(specs[i][0]);

		assert_string_equal(name, specs[i][1]);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
