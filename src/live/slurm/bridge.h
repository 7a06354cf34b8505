/*
 * The bridge as a child process: its standard input and output are ours, what it
 * tells people goes where we do.
 */
#ifndef LIVE_SLURM_BRIDGE_H
#define LIVE_SLURM_BRIDGE_H

#include <sys/types.h>

#include "live/slurm/wire.h"

struct bridge {
	const char *const *command; /* NULL-terminated, must stay; without a slash it is looked for in $PATH */
	pid_t pid;
	int in, out; /* our ends */
};

/* A copy of the command to keep; every word of it and itself are to be freed. */
char **bridge_command(const char *const *from);

/* Its `self` is a struct bridge with the command set. */
extern const struct transport bridge_transport;

#endif
