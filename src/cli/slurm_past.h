/*
 * The history of Slurm as a workload: --from-sacct and --from-jobcomp.
 *
 * The cluster may be left out: then it is what can be seen in the history, and
 * a message says what was assumed.
 */
#ifndef CLI_SLURM_PAST_H
#define CLI_SLURM_PAST_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/setup.h"

extern const struct flag_group flags_slurm_past;

/* Whether one of the flags is there. */
bool slurm_past_asked(const struct args *args);

/*
 * Makes the flags what they stand for (the format, and FILE as `*source`), or takes the operand TRACE.
 * ERR_USAGE unless there is exactly one of all.
 */
int slurm_past_source(struct args *args, const char **source, struct err *err);

/*
 * After setup_read(): tells what was assumed, and `args` (which `setup` borrows) names the cluster
 * that was seen.
 */
void slurm_past_tell(struct args *args, const struct setup *setup);

#endif
