/*
 * What the files of embeddings share: for nobody else.
 */
#ifndef SOLVER_EMBED_PARTS_H
#define SOLVER_EMBED_PARTS_H

#include "solver/embed.h"

/* embed_values() for rings and chains. */
void embed_walk(const struct embed_graph *g, uint32_t k, bool ring, embed_value *value, double *out);

#endif
