/*
 * stint policies, placers, admissions: what there is, from the tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/option_json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/rules.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "policy/policy.h"
#include "report/table.h"

static const struct {
	unsigned trait;
	const char *name, *text;
} traits[] = {
	{ POLICY_PREEMPTS, "preempts", "may stop a running job" },
	{ POLICY_ESTIMATES, "estimates", "looks at estimated run times" },
	{ POLICY_RANDOM, "random", "makes random choices" },
	{ POLICY_SHARES, "shares", "may put two jobs on the same devices" },
	{ POLICY_POOLS, "pools", "may give a job devices of other nodes" },
	{ POLICY_RENTS, "rents", "rents nodes and gives them back" },
};

enum { TRAITS = sizeof(traits) / sizeof(traits[0]) };

/* ---- for programs */

static void rule_json(const struct rule *rule, struct json *j)
{
	json_begin_object(j, NULL);
	json_str(j, "name", rule->name);
	json_str(j, "summary", rule->summary);
	json_str(j, "origin", rule->origin);
	if (rule->family)
		json_str(j, "family", rule->family);
	json_begin_array(j, "traits");
	for (int i = 0; i < TRAITS; i++)
		if (rule->traits & traits[i].trait)
			json_str(j, NULL, traits[i].name);
	json_end(j, ']');
	json_begin_array(j, "options");
	for (const struct option *o = rule->options; o && o->name; o++)
		option_to_json(o, j);
	json_end(j, ']');
	json_end(j, '}');
}

/* All of a kind, or the one of that name. */
static void kind_json(const struct rule_kind *kind, const char *name, struct buf *out)
{
	struct json j;
	struct rule rule;
	char schema[32];

	snprintf(schema, sizeof(schema), "%s/1", kind->plural);
	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", schema);
	json_begin_array(&j, kind->plural);
	for (size_t i = 0; kind->at(i, &rule); i++)
		if (!name || !strcmp(rule.name, name))
			rule_json(&rule, &j);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
}

/* ---- for people */

static void write_table(struct table *table, struct buf *out)
{
	struct term term = term_of_stdout();

	table_write(table, TABLE_TEXT, &term, out, NULL);
	table_fini(table);
}

static void list(const struct rule_kind *kind, struct buf *out)
{
	struct table table = { 0 };
	struct rule rule;

	table_column(&table, kind->word, ALIGN_LEFT, 0);
	table_column(&table, "what it does", ALIGN_LEFT, 0);
	table_column(&table, "paper", ALIGN_LEFT, 1);
	for (size_t i = 0; kind->at(i, &rule); i++) {
		table_cell(&table, rule.name);
		table_cell(&table, rule.summary);
		table_cell(&table, rule.origin);
	}
	write_table(&table, out);
	buf_printf(out, "\n'stint %s NAME' shows the options of one.\n", kind->plural);
}

static void list_options(const struct rule *rule, struct buf *out)
{
	struct table table = { 0 };
	struct buf text = { 0 };

	table_column(&table, "option", ALIGN_LEFT, 0);
	table_column(&table, "default", ALIGN_LEFT, 0);
	table_column(&table, "range", ALIGN_LEFT, 0);
	table_column(&table, "meaning", ALIGN_LEFT, 0);
	for (const struct option *o = rule->options; o->name; o++) {
		table_cell(&table, o->name);
		buf_clear(&text);
		option_preset(o, &text);
		table_cell(&table, text.at);
		buf_clear(&text);
		option_range(o, &text);
		table_cell(&table, text.at);
		table_cell(&table, o->help);
	}
	write_table(&table, out);
	buf_fini(&text);
}

/* A command to copy, with the first option at its default. */
static void example(const struct rule_kind *kind, const struct rule *rule, struct buf *out)
{
	bool options = rule->options && rule->options->name;

	buf_printf(out, "\nexample:\n  stint sim trace.csv --cluster 16x8:v100 --%s %s", kind->flag,
		rule->name);
	if (options && rule->options->kind != OPTION_TEXT) {
		buf_printf(out, ":%s=", rule->options->name);
		option_preset(rule->options, out);
	}
	buf_char(out, '\n');
}

static void show(const struct rule_kind *kind, const struct rule *rule, struct buf *out)
{
	buf_printf(out, "%s: %s\n\n", rule->name, rule->summary);
	if (rule->origin)
		buf_printf(out, "paper:   %s\n", rule->origin);
	if (rule->family)
		buf_printf(out, "family:  %s\n", rule->family);
	for (int i = 0; i < TRAITS; i++)
		if (rule->traits & traits[i].trait)
			buf_printf(out, "note:    %s\n", traits[i].text);
	if (rule->options && rule->options->name) {
		buf_char(out, '\n');
		list_options(rule, out);
	} else {
		buf_str(out, "\nIt has no options.\n");
	}
	example(kind, rule, out);
}

static int tell(const struct rule_kind *kind, const struct args *args, struct err *err)
{
	const char *name = args->operands.n ? args->operands.at[0] : NULL;
	struct buf text = { 0 };
	struct rule rule;
	int rc;

	/* Here the name is what is looked for, not how a run is asked for. */
	if (name && kind->find(name, &rule, err))
		return err->code = ERR_MISSING;
	if (args->json)
		kind_json(kind, name, &text);
	else if (name)
		show(kind, &rule, &text);
	else
		list(kind, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

static int run_policies(const struct args *args, struct err *err)
{
	return tell(&rules_policy, args, err);
}

static int run_placers(const struct args *args, struct err *err)
{
	return tell(&rules_placer, args, err);
}

static int run_admissions(const struct args *args, struct err *err)
{
	return tell(&rules_admission, args, err);
}

static const struct flag flags[] = {
	SWITCH(json, "as JSON, with kinds, defaults and ranges"),
	{ 0 },
};

static const struct flag_group flags_output = {
	.title = "output",
	.flags = flags,
	.aside = true,
};

static const char *const policy_examples[] = {
	"stint policies",
	"stint policies tiresias",
	"stint policies --json",
	NULL,
};

static const char *const placer_examples[] = { "stint placers", "stint placers consolidate", NULL };
static const char *const admission_examples[] = { "stint admissions", "stint admissions load", NULL };

const struct command command_policies = {
	.name = "policies",
	.summary = "policies, their papers and options",
	.operands = "[NAME]",
	.max_operands = 1,
	.groups = { &flags_output },
	.examples = policy_examples,
	.run = run_policies,
};

const struct command command_placers = {
	.name = "placers",
	.summary = "rules that choose devices",
	.operands = "[NAME]",
	.max_operands = 1,
	.groups = { &flags_output },
	.examples = placer_examples,
	.run = run_placers,
};

const struct command command_admissions = {
	.name = "admissions",
	.summary = "rules that say who may compete",
	.operands = "[NAME]",
	.max_operands = 1,
	.groups = { &flags_output },
	.examples = admission_examples,
	.run = run_admissions,
};
