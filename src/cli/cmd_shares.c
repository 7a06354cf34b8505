/*
 * stint shares: the shares of time that a policy would choose at a moment of
 * a run, with the prices of the types and who holds the objective down.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/html_file.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/shares_report.h"

/* One call of the command. */
struct shares_call {
	struct args args; /* with the policy filled in */
	struct setup setup;
	struct html_file html, svg;
	struct shares_report report;
	double at_s;
	struct bar bar;
};

/* ---- which policies can say it */

static void list_policies(struct buf *out)
{
	for (size_t i = 0; policies[i]; i++)
		if (policies[i]->shares)
			buf_printf(out, "%s%s", out->n ? ", " : "", policies[i]->name);
}

/* A name that is none is left to whoever reads the rules. */
static int check_works_by_shares(const char *spec, struct err *err)
{
	char *name = mem_strndup(spec, strcspn(spec, ":"));
	struct err unknown = { 0 };
	const struct policy *policy = policy_find(name, &unknown);
	struct buf known = { 0 };
	int rc = 0;

	if (policy && !policy->shares) {
		list_policies(&known);
		rc = err_set(err, ERR_USAGE, "policy %s does not work by shares of time; these do: %s",
			name, known.at ? known.at : "none");
	}
	buf_fini(&known);
	free(name);
	return rc;
}

/* Before anything is read. */
static int check_one(const struct args *args, struct err *err)
{
	size_t rules = setup_count(&args->policy);

	if (rules > 1)
		return err_set(err, ERR_USAGE, "shares shows one policy and %zu are given", rules);
	rules = setup_count(&args->placer);
	if (rules > 1)
		return err_set(err, ERR_USAGE,
			"shares shows a run with one placer and %zu are given", rules);
	if (!isnan(args->at) && args->until > 0)
		return err_set(err, ERR_USAGE,
			"--until says how far to look for the moment that --at names: give one");
	return 0;
}

/* ---- the run */

static bool moved(void *ctx, uint32_t ended, double now_s)
{
	struct shares_call *call = ctx;

	(void)now_s;
	bar_move(&call->bar, (double)ended / call->setup.base.trace.njobs);
	return !ui_interrupted();
}

static uint32_t count_active(const struct round *round)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->nactive; i++)
		n += job_active(&round->jobs[round->active[i]]);
	return n;
}

static uint32_t count_held(const struct round *round)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->njobs; i++)
		n += round->jobs[i].state == JOB_HELD;
	return n;
}

/* The answer lives as long as this call: what is shown is copied. */
static int look(void *ctx, const struct chosen_policy *policy, const struct round *round,
	const struct plan *plan, struct err *err)
{
	struct shares_call *call = ctx;
	struct program program;
	struct shares shares = { 0 };
	int rc = 0;

	if (count_active(round) > 0)
		rc = policy->rule->shares(policy->state, round, plan, &program, &shares, err);
	else
		program_types(&program, round, plan);
	if (rc)
		return err_prefix(err, "policy %s", policy->rule->name);
	shares_report_init(&call->report, &program, &shares, &call->setup.base.trace);
	call->report.held = count_held(round);
	return 0;
}

static int run(struct shares_call *call, double until_s, bool looks, struct outcome *out,
	struct err *err)
{
	const struct setup *setup = &call->setup;
	struct sim_config config;
	int rc;

	setup_config(setup, &setup->base, &setup->pairings[0], (uint64_t)call->args.seed, &config);
	config.until_s = until_s;
	config.progress = moved;
	config.progress_ctx = call;
	if (looks) {
		config.look = look;
		config.look_ctx = call;
	}
	bar_begin(&call->bar, &call->args, setup->pairings[0].label);
	rc = sim_run(&config, out, err);
	bar_end(&call->bar);
	return rc;
}

/* ---- when most jobs are active */

/* A job comes or goes. */
struct change {
	double at_s;
	int by;
};

/* Who goes makes room before who comes at the same time. */
static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->at_s != y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	return x->by - y->by;
}

/* A whole second if the same jobs are active then: it is easier to say. */
static double round_time(double at_s, double next_s)
{
	return ceil(at_s) < next_s ? ceil(at_s) : at_s;
}

