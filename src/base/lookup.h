/*
 * What to say when a name is in no table.
 */
#ifndef BASE_LOOKUP_H
#define BASE_LOOKUP_H

#include <stddef.h>

#include "base/err.h"

/* ERR_MISSING: "there is no KIND 'NAME'; did you mean 'x'?  `SEE` lists them". */
int lookup_failed(const char *kind, const char *name, const char *const *known, size_t n,
	const char *see, struct err *err);

#endif
