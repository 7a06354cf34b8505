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
#include "model/tenant.h"
#include "sim/loan.h"
#include "sim/sim.h"

/* With flags_workload, all that shapes results: a manifest's command repeats them. */
extern const struct flag_group flags_deciders, flags_world, flags_belief;
/* For the help of commands with flags_belief: the options of --estimate. */
void help_estimate(struct buf *out);

/* What was asked for of one kind. */
struct chosen_list {
	struct chosen *at;
	size_t n;
};

/* A policy and the placer it works with. */
struct pairing {
	const struct chosen *policy, *placer;
	char *label; /* "srtf"; "srtf / consolidate" where there are several placers */
};

struct setup {
	const struct args *args;
	struct chosen_list policies, placers;
	struct pairing *pairings; /* every policy with every placer, placer by placer */
	size_t npairings;
	struct chosen admit;
	char *estimate; /* options in full; NULL: speeds are known */
	struct cluster cluster;
	struct tenants tenants; /* not bound; empty: none were given */
	struct workload base;
	struct loan loan; /* empty: nothing is borrowed */
	/* Of the files' bytes; 0: there is none. */
	uint64_t throughputs_hash, host_profiles_hash, failures_hash, loan_hash;
};

/* How many rules the words of --policy or --placer name, lists taken apart. */
size_t setup_count(const struct words *words);

/* The steps of setup_read(), for who has some of the parts already. */
int setup_rules(const struct args *args, struct setup *out, struct err *err);
int setup_cluster(const char *spec, struct cluster *out, struct err *err);
/* Reads --loan, if it is there; `out` must be empty. */
int setup_loan(const struct args *args, const struct cluster *cluster, struct loan *out,
	uint64_t *hash, struct err *err);
/* Whether the admission rule of that text ("quota", "load:…") keeps tenants' quotas. */
bool setup_keeps_quotas(const char *admit);
/* Reads --tenants, if it is there. */
int setup_tenants(const struct args *args, struct tenants *out, struct err *err);

/*
 * Everything that the flags name, cheapest checks first.  Release with setup_fini(),
 * also after a failure.
 */
int setup_read(const struct args *args, const char *trace, struct setup *out, struct err *err);
void setup_fini(struct setup *setup);

/* Of the bytes of a file, unpacked; 0 where `path` is NULL or "-". */
int file_hash(const char *path, uint64_t *out, struct err *err);

/* One run.  Borrows everything. */
void setup_config(const struct setup *setup, const struct workload *workload,
	const struct pairing *pair, uint64_t seed, struct sim_config *out);

/* One word as a shell needs it. */
void quote_word(struct buf *out, const char *word);
/* The command line of one run that gives the same result, quoted for a shell. */
void setup_command(const struct setup *setup, const struct workload *workload,
	const struct pairing *pair, uint64_t seed, struct buf *out);
/* The command line as it was given, but for how results are shown. */
void args_command(const struct args *args, struct buf *out);
/* Placer, error, costs and the like as one line for people. */
void setup_settings(const struct setup *setup, struct buf *out);

#endif
