/*
 * stint advise: would another policy have been better?
 *
 * Every policy runs what happened once; the best of them, and the present one,
 * run it again with the other seeds, and are compared seed by seed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/grid.h"
#include "cli/html_file.h"
#include "cli/past.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "policy/policy.h"
#include "report/advice.h"
#include "report/html.h"

enum {
	PLAIN_WIDTH = 110,
	FINALISTS = 8, /* that run with all seeds, beside the present one */
};

/* A policy that does not get as far as a run. */
struct unfit {
	char *label, *why;
};

struct advise_call {
	struct args args;
	struct past past;
	struct chosen present;
	struct words candidates;
	VEC(struct unfit) refused;
	struct scenario scenario;
	bool there;
	struct grid grid;
	struct advice advice;
	size_t goal;
	struct html_file html;
};

/* ---- goals */

static const struct {
	const char *word, *key;
} goals[] = {
	{ "jct", "jct_mean_s" },
	{ "wait", "wait_mean_s" },
	{ "makespan", "makespan_s" },
	{ "fairness", "ftf_max" },
	{ "deadline", "deadline_met" },
	{ "goodput", "goodput" },
};

static int choose_goal(struct advise_call *call, struct err *err)
{
	const char *word = call->args.goal ? call->args.goal : "jct";
	const struct metric *found = metric_find(word);

	for (size_t i = 0; i < sizeof(goals) / sizeof(goals[0]); i++) {
		if (!strcmp(goals[i].word, word))
			found = metric_find(goals[i].key);
	}
	if (!found || found->better == BETTER_NONE || found->timing)
		return err_set(err, ERR_USAGE,
			"--goal '%s': there are jct, wait, makespan, fairness, deadline and goodput, or a "
			"figure of summary.json that can be better or worse",
			word);
	call->goal = metric_index(found->key);
	return 0;
}

/* ---- candidates */

/* Those whose options or files are not right here do not stop the others. */
static void consider(struct advise_call *call, const char *spec)
{
	struct err err = { 0 };
	struct chosen one;

	if (rule_choose(&rules_policy, spec, &one, &err)) {
		vec_push(&call->refused, (struct unfit){ mem_strdup(spec), mem_strdup(err.text) });
		return;
	}
	if (strcmp(one.full, call->present.full) != 0)
		vec_push(&call->candidates, spec);
	chosen_fini(&one);
}

/* All, or those that are named: then a wrong one is an error. */
static int find_candidates(struct advise_call *call, struct err *err)
{
	int rc = rule_choose(&rules_policy, call->past.policy, &call->present, err);

	if (rc)
		return rc;
	if (call->args.policy.n) {
		for (size_t i = 0; i < call->args.policy.n; i++)
			vec_push(&call->candidates, call->args.policy.at[i]);
		return 0;
	}
	for (size_t i = 0; policies[i]; i++)
		consider(call, policies[i]->name);
	return 0;
}

/* ---- preparing */

static int make_scenario(struct advise_call *call, struct err *err)
{
	call->there = true;
	return scenario_init(&call->scenario, &call->past,
		&(struct scenario_wish){
			.cluster = &call->past.cluster,
			.tenants = &call->past.tenants,
			.tenants_path = call->args.tenants,
			.policies = call->candidates,
		},
		err);
}

static void init_grid(struct advise_call *call, enum vary vary)
{
	const struct setup *setup = &call->scenario.setup;
	size_t n = setup->policies.n;
	struct arm *arms = mem_alloc(mem_array_size(n, sizeof(*arms)));

	for (size_t i = 0; i < n; i++)
		arms[i] = (struct arm){
			.label = setup->policies.at[i].label,
			.setup = setup,
			.pair = scenario_pair(&call->scenario, i, false),
		};
	grid_init(&call->grid, &call->args, arms, (uint32_t)n, &setup->cluster, vary);
	call->grid.what = "shadow runs";
	call->grid.tolerant = true;
	free(arms);
}

