#include "base/plain.h"

#include <stdint.h>
#include <string.h>

#include "base/glyph.h"

/* Joiners belong into words of some scripts and into emoji; private characters are a font's business. */
static bool is_allowed(uint32_t code)
{
	return code == 0x200c || code == 0x200d || (code >= 0xe000 && code <= 0xf8ff) ||
		code >= 0xf0000;
}

/* The character at `at`; `bad` says whether it is not plain. */
static struct glyph next(const char *at, bool *bad)
{
	struct glyph glyph = glyph_next(at);

	*bad = glyph.code == '?' && glyph.is != '?' && !is_allowed(glyph.is);
	return glyph;
}

/* The first character that is not plain, or NULL. */
static const char *find_bad(const char *text)
{
	while (*text) {
		struct glyph glyph;
		bool bad = false;

		if (*text >= ' ' && *text < 0x7f) {
			text++;
			continue;
		}
		glyph = next(text, &bad);
		if (bad)
			return text;
		text += glyph.bytes;
	}
	return NULL;
}

bool text_is_plain(const char *text)
{
	return !find_bad(text);
}

int text_check_plain(const char *member, const char *text, struct err *err)
{
	const char *at = text ? find_bad(text) : NULL;
	struct glyph glyph = at ? glyph_next(at) : (struct glyph){ 0 };

	if (!at)
		return 0;
	if (!glyph.is)
		return err_set(err, ERR_USAGE,
			"%s: byte %zu (0x%02x) is not UTF-8, and only that can be passed on",
			member, (size_t)(at - text) + 1, (unsigned char)*at);
	return err_set(err, ERR_USAGE,
		"%s: byte %zu is a control character or an invisible one (U+%04X); write it in one line without it",
		member, (size_t)(at - text) + 1, glyph.is);
}

static void put_escape(struct buf *out, struct glyph glyph, char byte)
{
	if (!glyph.is)
		buf_printf(out, "\\x%02x", (unsigned char)byte);
	else if (glyph.is > 0xffff)
		buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((glyph.is - 0x10000) >> 10),
			0xdc00 + ((glyph.is - 0x10000) & 0x3ff));
	else
		buf_printf(out, "\\u%04x", glyph.is);
}

void text_escape(struct buf *out, const char *text)
{
	const char *bad;

	while ((bad = find_bad(text))) {
		struct glyph glyph = glyph_next(bad);

		buf_add(out, text, (size_t)(bad - text));
		put_escape(out, glyph, *bad);
		text = bad + glyph.bytes;
	}
	buf_str(out, text);
}

/* Bytes of a change of colour at `at`, or 0. */
static size_t colour_bytes(const char *at)
{
	size_t n;

	if (at[0] != '\033' || at[1] != '[')
		return 0;
	n = 2 + strspn(at + 2, "0123456789;");
	return at[n] == 'm' ? n + 1 : 0;
}

static void escape(struct buf *out, const char *text, size_t n, bool coloured)
{
	const char *end = text + n, *bad;

	while (text < end && (bad = find_bad(text)) && bad < end) {
		size_t keep = *bad == '\n' || *bad == '\t' ? 1 : coloured ? colour_bytes(bad) : 0;
		struct glyph glyph = glyph_next(bad);

		buf_add(out, text, (size_t)(bad - text) + keep);
		if (!keep)
			put_escape(out, glyph, *bad);
		text = bad + (keep ? keep : glyph.bytes);
	}
	if (text < end)
		buf_add(out, text, (size_t)(end - text));
}

void text_escape_lines(struct buf *out, const char *text, size_t n)
{
	escape(out, text, n, false);
}

void text_escape_coloured(struct buf *out, const char *text, size_t n)
{
	escape(out, text, n, true);
}

void text_make_plain(char *text)
{
	char *bad, *to;

	while ((bad = (char *)find_bad(text))) {
		size_t n = glyph_next(bad).bytes;

		*bad = '_';
		to = bad + 1;
		memmove(to, bad + n, strlen(bad + n) + 1);
		text = to;
	}
}
