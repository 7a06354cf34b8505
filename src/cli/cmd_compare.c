/*
 * stint compare: several policies on the same workloads.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/form.h"
#include "cli/grid.h"
#include "cli/html_file.h"
#include "cli/setup.h"
#include "cli/slurm_past.h"
#include "cli/spread.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/compare_models.h"

enum { PLAIN_WIDTH = 120 }; /* of a table that goes to no terminal, unless COLUMNS says otherwise */

struct compare_call {
	const struct args *args; /* of `own` */
	struct args own;
	struct buf command; /* as it was given */
	const char *source;
	struct setup setup;
	struct grid grid;
	struct html_file html;
};

static void init_grid(struct compare_call *call, enum vary vary)
{
	const struct setup *setup = &call->setup;
	struct arm *arms = mem_alloc(mem_array_size(setup->npairings + 1, sizeof(*arms)));
	uint32_t n = 0;

	if (slurm_past_asked(call->args) && setup->base.trace.npast)
		arms[n++] = (struct arm){ .label = "slurm (recorded)", .setup = setup };
	for (size_t i = 0; i < setup->npairings; i++)
		arms[n++] = (struct arm){
			.label = setup->pairings[i].label,
			.setup = setup,
			.pair = &setup->pairings[i],
		};
	grid_init(&call->grid, call->args, arms, n, &setup->cluster, vary);
	call->grid.keeps_others = true;
	call->grid.command = call->command.at;
	free(arms);
}

static int prepare(struct compare_call *call, struct err *err)
{
	const struct args *args = call->args;
	enum vary vary;
	int rc = form_check(args, err);

	if (!rc)
		rc = slurm_past_source(&call->own, &call->source, err);
	if (!rc)
		rc = spread_check(args, call->source, err);
	if (!rc)
		rc = setup_read(args, call->source, &call->setup, err);
	if (!rc)
		slurm_past_tell(&call->own, &call->setup);
	if (!rc)
		rc = vary_choose(&call->setup, &vary, err);
	if (rc)
		return rc;
	ui_guard();
	init_grid(call, vary);
	return 0;
}

static int open_outputs(struct compare_call *call, struct err *err)
{
	const struct args *args = call->args;
	int rc = 0;

	if (args->out)
		rc = grid_open(&call->grid, err);
	if (!rc)
		rc = html_file_open(&call->html, args->html, &call->grid.dir, err);
	return rc;
}

static int carry_out(struct compare_call *call, struct err *err)
{
	struct grid *grid = &call->grid;
	int rc;

	spread_ready(grid);
	ui_say(call->args, "%s", grid->note ? grid->note : "one seed: --seeds 10 would add intervals");
	rc = grid_run(grid, 0, grid->nseeds, err);
	if (!rc)
		grid_finish(grid);
	return rc;
}

static int keep(struct compare_call *call, struct err *err)
{
	struct buf text = { 0 };
	int rc = 0;

	if (call->args->html) {
		html_of(&call->setup, &call->grid.result, call->grid.note, call->args->timings, &text);
		rc = html_file_write(&call->html, &text, err);
		buf_fini(&text);
	}
	return rc ? rc : grid_keep(&call->grid, call->args->timings, err);
}

static void format(const struct compare_call *call, struct buf *out)
{
	const struct args *args = call->args;
	const struct comparison *result = &call->grid.result;
	struct term term = term_of_stdout();
	struct compare_style style = {
		.form = form_of_table(args),
		.timings = args->timings || (!args->csv && !args->markdown && isatty(STDOUT_FILENO)),
	};

	/* Files and pipes are looked at too. */
	if (!term.width)
		term.width = PLAIN_WIDTH;
	if (args->json)
		comparison_json(result, args->timings, out);
	else if (args->by_model)
		comparison_models_table(result, &style, &term, out);
	else
		comparison_table(result, &style, &term, out);
}

/* The table shows times of jobs that finished; who --until cut short must not go unseen. */
static void tell_cut_short(const struct compare_call *call)
{
	uint32_t most = grid_cut_short(&call->grid);

	if (most && call->args->until > 0)
		ui_say(call->args, "up to %u job%s of a run had not ended when time ran out", most,
			most == 1 ? "" : "s");
}

