/*
 * The cluster that a question is about if nobody named one: the daemon's, else this machine.
 *
 * For verbs that need no daemon but are mostly asked about the one that runs here.  They have flags_daemon,
 * so that another daemon can be meant.
 */
#ifndef CLI_AT_HAND_H
#define CLI_AT_HAND_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/command.h"
#include "live/local/host_shape.h"
#include "model/cluster.h"

struct at_hand {
	struct cluster cluster; /* its spec is the name of the machine */
	bool daemon;            /* one answered */
	char host[256];
	struct host_shape shape; /* of that machine, as far as known */
};

/* On success `out` owns the cluster: cluster_fini().  A daemon that is named (--socket) must answer. */
int at_hand_find(const struct args *args, struct at_hand *out, struct err *err);

/*
 * The cluster that --cluster names, else the one at hand, and standard error is told which that is.  The
 * caller's, as above.  ERR_USAGE with `question` and how to name one: none was named, and none can be found.
 */
int at_hand_cluster(const struct args *args, const char *question, struct cluster *out,
	struct err *err);

#endif
