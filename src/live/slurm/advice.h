/*
 * What to do when Slurm cannot be asked: a sentence for each kind of failure.
 */
#ifndef LIVE_SLURM_ADVICE_H
#define LIVE_SLURM_ADVICE_H

#include "base/err.h"

/* Sets `err` from the kind and words of a failed answer (doc/slurm-protocol.md), with what to do.  Returns its code. */
int slurm_failed(const char *kind, const char *error, struct err *err);

#endif
