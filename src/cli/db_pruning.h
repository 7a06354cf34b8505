/*
 * What pruning the record would do, found out by reading: shared by `stint db prune` and `stint db status`.
 */
#ifndef CLI_DB_PRUNING_H
#define CLI_DB_PRUNING_H

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
/* "1.2 GB". */
void pruning_add_size(struct buf *out, double bytes);
/* "s" unless it is one. */
const char *pruning_plural(uint64_t n);

#endif
