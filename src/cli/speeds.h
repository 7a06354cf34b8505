/*
 * Where the speeds of a workload come from, said to a person: measured,
 * estimated from the catalogue, or assumed because nothing is known.
 */
#ifndef CLI_SPEEDS_H
#define CLI_SPEEDS_H

#include "cli/command.h"
#include "model/cluster.h"
#include "model/profile.h"
#include "model/trace.h"

/* A line for each type that is not in the catalogue and looks like a slip of one that is. */
void speeds_check_types(const struct args *args, const struct cluster *cluster);

/*
 * How the jobs measured in steps get their speed, with counts and what to do; which models the file
 * of speeds lacks; which types no job can use.
 */
void speeds_tell(const struct args *args, const struct trace *trace, const struct cluster *cluster,
	const struct profile *profile);

#endif
