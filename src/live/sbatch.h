/*
 * Scripts with what they want in comments at their head:
 *
 *	#!/bin/bash
 *	#SBATCH --job-name=resnet --gres=gpu:a100:2
 *	#SBATCH -t 2:00:00
 *	#STINT --min-gpus 1
 *	python train.py
 *
 * #SBATCH lines mean what they mean to Slurm's sbatch, #STINT lines are flags
 * of `stint submit`.  Both end at the first command, and the last one that says a thing
 * counts.  What Slurm knows and has no meaning here is noted and ignored; what
 * it does not know is an error.
 */
#ifndef LIVE_SBATCH_H
#define LIVE_SBATCH_H

#include <stddef.h>

#include "base/err.h"
#include "live/submission.h"

/*
 * Sets what the script's comments say in `s`; the script itself is not kept.  `where` names it in messages.
 * ERR_FORMAT: "WHERE:LINE: OPTION: …"; `s` may have been changed in part then.
 */
int sbatch_read(struct submission *s, const char *where, const char *text, size_t n,
	const struct submission_context *context, struct err *err);

#endif
