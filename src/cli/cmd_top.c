/*
 * stint top: a screen of devices, jobs that run and jobs that wait.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"

enum { BAR_COLUMNS = 32 };

/* ---- devices, a line for each node */

static void put_node(const json_t *node, const struct term *term, struct buf *out)
{
	const json_t *devices = json_object_get(node, "devices");
	size_t n = json_array_size(devices), busy = 0, down = 0;

	for (size_t i = 0; i < n; i++) {
		const json_t *device = json_array_get(devices, i);

		down += json_is_false(json_object_get(device, "up"));
		busy += json_array_size(json_object_get(device, "jobs")) > 0;
	}
	if (!n)
		return;
	live_bar((double)busy / (double)n, BAR_COLUMNS, term, out);
	buf_printf(out, " %3zu of %zu busy", busy, n);
	if (down)
		buf_printf(out, ", %zu down", down);
	buf_printf(out, "  %s", live_text(node, "name") ? live_text(node, "name") : "");
	if (live_text(node, "type"))
		buf_printf(out, " (%s)", live_text(node, "type"));
	buf_char(out, '\n');
}

static void put_nodes(const json_t *reply, const struct term *term, struct buf *out)
{
	const json_t *nodes = json_object_get(reply, "nodes");

	for (size_t i = 0; i < json_array_size(nodes); i++)
		put_node(json_array_get(nodes, i), term, out);
}

/* ---- jobs */

static void put_counts(const json_t *jobs, const json_t *nodes, struct buf *out)
{
	const json_t *counts = json_object_get(jobs, "counts");
	double running = live_number(counts, "RUNNING"), pending = live_number(counts, "PENDING");

	buf_printf(out, "stint on %s", live_text(nodes, "host") ? live_text(nodes, "host") : "?");
	if (live_text(jobs, "policy"))
		buf_printf(out, ", policy %s", live_text(jobs, "policy"));
	buf_printf(out, ": %.0f running, %.0f pending\n\n", isnan(running) ? 0 : running,
		isnan(pending) ? 0 : pending);
}

/* As many lines as the terminal has; SIZE_MAX where there is none. */
static size_t lines_of_terminal(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return SIZE_MAX;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 5)
		return 24;
	return size.ws_row;
}

static size_t count_lines(const struct buf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++)
		n += text->at[i] == '\n';
	return n;
}

static void put_jobs(const json_t *reply, const struct term *term, struct buf *out)
{
	const json_t *jobs = json_object_get(reply, "jobs");
	size_t n = json_array_size(jobs), lines = lines_of_terminal(), used = count_lines(out) + 3;
	size_t room = lines == SIZE_MAX ? n : lines > used ? lines - used : 0;
	double total = live_number(reply, "total");
	json_t *shown;

	buf_char(out, '\n');
	if (!n) {
		buf_str(out,
			"no jobs wait or run; submit one: stint submit --gpus 1 -- python train.py\n");
		return;
	}
	shown = json_array();
	for (size_t i = 0; i < n && i < room; i++)
		json_array_append(shown, json_array_get(jobs, i));
	live_jobs_table(shown, term, out);
	json_decref(shown);
	if (total > (double)(n < room ? n : room))
		buf_printf(out, "%.0f more: stint queue\n", total - (double)(n < room ? n : room));
}

/* ---- the screen */

static int draw(const struct args *args, struct err *err)
{
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	json_t *nodes = NULL, *jobs = NULL;
	int rc = live_get(args, "/v1/nodes", &nodes, err);

	if (!rc)
		rc = live_get(args, "/v1/jobs?limit=200", &jobs, err);
	if (!rc && args->json) {
		json_t *both = json_pack("{s:s, s:O, s:O}", "schema", "top/1", "nodes", nodes,
			"jobs", jobs);

		rc = live_print_json(both, err);
		json_decref(both);
	} else if (!rc) {
		if (isatty(STDOUT_FILENO))
			buf_str(&text, "\033[H\033[2J");
		put_counts(jobs, nodes, &text);
		put_nodes(nodes, &term, &text);
		put_jobs(jobs, &term, &text);
		rc = ui_print(&text, err);
	}
	buf_fini(&text);
	json_decref(nodes);
	json_decref(jobs);
	return rc;
}

static int run(const struct args *args, struct err *err)
{
	bool once = args->json || !isatty(STDOUT_FILENO);
	int rc;

	do {
		rc = draw(args, err);
		if (!rc && !once)
			live_pause(1);
	} while (!rc && !once);
	return rc;
}

static const struct flag flags[] = { SWITCH(json, "once, as JSON: nodes and jobs"), { 0 } };
static const struct flag_group flags_top = { .title = "output", .flags = flags, .aside = true };
static const char *const examples[] = { "stint top", "stint top | head", NULL };

const struct command command_top = {
	.name = "top",
	.summary = "a screen of devices and jobs, every second",
	.operands = "",
	.live = true,
	.groups = { &flags_top, &flags_daemon },
	.about = "On a terminal until Ctrl-C; else once.",
	.examples = examples,
	.run = run,
};
