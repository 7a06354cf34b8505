/*
 * Allocators that abort, and arenas made of growing blocks.
 */
#include "base/mem.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
	struct arena_block *next; /* the one before it in time */
	size_t size;
	alignas(max_align_t) char bytes[];
};

enum { FIRST_BLOCK = 4096 };

static _Noreturn void no_memory(size_t wanted)
{
	fprintf(stderr, "stint: out of memory (wanted %zu more bytes)\n", wanted);
	abort();
}

void *mem_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		no_memory(size);
	return p;
}

void *mem_resize(void *p, size_t size)
{
	void *bigger = realloc(p, size ? size : 1);

	if (!bigger)
		no_memory(size);
	return bigger;
}

size_t mem_array_size(size_t n, size_t each)
{
	if (each && n > SIZE_MAX / each)
		no_memory(SIZE_MAX);
	return n * each;
}

char *mem_strndup(const char *text, size_t n)
{
	char *copy = mem_resize(NULL, n + 1);

	if (n)
		memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

char *mem_strdup(const char *text)
{
	return mem_strndup(text, strlen(text));
}

char *mem_printf(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		no_memory(strlen(fmt));
	return text;
}

static size_t aligned(size_t n)
{
	size_t mask = alignof(max_align_t) - 1;

	return (n + mask) & ~mask;
}

/* Blocks double, so that the largest holds at least half of what a lifetime needs. */
static void add_block(struct arena *arena, size_t size)
{
	size_t want = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
	struct arena_block *block;

	if (want < size)
		want = size;
	if (want > PTRDIFF_MAX - sizeof(*block))
		no_memory(want);
	block = mem_resize(NULL, sizeof(*block) + want);
	block->next = arena->blocks;
	block->size = want;
	arena->blocks = block;
	arena->used = 0;
	arena->total += want;
}

/* The start is given, not the size rounded: texts then lie close together. */
static void *take(struct arena *arena, size_t start, size_t size)
{
	if (!arena->blocks || start > arena->blocks->size || size > arena->blocks->size - start) {
		add_block(arena, size);
		start = 0;
	}
	arena->used = start + size;
	return arena->blocks->bytes + start;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return memset(take(arena, aligned(arena->used), size), 0, size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t n)
{
	char *copy = take(arena, arena->used, n + 1);

	if (n)
		memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	char few[256], *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(few, sizeof(few), fmt, ap);
	va_end(ap);
	assert(n >= 0);
	text = take(arena, arena->used, (size_t)n + 1);
	if ((size_t)n < sizeof(few))
		return memcpy(text, few, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

static void free_blocks(struct arena_block *block)
{
	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
}

void arena_reset(struct arena *arena)
{
	struct arena_block *largest = arena->blocks; /* each is larger than those before it */

	if (!largest)
		return;
	free_blocks(largest->next);
	largest->next = NULL;
	arena->used = 0;
	arena->total = largest->size;
}

void arena_fini(struct arena *arena)
{
	free_blocks(arena->blocks);
	*arena = (struct arena){ 0 };
}
