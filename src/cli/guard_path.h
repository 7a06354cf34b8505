/*
 * Where stint-guard is, the parent of every job.
 */
#ifndef CLI_GUARD_PATH_H
#define CLI_GUARD_PATH_H

/*
 * Beside this program, else ../libexec/stint from there, else $STINT_GUARD: a stint that was built or
 * installed as a whole always runs its own guard.  Absolute and malloc'ed; NULL if there is none.
 */
char *guard_find(void);
/* The same for the program at `path`, which is absolute. */
char *guard_find_for(const char *path);

#endif
