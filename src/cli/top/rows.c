#include "cli/top/rows.h"

#include <math.h>

#include "base/glyph.h"
#include "cli/live_print.h"
#include "cli/top/grid.h"

/* ---- what is in a column */

typedef void put_cell(const struct view_job *job, struct buf *out);

static void put_text(struct buf *out, const char *text)
{
	buf_str(out, text ? text : "");
}

static void put_label(const struct view_job *job, struct buf *out)
{
	put_text(out, job->label);
}

static void put_name(const struct view_job *job, struct buf *out)
{
	put_text(out, job->name);
}

static void put_user(const struct view_job *job, struct buf *out)
{
	put_text(out, job->user);
}

static void put_gpus(const struct view_job *job, struct buf *out)
{
	put_text(out, job->gpus);
}

static void put_where(const struct view_job *job, struct buf *out)
{
	put_text(out, job->where);
}

static void put_why(const struct view_job *job, struct buf *out)
{
	put_text(out, job->why);
}

static void put_letter(const struct view_job *job, struct buf *out)
{
	buf_char(out, job->letter ? job->letter : '#');
}

static void put_seconds(struct buf *out, double seconds)
{
	char text[DURATION_SIZE];

	if (!isnan(seconds))
		buf_str(out, live_duration(seconds, text));
}

static void put_time(const struct view_job *job, struct buf *out)
{
	put_seconds(out, job->time_s);
}

static void put_left(const struct view_job *job, struct buf *out)
{
	put_seconds(out, job->left_s);
}

/* What is odd about it goes first. */
static void put_progress(const struct view_job *job, struct buf *out)
{
	if (job->stage) {
		buf_str(out, job->stage);
	} else if (job->idle) {
		buf_str(out, "idle");
		if (job->idle_s > 0) {
			buf_char(out, ' ');
			put_seconds(out, job->idle_s);
		}
	} else if (!isnan(job->progress)) {
		buf_printf(out, "%.0f%%", floor(fmin(1, fmax(0, job->progress)) * 100));
	}
}

/* "12m, at most 40m"; what is due says so. */
static void put_starts(const struct view_job *job, struct buf *out)
{
	double likely = job->starts_s[1], late = job->starts_s[2];

	if (job->never) {
		buf_str(out, "never");
		return;
	}
	if (isnan(likely))
		return;
	if (likely < 1)
		buf_str(out, "now");
	else
		put_seconds(out, likely);
	if (late > fmax(likely * 1.2, likely + 1)) {
		buf_char(out, '-');
		put_seconds(out, late);
	}
}

/* ---- columns */

struct column {
	const char *title;
	put_cell *put;
	int rank; /* 0: always there; else the largest goes first */
	int most; /* columns; 0: what is left, at least REST_MIN */
	bool right;
};

enum { GAP = 2, REST_MIN = 8, COLUMNS_MAX = 10, MARK = 2 };

static const struct column running[] = {
	{ "", put_letter, 0, 1, false },
	{ "JOB", put_label, 0, 12, true },
	{ "NAME", put_name, 1, 0, false },
	{ "USER", put_user, 7, 16, false },
	{ "GPUS", put_gpus, 5, 8, true },
	{ "WHERE", put_where, 6, 24, false },
	{ "DONE", put_progress, 2, 12, true },
	{ "TIME", put_time, 4, 8, true },
	{ "LEFT", put_left, 3, 8, true },
	{ 0 },
};

static const struct column waiting[] = {
	{ "JOB", put_label, 0, 20, true },
	{ "NAME", put_name, 2, 20, false },
	{ "USER", put_user, 6, 16, false },
	{ "GPUS", put_gpus, 5, 8, true },
	{ "WAITED", put_time, 3, 8, true },
	{ "STARTS IN", put_starts, 4, 16, true },
	{ "WHY", put_why, 1, 0, false },
	{ 0 },
};

/* What is drawn now. */
struct list {
	const struct rows_place *place;
	const struct view *view;
	const struct board *board;
	struct canvas *canvas;
	const struct column *columns;
	int width[COLUMNS_MAX]; /* 0: it is not shown */
	size_t first, n;
	struct buf text;
};

static const struct view_job *job_at(const struct list *l, size_t row)
{
	return &l->view->jobs[l->board->rows[l->place->part].at[l->first + row]];
}

static const char *cell_text(struct list *l, int column, size_t row)
{
	buf_clear(&l->text);
	l->columns[column].put(job_at(l, row), &l->text);
	return l->text.n ? l->text.at : "";
}

