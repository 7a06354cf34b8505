#include "base/glyph.h"

#include <stdbool.h>

struct range {
	uint32_t first, last;
};

#define RANGES(kind, ...) static const struct range kind[] = { __VA_ARGS__ };
#include "base/glyph_ranges.def"
#undef RANGES

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static bool within(const struct range *ranges, size_t n, uint32_t code)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ranges[mid].last < code)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && ranges[lo].first <= code;
}

/* The shortest form only: others are a way around checks. */
static bool is_shortest(uint32_t code, uint32_t bytes)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	return code >= least[bytes] && code <= 0x10ffff;
}

/* Bytes of the character, 0 if it is none. */
static uint32_t decode(const unsigned char *at, uint32_t *code)
{
	uint32_t bytes = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;

	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	*code = at[0] & (0xffu >> (bytes + 1));
	for (uint32_t i = 1; i < bytes; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (at[i] & 0x3fu);
	}
	return is_shortest(*code, bytes) ? bytes : 0;
}

static int columns_of(uint32_t code)
{
	if (within(zero, COUNT(zero), code))
		return 0;
	return within(wide, COUNT(wide), code) ? 2 : 1;
}

struct glyph glyph_next(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	struct glyph glyph = { .code = '?', .bytes = 1, .columns = 1 };
	uint32_t code, bytes;

	if (at[0] < 0x80) {
		glyph.is = at[0];
		if (at[0] >= ' ' && at[0] != 0x7f)
			glyph.code = at[0];
		return glyph;
	}
	bytes = decode(at, &code);
	if (!bytes)
		return glyph;
	glyph.bytes = bytes;
	glyph.is = code;
	if (within(bad, COUNT(bad), code))
		return glyph;
	glyph.code = code;
	glyph.columns = columns_of(code);
	return glyph;
}

size_t glyph_columns(const char *text)
{
	size_t n = 0;

	while (*text) {
		struct glyph glyph = glyph_next(text);

		n += (size_t)glyph.columns;
		text += glyph.bytes;
	}
	return n;
}
