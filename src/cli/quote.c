/*
 * Command lines as text, for manifests and reports.
 */
#include <math.h>
#include <string.h>

#include "cli/setup.h"

void quote_word(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=./:,@%";

	if (*word && strspn(word, plain) == strlen(word)) {
		buf_str(out, word);
		return;
	}
	buf_char(out, '\'');
	for (const char *c = word; *c; c++)
		buf_str(out, *c == '\'' ? "'\\''" : (char[2]){ *c, 0 });
	buf_char(out, '\'');
}

static void add_name(struct buf *out, const struct flag *flag)
{
	buf_str(out, " --");
	flag_word(flag, out);
}

static void add_text(struct buf *out, const struct flag *flag, const char *value)
{
	if (!value)
		return;
	add_name(out, flag);
	buf_char(out, ' ');
	quote_word(out, value);
}

static void add_number(struct buf *out, const struct flag *flag, double value)
{
	bool preset = isnan(flag->preset) ? isnan(value) : value == flag->preset;

	if (preset)
		return;
	add_name(out, flag);
	buf_char(out, ' ');
	buf_double(out, value);
	if (flag->unit)
		buf_char(out, 's');
}

static void add_flag(struct buf *out, const struct flag *flag, const struct args *args)
{
	const void *field = (const char *)args + flag->offset;
	const struct words *list = field;
	const struct said_list *said = field;

	switch (flag->kind) {
	case FLAG_SWITCH:
		if (*(const bool *)field)
			add_name(out, flag);
		break;
	case FLAG_TEXT:
		add_text(out, flag, *(const char *const *)field);
		break;
	case FLAG_LIST:
		for (size_t i = 0; i < list->n; i++)
			add_text(out, flag, list->at[i]);
		break;
	case FLAG_INT:
		add_number(out, flag, (double)*(const int64_t *)field);
		break;
	case FLAG_NUMBER:
	case FLAG_SECONDS:
		add_number(out, flag, *(const double *)field);
		break;
	case FLAG_SAID:
		for (size_t i = 0; i < said->n; i++)
			if (said->at[i].name == flag->name)
				add_text(out, flag, said->at[i].value);
		break;
	}
}

static void add_group(struct buf *out, const struct flag_group *group, const struct args *args)
{
	for (const struct flag *f = group->flags; f->name; f++)
		add_flag(out, f, args);
}

void args_command(const struct args *args, struct buf *out)
{
	buf_printf(out, "stint %s", args->command->name);
	for (size_t i = 0; i < args->operands.n; i++) {
		buf_char(out, ' ');
		quote_word(out, args->operands.at[i]);
	}
	for (int g = 0; g < COMMAND_GROUPS_MAX && args->command->groups[g]; g++)
		if (!args->command->groups[g]->aside)
			add_group(out, args->command->groups[g], args);
}

void setup_command(const struct setup *setup, const struct workload *workload,
	const struct pairing *pair, uint64_t seed, struct buf *out)
{
	const char *policy = pair->policy->label, *placer = pair->placer->label;
	struct args one = *setup->args;

	one.policy = (struct words){ .at = &policy, .n = 1 };
	if (one.placer.n)
		one.placer = (struct words){ .at = &placer, .n = 1 };
	one.seed = (int64_t)seed;
	buf_str(out, "stint sim ");
	quote_word(out, workload->source);
	add_group(out, &flags_workload, &one);
	add_group(out, &flags_world, &one);
	add_group(out, &flags_deciders, &one);
	add_group(out, &flags_belief, &one);
}
