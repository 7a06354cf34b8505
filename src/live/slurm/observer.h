/* placeholder until merged */
#ifndef LIVE_SLURM_OBSERVER_H
#define LIVE_SLURM_OBSERVER_H
#include "live/slurm/hands.h"
int slurm_observer_open(const struct hands_config *config, const struct slurm_options *options,
	struct hands **out, struct err *err);
#endif
