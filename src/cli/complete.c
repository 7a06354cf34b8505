/*
 * A line so far is a command, flags with values, and operands.  What a flag or
 * operand takes is told by its name or by how help calls its value: a file, a
 * directory, one of "a|b|c", a rule with options.
 */
#include "cli/complete.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/live.h"
#include "cli/rules.h"
#include "io/trace_io.h"

/* The word being written, and what of it stands whatever is chosen: "--policy=" or "fifo,". */
struct offer {
	struct buf *out;
	const char *typed;
	size_t kept;
};

static void offer_ending(const struct offer *o, const char *word, const char *ending, const char *about)
{
	if (strncmp(word, o->typed + o->kept, strlen(o->typed + o->kept)) != 0)
		return;
	buf_printf(o->out, "%.*s%s%s\t%s\n", (int)o->kept, o->typed, word, ending, about ? about : "");
}

static void offer_word(const struct offer *o, const char *word, const char *about)
{
	offer_ending(o, word, "", about);
}

/* ---- verbs */

static const struct command *command_named(const char *const *words, size_t n, size_t *took)
{
	int used = 0;
	struct err ignored = { 0 };
	const struct command *command = n
		? command_find((int)n, (char **)(void *)words, &used, &ignored)
		: NULL;

	*took = (size_t)used;
	return command;
}

static bool same_first_word(const char *a, const char *b)
{
	size_t n = strcspn(a, " ");

	return n == strcspn(b, " ") && !strncmp(a, b, n);
}

/* First words, each once: those of a family stand together in the table. */
static void offer_verbs(const struct offer *o)
{
	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		size_t n = strcspn(name, " ");
		char word[64];

		if (i && same_first_word(name, commands[i - 1]->name))
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)n, name);
		offer_word(o, word, name[n] ? "several verbs" : commands[i]->summary);
	}
}

static void offer_family(const struct offer *o, const char *family)
{
	size_t n = strlen(family);

	for (size_t i = 0; commands[i]; i++)
		if (!strncmp(commands[i]->name, family, n) && commands[i]->name[n] == ' ')
			offer_word(o, commands[i]->name + n + 1, commands[i]->summary);
}

/* "sim", or "trace" and then "check", for help and man. */
static void offer_command_name(const struct offer *o, const char *const *before, size_t n)
{
	if (!n)
		offer_verbs(o);
	else if (n == 1 && command_is_family(before[0]))
		offer_family(o, before[0]);
}

/* ---- values */

static void offer_rule_names(const struct offer *o, const struct rule_kind *kind)
{
	struct rule rule;

	for (size_t i = 0; kind->at(i, &rule); i++)
		offer_word(o, rule.name, rule.summary);
}

static void offer_option_values(const struct offer *o, const struct option *option)
{
	if (option->kind == OPTION_CHOICE)
		for (const char *const *c = option->choices; *c; c++)
			offer_word(o, *c, option->help);
	if (option->kind == OPTION_BOOL) {
		offer_word(o, "0", option->help);
		offer_word(o, "1", option->help);
	}
}

/* After "NAME:…", at one of its options; `at` begins the last "name=value". */
static void offer_options(struct offer *o, const struct rule *rule, size_t at)
{
	const char *equals = strchr(o->typed + at, '=');

	o->kept = equals ? (size_t)(equals + 1 - o->typed) : at;
	for (const struct option *p = rule->options; p && p->name; p++)
		if (!equals)
			offer_ending(o, p->name, "=", p->help);
		else if (slice_is((struct slice){ o->typed + at, (size_t)(equals - o->typed) - at },
				 p->name))
			offer_option_values(o, p);
}

/* Where the last item of "fifo,tiresias:queues=2,li" begins: items have no '=' before a ':'. */
static size_t item_begin(const char *typed, size_t from)
{
	const char *colon = strrchr(typed + from, ':');
	size_t begin = colon ? (size_t)(colon - typed) : strlen(typed);

	while (begin > from && typed[begin - 1] != ',')
		begin--;
	return begin;
}

/* "NAME[:OPTIONS]", several with commas. */
static void offer_rule(struct offer *o, const struct rule_kind *kind)
{
	size_t begin = item_begin(o->typed, o->kept), last = begin;
	const char *colon = strchr(o->typed + begin, ':');
	const char *comma = strrchr(o->typed + o->kept, ',');
	struct rule rule;

	if (comma && (size_t)(comma + 1 - o->typed) > begin)
		last = (size_t)(comma + 1 - o->typed);
	if (!colon) {
		o->kept = last;
		offer_rule_names(o, kind);
		return;
	}
	for (size_t i = 0; kind->at(i, &rule); i++)
		if (slice_is((struct slice){ o->typed + begin, (size_t)(colon - o->typed) - begin },
			    rule.name))
			offer_options(o, &rule, last > begin ? last : (size_t)(colon + 1 - o->typed));
	/* After a comma the next may be an option or another item. */
	if (last > begin) {
		o->kept = last;
		offer_rule_names(o, kind);
	}
}

