/*
 * Job files:
 *
 *	name: resnet
 *	gpus: 2
 *	time: 2h
 *	env:
 *	  SEED: 1
 *	command: python train.py --epochs 90
 *
 * The fields are those of submission_fields.def, and command (a text for the
 * shell, or a list of words as they are) and env.
 */
#ifndef LIVE_JOB_YAML_H
#define LIVE_JOB_YAML_H

#include <stddef.h>

#include "base/err.h"
#include "live/submission.h"

/*
 * Sets what the text says in `s`.  `where` names it in messages.  ERR_FORMAT: "WHERE:LINE: FIELD: …"; `s` may
 * have been changed in part then.
 */
int job_yaml_read(struct submission *s, const char *where, const char *text, size_t n,
	const struct submission_context *context, struct err *err);

#endif
