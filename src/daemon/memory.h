/*
 * What the record remembers of jobs that have ended, as habits (sim/habits.h).
 * Read by a thread of its own over a connection of its own.
 */
#ifndef DAEMON_MEMORY_H
#define DAEMON_MEMORY_H

#include "sim/habits.h"
#include "store/record.h"

struct memory {
	char *path; /* of the record */
	struct record *record;
	struct habits habits;
	double until_s; /* jobs that ended up to here are known */
};

void memory_init(struct memory *memory, const char *state_dir);
void memory_fini(struct memory *memory);
/* Those who have ended since the last time; the habits are settled then. */
int memory_refresh(struct memory *memory, struct err *err);

#endif
