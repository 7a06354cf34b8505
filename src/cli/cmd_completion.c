/*
 * stint completion: a script for the shell, and what the scripts ask for.
 */
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/complete.h"
#include "cli/ui.h"

static const char *script_of(const char *shell)
{
	for (const struct completion_script *s = completion_scripts; s->shell; s++)
		if (!strcmp(s->shell, shell))
			return s->text;
	return NULL;
}

static int unknown_shell(const char *shell, struct err *err)
{
	struct words known = { 0 };
	int nearest;

	for (const struct completion_script *s = completion_scripts; s->shell; s++)
		vec_push(&known, s->shell);
	nearest = text_nearest(shell, known.at, known.n);
	if (nearest >= 0)
		err_set(err, ERR_USAGE, "there is no completion for '%s'; did you mean '%s'?",
			shell, known.at[nearest]);
	else
		err_set(err, ERR_USAGE, "there is no completion for '%s'; known: bash, zsh, fish",
			shell);
	vec_fini(&known);
	return ERR_USAGE;
}

static void as_json(const char *key, const struct buf *text, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "completion/1");
	json_str(&j, key, text->at ? text->at : "");
	json_end(&j, '}');
	buf_char(out, '\n');
}

static int print(const struct args *args, const char *key, const struct buf *text, struct err *err)
{
	struct buf json = { 0 };
	int rc = 0;

	if (args->json) {
		as_json(key, text, &json);
		rc = ui_print(&json, err);
		buf_fini(&json);
	} else if (text->n) {
		rc = ui_print(text, err);
	}
	return rc;
}

static int run(const struct args *args, struct err *err)
{
	const char *const *words = args->operands.at;
	bool asked = !strcmp(words[0], "words");
	const char *script = script_of(words[0]);
	struct buf text = { 0 };
	int rc;

	if (!asked && !script)
		return unknown_shell(words[0], err);
	if (!asked && args->operands.n > 1)
		return err_set(err, ERR_USAGE, "too many words: '%s' was not expected", words[1]);
	if (asked)
		complete(words + 1, args->operands.n - 1, &text);
	else
		buf_str(&text, script);
	rc = print(args, asked ? "words" : "script", &text, err);
	buf_fini(&text);
	return rc;
}

static const struct flag flags[] = { SWITCH(json, "the script in JSON"), { 0 } };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = flags,
	.aside = true,
};
static const char *const examples[] = {
	"eval \"$(stint completion bash)\"",
	"source <(stint completion zsh)",
	"stint completion fish | source",
	NULL,
};

const struct command command_completion = {
	.name = "completion",
	.summary = "completion for your shell",
	.operands = "bash|zsh|fish",
	.min_operands = 1,
	.max_operands = 1 << 20,
	.groups = { &flags_output },
	.about = "Prints a script for the shell; put the matching line below into its start-up file.  Packages\n"
		 "install it, so nothing is to be done after one.\n"
		 "The scripts call 'stint completion words -- WORD...' with what was written after 'stint', up\n"
		 "to the cursor, and get a line for each word that could stand last there.",
	.examples = examples,
	.run = run,
};
