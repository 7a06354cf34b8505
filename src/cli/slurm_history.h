/*
 * What Slurm did before Stint looked on: from sacct, from its job completion log, or
 * from files.
 */
#ifndef CLI_SLURM_HISTORY_H
#define CLI_SLURM_HISTORY_H

#include "cli/slurm_flags.h"
#include "daemon/daemon.h"
#include "model/trace.h"

/* A zeroed one is empty. */
struct slurm_history {
	const struct args *args;
	struct trace trace;
	double began_s; /* seconds since 1970 of the trace's 0; 0: there is no history */
	char *from;     /* for people */
};

/* Says what it found; that there is nothing is no error, unless a file was named. */
int slurm_history_read(const struct args *args, const struct slurm_words *words,
	struct slurm_history *out, struct err *err);
void slurm_history_fini(struct slurm_history *history);
/* Into the record of a daemon that was just opened; `ctx` is the history. */
int slurm_history_import(void *ctx, struct daemon *daemon, struct err *err);

extern const struct flag_group flags_slurm_history;

#endif
