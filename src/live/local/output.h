/*
 * Files that a job's output goes to.
 *
 * The user names a file (--output, --error), or Stint keeps the output in the
 * attempt's directory.  Both are opened here and nowhere else.
 */
#ifndef LIVE_LOCAL_OUTPUT_H
#define LIVE_LOCAL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Opens a file that the user named, for appending, with the rights of the calling process.
 *
 * Regular files are made where they do not exist, and emptied with `anew`.  A terminal, /dev/null, /dev/zero and
 * /dev/full are taken as they are, and so is a FIFO that has a reader.  All else is refused: directories, sockets,
 * block devices, other devices, symbolic links.  The call never waits for a reader; it can wait for a file system
 * that does not answer.  Returns the descriptor, or -1 with the reason in `why`.
 */
int output_open(const char *path, bool anew, char *why, size_t cap);

#endif
