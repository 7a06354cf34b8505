#include "cli/top/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/glyph.h"
#include "base/mem.h"
#include "cli/live_print.h"
#include "cli/top/grid.h"
#include "cli/top/rows.h"
#include "report/textplot.h"

enum {
	LOW = 8,          /* lines below which only the most important is shown */
	TITLES_FROM = 12, /* lines for lists from which columns have names */
	BOTH_FROM = 6,    /* lines for lists from which both are shown */
	PLAIN_GRID = 40,  /* lines of devices on paper */
	SPARK_MAX = 60,
	SPAN_FROM = 70, /* columns from which there is room for what they span */
};

/* ---- figures */

static void draw_bar(struct canvas *canvas, int y)
{
	canvas_style(canvas, 0, y, canvas->columns, STYLE_BAR);
}

/* Text at the right end of a line, if it leaves `used` columns alone; returns where it begins. */
static int put_right(struct canvas *canvas, int y, int used, enum style style, const char *text)
{
	int n = (int)glyph_columns(text), x = canvas->columns - n;

	if (!n || x < used + 2)
		return canvas->columns;
	canvas_put(canvas, x, y, n, style, text);
	return x;
}

static void draw_title(const struct scene *s, struct canvas *canvas)
{
	const struct view *v = s->view;
	enum style style = s->plain ? STYLE_STRONG : STYLE_BAR;
	int used, end;

	if (!s->plain)
		draw_bar(canvas, 0);
	used = canvas_put(canvas, 0, 0, canvas->columns, style, v->title);
	end = put_right(canvas, 0, used, style, v->clock ? v->clock : "");
	if (v->policy && used + 4 < end)
		canvas_putf(canvas, used, 0, end - used - 1, style, ", policy %s", v->policy);
}

static void put_devices(const struct view *v, struct buf *out)
{
	if (!v->ndevices) {
		buf_str(out, "no devices");
		return;
	}
	buf_printf(out, "%u of %u device%s held", v->held, v->ndevices, v->ndevices == 1 ? "" : "s");
	if (v->down)
		buf_printf(out, ", %u down", v->down);
	if (v->drained)
		buf_printf(out, ", %u drained", v->drained);
	if (v->idle)
		buf_printf(out, ", %u idle", v->idle);
}

static void draw_counts(const struct scene *s, struct canvas *canvas, int y)
{
	const struct view *v = s->view;
	struct buf text = { 0 };
	int used;

	buf_printf(&text, "%u running, %u waiting; ", v->count[PART_RUNNING], v->count[PART_WAITING]);
	put_devices(v, &text);
	used = canvas_put(canvas, 0, y, canvas->columns, STYLE_PLAIN, text.at);
	put_right(canvas, y, used, STYLE_PLAIN, v->note ? v->note : "");
	buf_fini(&text);
}

/* "held ▂▄▆ 75%": the title, the plot and what it is now. */
static int draw_spark(struct canvas *canvas, int x, int y, const char *title,
	const struct buf *plot, const char *now)
{
	x += canvas_put(canvas, x, y, canvas->columns - x, STYLE_FAINT, title);
	x += canvas_put(canvas, x, y, canvas->columns - x, STYLE_PLAIN, plot->n ? plot->at : "");
	return x + canvas_put(canvas, x, y, canvas->columns - x, STYLE_PLAIN, now);
}

static void put_span(const struct trend *h, struct buf *out)
{
	char text[DURATION_SIZE];

	buf_printf(out, "%s %s", h->whole ? "in all" : "the last",
		live_duration(h->n * h->step_s, text));
}

static void draw_sparks(const struct scene *s, struct canvas *canvas, int y)
{
	const struct trend *h = s->trend;
	struct term term = { .utf8 = canvas->utf8 };
	int width = (canvas->columns - (canvas->columns < SPAN_FROM ? 32 : 46)) / 2, x;
	struct buf plot = { 0 }, now = { 0 };

	if (!h || !h->n || width < 4)
		return;
	width = width < SPARK_MAX ? width : SPARK_MAX;
	textplot_spark_to(h->held, h->n, 1, (size_t)width, &term, &plot);
	buf_printf(&now, " %.0f%%", h->held[h->n - 1] * 100);
	x = draw_spark(canvas, 0, y, "held ", &plot, now.at);
	buf_clear(&plot);
	buf_clear(&now);
	textplot_spark(h->waiting, h->n, (size_t)width, &term, &plot);
	buf_printf(&now, " %.0f", h->waiting[h->n - 1]);
	x = draw_spark(canvas, x + 2, y, "waiting ", &plot, now.at);
	buf_clear(&now);
	put_span(h, &now);
	put_right(canvas, y, x, STYLE_FAINT, now.at);
	buf_fini(&plot);
	buf_fini(&now);
}

/* ---- lists */

