/*
 * Lists of hosts as Slurm writes them: "gpu[01-03,07],login" is gpu01, gpu02,
 * gpu03, gpu07 and login.
 */
#ifndef IO_HOSTLIST_H
#define IO_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum {
	HOSTS_MAX = 100000, /* of one list */
	HOST_NAME_MAX_ = 256,
};

/*
 * Calls `each` with every name, in order; returns how many there were.  What is no list ends it: the
 * names before count.  `each` may be NULL.
 */
size_t hostlist_each(struct slice list, void (*each)(void *ctx, const char *name), void *ctx);

#endif
