/*
 * Memory: allocators that abort when there is none, and arenas.
 *
 * An arena follows a lifetime (a round, a run): everything taken from it is
 * gone after arena_reset() or arena_fini(), and nothing is freed one by one.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);           /* zeroed */
void *mem_resize(void *p, size_t size); /* like realloc; new bytes are not zeroed */
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t n);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* n * each; aborts when that does not fit, so that no array is smaller than its user thinks. */
size_t mem_array_size(size_t n, size_t each);

struct arena_block;

/* A zeroed arena is valid and empty. */
struct arena {
	struct arena_block *blocks; /* newest first */
	size_t used;                /* bytes used in the newest block */
	size_t total;               /* bytes reserved, for reports */
};

/* Zeroed memory, aligned for any type.  Never NULL; size 0 is allowed. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t n);
char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Forgets everything but keeps the largest block for reuse. */
void arena_reset(struct arena *arena);
void arena_fini(struct arena *arena);

#define arena_array(arena, type, n) \
	((type *)arena_alloc((arena), mem_array_size((size_t)(n), sizeof(type))))
#define arena_new(arena, type) arena_array(arena, type, 1)

#endif
