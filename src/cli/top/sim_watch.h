/*
 * A simulation on the screen of `top` as it goes: an observer that keeps what
 * there is to see, shows it a few times a second, and lets time pass at the
 * speed that was asked for.  It looks and never touches: a run is the same with
 * it and without.
 */
#ifndef CLI_TOP_SIM_WATCH_H
#define CLI_TOP_SIM_WATCH_H

#include "base/err.h"
#include "engine/observer.h"
#include "model/trace.h"
#include "report/term.h"

/* All borrowed for as long as the watch lives. */
struct sim_watch_config {
	const struct cluster *cluster;
	const struct trace *trace;
	const bool *pool; /* by node: it is lent, and not there at first; NULL: none */
	const char *title, *policy;
	double speed; /* simulated seconds in a real one; 0: as fast as it goes */
	struct term term;
};

struct sim_watch;

/* Takes the terminal. */
int sim_watch_create(const struct sim_watch_config *config, struct sim_watch **out, struct err *err);
/* Gives the terminal back, if that has not been done.  NULL is fine. */
void sim_watch_destroy(struct sim_watch *watch);

struct observer sim_watch_observer(struct sim_watch *watch);
/* Whether the terminal is its own: false once a person has left the screen, and the run goes on without. */
bool sim_watch_shown(const struct sim_watch *watch);
/* The run is over: shows the end until a person leaves, then gives the terminal back. */
void sim_watch_finish(struct sim_watch *watch);

#endif
