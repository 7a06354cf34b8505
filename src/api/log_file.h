/*
 * Opening a job's output for whoever asks for it.
 *
 * Output that Stint keeps lies in its own directory and is opened as the daemon.
 * A file that the job named (--output) lies where its user may put anything: a
 * daemon of root's opens it as that user, with the user's groups and no power of
 * root's, and follows no symbolic link on the way there but root's own (a /home
 * that points elsewhere).  So nobody reads through the daemon what they cannot
 * read themselves.
 */
#ifndef API_LOG_FILE_H
#define API_LOG_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "daemon/daemon.h"

struct log_place {
	char *path; /* NULL: none */
	bool named; /* by the job itself */
	uid_t uid;  /* of the job, where it named the file */
	gid_t gid;
};

/* From the answer of the verb `log`.  log_place_fini(). */
void log_place_read(struct log_place *place, const json_t *said);
void log_place_copy(struct log_place *to, const struct log_place *from);
void log_place_fini(struct log_place *place);

/* A plain file, no link, and one that is theirs: -1 with errno, ENOENT for whatever is not. */
int log_open(const struct caller *caller, const struct log_place *place);

#endif