/* Jobs in the list, which may have one row for several. */
static size_t count_listed(const struct board *b, const struct view *v, enum top_part part)
{
	size_t n = b->rows[part].n;

	for (size_t i = 0; i < b->rows[part].n; i++)
		n += v->jobs[b->rows[part].at[i]].others;
	return n;
}

static void draw_list_title(const struct scene *s, enum top_part part, struct canvas *canvas, int y)
{
	const struct board *b = s->board;
	const struct view *v = s->view;
	bool here = b->part == part && !s->plain;
	size_t listed = count_listed(b, v, part);
	struct buf text = { 0 };

	buf_printf(&text, "%s %u", part == PART_RUNNING ? "RUNNING" : "WAITING", v->count[part]);
	if (listed != v->count[part])
		buf_printf(&text, ", listed %zu", listed);
	if (b->filter.n)
		buf_printf(&text, " with '%s'", b->filter.at);
	if (b->mine)
		buf_str(&text, " of yours");
	if (b->sort != SORT_QUEUE)
		buf_printf(&text, ", %s", board_sort_name(b->sort));
	canvas_put(canvas, 0, y, canvas->columns, here ? STYLE_STRONG : STYLE_FAINT, text.at);
	buf_fini(&text);
}

/* Where nothing is listed a sentence says why. */
static void draw_nothing(const struct scene *s, enum top_part part, struct canvas *canvas, int y)
{
	const struct view *v = s->view;
	const char *text = "none";

	if (v->count[part])
		text = "none of these";
	else if (part == PART_RUNNING && !v->count[PART_WAITING] && s->board->acts)
		text = "none; submit one: stint submit --gpus 1 -- python train.py";
	canvas_put(canvas, 2, y, canvas->columns - 2, STYLE_FAINT, text);
}

static void draw_list(const struct scene *s, enum top_part part, struct canvas *canvas, int y,
	int lines, bool titles)
{
	struct board *b = s->board;
	struct rows_place place = {
		.part = part,
		.y = y + 1,
		.lines = lines - 1,
		.titles = titles && lines > 3,
		.mark = b->part == part && !s->plain,
	};

	if (lines < 1)
		return;
	draw_list_title(s, part, canvas, y);
	if (b->part == part)
		b->page = place.lines - place.titles;
	if (!b->rows[part].n && lines > 1)
		draw_nothing(s, part, canvas, y + 1);
	else
		rows_draw(&place, s->view, b, canvas);
}

/* Lines a list would like: its title, the columns' names, a line for each job. */
static int wanted(const struct board *b, enum top_part part, bool titles)
{
	size_t n = b->rows[part].n;

	return 1 + (n ? titles + (n < 100000 ? (int)n : 100000) : 1);
}

/* Both get what they want if there is room; else the one a person is on gets the larger half. */
static int lines_of_running(const struct board *b, int room, bool titles)
{
	int running = wanted(b, PART_RUNNING, titles), waiting = wanted(b, PART_WAITING, titles);
	int most = b->part == PART_RUNNING ? (room * 3 + 4) / 5 : room - (room * 3 + 4) / 5;

	if (running + waiting <= room)
		return running;
	if (running <= most)
		return running;
	return room - waiting > most ? room - waiting : most;
}

static void draw_lists(const struct scene *s, struct canvas *canvas, int y, int room)
{
	bool titles = s->plain || room >= TITLES_FROM;
	int running, gap;

	if (room < BOTH_FROM && !s->plain) {
		draw_list(s, s->board->part, canvas, y, room, false);
		return;
	}
	gap = s->plain || room >= TITLES_FROM;
	running = lines_of_running(s->board, room - gap, titles);
	draw_list(s, PART_RUNNING, canvas, y, running, titles);
	draw_list(s, PART_WAITING, canvas, y + running + gap, room - gap - running, titles);
}

/* ---- the last line */

static const char *keys_text(const struct board *b, int columns)
{
	if (b->mode == MODE_TEXT)
		return "arrows scroll, q back";
	if (columns < 80)
		return "? help, q quit";
	if (columns < 117 || !b->acts)
		return "arrows, Tab  Enter details  s sort  / filter  t mine  p pause  ? help  q quit";
	return "arrows, Tab  Enter details  s sort  / filter  t mine  p pause  c cancel  h hold  r release  + - priority  ? help  q quit";
}

static void draw_footer(const struct scene *s, struct canvas *canvas, int y)
{
	const struct board *b = s->board;
	int used = 0;

	draw_bar(canvas, y);
	if (b->mode == MODE_FILTER)
		canvas_putf(canvas, 0, y, canvas->columns, STYLE_BAR, "only jobs with: %s_",
			b->filter.n ? b->filter.at : "");
	else if (b->mode == MODE_CONFIRM)
		canvas_putf(canvas, 0, y, canvas->columns, STYLE_ALERT, "%s job %s%s? y or n",
			board_verb(b->asked), b->ask_label, b->ask_stops ? ", which stops it" : "");
	else if (b->message[0])
		canvas_put(canvas, 0, y, canvas->columns, STYLE_BAR, b->message);
	else if (b->paused)
		used = canvas_put(canvas, 0, y, canvas->columns, STYLE_ALERT, "paused: p goes on");
	else
		canvas_put(canvas, 0, y, canvas->columns, STYLE_BAR, keys_text(b, canvas->columns));
	if (used)
		canvas_put(canvas, used + 2, y, canvas->columns - used - 2, STYLE_BAR,
			"? help, q quit");
}

