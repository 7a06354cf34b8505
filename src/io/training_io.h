/*
 * Profile folders: how models really train, as the artifacts of Pollux and Sia
 * have it.  doc/formats.md describes them.
 *
 *	DIR/MODEL/placements-TYPE.csv    local_bsz, step_time, sync_time, placement
 *	DIR/MODEL/scalability-TYPE.csv   local_bsz, step_time, sync_time, num_nodes, num_replicas
 *	DIR/MODEL/validation-BATCH.csv   progress, iteration, grad_sqr, grad_var by epoch
 *	DIR/MODEL/model.csv              name, value: what else is known; may be missing
 */
#ifndef IO_TRAINING_IO_H
#define IO_TRAINING_IO_H

#include "base/err.h"
#include "io/notes.h"
#include "model/training.h"

/*
 * Reads what DIR has of the models and of the cluster's types into `out` and finishes it.  A model without a
 * folder stays unknown; ERR_MISSING if that is all of them.  `hash` receives one of all files read.
 */
int training_read(const char *dir, const struct cluster *cluster, const struct names *models,
	struct training *out, struct notes *notes, uint64_t *hash, struct err *err);

/* What files of a type of that name end in: "aws" for t4, "dgx-ext" for a100, …; else the name itself. */
const char *training_suffix(const char *type);

/* ---- single files, from memory; `where` is for messages */

enum training_file {
	TRAINING_PLACEMENTS,
	TRAINING_SCALABILITY,
	TRAINING_VALIDATION,
	TRAINING_FACTS,
};

struct training_text {
	const char *where;
	const char *at;
	size_t n;
};

/* `model` was added before; `type` counts for the first two kinds, `batch` for the third. */
int training_read_text(enum training_file kind, struct training_text text, uint32_t model,
	uint32_t type, double batch, struct training *out, struct err *err);

#endif