static int tell(const struct compare_call *call, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	format(call, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (rc)
		return rc;
	if (call->args->out && call->grid.dir.replaces)
		ui_say(call->args, "replaced the earlier comparison in %s", call->args->out);
	if (call->args->out)
		ui_say(call->args, "wrote %s: a directory for each run, and compare.json",
			call->args->out);
	if (call->args->html)
		ui_say(call->args, "wrote %s", call->args->html);
	tell_cut_short(call);
	grid_tell_beyond(&call->grid);
	return grid_verdict(&call->grid, "'stint sim' with this policy names them", err);
}

static int all_of_it(struct compare_call *call, struct err *err)
{
	int rc = prepare(call, err);

	if (!rc)
		rc = open_outputs(call, err);
	if (!rc)
		rc = carry_out(call, err);
	if (!rc)
		rc = keep(call, err);
	return rc ? rc : tell(call, err);
}

/* What a task of --on does: some of the runs, for another process to put together. */
static int part_of_it(struct compare_call *call, struct err *err)
{
	int rc = spread_part_plan(&call->own, err);

	if (!rc)
		rc = prepare(call, err);
	return rc ? rc : spread_part_run(&call->grid, err);
}

static int compare(const struct args *args, struct err *err)
{
	struct compare_call call = { .own = *args };
	int rc;

	call.args = &call.own;
	args_command(args, &call.command);
	rc = args->part_of ? part_of_it(&call, err) : all_of_it(&call, err);
	grid_fini(&call.grid);
	html_file_abandon(&call.html);
	setup_fini(&call.setup);
	buf_fini(&call.command);
	return rc;
}

static const struct flag seed_flags[] = {
	NUMBER(seeds, FLAG_INT, "N", 1, 1, 10000, "runs of each policy (default 1)"),
	TEXT(resample, "WHEN", "seeds resample the trace: yes, no, auto (default: if nothing is random)"),
	{ 0 },
};

static const struct flag output_flags[] = {
	TEXT(out, "DIR", "write a directory for each run, and compare.json"),
	TEXT(html, "FILE", "write a report with plots"),
	SWITCH(json, "every figure as JSON"),
	SWITCH(csv, "every figure as CSV"),
	SWITCH(markdown, "the table as Markdown"),
	SWITCH(by_model, "the figures of each model instead of all jobs together"),
	SWITCH(timings, "decision and CPU times, which differ from run to run"),
	NUMBER(threads, FLAG_INT, "N", 0, 0, 1024,
		"runs at a time (0, the default: all cores); results stay the same"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};

static const struct flag_group flags_seeds = { .title = "how often", .flags = seed_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint compare trace.csv --cluster 16x8:v100 --policy fifo,srtf,las --policy tiresias:queues=2",
	"stint compare trace.csv --cluster 16x8:v100 --policy fifo,gittins --seeds 10 --html report.html",
	"stint compare --from-sacct history.txt --policy fifo,easy,las",
	"stint compare --from-jobcomp /var/log/slurm/jobcomp.log --assume-gpus node=4 --cluster 8x4:v100",
	"stint compare trace.csv --cluster 16x8:v100 --policy fifo,gavel --seeds 50 --on slurm:partition=cpu",
	"stint compare synth:jobs=500 --cluster 8x8:v100 --policy fifo,srtf --error 0.5 --json",
	NULL,
};

const struct command command_compare = {
	.name = "compare",
	.summary = "run several policies on the same workloads, with intervals",
	.operands = "[TRACE]",
	.min_operands = 0,
	.max_operands = 1,
	.groups = { &flags_slurm_past, &flags_world, &flags_deciders, &flags_seeds, &flags_belief,
		&flags_workload, &flags_spread, &flags_output },
	.about = "TRACE is as in 'stint help sim'.  With --from-sacct or --from-jobcomp the jobs are those that\n"
		 "Slurm ran, and what it did with them is a row of its own; the cluster, unless it is given,\n"
		 "is what can be seen there.  A history is had with\n"
		 "  TZ=UTC sacct -a -D -X -S 2024-01-01 --parsable2 --format=JobID,JobName,User,Account,\\\n"
		 "    Partition,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,NNodes,NodeList,AllocTRES,ReqTRES\n"
		 "With --seeds N every policy runs N times: a generated\n"
		 "workload is drawn anew, errors and failures are drawn anew, and a fixed trace without\n"
		 "anything random is resampled in blocks (seed 0 is the trace itself).  With several\n"
		 "placers every policy runs with each of them.\n"
		 "--on slurm:NAME=VALUE,… submits the runs as a job array and gives the same results; names are\n"
		 "partition, account, qos, time, mem, constraint, nodelist, exclude, reservation and nice as\n"
		 "of sbatch, tasks (at most so many, 500) and dir (shared by all nodes; the current one).\n"
		 "Exit code 5 means that in some run a job was refused or can never finish; the others\n"
		 "have run and the results are written.  An earlier comparison in DIR is replaced.",
	.more = help_estimate,
	.examples = examples,
	.run = compare,
};
