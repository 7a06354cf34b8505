/*
 * What could come next on a command line, from the tables.  The scripts of all
 * shells ask here, so that they are short and never out of date.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include <stddef.h>

#include "base/text.h"

/*
 * `words` are those after "stint"; the last is the one being written, perhaps "".  Adds a line
 * "WORD<tab>what it is" for each word that could stand there, and ":files" or ":dirs" where a path could.
 */
void complete(const char *const *words, size_t n, struct buf *out);

/* The scripts, by shell; NULL shell after the last. */
struct completion_script {
	const char *shell, *text;
};
extern const struct completion_script completion_scripts[];

#endif
