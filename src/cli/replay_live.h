/*
 * Replaying what a daemon recorded: the same inputs, the same decisions.
 */
#ifndef CLI_REPLAY_LIVE_H
#define CLI_REPLAY_LIVE_H

#include <stdbool.h>

#include "cli/command.h"

/* Whether DIR is the state directory of a daemon. */
bool replay_is_live(const char *dir);
/* ERR_DIFFER at the first decision that came out otherwise. */
int replay_live(const struct args *args, const char *dir, struct err *err);

#endif
