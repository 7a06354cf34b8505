/*
 * The hands of this machine.
 *
 * Each attempt has a directory STATE/jobs/JOB/ATTEMPT and a guard: a small process
 * of its own (stint-guard) that is the job's parent.  The guard claims the
 * directory, starts the command, passes on the stop, counts the grace, kills what
 * is left and writes down how it ended.  So a job needs the daemon neither to run
 * nor to be stopped in order, and a daemon that comes back finds everything in
 * files:
 *
 *	begun   made once, by link(2): whoever makes it owns the attempt.  The guard
 *	        writes who it is; a daemon that finds none may write "void" instead,
 *	        and then that attempt can never start
 *	ended   how it ended; made by rename(2), so it is whole or not there
 *	script  the text that is run, if it was given as text
 *	stdout, stderr   unless the job has paths of its own
 *	terminal   the socket of a job on a terminal, until its client has come
 *
 * A guard that is killed takes its command with it; what else it left is killed by the
 * daemon before the ending (not known) is told, found by its control group, its session
 * or STINT_DIR in its environment.  Where jobs run as other users the directory and its
 * notes are root's, and the user's are the script and the output.
 */
#ifndef LIVE_LOCAL_HANDS_H
#define LIVE_LOCAL_HANDS_H

#include "live/hands.h"
#include "live/local/discover.h"

struct local_options {
	const char *guard;      /* path of stint-guard */
	bool cgroups;           /* use them if they can be had */
	double claim_timeout_s; /* a guard that has not reported its claim by then is killed; 0: 30 s */
	struct machine_options machine;
};

int local_hands_open(const struct hands_config *config, const struct local_options *options,
	struct hands **out, struct err *err);

#endif
