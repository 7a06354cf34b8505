/*
 * Command-line words to struct args, by the tables of the command.
 */
#include <math.h>
#include <string.h>

#include "cli/command.h"

/* "start_cost" against "start-cost", of n letters. */
static bool spells(const char *field, const char *word, size_t n)
{
	if (strlen(field) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((field[i] == '_' ? '-' : field[i]) != word[i])
			return false;
	return true;
}

void flag_word(const struct flag *flag, struct buf *out)
{
	for (const char *c = flag->name; *c; c++)
		buf_char(out, *c == '_' ? '-' : *c);
}

static const struct flag *flag_find(const struct command *command, const char *word, size_t n)
{
	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++)
		for (const struct flag *f = command->groups[g]->flags; f->name; f++)
			if (spells(f->name, word, n))
				return f;
	return NULL;
}

static const struct flag *flag_by_letter(const struct command *command, char letter)
{
	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++)
		for (const struct flag *f = command->groups[g]->flags; f->name; f++)
			if (f->letter && f->letter == letter)
				return f;
	return NULL;
}

static bool is_switch(const struct flag *flag)
{
	return flag->kind == FLAG_SWITCH || (flag->kind == FLAG_SAID && !flag->value);
}

static int unknown_flag(const struct command *command, const char *word, size_t n, struct err *err)
{
	struct words words = { 0 };
	struct arena memory = { 0 };
	char *given = arena_strndup(&memory, word, n);
	int nearest;

	vec_push(&words, "help");
	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++)
		for (const struct flag *f = command->groups[g]->flags; f->name; f++) {
			struct buf text = { 0 };

			flag_word(f, &text);
			vec_push(&words, arena_strdup(&memory, text.at));
			buf_fini(&text);
		}
	nearest = text_nearest(given, words.at, words.n);
	if (nearest >= 0)
		err_set(err, ERR_USAGE, "unknown flag --%s; did you mean --%s?", given,
			words.at[nearest]);
	else
		err_set(err, ERR_USAGE, "unknown flag --%s", given);
	arena_fini(&memory);
	vec_fini(&words);
	return ERR_USAGE;
}

static void *field_of(struct args *args, const struct flag *flag)
{
	return (char *)args + flag->offset;
}

/* "90": seconds, where days may be meant. */
static bool lacks_unit(const struct flag *flag, const char *value)
{
	double number;

	return flag->unit && slice_double(slice_of(value), &number) && number != 0;
}

static int set_number(struct args *args, const struct flag *flag, const char *value, struct err *err)
{
	struct buf word = { 0 };
	double number = 0;
	int64_t whole = 0;
	bool good;
	int rc = 0;

	if (flag->kind == FLAG_INT)
		good = slice_int(slice_of(value), &whole);
	else if (flag->kind == FLAG_SECONDS)
		good = slice_seconds(slice_of(value), &number);
	else
		good = slice_double(slice_of(value), &number);
	if (flag->kind == FLAG_INT)
		number = (double)whole;

	flag_word(flag, &word);
	if (!good)
		rc = err_set(err, ERR_USAGE, "--%s wants %s, not '%s'", word.at,
			flag->kind == FLAG_INT               ? "a whole number"
				: flag->unit                 ? "a time such as 90d or 36h"
				: flag->kind == FLAG_SECONDS ? "a time such as 90, 15m or 1.5h"
							     : "a number",
			value);
	else if (lacks_unit(flag, value))
		rc = err_set(err, ERR_USAGE,
			"--%s %s has no unit: write %sd for days, %sh for hours or %ss for seconds",
			word.at, value, value, value, value);
	else if (!(number >= flag->min && number <= flag->max))
		rc = err_set(err, ERR_USAGE, "--%s is %s, but must be %g to %g", word.at, value,
			flag->min, flag->max);
	else if (flag->kind == FLAG_INT)
		*(int64_t *)field_of(args, flag) = whole;
	else
		*(double *)field_of(args, flag) = number;
	buf_fini(&word);
	return rc;
}

static int set_flag(struct args *args, const struct flag *flag, const char *value, struct err *err)
{
	switch (flag->kind) {
	case FLAG_SWITCH:
		*(bool *)field_of(args, flag) = true;
		return 0;
	case FLAG_TEXT:
		*(const char **)field_of(args, flag) = value;
		return 0;
	case FLAG_LIST:
		vec_push((struct words *)field_of(args, flag), value);
		return 0;
	case FLAG_INT:
	case FLAG_NUMBER:
	case FLAG_SECONDS:
		return set_number(args, flag, value, err);
	case FLAG_SAID:
		vec_push((struct said_list *)field_of(args, flag),
			(struct said){ flag->name, value ? value : "" });
		return 0;
	}
	return 0;
}

