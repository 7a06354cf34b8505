/*
 * A short conversation with a Slurm cluster, for commands that ask and go.
 */
#ifndef CLI_SLURM_TALK_H
#define CLI_SLURM_TALK_H

#include <jansson.h>

#include "base/err.h"
#include "cli/slurm_flags.h"

/*
 * Says hello and then `requests` (a list, whose reference is taken), and waits for every answer.  `answers` gets
 * the list of them, hello's first; json_decref() it.  A failure that leaves nothing to go on with is an
 * error with what to do.
 */
int slurm_talk(const struct slurm_words *words, json_t *requests, json_t **answers, struct err *err);
/* The error that an answer is, if it is one; else 0. */
int slurm_talk_failed(const json_t *answer, struct err *err);

#endif
