#include "cli/run_wait.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/plain.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"

static const double POLL_S = 1, FORECAST_S = 15;
/* In the first second it is looked at more often: a terminal is waited for. */
static const double QUICK_S = 0.1;
enum { QUICK_LOOKS = 10 };

struct waiting {
	const struct args *args;
	const char *job;
	bool in_place; /* standard error is a terminal that can draw a line anew */
	bool told;
	char why[32];      /* kind of the reason that was told last */
	json_t *forecast;  /* answer of eta; NULL: there is none */
	double forecast_s; /* when it was asked for, by the daemon's clock */
};

static bool draws_in_place(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
}

static void ask_forecast(struct waiting *w, double now)
{
	char *path = live_job_path(w->job, "eta");
	struct err err = { 0 };

	json_decref(w->forecast);
	w->forecast = NULL;
	w->forecast_s = now;
	(void)live_get(w->args, path, &w->forecast, &err); /* a line without it is a line, too */
	free(path);
}

/* "; expected to start in 3m (80 %: 1m to 9m)", or nothing where no start is foreseen. */
static void put_forecast(const struct waiting *w, double now, struct buf *out)
{
	const json_t *start = json_object_get(w->forecast, "start");
	double bound = live_number(w->forecast, "not_before");
	char lasts[DURATION_SIZE];

	if (!isnan(bound)) {
		buf_printf(out, "; not before %s from now", live_duration(fmax(0, bound - now), lasts));
	} else if (json_is_object(start)) {
		buf_str(out, "; expected to start ");
		live_interval(start, now, out);
	}
}

static void put_line(const struct waiting *w, const json_t *job, struct buf *out)
{
	const char *text = live_text(json_object_get(job, "reason"), "text");
	struct buf line = { 0 };

	buf_printf(&line, "stint run: job %s waits%s%s", w->job, text ? ": " : "", text ? text : "");
	put_forecast(w, live_number(job, "now"), &line);
	text_escape(out, line.at);
	buf_fini(&line);
}

static void draw(const struct buf *line)
{
	struct term term = term_of_stdout();
	struct winsize size = { 0 };
	struct buf cut = { 0 };

	(void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	live_cut(line->at, size.ws_col > 1 ? size.ws_col - 1u : 79, &term, &cut);
	fprintf(stderr, "\r%s\033[K", cut.at);
	fflush(stderr);
	buf_fini(&cut);
}

static void tell_waiting(struct waiting *w, const json_t *job)
{
	const char *why = live_text(json_object_get(job, "reason"), "why");
	double now = live_number(job, "now");
	bool is_news = !w->told || strcmp(w->why, why ? why : "") != 0;
	struct buf line = { 0 };

	if (!is_news && !w->in_place)
		return;
	if (is_news || !(now - w->forecast_s < FORECAST_S))
		ask_forecast(w, now);
	w->told = true;
	snprintf(w->why, sizeof(w->why), "%s", why ? why : "");
	put_line(w, job, &line);
	if (w->in_place)
		draw(&line);
	else
		ui_err("%s\n", line.at);
	buf_fini(&line);
}

static void tell_started(const struct waiting *w, const json_t *job)
{
	struct buf where = { 0 };
	char lasts[DURATION_SIZE];

	if (live_text(job, "node"))
		buf_printf(&where, " on %s", live_text(job, "node"));
	if (json_array_size(json_object_get(job, "devices"))) {
		buf_str(&where, where.n ? ":" : " on ");
		live_devices(json_object_get(job, "devices"), &where);
	}
	ui_err("stint run: job %s started%s after %s\n", w->job, where.n ? where.at : "",
		live_duration(live_number(job, "wait_s"), lasts));
	buf_fini(&where);
}

static bool is_waiting(const json_t *job)
{
	const char *state = live_text(job, "state");

	return state && (!strcmp(state, "PENDING") || !strcmp(state, "CONFIGURING"));
}

/* False: it no longer waits, or there is no answer. */
static bool look(struct waiting *w, double timeout_s, bool tell, const atomic_int *stop)
{
	struct err err = { 0 };
	json_t *job;
	bool waits;

	if (live_poll(w->args, w->job, timeout_s, &job, &err))
		return false;
	waits = is_waiting(job) && !atomic_load(stop);
	if (waits && tell)
		tell_waiting(w, job);
	else if (!waits && w->told && w->in_place && !atomic_load(stop))
		fputs("\r\033[K", stderr);
	if (!waits && w->told && live_number(job, "attempt") > 0 && !is_waiting(job))
		tell_started(w, job);
	json_decref(job);
	return waits;
}

void run_wait(const struct args *args, const char *job, const atomic_int *stop)
{
	struct waiting w = { .args = args, .job = job, .in_place = draws_in_place(), .forecast_s = NAN };

	int looks = 0;

	if (args->quiet)
		return;
	while (looks < QUICK_LOOKS && look(&w, QUICK_S, false, stop))
		looks++;
	while (looks == QUICK_LOOKS && look(&w, POLL_S, true, stop))
		;
	json_decref(w.forecast);
}
