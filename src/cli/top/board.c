#include "cli/top/board.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/top/keys.h"

void board_fini(struct board *board)
{
	buf_fini(&board->filter);
	buf_fini(&board->text);
	buf_fini(&board->ask_ids);
	for (int i = 0; i < PARTS; i++)
		vec_fini(&board->rows[i]);
}

const char *board_sort_name(enum board_sort sort)
{
	static const char *const names[] = {
		[SORT_QUEUE] = "as queued",
		[SORT_NAME] = "by name",
		[SORT_USER] = "by user",
		[SORT_DEVICES] = "by devices",
		[SORT_TIME] = "by time so far",
		[SORT_LEFT] = "by time left",
	};

	return names[sort];
}

const char *board_verb(enum board_ask ask)
{
	return ask == ASK_CANCEL      ? "cancel"
		: ask == ASK_HOLD     ? "hold"
		: ask == ASK_PRIORITY ? "update"
				      : "release";
}

void board_say(struct board *board, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(board->message, sizeof(board->message), fmt, ap);
	va_end(ap);
}

void board_show(struct board *board, const char *title, const char *text)
{
	buf_clear(&board->text);
	buf_str(&board->text, text);
	if (title != board->title)
		snprintf(board->title, sizeof(board->title), "%s", title);
	if (board->mode != MODE_TEXT)
		board->text_first = 0;
	board->mode = MODE_TEXT;
}

/* ---- which jobs, in which order */

static bool has(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool passes(const struct board *board, const struct view_job *job)
{
	const char *part = board->filter.at;

	if (board->mine && !job->mine)
		return false;
	if (!board->filter.n)
		return true;
	return has(job->label, part) || has(job->name, part) || has(job->user, part) ||
		has(job->where, part) || has(job->why, part) || has(job->stage, part);
}

/* Texts that are not there come last. */
static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a == NULL) - (b == NULL);
	return strcasecmp(a, b);
}

/* Small first, unknown last. */
static int compare_numbers(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return a < b ? -1 : a > b;
}

static double left_of(const struct view_job *job)
{
	return job->part == PART_WAITING ? job->starts_s[1] : job->left_s;
}

static int compare_jobs(enum board_sort sort, const struct view_job *a, const struct view_job *b)
{
	switch (sort) {
	case SORT_NAME:
		return compare_texts(a->name, b->name);
	case SORT_USER:
		return compare_texts(a->user, b->user);
	case SORT_DEVICES:
		return compare_numbers(b->devices, a->devices);
	case SORT_TIME:
		return compare_numbers(b->time_s, a->time_s);
	case SORT_LEFT:
		return compare_numbers(left_of(a), left_of(b));
	default:
		return 0;
	}
}

struct sorting {
	const struct view *view;
	enum board_sort sort;
};

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct sorting *s = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_jobs(s->sort, &s->view->jobs[x], &s->view->jobs[y]);

	return order ? order : x < y ? -1 : x > y;
}

/* The row of the chosen job; if it is gone, the one that took its place. */
static void find_chosen(struct board *board, const struct view *view, enum top_part part)
{
	size_t n = board->rows[part].n;

	for (size_t i = 0; i < n; i++) {
		if ((uint64_t)view->jobs[board->rows[part].at[i]].id + 1 == board->chosen[part])
			board->at[part] = i;
	}
	if (board->at[part] >= n)
		board->at[part] = n ? n - 1 : 0;
	board->chosen[part] = n ? (uint64_t)view->jobs[board->rows[part].at[board->at[part]]].id + 1
				: 0;
}

void board_settle(struct board *board, const struct view *view)
{
	struct sorting sorting = { view, board->sort };

	for (int part = 0; part < PARTS; part++)
		board->rows[part].n = 0;
	for (uint32_t i = 0; i < view->njobs; i++) {
		if (passes(board, &view->jobs[i]))
			vec_push(&board->rows[view->jobs[i].part], i);
	}
	for (int part = 0; part < PARTS; part++) {
		if (board->rows[part].n)
			qsort_r(board->rows[part].at, board->rows[part].n, sizeof(uint32_t),
				compare_rows, &sorting);
		find_chosen(board, view, part);
	}
}

const struct view_job *board_chosen(const struct board *board, const struct view *view)
{
	if (!board->rows[board->part].n)
		return NULL;
	return &view->jobs[board->rows[board->part].at[board->at[board->part]]];
}

/* ---- moving */

static size_t moved(size_t at, long by, size_t n)
{
	long to = (long)at + by;

	if (!n || to < 0)
		return 0;
	return (size_t)to < n ? (size_t)to : n - 1;
}

