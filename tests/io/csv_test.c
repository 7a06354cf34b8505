#include "io/csv.h"

#include "io/import_case.h"

/* The rows of a text as "a;b/c;d" (fields by ;, rows by /), or the error. */
static void show(const char *text, struct csv_style style, struct buf *out)
{
	struct err err = { 0 };
	struct csv csv;
	int rc;

	csv_init(&csv, slice_of(text), style);
	while ((rc = csv_next(&csv, &err)) == 1) {
		buf_printf(out, "%s%zu:", out->n ? "/" : "", csv.line);
		for (size_t i = 0; i < csv.n; i++)
			buf_printf(out, "%s%.*s", i ? ";" : "", (int)csv.fields[i].n, csv.fields[i].at);
	}
	if (rc < 0)
		buf_printf(out, "%s%zu! %s", out->n ? "/" : "", csv.line, err.text);
	if (!out->n)
		buf_str(out, "");
	csv_fini(&csv);
}

static const struct {
	const char *what, *text, *want;
} rows[] = {
	{ "fields and rows", "a,b\nc,d\n", "1:a;b/2:c;d" },
	{ "no last newline", "a,b\nc,d", "1:a;b/2:c;d" },
	{ "windows line ends", "a,b\r\nc,d\r\n", "1:a;b/2:c;d" },
	{ "empty fields", ",a,,\n", "1:;a;;" },
	{ "blanks around fields do not count", " a b ,\tc\t\n", "1:a b;c" },
	{ "blank lines are skipped and counted", "\n \na\n\t\r\nb\n\n", "3:a/5:b" },
	{ "nothing", "", "" },
	{ "only newlines", "\n\n\n", "" },
	{ "fields longer than a machine word", "abcdefghijklmnop,qrstuvwxyz0123456789\n",
		"1:abcdefghijklmnop;qrstuvwxyz0123456789" },
	{ "fields as long as a machine word", "12345678,12345678\n12345678\n",
		"1:12345678;12345678/2:12345678" },
	{ "quoted separators and newlines", "\"a,b\",\"c\nd\"\ne,f\n", "1:a,b;c\nd/3:e;f" },
	{ "doubled quotes", "\"a \"\"b\"\"\",\"\"\"\"\n", "1:a \"b\";\"" },
	{ "an empty quoted field", "\"\",a\n", "1:;a" },
	{ "blanks inside quotes count, outside not", "  \" a \"  , b\n", "1: a ;b" },
	{ "quotes inside an unquoted field are characters", "a\"b\",c\n", "1:a\"b\";c" },
	{ "a quote that never closes", "a,b\n\"c,d\ne,f\n",
		"1:a;b/2! a quote opens here and never closes; double the quotes inside a field (\"\")" },
	{ "text behind a closing quote", "\"a\"b,c\n",
		"1! text behind a closing quote; double the quotes inside a field (\"\")" },
};

static void comma_separated(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf got = { 0 };

		show(rows[i].text, (struct csv_style){ .separator = ',', .quotes = true }, &got);
		if (strcmp(got.at, rows[i].want) != 0)
			fail_msg("%s: got '%s', wanted '%s'", rows[i].what, got.at, rows[i].want);
		buf_fini(&got);
	}
}

static void assert_shown(const char *text, struct csv_style style, const char *want)
{
	struct buf got = { 0 };

	show(text, style, &got);
	assert_string_equal(got.at, want);
	buf_fini(&got);
}

static void other_styles(void **state)
{
	(void)state;
	assert_shown("a b\t\"c\n", (struct csv_style){ .separator = '\t' }, "1:a b;\"c");
	assert_shown("  1  2\t3 \n; no\n\n4\n",
		(struct csv_style){ .separator = ' ', .comment = ';' }, "1:1;2;3/4:4");
	assert_shown("a|b,c|\n", (struct csv_style){ .separator = '|' }, "1:a;b,c;");
	assert_shown("#x\na\n", (struct csv_style){ .separator = ',' }, "1:#x/2:a");
}

