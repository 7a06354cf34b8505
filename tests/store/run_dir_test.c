#include "store/run_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"

static char *folder, *place;

/* A fresh folder for each test; `place` is where its run goes. */
static int set_up(void **state)
{
	char name[] = "/tmp/run_dir_test.XXXXXX";

	(void)state;
	folder = mem_strdup(mkdtemp(name));
	place = path_join(folder, "run");
	return 0;
}

static int entries(const char *path)
{
	DIR *in = opendir(path);
	int n = -2; /* . and .. */

	assert_non_null(in);
	while (readdir(in))
		n++;
	closedir(in);
	return n;
}

static int tear_down(void **state)
{
	char *command = mem_printf("rm -rf '%s'", folder);
	int rc = system(command);

	(void)state;
	free(command);
	free(folder);
	free(place);
	return rc;
}

static void put(const char *name, const char *text)
{
	char *path = path_join(place, name);

	assert_int_equal(dir_make(place, NULL), 0);
	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
	free(path);
}

static void expect(const char *name, const char *want)
{
	char *path = path_join(place, name);
	struct file file;

	assert_int_equal(file_read(path, &file, NULL), 0);
	assert_int_equal(file.n, strlen(want));
	assert_memory_equal(file.at, want, file.n);
	file_fini(&file);
	free(path);
}

static void write_run(struct run_dir *dir, const char *text)
{
	struct buf bytes = { 0 };

	buf_str(&bytes, text);
	assert_int_equal(run_dir_write(dir, RUN_MANIFEST, &bytes, NULL), 0);
	assert_int_equal(run_dir_write(dir, RUN_JOBS, &bytes, NULL), 0);
	buf_fini(&bytes);
}

static void a_run_appears_when_it_is_committed(void **state)
{
	struct run_dir dir;

	(void)state;
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, false, NULL), 0);
	assert_false(dir.replaces);
	write_run(&dir, "one");
	assert_false(file_exists(place));
	assert_int_equal(run_dir_commit(&dir, NULL), 0);
	run_dir_abandon(&dir);
	expect(RUN_MANIFEST, "one");
	assert_int_equal(entries(folder), 1);
}

static void an_abandoned_run_leaves_nothing(void **state)
{
	struct run_dir dir;

	(void)state;
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, false, NULL), 0);
	write_run(&dir, "one");
	run_dir_abandon(&dir);
	run_dir_abandon(&dir);
	assert_int_equal(entries(folder), 0);
}

static void an_earlier_run_is_replaced_on_request(void **state)
{
	struct run_dir dir;
	struct err err = { 0 };

	(void)state;
	put(RUN_MANIFEST, "old");
	put(RUN_EVENTS, "old");
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, false, &err), ERR_REFUSED);
	assert_non_null(strstr(err.text, "earlier run"));
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, true, &err), 0);
	assert_true(dir.replaces);
	write_run(&dir, "new");
	expect(RUN_MANIFEST, "old");
	assert_int_equal(run_dir_commit(&dir, &err), 0);
	run_dir_abandon(&dir);
	expect(RUN_MANIFEST, "new");
	assert_int_equal(entries(place), 2);
	assert_int_equal(entries(folder), 1);
}

static void what_is_not_a_run_is_left_alone(void **state)
{
	struct run_dir dir;
	struct err err = { 0 };

	(void)state;
	put("thesis.tex", "years of work");
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, true, &err), ERR_REFUSED);
	assert_non_null(strstr(err.text, "thesis.tex"));
	assert_non_null(strstr(err.text, "name another directory"));
	put(RUN_MANIFEST, "a run with something of somebody in it");
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, true, &err), ERR_REFUSED);
	expect("thesis.tex", "years of work");
	assert_int_equal(entries(folder), 1);
}

static void somebody_may_come_in_between(void **state)
{
	struct run_dir dir;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, true, NULL), 0);
	write_run(&dir, "mine");
	put("theirs.txt", "theirs");
	assert_int_equal(run_dir_commit(&dir, &err), ERR_REFUSED);
	run_dir_abandon(&dir);
	expect("theirs.txt", "theirs");
	assert_int_equal(entries(folder), 1);
}

static void an_empty_directory_and_slashes_are_fine(void **state)
{
	struct run_dir dir;
	char *slashes = mem_printf("%s/new/deep//", folder);

	(void)state;
	assert_int_equal(dir_make(place, NULL), 0);
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, false, NULL), 0);
	write_run(&dir, "one");
	assert_int_equal(run_dir_commit(&dir, NULL), 0);
	run_dir_abandon(&dir);
	expect(RUN_JOBS, "one");
	assert_int_equal(run_dir_open(&dir, DIR_RUN, slashes, false, NULL), 0);
	write_run(&dir, "two");
	assert_int_equal(run_dir_commit(&dir, NULL), 0);
	run_dir_abandon(&dir);
	assert_true(file_is_dir(slashes));
	free(slashes);
}