/* NAN: nobody is active at any time. */
static double fullest_s(const struct outcome *o)
{
	struct change *changes = mem_alloc(mem_array_size((size_t)o->njobs * 2 + 1, sizeof(*changes)));
	double at_s = NAN;
	size_t n = 0;
	int64_t now = 0, most = 0;

	for (uint32_t i = 0; i < o->njobs; i++) {
		const struct job *job = &o->jobs[i];

		if (job->state != JOB_FINISHED && job->state != JOB_UNFINISHED)
			continue;
		changes[n++] = (struct change){ job->arrival_s, 1 };
		if (job->state == JOB_FINISHED)
			changes[n++] = (struct change){ job->finish_s, -1 };
	}
	qsort(changes, n, sizeof(*changes), by_time);
	for (size_t i = 0; i < n; i++) {
		now += changes[i].by;
		if (now > most) {
			most = now;
			at_s = round_time(changes[i].at_s, i + 1 < n ? changes[i + 1].at_s : INFINITY);
		}
	}
	free(changes);
	return at_s;
}

static int tell_nobody(const struct shares_call *call, const struct outcome *o, struct err *err)
{
	if (!o->njobs)
		return err_set(err, ERR_USAGE, "no job arrives before --until: the first does at %g s",
			call->setup.base.trace.jobs[0].arrival_s);
	return err_set(err, ERR_NEVER, "no job can run on %s: %s refused", call->setup.cluster.spec,
		o->njobs == 1 ? "the only one was" : "all were");
}

static int find_moment(struct shares_call *call, struct err *err)
{
	struct outcome outcome;
	int rc;

	call->at_s = call->args.at;
	if (!isnan(call->at_s))
		return 0;
	rc = run(call, call->args.until, false, &outcome, err);
	if (rc)
		return rc;
	call->at_s = fullest_s(&outcome);
	if (isnan(call->at_s))
		rc = tell_nobody(call, &outcome, err);
	outcome_fini(&outcome);
	return rc;
}

/* ---- what the report says beside the shares */

static double last_end_s(const struct outcome *o)
{
	double last = NAN;

	for (uint32_t i = 0; i < o->njobs; i++)
		if (o->jobs[i].state == JOB_FINISHED)
			last = fmax(last, o->jobs[i].finish_s);
	return last;
}

static double next_start_s(const struct trace *trace, double at_s)
{
	for (uint32_t i = 0; i < trace->njobs; i++)
		if (trace->jobs[i].arrival_s > at_s)
			return trace->jobs[i].arrival_s;
	return NAN;
}

static int take_look(struct shares_call *call, struct err *err)
{
	struct shares_report *report = &call->report;
	struct outcome outcome;
	/* A run until 0 would go to its end: the least time after it sees the same jobs. */
	int rc = run(call, fmax(call->at_s, DBL_MIN), true, &outcome, err);

	if (rc)
		return rc;
	report->policy = call->setup.pairings[0].label;
	report->cluster = call->setup.cluster.spec;
	report->source = call->setup.base.source;
	report->at_s = call->at_s;
	report->fullest = isnan(call->args.at);
	report->last_end_s = last_end_s(&outcome);
	report->next_start_s = next_start_s(&call->setup.base.trace, call->at_s);
	outcome_fini(&outcome);
	return 0;
}

static uint32_t top_of(const struct args *args)
{
	return args->all ? UINT32_MAX : (uint32_t)args->top;
}

static void html_page(const struct shares_call *call, struct buf *out)
{
	struct buf title = { 0 }, command = { 0 }, trace = { 0 }, settings = { 0 };

	buf_printf(&title, "Shares of %s", call->report.policy);
	args_command(&call->args, &command);
	trace_title(&call->setup.base.trace, &trace);
	setup_settings(&call->setup, &settings);
	shares_report_html(&call->report, top_of(&call->args),
		&(struct html_info){
			.title = title.at,
			.command = command.at,
			.version = STINT_VERSION,
			.trace = trace.at,
			.cluster = call->report.cluster,
			.settings = settings.at,
		},
		out);
	buf_fini(&title);
	buf_fini(&command);
	buf_fini(&trace);
	buf_fini(&settings);
}

