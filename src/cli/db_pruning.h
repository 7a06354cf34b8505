/*
 * What pruning the record would do, found out by reading: shared by `stint db prune` and `stint db status`.
 */
#ifndef CLI_DB_PRUNING_H
#define CLI_DB_PRUNING_H

#include <jansson.h>

#include "base/wallclock.h"
#include "cli/command.h"
#include "store/record_prune.h"

/* What is known before anything is done. */
struct pruning {
	const struct args *args;
	char *path, *dir; /* of the record, and the directory it is in */
	struct wallclock wall;
	double before_s;
	struct record_prune_plan plan;
	struct record_pruned pruned;
	struct record_size size;
	bool confirmed;
};

/* Of what ended longer than `older_s` ago.  Release with pruning_fini(). */
int pruning_look(const struct args *args, double older_s, struct pruning *out, struct err *err);
void pruning_fini(struct pruning *p);
/* Whether the record has a meta value of that name. */
bool pruning_has_meta(struct record *record, const char *key);
/* Whether a daemon uses the state directory. */
bool pruning_daemon_runs(const char *dir);
/*
 * The arguments to ask the daemon that uses the state directory `dir`: as said; else beside the record, where a daemon
 * with --state is; else the usual place.  `socket` is malloc'ed and outlives them.
 */
struct args pruning_daemon_args(const struct args *args, const char *dir, char **socket);
/* What the daemon says of its record; ERR_REFUSED if it is not that of `dir` (NULL: any). */
int pruning_ask_record(const struct args *args, const char *dir, json_t **reply, struct err *err);
/* "1.2 GB". */
void pruning_add_size(struct buf *out, double bytes);
/* "s" unless it is one. */
const char *pruning_plural(uint64_t n);

#endif
