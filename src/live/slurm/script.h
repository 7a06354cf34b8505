/*
 * The batch script that Slurm runs for a job of ours: it says what only the run
 * knows (which node, how many GPUs, which restart) and becomes the command, so
 * that signals reach that.
 */
#ifndef LIVE_SLURM_SCRIPT_H
#define LIVE_SLURM_SCRIPT_H

#include "base/text.h"
#include "live/hands.h"

void script_write(const struct launch *launch, struct buf *out);

/* A word for sh(1), in quotes. */
void script_quote(const char *word, struct buf *out);

#endif