/* Files appear now, or not at all. */
static int keep(struct shares_call *call, struct err *err)
{
	struct buf text = { 0 };
	int rc = 0;

	if (ui_interrupted())
		return err_set(err, ERR_REFUSED, "interrupted");
	if (call->args.html) {
		html_page(call, &text);
		rc = html_file_write(&call->html, &text, err);
	}
	if (!rc && call->args.svg) {
		buf_clear(&text);
		shares_report_svg(&call->report, top_of(&call->args), &text);
		rc = html_file_write(&call->svg, &text, err);
	}
	buf_fini(&text);
	return rc;
}

static int tell(const struct shares_call *call, struct err *err)
{
	const struct args *args = &call->args;
	struct buf text = { 0 };
	struct term term = term_of_stdout();
	int rc;

	if (args->json)
		shares_report_json(&call->report, &text);
	else
		shares_report_text(&call->report, top_of(args), &term, &text);
	rc = ui_print(&text, err);
	if (!rc && args->html)
		ui_say(args, "wrote %s", args->html);
	if (!rc && args->svg)
		ui_say(args, "wrote %s", args->svg);
	buf_fini(&text);
	return rc;
}

static int prepare(struct shares_call *call, struct err *err)
{
	const struct args *args = &call->args;
	int rc = check_one(args, err);

	if (!rc)
		rc = check_works_by_shares(args->policy.at[0], err);
	if (!rc)
		rc = setup_read(args, args->operands.at[0], &call->setup, err);
	if (rc)
		return rc;
	ui_guard();
	rc = html_file_open(&call->html, args->html, NULL, err);
	if (!rc)
		rc = html_file_open(&call->svg, args->svg, NULL, err);
	return rc;
}

static int shares(const struct args *args, struct err *err)
{
	struct shares_call call = { .args = *args };
	const char *preset = "gavel"; /* what most that work by shares are measured against */
	int rc;

	if (!args->policy.n)
		call.args.policy = (struct words){ .at = &preset, .n = 1 };
	rc = prepare(&call, err);
	if (!rc)
		rc = find_moment(&call, err);
	if (!rc)
		rc = take_look(&call, err);
	if (!rc)
		rc = keep(&call, err);
	if (!rc)
		rc = tell(&call, err);
	html_file_abandon(&call.html);
	html_file_abandon(&call.svg);
	shares_report_fini(&call.report);
	setup_fini(&call.setup);
	return rc;
}

static const struct flag moment_flags[] = {
	NUMBER(at, FLAG_SECONDS, "T", NAN, 0, 1e15,
		"the moment: 3600, 1h, 2d (default: when most jobs are active)"),
	{ 0 },
};

static const struct flag output_flags[] = {
	NUMBER(top, FLAG_INT, "N", 40, 1, 1e9, "rows of a long table or heat map (default 40)"),
	SWITCH(all, "every row"),
	SWITCH(json, "everything as JSON"),
	TEXT(svg, "FILE", "write a heat map, jobs by types"),
	TEXT(html, "FILE", "write a page with the heat map and tables"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};

static const struct flag_group flags_moment = { .title = "when to look", .flags = moment_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint shares trace.csv --cluster 4x8:v100,4x8:k80 --policy gavel:objective=max-min",
	"stint shares trace.csv --cluster cluster.yaml --throughputs speeds.json --at 2d --all",
	"stint shares synth:jobs=50 --cluster 2x4:v100,2x4:p100 --policy gavel:packing=1 --html x.html",
	NULL,
};

const struct command command_shares = {
	.name = "shares",
	.summary = "show the shares of time a policy would choose at a moment",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_moment, &flags_world, &flags_deciders, &flags_belief, &flags_workload,
		&flags_output },
	.about = "Runs the workload under the policy (here by default gavel) up to the moment, asks it for\n"
		 "its shares, and shows them: jobs by types, in per cent of time.  'level' is what the\n"
		 "objective compares between jobs, a 'bottleneck' is a job that holds the objective down,\n"
		 "and the 'price' of a type is by how much one more device would better it.  Without --at, a first\n"
		 "run (up to --until, if given) finds when most jobs are active.  Jobs are in order of\n"
		 "arrival; where not all are shown, bottlenecks come first.",
	.more = help_estimate,
	.examples = examples,
	.run = shares,
};
