#include "io/past_cluster.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/trace_io.h"

#define TOP "JobID|Submit|Start|ElapsedRaw|NodeList|AllocTRES\n"

static const struct {
	const char *what, *text, *want; /* short form; "error" */
} rows[] = {
	{ "as many as were in use at once",
		TOP "1|0|0|10|n1|gres/gpu:v100=2\n2|0|5|10|n1|gres/gpu:v100=1\n3|0|20|10|n1|gres/gpu:v100=2\n",
		"1x3:v100" },
	{ "who leaves makes room at that moment",
		TOP "1|0|0|10|n1|gres/gpu=2\n2|0|10|10|n1|gres/gpu=2\n", "1x2:gpu" },
	{ "nodes of a kind are alike", TOP "1|0|0|10|n01|gres/gpu=4\n2|0|0|10|n02|gres/gpu=1\n",
		"2x4:gpu" },
	{ "nodes of other names are not", TOP "1|0|0|10|a1|gres/gpu=4\n2|0|0|10|b1|gres/gpu=1\n",
		"1x4:gpu,1x1:gpu" },
	{ "who names no type has that of the node",
		TOP "1|0|0|10|n1|gres/gpu=4\n2|0|20|10|n1|gres/gpu:k80=1\n", "1x4:k80" },
	{ "a job on several nodes", TOP "1|0|0|10|n[1-2]|gres/gpu:v100=16\n", "2x8:v100" },
	{ "without nodes: of eight at most",
		"JobID|Submit|Start|ElapsedRaw|AllocTRES\n1|0|0|10|gres/gpu:v100=12\n2|0|0|10|gres/gpu:k80=3\n",
		"2x8:v100,1x3:k80" },
	{ "without starts: nothing", "JobID|Submit|ElapsedRaw|AllocTRES\n1|0|10|gres/gpu=1\n", "error" },
};

static void clusters(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cluster cluster = { 0 };
		struct trace trace = { 0 };
		struct err err = { 0 };
		int rc = trace_read_text("t", slice_of(rows[i].text), NULL, &trace, NULL, &err);

		if (!rc)
			rc = past_cluster(&trace, &cluster, &err);
		if (strcmp(rc ? "error" : cluster.spec, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].what, rc ? err.text : cluster.spec);
		cluster_fini(&cluster);
		trace_fini(&trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(clusters) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