static void a_file_in_the_way_is_refused(void **state)
{
	struct run_dir dir;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(file_write(place, "x", 1, NULL), 0);
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, true, &err), ERR_REFUSED);
	assert_int_equal(run_dir_open(&dir, DIR_RUN, "", true, &err), ERR_USAGE);
}

/* A comparison of two runs at `place`. */
static void write_comparison(const char *text)
{
	struct run_dir whole, part;
	struct buf bytes = { 0 };
	struct err err = { 0 };

	buf_str(&bytes, text);
	if (run_dir_open(&whole, DIR_COMPARE, place, true, &err) < 0)
		fail_msg("%s", err.text);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(run_dir_open_part(&part, &whole, i ? text : "fifo", &err), 0);
		write_run(&part, text);
		run_dir_abandon(&part);
	}
	assert_int_equal(run_dir_write(&whole, COMPARE_FIGURES, &bytes, &err), 0);
	assert_int_equal(run_dir_commit(&whole, &err), 0);
	run_dir_abandon(&whole);
	buf_fini(&bytes);
}

static void a_comparison_is_replaced_as_one_piece(void **state)
{
	(void)state;
	write_comparison("las");
	expect("las/" RUN_JOBS, "las");
	assert_int_equal(entries(place), 3);
	write_comparison("srtf"); /* las/ must not stay */
	expect("srtf/" RUN_JOBS, "srtf");
	expect("fifo/" RUN_JOBS, "srtf");
	assert_int_equal(entries(place), 3);
	assert_int_equal(entries(folder), 1);
}

static void what_is_not_a_comparison_is_left_alone(void **state)
{
	static const struct {
		const char *what, *file;
	} rows[] = {
		{ "a run is no comparison", RUN_MANIFEST },
		{ "nor is something else", "thesis.tex" },
		{ "nor a folder with something else in a run", "fifo/thesis.tex" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run_dir dir;
		struct err err = { 0 };
		char *inside = path_join(place, "fifo");

		assert_int_equal(dir_make(inside, NULL), 0);
		put(rows[i].file, "x");
		if (run_dir_open(&dir, DIR_COMPARE, place, true, &err) != ERR_REFUSED)
			fail_msg("%s", rows[i].what);
		assert_non_null(strstr(err.text, "not a comparison"));
		expect(rows[i].file, "x");
		free(inside);
		tear_down(NULL);
		set_up(NULL);
	}
}

static void an_abandoned_comparison_leaves_nothing(void **state)
{
	struct run_dir whole, part;

	(void)state;
	assert_int_equal(run_dir_open(&whole, DIR_COMPARE, place, true, NULL), 0);
	assert_int_equal(run_dir_open_part(&part, &whole, "fifo", NULL), 0);
	write_run(&part, "one");
	run_dir_abandon(&part);
	run_dir_abandon(&whole);
	assert_int_equal(entries(folder), 0);
}

static void age(const char *path)
{
	struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
}

static void what_a_killed_process_left_goes(void **state)
{
	struct run_dir alive, dir;
	char *left = mem_printf("%s/.run.abcdef", folder), *inside = path_join(left, "fifo");
	char *other = mem_printf("%s/.runs.abcdef", folder);

	(void)state;
	assert_int_equal(dir_make(inside, NULL), 0);
	assert_int_equal(dir_make(other, NULL), 0);
	age(left);
	age(other);
	/* Somebody else builds the same one just now. */
	assert_int_equal(run_dir_open(&alive, DIR_RUN, place, true, NULL), 0);
	assert_false(file_exists(left));
	age(alive.building);
	assert_int_equal(run_dir_open(&dir, DIR_RUN, place, true, NULL), 0);
	assert_true(file_is_dir(alive.building));
	assert_true(file_is_dir(other));
	run_dir_abandon(&dir);
	run_dir_abandon(&alive);
	free(left);
	free(inside);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_run_appears_when_it_is_committed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_abandoned_run_leaves_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_earlier_run_is_replaced_on_request, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_a_run_is_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(somebody_may_come_in_between, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_directory_and_slashes_are_fine, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_file_in_the_way_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_comparison_is_replaced_as_one_piece, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_a_comparison_is_left_alone, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(an_abandoned_comparison_leaves_nothing, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(what_a_killed_process_left_goes, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
