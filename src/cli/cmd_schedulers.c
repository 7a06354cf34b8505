/*
 * stint schedulers: several schedulers over one cluster, in several ways to
 * share what they know, side by side.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cli/form.h"
#include "cli/html_file.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/schedulers_report.h"

enum { PLAIN_WIDTH = 120 };

static const double tasks_max = 2e8; /* latencies that are kept: 8 bytes each */

struct schedulers_call {
	const struct args *args;
	struct schedulers_config config; /* without the mode */
	enum schedulers_mode modes[SCHEDULERS_MODES];
	struct schedulers_row rows[SCHEDULERS_MODES];
	size_t nmodes, nrows;
	struct html_file html;
	struct bar bar;
};

/* ---- what was asked for */

static int unknown_mode(const char *word, struct err *err)
{
	int nearest = text_nearest(word, schedulers_mode_names, SCHEDULERS_MODES);

	if (nearest >= 0)
		return err_set(err, ERR_USAGE, "--mode '%s' is none; did you mean %s?", word,
			schedulers_mode_names[nearest]);
	return err_set(err, ERR_USAGE,
		"--mode '%s' is none; there are static, statesync, quality, latency and adaptive",
		word);
}

static int add_mode(struct schedulers_call *call, const char *word, struct err *err)
{
	enum schedulers_mode mode = 0;

	while (mode < SCHEDULERS_MODES && strcmp(schedulers_mode_names[mode], word) != 0)
		mode++;
	if (mode == SCHEDULERS_MODES)
		return unknown_mode(word, err);
	for (size_t i = 0; i < call->nmodes; i++)
		if (call->modes[i] == mode)
			return err_set(err, ERR_USAGE, "--mode %s is given twice: once is enough",
				word);
	call->modes[call->nmodes++] = mode;
	return 0;
}

static int add_modes(struct schedulers_call *call, const char *list, struct err *err)
{
	struct slice rest = slice_of(list);
	int rc = 0;

	while (rest.n && !rc) {
		struct slice item = slice_trim(slice_cut(&rest, ','));
		char word[32];

		snprintf(word, sizeof(word), "%.*s", item.n > 31 ? 31 : (int)item.n, item.at);
		rc = add_mode(call, word, err);
	}
	return rc;
}

/* All where none is named. */
static int read_modes(struct schedulers_call *call, struct err *err)
{
	const struct words *words = &call->args->mode;
	int rc = 0;

	for (size_t i = 0; i < words->n && !rc; i++)
		rc = add_modes(call, words->at[i], err);
	for (enum schedulers_mode mode = 0; mode < SCHEDULERS_MODES && !words->n; mode++)
		call->modes[call->nmodes++] = mode;
	return rc;
}

static void read_config(struct schedulers_call *call)
{
	const struct args *args = call->args;
	double running = floor(args->rate * args->task_s);
	double slots = (double)args->machines * (double)args->slots;

	call->config = (struct schedulers_config){
		.plan = {
			.schedulers = (uint32_t)args->schedulers,
			.partitions = (uint32_t)(args->partitions ? args->partitions : args->schedulers),
			.period_s = args->period,
		},
		.limits = parsync_limits_usual,
		.machines = (uint32_t)args->machines,
		.slots = (uint32_t)args->slots,
		.levels = (uint32_t)args->levels,
		.classes = (uint32_t)args->classes,
		.rate = args->rate,
		.hot = args->hot,
		.task_s = args->task_s,
		.decision_s = args->decision_ms / 1e3,
		.rtt_s = args->rtt_ms / 1e3,
		.running = (uint32_t)fmin(fmin(running, slots), UINT32_MAX),
		.warm_up_s = isnan(args->warm_up) ? args->task_s : args->warm_up,
		.duration_s = args->duration,
		.seed = (uint64_t)args->seed,
	};
}

