#include "cli/top/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glyph.h"
#include "base/mem.h"

/* ---- cells */

void canvas_fini(struct canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct canvas){ 0 };
}

static struct cell *cell_at(const struct canvas *canvas, int x, int y)
{
	if (x < 0 || y < 0 || x >= canvas->columns || y >= canvas->lines)
		return NULL;
	return &canvas->cells[(size_t)y * (size_t)canvas->columns + (size_t)x];
}

void canvas_reset(struct canvas *canvas, int columns, int lines, bool utf8)
{
	size_t n = (size_t)columns * (size_t)lines;

	if (!canvas->cells || columns != canvas->columns || lines != canvas->lines)
		canvas->cells = mem_resize(canvas->cells, mem_array_size(n + 1, sizeof(struct cell)));
	memset(canvas->cells, 0, (n + 1) * sizeof(struct cell));
	canvas->columns = columns;
	canvas->lines = lines;
	canvas->utf8 = utf8;
	for (size_t i = 0; i < n; i++)
		canvas->cells[i].text[0] = ' ';
}

/* ---- writing */

/* Whether a character can be shown as it is. */
static bool as_is(const struct canvas *canvas, const struct glyph *glyph)
{
	return glyph->code < 0x80 || canvas->utf8;
}

static int columns_of(const struct canvas *canvas, const struct glyph *glyph)
{
	return as_is(canvas, glyph) ? glyph->columns : glyph->columns > 0;
}

/* Variation selectors ask for another picture, of a width that terminals do not agree on. */
static bool is_selector(uint32_t code)
{
	return (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);
}

/* A mark goes with the character before it, as far as there is room in its cell. */
static void join(struct cell *cell, const char *text, const struct glyph *glyph)
{
	size_t n = strlen(cell->text);

	if (n + glyph->bytes < CELL_BYTES && !is_selector(glyph->code))
		memcpy(cell->text + n, text, glyph->bytes);
}

static void set(struct cell *cell, const char *bytes, size_t n, enum style style)
{
	memset(cell->text, 0, sizeof(cell->text));
	memcpy(cell->text, bytes, n);
	cell->style = (uint8_t)style;
}

static void set_glyph(struct canvas *canvas, int x, int y, enum style style, const char *text,
	const struct glyph *glyph)
{
	struct cell *cell = cell_at(canvas, x, y), *right;
	bool bad = glyph->code == '?' || !as_is(canvas, glyph);

	if (!cell)
		return;
	if (bad)
		set(cell, "?", 1, style);
	else
		set(cell, text, glyph->bytes, style);
	right = !bad && glyph->columns == 2 ? cell_at(canvas, x + 1, y) : NULL;
	if (right)
		set(right, "", 0, style);
}

static int text_columns_on(const struct canvas *canvas, const char *text)
{
	int n = 0;

	while (*text) {
		struct glyph glyph = glyph_next(text);

		n += columns_of(canvas, &glyph);
		text += glyph.bytes;
	}
	return n;
}

int canvas_put(struct canvas *canvas, int x, int y, int room, enum style style, const char *text)
{
	const char *ellipsis = canvas->utf8 ? "…" : "~";
	struct glyph dots = glyph_next(ellipsis);
	struct cell *last = NULL;
	int used = 0;
	bool cut;

	if (room > canvas->columns - x)
		room = canvas->columns - x;
	if (!text || room <= 0 || y < 0 || y >= canvas->lines)
		return 0;
	cut = text_columns_on(canvas, text) > room;
	while (*text) {
		struct glyph glyph = glyph_next(text);
		int columns = columns_of(canvas, &glyph);

		if (columns && used + columns > room - cut)
			break;
		if (columns) {
			last = cell_at(canvas, x + used, y);
			set_glyph(canvas, x + used, y, style, text, &glyph);
		} else if (last && canvas->utf8) {
			join(last, text, &glyph);
		}
		used += columns;
		text += glyph.bytes;
	}
	if (cut)
		set_glyph(canvas, x + used++, y, style, ellipsis, &dots);
	return used;
}

