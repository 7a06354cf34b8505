/*
 * stint sim: one workload under one policy.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/html_file.h"
#include "cli/record.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/top/screen.h"
#include "cli/top/sim_watch.h"
#include "cli/top/top.h"
#include "cli/ui.h"
#include "report/compare.h"
#include "report/textplot.h"

enum { NAMED_MAX = 5, SPARK_WIDTH = 60 };

/* ---- what a person reads */

static const char *other_job(const struct outcome *o, const struct reason *reason, struct buf *text)
{
	if (reason->other >= o->njobs)
		return NULL;
	buf_clear(text);
	buf_printf(text, "job %s", o->jobs[reason->other].label);
	return text->at;
}

/* A job without a reason to wait held its devices to the end. */
static bool was_running(const struct job *job)
{
	return job->state == JOB_UNFINISHED && job->reason.why == WHY_NONE;
}

/* The jobs that ended in `state` and why: the first few by name. */
static void list_jobs(const struct outcome *o, enum job_state state, const char *word, struct buf *out)
{
	struct buf other = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->njobs; i++) {
		const struct job *job = &o->jobs[i];

		if (job->state != state || n++ >= NAMED_MAX)
			continue;
		buf_printf(out, "  %s job %s (%d GPU%s): ", word, job->label, job->gpus,
			job->gpus == 1 ? "" : "s");
		if (was_running(job))
			buf_str(out, "it was running");
		else
			reason_text(&job->reason, other_job(o, &job->reason, &other), out);
		buf_char(out, '\n');
	}
	if (n > NAMED_MAX)
		buf_printf(out, "  ... and %u more; --out DIR writes all to " RUN_JOBS "\n",
			n - NAMED_MAX);
	buf_fini(&other);
}

/* "2 still running, 3 still waiting when time ran out". */
static void tell_cut_short(const struct outcome *o, struct buf *out)
{
	uint32_t running = 0, waiting = 0;

	for (uint32_t i = 0; i < o->njobs; i++) {
		running += was_running(&o->jobs[i]);
		waiting += o->jobs[i].state == JOB_UNFINISHED && !was_running(&o->jobs[i]);
	}
	if (running + waiting)
		buf_printf(out, "%u still running, %u still waiting when time ran out\n", running,
			waiting);
}

/* Labels of the jobs that can never run or finish, the first few. */
static void name_failed(const struct outcome *o, bool cut_short, struct buf *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->njobs; i++) {
		enum job_state state = o->jobs[i].state;

		if (state != JOB_REJECTED && !(state == JOB_UNFINISHED && !cut_short))
			continue;
		if (o->jobs[i].reason.why == WHY_DEADLINE)
			continue;
		if (n++ < NAMED_MAX)
			buf_printf(out, "%sjob %.100s", n > 1 ? ", " : "", o->jobs[i].label);
	}
	if (n > NAMED_MAX)
		buf_printf(out, " and %u more", n - NAMED_MAX);
}

/* Means over short times: rounded up, because what was there was whole. */
static void spark(const struct outcome *o, size_t field, const char *title, const struct term *term,
	struct buf *out)
{
	double *values = mem_alloc(mem_array_size(o->nsamples + 1, sizeof(*values)));
	double most = 0;

	for (uint32_t i = 0; i < o->nsamples; i++) {
		memcpy(&values[i], (const char *)&o->samples[i] + field, sizeof(double));
		most = values[i] > most ? values[i] : most;
	}
	if (most > 0) {
		buf_printf(out, "%-17s", title);
		textplot_spark(values, o->nsamples, SPARK_WIDTH, term, out);
		buf_printf(out, "  up to %.0f\n", ceil(most - 1e-6));
	}
	free(values);
}

static void for_people(const struct setup *setup, const struct summary *summary,
	const struct outcome *outcome, struct buf *out)
{
	const struct cluster *cluster = &setup->cluster;
	struct term term = term_of_stdout();
	struct compare_style style = { .timings = true };

	buf_printf(out, "%s on %s: %u GPU%s, %u node%s; %s; seed %llu\n\n",
		setup->pairings[0].label, cluster->spec, cluster->devices,
		cluster->devices == 1 ? "" : "s", cluster->nnodes, cluster->nnodes == 1 ? "" : "s",
		setup->base.source, (unsigned long long)summary->seed);
	summary_table(summary, &style, &term, out);
	buf_char(out, '\n');
	spark(outcome, offsetof(struct sample, busy_gpus), "GPUs held", &term, out);
	spark(outcome, offsetof(struct sample, pending), "jobs waiting", &term, out);
	list_jobs(outcome, JOB_REJECTED, "rejected", out);
	if (setup->args->until > 0)
		tell_cut_short(outcome, out);
	list_jobs(outcome, JOB_UNFINISHED, "unfinished", out);
}

