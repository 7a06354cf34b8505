/*
 * Workloads as a person names them: files, generators and resamples.
 */
#ifndef CLI_WORKLOAD_H
#define CLI_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/command.h"
#include "io/notes.h"
#include "io/trace_io.h"
#include "model/cluster.h"
#include "model/profile.h"
#include "model/training.h"
#include "model/trace.h"

/* The flags that say how a trace is read. */
extern const struct flag_group flags_workload;

/* A trace and the speeds that go with it. */
struct workload {
	char *source; /* the trace argument that gives it again */
	struct trace trace;
	struct notes notes;
	const struct profile *profile;
	struct profile *own_profile; /* NULL: borrowed from the workload this one was drawn from */
	struct hosting *own_hosting; /* of --host-profiles, which the profile points to; NULL: none */
	const struct training *training; /* of --profiles; NULL: there is none */
	struct training *own_training;   /* likewise */
	uint64_t profiles_hash;          /* of the files read; 0: none were */
};

/*
 * `source` is a file, "-", "synth:…" (drawn by `seed` unless it names its own) or
 * "resample:SEED:…" of any of these.  What the reader notes goes to standard error.
 * Keeps `cluster`, and stays where it is: its speeds know its address.
 * Release with workload_fini().
 */
int workload_read(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err);
/*
 * The same from a file with the history of a cluster; where `cluster` has no nodes it becomes the one
 * that can be seen there (io/past_cluster.h).
 */
int workload_read_past(const struct args *args, const char *source, struct cluster *cluster,
	struct workload *out, struct err *err);
/* The same from the text of Stint's own CSV; `source` is the trace argument that would give it. */
int workload_read_text(const struct args *args, const char *source, struct slice text,
	const struct cluster *cluster, struct workload *out, struct err *err);
/*
 * A workload like `from` (cli/resample.h), which must outlive it.  Returns how
 * many dependencies were lost.
 */
uint32_t workload_resample(const struct workload *from, uint64_t seed, struct workload *out);
/* The `k`-th workload after `from` of the same generator; reads as workload_read() does. */
int workload_redraw(const struct args *args, const struct workload *from, uint64_t k,
	const struct cluster *cluster, struct workload *out, struct err *err);
void workload_fini(struct workload *workload);
/*
 * "synth:jobs=10" with seed 3 is "synth:jobs=10,seed=3"; what names a seed, or is no
 * generator, stays.  malloc'ed.
 */
char *workload_seeded(const char *source, uint64_t seed);
/* Whether another seed gives another workload. */
bool workload_is_drawn(const char *source);

/* Whether --profiles asks for those made from the catalogue; else it names a folder. */
bool profiles_are_synthetic(const char *profiles);

/* --assume-gpus into what the reader is told; NULL: nothing. */
int assume_gpus(const char *text, struct import_options *out, struct err *err);
/* ERR_USAGE with "did you mean" when --format names none. */
int check_format(const struct args *args, struct err *err);
/* ERR_MISSING when there is no such file; `what` names it for people. */
int input_exists(const char *what, const char *path, struct err *err);

#endif
