/*
 * stint completion: a script for the shell, from the tables.
 */
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/ui.h"

/* "--cluster --policy …" of a command. */
static void flag_words(const struct command *command, struct buf *out)
{
	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++)
		for (const struct flag *f = command->groups[g]->flags; f->name; f++) {
			buf_str(out, "--");
			flag_word(f, out);
			buf_char(out, ' ');
		}
	buf_str(out, "--help");
}

/* The verbs, or what follows the verb `family`. */
static void verb_words(const char *family, struct buf *out)
{
	size_t n = family ? strlen(family) : 0;
	const char *last = "";
	size_t last_n = 0;

	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		size_t first = strcspn(name, " ");

		if (family && first == n && !strncmp(name, family, n) && name[n]) {
			buf_printf(out, "%s ", name + n + 1);
		} else if (!family && (first != last_n || strncmp(name, last, first) != 0)) {
			buf_printf(out, "%.*s ", (int)first, name);
			last = name;
			last_n = first;
		}
	}
}

static void bash(struct buf *out)
{
	buf_str(out,
		"# bash completion for stint: eval \"$(stint completion bash)\"\n"
		"_stint() {\n"
		"\tlocal words= cur=${COMP_WORDS[COMP_CWORD]}\n"
		"\tcase \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_printf(out, "\t\"%s\"%s) words='", commands[i]->name,
			strchr(commands[i]->name, ' ') ? "" : "\\ *");
		flag_words(commands[i], out);
		buf_str(out, "' ;;\n");
	}
	buf_str(out,
		"\tesac\n"
		"\t[ \"$COMP_CWORD\" = 1 ] && words='");
	verb_words(NULL, out);
	buf_str(out, "help'\n\t[ \"$COMP_CWORD\" = 2 ] && [ \"${COMP_WORDS[1]}\" = trace ] && words='");
	verb_words("trace", out);
	buf_str(out,
		"'\n"
		"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		"}\n"
		"complete -o default -F _stint stint\n");
}

static int run(const struct args *args, struct err *err)
{
	struct buf script = { 0 }, json = { 0 };
	int rc;

	if (strcmp(args->operands.at[0], "bash") != 0)
		return err_set(err, ERR_USAGE, "there is no completion for '%s'; known: bash",
			args->operands.at[0]);
	bash(&script);
	if (args->json) {
		struct json j;

		json_init(&j, &json, true);
		json_begin_object(&j, NULL);
		json_str(&j, "schema", "completion/1");
		json_str(&j, "script", script.at);
		json_end(&j, '}');
		buf_char(&json, '\n');
	}
	rc = ui_print(args->json ? &json : &script, err);
	buf_fini(&script);
	buf_fini(&json);
	return rc;
}

static const struct flag flags[] = { SWITCH(json, "the script in JSON"), { 0 } };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = flags,
	.aside = true,
};
static const char *const examples[] = { "eval \"$(stint completion bash)\"", NULL };

const struct command command_completion = {
	.name = "completion",
	.summary = "completion for your shell",
	.operands = "bash",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_output },
	.examples = examples,
	.run = run,
};
