/*
 * What happened, ready to happen again otherwise: the daemon's own record or
 * an imported trace, with the cluster, the tenants and the rules of then.
 *
 * whatif, capacity and advise make scenarios of it: each has the workload of the
 * history, a cluster and tenants of its own, and policies to try there.
 */
#ifndef CLI_PAST_H
#define CLI_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/setup.h"
#include "model/cluster.h"
#include "model/tenant.h"
#include "report/summary.h"
#include "store/run_dir.h"

/* --state, --since, --was, …: for all who read a history. */
extern const struct flag_group flags_past;

enum { RECENT_S = 7 * 86400 }; /* of a record, unless --since says otherwise */

struct past {
	const struct args *args;
	char *name;      /* for people: "trace.csv", "the record ~/.local/state/stint/stint.db" */
	char *source;    /* trace argument that gives it again */
	struct buf text; /* the trace in Stint's own CSV; empty: `source` is read instead */
	bool is_record;
	bool measured;                 /* as in struct past_wish */
	struct cluster cluster;        /* empty where nobody said */
	struct tenants tenants;        /* not bound */
	char *policy, *placer, *admit; /* who decided */
	uint64_t seed;
	uint32_t njobs;
	double from_s, to_s; /* arrivals */
	double busy_gpus;    /* on average, if nobody had waited; a rough guess */
	uint32_t left_out;   /* jobs before --since */
	struct summary real; /* of a record: how it really went */
};

/* What a verb needs beside what the flags say. */
struct past_wish {
	bool cluster;  /* there must be one */
	bool measured; /* run times are of the only type there is, also where that will be gone */
	const struct words *new_types; /* which jobs that name no type may use, too; NULL: none */
};

/*
 * Of the operand (a trace, a daemon's directory or a copy of its stint.db), of --state, or of the
 * daemon's usual place.  Says what it read.  An empty one is ERR_MISSING.  Release with
 * past_fini(), also after a failure.
 */
int past_read(const struct args *args, const struct past_wish *wish, struct past *out, struct err *err);
void past_fini(struct past *past);

/* "37 jobs of the last 7d of …". */
void past_title(const struct past *past, struct buf *out);

/* ---- scenarios */

struct scenario {
	struct args args; /* as if this had been asked for */
	struct setup setup;
	char *cluster_spec;
	struct words policies, placers;
};

struct scenario_wish {
	const struct cluster *cluster;
	const struct tenants *tenants; /* may be empty */
	const char *tenants_path;      /* where they can be read again; NULL: nowhere */
	struct words policies;         /* beside the one of then, which is the first */
	const char *placer;            /* likewise; NULL: none */
	const char *admit;             /* instead of the one of then; NULL: that one */
	bool quiet;                    /* what is to be said of the workload was said */
};

/*
 * Reads the workload for that cluster.  Copies cluster and tenants; stays where it is: speeds know
 * its address.  Release with scenario_fini(), also after a failure.
 */
int scenario_init(struct scenario *scenario, const struct past *past,
	const struct scenario_wish *wish, struct err *err);
void scenario_fini(struct scenario *scenario);
/* The pairing of the i-th policy (0: of then) with the placer of then, or the other one. */
const struct pairing *scenario_pair(const struct scenario *scenario, size_t policy, bool other_placer);

/*
 * Where run times were measured on a type that this cluster has not, they become those on `type`, by
 * the speeds of the models there and here; what is not known stays.  ERR_* where speeds cannot be read.
 */
int scenario_translate(struct scenario *scenario, const char *type, struct err *err);
/* Whether any does: else nothing is known of how fast jobs are on another type. */
bool scenario_names_models(const struct scenario *scenario);

/*
 * Writes the trace into --out, which is being built, unless it is a file already: what the runs
 * there name as theirs.
 */
int past_keep(const struct past *past, const struct run_dir *dir, struct err *err);

#endif