static void rows_have_a_limit(void **state)
{
	const struct csv_style style = { .separator = ',', .quotes = true };
	struct buf text = { 0 }, got = { 0 };

	(void)state;
	for (int i = 0; i < CSV_FIELDS_MAX; i++)
		buf_char(&text, ',');
	show(text.at, style, &got);
	assert_non_null(strstr(got.at, "1! more than 1024 fields in a row"));
	buf_clear(&text);
	buf_clear(&got);

	buf_str(&text, "a,");
	for (int i = 0; i < CSV_ROW_MAX; i++)
		buf_char(&text, 'x');
	show(text.at, style, &got);
	assert_string_equal(got.at, "1! a row of more than 1 MiB; is this a trace?");
	buf_clear(&got);

	text.at[0] = '"';
	show(text.at, style, &got);
	assert_non_null(strstr(got.at, "1! a quote opens here and does not close for 1 MiB"));
	buf_clear(&got);

	buf_char(&text, '"');
	show(text.at, style, &got);
	assert_non_null(strstr(got.at, "1! a quote opens here and does not close for 1 MiB"));
	buf_fini(&text);
	buf_fini(&got);
}

static void what_is_written_reads_back(void **state)
{
	static const char *const fields[] = { "a", "a b", " a", "a ", "a,b", "a\"b", "\"", "a\nb",
		"\r", "a|b", "ünïcode", "'", "\t" };
	struct buf text = { 0 };
	struct csv csv;

	(void)state;
	for (size_t i = 0; i < COUNT(fields); i++) {
		buf_str(&text, i ? "," : "");
		csv_write(&text, fields[i]);
	}
	csv_init(&csv, slice_of(text.at), (struct csv_style){ .separator = ',', .quotes = true });
	assert_int_equal(csv_next(&csv, NULL), 1);
	assert_int_equal(csv.n, COUNT(fields));
	for (size_t i = 0; i < COUNT(fields); i++)
		assert_true(slice_is(csv.fields[i], fields[i]));
	assert_int_equal(csv_next(&csv, NULL), 0);
	csv_fini(&csv);
	buf_fini(&text);
}

static void text_begins_no_formula(void **state)
{
	static const struct {
		const char *text, *written;
	} cells[] = {
		{ "train", "train" },
		{ "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0" },
		{ "+1+cmd", "'+1+cmd" },
		{ "-2-cmd", "'-2-cmd" },
		{ "@SUM(A1)", "'@SUM(A1)" },
		{ "\t=1", "'\t=1" },
		{ "=A,\"b\"", "\"'=A,\"\"b\"\"\"" },
		{ "'=x", "''=x" },
		{ "''@x", "'''@x" },
		{ "'quoted'", "'quoted'" },
		{ "'", "'" },
		{ "-5", "-5" },
		{ "+1.5", "+1.5" },
		{ "-3 %", "-3 %" },
		{ "-", "-" },
		{ "a=b", "a=b" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++) {
		const struct csv_style style = CSV_COMMAS;
		struct buf out = { 0 };
		struct slice back;
		struct csv csv;

		csv_write_text(&out, cells[i].text);
		assert_string_equal(out.n ? out.at : "", cells[i].written);
		buf_str(&out, ",end\n");
		csv_init(&csv, (struct slice){ out.at, out.n }, style);
		assert_int_equal(csv_next(&csv, NULL), 1);
		back = csv_text(csv.fields[0]);
		assert_int_equal(back.n, strlen(cells[i].text));
		assert_memory_equal(back.at, cells[i].text, back.n);
		csv_fini(&csv);
		buf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_begins_no_formula),
		cmocka_unit_test(comma_separated),
		cmocka_unit_test(other_styles),
		cmocka_unit_test(rows_have_a_limit),
		cmocka_unit_test(what_is_written_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