/* What for_people() says of jobs that did not finish, where standard output is for programs. */
static void tell_missing(const struct args *args, const struct outcome *outcome)
{
	struct buf text = { 0 };

	list_jobs(outcome, JOB_REJECTED, "rejected", &text);
	if (args->until > 0)
		tell_cut_short(outcome, &text);
	else
		list_jobs(outcome, JOB_UNFINISHED, "unfinished", &text);
	if (text.n)
		ui_say(args, "%.*s", (int)text.n - 1, text.at);
	buf_fini(&text);
}

/* ---- running */

/* One call of the command. */
struct sim_call {
	const struct args *args;
	struct setup setup;
	struct run_dir dir;
	struct html_file html;
	struct comparison result; /* of one */
	struct outcome outcome;
	struct bar bar;
	struct buf title;
	struct sim_watch *watch; /* --top; NULL: nobody looks on */
};

static bool moved(void *ctx, uint32_t ended, double now_s)
{
	struct sim_call *call = ctx;

	(void)now_s;
	if (!sim_watch_shown(call->watch))
		bar_move(&call->bar, (double)ended / call->setup.base.trace.njobs);
	return !ui_interrupted();
}

/* Before anything is read: several policies or placers are another verb's work. */
static int check_one(const struct args *args, struct err *err)
{
	size_t npolicies = setup_count(&args->policy), nplacers = setup_count(&args->placer);

	if (npolicies > 1)
		return err_set(err, ERR_USAGE,
			"sim runs one policy and %zu are given: 'stint compare' takes the same flags and runs all",
			npolicies);
	if (nplacers > 1)
		return err_set(err, ERR_USAGE,
			"sim runs one placer and %zu are given: 'stint compare' takes the same flags and "
			"runs every policy with each",
			nplacers);
	if (args->speed > 0 && !args->screen)
		return err_set(err, ERR_USAGE, "--speed is how fast --top shows the run: add --top");
	return 0;
}

static int prepare(struct sim_call *call, struct err *err)
{
	const struct args *args = call->args;
	int rc = check_one(args, err);

	if (!rc)
		rc = setup_read(args, args->operands.at[0], &call->setup, err);
	if (rc)
		return rc;
	ui_guard();
	if (args->out)
		rc = run_dir_open(&call->dir, DIR_RUN, args->out, true, err);
	if (!rc)
		rc = html_file_open(&call->html, args->html, &call->dir, err);
	return rc;
}

/* --top: without a terminal the run is carried out as it would be otherwise. */
static int open_watch(struct sim_call *call, struct err *err)
{
	const struct setup *setup = &call->setup;
	struct sim_watch_config config = {
		.cluster = &setup->cluster,
		.trace = &setup->base.trace,
		.pool = setup->loan.pool,
		.policy = setup->pairings[0].label,
		.speed = call->args->speed,
	};
	int rc = top_term(call->args, &config.term, err);

	if (rc || !call->args->screen)
		return rc;
	if (!screen_possible()) {
		ui_say(call->args, "--top needs a terminal: the run goes on without it");
		return 0;
	}
	buf_printf(&call->title, "simulation of %s", setup->base.source);
	config.title = call->title.at;
	return sim_watch_create(&config, &call->watch, err);
}

static const struct summary *summary_in(const struct sim_call *call)
{
	return &call->result.policies[0].cells[0].summary;
}

static int carry_out(struct sim_call *call, struct err *err)
{
	const struct setup *setup = &call->setup;
	const struct pairing *pair = &setup->pairings[0];
	struct contender contender = { pair->label, pair->policy->full, pair->placer->full };
	uint64_t seed = (uint64_t)call->args->seed;
	struct run run = {
		.setup = setup,
		.workload = &setup->base,
		.pair = pair,
		.seed = seed,
		.want_spans = call->args->html,
		.dir = call->args->out ? &call->dir : NULL,
		.progress = moved,
		.progress_ctx = call,
	};
	struct observer watcher;
	int rc = open_watch(call, err);

	if (rc)
		return rc;
	if (call->watch) {
		watcher = sim_watch_observer(call->watch);
		run.watcher = &watcher;
	}
	bar_begin(&call->bar, call->args, pair->label);
	rc = run_carry_out(&run, &call->outcome, err);
	bar_end(&call->bar);
	if (rc)
		return rc;
	if (call->watch)
		sim_watch_finish(call->watch);
	comparison_init(&call->result, &setup->cluster, &contender, 1, &seed, 1);
	comparison_put(&call->result, 0, 0, &setup->base.trace, &call->outcome);
	comparison_finish(&call->result);
	return run.dir ? run_record(&run, summary_in(call), err) : 0;
}

