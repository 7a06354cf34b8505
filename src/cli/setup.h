/*
 * From flags to something that can run: rules checked, cluster and workload
 * read, one sim_config for each run.  Shared by sim, compare and replay.
 */
#ifndef CLI_SETUP_H
#define CLI_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/rules.h"
#include "cli/workload.h"
#include "model/cluster.h"
#include "sim/sim.h"

/* With flags_workload, all that shapes results: a manifest's command repeats them. */
extern const struct flag_group flags_deciders, flags_world, flags_belief;

struct setup {
	const struct args *args;
	struct chosen *policies;
	size_t npolicies;
	struct chosen placer, admit;
	struct cluster cluster;
	struct workload base;
};

/* The steps of setup_read(), for who has some of the parts already. */
int setup_rules(const struct args *args, struct setup *out, struct err *err);
int setup_cluster(const char *spec, struct cluster *out, struct err *err);

/*
 * Everything that the flags name, cheapest checks first.  Release with setup_fini(),
 * also after a failure.
 */
int setup_read(const struct args *args, const char *trace, struct setup *out, struct err *err);
void setup_fini(struct setup *setup);

/* One run.  Borrows everything. */
void setup_config(const struct setup *setup, const struct workload *workload,
	const struct chosen *policy, uint64_t seed, struct sim_config *out);

/* The command line of one run that gives the same result, quoted for a shell. */
void setup_command(const struct setup *setup, const struct workload *workload,
	const struct chosen *policy, uint64_t seed, struct buf *out);
/* The command line as it was given, but for how results are shown. */
void args_command(const struct args *args, struct buf *out);
/* Placer, error, costs and the like as one line for people. */
void setup_settings(const struct setup *setup, struct buf *out);

#endif
