/*
 * What the record remembers of jobs that have ended, as habits (sim/habits.h).
 * For the forecaster's thread alone, over a connection of its own.
 */
#ifndef DAEMON_RECALL_H
#define DAEMON_RECALL_H

#include "sim/habits.h"
#include "store/record.h"

struct recall {
	char *path; /* of the record */
	struct record *record;
	struct habits habits;
	double until_s; /* jobs that ended up to here are known */
};

void recall_init(struct recall *recall, const char *state_dir);
void recall_fini(struct recall *recall);
/* Those who have ended since the last time; the habits are settled then. */
int recall_refresh(struct recall *recall, struct err *err);

#endif