/* Files appear now, or not at all. */
static int keep(struct sim_call *call, struct err *err)
{
	struct buf text = { 0 };
	int rc = 0;

	if (ui_interrupted())
		return err_set(err, ERR_REFUSED, "interrupted");
	if (call->args->html) {
		html_of(&call->setup, &call->result, NULL, false, &text);
		rc = html_file_write(&call->html, &text, err);
		buf_fini(&text);
	}
	if (!rc && call->args->out)
		rc = run_dir_commit(&call->dir, err);
	return rc;
}

static void tell_written(const struct sim_call *call)
{
	const struct args *args = call->args;

	if (args->out && call->dir.replaces)
		ui_say(args, "replaced the earlier run in %s", args->out);
	if (args->out)
		ui_say(args, "wrote %s; 'stint replay %s' runs it again and compares", args->out,
			args->out);
	if (args->html)
		ui_say(args, "wrote %s", args->html);
}

static int tell(const struct sim_call *call, struct err *err)
{
	const struct args *args = call->args;
	const struct summary *summary = summary_in(call);
	struct buf text = { 0 };
	int rc;

	if (args->json)
		summary_json_of(summary, &call->outcome, &text);
	else
		for_people(&call->setup, summary, &call->outcome, &text);
	rc = ui_print(&text, err);
	if (!rc) {
		tell_written(call);
		run_tell_beyond(args, &call->outcome.beyond, call->setup.pairings[0].label, 1);
		if (args->json)
			tell_missing(args, &call->outcome);
		buf_clear(&text);
		name_failed(&call->outcome, args->until > 0, &text);
		rc = run_verdict(args, summary, text.at, err);
	}
	buf_fini(&text);
	return rc;
}

static int sim(const struct args *args, struct err *err)
{
	struct sim_call call = { .args = args };
	int rc = prepare(&call, err);

	if (!rc)
		rc = carry_out(&call, err);
	if (!rc)
		rc = keep(&call, err);
	if (!rc)
		rc = tell(&call, err);
	sim_watch_destroy(call.watch);
	buf_fini(&call.title);
	run_dir_abandon(&call.dir);
	html_file_abandon(&call.html);
	comparison_fini(&call.result);
	outcome_fini(&call.outcome);
	setup_fini(&call.setup);
	return rc;
}

static const struct flag output_flags[] = {
	TEXT(out, "DIR", "write manifest, summary, jobs and events there"),
	TEXT(html, "FILE", "write a report with plots"),
	SWITCH(json, "the summary as JSON"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ .name = "top",
		.kind = FLAG_SWITCH,
		.offset = offsetof(struct args, screen),
		.help = "show the run as it goes, on the screen of 'stint top'" },
	NUMBER(speed, FLAG_NUMBER, "N", 0, 0, 1e9,
		"with --top: simulated seconds in a second (default: as fast as it goes)"),
	TEXT(color, "WHEN", "with --top: auto, always or never"),
	{ 0 },
};

static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint sim trace.csv --cluster 16x8:v100 --policy tiresias:queues=3,limit_s=1h",
	"stint sim trace.csv --cluster cluster.yaml --placer consolidate --out run1/",
	"stint sim synth:jobs=1000,load=0.9 --cluster 4x8:a100 --policy srtf --error 0.3",
	"stint sim trace.csv --cluster 16x8:v100 --policy tiresias --top --speed 3600",
	NULL,
};

const struct command command_sim = {
	.name = "sim",
	.summary = "run a workload under one policy",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_world, &flags_deciders, &flags_belief, &flags_workload, &flags_output },
	.about = "TRACE is a file (plain or gzip; the format is recognised), '-' for standard input,\n"
		 "synth:jobs=1000,load=0.9 for a generated workload ('stint help trace synth'), or\n"
		 "resample:SEED:TRACE for a bootstrap of one.\n"
		 "Exit code 5 means that some job was refused or can never finish on this cluster: the\n"
		 "others have run, the record is written, and such jobs are named.  Jobs that --until cut\n"
		 "short are no failure.  An earlier run in DIR is replaced; anything else is left alone.",
	.more = help_estimate,
	.examples = examples,
	.run = sim,
};
