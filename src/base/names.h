/*
 * Strings as small numbers: each distinct text is stored once.
 */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define NAME_NONE UINT32_MAX

/* A zeroed table is valid and empty. */
struct names {
	struct arena text;
	const char **at; /* by number */
	uint64_t *hashes;
	uint32_t *slots; /* open addressing: number + 1 */
	uint32_t n, cap, nslots;
};

void names_fini(struct names *names);
/* The same texts by the same numbers. */
void names_copy(const struct names *from, struct names *out);
/* The number of the text, new if unseen.  A NUL inside ends the text. */
uint32_t names_add(struct names *names, const char *text, size_t n);
/* The number of the text, or NAME_NONE. */
uint32_t names_find(const struct names *names, const char *text, size_t n);

#endif
