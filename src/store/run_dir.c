/*
 * A directory of results is built beside its place and renamed into it, so
 * that who looks sees the earlier one, or nothing, or the whole new one.
 */
#include "store/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* What a directory of each kind is known by, and what else may be in it. */
static const struct kind {
	const char *what;     /* for people */
	const char *files[8]; /* the first is its mark; NULL after the last */
	bool runs;            /* directories of runs, too */
} kinds[] = {
	[DIR_RUN] = { "run", { RUN_MANIFEST, RUN_SUMMARY, RUN_JOBS, RUN_EVENTS, RUN_REPORT }, false },
	[DIR_COMPARE] = { "comparison",
		{ COMPARE_FIGURES, RUN_REPORT, COMPARE_TRACE, COMPARE_TENANTS, COMPARE_QUOTA,
			COMPARE_WHATIF },
		true },
};

static bool is_ours(const struct kind *kind, const char *name)
{
	for (size_t i = 0; kind->files[i]; i++) {
		if (!strcmp(name, kind->files[i]))
			return true;
	}
	return false;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* ---- what is there already */

enum place { NOTHING, EMPTY, OURS, FOREIGN };

static enum place look_inside(const struct kind *kind, DIR *in, char stranger[256]);

/* Whether an entry is a directory that holds a run and nothing else. */
static bool is_run(DIR *in, const char *name)
{
	int fd = openat(dirfd(in), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *inside = fd < 0 ? NULL : fdopendir(fd);
	char stranger[256];
	enum place place;

	if (!inside) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	place = look_inside(&kinds[DIR_RUN], inside, stranger);
	closedir(inside);
	return place == OURS;
}

/* Looks at the names in a directory; `stranger` gets one that is not ours. */
static enum place look_inside(const struct kind *kind, DIR *in, char stranger[256])
{
	enum place place = EMPTY;
	struct dirent *entry;
	bool marked = false;

	while ((entry = readdir(in))) {
		const char *name = entry->d_name;

		if (is_dots(name))
			continue;
		if (!is_ours(kind, name) && !(kind->runs && is_run(in, name))) {
			snprintf(stranger, 256, "%s", name);
			return FOREIGN;
		}
		marked |= !strcmp(name, kind->files[0]);
		place = OURS;
	}
	if (place == OURS && !marked) {
		snprintf(stranger, 256, "no %s", kind->files[0]);
		return FOREIGN;
	}
	return place;
}

static int look(const struct kind *kind, const char *path, enum place *place, char stranger[256],
	struct err *err)
{
	DIR *in = opendir(path);

	if (!in && errno == ENOENT) {
		*place = NOTHING;
		return 0;
	}
	if (!in && errno == ENOTDIR)
		return err_set(err, ERR_REFUSED,
			"%s is a file, not a directory: name another place for the %s", path,
			kind->what);
	if (!in)
		return err_set(err, ERR_IO, "cannot look into %s: %s", path, strerror(errno));
	*place = look_inside(kind, in, stranger);
	closedir(in);
	return 0;
}

static int check_place(const struct run_dir *dir, bool replace, bool *replaces, struct err *err)
{
	const struct kind *kind = &kinds[dir->kind];
	char stranger[256] = "";
	enum place place = NOTHING;
	int rc = look(kind, dir->path, &place, stranger, err);

	if (rc < 0)
		return rc;
	if (place == FOREIGN)
		return err_set(err, ERR_REFUSED,
			"%s exists and is not a %s of Stint (it has %s): name another directory, "
			"or move it away",
			dir->path, kind->what, stranger);
	if (place == OURS && !replace)
		return err_set(err, ERR_REFUSED,
			"%s holds an earlier %s: name another directory, or remove it", dir->path,
			kind->what);
	*replaces = place == OURS;
	return 0;
}

/* ---- removing */

/*
 * Removes our files of a directory and of the runs in it, then the directory itself; anything else
 * in it makes rmdir() fail, which keeps it.
 */
static void remove_ours(const struct kind *kind, const char *path)
{
	DIR *in = kind->runs ? opendir(path) : NULL;
	struct dirent *entry;

	while (in && (entry = readdir(in))) {
		if (!is_dots(entry->d_name) && is_run(in, entry->d_name)) {
			char *run = path_join(path, entry->d_name);

			remove_ours(&kinds[DIR_RUN], run);
			free(run);
		}
	}
	if (in)
		closedir(in);
	for (size_t i = 0; kind->files[i]; i++) {
		char *file = path_join(path, kind->files[i]);

		unlink(file);
		free(file);
	}
	rmdir(path);
}

/* Removes every file of a directory that only Stint has written to, and of those one below. */
static void remove_building(const char *path, int depth)
{
	DIR *in = opendir(path);
	struct dirent *entry;

	while (in && (entry = readdir(in))) {
		if (!is_dots(entry->d_name) && unlinkat(dirfd(in), entry->d_name, 0) < 0 && depth > 0) {
			char *inside = path_join(path, entry->d_name);

			remove_building(inside, depth - 1);
			free(inside);
		}
	}
	if (in)
		closedir(in);
	rmdir(path);
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

/* Whether `name` is what sibling() makes of `base`. */
static bool is_sibling(const char *name, const char *base)
{
	size_t n = strlen(base);

	return name[0] == '.' && !strncmp(name + 1, base, n) && name[n + 1] == '.' &&
		strlen(name + n + 2) == 6 && !strchr(name + n + 2, '.');
}

/* Says that this process builds there; the kernel takes the word back when it ends, however it does. */
static int lock_building(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return 0;
	}
	return fd < 0 ? 0 : fd;
}

enum { STALE_S = 60 }; /* between making and locking a directory lies no minute */

static void remove_if_stale(const char *path)
{
	struct stat info;
	int lock;

	if (stat(path, &info) < 0 || info.st_mtime > time(NULL) - STALE_S)
		return;
	lock = lock_building(path);
	if (lock) {
		remove_building(path, 1);
		close(lock);
	}
}

/* What processes that were killed left beside `path`. */
static void remove_stale(const char *path)
{
	const char *base = path_base(path);
	char *parent = base == path ? mem_strdup(".") : mem_strndup(path, (size_t)(base - path));
	DIR *in = opendir(parent);
	struct dirent *entry;

	while (in && (entry = readdir(in))) {
		if (is_sibling(entry->d_name, base)) {
			char *left = path_join(parent, entry->d_name);

			remove_if_stale(left);
			free(left);
		}
	}
	if (in)
		closedir(in);
	free(parent);
}

/* mkdtemp() makes a private directory; a run is as readable as any other file of this user. */
static void open_to_others(const char *path)
{
	mode_t mask = umask(0);

	umask(mask);
	if (chmod(path, 0777 & ~mask) < 0)
		return; /* still readable by its owner */
}

int run_dir_open(struct run_dir *dir, enum dir_kind kind, const char *path, bool replace,
	struct err *err)
{
	struct run_dir d = { .kind = kind };
	int rc;

	if (!*path)
		return err_set(err, ERR_USAGE, "the name of the %s's directory is empty",
			kinds[kind].what);
	d.path = settle(path);
	rc = check_place(&d, replace, &d.replaces, err);
	if (!rc)
		rc = make_parent(d.path, err);
	if (rc < 0)
		goto fail;
	remove_stale(d.path);
	d.building = sibling(d.path);
	if (!mkdtemp(d.building)) {
		rc = err_set(err, ERR_IO, "cannot make a directory beside %s: %s", d.path,
			strerror(errno));
		free(d.building);
		goto fail;
	}
	open_to_others(d.building);
	d.lock = lock_building(d.building);
	*dir = d;
	return 0;
fail:
	free(d.path);
	return rc;
}

int run_dir_open_part(struct run_dir *dir, const struct run_dir *whole, const char *name,
	struct err *err)
{
	struct run_dir d = { .kind = DIR_RUN, .part = true, .building = run_dir_path(whole, name) };

	if (mkdir(d.building, 0777) < 0) {
		int rc = err_set(err, ERR_IO, "cannot make a directory for %s: %s", name,
			strerror(errno));

		free(d.building);
		return rc;
	}
	*dir = d;
	return 0;
}

void run_dir_drop_part(struct run_dir *dir)
{
	if (dir->building && dir->part)
		remove_building(dir->building, 0);
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

/* For file systems that cannot swap: for a moment there is none, but never half of one. */
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
		remove_ours(&kinds[dir->kind], aside);
	}
	free(aside);
	return rc;
}

/* Swaps the two directories: at no moment is there none. */
static int swap_in(const struct run_dir *dir)
{
	if (!renameat2(AT_FDCWD, dir->building, AT_FDCWD, dir->path, RENAME_EXCHANGE)) {
		remove_ours(&kinds[dir->kind], dir->building);
		return 0;
	}
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	return step_in(dir);
}

int run_dir_commit(struct run_dir *dir, struct err *err)
{
	bool replaces;
	/* The place may have changed while the run went. */
	int rc = check_place(dir, dir->replaces, &replaces, err);

	if (rc < 0)
		return rc;
	/* rename() takes the place of an empty directory. */
	if (replaces ? swap_in(dir) < 0 : rename(dir->building, dir->path) < 0)
		return err_set(err, ERR_IO, "cannot put the %s at %s: %s", kinds[dir->kind].what,
			dir->path, strerror(errno));
	dir->replaces = replaces;
	free(dir->building);
	dir->building = NULL;
	return 0;
}

void run_dir_abandon(struct run_dir *dir)
{
	if (dir->building && !dir->part)
		remove_building(dir->building, 1);
	if (dir->lock)
		close(dir->lock);
	free(dir->building);
	free(dir->path);
	*dir = (struct run_dir){ 0 };
}
