/* Bounds of YAML texts: what would take the parser minutes is refused at once, by every reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"
#include "io/cluster_io.h"
#include "io/hived_io.h"
#include "io/tenants_io.h"
#include "io/yaml.h"

static void repeat(struct buf *out, const char *piece, int n)
{
	buf_clear(out);
	for (int i = 0; i < n; i++)
		buf_str(out, piece);
}

static void expect(const struct buf *text, const char *says)
{
	struct err err = { 0 };

	assert_int_equal(yaml_bound("x.yaml", text->at, text->n, &err), ERR_FORMAT);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void deep_text_is_refused(void **state)
{
	static const char *const rows[] = { "[", "{", "- ", "? ", "[{a: " };
	struct buf text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		repeat(&text, rows[i], 100000);
		expect(&text, "x.yaml:1: nested more than 64 levels deep");
	}
	buf_clear(&text);
	for (int depth = 0; depth < 100; depth++)
		buf_printf(&text, "%*sa:\n", depth, "");
	expect(&text, "x.yaml:65: nested more than 64 levels deep");
	buf_fini(&text);
}

static void many_anchors_and_directives_are_refused(void **state)
{
	struct buf text = { 0 };

	(void)state;
	for (int i = 0; i < 1001; i++)
		buf_printf(&text, "- &a%d x\n", i);
	expect(&text, "more than 1000 anchors");
	buf_clear(&text);
	for (int i = 0; i < 17; i++)
		buf_printf(&text, "%%TAG !a%d! x:\n", i);
	expect(&text, "more than 16 directives");
	buf_fini(&text);
}

static void large_text_is_refused(void **state)
{
	struct buf text = { .at = mem_strdup("a: 1"), .n = YAML_BYTES_MAX + (size_t)1 };

	(void)state;
	expect(&text, "at most 64 MiB");
	free(text.at);
}

static void others_pass(void **state)
{
	static const char *const rows[] = { "", "a: [1, {b: 2}]", "a: &x 1\nb: 2", "[1, 2",
		"a: 'unclosed" };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(yaml_bound("x.yaml", rows[i], strlen(rows[i]), &err), 0);
}

/* The readers, with what took libyaml 25 s. */
static void readers_check_first(void **state)
{
	struct buf text = { 0 };
	struct tenants tenants = { 0 };
	struct cell_design design;
	struct cluster cluster;
	struct err err = { 0 };

	(void)state;
	repeat(&text, "[", 100000);
	assert_int_equal(tenants_read_yaml("t.yaml", text.at, text.n, &tenants, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "nested more than 64"));
	assert_int_equal(cluster_read_yaml("c.yaml", text.at, text.n, &cluster, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "nested more than 64"));
	assert_int_equal(hived_read_yaml("h.yaml", text.at, text.n, &design, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "nested more than 64"));
	buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deep_text_is_refused),
		cmocka_unit_test(many_anchors_and_directives_are_refused),
		cmocka_unit_test(large_text_is_refused),
		cmocka_unit_test(others_pass),
		cmocka_unit_test(readers_check_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