static int check_length(const struct schedulers_config *c, struct err *err)
{
	double tasks = c->rate * (c->warm_up_s + c->duration_s);

	if (c->duration_s < c->plan.period_s)
		return err_set(err, ERR_USAGE,
			"--duration %g is shorter than --period %g, in which everything is refreshed once; "
			"make it a few periods",
			c->duration_s, c->plan.period_s);
	if (tasks > tasks_max)
		return err_set(err, ERR_USAGE,
			"%g tasks come in %g s: that is more than %g; take a shorter --duration or --warm-up",
			tasks, c->warm_up_s + c->duration_s, tasks_max);
	return 0;
}

/* Sensible, but not what one may expect. */
static void warn(const struct schedulers_call *call)
{
	const struct schedulers_config *c = &call->config;
	double thinking = c->rate * c->decision_s / c->plan.schedulers;

	if (schedulers_load(c) >= 1)
		ui_say(call->args,
			"%g slots would be needed and there are %g: queues grow without end; lower --rate or "
			"--task-s, or add --machines or --slots",
			c->rate * c->task_s, (double)c->machines * c->slots);
	if (thinking >= 1)
		ui_say(call->args,
			"each scheduler would have to think %.2f s in every second: queues grow without end; add "
			"--schedulers or lower --rate or --decision-ms",
			thinking);
}

static int prepare(struct schedulers_call *call, struct err *err)
{
	int rc = form_check(call->args, err);

	if (!rc)
		rc = read_modes(call, err);
	read_config(call);
	for (size_t i = 0; i < call->nmodes && !rc; i++) {
		struct schedulers_config config = call->config;

		config.mode = call->modes[i];
		rc = schedulers_check(&config, err);
	}
	if (!rc)
		rc = check_length(&call->config, err);
	if (rc)
		return rc;
	warn(call);
	ui_guard();
	return html_file_open(&call->html, call->args->html, NULL, err);
}

/* ---- doing it */

static bool moved(void *ctx, double part)
{
	struct schedulers_call *call = ctx;

	bar_move(&call->bar, part);
	return !ui_interrupted();
}

static int run_mode(struct schedulers_call *call, enum schedulers_mode mode, struct err *err)
{
	struct schedulers_config config = call->config;
	struct schedulers_result result;
	int rc;

	config.mode = mode;
	config.progress = moved;
	config.ctx = call;
	bar_begin(&call->bar, call->args, schedulers_mode_names[mode]);
	rc = schedulers_run(&config, &result, err);
	bar_end(&call->bar);
	if (rc)
		return rc;
	schedulers_row_init(&call->rows[call->nrows++], &config, &result);
	return 0;
}

static int write_page(struct schedulers_call *call, const struct schedulers_report *report,
	struct err *err)
{
	struct buf command = { 0 }, text = { 0 };
	int rc;

	args_command(call->args, &command);
	schedulers_report_html(report,
		&(struct html_info){
			.title = "Parallel schedulers",
			.command = command.at,
			.version = STINT_VERSION,
		},
		&text);
	rc = html_file_write(&call->html, &text, err);
	if (!rc)
		ui_say(call->args, "wrote %s", call->args->html);
	buf_fini(&command);
	buf_fini(&text);
	return rc;
}

