/*
 * Processes of this machine: who one is for good, and the end of whole families.
 *
 * A process number is used again; together with the moment it started and the boot
 * it belongs to it names one process for ever.
 */
#ifndef LIVE_LOCAL_PROC_H
#define LIVE_LOCAL_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct proc_id {
	pid_t pid;
	uint64_t start; /* in clock ticks since boot */
	char boot[40];
};

/* ERR_MISSING if there is no such process, ERR_IO if that cannot be told (no descriptors left). */
int proc_identify(pid_t pid, struct proc_id *out);
/* A pidfd of just that process; ERR_MISSING if it is gone, ERR_IO if that cannot be told. */
int proc_open(const struct proc_id *id);

/* What a pass of killing found: those still there, and those of them that we may not kill. */
struct proc_left {
	uint32_t alive, forbidden;
};

/* SIGKILL to everything that descends from this process, which is to be a subreaper.  One pass. */
struct proc_left proc_kill_descendants(void);
/*
 * SIGKILL to what a dead guard left: its session, and all whose environment has `mark` ("NAME=value")
 * whatever became of their session.  One pass.
 */
struct proc_left proc_kill_orphans(const struct proc_id *guard, const char *mark);

/* CPU seconds of everything that descends from `root`, with children that were waited for; not its own. */
struct proc_cpu {
	pid_t root;
	double cpu_s;
	bool found; /* there is such a process */
};
/* All in one pass. */
void proc_cpu(struct proc_cpu *of, size_t n);

/* Bytes of memory that everything which descends from this process has; what is shared counts for each. */
int64_t proc_memory(void);

double proc_now_s(void);       /* since 1970, by the clock at the first call; steady from then on */
double proc_monotonic_s(void); /* for durations */

#endif
