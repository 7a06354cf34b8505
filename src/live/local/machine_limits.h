/*
 * How many CPUs and how much memory this process may use, which can be less
 * than the machine has: its affinity, and the cgroups it is in.
 */
#ifndef LIVE_LOCAL_MACHINE_LIMITS_H
#define LIVE_LOCAL_MACHINE_LIMITS_H

#include <stdint.h>

struct limits {
	uint32_t cpus; /* at least 1; of a part of one nothing is counted unless it is all there is */
	int64_t mem_bytes; /* 0: unknown */
};

/* `root` stands before /proc and /sys: "" but in tests. */
void limits_read(const char *root, struct limits *out);

#endif
