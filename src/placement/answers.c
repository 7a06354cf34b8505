/*
 * Answers by hash of the question.
 */
#include "placement/answers.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

enum { PLACES = 4096 };

static size_t place_of(const struct answer *q)
{
	uint64_t h = hash_u64(HASH_START, (uint64_t)q->topology << 32 | q->devices);

	h = hash_u64(hash_u64(h, (uint64_t)q->rule << 32 | q->n), q->free);
	return (size_t)(h ^ h >> 32) % PLACES;
}

void answers_fini(struct answers *answers)
{
	free(answers->at);
	answers->at = NULL;
}

bool answers_find(const struct answers *answers, struct answer *q)
{
	const struct answer *kept = answers->at ? &answers->at[place_of(q)] : NULL;

	if (!kept || !kept->best || kept->topology != q->topology || kept->devices != q->devices ||
		kept->n != q->n || kept->rule != q->rule || kept->free != q->free)
		return false;
	*q = *kept;
	return true;
}

void answers_keep(struct answers *answers, const struct answer *answer)
{
	if (!answers->at)
		answers->at = mem_alloc(sizeof(*answers->at) * PLACES);
	answers->at[place_of(answer)] = *answer;
}
