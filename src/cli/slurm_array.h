/*
 * A job array of Slurm, by its programs: sbatch, squeue, scancel.
 */
#ifndef CLI_SLURM_ARRAY_H
#define CLI_SLURM_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

/* What "slurm:partition=gpu,time=60" says. */
struct array_options {
	char *flags[16]; /* of sbatch, malloc'ed */
	size_t nflags;
	char *dir;     /* that all nodes share; NULL: the current one */
	size_t tasks;  /* at most; as many as there are runs, but not more than ARRAY_TASKS */
	bool is_slurm; /* else "local" */
};

enum { ARRAY_TASKS = 500 }; /* half of what MaxArraySize is where nobody changed it */

/* `text` NULL: local.  ERR_USAGE names what there is.  Release with array_options_fini(). */
int array_options_read(const char *text, struct array_options *out, struct err *err);
void array_options_fini(struct array_options *options);

struct array {
	char id[32];
	size_t tasks;
};

/*
 * Submits `script` with so many tasks from 0; logs are DIR/log-0 and so on.  Errors say what Slurm did.
 */
int array_submit(const struct array_options *options, const char *script, const char *dir,
	size_t tasks, struct array *out, struct err *err);

/* What is left of it. */
struct array_state {
	bool *there; /* by task: waits or runs */
	size_t waiting, running;
	char reason[64]; /* why the first that waits does */
};

/* `out->there` has room for the tasks.  ERR_UNREACHABLE if Slurm does not answer now. */
int array_look(const struct array *array, struct array_state *out, struct err *err);
void array_cancel(const struct array *array);

#endif