/* How far a key moves: lines, pages or all the way; 0: it does not. */
static long distance(uint32_t key, int page)
{
	static const long far = 1000000000;

	switch (key) {
	case KEY_UP:
	case 'k':
		return -1;
	case KEY_DOWN:
	case 'j':
		return 1;
	case KEY_PAGE_UP:
		return page > 1 ? -(page - 1) : -1;
	case KEY_PAGE_DOWN:
	case ' ':
		return page > 1 ? page - 1 : 1;
	case KEY_HOME:
	case 'g':
		return -far;
	case KEY_END:
	case 'G':
		return far;
	default:
		return 0;
	}
}

/* Past the end of one part the other begins. */
static void move(struct board *board, const struct view *view, long by)
{
	enum top_part part = board->part;
	size_t n = board->rows[part].n;
	bool down = by == 1 && part == PART_RUNNING && board->at[part] + 1 >= n;
	bool up = by == -1 && part == PART_WAITING && board->at[part] == 0;

	if (down && board->rows[PART_WAITING].n) {
		board->part = PART_WAITING;
		board->at[PART_WAITING] = 0;
	} else if (up && board->rows[PART_RUNNING].n) {
		board->part = PART_RUNNING;
		board->at[PART_RUNNING] = board->rows[PART_RUNNING].n - 1;
	} else {
		board->at[part] = moved(board->at[part], by, n);
	}
	part = board->part;
	if (board->rows[part].n)
		board->chosen[part] = (uint64_t)view->jobs[board->rows[part].at[board->at[part]]].id + 1;
}

/* ---- keys by mode */

static const char help_text[] =
	"arrows, j k       move; Page Up, Page Down, Home, End\n"
	"Tab               from the jobs that run to those that wait, and back\n"
	"Enter             everything about the job, and why it waits\n"
	"s                 another order: as queued, name, user, devices, time, time left\n"
	"/ or f            only jobs with this text; Escape shows all again\n"
	"t                 only your jobs\n"
	"p                 pause: the screen stays as it is\n"
	"q                 quit; Escape or q leaves a text like this one\n";

static const char help_acts[] = "c h r             cancel, hold or release the job, after a question\n"
				"+ -               raise or lower the priority of a job that waits\n";

static const char help_runs[] = "+ -               faster, slower\n";

static const char help_signs[] =
	"\n"
	"A device is the letter of the job that has it, and the list has the same letters. A digit: so many\n"
	"jobs share it. #: more jobs than letters. A point: free. x: down. /: drained, it takes no more jobs.\n"
	"!: its job does not use it. Where there is no room for every device, a node is a block as high as\n"
	"what is held of it, or a digit of eighths; and where there is no room for that, a type is a bar.\n";

static void show_help(struct board *board)
{
	struct buf text = { 0 };

	buf_str(&text, help_text);
	if (board->acts)
		buf_str(&text, help_acts);
	if (board->runs)
		buf_str(&text, help_runs);
	buf_str(&text, help_signs);
	board->details_of = VIEW_NONE;
	board_show(board, "keys", text.at);
	buf_fini(&text);
}

static enum board_ask text_key(struct board *board, uint32_t key)
{
	long by = distance(key, board->text_page);
	size_t last = board->text_lines > board->text_page
		? (size_t)(board->text_lines - board->text_page)
		: 0;

	if (key == 'q' || key == KEY_ESCAPE || key == KEY_ENTER || key == '?' || key == KEY_LEFT)
		board->mode = MODE_LIST;
	else if (by)
		board->text_first = moved(board->text_first, by, last + 1);
	return ASK_NOTHING;
}

static void add_character(struct buf *out, uint32_t code)
{
	if (code < 0x80)
		buf_char(out, (char)code);
	else if (code < 0x800)
		buf_printf(out, "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
	else if (code < 0x10000)
		buf_printf(out, "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f),
			0x80 | (code & 0x3f));
	else
		buf_printf(out, "%c%c%c%c", 0xf0 | code >> 18, 0x80 | (code >> 12 & 0x3f),
			0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f));
}

static void drop_character(struct buf *text)
{
	while (text->n && (text->at[text->n - 1] & 0xc0) == 0x80)
		text->n--;
	if (text->n)
		text->n--;
	if (text->at)
		text->at[text->n] = '\0';
}

static enum board_ask filter_key(struct board *board, const struct view *view, uint32_t key)
{
	enum { FILTER_MAX = 60 };

	if (key == KEY_ENTER)
		board->mode = MODE_LIST;
	else if (key == KEY_BACKSPACE)
		drop_character(&board->filter);
	else if (key >= ' ' && key < KEY_UP && board->filter.n < FILTER_MAX)
		add_character(&board->filter, key);
	if (key == KEY_ESCAPE) {
		board->mode = MODE_LIST;
		buf_clear(&board->filter);
	}
	board_settle(board, view);
	return ASK_NOTHING;
}

