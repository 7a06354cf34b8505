/*
 * stint tasks: jobs of fine-grained tasks under Ursa and under schedulers of
 * whole tasks, side by side.
 */
#include <math.h>
#include <string.h>

#include "base/option.h"
#include "base/vec.h"
#include "cli/form.h"
#include "cli/html_file.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "io/mono_io.h"
#include "report/tasks_report.h"

struct tasks_call {
	const struct args *args;
	struct mono_load load;
	struct mono_config config; /* without the scheduler */
	enum mono_scheduler schedulers[MONO_SCHEDULERS];
	struct tasks_row rows[MONO_SCHEDULERS];
	size_t nschedulers, nrows;
	struct html_file svg;
	VEC(struct mono_span) spans; /* of the first scheduler, for the picture */
};

/* ---- what was asked for */

static int add_scheduler(struct tasks_call *call, const char *word, struct err *err)
{
	int at = 0, nearest = text_nearest(word, mono_scheduler_names, MONO_SCHEDULERS);

	while (at < MONO_SCHEDULERS && strcmp(mono_scheduler_names[at], word) != 0)
		at++;
	if (at == MONO_SCHEDULERS)
		return err_set(err, ERR_USAGE,
			"--policy '%s' is none%s%s; there are ursa, slots and tetris", word,
			nearest >= 0 ? "; did you mean " : "",
			nearest >= 0 ? mono_scheduler_names[nearest] : "");
	for (size_t i = 0; i < call->nschedulers; i++)
		if (call->schedulers[i] == (enum mono_scheduler)at)
			return err_set(err, ERR_USAGE, "--policy %s is given twice: once is enough",
				word);
	call->schedulers[call->nschedulers++] = (enum mono_scheduler)at;
	return 0;
}

static int read_schedulers(struct tasks_call *call, struct err *err)
{
	const struct words *words = &call->args->policy;

	for (size_t i = 0; i < words->n; i++) {
		struct slice rest = slice_of(words->at[i]);

		while (rest.n) {
			struct slice item = slice_trim(slice_cut(&rest, ','));
			char word[32];

			snprintf(word, sizeof(word), "%.*s", item.n > 31 ? 31 : (int)item.n, item.at);
			if (add_scheduler(call, word, err) < 0)
				return err->code;
		}
	}
	for (int i = 0; i < MONO_SCHEDULERS && !words->n; i++)
		call->schedulers[call->nschedulers++] = (enum mono_scheduler)i;
	return 0;
}

static int read_order(const char *word, enum mono_order *out, struct err *err)
{
	if (!word || !strcmp(word, "ejf"))
		*out = MONO_EJF;
	else if (!strcmp(word, "srjf"))
		*out = MONO_SRJF;
	else
		return err_set(err, ERR_USAGE,
			"--order '%s' is none; there are ejf (the earliest job first) and srjf (the one with "
			"least remaining)",
			word);
	return 0;
}

static int read_config(struct tasks_call *call, struct err *err)
{
	const struct args *args = call->args;
	int64_t mem_bytes = (int64_t)64 << 30;

	call->config = (struct mono_config){
		.load = &call->load,
		.workers = (uint32_t)args->workers,
		.worker.slots = { (uint32_t)args->cpu, (uint32_t)args->net, (uint32_t)args->disk,
			(uint32_t)args->gpu },
		.interval_s = args->interval,
		.ept_s = isnan(args->ept) ? 1.2 * args->interval : args->ept,
		.strict = args->strict,
		.noise = args->noise,
		.seed = (uint64_t)args->seed,
	};
	if (args->mem && (!slice_bytes(slice_of(args->mem), &mem_bytes) || mem_bytes <= 0))
		return err_set(err, ERR_USAGE, "--mem '%s' is no size; write 64G or the like",
			args->mem);
	call->config.worker.mem_bytes = (double)mem_bytes;
	return read_order(args->order, &call->config.order, err);
}

static int read_load(struct tasks_call *call, struct err *err)
{
	static const char drawn[] = "synth:";
	const char *path = call->args->operands.at[0];

	if (!strcmp(path, "synth") || !strncmp(path, drawn, sizeof(drawn) - 1))
		return mono_synth(path[5] ? path + sizeof(drawn) - 1 : "", &call->load, err);
	if (input_exists("jobs of tasks", path, err) < 0)
		return err->code;
	return mono_read(path, &call->load, err);
}

/* ---- doing it */

static void keep_span(void *ctx, const struct mono_span *span)
{
	struct tasks_call *call = ctx;

	vec_push(&call->spans, *span);
}

static int run_one(struct tasks_call *call, enum mono_scheduler scheduler, struct err *err)
{
	struct mono_config config = call->config;
	struct tasks_row *row = &call->rows[call->nrows];
	int rc;

	config.scheduler = row->scheduler = scheduler;
	if (call->args->svg && !call->nrows) {
		config.tell = keep_span;
		config.ctx = call;
	}
	rc = mono_run(&config, &row->result, err);
	call->nrows += !rc;
	return rc;
}