static int prepare(struct advise_call *call, struct err *err)
{
	enum vary vary;
	int rc = choose_goal(call, err);

	if (!rc)
		rc = past_read(&call->args, &(struct past_wish){ .cluster = true }, &call->past, err);
	call->args.seed = (int64_t)call->past.seed;
	if (!rc)
		rc = find_candidates(call, err);
	if (!rc)
		rc = make_scenario(call, err);
	if (!rc)
		rc = vary_choose(&call->scenario.setup, &vary, err);
	if (!rc)
		rc = html_file_open(&call->html, call->args.html, NULL, err);
	if (rc)
		return rc;
	ui_guard();
	init_grid(call, vary);
	return 0;
}

/* ---- running */

static uint32_t jobs_left(const struct summary *s)
{
	return s->jobs_submitted - s->jobs_finished;
}

static struct advice_entry *entry_of(struct advise_call *call, uint32_t arm)
{
	return &call->advice.entries[arm];
}

static void rule_out(struct advise_call *call, uint32_t arm, char *why)
{
	struct advice_entry *e = entry_of(call, arm);

	call->grid.arms[arm].left_out = true;
	e->verdict = ADVICE_CANNOT;
	e->why = why;
}

/* Who failed, and who left jobs that the present policy ran. */
static int rule_out_some(struct advise_call *call, struct err *err)
{
	const struct summary *present = grid_summary(&call->grid, 0, 0);

	if (!present) {
		*err = call->grid.failed[0];
		return err_prefix(err, "the present policy, %s", call->grid.arms[0].label);
	}
	for (uint32_t i = 1; i < call->grid.narms; i++) {
		const struct summary *s = grid_summary(&call->grid, i, 0);

		if (entry_of(call, i)->verdict == ADVICE_CANNOT)
			continue;
		if (call->grid.failed[i].code)
			rule_out(call, i, mem_strdup(call->grid.failed[i].text));
		else if (s && jobs_left(s) > jobs_left(present))
			rule_out(call, i,
				mem_printf("%u of %u jobs would not have run to their end",
					jobs_left(s), s->jobs_submitted));
	}
	return 0;
}

static double value_of(const struct advise_call *call, uint32_t arm)
{
	const struct summary *s = grid_summary(&call->grid, arm, 0);

	return s ? metric_value(&metrics[call->goal], s) : NAN;
}

/* Whether an earlier one decided the same in every respect: one of them is enough. */
static bool is_double(const struct advise_call *call, uint32_t arm)
{
	for (uint32_t k = 0; k < arm; k++) {
		const struct summary *a = grid_summary(&call->grid, k, 0);

		if (a && a->event_hash == grid_summary(&call->grid, arm, 0)->event_hash)
			return true;
	}
	return false;
}

static bool may_go_on(const struct advise_call *call, uint32_t arm)
{
	return call->advice.entries[arm].verdict != ADVICE_CANNOT && !is_double(call, arm);
}

/* Only the best of one seed go on; ties by their order in the table. */
static void drop_some(struct advise_call *call)
{
	for (uint32_t i = 1; i < call->grid.narms; i++) {
		uint32_t ahead = 0;

		if (entry_of(call, i)->verdict == ADVICE_CANNOT)
			continue;
		for (uint32_t k = 1; k < call->grid.narms; k++) {
			double mine = value_of(call, i), other = value_of(call, k);

			if (k == i || !may_go_on(call, k))
				continue;
			ahead += advice_prefers(call->goal, other, mine) || (k < i && other == mine);
		}
		if (ahead < FINALISTS && !is_double(call, i))
			continue;
		entry_of(call, i)->verdict = ADVICE_DROPPED;
		call->grid.arms[i].left_out = true;
	}
}

