/*
 * Running a daemon until it is told to stop: for `stint daemon` and those that look
 * at a Slurm cluster.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli/command.h"
#include "daemon/daemon.h"

struct serve_world {
	const struct slurm_options *slurm; /* NULL: this machine */
	bool observe;                      /* it only looks on */
	double born_s;                     /* the record's zero where it is new; 0: now */
	/* Before it decides anything; NULL: nothing to do. */
	int (*opened)(void *ctx, struct daemon *daemon, struct err *err);
	void *ctx;
};

int serve_daemon(const struct args *args, const struct serve_world *world, struct err *err);

extern const struct flag_group serve_flags_place, serve_flags_rules, serve_flags_output;

#endif
