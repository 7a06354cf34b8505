/*
 * Policies, placers and admission rules by name, with their options read.
 */
#ifndef ENGINE_RULES_H
#define ENGINE_RULES_H

#include "engine/engine.h"

/* "NAME[:options]"; NULL: the preset. */
struct rule_specs {
	const char *policy, *placer, *admit;
};

#define PRESET_POLICY "fifo"
#define PRESET_PLACER "first-fit"
#define PRESET_ADMIT "all"

/* Fills policy, placer and admission.  Release with rules_release(), also after a failure. */
int rules_choose(const struct rule_specs *specs, struct engine_config *out, struct err *err);
/* Whether the rules can work with a cluster and its tenants (not bound; NULL: none), before an engine is made of them. */
int rules_suit(const struct engine_config *config, const struct tenants *tenants, struct err *err);
/* The cells that the placer keeps, once it has begun; NULL: none. */
const struct cell_design *rules_cells(const struct engine_config *config);
/* Whether a daemon can use them; else what it would need. */
int rules_live(const struct engine_config *config, struct err *err);
void rules_release(struct engine_config *config);

#endif
