/*
 * stint: finds the command, parses its flags, runs it, and turns what came
 * of it into a message and an exit code.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/ui.h"

static int print_and_free(struct buf *text, struct err *err)
{
	int rc = ui_print(text, err);

	buf_fini(text);
	return rc;
}

/* `stint help [VERB [SUBVERB]]`. */
static int help(int argc, char **argv, struct err *err)
{
	const struct command *command;
	struct buf text = { 0 };
	int words;

	if (!argc) {
		help_overview(&text);
	} else if (argc == 1 && command_is_family(argv[0])) {
		help_family(argv[0], &text);
	} else {
		command = command_find(argc, argv, &words, err);
		if (!command)
			return err->code;
		if (words < argc)
			return err_set(err, ERR_USAGE,
				"too many words: '%s' was not expected after 'help %s'",
				argv[words], command->name);
		help_command(command, &text);
	}
	return print_and_free(&text, err);
}

static int run(const struct command *command, int argc, char **argv, struct err *err)
{
	struct args args;
	struct buf text = { 0 };
	bool want_help;
	int rc = args_parse(command, argc, argv, &args, &want_help, err);

	if (rc)
		return rc;
	if (want_help) {
		help_command(command, &text);
		rc = print_and_free(&text, err);
	} else {
		rc = command->run(&args, err);
	}
	args_fini(&args);
	return rc;
}

static int version(struct err *err)
{
	struct buf text = { 0 };

	buf_str(&text, "stint " STINT_VERSION "\n");
	return print_and_free(&text, err);
}

/* Sets `name` for messages once the command is known. */
static int dispatch(int argc, char **argv, const char **name, struct err *err)
{
	const struct command *command;
	int words;

	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(0, NULL, err);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return version(err);
	if (!strcmp(argv[1], "help"))
		return help(argc - 2, argv + 2, err);
	if (argc > 2 && command_is_family(argv[1]) &&
		(!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")))
		return help(1, argv + 1, err);
	command = command_find(argc - 1, argv + 1, &words, err);
	if (!command)
		return err->code;
	*name = command->name;
	return run(command, argc - 1 - words, argv + 1 + words, err);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	const char *name = "";
	int rc;

	ui_signals();
	rc = dispatch(argc, argv, &name, &err);
	/* A signal that came after the work was done has interrupted nothing. */
	if (rc < 0 && ui_interrupted()) {
		ui_err("stint: interrupted; nothing was written\n");
		return EXIT_SIGNAL + ui_interrupted();
	}
	if (rc && *err.text) {
		ui_err("stint%s%s: %s\n", *name ? " " : "", name, err.text);
		if (rc == ERR_USAGE)
			ui_err("try: stint help%s%s\n", *name ? " " : "", name);
	}
	return ui_exit_code(rc);
}
