#include "io/hostlist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void add(void *ctx, const char *name)
{
	struct buf *out = ctx;

	buf_printf(out, "%s%s", out->n ? " " : "", name);
}

static const struct {
	const char *what, *list, *want;
	size_t n;
} rows[] = {
	{ "one host", "gpu1", "gpu1", 1 },
	{ "several", "a,b", "a b", 2 },
	{ "a range keeps its zeros", "gpu[08-10]", "gpu08 gpu09 gpu10", 3 },
	{ "ranges and single ones", "n[1-2,7],login", "n1 n2 n7 login", 4 },
	{ "a tail", "r[1-2]-ib", "r1-ib r2-ib", 2 },
	{ "two brackets", "r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2", 4 },
	{ "what is no list ends it", "a,b[1-,c", "a", 1 },
	{ "backwards", "a[3-1]", "", 0 },
	{ "nothing", "", "", 0 },
};

static void lists(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf got = { 0 };
		size_t n = hostlist_each(slice_of(rows[i].list), add, &got);

		if (n != rows[i].n || strcmp(got.n ? got.at : "", rows[i].want) != 0)
			fail_msg("%s: %zu: %s", rows[i].what, n, got.n ? got.at : "");
		buf_fini(&got);
	}
}

static void a_list_has_an_end(void **state)
{
	(void)state;
	assert_int_equal(hostlist_each(slice_of("n[1-999999999]"), NULL, NULL), HOSTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(a_list_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
