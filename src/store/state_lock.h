/*
 * One process at a time uses a state directory: the daemon, or a command that replaces its record.
 *
 * Locked are the record stint.db, the directory `jobs` and the file `lock`.  The record is what two
 * processes must not write; its lock holds also where the two others were moved away.  They hold where
 * there is no record yet, or another file was put in its place.  The file is for daemons of before, which
 * know no other lock.  (The state directory itself is locked for moments by the daemon that makes a
 * socket in it.)
 */
#ifndef STORE_STATE_LOCK_H
#define STORE_STATE_LOCK_H

#include "base/err.h"

struct state_lock {
	int dir, file, record; /* -1: not held */
};

#define STATE_UNLOCKED ((struct state_lock){ -1, -1, -1 })

/* The directory must be there; `jobs` is made.  Waits a moment for a daemon that is dying.  ERR_REFUSED: it is in use. */
int state_lock(const char *dir, struct state_lock *out, struct err *err);
/* The same without waiting. */
int state_lock_now(const char *dir, struct state_lock *out, struct err *err);
/*
 * Locks a record that was made after the others were locked; 0 if it is locked already.  After a failure, too,
 * state_unlock() comes after the record is closed: closing a descriptor of it takes SQLite's locks away.
 */
int state_lock_record(const char *dir, struct state_lock *lock, struct err *err);
void state_unlock(struct state_lock *lock);

#endif
