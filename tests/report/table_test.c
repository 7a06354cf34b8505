#include "report/table.h"

#include "report/fixture.h"

static void fill(struct table *t)
{
	table_column(t, "policy", ALIGN_LEFT, 0);
	table_column(t, "JCT", ALIGN_RIGHT, 1);
	table_unit(t, "h");
	table_column(t, "p50", ALIGN_RIGHT, 9);
	table_column(t, "util", ALIGN_RIGHT, 2);
	table_cell(t, "fifo");
	table_cell(t, "12.5");
	table_cell(t, "3");
	table_cell(t, "80");
	table_cell(t, "a:b=1,c=2");
	table_cell(t, "7");
	table_cellf(t, "%d", 100);
	table_cell(t, NULL);
}

static void columns_stand_below_each_other(void **state)
{
	struct table t = { 0 };
	struct buf out = { 0 };

	(void)state;
	fill(&t);
	table_write(&t, TABLE_TEXT, &(struct term){ .width = 80 }, &out, NULL);
	assert_string_equal(out.at,
		"policy      JCT  p50  util\n"
		"              h\n"
		"fifo       12.5    3    80\n"
		"a:b=1,c=2     7  100\n");
	buf_fini(&out);
	table_fini(&t);
}

static void the_least_important_goes_first(void **state)
{
	static const struct {
		int width;
		const char *heading, *left_out;
	} rows[] = {
		{ 26, "policy      JCT  p50  util\n", NULL },
		{ 25, "policy      JCT  util\n", "p50" },
		{ 20, "policy      JCT\n", "p50, util" },
		{ 3, "policy\n", "JCT, p50, util" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct table t = { 0 };
		struct buf out = { 0 }, left_out = { 0 };

		fill(&t);
		table_write(&t, TABLE_TEXT, &(struct term){ .width = rows[i].width }, &out, &left_out);
		if (strncmp(out.at, rows[i].heading, strlen(rows[i].heading)))
			fail_msg("at %d: %s", rows[i].width, out.at);
		if (rows[i].left_out)
			assert_string_equal(left_out.at, rows[i].left_out);
		else
			assert_int_equal(left_out.n, 0);
		buf_fini(&out);
		buf_fini(&left_out);
		table_fini(&t);
	}
}

static void the_last_column_takes_what_is_left(void **state)
{
	static const struct {
		int width;
		const char *text;
	} rows[] = {
		{ 0, "JOB  USER  ETA  REASON\n  7  ann        it waits for others\n" },
		{ 40, "JOB  USER  ETA  REASON\n  7  ann        it waits for others\n" },
		{ 35, "JOB  USER  ETA  REASON\n  7  ann        it waits for others\n" },
		{ 34, "JOB  USER  REASON\n  7  ann   it waits for others\n" },
		{ 25, "JOB  USER  REASON\n  7  ann   it waits fo...\n" },
		{ 23, "JOB  USER  REASON\n  7  ann   it waits ...\n" },
		{ 22, "JOB  REASON\n  7  it waits for o...\n" },
		{ 5, "JOB\n  7\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct table t = { 0 };
		struct buf out = { 0 };

		table_column(&t, "JOB", ALIGN_RIGHT, 0);
		table_column(&t, "USER", ALIGN_LEFT, 9);
		table_column(&t, "ETA", ALIGN_LEFT, 3);
		table_column(&t, "REASON", ALIGN_LEFT, 1);
		table_rest(&t, 12);
		table_cell(&t, "7");
		table_cell(&t, "ann");
		table_cell(&t, NULL);
		table_cell(&t, "it waits for others");
		table_write(&t, TABLE_TEXT, &(struct term){ .width = rows[i].width }, &out, NULL);
		if (strcmp(out.at, rows[i].text) != 0)
			fail_msg("at %d:\n%s", rows[i].width, out.at);
		buf_fini(&out);
		table_fini(&t);
	}
}

static void a_long_first_column_wraps(void **state)
{
	struct table t = { 0 };
	struct buf out = { 0 };

	(void)state;
	table_column(&t, "policy", ALIGN_LEFT, 0);
	table_column(&t, "JCT", ALIGN_RIGHT, 1);
	table_cell(&t, "tiresias:queues=2,limit_s=3600,promote=8");
	table_cell(&t, "12.5");
	table_write(&t, TABLE_TEXT, &(struct term){ .width = 40 }, &out, NULL);
	assert_string_equal(out.at,
		"policy             JCT\n"
		"tiresias:         12.5\n"
		"  queues=2,\n"
		"  limit_s=3600,\n"
		"  promote=8\n");
	buf_fini(&out);
	table_fini(&t);
}

static void marks_are_colour_only_on_request(void **state)
{
	struct table t = { 0 };
	struct buf plain = { 0 }, colour = { 0 };

	(void)state;
	table_column(&t, "a", ALIGN_LEFT, 0);
	table_cell(&t, "best *");
	table_strong(&t);
	table_write(&t, TABLE_TEXT, &(struct term){ .width = 80 }, &plain, NULL);
	table_write(&t, TABLE_TEXT, &(struct term){ .width = 80, .colour = true }, &colour, NULL);
	assert_null(strchr(plain.at, '\033'));
	assert_non_null(strstr(colour.at, "\033[1mbest *\033[0m"));
	buf_fini(&plain);
	buf_fini(&colour);
	table_fini(&t);
}

static void a_cell_may_have_a_style_of_its_own(void **state)
{
	struct table t = { 0 };
	struct buf plain = { 0 }, colour = { 0 };

	(void)state;
	table_column(&t, "a", ALIGN_LEFT, 0);
	table_column(&t, "b", ALIGN_LEFT, 0);
	table_cell(&t, "x");
	table_cell(&t, "50");
	table_style(&t, "48;5;39");
	table_cell(&t, "y");
	table_write(&t, TABLE_TEXT, &(struct term){ .width = 80 }, &plain, NULL);
	table_write(&t, TABLE_TEXT, &(struct term){ .width = 80, .colour = true }, &colour, NULL);
	assert_string_equal(plain.at, "a  b\nx  50\ny\n");
	assert_non_null(strstr(colour.at, "\nx  \033[48;5;39m50\033[0m\ny"));
	buf_fini(&plain);
	buf_fini(&colour);
	table_fini(&t);
}

static void names_cannot_steer_the_terminal(void **state)
{
	struct table t = { 0 };
	struct buf out = { 0 };

	(void)state;
	table_column(&t, "a", ALIGN_LEFT, 0);
	table_cell(&t, "x\033[2Jy\n");
	table_write(&t, TABLE_TEXT, &(struct term){ .width = 80 }, &out, NULL);
	assert_string_equal(out.at, "a\nx\\u001b[2Jy\\u000a\n");
	buf_fini(&out);
	table_fini(&t);
}

static void other_forms_have_everything(void **state)
{
	struct table t = { 0 };
	struct buf md = { 0 }, csv = { 0 };

	(void)state;
	fill(&t);
	table_write(&t, TABLE_MARKDOWN, &(struct term){ .width = 10 }, &md, NULL);
	assert_string_equal(md.at,
		"| policy | JCT (h) | p50 | util |\n|---|--:|--:|--:|\n"
		"| fifo | 12.5 | 3 | 80 |\n| a:b=1,c=2 | 7 | 100 |  |\n");
	table_write(&t, TABLE_CSV, &(struct term){ .width = 10 }, &csv, NULL);
	assert_string_equal(csv.at, "policy,JCT,p50,util\nfifo,12.5,3,80\n\"a:b=1,c=2\",7,100,\n");
	buf_fini(&md);
	buf_fini(&csv);
	table_fini(&t);
}

static void an_empty_table_is_nothing(void **state)
{
	struct table t = { 0 };
	struct buf out = { 0 };

	(void)state;
	table_write(&t, TABLE_TEXT, &(struct term){ 0 }, &out, NULL);
	assert_int_equal(out.n, 0);
	assert_int_equal(text_columns("±†…x"), 4);
	table_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_stand_below_each_other),
		cmocka_unit_test(the_least_important_goes_first),
		cmocka_unit_test(the_last_column_takes_what_is_left),
		cmocka_unit_test(a_long_first_column_wraps),
		cmocka_unit_test(marks_are_colour_only_on_request),
		cmocka_unit_test(a_cell_may_have_a_style_of_its_own),
		cmocka_unit_test(names_cannot_steer_the_terminal),
		cmocka_unit_test(other_forms_have_everything),
		cmocka_unit_test(an_empty_table_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