static void offer_formats(const struct offer *o)
{
	for (size_t i = 0; importers[i]; i++)
		offer_word(o, importers[i]->name, importers[i]->summary);
}

/* "a|b|c" */
static void offer_choices(const struct offer *o, struct slice choices)
{
	while (choices.n) {
		struct slice one = slice_cut(&choices, '|');
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)one.n, one.at);
		offer_word(o, word, NULL);
	}
}

static bool contains(struct slice s, const char *what)
{
	return memmem(s.at, s.n, what, strlen(what));
}

/* Whether the capitals in front of "OUT.csv", "JOB..." or "FILE" are that word. */
static bool is_called(struct slice value, const char *word)
{
	size_t n = strlen(word);

	return value.n >= n && !memcmp(value.at, word, n) &&
		(value.n == n || !isupper((unsigned char)value.at[n]));
}

/* Numbers of jobs that have not ended, if a daemon says them at once. */
static void offer_jobs(const struct offer *o)
{
	struct args args = { 0 };
	struct err err = { 0 };
	json_t *reply, *job;
	size_t i;

	/* Who presses Tab does not want to wait for a daemon that hangs. */
	alarm(2);
	if (live_get(&args, "/v1/jobs?limit=1000", &reply, &err))
		return;
	json_array_foreach(json_object_get(reply, "jobs"), i, job)
	{
		const char *name = json_string_value(json_object_get(job, "name"));
		const char *state = json_string_value(json_object_get(job, "state"));
		char word[24], about[128];

		snprintf(word, sizeof(word), "%lld",
			(long long)json_integer_value(json_object_get(job, "id")));
		snprintf(about, sizeof(about), "%s, %s", name ? name : "", state ? state : "");
		offer_word(o, word, about);
	}
	json_decref(reply);
}

/* By what help calls it. */
static void offer_called(struct offer *o, struct slice value)
{
	static const char *const files[] = { "FILE", "TRACE", "SPEC", "IN", "OUT", "SCRIPT",
		"COMMAND", "PATH" };

	if (contains(value, "|"))
		offer_choices(o, value);
	else if (is_called(value, "DIR"))
		buf_str(o->out, ":dirs\n");
	else if (is_called(value, "JOB"))
		offer_jobs(o);
	else if (is_called(value, "SIGNAL"))
		offer_choices(o, slice_of("TERM|INT|HUP|USR1|USR2|CONT|STOP|KILL"));
	else if (value.n && islower((unsigned char)value.at[0]))
		offer_choices(o, value); /* itself */
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (is_called(value, files[i]))
			buf_str(o->out, ":files\n");
}

static const char states[] = "pending|configuring|running|completing|completed|failed|cancelled|"
			     "timeout|deadline|preempted|rejected|node_fail|ended|all";

/* Flags that are told by their names; the others by what help calls their values. */
static void offer_value(struct offer *o, const struct flag *flag)
{
	if (!strcmp(flag->name, "policy"))
		offer_rule(o, &rules_policy);
	else if (!strcmp(flag->name, "placer"))
		offer_rule(o, &rules_placer);
	else if (!strcmp(flag->name, "admit"))
		offer_rule(o, &rules_admission);
	else if (!strcmp(flag->name, "format") && strstr(flag->help, "trace formats"))
		offer_formats(o);
	else if (!strcmp(flag->name, "log_level"))
		offer_choices(o, slice_of("error|warning|notice|info|debug"));
	else if (!strcmp(flag->name, "resample"))
		offer_choices(o, slice_of("yes|no|auto"));
	else if (flag->value && !strncmp(flag->value, "STATE", 5))
		offer_choices(o, slice_of(states));
	else if (flag->value)
		offer_called(o, slice_of(flag->value));
}

/* ---- operands */

static bool goes_on(struct slice word)
{
	return contains(word, "...") || contains(word, "…");
}

/* The k-th word of "IN [OUT.csv]" without its brackets; the last one if it goes on ("JOB..."). */
static struct slice operand_called(struct slice rest, size_t k)
{
	struct slice word = { "", 0 };

	for (size_t i = 0; i <= k; i++) {
		rest = slice_trim(rest);
		if (!rest.n)
			return goes_on(word) ? word : (struct slice){ "", 0 };
		word = slice_cut(&rest, ' ');
		while (word.n && *word.at == '[') {
			word.at++;
			word.n--;
		}
		while (word.n && word.at[word.n - 1] == ']')
			word.n--;
	}
	return word;
}

/* "[set TENANT | load FILE]": a word to begin with, and what follows upon the one that was typed. */
static void offer_alternatives(struct offer *o, const struct command *command,
	const char *const *operands, size_t k)
{
	struct slice rest = slice_of(command->operands);

	while (rest.n) {
		struct slice one = slice_cut(&rest, '|'), first = operand_called(one, 0);

		if (k == 0)
			offer_called(o, first);
		else if (slice_is(first, operands[0]))
			offer_called(o, operand_called(one, k));
	}
}

