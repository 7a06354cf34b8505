#include "cli/top/sim_watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/live_print.h"
#include "cli/top/sim_seen.h"
#include "cli/top/top.h"
#include "cli/ui.h"

/* Between two pictures; and making one takes at most this part of the time. */
static const double FRAME_S = 0.1, FRAME_PART = 0.1;
/* What '-' makes of "as fast as it goes", and from where '+' is that: simulated seconds in a real one. */
static const double SPEED_FIRST = 86400, SPEED_MOST = 1e7, SPEED_LEAST = 1. / 64;

struct sim_watch {
	struct sim_watch_config config;
	struct sim_seen seen;
	struct top top;
	bool shown;
	double now_s;  /* of the simulation; NAN: it has not begun */
	double base_s; /* at `base_wall_s` it was this moment of the simulation */
	double base_wall_s;
	double speed;
	double frame_s; /* of clock_wall_s(): when the next picture is due */
};

/* ---- pictures */

static void put_note(struct sim_watch *w)
{
	struct view *view = &w->top.view;
	uint32_t all = w->config.trace->njobs;

	if (w->speed > 0)
		view->note = arena_printf(&view->memory, "%u of %u jobs ended, %g s a second",
			w->seen.ended, all, w->speed);
	else
		view->note = arena_printf(&view->memory, "%u of %u jobs ended", w->seen.ended, all);
}

static void put_details(struct sim_watch *w)
{
	struct board *board = &w->top.board;
	struct buf text = { 0 };

	sim_seen_details(&w->seen, board->details_of, w->now_s, &text);
	board_show(board, board->title, text.at);
	buf_fini(&text);
}

static void look(struct sim_watch *w)
{
	struct view *view = &w->top.view;

	view_clear(view);
	sim_seen_view(&w->seen, w->now_s, view);
	view->title = w->config.title;
	view->policy = w->config.policy;
	put_note(w);
	top_settle(&w->top);
	if (w->top.board.mode == MODE_TEXT && w->top.board.details_of != VIEW_NONE)
		put_details(w);
}

static void draw(struct sim_watch *w)
{
	double began_s = clock_wall_s(), took_s;

	look(w);
	top_draw(&w->top);
	took_s = clock_wall_s() - began_s;
	w->frame_s = began_s + fmax(FRAME_S, took_s / FRAME_PART);
}

/* ---- time and keys */

/* The clocks run from here on. */
static void set_base(struct sim_watch *w)
{
	w->base_s = w->now_s;
	w->base_wall_s = clock_wall_s();
}

static void change_speed(struct sim_watch *w, bool faster)
{
	if (w->speed > 0)
		w->speed = faster ? w->speed * 2 : fmax(SPEED_LEAST, w->speed / 2);
	else if (!faster)
		w->speed = SPEED_FIRST;
	if (w->speed > SPEED_MOST)
		w->speed = 0;
	set_base(w);
	if (w->speed > 0)
		board_say(&w->top.board, "%g simulated seconds in a second", w->speed);
	else
		board_say(&w->top.board, "as fast as it goes");
	draw(w);
}

static void open_details(struct sim_watch *w)
{
	const struct view_job *job = board_chosen(&w->top.board, &w->top.view);

	snprintf(w->top.board.title, sizeof(w->top.board.title), "job %s", job ? job->label : "?");
	put_details(w);
	top_draw(&w->top);
}

static void leave(struct sim_watch *w)
{
	if (!w->shown)
		return;
	w->shown = false;
	top_end(&w->top);
}

static void answer_keys(struct sim_watch *w, double seconds)
{
	uint32_t job = VIEW_NONE;
	enum board_ask ask = top_wait(&w->top, seconds, &job);

	if (ask == ASK_DETAILS)
		open_details(w);
	else if (ask == ASK_FASTER || ask == ASK_SLOWER)
		change_speed(w, ask == ASK_FASTER);
	else if (ask == ASK_QUIT)
		leave(w);
}

static void stay_paused(struct sim_watch *w)
{
	if (!w->top.board.paused)
		return;
	draw(w);
	while (w->shown && w->top.board.paused)
		answer_keys(w, 60);
	set_base(w);
}

/* Draws if it is time to, and answers what keys there are. */
static void attend(struct sim_watch *w)
{
	if (clock_wall_s() < w->frame_s)
		return;
	draw(w);
	answer_keys(w, 0);
	if (w->shown)
		stay_paused(w);
}

/* Until it is `at_s` at this speed; the picture shows the time in between. */
static void pass_slowly(struct sim_watch *w, double at_s)
{
	while (w->shown && w->speed > 0 && w->now_s < at_s) {
		double wall_s = clock_wall_s();
		double due_s = w->base_wall_s + (at_s - w->base_s) / w->speed;

		w->now_s = fmin(at_s, w->base_s + (wall_s - w->base_wall_s) * w->speed);
		if (wall_s >= due_s)
			return;
		attend(w);
		if (w->shown)
			answer_keys(w, fmin(due_s, w->frame_s) - clock_wall_s());
		if (w->shown)
			stay_paused(w);
	}
}

static void add_trend(struct sim_watch *w)
{
	uint32_t devices = w->config.cluster->devices;

	trend_add(&w->top.trend, w->now_s, devices ? w->seen.held / devices : 0, w->seen.waiting);
}

/* Everything of the moment before is known now: it can be shown. */
static void pass_to(struct sim_watch *w, double at_s)
{
	add_trend(w);
	if (w->speed > 0)
		pass_slowly(w, at_s);
	else
		attend(w);
	w->now_s = at_s;
}

/* ---- the observer */

static void see(void *self, const struct event *event, const struct job *job)
{
	struct sim_watch *w = self;

	if (!w->shown)
		return;
	if (isnan(w->now_s)) {
		w->now_s = event->at_s;
		set_base(w);
	}
	if (event->at_s > w->now_s)
		pass_to(w, event->at_s);
	sim_seen_event(&w->seen, event, job);
}

struct observer sim_watch_observer(struct sim_watch *watch)
{
	return (struct observer){ watch, see };
}

bool sim_watch_shown(const struct sim_watch *watch)
{
	return watch && watch->shown;
}

void sim_watch_finish(struct sim_watch *w)
{
	if (!w->shown)
		return;
	if (isnan(w->now_s))
		w->now_s = 0;
	snprintf(w->top.alert, sizeof(w->top.alert), "the run is over: q leaves and shows the summary");
	w->top.board.paused = w->top.board.runs = false;
	add_trend(w);
	draw(w);
	while (w->shown)
		answer_keys(w, 60);
}

int sim_watch_create(const struct sim_watch_config *config, struct sim_watch **out, struct err *err)
{
	struct sim_watch *w = mem_alloc(sizeof(*w));
	int rc;

	w->config = *config;
	w->now_s = NAN;
	w->speed = config->speed;
	w->top.term = config->term;
	w->top.board.runs = true;
	trend_init(&w->top.trend, 1, true);
	sim_seen_init(&w->seen, config->cluster, config->trace, config->pool);
	rc = top_begin(&w->top, err);
	w->shown = !rc;
	if (rc) {
		sim_watch_destroy(w);
		return rc;
	}
	*out = w;
	return 0;
}

void sim_watch_destroy(struct sim_watch *w)
{
	if (!w)
		return;
	leave(w);
	sim_seen_fini(&w->seen);
	free(w);
}
