/*
 * A run directory is built beside its place and renamed into it, so that who
 * looks sees the earlier run, or nothing, or the whole new one.
 */
#include "store/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static const char *const our_files[] = {
	RUN_MANIFEST,
	RUN_SUMMARY,
	RUN_JOBS,
	RUN_EVENTS,
	RUN_REPORT,
};

enum { OUR_FILES = sizeof(our_files) / sizeof(our_files[0]) };

static bool is_ours(const char *name)
{
	for (size_t i = 0; i < OUR_FILES; i++) {
		if (!strcmp(name, our_files[i]))
			return true;
	}
	return false;
}

/* ---- what is there already */

enum place { NOTHING, EMPTY, A_RUN, FOREIGN };

/* Looks at the names in a directory; `stranger` gets one that is not ours. */
static enum place look_inside(DIR *in, char stranger[256])
{
	enum place place = EMPTY;
	struct dirent *entry;
	bool manifest = false;

	while ((entry = readdir(in))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!is_ours(entry->d_name)) {
			snprintf(stranger, 256, "%s", entry->d_name);
			return FOREIGN;
		}
		manifest |= !strcmp(entry->d_name, RUN_MANIFEST);
		place = A_RUN;
	}
	if (place == A_RUN && !manifest) {
		snprintf(stranger, 256, "no " RUN_MANIFEST);
		return FOREIGN;
	}
	return place;
}

static int look(const char *path, enum place *place, char stranger[256], struct err *err)
{
	DIR *in = opendir(path);

	if (!in && errno == ENOENT) {
		*place = NOTHING;
		return 0;
	}
	if (!in && errno == ENOTDIR)
		return err_set(err, ERR_REFUSED,
			"%s is a file, not a directory: name another place for the run", path);
	if (!in)
		return err_set(err, ERR_IO, "cannot look into %s: %s", path, strerror(errno));
	*place = look_inside(in, stranger);
	closedir(in);
	return 0;
}

static int check_place(const char *path, bool replace, bool *replaces, struct err *err)
{
	char stranger[256] = "";
	enum place place = NOTHING;
	int rc = look(path, &place, stranger, err);

	if (rc < 0)
		return rc;
	if (place == FOREIGN)
		return err_set(err, ERR_REFUSED,
			"%s exists and is not a run of Stint (it has %s): name another directory, "
			"or move it away",
			path, stranger);
	if (place == A_RUN && !replace)
		return err_set(err, ERR_REFUSED,
			"%s holds an earlier run: name another directory, or remove it", path);
	*replaces = place == A_RUN;
	return 0;
}

/* ---- building */

/* The place itself where `path` is a link, without slashes at the end. */
static char *settle(const char *path)
{
	char *real = realpath(path, NULL), *copy;
	size_t n;

	if (real) {
		copy = mem_strdup(real);
		free(real);
		return copy;
	}
	n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	return mem_strndup(path, n);
}

static int make_parent(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	char *parent;
	int rc;

	if (!slash || slash == path)
		return 0;
	parent = mem_strndup(path, (size_t)(slash - path));
	rc = dir_make(parent, err);
	free(parent);
	return rc;
}

/* A hidden sibling: on the same file system, so that a rename is enough. */
static char *sibling(const char *path)
{
	size_t dir = (size_t)(path_base(path) - path);

	return mem_printf("%.*s.%s.XXXXXX", (int)dir, path, path_base(path));
}

/* mkdtemp() makes a private directory; a run is as readable as any other file of this user. */
static void open_to_others(const char *path)
{
	mode_t mask = umask(0);

	umask(mask);
	if (chmod(path, 0777 & ~mask) < 0)
		return; /* still readable by its owner */
}

int run_dir_open(struct run_dir *dir, const char *path, bool replace, struct err *err)
{
	struct run_dir d = { 0 };
	int rc;

	if (!*path)
		return err_set(err, ERR_USAGE, "the name of the run's directory is empty");
	d.path = settle(path);
	rc = check_place(d.path, replace, &d.replaces, err);
	if (!rc)
		rc = make_parent(d.path, err);
	if (rc < 0)
		goto fail;
	d.building = sibling(d.path);
	if (!mkdtemp(d.building)) {
		rc = err_set(err, ERR_IO, "cannot make a directory beside %s: %s", d.path,
			strerror(errno));
		free(d.building);
		goto fail;
	}
	open_to_others(d.building);
	*dir = d;
	return 0;
fail:
	free(d.path);
	return rc;
}

char *run_dir_path(const struct run_dir *dir, const char *name)
{
	return path_join(dir->building, name);
}

int run_dir_write(const struct run_dir *dir, const char *name, const struct buf *bytes, struct err *err)
{
	char *path = run_dir_path(dir, name);
	int rc = file_write(path, bytes->n ? bytes->at : "", bytes->n, err);

	free(path);
	return rc;
}

/* ---- ending */

/* Removes our files and the directory; anything else in it makes rmdir() fail, which keeps it. */
static void remove_run(const char *path)
{
	for (size_t i = 0; i < OUR_FILES; i++) {
		char *file = path_join(path, our_files[i]);

		unlink(file);
		free(file);
	}
	rmdir(path);
}

/* For file systems that cannot swap: for a moment there is no run, but never half of one. */
static int step_in(const struct run_dir *dir)
{
	char *aside = mem_printf("%s.old", dir->building);
	int rc = rename(dir->path, aside), why;

	if (!rc && rename(dir->building, dir->path) < 0) {
		why = errno;
		rename(aside, dir->path);
		errno = why;
		rc = -1;
	} else if (!rc) {
		remove_run(aside);
	}
	free(aside);
	return rc;
}

/* Swaps the two directories: at no moment is there none. */
static int swap_in(const struct run_dir *dir)
{
	if (!renameat2(AT_FDCWD, dir->building, AT_FDCWD, dir->path, RENAME_EXCHANGE)) {
		remove_run(dir->building);
		return 0;
	}
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	return step_in(dir);
}

int run_dir_commit(struct run_dir *dir, struct err *err)
{
	char *path = dir->path;
	bool replaces;
	/* The place may have changed while the run went. */
	int rc = check_place(path, dir->replaces, &replaces, err);

	if (rc < 0)
		return rc;
	/* rename() takes the place of an empty directory. */
	if (replaces ? swap_in(dir) < 0 : rename(dir->building, path) < 0)
		return err_set(err, ERR_IO, "cannot put the run at %s: %s", path, strerror(errno));
	free(dir->building);
	dir->building = NULL;
	return 0;
}

/* Removes every file of a directory that only this process has written to. */
static void remove_building(const char *path)
{
	DIR *in = opendir(path);
	struct dirent *entry;

	while (in && (entry = readdir(in)))
		unlinkat(dirfd(in), entry->d_name, 0);
	if (in)
		closedir(in);
	rmdir(path);
}

void run_dir_abandon(struct run_dir *dir)
{
	if (dir->building)
		remove_building(dir->building);
	free(dir->building);
	free(dir->path);
	*dir = (struct run_dir){ 0 };
}