static void offer_operand(struct offer *o, const struct command *command,
	const char *const *operands, size_t k)
{
	static const struct {
		const char *command;
		const struct rule_kind *kind;
	} named[] = {
		{ "policies", &rules_policy },
		{ "placers", &rules_placer },
		{ "admissions", &rules_admission },
	};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (!strcmp(command->name, named[i].command)) {
			if (!k)
				offer_rule_names(o, named[i].kind);
			return;
		}
	if (!strcmp(command->name, "man"))
		offer_command_name(o, operands, k);
	else if (strstr(command->operands, "COMMAND"))
		buf_str(o->out, ":files\n"); /* and of its own words nothing is known */
	else if (strstr(command->operands, " | "))
		offer_alternatives(o, command, operands, k);
	else
		offer_called(o, operand_called(slice_of(command->operands), k));
}

/* ---- the line */

static const struct flag *flag_named(const struct command *command, struct slice word)
{
	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++)
		for (const struct flag *f = command->groups[g]->flags; f->name; f++) {
			struct buf text = { 0 };
			bool is;

			flag_word(f, &text);
			is = slice_is(word, text.at);
			buf_fini(&text);
			if (is)
				return f;
		}
	return NULL;
}

static const struct flag *flag_lettered(const struct command *command, char letter)
{
	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++)
		for (const struct flag *f = command->groups[g]->flags; f->name; f++)
			if (f->letter == letter)
				return f;
	return NULL;
}

static void offer_flags(const struct offer *o, const struct command *command)
{
	struct buf text = { 0 };

	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++)
		for (const struct flag *f = command->groups[g]->flags; f->name; f++) {
			buf_clear(&text);
			buf_str(&text, "--");
			flag_word(f, &text);
			offer_word(o, text.at, f->help);
		}
	offer_word(o, "--help", "what it does, with examples");
	buf_fini(&text);
}

/* The flag whose value comes next after `word`, or NULL. */
static const struct flag *awaits_value(const struct command *command, const char *word)
{
	const struct flag *flag = NULL;

	if (!strncmp(word, "--", 2) && !strchr(word, '='))
		flag = flag_named(command, slice_of(word + 2));
	else if (word[0] == '-' && word[1] && !word[2])
		flag = flag_lettered(command, word[1]);
	return flag && flag->value ? flag : NULL;
}

/* "--flag", "--flag=value" or an operand, as the words before it leave open. */
static void offer_next(struct offer *o, const struct command *command, struct words *operands,
	bool only_operands)
{
	const char *equals = strchr(o->typed, '=');
	const struct flag *flag;

	if (only_operands || o->typed[0] != '-') {
		offer_operand(o, command, operands->at, operands->n);
		if (!only_operands && !*o->typed && !command->max_operands)
			offer_flags(o, command);
	} else if (strncmp(o->typed, "--", 2) != 0 || !equals) {
		offer_flags(o, command);
	} else {
		flag = flag_named(command,
			(struct slice){ o->typed + 2, (size_t)(equals - o->typed) - 2 });
		o->kept = (size_t)(equals + 1 - o->typed);
		if (flag)
			offer_value(o, flag);
	}
}

/* Words after the verb; the last is being written. */
static void complete_command(struct offer *o, const struct command *command,
	const char *const *words, size_t n)
{
	struct words operands = { 0 };
	const struct flag *flag = NULL;
	bool only_operands = false;

	for (size_t i = 0; i + 1 < n; i++) {
		if (flag)
			flag = NULL;
		else if (!only_operands && !strcmp(words[i], "--"))
			only_operands = true;
		else if (only_operands || words[i][0] != '-') {
			only_operands |= !operands.n && command->takes_rest &&
				command->takes_rest(words[i]);
			vec_push(&operands, words[i]);
		} else
			flag = awaits_value(command, words[i]);
	}
	if (flag)
		offer_value(o, flag);
	else
		offer_next(o, command, &operands, only_operands);
	vec_fini(&operands);
}

void complete(const char *const *words, size_t n, struct buf *out)
{
	struct offer o = { .out = out, .typed = n ? words[n - 1] : "" };
	const struct command *command;
	size_t took;

	if (n < 2) {
		offer_verbs(&o);
		offer_word(&o, "help", "what a verb does");
		offer_word(&o, "--version", "name and version");
		return;
	}
	if (!strcmp(words[0], "help")) {
		offer_command_name(&o, words + 1, n - 2);
		return;
	}
	if (n == 2 && command_is_family(words[0])) {
		offer_family(&o, words[0]);
		return;
	}
	command = command_named(words, n - 1, &took);
	if (command)
		complete_command(&o, command, words + took, n - took);
}