static enum board_ask confirm_key(struct board *board, uint32_t key, uint32_t *job)
{
	board->mode = MODE_LIST;
	if (key != 'y' && key != 'Y') {
		board_say(board, "nothing was changed");
		return ASK_NOTHING;
	}
	*job = board->ask_job;
	return board->asked;
}

static void name_job(struct board *board, const struct view_job *job)
{
	board->ask_job = job->id;
	snprintf(board->ask_label, sizeof(board->ask_label), "%s", job->label ? job->label : "?");
	snprintf(board->ask_first, sizeof(board->ask_first), "%s",
		job->first ? job->first : board->ask_label);
	buf_clear(&board->ask_ids);
	buf_str(&board->ask_ids, job->ids ? job->ids : "");
}

static void confirm(struct board *board, const struct view *view, enum board_ask ask)
{
	const struct view_job *job = board_chosen(board, view);

	if (!job || !board->acts)
		return;
	board->mode = MODE_CONFIRM;
	board->asked = ask;
	board->ask_stops = ask == ASK_HOLD && job->part == PART_RUNNING;
	name_job(board, job);
}

static enum board_ask details(struct board *board, const struct view *view, uint32_t *job)
{
	const struct view_job *chosen = board_chosen(board, view);

	if (!chosen)
		return ASK_NOTHING;
	name_job(board, chosen);
	board->details_of = *job = chosen->id;
	return ASK_DETAILS;
}

/* One step up or down in the queue: what waits with a larger priority goes first where the policy looks at it. */
static enum board_ask change_priority(struct board *board, const struct view *view, int step,
	uint32_t *job)
{
	const struct view_job *chosen = board_chosen(board, view);

	if (!chosen || !board->acts)
		return ASK_NOTHING;
	if (chosen->part != PART_WAITING || isnan(chosen->priority)) {
		board_say(board, "only the priority of a job that waits can be changed");
		return ASK_NOTHING;
	}
	name_job(board, chosen);
	board->ask_stops = false;
	board->ask_priority = (int32_t)fmax(INT32_MIN, fmin(INT32_MAX, chosen->priority + step));
	*job = chosen->id;
	return ASK_PRIORITY;
}

static void switch_part(struct board *board)
{
	board->part = board->part == PART_RUNNING ? PART_WAITING : PART_RUNNING;
}

/* What changes which jobs are listed; false: the key does not. */
static bool list_again(struct board *board, uint32_t key)
{
	switch (key) {
	case 's':
		board->sort = (board->sort + 1) % SORTS;
		return true;
	case 'S':
		board->sort = (board->sort + SORTS - 1) % SORTS;
		return true;
	case 't':
		board->mine = !board->mine;
		return true;
	case KEY_ESCAPE:
		buf_clear(&board->filter);
		return true;
	default:
		return false;
	}
}

static enum board_ask list_key(struct board *board, const struct view *view, uint32_t key, uint32_t *job)
{
	long by = distance(key, board->page);

	if (by)
		move(board, view, by);
	else if (list_again(board, key))
		board_settle(board, view);
	switch (key) {
	case 'q':
		return ASK_QUIT;
	case KEY_REDRAW:
		return ASK_REDRAW;
	case '+':
		return board->runs ? ASK_FASTER : change_priority(board, view, 1, job);
	case '-':
		return board->runs ? ASK_SLOWER : change_priority(board, view, -1, job);
	case KEY_ENTER:
	case KEY_RIGHT:
		return details(board, view, job);
	case KEY_TAB:
	case KEY_BACK_TAB:
		switch_part(board);
		break;
	case '/':
	case 'f':
		board->mode = MODE_FILTER;
		break;
	case 'p':
		board->paused = !board->paused;
		break;
	case '?':
		show_help(board);
		break;
	case 'c':
		confirm(board, view, ASK_CANCEL);
		break;
	case 'h':
		confirm(board, view, ASK_HOLD);
		break;
	case 'r':
		confirm(board, view, ASK_RELEASE);
		break;
	default:
		break;
	}
	return ASK_NOTHING;
}

enum board_ask board_key(struct board *board, const struct view *view, uint32_t key, uint32_t *job)
{
	board->message[0] = '\0';
	switch (board->mode) {
	case MODE_TEXT:
		return text_key(board, key);
	case MODE_FILTER:
		return filter_key(board, view, key);
	case MODE_CONFIRM:
		return confirm_key(board, key, job);
	case MODE_LIST:
		break;
	}
	return list_key(board, view, key, job);
}
