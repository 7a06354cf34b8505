/*
 * One process at a time uses a state directory: the daemon, or a command that replaces its record.
 *
 * Locked are the directory `jobs` in it and the file `lock`.  A file can be deleted and made again,
 * and then two processes lock two files; a directory cannot without everything in it.  The file is
 * for daemons of before, which know no other lock.  (The state directory itself is locked for moments
 * by who makes a socket in it.)
 */
#ifndef STORE_STATE_LOCK_H
#define STORE_STATE_LOCK_H

#include "base/err.h"

struct state_lock {
	int dir, file; /* -1: not held */
};

#define STATE_UNLOCKED ((struct state_lock){ -1, -1 })

/* The directory must be there; `jobs` is made.  Waits a moment for a daemon that is dying.  ERR_REFUSED: it is in use. */
int state_lock(const char *dir, struct state_lock *out, struct err *err);
/* The same without waiting. */
int state_lock_now(const char *dir, struct state_lock *out, struct err *err);
void state_unlock(struct state_lock *lock);

#endif
