/*
 * Manual pages in roff, from the table of commands: "stint.1" for the whole,
 * "stint-sim.1" and the like for each verb.
 */
#ifndef CLI_MAN_H
#define CLI_MAN_H

#include "base/err.h"
#include "base/text.h"
#include "cli/command.h"

/* `command` NULL: the page of stint itself. */
void man_page(const struct command *command, struct buf *out);
/* "stint-trace-check.1". */
void man_file(const struct command *command, struct buf *out);

#endif
