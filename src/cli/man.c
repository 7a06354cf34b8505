/*
 * Pages for man(7): no dates in them, so that the same program always gives the
 * same pages.
 */
#include "cli/man.h"

#include <ctype.h>
#include <string.h>

/* ---- text in roff */

/* Characters that groff would turn into typographic ones, or take for its own. */
static void add_char(struct buf *out, char c)
{
	switch (c) {
	case '\\':
		buf_str(out, "\\e");
		break;
	case '-':
		buf_str(out, "\\-");
		break;
	case '\'':
		buf_str(out, "\\(aq");
		break;
	case '`':
		buf_str(out, "\\(ga");
		break;
	case '^':
		buf_str(out, "\\(ha");
		break;
	case '~':
		buf_str(out, "\\(ti");
		break;
	default:
		buf_char(out, c);
	}
}

/* A character of several bytes in UTF-8, by its number: roff itself knows no encoding.  Returns its bytes. */
static size_t add_wide(struct buf *out, const char *at, size_t n)
{
	unsigned char first = (unsigned char)at[0];
	size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	unsigned code = first & (0xffu >> (bytes + 1));

	if (bytes > n)
		return n;
	for (size_t i = 1; i < bytes; i++)
		code = code << 6 | ((unsigned char)at[i] & 0x3f);
	buf_printf(out, "\\[u%04X]", code);
	return bytes;
}

/* A '.' that begins a line would be a request. */
static void add_text(struct buf *out, struct slice text)
{
	if (text.n && text.at[0] == '.')
		buf_str(out, "\\&");
	for (size_t i = 0; i < text.n;) {
		if ((unsigned char)text.at[i] >= 0x80)
			i += add_wide(out, text.at + i, text.n - i);
		else
			add_char(out, text.at[i++]);
	}
}

static void add_line(struct buf *out, struct slice text)
{
	add_text(out, text);
	buf_char(out, '\n');
}

static void section(struct buf *out, const char *title)
{
	buf_printf(out, ".SH %s\n", title);
}

/* Lines that begin with a space keep their form; the others flow. */
static void add_paragraphs(struct buf *out, const char *text)
{
	struct slice rest = slice_of(text);
	bool kept = false, gap = false;

	while (rest.n) {
		struct slice line = slice_cut(&rest, '\n');
		bool keep = line.n && line.at[0] == ' ';

		if (!line.n) {
			gap = true;
			continue;
		}
		if (kept && !keep)
			buf_str(out, ".fi\n");
		if (gap)
			buf_str(out, ".PP\n");
		if (keep && !kept)
			buf_str(out, ".nf\n");
		add_line(out, line);
		kept = keep;
		gap = false;
	}
	if (kept)
		buf_str(out, ".fi\n");
}

/* As it is, blank lines too. */
static void add_verbatim(struct buf *out, struct slice text)
{
	buf_str(out, ".nf\n");
	while (text.n)
		add_line(out, slice_cut(&text, '\n'));
	buf_str(out, ".fi\n");
}

struct row {
	const char *term, *text;
};

static void add_rows(struct buf *out, const struct row *rows)
{
	for (; rows->term; rows++) {
		buf_str(out, ".TP\n.B ");
		add_line(out, slice_of(rows->term));
		add_line(out, slice_of(rows->text));
	}
}

/* ---- names */

/* "trace check" as "trace-check", in capitals for titles. */
static void add_dashed(struct buf *out, const char *name, bool capitals)
{
	for (; *name; name++) {
		char c = *name == ' ' ? '-' : *name;

		buf_char(out, capitals ? (char)toupper((unsigned char)c) : c);
	}
}

static void page_name(const struct command *command, bool capitals, struct buf *out)
{
	buf_str(out, capitals ? "STINT" : "stint");
	if (!command)
		return;
	buf_char(out, '-');
	add_dashed(out, command->name, capitals);
}

void man_file(const struct command *command, struct buf *out)
{
	page_name(command, false, out);
	buf_str(out, ".1");
}

static void add_header(const struct command *command, const char *summary, struct buf *out)
{
	struct buf name = { 0 };

	page_name(command, true, &name);
	buf_printf(out, ".TH %s 1 \"\" \"Stint " STINT_VERSION "\" \"Stint manual\"\n", name.at);
	buf_clear(&name);
	page_name(command, false, &name);
	section(out, "NAME");
	add_text(out, slice_of(name.at));
	buf_str(out, " \\- ");
	add_line(out, slice_of(summary));
	buf_fini(&name);
}

/* ---- what every page ends with */

static const struct row exit_codes[] = {
	{ "0", "It was done." },
	{ "1", "It failed." },
	{ "2", "The command line makes no sense." },
	{ "3", "Something named does not exist." },
	{ "4", "Understood, and not allowed." },
	{ "5", "A job can never run here." },
	{ "6", "The daemon cannot be reached." },
	{ "7", "It took longer than was allowed for." },
	{ "128+N", "Ended by signal N." },
	{ 0 },
};

static void add_see_also(const struct command *command, struct buf *out)
{
	struct buf name = { 0 };
	const char *comma = "";

	section(out, "SEE ALSO");
	if (command) {
		buf_str(out, ".BR stint (1)");
		comma = ",\n";
	}
	for (size_t i = 0; commands[i]; i++) {
		/* The page of the whole names all, that of a verb its family. */
		size_t n = command ? strcspn(command->name, " ") + 1 : 0;

		if (command &&
			(commands[i] == command || !strchr(command->name, ' ') ||
				strncmp(commands[i]->name, command->name, n) != 0))
			continue;
		buf_clear(&name);
		page_name(commands[i], false, &name);
		buf_printf(out, "%s.BR ", comma);
		add_text(out, slice_of(name.at));
		buf_str(out, " (1)");
		comma = ",\n";
	}
	buf_char(out, '\n');
	buf_fini(&name);
}

