#include "live/job_dirs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* Files of guards, the daemon and the Slurm driver; also with an ending, while they are being written. */
static const char *const ours[] = { "begun", "ended", "grant", "script", "stdout", "stderr", "slurm" };

static bool is_ours(const char *name)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		size_t n = strlen(ours[i]);

		if (!strncmp(name, ours[i], n) && (name[n] == 0 || name[n] == '.'))
			return true;
	}
	return false;
}

/* A job's or an attempt's number; 0: it is none. */
static uint32_t number_of(const char *name)
{
	unsigned long long n = 0;

	for (const char *c = name; *c; c++) {
		if (!isdigit((unsigned char)*c) || n > UINT32_MAX)
			return 0;
		n = n * 10 + (unsigned)(*c - '0');
	}
	return name[0] == '0' || n > UINT32_MAX ? 0 : (uint32_t)n;
}

/* The directory of an attempt, or of one that foreign_set_aside() renamed: "2", "2.3f2a91bc.1", "2.unmarked.1". */
static bool is_attempt(const char *name)
{
	char number[16];
	size_t n = strcspn(name, ".");

	if (n >= sizeof(number))
		return false;
	memcpy(number, name, n);
	number[n] = 0;
	if (!number_of(number) || !name[n])
		return number_of(number) > 0;
	name += n + 1;
	n = strcspn(name, ".");
	return (!strncmp(name, "unmarked", n) || strspn(name, "0123456789abcdef") == n) &&
		n == strlen("unmarked") && name[n] && number_of(name + n + 1);
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static DIR *open_dir(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Each directory of a job, by its name in the open directory of all. */
typedef void each_job(void *ctx, int jobs, const char *name, uint32_t job);

static int for_each_job(const char *state_dir, each_job *see, void *ctx, const atomic_bool *stop,
	struct err *err)
{
	char *path = mem_printf("%s/jobs", state_dir);
	DIR *jobs = open_dir(AT_FDCWD, path);
	struct dirent *entry;
	int rc = 0;

	if (!jobs && errno != ENOENT)
		rc = err_set(err, ERR_IO, "cannot read %s: %s", path, strerror(errno));
	while (jobs && !(stop && atomic_load(stop)) && (entry = readdir(jobs))) {
		uint32_t job = number_of(entry->d_name);

		if (job)
			see(ctx, dirfd(jobs), entry->d_name, job);
	}
	if (jobs)
		closedir(jobs);
	free(path);
	return rc;
}

/* ---- kept output */

int64_t job_dirs_bytes(const struct stat *file)
{
	int64_t blocks = (int64_t)file->st_blocks * 512;

	return blocks < file->st_size ? blocks : file->st_size;
}

static int64_t file_bytes(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)
		? job_dirs_bytes(&st)
		: 0;
}

int64_t job_dirs_output(const char *state_dir, uint32_t job, uint32_t attempt)
{
	char *path = mem_printf("%s/jobs/%u/%u", state_dir, job, attempt);
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int64_t bytes = 0;

	free(path);
	if (dir < 0)
		return 0;
	bytes = file_bytes(dir, "stdout") + file_bytes(dir, "stderr");
	close(dir);
	return bytes;
}

/* The attempts in an open directory of a job, which is closed. */
static void walk_job(DIR *dir, uint32_t job, job_dirs_see *see, void *ctx)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		uint32_t attempt = number_of(entry->d_name);
		char out[300], err_out[300];

		if (!attempt)
			continue;
		snprintf(out, sizeof(out), "%s/stdout", entry->d_name);
		snprintf(err_out, sizeof(err_out), "%s/stderr", entry->d_name);
		see(ctx, job, attempt, file_bytes(dirfd(dir), out) + file_bytes(dirfd(dir), err_out));
	}
	closedir(dir);
}

static void add_bytes(void *ctx, uint32_t job, uint32_t attempt, int64_t output_bytes)
{
	(void)job;
	(void)attempt;
	*(int64_t *)ctx += output_bytes;
}

int64_t job_dirs_output_of(const char *state_dir, uint32_t job)
{
	char *path = mem_printf("%s/jobs/%u", state_dir, job);
	DIR *dir = open_dir(AT_FDCWD, path);
	int64_t sum = 0;

	free(path);
	if (dir)
		walk_job(dir, job, add_bytes, &sum);
	return sum;
}

struct walk {
	job_dirs_see *see;
	void *ctx;
};

static void walk_one(void *self, int jobs, const char *name, uint32_t job)
{
	const struct walk *walk = self;
	DIR *dir = open_dir(jobs, name);

	if (dir)
		walk_job(dir, job, walk->see, walk->ctx);
}

int job_dirs_walk(const char *state_dir, job_dirs_see *see, void *ctx, const atomic_bool *stop,
	struct err *err)
{
	struct walk walk = { see, ctx };

	return for_each_job(state_dir, walk_one, &walk, stop, err);
}

/* ---- removing */

/* What is in it and Stint's; `attempts`: also directories of attempts.  What stays keeps the directory. */
static bool remove_dir(int parent, const char *name, bool attempts)
{
	DIR *dir = open_dir(parent, name);
	struct dirent *entry;

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		if (attempts && is_attempt(entry->d_name))
			remove_dir(dirfd(dir), entry->d_name, false);
		else if (is_ours(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	closedir(dir);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

struct sweep {
	job_dirs_may_go *may_go;
	void *ctx;
	struct job_dirs *out;
};

static void sweep_one(void *self, int jobs, const char *name, uint32_t job)
{
	const struct sweep *sweep = self;

	if (!sweep->may_go(sweep->ctx, job))
		return;
	if (remove_dir(jobs, name, true))
		sweep->out->removed++;
	else
		sweep->out->left++;
}

int job_dirs_sweep(const char *state_dir, job_dirs_may_go *may_go, void *ctx,
	const atomic_bool *stop, struct job_dirs *out, struct err *err)
{
	struct sweep sweep = { may_go, ctx, out };

	*out = (struct job_dirs){ 0 };
	return for_each_job(state_dir, sweep_one, &sweep, stop, err);
}