int canvas_putf(struct canvas *canvas, int x, int y, int room, enum style style, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return canvas_put(canvas, x, y, room, style, text);
}

void canvas_style(struct canvas *canvas, int x, int y, int columns, enum style style)
{
	for (int i = 0; i < columns; i++) {
		struct cell *cell = cell_at(canvas, x + i, y);

		if (cell)
			cell->style = (uint8_t)style;
	}
}

/* ---- out */

/*
 * Of 256 colours those that people tell apart who do not see red or green, each with black or white on it.
 * Bold and reverse are no colours: they stay where colours are not wanted.
 */
static const struct {
	const char *colour, *plain;
} sgr[STYLES] = {
	[STYLE_PLAIN] = { "", "" },
	[STYLE_STRONG] = { "1", "1" },
	[STYLE_FAINT] = { "2", "" },
	[STYLE_CHOSEN] = { "7", "7" },
	[STYLE_BAR] = { "7", "7" },
	[STYLE_ALERT] = { "1;38;5;231;48;5;124", "1;7" },
	[STYLE_JOB + 0] = { "38;5;16;48;5;214", "" },
	[STYLE_JOB + 1] = { "38;5;16;48;5;117", "" },
	[STYLE_JOB + 2] = { "38;5;16;48;5;36", "" },
	[STYLE_JOB + 3] = { "38;5;16;48;5;228", "" },
	[STYLE_JOB + 4] = { "38;5;231;48;5;25", "" },
	[STYLE_JOB + 5] = { "38;5;16;48;5;202", "" },
	[STYLE_JOB + 6] = { "38;5;16;48;5;175", "" },
	[STYLE_JOB + 7] = { "38;5;16;48;5;250", "" },
};

static const char *sgr_of(uint8_t style, bool colour)
{
	return colour ? sgr[style].colour : sgr[style].plain;
}

/* A line's cells up to the last that shows something. */
static int shown_columns(const struct canvas *canvas, int y, bool styles)
{
	int n = canvas->columns;

	while (n > 0) {
		const struct cell *cell = cell_at(canvas, n - 1, y);

		if (strcmp(cell->text, " ") != 0 || (styles && cell->style != STYLE_PLAIN))
			break;
		n--;
	}
	return n;
}

static void put_line(const struct canvas *canvas, int y, bool styles, bool colour, struct buf *out)
{
	int n = shown_columns(canvas, y, styles);
	const char *now = "";

	for (int x = 0; x < n; x++) {
		const struct cell *cell = cell_at(canvas, x, y);
		const char *wanted = styles ? sgr_of(cell->style, colour) : "";

		if (wanted != now && strcmp(wanted, now) != 0)
			buf_printf(out, "\033[0%s%sm", *wanted ? ";" : "", wanted);
		now = wanted;
		buf_str(out, cell->text);
	}
	if (*now)
		buf_str(out, "\033[0m");
}

void canvas_text(const struct canvas *canvas, bool colour, struct buf *out)
{
	for (int y = 0; y < canvas->lines; y++) {
		put_line(canvas, y, colour, colour, out);
		buf_char(out, '\n');
	}
}

static bool same_line(const struct canvas *a, const struct canvas *b, int y)
{
	return !memcmp(cell_at(a, 0, y), cell_at(b, 0, y), (size_t)a->columns * sizeof(struct cell));
}

void canvas_update(const struct canvas *canvas, const struct canvas *before, bool colour,
	struct buf *out)
{
	bool anew = before->columns != canvas->columns || before->lines != canvas->lines;

	if (anew)
		buf_str(out, "\033[0m\033[2J");
	for (int y = 0; y < canvas->lines && canvas->columns > 0; y++) {
		if (!anew && same_line(canvas, before, y))
			continue;
		buf_printf(out, "\033[%d;1H", y + 1);
		put_line(canvas, y, true, colour, out);
		/* On a full line the cursor stays on its last character, which this would wipe. */
		if (shown_columns(canvas, y, true) < canvas->columns)
			buf_str(out, "\033[K");
	}
}
