/*
 * The nodes of a Slurm cluster as devices to run on.
 *
 * Slurm says how many GPUs of which type a node has, not which of them a job
 * gets: that it decides itself when the job starts.  So the devices of a node are
 * a count that is given numbers: "v100-1/gpu/0", "v100-1/gpu/1", ….  What jobs
 * that are not ours hold is taken off that count.
 */
#ifndef LIVE_SLURM_NODES_H
#define LIVE_SLURM_NODES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"
#include "live/machine.h"

struct slurm_node {
	char name[64];
	char type[48]; /* of its GPUs; "gpu" where Slurm does not say */
	uint32_t gpus, cpus;
	uint32_t others; /* GPUs of other types, which cannot be asked for by node alone */
	int64_t mem_bytes;
	bool usable; /* new jobs may start there */
	bool dead;   /* and none can run there */
	bool untyped;
	char why[96]; /* it is not usable */
	/* what differs all the time */
	uint32_t used;        /* GPUs, by anybody */
	double unexplained_s; /* since when more are used than jobs show; 0: they are not */
};

struct nodes {
	VEC(struct slurm_node) at; /* in Slurm's order */
};

/* Somebody who holds GPUs of a node and is not ours. */
struct nodes_guest {
	const char *node;
	uint32_t gpus;
	char who[80]; /* "job 4712 of ann" */
};

void nodes_fini(struct nodes *nodes);

/*
 * Takes in what the bridge says of nodes: those in `names` (a list of texts; NULL: all).  An answer that says
 * that nothing changed changes nothing.  Returns whether something differs from before.
 */
bool nodes_read(struct nodes *nodes, const json_t *answer, const json_t *names);

/* What people should know of them, a sentence a line: GPUs without a type, nodes with two.  Empty: nothing. */
void nodes_notices(const struct nodes *nodes, struct buf *out);

/* As something to run on; ERR_MISSING: there is not a single GPU.  Release it with machine_fini(). */
int nodes_machine(const struct nodes *nodes, const char *cluster, const char *version,
	struct machine *out, struct err *err);

/*
 * Which devices are up now: `held` (one for each device, or NULL) are those of attempts of ours, which stay up
 * while their node lives; of the rest as many as `guests` hold are not.  Those that were not up
 * for a guest's sake before are the first not to be.  MACHINE_UP, MACHINE_NEW.
 */
int nodes_refresh(const struct nodes *nodes, const struct nodes_guest *guests, size_t nguests,
	const bool *held, struct machine *machine);

#endif
