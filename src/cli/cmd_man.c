/*
 * stint man: manual pages.
 */
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/man.h"
#include "cli/ui.h"

/* ---- one page */

static int print_page(const struct args *args, const struct buf *page, struct err *err)
{
	struct buf text = { 0 };
	struct json j;
	int rc;

	if (!args->json)
		return ui_print(page, err);
	json_init(&j, &text, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "man/1");
	json_str(&j, "page", page->at);
	json_end(&j, '}');
	buf_char(&text, '\n');
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

static int one_page(const struct args *args, struct err *err)
{
	const struct words *words = &args->operands;
	const struct command *command = NULL;
	struct buf page = { 0 };
	int used = 0, rc;

	if (words->n) {
		command = command_find((int)words->n, (char **)(void *)words->at, &used, err);
		if (!command)
			return err->code = ERR_MISSING;
	}
	if ((size_t)used < words->n)
		return err_set(err, ERR_USAGE, "too many words: '%s' was not expected",
			words->at[used]);
	man_page(command, &page);
	rc = print_page(args, &page, err);
	buf_fini(&page);
	return rc;
}

/* ---- all of them */

/* Writes one and adds its path to `files`. */
static int write_page(const char *dir, const struct command *command, struct json *files,
	struct err *err)
{
	struct buf name = { 0 }, page = { 0 };
	char *path;
	int rc;

	man_file(command, &name);
	path = path_join(dir, name.at);
	man_page(command, &page);
	rc = file_write(path, page.at, page.n, err);
	json_str(files, NULL, path);
	free(path);
	buf_fini(&name);
	buf_fini(&page);
	return rc;
}

static int all_pages(const struct args *args, struct err *err)
{
	const char *dir = args->operands.at[0];
	struct buf text = { 0 };
	struct json j;
	size_t n = 0;
	int rc = dir_make(dir, err);

	json_init(&j, &text, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "man/1");
	json_begin_array(&j, "files");
	if (!rc)
		rc = write_page(dir, NULL, &j, err);
	for (; !rc && commands[n]; n++)
		rc = write_page(dir, commands[n], &j, err);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(&text, '\n');
	if (!rc && args->json)
		rc = ui_print(&text, err);
	else if (!rc)
		ui_say(args, "wrote %zu pages to %s", n + 1, dir);
	buf_fini(&text);
	return rc;
}

static int run(const struct args *args, struct err *err)
{
	if (!args->all)
		return one_page(args, err);
	if (args->operands.n != 1)
		return err_set(err, ERR_USAGE, "--all wants one directory: stint man --all DIR");
	return all_pages(args, err);
}

static const struct flag flags[] = {
	SWITCH(all, "every page, each as a file in the directory named"),
	SWITCH(json, "the page, or with --all the names of files, as JSON"),
	SWITCH(quiet, "no messages"),
	{ 0 },
};
static const struct flag_group flags_output = {
	.title = "output",
	.flags = flags,
	.aside = true,
};
static const char *const examples[] = {
	"stint man sim | man -l -",
	"stint man trace check | groff -man -Tutf8 | less -R",
	"stint man --all ~/.local/share/man/man1",
	NULL,
};

const struct command command_man = {
	.name = "man",
	.summary = "manual pages",
	.operands = "[VERB|DIR]",
	.max_operands = 2,
	.groups = { &flags_output },
	.about = "Prints the page of a verb, or of stint itself, as roff for man(1).",
	.examples = examples,
	.run = run,
};
