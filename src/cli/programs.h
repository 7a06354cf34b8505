/*
 * Where the programs are that belong to this one: stint-guard, the parent of every
 * job, and stint-slurm, which speaks with Slurm.
 */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

/*
 * Beside this program, else ../libexec/stint from there, else $STINT_GUARD: a stint that was built or
 * installed as a whole always runs its own guard.  Absolute and malloc'ed; NULL if there is none.
 */
char *guard_find(void);
/* Another one, by its name and the variable that may name it. */
char *program_find(const char *name, const char *variable);
/* The same for the program at `path`, which is absolute. */
char *guard_find_for(const char *path);

#endif