/* ---- a verb */

static void add_flag(struct buf *out, const struct flag *flag)
{
	struct buf word = { 0 };

	flag_word(flag, &word);
	buf_str(out, ".TP\n");
	if (flag->letter)
		buf_printf(out, "\\fB\\-%c\\fR, ", flag->letter);
	buf_str(out, "\\fB\\-\\-");
	add_text(out, slice_of(word.at));
	buf_str(out, "\\fR");
	if (flag->value) {
		buf_str(out, " \\fI");
		add_text(out, slice_of(flag->value));
		buf_str(out, "\\fR");
	}
	buf_char(out, '\n');
	add_line(out, slice_of(flag->help));
	buf_fini(&word);
}

static void add_flags(const struct command *command, struct buf *out)
{
	if (!command->groups[0])
		return;
	section(out, "OPTIONS");
	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++) {
		buf_str(out, ".SS ");
		add_line(out, slice_of(command->groups[g]->title));
		for (const struct flag *f = command->groups[g]->flags; f->name; f++)
			add_flag(out, f);
	}
}

static void add_more(const struct command *command, struct buf *out)
{
	struct buf more = { 0 };

	if (!command->more)
		return;
	command->more(&more);
	section(out, "DETAILS");
	if (more.n)
		add_verbatim(out, (struct slice){ more.at, more.n });
	buf_fini(&more);
}

static void add_examples(const char *const *examples, struct buf *out)
{
	if (!examples)
		return;
	section(out, "EXAMPLES");
	buf_str(out, ".nf\n");
	for (; *examples; examples++)
		add_line(out, slice_of(*examples));
	buf_str(out, ".fi\n");
}

static void command_page(const struct command *command, struct buf *out)
{
	static const char flags[] = "[\\fIFLAGS\\fR]\n";

	add_header(command, command->summary, out);
	section(out, "SYNOPSIS");
	buf_str(out, ".B stint ");
	add_line(out, slice_of(command->name));
	if (command->takes_rest)
		buf_str(out, flags);
	if (*command->operands)
		add_line(out, slice_of(command->operands));
	if (!command->takes_rest)
		buf_str(out, flags);
	section(out, "DESCRIPTION");
	if (command->about) {
		add_paragraphs(out, command->about);
	} else {
		buf_char(out, (char)toupper((unsigned char)command->summary[0]));
		add_text(out, slice_of(command->summary + 1));
		buf_str(out, ".\n");
	}
	add_flags(command, out);
	add_more(command, out);
	section(out, "EXIT STATUS");
	add_rows(out, exit_codes);
	add_examples(command->examples, out);
	add_see_also(command, out);
}

/* ---- the whole */

static const char about[] =
	"Stint schedules deep-learning jobs on shared accelerators.  One deterministic core decides; it runs\n"
	"real jobs on this machine as a daemon, and simulates, compares and replays policies on traces.\n"
	"\n"
	"Every verb takes --help and --json, and 'stint help VERB' says the same as its page.  Data goes\n"
	"to standard output, messages to standard error.";

static const struct row environment[] = {
	{ "STINT_STATE", "The directory of the daemon's state, unless --state says otherwise." },
	{ "STINT_SOCKET", "The daemon's socket, unless --socket says otherwise." },
	{ "STINT_GUARD", "The program stint-guard, where it is neither beside stint nor installed." },
	{ "XDG_STATE_HOME", "Where a user's state lives; ~/.local/state unless set." },
	{ "XDG_RUNTIME_DIR", "Where a user's socket lives; in the state directory unless set." },
	{ "COLUMNS", "How wide tables may be." },
	{ "NO_COLOR", "If set, nothing is coloured." },
	{ 0 },
};

static const struct row files[] = {
	{ "~/.local/state/stint", "State of a user's daemon: the record, and what jobs wrote." },
	{ "/var/lib/stint", "The same of the system's daemon." },
	{ "$XDG_RUNTIME_DIR/stint/socket", "Where a user's daemon listens." },
	{ "/run/stint/socket", "Where the system's daemon listens." },
	{ 0 },
};

static const char *const first_steps[] = {
	"stint compare synth:jobs=500 --cluster 8x8:v100 --policy fifo,srtf,tiresias",
	"stint policies tiresias",
	NULL,
};

static void add_commands(struct buf *out)
{
	for (size_t i = 0; commands[i]; i++) {
		buf_str(out, ".TP\n.B stint ");
		add_line(out, slice_of(commands[i]->name));
		add_line(out, slice_of(commands[i]->summary));
	}
}

static void whole_page(struct buf *out)
{
	add_header(NULL, "schedules deep-learning jobs", out);
	section(out, "SYNOPSIS");
	buf_str(out, ".B stint\n\\fIVERB\\fR ...\n");
	section(out, "DESCRIPTION");
	add_paragraphs(out, about);
	section(out, "COMMANDS");
	add_commands(out);
	section(out, "EXIT STATUS");
	add_rows(out, exit_codes);
	section(out, "ENVIRONMENT");
	add_rows(out, environment);
	section(out, "FILES");
	add_rows(out, files);
	add_examples(first_steps, out);
	add_see_also(NULL, out);
}

void man_page(const struct command *command, struct buf *out)
{
	if (command)
		command_page(command, out);
	else
		whole_page(out);
}
