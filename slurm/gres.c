/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How Slurm writes GPUs: "gpu:v100:4(S:0-1),shard:8", "gres:gpu:2", "gres/gpu:v100=2".
 *
 * What stands in brackets may have commas of its own, and belongs to the word before.
 */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

/* The end of a word: a comma or semicolon outside of brackets. */
static const char *word_end(const char *s)
{
	int depth = 0;

	for (; *s; s++) {
		if (*s == '(')
			depth++;
		else if (*s == ')')
			depth--;
		else if (depth <= 0 && (*s == ',' || *s == ';'))
			break;
	}
	return s;
}

/* What follows the name "gpu", or NULL where the word is another resource's. */
static const char *after_name(const char *word)
{
	if (!strncmp(word, "gres:", 5) || !strncmp(word, "gres/", 5))
		word += 5;
	if (strncmp(word, "gpu", 3))
		return NULL;
	word += 3;
	return strchr(":=(,;", *word) ? word : NULL; /* also at the end of the text */
}

bool gres_next(const char *list, struct gpus *out, const char **next)
{
	const char *end = word_end(list), *s = after_name(list);
	size_t length;
	char *after;

	*next = *end ? end + 1 : NULL;
	if (!s)
		return false;
	*out = (struct gpus){ .count = 1 };
	for (; s < end && (*s == ':' || *s == '='); s += length) {
		s++;
		length = strcspn(s, ":=(,;");
		long count = strtol(s, &after, 10);
		if (length > 0 && after >= s + length) {
			out->count = count > 0 && count < 1 << 20 ? (int)count : 0;
		} else {
			size_t fits = length < sizeof(out->type) ? length : sizeof(out->type) - 1;
			memcpy(out->type, s, fits);
			out->type[fits] = 0;
		}
	}
	return true;
}

struct gpus gres_sum(const char *list)
{
	struct gpus sum = { 0 }, one;
	const char *next;

	/* Slurm writes so where there are none. */
	if (!list || !strcmp(list, "(null)") || !strcmp(list, "N/A"))
		return sum;
	for (; list && *list; list = next) {
		if (!gres_next(list, &one, &next))
			continue;
		sum.count += one.count;
		if (one.type[0])
			memcpy(sum.type, one.type, sizeof(sum.type));
	}
	return sum;
}