static int natural(struct list *l, int column)
{
	int widest = 0;

	for (size_t i = 0; i < l->n; i++) {
		int n = (int)glyph_columns(cell_text(l, column, i));

		widest = n > widest ? n : widest;
	}
	/* A column without anything to say is none. */
	if (widest && l->place->titles && (int)glyph_columns(l->columns[column].title) > widest)
		widest = (int)glyph_columns(l->columns[column].title);
	return widest;
}

static int total(const struct list *l)
{
	int sum = 0;

	for (int i = 0; l->columns[i].title; i++)
		sum += l->width[i] ? l->width[i] + (sum ? GAP : 0) : 0;
	return sum;
}

static int least_important(const struct list *l)
{
	int found = -1;

	for (int i = 0; l->columns[i].title; i++) {
		if (l->width[i] && l->columns[i].rank > 0 &&
			(found < 0 || l->columns[i].rank > l->columns[found].rank))
			found = i;
	}
	return found;
}

/* The column that takes what is left begins with its least. */
static void fit(struct list *l, int room)
{
	int rest = -1, wanted = 0, goes, left;

	for (int i = 0; l->columns[i].title; i++) {
		int most = l->columns[i].most;

		l->width[i] = natural(l, i);
		if (!most) {
			rest = i;
			wanted = l->width[i];
			most = REST_MIN;
		}
		l->width[i] = l->width[i] < most ? l->width[i] : most;
	}
	while (total(l) > room && (goes = least_important(l)) >= 0)
		l->width[goes] = 0;
	left = room - total(l);
	if (rest >= 0 && l->width[rest] && left > 0)
		l->width[rest] = wanted < l->width[rest] + left ? wanted : l->width[rest] + left;
}

/* ---- drawing */

static void draw_cell(struct list *l, int column, int x, int y, enum style style, const char *text)
{
	int room = l->width[column], n = (int)glyph_columns(text);

	if (l->columns[column].right && n < room)
		x += room - n;
	canvas_put(l->canvas, x, y, room, style, text);
}

static void draw_titles(struct list *l)
{
	int x = MARK;

	for (int i = 0; l->columns[i].title; i++) {
		if (!l->width[i])
			continue;
		draw_cell(l, i, x, l->place->y, STYLE_FAINT, l->columns[i].title);
		x += l->width[i] + GAP;
	}
}

static void draw_row(struct list *l, size_t row, int y)
{
	bool here = l->place->mark && l->first + row == l->board->at[l->place->part];
	enum style style = here ? STYLE_CHOSEN : STYLE_PLAIN;
	char letter = job_at(l, row)->letter;
	int x = MARK;

	if (here) {
		canvas_style(l->canvas, 0, y, l->canvas->columns, STYLE_CHOSEN);
		canvas_put(l->canvas, 0, y, 1, STYLE_CHOSEN, ">");
	}
	for (int i = 0; l->columns[i].title; i++) {
		bool sign = l->columns[i].put == put_letter && letter;

		if (!l->width[i])
			continue;
		draw_cell(l, i, x, y, sign ? letter_style(letter) : style, cell_text(l, i, row));
		x += l->width[i] + GAP;
	}
}

/* The chosen row stays in sight, and no line is empty that need not be. */
static size_t scroll(const struct board *board, enum top_part part, size_t room)
{
	size_t n = board->rows[part].n, at = board->at[part], first = board->first[part];

	if (first + room > n)
		first = n > room ? n - room : 0;
	if (at < first)
		first = at;
	return at >= first + room ? at - room + 1 : first;
}

void rows_draw(const struct rows_place *place, const struct view *view, struct board *board,
	struct canvas *canvas)
{
	struct list l = {
		.place = place,
		.view = view,
		.board = board,
		.canvas = canvas,
		.columns = place->part == PART_RUNNING ? running : waiting,
	};
	int room = place->lines - place->titles;

	if (room <= 0)
		return;
	board->first[place->part] = scroll(board, place->part, (size_t)room);
	l.first = board->first[place->part];
	l.n = board->rows[place->part].n - l.first;
	l.n = l.n < (size_t)room ? l.n : (size_t)room;
	fit(&l, canvas->columns - MARK);
	if (place->titles && l.n)
		draw_titles(&l);
	for (size_t i = 0; i < l.n; i++)
		draw_row(&l, i, place->y + place->titles + (int)i);
	buf_fini(&l.text);
}
