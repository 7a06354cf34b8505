/*
 * The batch script that Slurm runs for a job of ours.
 *
 * A shell script keeps its first line and gets our lines after it.  The script of
 * another interpreter is put into a file without a name for that interpreter to
 * read: it may run on a node that sees none of our files, and leaves none behind.
 */
#include "live/slurm/script.h"

#include <stdio.h>
#include <string.h>

void script_quote(const char *word, struct buf *out)
{
	buf_char(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_str(out, "'\\''");
		else
			buf_char(out, *word);
	}
	buf_char(out, '\'');
}

static void add_words(const char *const *words, struct buf *out)
{
	for (; words && *words; words++) {
		buf_char(out, ' ');
		script_quote(*words, out);
	}
}

static void add_facts(const struct launch *launch, struct buf *out)
{
	buf_str(out,
		"export STINT_RESTARTS=\"${SLURM_RESTART_COUNT:-0}\"\n"
		"export STINT_ATTEMPT=$((${SLURM_RESTART_COUNT:-0} + 1))\n"
		"export STINT_GPUS=$((${SLURM_GPUS_ON_NODE:-0} * ${SLURM_JOB_NUM_NODES:-1}))\n"
		"export STINT_DEVICES=\"${SLURM_JOB_GPUS:-}\"\n"
		"export STINT_NODE=\"${SLURMD_NODENAME:-}\"\n"
		"export MASTER_ADDR=\"${SLURMD_NODENAME:-127.0.0.1}\"\n");
	buf_printf(out, "export MASTER_PORT=%u\n", 20000 + launch->job % 20000);
}

/* ---- which interpreter */

/* The first line without "#!"; empty where there is none. */
static struct slice interpreter_of(const char *script)
{
	struct slice rest = slice_of(script);

	if (strncmp(script, "#!", 2) != 0)
		return slice_of("");
	rest = slice_cut(&rest, '\n');
	return slice_trim((struct slice){ rest.at + 2, rest.n - 2 });
}

static struct slice base_of(struct slice path)
{
	for (size_t i = path.n; i-- > 0;) {
		if (path.at[i] == '/')
			return (struct slice){ path.at + i + 1, path.n - i - 1 };
	}
	return path;
}

static bool is_shell(struct slice line)
{
	static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh" };
	struct slice word = base_of(slice_cut(&line, ' '));

	if (slice_is(word, "env")) {
		line = slice_trim(line);
		word = base_of(slice_cut(&line, ' '));
	}
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (slice_is(word, shells[i]))
			return true;
	}
	return false;
}

/* ---- the three forms */

static void write_command(const struct launch *launch, struct buf *out)
{
	buf_str(out, "#!/bin/sh\n");
	add_facts(launch, out);
	buf_str(out, "exec");
	add_words(launch->argv, out);
	buf_char(out, '\n');
}

static void write_shell(const struct launch *launch, struct slice line, struct buf *out)
{
	const char *rest = launch->script;

	if (line.n) {
		const char *end = strchr(rest, '\n');

		buf_printf(out, "#!%.*s\n", (int)line.n, line.at);
		rest = end ? end + 1 : "";
	} else {
		buf_str(out, "#!/bin/sh\n");
	}
	add_facts(launch, out);
	buf_str(out, "set --");
	add_words(launch->argv, out);
	buf_char(out, '\n');
	buf_str(out, rest);
	if (out->at[out->n - 1] != '\n')
		buf_char(out, '\n');
}

/* A line that the text does not have: it would end there. */
static void end_word(const char *text, char word[64])
{
	for (unsigned i = 0;; i++) {
		snprintf(word, 64, "STINT_END_OF_SCRIPT_%u", i);
		if (!strstr(text, word))
			return;
	}
}

static void write_other(const struct launch *launch, struct slice line, struct buf *out)
{
	char end[64];

	end_word(launch->script, end);
	buf_str(out, "#!/bin/sh\n");
	add_facts(launch, out);
	buf_printf(out,
		"stint_script=$(mktemp \"${TMPDIR:-/tmp}/stint-%u.XXXXXX\") || exit 126\n"
		"cat >\"$stint_script\" <<'%s' || exit 126\n",
		launch->job, end);
	buf_str(out, launch->script);
	if (out->at[out->n - 1] != '\n')
		buf_char(out, '\n');
	buf_printf(out,
		"%s\n"
		"exec 3<\"$stint_script\"\n"
		"rm -f \"$stint_script\"\n"
		"unset stint_script\n"
		"exec %.*s /proc/self/fd/3",
		end, (int)line.n, line.at);
	add_words(launch->argv, out);
	buf_char(out, '\n');
}

void script_write(const struct launch *launch, struct buf *out)
{
	struct slice line = launch->script ? interpreter_of(launch->script) : slice_of("");

	if (!launch->script)
		write_command(launch, out);
	else if (!line.n || is_shell(line))
		write_shell(launch, line, out);
	else
		write_other(launch, line, out);
}
