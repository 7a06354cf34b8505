/*
 * A cluster with more or fewer devices than another: what "what if we had …"
 * and "how few would do" are asked of.
 */
#ifndef MODEL_CLUSTER_CHANGE_H
#define MODEL_CLUSTER_CHANGE_H

#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/cluster.h"

enum { TYPE_NAME_MAX = 64 };

/* "2x8:a100" is two nodes of eight; "4:a100" is four devices, wherever they are. */
struct cluster_change {
	uint32_t nodes;   /* 0: only devices are counted */
	uint32_t devices; /* of each node, or in all */
	char type[TYPE_NAME_MAX];
};

/* One change; ERR_USAGE says how it is written. */
int cluster_change_parse(struct slice text, struct cluster_change *out, struct err *err);

/*
 * Adds nodes.  Devices without nodes come in nodes as large as those of the type here (else of
 * eight), the rest in a smaller one.  CPUs, memory, rack and links are as of a node of the type.  What
 * was done is added to `said`, "1 node of 4 a100".  A type that neither the cluster nor the catalogue
 * knows is ERR_USAGE.
 */
int cluster_grow(struct cluster *cluster, const struct cluster_change *change, struct buf *said,
	struct err *err);

/*
 * A cluster of nodes of one type alone, `change->nodes` of them, each like one that `model` has of
 * that size, else as cluster_grow() would add it; racks and network are those of `model`.  `model` may
 * be empty.  Release with cluster_fini().
 */
int cluster_only(const struct cluster *model, const struct cluster_change *change,
	struct cluster *out, struct err *err);

/*
 * Takes devices away: the last nodes of the type first, whole as far as that goes; with nodes, only
 * nodes of that size.  A type without any left is forgotten.  More than there is, and everything, is
 * ERR_USAGE.
 */
int cluster_shrink(struct cluster *cluster, const struct cluster_change *change, struct buf *said,
	struct err *err);

/* Whether cluster_parse() of what cluster_format() says decides the same. */
bool cluster_is_short(const struct cluster *cluster);
/* Of all devices whose price is known. */
double cluster_price_per_h(const struct cluster *cluster);

#endif