/* ---- a text over the lists */

/* As much of a line as fits, up to a blank if there is one; the rest goes on the next. */
static struct slice cut_piece(struct slice *line, int columns)
{
	struct slice piece = *line;
	size_t at = 0, blank = 0;
	int used = 0;

	while (at < line->n) {
		struct glyph glyph = glyph_next(line->at + at);

		if (at && used + glyph.columns > columns)
			break;
		if (line->at[at] == ' ')
			blank = at;
		used += glyph.columns;
		at += glyph.bytes;
	}
	piece.n = at < line->n && blank ? blank : at;
	*line = (struct slice){ line->at + piece.n, line->n - piece.n };
	while (piece.n && line->n && line->at[0] == ' ')
		*line = (struct slice){ line->at + 1, line->n - 1 };
	return piece;
}

static void put_piece(struct canvas *canvas, int y, struct slice piece)
{
	char *text = mem_strndup(piece.at, piece.n);

	canvas_put(canvas, 0, y, canvas->columns, STYLE_PLAIN, text);
	free(text);
}

/* Lines from `first` on, as many as there is room for; returns how many there are in all. */
static int put_lines(const struct buf *text, int first, struct canvas *canvas, int y, int room)
{
	struct slice left = { text->at, text->n };
	int n = 0;

	while (left.n) {
		struct slice line = slice_cut(&left, '\n');

		do {
			struct slice piece = cut_piece(&line, canvas->columns);

			if (n >= first && n < first + room)
				put_piece(canvas, y + n - first, piece);
			n++;
		} while (line.n);
	}
	return n;
}

/* Tells the board how far it can scroll. */
static void draw_text(const struct scene *s, struct canvas *canvas, int y, int room)
{
	struct board *b = s->board;
	int used = canvas_put(canvas, 0, y, canvas->columns, STYLE_STRONG, b->title);

	b->text_page = room - 1;
	b->text_lines = put_lines(&b->text, (int)b->text_first, canvas, y + 1, b->text_page);
	if (b->text_lines > b->text_page)
		canvas_putf(canvas, used + 2, y, canvas->columns, STYLE_FAINT, "line %zu of %d",
			b->text_first + 1, b->text_lines);
}

/* ---- all */

static int draw_alerts(const struct scene *s, struct canvas *canvas, int y)
{
	const char *lines[] = { s->alert, s->view->trouble };

	for (int i = 0; i < 2; i++) {
		if (lines[i])
			canvas_put(canvas, 0, y++, canvas->columns, STYLE_ALERT, lines[i]);
	}
	return y;
}

/* Lines for devices on a screen of so many. */
static int grid_lines(const struct scene *s, int lines)
{
	if (s->plain)
		return PLAIN_GRID;
	return lines < LOW ? 0 : lines < 14 ? 1 : (lines - 6) / 3;
}

static int draw_grid(const struct scene *s, struct canvas *canvas, int y)
{
	int most = grid_lines(s, canvas->lines);
	bool gap = s->plain || canvas->lines >= 16;
	struct grid grid;

	if (most < 1 || !s->view->ndevices)
		return y + gap;
	grid = grid_plan(s->view, canvas->columns, most);
	grid_draw(&grid, s->view, canvas, y + gap);
	return y + gap + grid.lines + gap;
}

void draw_scene(const struct scene *s, struct canvas *canvas)
{
	int y = 1, end = canvas->lines - !s->plain;

	if (canvas->lines < 2 || canvas->columns < 2)
		return;
	draw_title(s, canvas);
	draw_counts(s, canvas, y++);
	y = draw_alerts(s, canvas, y);
	if (s->board->mode == MODE_TEXT) {
		draw_text(s, canvas, y, end - y);
	} else {
		if (canvas->lines >= LOW && s->trend && s->trend->n > 1)
			draw_sparks(s, canvas, y++);
		y = draw_grid(s, canvas, y);
		draw_lists(s, canvas, y, end - y);
	}
	if (!s->plain)
		draw_footer(s, canvas, end);
}

int draw_height(const struct scene *s, int columns, int most)
{
	struct grid grid = { 0 };
	int lines;

	if (s->view->ndevices)
		grid = grid_plan(s->view, columns, PLAIN_GRID);
	lines = 2 + (s->alert != NULL) + (s->view->trouble != NULL) +
		(s->trend && s->trend->n > 1) + (s->view->ndevices ? grid.lines + 2 : 1) +
		wanted(s->board, PART_RUNNING, true) + 1 + wanted(s->board, PART_WAITING, true);
	return lines < most ? lines : most;
}
