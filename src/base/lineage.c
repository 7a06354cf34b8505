#include "base/lineage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void lineage_fini(struct lineage *lineage)
{
	free(lineage->past);
	*lineage = (struct lineage){ 0 };
}

uint64_t lineage_end(const struct lineage *lineage, uint32_t generation)
{
	if (generation == lineage->generation)
		return UINT64_MAX;
	for (uint32_t i = 0; i < lineage->npast; i++) {
		if (lineage->past[i].generation == generation)
			return lineage->past[i].seq;
	}
	return 0;
}

bool lineage_has(const struct lineage *lineage, const struct lineage_point *point)
{
	uint64_t end;

	if (!lineage->id[0] || strcmp(lineage->id, point->id) != 0)
		return false;
	end = lineage_end(lineage, point->generation);
	return end && point->seq <= end;
}

void lineage_past_add(struct lineage *lineage, uint32_t generation, uint64_t seq)
{
	lineage->past = mem_resize(lineage->past,
		mem_array_size((size_t)lineage->npast + 1, sizeof(*lineage->past)));
	lineage->past[lineage->npast++] = (struct lineage_past){ generation, seq };
}

void lineage_past_write(const struct lineage *lineage, struct buf *out)
{
	for (uint32_t i = 0; i < lineage->npast; i++)
		buf_printf(out, "%s%u@%llu", i ? " " : "", lineage->past[i].generation,
			(unsigned long long)lineage->past[i].seq);
}

bool lineage_past_read(struct lineage *lineage, const char *text)
{
	unsigned int generation;
	unsigned long long seq;
	int n;

	while (*text) {
		if (sscanf(text, "%u@%llu%n", &generation, &seq, &n) != 2)
			return false;
		lineage_past_add(lineage, generation, seq);
		text += n;
		text += *text == ' ';
	}
	return true;
}

bool lineage_id_is_good(const char *id)
{
	return strlen(id) == LINEAGE_ID_DIGITS && strspn(id, "0123456789abcdef") == LINEAGE_ID_DIGITS;
}
