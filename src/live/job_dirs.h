/*
 * Directories of jobs, STATE/jobs/ID: how much output Stint keeps there, and removing those of jobs that were pruned
 * with what Stint put there.
 */
#ifndef LIVE_JOB_DIRS_H
#define LIVE_JOB_DIRS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

struct job_dirs {
	uint64_t removed;
	uint64_t left; /* have files that are not Stint's, which stay */
};

/* Whether the directory of that job may go. */
typedef bool job_dirs_may_go(void *ctx, uint32_t job);

/* Bytes that a file has on the disk: one with a hole is longer than that. */
int64_t job_dirs_bytes(const struct stat *file);
/* Bytes of stdout and stderr that Stint keeps of an attempt, and of all attempts of a job. */
int64_t job_dirs_output(const char *state_dir, uint32_t job, uint32_t attempt);
int64_t job_dirs_output_of(const char *state_dir, uint32_t job);

typedef void job_dirs_see(void *ctx, uint32_t job, uint32_t attempt, int64_t output_bytes);
/* Every attempt that has a directory, in no order; `stop` and errors as for job_dirs_sweep(). */
int job_dirs_walk(const char *state_dir, job_dirs_see *see, void *ctx, const atomic_bool *stop,
	struct err *err);

/*
 * Looks at every directory once, follows no symbolic link, and removes only files that Stint makes.  `stop` ends it
 * early; NULL: nothing does.  ERR_IO where STATE/jobs cannot be read; no such directory is fine.
 */
int job_dirs_sweep(const char *state_dir, job_dirs_may_go *may_go, void *ctx,
	const atomic_bool *stop, struct job_dirs *out, struct err *err);

#endif
