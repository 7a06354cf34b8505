/*
 * What is said of a Slurm cluster on the command line.
 */
#ifndef CLI_SLURM_FLAGS_H
#define CLI_SLURM_FLAGS_H

#include "cli/command.h"
#include "live/slurm/hands.h"

/* Options, and the words they point to.  A zeroed one is empty. */
struct slurm_words {
	struct slurm_options options;
	char *program, *rate;
	const char *bridge[8]; /* the command */
};

/* ERR_MISSING where the bridge is not installed, with what to do. */
int slurm_words_read(const struct args *args, struct slurm_words *out, struct err *err);
void slurm_words_fini(struct slurm_words *words);

/* --driver, --partition, --take and how to ask; the last alone, for those that look on. */
extern const struct flag_group slurm_flags_drive, slurm_flags_look;

#endif
