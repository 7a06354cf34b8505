/*
 * Pieces of text, and which known word a misspelt one may mean.
 */
#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/decimal.h"

struct slice slice_of(const char *text)
{
	return (struct slice){ text, strlen(text) };
}

struct slice slice_trim(struct slice s)
{
	while (s.n && is_space(s.at[s.n - 1]))
		s.n--;
	while (s.n && is_space(*s.at)) {
		s.at++;
		s.n--;
	}
	return s;
}

bool slice_is(struct slice s, const char *text)
{
	size_t n = strlen(text);

	return s.n == n && (!n || !memcmp(s.at, text, n));
}

bool slice_is_nocase(struct slice s, const char *text)
{
	size_t n = strlen(text);

	return s.n == n && (!n || !strncasecmp(s.at, text, n));
}

struct slice slice_cut(struct slice *s, char c)
{
	const char *found = s->n ? memchr(s->at, c, s->n) : NULL;
	struct slice piece = { s->at, found ? (size_t)(found - s->at) : s->n };

	s->at += piece.n + !!found;
	s->n -= piece.n + !!found;
	return piece;
}

enum { WORD_MAX = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters added, dropped, changed or swapped with their neighbour to get from a to b. */
static size_t slips_between(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= nb; j++)
		last[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *spare = before;

		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			bool same = same_letter(a[i - 1], b[j - 1]);

			now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
				same_letter(a[i - 2], b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[nb];
}

int text_nearest(const char *word, const char *const *candidates, size_t n)
{
	size_t length = strlen(word), best_slips = 1 + length / 5;
	int best = -1;

	if (!length || length > WORD_MAX)
		return -1;
	for (size_t i = 0; i < n; i++) {
		size_t size = strlen(candidates[i]), slips;

		if (size > WORD_MAX)
			continue;
		slips = slips_between(word, length, candidates[i], size);
		if (length >= 3 && size > length && !strncasecmp(word, candidates[i], length))
			slips = 1; /* the rest was left out */
		/* A short word has nothing in common with one that differs in every letter. */
		if (slips < least(length, size) &&
			(best < 0 ? slips <= best_slips : slips < best_slips)) {
			best = (int)i;
			best_slips = slips;
		}
	}
	return best;
}
