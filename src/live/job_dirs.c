#include "live/job_dirs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
		if (attempts && number_of(entry->d_name))
			remove_dir(dirfd(dir), entry->d_name, false);
		else if (is_ours(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	closedir(dir);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

int job_dirs_sweep(const char *state_dir, job_dirs_may_go *may_go, void *ctx,
	const atomic_bool *stop, struct job_dirs *out, struct err *err)
{
	char *path = mem_printf("%s/jobs", state_dir);
	DIR *jobs = open_dir(AT_FDCWD, path);
	struct dirent *entry;
	int rc = 0;

	*out = (struct job_dirs){ 0 };
	if (!jobs && errno != ENOENT)
		rc = err_set(err, ERR_IO, "cannot read %s: %s", path, strerror(errno));
	while (jobs && !(stop && atomic_load(stop)) && (entry = readdir(jobs))) {
		uint32_t job = number_of(entry->d_name);

		if (!job || !may_go(ctx, job))
			continue;
		if (remove_dir(dirfd(jobs), entry->d_name, true))
			out->removed++;
		else
			out->left++;
	}
	if (jobs)
		closedir(jobs);
	free(path);
	return rc;
}