static int write_picture(struct tasks_call *call, struct err *err)
{
	struct mono_config config = call->config;
	struct buf text = { 0 };
	int rc;

	config.scheduler = call->rows[0].scheduler;
	tasks_svg(&config, call->spans.at, call->spans.n, call->rows[0].result.makespan_s, &text);
	rc = html_file_write(&call->svg, &text, err);
	if (!rc)
		ui_say(call->args, "wrote %s", call->args->svg);
	buf_fini(&text);
	return rc;
}

static int tell(struct tasks_call *call, struct err *err)
{
	const struct args *args = call->args;
	struct tasks_report report = { &call->config, call->rows, call->nrows };
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	int rc;

	if (args->json)
		tasks_report_json(&report, &text);
	else
		tasks_report_text(&report, form_of_table(args), &term, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	return !rc && args->svg ? write_picture(call, err) : rc;
}

static int tasks(const struct args *args, struct err *err)
{
	struct tasks_call call = { .args = args };
	int rc = form_check(args, err);

	if (!rc)
		rc = read_schedulers(&call, err);
	if (!rc)
		rc = read_config(&call, err);
	if (!rc)
		rc = read_load(&call, err);
	if (!rc && args->svg)
		rc = html_file_open(&call.svg, args->svg, NULL, err);
	for (size_t i = 0; i < call.nschedulers && !rc; i++)
		rc = run_one(&call, call.schedulers[i], err);
	if (!rc)
		rc = tell(&call, err);
	html_file_abandon(&call.svg);
	for (size_t i = 0; i < call.nrows; i++)
		mono_result_fini(&call.rows[i].result);
	vec_fini(&call.spans);
	mono_load_fini(&call.load);
	return rc;
}

static const struct flag worker_flags[] = {
	NUMBER(workers, FLAG_INT, "N", 20, 1, 1e5, "workers, all alike (default 20)"),
	NUMBER(cpu, FLAG_INT, "N", 8, 0, 1e4, "cores of each: CPU monotasks at once (default 8)"),
	NUMBER(net, FLAG_INT, "N", 4, 0, 1e4, "network monotasks at once (default 4)"),
	NUMBER(disk, FLAG_INT, "N", 2, 0, 1e4, "disk monotasks at once (default 2)"),
	NUMBER(gpu, FLAG_INT, "N", 2, 0, 1e4, "devices (default 2)"),
	TEXT(mem, "SIZE", "memory of each (default 64G)"),
	{ 0 },
};

static const struct flag scheduler_flags[] = {
	LIST(policy, "NAMES", "ursa,slots,tetris (default: all of them)"),
	TEXT(order, "RULE",
		"which job goes first: ejf, the earliest (default), or srjf, least remaining"),
	NUMBER(interval, FLAG_SECONDS, "T", 0.5, 1e-3, 1e6, "between decisions (default 0.5)"),
	NUMBER(ept, FLAG_SECONDS, "T", NAN, 1e-3, 1e9,
		"ursa: how far ahead queues are filled (default: 1.2 intervals)"),
	SWITCH(strict, "ursa: place only where everything that a task needs is lacking"),
	NUMBER(noise, FLAG_NUMBER, "X", 0, 0, 3,
		"ursa: how wrong measured rates are, deviation of their logarithm (default 0)"),
	NUMBER(seed, FLAG_INT, "N", 0, 0, 9e15, "random seed (default 0)"),
	{ 0 },
};

static const struct flag output_flags[] = {
	SWITCH(json, "everything as JSON"),
	SWITCH(csv, "the table as CSV, in seconds and shares of 1"),
	SWITCH(markdown, "the table as Markdown"),
	TEXT(svg, "FILE", "write a picture of the first scheduler's run"),
	SWITCH(quiet, "no messages"),
	{ 0 },
};

static const struct flag_group flags_workers = { .title = "the workers", .flags = worker_flags };
static const struct flag_group flags_scheduler = { .title = "who decides", .flags = scheduler_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint tasks synth",
	"stint tasks synth:jobs=40,training=1 --gpu 4 --order srjf",
	"stint tasks jobs.csv --workers 4 --policy ursa --svg run.svg",
	NULL,
};

static void more(struct buf *out)
{
	buf_str(out, "\noptions of synth:\n");
	mono_synth_help(out);
}

const struct command command_tasks = {
	.name = "tasks",
	.summary = "jobs of fine-grained tasks: Ursa against whole-task schedulers",
	.operands = "FILE|synth[:OPTIONS]",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_workers, &flags_scheduler, &flags_output },
	.about = "Simulates workers with a queue for each resource.  A job is a DAG of stages, a stage so many tasks,\n"
		 "a task a row of monotasks that use one resource each; the row of a file for a stage is\n"
		 "  job,stage,arrival_s,tasks,run,mem,after\n"
		 "  q1,map,0,16,disk 2 | cpu 5,1G,\n"
		 "  q1,reduce,,8,net 1 | cpu 3,1G,map\n"
		 "with seconds of one core, stream, disk or device.  ursa fills queues for the next while, where they\n"
		 "lack what a task brings; slots gives a task a core for its whole life; tetris a slot of everything\n"
		 "that it will use.",
	.examples = examples,
	.more = more,
	.run = tasks,
};
