/*
 * Directories of jobs that were pruned: STATE/jobs/ID goes with what Stint put there.
 */
#ifndef LIVE_JOB_DIRS_H
#define LIVE_JOB_DIRS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct job_dirs {
	uint64_t removed;
	uint64_t left; /* have files that are not Stint's, which stay */
};

/* Whether the directory of that job may go. */
typedef bool job_dirs_may_go(void *ctx, uint32_t job);

/*
 * Looks at every directory once, follows no symbolic link, and removes only files that Stint makes.  `stop` ends it
 * early; NULL: nothing does.  ERR_IO where STATE/jobs cannot be read; no such directory is fine.
 */
int job_dirs_sweep(const char *state_dir, job_dirs_may_go *may_go, void *ctx,
	const atomic_bool *stop, struct job_dirs *out, struct err *err);

#endif
