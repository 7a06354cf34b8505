/*
 * Help from the tables.
 */
#include <string.h>

#include "cli/command.h"

enum { FLAG_COLUMN = 27 };

static void pad_to(struct buf *out, size_t line, size_t column)
{
	do
		buf_char(out, ' ');
	while (out->n - line < column);
}

static void one_flag(const struct flag *flag, struct buf *out)
{
	size_t line = out->n;

	if (flag->letter)
		buf_printf(out, "  -%c, --", flag->letter);
	else
		buf_str(out, "  --");
	flag_word(flag, out);
	if (flag->value)
		buf_printf(out, " %s", flag->value);
	pad_to(out, line, FLAG_COLUMN);
	buf_printf(out, "%s\n", flag->help);
}

static void put_usage(const struct command *command, struct buf *out)
{
	bool has_operands = *command->operands;

	/* What follows a command is the command's own: flags come before it. */
	if (command->takes_rest)
		buf_printf(out, "stint %s [FLAGS] %s", command->name, command->operands);
	else
		buf_printf(out, "stint %s %s%s[FLAGS]", command->name, command->operands,
			has_operands ? " " : "");
}

void help_command(const struct command *command, struct buf *out)
{
	buf_printf(out, "stint %s: %s\n\nusage: ", command->name, command->summary);
	put_usage(command, out);
	buf_char(out, '\n');
	if (command->about)
		buf_printf(out, "\n%s\n", command->about);
	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++) {
		buf_printf(out, "\n%s:\n", command->groups[g]->title);
		for (const struct flag *f = command->groups[g]->flags; f->name; f++)
			one_flag(f, out);
	}
	if (command->more) {
		buf_char(out, '\n');
		command->more(out);
	}
	if (command->examples) {
		buf_str(out, "\nexamples:\n");
		for (const char *const *e = command->examples; *e; e++)
			buf_printf(out, "  %s\n", *e);
	}
}

static void one_line(const struct command *command, struct buf *out)
{
	size_t line = out->n;

	buf_printf(out, "  %s", command->name);
	pad_to(out, line, 18);
	buf_printf(out, "%s\n", command->summary);
}

void help_family(const char *word, struct buf *out)
{
	size_t n = strlen(word);

	for (size_t i = 0; commands[i]; i++)
		if (!strncmp(commands[i]->name, word, n) && commands[i]->name[n] == ' ')
			one_line(commands[i], out);
	buf_printf(out, "\n'stint %s VERB --help' says more.\n", word);
}

static void all_lines(bool live, struct buf *out)
{
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->live == live)
			one_line(commands[i], out);
}

void help_overview(struct buf *out)
{
	buf_str(out,
		"stint schedules deep-learning jobs: runs them here, and simulates how policies would.\n\n"
		"usage: stint VERB ...\n\njobs on this machine:\n");
	all_lines(true, out);
	buf_str(out, "\nsimulate, compare and replay policies:\n");
	all_lines(false, out);
	buf_str(out,
		"\n'stint help VERB' says more; every verb takes --json.  To begin:\n"
		"  stint daemon &\n  stint submit --gpus 1 -- python train.py\n"
		"  stint compare synth:jobs=500 --cluster 8x8:v100 --policy fifo,srtf,tiresias\n");
}
