#include "cli/programs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "support/property.h"

/* A tree as it is installed, without links in its name. */
struct tree {
	char root[PATH_MAX];
	char *program; /* bin/stint in it */
};

static char *in_tree(const struct tree *t, const char *path)
{
	return mem_printf("%s/%s", t->root, path);
}

static void make_file(const struct tree *t, const char *path, mode_t mode)
{
	char *full = in_tree(t, path);
	int fd = open(full, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	close(fd);
	free(full);
}

static void make_dir(const struct tree *t, const char *path)
{
	char *full = in_tree(t, path);

	assert_int_equal(dir_make(full, NULL), 0);
	free(full);
}

static void tree_make(struct tree *t)
{
	const char *tmp = getenv("TMPDIR");
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/guard-path.XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(name));
	assert_non_null(realpath(name, t->root));
	make_dir(t, "bin");
	make_dir(t, "libexec/stint");
	t->program = in_tree(t, "bin/stint");
	unsetenv("STINT_GUARD");
}

static void tree_remove(struct tree *t)
{
	static const char *const files[] = { "bin/stint-guard", "libexec/stint/stint-guard",
		"elsewhere" };
	static const char *const dirs[] = { "bin/stint-guard", "bin", "libexec/stint", "libexec", "" };
	char *full;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		full = in_tree(t, files[i]);
		unlink(full);
		free(full);
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		full = in_tree(t, dirs[i]);
		rmdir(full);
		free(full);
	}
	free(t->program);
}

/* `want` NULL: there is none. */
static void expect(const struct tree *t, const char *want)
{
	char *found = guard_find_for(t->program), *full = want ? in_tree(t, want) : NULL;

	if (want) {
		assert_non_null(found);
		assert_string_equal(found, full);
	} else {
		assert_null(found);
	}
	free(found);
	free(full);
}

static void the_nearest_guard_is_taken(void **state)
{
	struct tree t;
	char *elsewhere;

	(void)state;
	tree_make(&t);
	expect(&t, NULL);
	make_file(&t, "elsewhere", 0755);
	elsewhere = in_tree(&t, "elsewhere");
	setenv("STINT_GUARD", elsewhere, 1);
	expect(&t, "elsewhere");
	make_file(&t, "libexec/stint/stint-guard", 0755);
	expect(&t, "libexec/stint/stint-guard");
	make_file(&t, "bin/stint-guard", 0755);
	expect(&t, "bin/stint-guard");
	free(elsewhere);
	tree_remove(&t);
}

static void what_cannot_be_run_is_no_guard(void **state)
{
	struct tree t;

	(void)state;
	tree_make(&t);
	make_dir(&t, "bin/stint-guard");
	make_file(&t, "libexec/stint/stint-guard", 0644);
	setenv("STINT_GUARD", "/nonexistent/stint-guard", 1);
	expect(&t, NULL);
	setenv("STINT_GUARD", "", 1);
	expect(&t, NULL);
	tree_remove(&t);
}

static void a_program_without_a_directory_has_none(void **state)
{
	char *found;

	(void)state;
	unsetenv("STINT_GUARD");
	found = guard_find_for("");
	/* Only if someone keeps one in the root directory. */
	assert_true(!found || found[0] == '/');
	free(found);
}

static void our_own_is_absolute(void **state)
{
	char *found;

	(void)state;
	setenv("STINT_GUARD", "/bin/sh", 1);
	found = guard_find();
	assert_non_null(found);
	assert_int_equal(found[0], '/');
	free(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_guard_is_taken),
		cmocka_unit_test(what_cannot_be_run_is_no_guard),
		cmocka_unit_test(a_program_without_a_directory_has_none),
		cmocka_unit_test(our_own_is_absolute),
	};

	return cmocka_run_group_tests_name("cli/guard_path", tests, NULL, NULL);
}
