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
#include "io/notes.h"
#include "model/cluster.h"
#include "model/profile.h"
#include "model/trace.h"
#include "sim/sim.h"

/* The flags that say what is run; they shape results, so a manifest's command repeats them. */
extern const struct flag_group flags_workload, flags_deciders, flags_world, flags_belief;

/* A trace and the speeds that go with it. */
struct workload {
	char *source; /* the trace argument that gives it again */
	struct trace trace;
	struct notes notes;
	const struct profile *profile;
	struct profile *own_profile; /* NULL: borrowed from the workload this one was drawn from */
};

/*
 * `source` is a file, "-", "synth:…" (drawn by `seed` unless it names its own) or "resample:SEED:…" of any of these.
 * Messages of the reader go to standard error.  Keeps `cluster`.  Release with workload_fini().
 */
int workload_read(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err);
/*
 * A workload like `from` (cli/resample.h), which must outlive it.  Returns how many dependencies were lost.
 */
uint32_t workload_resample(const struct workload *from, uint64_t seed, struct workload *out);
/* The `k`-th further workload of the generator that `from` came from; reads as workload_read() does. */
int workload_redraw(const struct args *args, const struct workload *from, uint64_t k,
	const struct cluster *cluster, struct workload *out, struct err *err);
void workload_fini(struct workload *workload);
/* "synth:jobs=10" with seed 3 is "synth:jobs=10,seed=3"; what names a seed, or is no generator, stays.  malloc'ed. */
char *workload_seeded(const char *source, uint64_t seed);
/* Whether another seed gives another workload. */
bool workload_is_drawn(const char *source);

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

/* Everything that the flags name, cheapest checks first.  Release with setup_fini(), also after a failure. */
int setup_read(const struct args *args, const char *trace, struct setup *out, struct err *err);
void setup_fini(struct setup *setup);

/* One run.  Borrows everything. */
void setup_config(const struct setup *setup, const struct workload *workload,
	const struct chosen *policy, uint64_t seed, struct sim_config *out);

/* ERR_USAGE with "did you mean" when --format names none. */
int check_format(const struct args *args, struct err *err);
/* ERR_MISSING when there is no such file; `what` names it for people. */
int input_exists(const char *what, const char *path, struct err *err);

/* The command line of one run that gives the same result, quoted for a shell. */
void setup_command(const struct setup *setup, const struct workload *workload,
	const struct chosen *policy, uint64_t seed, struct buf *out);
/* The command line as it was given, but for how results are shown. */
void args_command(const struct args *args, struct buf *out);
/* "16x8:v100", or the file's name; "philly.csv (philly, 82,248 jobs)"; placer, error, costs as one line. */
void setup_settings(const struct setup *setup, struct buf *out);

#endif
