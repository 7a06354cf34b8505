/*
 * stint top: devices, jobs that run and jobs that wait, on a screen of its own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/top/feed.h"
#include "cli/top/screen.h"
#include "cli/top/top.h"
#include "cli/ui.h"

/* A look takes at most this part of the time: a large queue is looked at less often. */
static const double LOOK_PART = 0.1;
/* So long a remark stays if nobody presses a key. */
static const double REMARK_S = 8;

struct session {
	struct top top;
	struct feed *feed;
	double interval_s;
	double next_s;   /* of clock_wall_s(): when to look again */
	double lost_s;   /* of clock_real_s(): since when nobody answers; NAN: somebody does */
	double remark_s; /* of clock_wall_s(): since when there is a remark; NAN: there is none */
	bool looks;      /* a question is under way */
};

/* ---- what comes from the daemon */

static void see(struct top *top, const struct feed_answer *answer)
{
	view_clear(&top->view);
	view_read(&top->view, answer->nodes, answer->jobs, answer->forecast, live_user());
	top_settle(top);
	trend_add(&top->trend, clock_wall_s(),
		top->view.ndevices ? (double)top->view.held / top->view.ndevices : 0,
		top->view.count[PART_WAITING]);
}

/* What was last known stays on the screen. */
static void tell_lost(struct session *s, const struct feed_answer *answer)
{
	time_t since;
	struct tm local = { 0 };
	char text[16] = "";

	if (isnan(s->lost_s))
		s->lost_s = clock_real_s();
	since = (time_t)s->lost_s;
	if (localtime_r(&since, &local))
		strftime(text, sizeof(text), "%H:%M:%S", &local);
	snprintf(s->top.alert, sizeof(s->top.alert), "since %s: %.120s (asking again)", text,
		answer->rc == ERR_UNREACHABLE ? "no daemon answers" : answer->err.text);
}

static void age_remark(struct session *s)
{
	double now_s = clock_wall_s();

	if (now_s - s->remark_s > REMARK_S)
		s->top.board.message[0] = '\0';
	if (!s->top.board.message[0])
		s->remark_s = NAN;
	else if (isnan(s->remark_s))
		s->remark_s = now_s;
}

static void take_look(struct session *s, const struct feed_answer *answer)
{
	s->looks = false;
	s->next_s = clock_wall_s() + s->interval_s;
	age_remark(s);
	if (answer->rc) {
		tell_lost(s, answer);
		return;
	}
	s->next_s = clock_wall_s() + fmax(s->interval_s, answer->took_s / LOOK_PART);
	if (!isnan(s->lost_s))
		board_say(&s->top.board, "the daemon answers again");
	s->lost_s = NAN;
	s->top.alert[0] = '\0';
	if (!s->top.board.paused)
		see(&s->top, answer);
}

static void ask_details(struct session *s)
{
	struct feed_question q = { .job = s->top.board.details_of };

	snprintf(q.label, sizeof(q.label), "%s", s->top.board.ask_first);
	feed_ask(s->feed, FEED_DETAILS, &q);
}

/* Only if the text is still wanted; a person who is on another job by now waits for that one. */
static void take_details(struct session *s, const struct feed_answer *answer)
{
	const struct feed_question *q = &answer->question;
	uint32_t wanted = s->top.board.mode == MODE_TEXT ? s->top.board.details_of : VIEW_NONE;
	char title[FEED_LABEL + 8];

	if (wanted != VIEW_NONE && wanted != q->job)
		ask_details(s);
	if (wanted != q->job)
		return;
	snprintf(title, sizeof(title), "job %s", q->label);
	board_show(&s->top.board, title, answer->rc ? answer->err.text : answer->text.at);
}

static void take_change(struct session *s, const struct feed_answer *answer)
{
	const struct feed_question *q = &answer->question;

	if (answer->rc)
		board_say(&s->top.board, "%s job %s: %s", q->verb, q->label, answer->err.text);
	else if (q->sets_priority)
		board_say(&s->top.board, "job %s has priority %d now", q->label, q->priority);
	else
		board_say(&s->top.board, "%s job %s: done", q->verb, q->label);
	s->next_s = 0;
}

static void take_answers(struct session *s)
{
	struct feed_answer answer;
	bool any = false;

	for (; feed_take(s->feed, &answer); any = true) {
		if (answer.kind == FEED_LOOK)
			take_look(s, &answer);
		else if (answer.kind == FEED_DETAILS)
			take_details(s, &answer);
		else
			take_change(s, &answer);
		feed_answer_fini(&answer);
	}
	if (any)
		top_draw(&s->top);
}

/* ---- what a person asks */

static bool ask_change(struct session *s, enum board_ask ask, uint32_t job)
{
	const struct board *board = &s->top.board;
	struct feed_question q = { .job = job, .verb = board_verb(ask), .stop = board->ask_stops };

	snprintf(q.label, sizeof(q.label), "%s", board->ask_label);
	if (ask == ASK_PRIORITY) {
		q.sets_priority = true;
		q.priority = board->ask_priority;
		if (board->ask_ids.n) /* of an array: all that wait */
			q.label[strcspn(q.label, "_")] = '\0';
	} else if (board->ask_ids.n) {
		q.ids = mem_strdup(board->ask_ids.at);
	}
	if (feed_ask(s->feed, FEED_CHANGE, &q))
		return true;
	free(q.ids);
	return false;
}

