/*
 * Directories of pruned jobs: what Stint made goes, everything else stays.
 */
#include "live/job_dirs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static char *state_dir;

static int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	state_dir = mkdtemp(mem_printf("%s/dirs.XXXXXX", tmp ? tmp : "/tmp"));
	return state_dir ? 0 : -1;
}

static void shell(const char *what)
{
	char *command = mem_printf("cd '%s' && %s", state_dir, what);

	assert_int_equal(system(command), 0);
	free(command);
}

static int tear_down(void **state)
{
	(void)state;
	shell("chmod -R u+w . && rm -rf ../dirs.not-ours \"$PWD\"");
	free(state_dir);
	return 0;
}

/* Jobs with an even number were pruned. */
static bool is_even(void *ctx, uint32_t job)
{
	(void)ctx;
	return job % 2 == 0;
}

static struct job_dirs sweep(void)
{
	struct job_dirs dirs;
	struct err err = { 0 };

	assert_int_equal(job_dirs_sweep(state_dir, is_even, NULL, NULL, &dirs, &err), 0);
	return dirs;
}

static bool has(const char *name)
{
	char *path = path_join(state_dir, name);
	bool is = access(path, F_OK) == 0;

	free(path);
	return is;
}

static void what_stint_made_goes(void **state)
{
	struct job_dirs dirs;

	(void)state;
	shell("mkdir -p jobs/1/1 jobs/2/1 jobs/2/2 jobs/4/2.3f2a91bc.1 jobs/4/1.unmarked.12 && touch jobs/4/2.3f2a91bc.1/ended jobs/1/1/stdout jobs/4/slurm "
	      "jobs/2/1/begun jobs/2/1/begun.77 jobs/2/1/ended jobs/2/2/stdout jobs/2/2/stderr jobs/2/2/grant.new");
	dirs = sweep();
	assert_int_equal(dirs.removed, 2);
	assert_int_equal(dirs.left, 0);
	assert_false(has("jobs/2"));
	assert_false(has("jobs/4"));
	assert_true(has("jobs/1/1/stdout"));
}

static void what_others_made_stays(void **state)
{
	struct job_dirs dirs;

	(void)state;
	shell("mkdir -p jobs/2/1/ckpt jobs/02/1 jobs/4/1/stdout jobs/4/2.old.1 jobs/4/2.3f2a91bc jobs/notes && "
	      "touch jobs/2/1/ckpt/model.pt jobs/2/1/stdout jobs/2/1/stdouts jobs/02/1/stdout jobs/notes/stdout");
	dirs = sweep();
	assert_int_equal(dirs.removed, 0);
	assert_int_equal(dirs.left, 2);
	assert_true(has("jobs/2/1/ckpt/model.pt"));
	assert_true(has("jobs/2/1/stdouts"));
	assert_false(has("jobs/2/1/stdout"));
	assert_true(has("jobs/4/1/stdout"));
	assert_true(has("jobs/4/2.old.1"));
	assert_true(has("jobs/4/2.3f2a91bc"));
	assert_true(has("jobs/02/1/stdout"));
	assert_true(has("jobs/notes/stdout"));
}

static void links_are_not_followed(void **state)
{
	(void)state;
	shell("mkdir -p ../dirs.not-ours/1 jobs/4 && touch ../dirs.not-ours/1/stdout ../dirs.not-ours/stdout && "
	      "ln -s ../../dirs.not-ours jobs/2 && ln -s ../../../dirs.not-ours jobs/4/1 && "
	      "ln -s ../../../dirs.not-ours/stdout jobs/4/stdout");
	sweep();
	assert_true(has("../dirs.not-ours/1/stdout"));
	assert_true(has("../dirs.not-ours/stdout"));
	assert_true(has("jobs/2"));
}

static void no_directory_is_fine(void **state)
{
	(void)state;
	assert_int_equal(sweep().removed, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_stint_made_goes),
		TEST(what_others_made_stays),
		TEST(links_are_not_followed),
		TEST(no_directory_is_fine),
	};

	return cmocka_run_group_tests_name("live/job_dirs", tests, NULL, NULL);
}
