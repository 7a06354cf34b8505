/*
 * Borrowed servers: which nodes of the cluster belong to an inference side,
 * and how many of them it lends at what time.
 *
 * Said as FILE[:OPTIONS]: the file is that of io/loan_io.h, the options say
 * which nodes are meant: type=T4, all nodes of that type; nodes=8, the last
 * eight of the cluster.  Without either they are the last ones, as many as the
 * file ever lends.
 */
#ifndef SIM_LOAN_H
#define SIM_LOAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "model/cluster.h"

struct loan_step {
	double at_s;
	uint32_t servers; /* lent from then on; none before the first step */
};

/* A zeroed one is empty: nothing is borrowed.  Release with loan_fini(). */
struct loan {
	bool *pool;       /* by node: it belongs to the inference side; NULL: empty */
	uint32_t servers; /* of them */
	VEC(struct loan_step) steps;
};

/* The file's name in a spec, malloc'ed. */
char *loan_path(const char *spec);

/* Errors name the file and line, the option, or the type. */
int loan_create(const char *spec, const struct cluster *cluster, struct loan *out, struct err *err);
void loan_fini(struct loan *loan);

#endif