static void carry_out(struct session *s, enum board_ask ask, uint32_t job)
{
	struct board *board = &s->top.board;
	char title[FEED_LABEL + 8];

	if (ask == ASK_DETAILS) {
		snprintf(title, sizeof(title), "job %s", board->ask_first);
		board_show(board, title, "asking the daemon ...");
		ask_details(s);
	} else if (!ask_change(s, ask, job)) {
		board_say(board, "the daemon has not answered the last question yet");
	}
	top_draw(&s->top);
}

static void watch(struct session *s)
{
	enum board_ask ask = ASK_NOTHING;
	uint32_t job = VIEW_NONE;

	while (ask != ASK_QUIT) {
		double now_s = clock_wall_s();

		if (!s->looks && now_s >= s->next_s)
			s->looks = feed_ask(s->feed, FEED_LOOK, NULL);
		ask = top_wait(&s->top, s->looks ? 60 : s->next_s - now_s, &job);
		if (ask != ASK_NOTHING && ask != ASK_QUIT)
			carry_out(s, ask, job);
		take_answers(s);
	}
}

/* ---- the command */

static int on_screen(const struct args *args, struct top *top, struct err *err)
{
	struct session s = { .interval_s = args->interval, .lost_s = NAN, .remark_s = NAN };
	int rc;

	s.top = *top;
	*top = (struct top){ 0 };
	s.top.board.acts = true;
	rc = top_begin(&s.top, err);
	if (!rc) {
		s.feed = feed_create(args);
		s.next_s = clock_wall_s() + s.interval_s;
		top_draw(&s.top);
		watch(&s);
	}
	top_end(&s.top);
	feed_destroy(s.feed);
	if (!rc && ui_interrupted())
		rc = EXIT_SIGNAL + ui_interrupted();
	return rc;
}

static int print_json(const struct feed_answer *answer, struct err *err)
{
	json_t *both = json_pack("{s:s, s:O, s:O}", "schema", "top/1", "nodes", answer->nodes,
		"jobs", answer->jobs);
	int rc = live_print_json(both, err);

	json_decref(both);
	return rc;
}

static int print_once(const struct args *args, struct top *top, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	top->board.acts = true;
	top_print(top, (int)args->lines, &text);
	rc = ui_print_coloured(&text, err);
	buf_fini(&text);
	return rc;
}

/* The first look is made before the terminal is touched: what fails then is an error like any other. */
static int run(const struct args *args, struct err *err)
{
	struct top top = { .board = { .mine = args->mine } };
	struct feed_answer first = { 0 };
	bool once = args->once || !screen_possible();
	int rc = top_term(args, &top.term, err);

	if (rc)
		return rc;
	trend_init(&top.trend, fmax(args->interval, 1), false);
	feed_look(args, &first);
	rc = first.rc;
	*err = first.err;
	if (!rc && args->json) {
		rc = print_json(&first, err);
	} else if (!rc) {
		first.forecast = once ? feed_forecast(args) : NULL;
		see(&top, &first);
		rc = once ? print_once(args, &top, err) : on_screen(args, &top, err);
	}
	feed_answer_fini(&first);
	top_end(&top);
	return rc;
}

static const struct flag flags[] = {
	SWITCH(once, "one screen as text, then end (so it is without a terminal)"),
	NUMBER(interval, FLAG_SECONDS, "T", 1, 0.1, 3600, "time between two looks (default 1s)"),
	NUMBER(lines, FLAG_INT, "N", 0, 0, 100000,
		"with --once, or without a terminal: print at most N lines"),
	SWITCH(mine, "only your jobs"),
	TEXT(color, "WHEN", "auto, always or never (NO_COLOR is understood)"),
	SWITCH(json, "once, as JSON: nodes and jobs"),
	{ 0 },
};

static const struct flag_group flags_top = { .title = "output", .flags = flags, .aside = true };

static const char *const examples[] = {
	"stint top",
	"stint top --interval 5s --mine",
	"stint top --once --lines 40",
	"stint sim synth:jobs=200 --cluster 4x8:a100 --policy srtf --top --speed 600",
	NULL,
};

const struct command command_top = {
	.name = "top",
	.summary = "devices and jobs on a screen, as they change",
	.operands = "",
	.live = true,
	.groups = { &flags_top, &flags_daemon },
	.about = "A device is the letter of the job that has it; the list below has the same letters.  Keys:\n"
		 "arrows and Tab move, Enter tells everything about a job and why it waits, s sorts, / filters,\n"
		 "t shows only yours, p pauses, c, h and r cancel, hold and release after a question, ? lists\n"
		 "all of them, q quits.  A daemon that goes away is waited for.  'stint sim --top' shows a\n"
		 "simulation in the same way.",
	.examples = examples,
	.run = run,
};