static int carry_out(struct advise_call *call, struct err *err)
{
	struct grid *grid = &call->grid;
	int rc;

	call->advice = (struct advice){ .result = &grid->result, .goal = call->goal, .n = grid->narms };
	call->advice.entries = mem_alloc(mem_array_size(grid->narms, sizeof(struct advice_entry)));
	for (uint32_t i = 0; i < grid->narms; i++)
		entry_of(call, i)->label = grid->arms[i].label;
	ui_say(&call->args, "%s", grid->note ? grid->note : "one seed: nothing can be said for sure");
	rc = grid_run(grid, 0, 1, err);
	if (!rc)
		rc = rule_out_some(call, err);
	if (rc)
		return rc;
	if (grid->nseeds > 1) {
		drop_some(call);
		rc = grid_run(grid, 1, grid->nseeds, err);
	}
	if (!rc)
		rc = rule_out_some(call, err); /* who failed with another seed */
	if (rc)
		return rc;
	grid_finish(grid);
	advice_judge(&call->advice);
	return 0;
}

/* ---- the answer */

static void command_of(const struct advise_call *call, struct buf *out)
{
	if (call->advice.best < 0)
		return;
	buf_str(out, "stint policy set ");
	quote_word(out, call->advice.entries[call->advice.best].label);
}

static void advise_json(const struct advise_call *call, struct buf *out)
{
	struct buf lead = { 0 }, command = { 0 }, title = { 0 };
	struct json j;

	advice_lead(&call->advice, &lead);
	command_of(call, &command);
	past_title(&call->past, &title);
	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "advise/1");
	json_str(&j, "verdict", lead.at);
	json_str(&j, "history", title.at);
	json_int(&j, "jobs", call->past.njobs);
	json_int(&j, "seeds", call->grid.nseeds);
	advice_members(&j, &call->advice, command.at);
	json_begin_array(&j, "refused");
	for (size_t i = 0; i < call->refused.n; i++) {
		json_begin_object(&j, NULL);
		json_str(&j, "policy", call->refused.at[i].label);
		json_str(&j, "why", call->refused.at[i].why);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
	buf_fini(&lead);
	buf_fini(&command);
	buf_fini(&title);
}

/* Who goes by run times knows them better here than live, unless the history says what was believed. */
static bool knows_too_much(const struct advise_call *call)
{
	const struct args *args = &call->args;
	const struct trace *trace = &call->scenario.setup.base.trace;
	struct rule rule;
	char *name;
	bool estimates;

	if (call->advice.best < 0 || (args->error > 0 && !args->oracle))
		return false;
	name = mem_strdup(call->advice.entries[call->advice.best].label);
	name[strcspn(name, ":")] = '\0';
	estimates = !rules_policy.find(name, &rule, &(struct err){ 0 }) &&
		rule.traits & POLICY_ESTIMATES;
	free(name);
	for (uint32_t i = 0; estimates && i < trace->njobs; i++) {
		if (trace->jobs[i].work_est != trace->work[i])
			return false;
	}
	return estimates;
}

static void advise_text(const struct advise_call *call, struct buf *out)
{
	struct term term = term_of_stdout();
	struct buf command = { 0 };

	if (!term.width)
		term.width = PLAIN_WIDTH;
	advice_text(&call->advice, &term, out);
	for (size_t i = 0; i < call->refused.n; i++)
		buf_printf(out, "%s cannot be used here: %s\n", call->refused.at[i].label,
			call->refused.at[i].why);
	buf_char(out, '\n');
	advice_lead(&call->advice, out);
	buf_char(out, '\n');
	command_of(call, &command);
	if (command.n)
		buf_printf(out, "  %s\n", command.at);
	if (knows_too_much(call))
		buf_str(out,
			"it goes by run times, and here they are known exactly: --error 0.5 tells what is left of "
			"it when they are not\n");
	buf_fini(&command);
}