static void set_presets(const struct command *command, struct args *args)
{
	for (int g = 0; g < COMMAND_GROUPS_MAX && command->groups[g]; g++)
		for (const struct flag *f = command->groups[g]->flags; f->name; f++) {
			if (f->kind == FLAG_INT)
				*(int64_t *)field_of(args, f) = (int64_t)f->preset;
			else if (f->kind == FLAG_NUMBER || f->kind == FLAG_SECONDS)
				*(double *)field_of(args, f) = f->preset;
		}
}

/* The value of the flag that argv[*at] names as `word`, n letters long, if it does not have it already. */
static int take_value(struct args *args, const struct flag *flag, struct slice word,
	const char *value, int argc, char **argv, int *at, struct err *err)
{
	int n = (int)word.n;

	if (is_switch(flag) && value)
		return err_set(err, ERR_USAGE, "%.*s takes no value", n, word.at);
	if (!is_switch(flag) && !value) {
		/* "--policy --placer x" is a forgotten value, not a policy of that name. */
		if (*at + 1 >= argc || !strncmp(argv[*at + 1], "--", 2))
			return err_set(err, ERR_USAGE, "%.*s needs a value: %.*s %s", n, word.at, n,
				word.at, flag->value);
		value = argv[++*at];
	}
	if (value && !*value)
		return err_set(err, ERR_USAGE, "%.*s is empty; it wants %s", n, word.at, flag->value);
	return set_flag(args, flag, value, err);
}

/* One word that begins with "--", at argv[*at]; may take the next one too. */
static int parse_flag(struct args *args, int argc, char **argv, int *at, struct err *err)
{
	const char *word = argv[*at];
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : strlen(word);
	const struct flag *flag = flag_find(args->command, word + 2, n - 2);

	if (!flag)
		return unknown_flag(args->command, word + 2, n - 2, err);
	return take_value(args, flag, (struct slice){ word, n }, equals ? equals + 1 : NULL, argc,
		argv, at, err);
}

/* "-f", "-c 4", "-c4". */
static int parse_letter(struct args *args, int argc, char **argv, int *at, struct err *err)
{
	const char *word = argv[*at];
	const struct flag *flag = flag_by_letter(args->command, word[1]);

	if (!flag)
		return err_set(err, ERR_USAGE,
			"unknown flag %s; flags have long names, such as --json", word);
	return take_value(args, flag, (struct slice){ word, 2 }, word[2] ? word + 2 : NULL, argc,
		argv, at, err);
}

static int check_operands(const struct args *args, struct err *err)
{
	const struct command *command = args->command;
	size_t n = args->operands.n;

	if (n < (size_t)command->min_operands)
		return err_set(err, ERR_USAGE, "an argument is missing: stint %s %s%s",
			command->name, command->takes_rest ? "[FLAGS] " : "", command->operands);
	if (n > (size_t)command->max_operands)
		return err_set(err, ERR_USAGE, "too many words: '%s' was not expected",
			args->operands.at[command->max_operands]);
	return 0;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* Who asks for help gets it, whatever else is wrong with the line. */
static bool asks_for_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (is_help(argv[i]))
			return true;
	return false;
}

static int parse_words(struct args *args, int argc, char **argv, bool *help, struct err *err)
{
	const struct command *command = args->command;
	bool only_operands = false;
	int rc = 0;

	for (int i = 0; i < argc && !rc && !*help; i++) {
		const char *word = argv[i];

		if (only_operands || word[0] != '-' || !word[1]) {
			only_operands |= !args->operands.n && command->takes_rest &&
				command->takes_rest(word);
			vec_push(&args->operands, word);
		} else if (!strcmp(word, "--")) {
			only_operands = true;
			args->dashes = args->operands.n;
		} else if (is_help(word)) {
			*help = true;
		} else if (word[1] != '-') {
			rc = parse_letter(args, argc, argv, &i, err);
		} else {
			rc = parse_flag(args, argc, argv, &i, err);
		}
	}
	return rc;
}

int args_parse(const struct command *command, int argc, char **argv, struct args *out, bool *help,
	struct err *err)
{
	struct args args = { .command = command, .dashes = SIZE_MAX };
	int rc = 0;

	set_presets(command, &args);
	*help = !command->takes_rest && asks_for_help(argc, argv);
	rc = parse_words(&args, argc, argv, help, err);
	if (!rc && !*help)
		rc = check_operands(&args, err);
	if (rc) {
		args_fini(&args);
		return rc;
	}
	*out = args;
	return 0;
}

void args_fini(struct args *args)
{
	vec_fini(&args->operands);
	vec_fini(&args->policy);
	vec_fini(&args->placer);
	vec_fini(&args->add);
	vec_fini(&args->remove);
	vec_fini(&args->quota);
	vec_fini(&args->target);
	vec_fini(&args->price);
	vec_fini(&args->mode);
	vec_fini(&args->said);
}
