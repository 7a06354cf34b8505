/*
 * Retention while the daemon runs: pruning in small steps between decisions.
 *
 * --keep prunes what is older by itself, once a person has confirmed that this record may be
 * pruned; until then it only says what it would do.  `stint db prune` asks for a run at once.
 */
#ifndef DAEMON_RETAIN_H
#define DAEMON_RETAIN_H

#include "daemon/daemon_state.h"

struct retain;

/* When the record is open, before the first epoch. */
int retain_open(struct daemon *d, struct err *err);
/* After the workers have stopped.  Takes NULL. */
void retain_close(struct daemon *d);

/* Once a cycle, when nothing reads or writes the record. */
void retain_turn(struct daemon *d);
/* When it wants to be called again, by clock_wall_s(); INFINITY: not by itself. */
double retain_next_s(const struct daemon *d);

#endif
