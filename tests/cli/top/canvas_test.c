#include "cli/top/canvas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void is_text(const struct canvas *canvas, const char *want)
{
	struct buf out = { 0 };

	canvas_text(canvas, false, &out);
	assert_string_equal(out.at, want);
	buf_fini(&out);
}

static void texts_are_cut_to_their_room(void **state)
{
	struct canvas c = { 0 };

	(void)state;
	canvas_reset(&c, 12, 4, true);
	assert_int_equal(canvas_put(&c, 0, 0, 6, STYLE_PLAIN, "as it is"), 6);
	assert_int_equal(canvas_put(&c, 7, 0, 99, STYLE_PLAIN, "right end"), 5);
	assert_int_equal(canvas_put(&c, 0, 1, 5, STYLE_PLAIN, "名前名前"), 5);
	assert_int_equal(canvas_put(&c, 0, 2, 4, STYLE_PLAIN, "名前名"), 3);
	assert_int_equal(canvas_put(&c, 0, 3, 12, STYLE_PLAIN, "e\xcc\x81t\xc3\xa9"), 3);
	is_text(&c, "as it… righ…\n名前…\n名…\ne\xcc\x81t\xc3\xa9\n");
	canvas_reset(&c, 12, 1, false);
	canvas_put(&c, 0, 0, 6, STYLE_PLAIN, "as it is");
	canvas_put(&c, 7, 0, 6, STYLE_PLAIN, "名é");
	is_text(&c, "as it~ ??\n");
	canvas_fini(&c);
}

static void nothing_is_written_outside(void **state)
{
	struct canvas c = { 0 };

	(void)state;
	canvas_reset(&c, 4, 1, true);
	assert_int_equal(canvas_put(&c, 4, 0, 5, STYLE_PLAIN, "x"), 0);
	assert_int_equal(canvas_put(&c, 0, 1, 5, STYLE_PLAIN, "x"), 0);
	assert_int_equal(canvas_put(&c, 0, -1, 5, STYLE_PLAIN, "x"), 0);
	assert_int_equal(canvas_put(&c, 0, 0, -3, STYLE_PLAIN, "x"), 0);
	assert_int_equal(canvas_put(&c, 0, 0, 5, STYLE_PLAIN, NULL), 0);
	canvas_put(&c, 3, 0, 1, STYLE_PLAIN, "名");
	is_text(&c, "   …\n");
	canvas_reset(&c, 0, 0, true);
	canvas_put(&c, 0, 0, 5, STYLE_PLAIN, "x");
	canvas_fini(&c);
}

static void others_text_does_not_steer_the_terminal(void **state)
{
	struct canvas c = { 0 }, blank = { 0 };
	struct buf out = { 0 };

	(void)state;
	canvas_reset(&c, 40, 1, true);
	canvas_put(&c, 0, 0, 40, STYLE_PLAIN,
		"a\033]0;title\a\033[2J\r\n\xc2\x9b"
		"1m\xe2\x80\xae"
		"b");
	canvas_update(&c, &blank, false, &out);
	assert_string_equal(out.at, "\033[0m\033[2J\033[1;1Ha?]0;title??[2J???1m?b\033[K");
	buf_fini(&out);
	canvas_fini(&c);
}

static void only_lines_that_differ_are_written(void **state)
{
	struct canvas c = { 0 }, before = { 0 };
	struct buf out = { 0 };

	(void)state;
	canvas_reset(&before, 4, 3, true);
	canvas_reset(&c, 4, 3, true);
	canvas_put(&before, 0, 0, 4, STYLE_PLAIN, "same");
	canvas_put(&c, 0, 0, 4, STYLE_PLAIN, "same");
	canvas_put(&c, 0, 1, 4, STYLE_CHOSEN, "full");
	canvas_put(&before, 0, 2, 4, STYLE_PLAIN, "old");
	canvas_update(&c, &before, false, &out);
	/* a full line is not wiped from its last character on */
	assert_string_equal(out.at, "\033[2;1H\033[0;7mfull\033[0m\033[3;1H\033[K");
	buf_clear(&out);
	canvas_update(&c, &c, false, &out);
	assert_int_equal(out.n, 0);
	buf_fini(&out);
	canvas_fini(&c);
	canvas_fini(&before);
}

static void colours_are_left_out_where_not_wanted(void **state)
{
	struct canvas c = { 0 };
	struct buf out = { 0 };

	(void)state;
	canvas_reset(&c, 4, 1, true);
	canvas_put(&c, 0, 0, 1, STYLE_JOB, "a");
	canvas_put(&c, 2, 0, 1, STYLE_ALERT, "x");
	canvas_update(&c, &(struct canvas){ 0 }, false, &out);
	assert_null(strstr(out.at, "38;5"));
	buf_clear(&out);
	canvas_text(&c, true, &out);
	assert_non_null(strstr(out.at, "\033[0;38;5;16;48;5;214ma\033[0m"));
	buf_fini(&out);
	canvas_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_cut_to_their_room),
		cmocka_unit_test(nothing_is_written_outside),
		cmocka_unit_test(others_text_does_not_steer_the_terminal),
		cmocka_unit_test(only_lines_that_differ_are_written),
		cmocka_unit_test(colours_are_left_out_where_not_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
