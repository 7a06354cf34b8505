/*
 * Interned strings in an open-addressing table.
 */
#include "base/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

enum { FIRST_CAP = 16 };

void names_fini(struct names *names)
{
	arena_fini(&names->text);
	free(names->at);
	free(names->hashes);
	free(names->slots);
	*names = (struct names){ 0 };
}

static void *copy_bytes(const void *from, size_t n, size_t each)
{
	size_t size = mem_array_size(n, each);
	void *copy = size ? mem_resize(NULL, size) : NULL;

	return size ? memcpy(copy, from, size) : NULL;
}

/* Hashes and places are as they were: nothing is looked up. */
void names_copy(const struct names *from, struct names *out)
{
	struct names copy = { .n = from->n, .cap = from->cap, .nslots = from->nslots };

	copy.at = copy_bytes(from->at, from->cap, sizeof(*from->at));
	copy.hashes = copy_bytes(from->hashes, from->cap, sizeof(*from->hashes));
	copy.slots = copy_bytes(from->slots, from->nslots, sizeof(*from->slots));
	for (uint32_t i = 0; i < from->n; i++)
		copy.at[i] = arena_strdup(&copy.text, from->at[i]);
	*out = copy;
}

static uint32_t first_slot(const struct names *names, uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32) & (names->nslots - 1);
}

/* The slot of the text, or the empty one where it belongs. */
static uint32_t slot_of(const struct names *names, uint64_t hash, struct slice name)
{
	uint32_t slot = first_slot(names, hash);

	for (; names->slots[slot]; slot = (slot + 1) & (names->nslots - 1)) {
		uint32_t i = names->slots[slot] - 1;

		if (names->hashes[i] == hash && slice_is(name, names->at[i]))
			break;
	}
	return slot;
}

/* Twice as many slots as names: short probes. */
static void grow(struct names *names)
{
	uint32_t cap = names->cap ? names->cap * 2 : FIRST_CAP;

	assert(cap <= UINT32_MAX / 4);
	names->at = mem_resize(names->at, mem_array_size(cap, sizeof(*names->at)));
	names->hashes = mem_resize(names->hashes, mem_array_size(cap, sizeof(*names->hashes)));
	names->cap = cap;
	free(names->slots);
	names->nslots = cap * 2;
	names->slots = mem_alloc(mem_array_size(names->nslots, sizeof(*names->slots)));
	for (uint32_t i = 0; i < names->n; i++) {
		uint32_t slot = first_slot(names, names->hashes[i]);

		while (names->slots[slot])
			slot = (slot + 1) & (names->nslots - 1);
		names->slots[slot] = i + 1;
	}
}

/* A NUL inside ends a text, as it does when the name is read back. */
static struct slice cut(const char *text, size_t n)
{
	return n ? (struct slice){ text, strnlen(text, n) } : (struct slice){ "", 0 };
}

uint32_t names_add(struct names *names, const char *text, size_t n)
{
	struct slice name = cut(text, n);
	uint64_t hash = hash_bytes(HASH_START, name.at, name.n);
	uint32_t slot;

	if (names->n == names->cap)
		grow(names);
	slot = slot_of(names, hash, name);
	if (!names->slots[slot]) {
		names->at[names->n] = arena_strndup(&names->text, name.at, name.n);
		names->hashes[names->n] = hash;
		names->slots[slot] = ++names->n;
	}
	return names->slots[slot] - 1;
}

uint32_t names_find(const struct names *names, const char *text, size_t n)
{
	struct slice name = cut(text, n);
	uint32_t slot;

	if (!names->n)
		return NAME_NONE;
	slot = slot_of(names, hash_bytes(HASH_START, name.at, name.n), name);
	return names->slots[slot] ? names->slots[slot] - 1 : NAME_NONE;
}
