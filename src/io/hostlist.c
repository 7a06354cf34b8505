#include "io/hostlist.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct walk {
	void (*each)(void *ctx, const char *name);
	void *ctx;
	size_t n;
};

/*
 * One item with its brackets, each of which stands for several: the first is replaced by each of its
 * values, and what comes out is looked at again.
 */
static bool expand(struct walk *walk, struct slice item, int depth);

static bool give(struct walk *walk, struct slice name)
{
	char text[HOST_NAME_MAX_];

	if (!name.n || name.n >= sizeof(text) || walk->n >= HOSTS_MAX)
		return false;
	memcpy(text, name.at, name.n);
	text[name.n] = '\0';
	if (walk->each)
		walk->each(walk->ctx, text);
	walk->n++;
	return true;
}

static bool with_value(struct walk *walk, struct slice head, struct slice value, struct slice tail,
	int depth)
{
	char text[HOST_NAME_MAX_];
	int n = snprintf(text, sizeof(text), "%.*s%.*s%.*s", (int)head.n, head.at, (int)value.n,
		value.at, (int)tail.n, tail.at);

	if (n < 0 || (size_t)n >= sizeof(text))
		return false;
	return expand(walk, (struct slice){ text, (size_t)n }, depth + 1);
}

/* "01-12" keeps its zeros. */
static bool with_range(struct walk *walk, struct slice head, struct slice range, struct slice tail,
	int depth)
{
	struct slice to = range, from = slice_cut(&to, '-');
	int64_t first, last;

	if (from.n == range.n)
		return with_value(walk, head, range, tail, depth);
	if (from.n > 9 || to.n > 9 || !slice_int(from, &first) || !slice_int(to, &last) ||
		first < 0 || last < first)
		return false;
	for (int64_t i = first; i <= last; i++) {
		char text[32];
		int n = snprintf(text, sizeof(text), "%0*lld", (int)from.n, (long long)i);

		if (!with_value(walk, head, (struct slice){ text, (size_t)n }, tail, depth))
			return false;
	}
	return true;
}

enum { BRACKETS_MAX = 4 };

static bool expand(struct walk *walk, struct slice item, int depth)
{
	const char *open = item.n ? memchr(item.at, '[', item.n) : NULL;
	const char *close = open ? memchr(open, ']', (size_t)(item.at + item.n - open)) : NULL;
	struct slice head, list, tail;

	if (!open)
		return give(walk, item);
	if (!close || depth >= BRACKETS_MAX)
		return false;
	head = (struct slice){ item.at, (size_t)(open - item.at) };
	list = (struct slice){ open + 1, (size_t)(close - open - 1) };
	tail = (struct slice){ close + 1, (size_t)(item.at + item.n - close - 1) };
	while (list.n) {
		if (!with_range(walk, head, slice_cut(&list, ','), tail, depth))
			return false;
	}
	return true;
}

/* Up to the next comma outside of brackets. */
static struct slice cut_item(struct slice *list)
{
	struct slice item = *list;
	int inside = 0;

	for (size_t i = 0; i < list->n; i++) {
		inside += list->at[i] == '[';
		inside -= list->at[i] == ']';
		if (list->at[i] != ',' || inside > 0)
			continue;
		item.n = i;
		*list = (struct slice){ list->at + i + 1, list->n - i - 1 };
		return item;
	}
	*list = (struct slice){ list->at + list->n, 0 };
	return item;
}

size_t hostlist_each(struct slice list, void (*each)(void *ctx, const char *name), void *ctx)
{
	struct walk walk = { each, ctx, 0 };

	while (list.n) {
		if (!expand(&walk, slice_trim(cut_item(&list)), 0))
			break;
	}
	return walk.n;
}