static int tell(struct schedulers_call *call, struct err *err)
{
	const struct args *args = call->args;
	struct schedulers_report report = { &call->config, call->rows, call->nrows };
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	int rc;

	if (!term.width)
		term.width = PLAIN_WIDTH;
	if (args->json)
		schedulers_report_json(&report, &text);
	else
		schedulers_report_text(&report, form_of_table(args), &term, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (!rc && args->html)
		rc = write_page(call, &report, err);
	return rc;
}

static int schedulers(const struct args *args, struct err *err)
{
	struct schedulers_call call = { .args = args };
	int rc = prepare(&call, err);

	for (size_t i = 0; i < call.nmodes && !rc; i++)
		rc = run_mode(&call, call.modes[i], err);
	if (!rc)
		rc = tell(&call, err);
	html_file_abandon(&call.html);
	for (size_t i = 0; i < call.nrows; i++)
		schedulers_row_fini(&call.rows[i]);
	return rc;
}

static const struct flag cluster_flags[] = {
	NUMBER(machines, FLAG_INT, "N", 10000, 1, 1e8, "machines (default 10000)"),
	NUMBER(slots, FLAG_INT, "N", 2, 1, 65535, "tasks that a machine runs at once (default 2)"),
	NUMBER(levels, FLAG_INT, "N", 10, 1, 64,
		"kinds of machines, one better than the other (default 10)"),
	NUMBER(classes, FLAG_INT, "N", 4, 1, 64,
		"classes of tasks, to which different kinds are best (default 4)"),
	{ 0 },
};

static const struct flag load_flags[] = {
	NUMBER(rate, FLAG_NUMBER, "N", 4000, 1e-6, 1e9, "tasks in a second (default 4000)"),
	NUMBER(task_s, FLAG_SECONDS, "T", 4, 1e-6, 1e9, "how long a task runs, mean (default 4)"),
	NUMBER(hot, FLAG_NUMBER, "N", 1, 1e-3, 1e6,
		"times as many tasks for the first scheduler as for each other (default 1)"),
	{ 0 },
};

static const struct flag team_flags[] = {
	LIST(mode, "MODES", "static,statesync,quality,latency,adaptive (default: all of them)"),
	NUMBER(schedulers, FLAG_INT, "N", 20, 1, 1e5, "schedulers (default 20)"),
	NUMBER(partitions, FLAG_INT, "N", 0, 0, 1e6, "partitions of the machines (default: as many)"),
	NUMBER(period, FLAG_SECONDS, "T", 1, 1e-6, 1e9,
		"in which a scheduler refreshes all partitions (default 1)"),
	NUMBER(decision_ms, FLAG_NUMBER, "MS", 0.1, 1e-6, 1e6,
		"thinking about a task, milliseconds (default 0.1)"),
	NUMBER(rtt_ms, FLAG_NUMBER, "MS", 1, 0, 1e6, "to the master and back, milliseconds (default 1)"),
	{ 0 },
};

static const struct flag time_flags[] = {
	NUMBER(duration, FLAG_SECONDS, "T", 20, 1e-3, 1e9, "that is counted (default 20)"),
	NUMBER(warm_up, FLAG_SECONDS, "T", NAN, 0, 1e9, "before that (default: as --task-s)"),
	NUMBER(seed, FLAG_INT, "N", 0, 0, 9e15, "random seed (default 0)"),
	{ 0 },
};

static const struct flag output_flags[] = {
	SWITCH(json, "everything as JSON"),
	SWITCH(csv, "the table as CSV, in seconds and shares of 1"),
	SWITCH(markdown, "the table as Markdown"),
	TEXT(html, "FILE", "write a page with bars"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};

static const struct flag_group flags_cluster = { .title = "the cluster", .flags = cluster_flags };
static const struct flag_group flags_load = { .title = "the tasks", .flags = load_flags };
static const struct flag_group flags_team = { .title = "the schedulers", .flags = team_flags };
static const struct flag_group flags_time = { .title = "time and chance", .flags = time_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint schedulers",
	"stint schedulers --machines 100000 --rate 40000 --mode quality,latency,adaptive",
	"stint schedulers --machines 1000 --rate 400 --schedulers 4 --partitions 16 --hot 3 --json",
	NULL,
};

const struct command command_schedulers = {
	.name = "schedulers",
	.summary = "several schedulers over one cluster: conflicts, latency, quality",
	.operands = "",
	.groups = { &flags_cluster, &flags_load, &flags_team, &flags_time, &flags_output },
	.about = "Simulates schedulers that work at the same time, each with its own view of the machines, and a\n"
		 "master that grants a slot to whoever asks first; who comes too late tries again.\n"
		 "  static     each scheduler has machines of its own\n"
		 "  statesync  all refresh the whole view at the same time, once in a period\n"
		 "  quality    ParSync: each refreshes another partition in each step; the best machine is asked for\n"
		 "  latency    ParSync: the best machine of the partition seen last\n"
		 "  adaptive   quality while that is quick, else latency\n"
		 "All refresh as many machines in a period.  Quality is the mean score of the machines that tasks\n"
		 "got, up to 1; latency is from arrival to the answer that grants a machine.",
	.examples = examples,
	.run = schedulers,
};