static int write_page(struct advise_call *call, struct err *err)
{
	struct buf lead = { 0 }, command = { 0 }, trace = { 0 }, spec = { 0 }, text = { 0 };
	const char *notes[2];
	size_t n = 0;
	int rc;

	advice_lead(&call->advice, &lead);
	args_command(&call->args, &command);
	past_title(&call->past, &trace);
	cluster_format(&call->past.cluster, &spec);
	notes[n++] = lead.at;
	if (call->grid.note)
		notes[n++] = call->grid.note;
	html_compare(&call->grid.result,
		&(struct html_info){
			.title = "Would another policy have been better?",
			.command = command.at,
			.version = STINT_VERSION,
			.trace = trace.at,
			.cluster = spec.at,
			.settings = call->past.placer,
			.notes = notes,
			.nnotes = n,
		},
		&text);
	rc = html_file_write(&call->html, &text, err);
	buf_fini(&lead);
	buf_fini(&command);
	buf_fini(&trace);
	buf_fini(&spec);
	buf_fini(&text);
	return rc;
}

static int tell(struct advise_call *call, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	if (call->args.json)
		advise_json(call, &text);
	else
		advise_text(call, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (!rc && call->args.html)
		rc = write_page(call, err);
	if (!rc && call->args.html)
		ui_say(&call->args, "wrote %s", call->args.html);
	return rc;
}

static void release(struct advise_call *call)
{
	for (uint32_t i = 0; call->advice.entries && i < call->advice.n; i++)
		free(call->advice.entries[i].why);
	free(call->advice.entries);
	grid_fini(&call->grid);
	html_file_abandon(&call->html);
	if (call->there)
		scenario_fini(&call->scenario);
	for (size_t i = 0; i < call->refused.n; i++) {
		free(call->refused.at[i].label);
		free(call->refused.at[i].why);
	}
	vec_fini(&call->refused);
	vec_fini(&call->candidates);
	chosen_fini(&call->present);
	past_fini(&call->past);
}

static int advise(const struct args *args, struct err *err)
{
	struct advise_call call = { .args = *args };
	int rc = prepare(&call, err);

	if (!rc)
		rc = carry_out(&call, err);
	if (!rc)
		rc = tell(&call, err);
	release(&call);
	return rc;
}

static const struct flag goal_flags[] = {
	TEXT(goal, "GOAL", "jct (default), wait, makespan, fairness, deadline or goodput"),
	LIST(policy, "NAME[:OPTIONS]", "look at these only (default: all, with their usual options)"),
	{ 0 },
};

static const struct flag output_flags[] = {
	TEXT(html, "FILE", "write a report with plots"),
	SWITCH(json, "the advice as JSON"),
	NUMBER(threads, FLAG_INT, "N", 0, 0, 1024,
		"runs at a time (0, the default: all cores); results stay the same"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};

static const struct flag_group flags_goal = { .title = "what counts", .flags = goal_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint advise",
	"stint advise --since 30d --goal wait --policy srtf,las,tiresias",
	"stint advise trace.csv --cluster 16x8:v100 --was fifo --error 0.5",
	NULL,
};

const struct command command_advise = {
	.name = "advise",
	.summary = "whether another policy would have been better, and how sure that is",
	.operands = "[TRACE|STATE]",
	.max_operands = 1,
	.groups = { &flags_goal, &flags_past, &flags_world, &flags_belief, &flags_workload,
		&flags_output },
	.about = "Every policy runs what happened once; the eight best and the present one run it again\n"
		 "with the other seeds and are compared seed by seed (signed ranks, corrected for how\n"
		 "many were looked at).  A policy is recommended if it is better with p < 0.05 and by at least\n"
		 "1 %; else the present one is among the best, which is an answer too (exit code 0).\n"
		 "Policies that fail here, or leave jobs that the present one ran, are named with why.\n"
		 "Without an operand the daemon's record is looked at, as in 'stint help whatif'.",
	.examples = examples,
	.run = advise,
};
