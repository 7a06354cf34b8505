#include "cli/top/top.h"

#include <limits.h>
#include <string.h>

#include "cli/term.h"
#include "cli/top/screen.h"
#include "cli/ui.h"

int top_term(const struct args *args, struct term *out, struct err *err)
{
	const char *when = args->color ? args->color : "auto";
	struct term term = term_of_stdout();

	if (!strcmp(when, "always"))
		term.colour = true;
	else if (!strcmp(when, "never"))
		term.colour = false;
	else if (strcmp(when, "auto") != 0)
		return err_set(err, ERR_USAGE, "--color %s: it is auto, always or never", when);
	*out = term;
	return 0;
}

int top_begin(struct top *top, struct err *err)
{
	(void)top;
	ui_guard();
	return screen_enter(err);
}

void top_end(struct top *top)
{
	screen_leave();
	canvas_fini(&top->shown);
	canvas_fini(&top->next);
	board_fini(&top->board);
	view_fini(&top->view);
}

void top_settle(struct top *top)
{
	view_finish(&top->view, &top->letters);
	board_settle(&top->board, &top->view);
}

static struct scene scene_of(struct top *top)
{
	return (struct scene){
		.view = &top->view,
		.trend = &top->trend,
		.board = &top->board,
		.alert = top->alert[0] ? top->alert : NULL,
	};
}

void top_draw(struct top *top)
{
	struct scene scene = scene_of(top);
	struct canvas drawn;
	struct buf text = { 0 };
	int columns, lines;

	screen_size(&columns, &lines);
	canvas_reset(&top->next, columns, lines, top->term.utf8);
	draw_scene(&scene, &top->next);
	canvas_update(&top->next, &top->shown, top->term.colour, &text);
	screen_write(&text);
	buf_fini(&text);
	drawn = top->next;
	top->next = top->shown;
	top->shown = drawn;
}

enum board_ask top_wait(struct top *top, double seconds, uint32_t *job)
{
	struct screen_news news = screen_wait(seconds);
	enum board_ask ask = ASK_NOTHING;

	if (ui_interrupted() || news.gone) {
		top->gone = true;
		return ASK_QUIT;
	}
	if (news.key != KEY_NONE)
		ask = board_key(&top->board, &top->view, news.key, job);
	if (news.fresh || ask == ASK_REDRAW)
		canvas_fini(&top->shown);
	if (ask == ASK_REDRAW)
		ask = ASK_NOTHING;
	if (news.fresh || news.key != KEY_NONE)
		top_draw(top);
	return ask;
}

void top_print(struct top *top, int lines, struct buf *out)
{
	enum { PLAIN_COLUMNS = 160 };
	struct scene scene = scene_of(top);
	int columns = top->term.width ? top->term.width : PLAIN_COLUMNS;

	scene.plain = true;
	canvas_reset(&top->next, columns,
		draw_height(&scene, columns, lines > 0 ? lines : INT_MAX / columns / 32),
		top->term.utf8);
	draw_scene(&scene, &top->next);
	canvas_text(&top->next, top->term.colour, out);
}
