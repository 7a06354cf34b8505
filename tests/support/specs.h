/*
 * Every policy as "name:options", from the tables: as it is, and with each of its options turned.
 */
#ifndef TESTS_SUPPORT_SPECS_H
#define TESTS_SUPPORT_SPECS_H

#include "base/option.h"
#include "base/vec.h"

/* A zeroed one is valid and empty. */
struct specs {
	char **at;
	size_t n, cap;
};

/* One rule as it is, and with each of its options turned. */
void specs_add(struct specs *out, const char *name, const struct option *options);
/* All policies; ONLY=gavel in the environment: those with that in their name.  Long searches are made short. */
void specs_of_policies(struct specs *out);
void specs_fini(struct specs *specs);

#endif
