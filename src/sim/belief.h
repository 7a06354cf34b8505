/*
 * What policies believe of speeds where they do not know the truth: chosen by
 * a line of options, completed by a method of solver/completion.h, refined by
 * what jobs show while they run.
 */
#ifndef SIM_BELIEF_H
#define SIM_BELIEF_H

#include <stdint.h>

#include "base/err.h"
#include "base/option.h"
#include "engine/observer.h"
#include "model/estimate.h"
#include "model/trace.h"

/* For help, and for checking a line before anything is read. */
extern const struct option belief_options[];

/* The options of `spec` ("known=0.3,method=als") in full, so that two spellings are one; malloc'ed. */
int belief_spell(const char *spec, char **out, struct err *err);

/* A line for each option, for people. */
void belief_help(struct buf *out);

struct belief_source {
	const struct cluster *cluster; /* these three are kept */
	const struct trace *trace;
	const struct profile *truth;
	uint64_t seed;
};

struct belief;

/* ERR_USAGE for options that do not exist.  One belief serves one run, since it learns. */
int belief_create(const char *spec, const struct belief_source *source, struct belief **out,
	struct err *err);
void belief_destroy(struct belief *belief);

const struct profile *belief_profile(const struct belief *belief);
/* To be told every event; does nothing if the belief shall not learn. */
struct observer belief_observer(struct belief *belief);

/* How far it is from the truth: as it was created, and now. */
struct belief_error {
	struct estimate_error alone, beside;
};
struct belief_error belief_error_before(const struct belief *belief);
struct belief_error belief_error_now(const struct belief *belief);
struct estimate_counts belief_counts(const struct belief *belief);

#endif
