#include "cli/command.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MAX = 8 };

static const struct flag flags[] = {
	TEXT(cluster, "SPEC", "a text"),
	LIST(policy, "NAME", "a list"),
	NUMBER(seed, FLAG_INT, "N", 7, 0, 100, "a whole number"),
	NUMBER(error, FLAG_NUMBER, "E", NAN, 0, 1, "a number"),
	NUMBER(start_cost, FLAG_SECONDS, "S", 0, 0, 1e6, "a time"),
	SWITCH(json, "a switch"),
	{ 0 },
};

static const struct flag_group group = { .title = "all", .flags = flags };

static const struct command command = {
	.name = "try",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &group },
};

static int parse(const char *const *words, struct args *out, bool *help, struct err *err)
{
	char *argv[WORDS_MAX];
	int argc = 0;

	while (words[argc]) {
		argv[argc] = (char *)words[argc];
		argc++;
	}
	return args_parse(&command, argc, argv, out, help, err);
}

static void every_kind_of_flag_is_read(void **state)
{
	const char *words[] = { "f", "--cluster=a", "--policy", "x", "--policy=y", "--start-cost",
		"2m", NULL };
	struct args args;
	struct err err;
	bool help;

	(void)state;
	assert_int_equal(parse(words, &args, &help, &err), 0);
	assert_string_equal(args.operands.at[0], "f");
	assert_string_equal(args.cluster, "a");
	assert_int_equal(args.policy.n, 2);
	assert_string_equal(args.policy.at[1], "y");
	assert_true(args.start_cost == 120);
	assert_int_equal(args.seed, 7);
	assert_true(isnan(args.error));
	assert_false(args.json);
	args_fini(&args);
}

static void the_last_of_a_single_flag_counts(void **state)
{
	const char *words[] = { "--seed", "1", "--seed=2", "f", "--json", NULL };
	struct args args;
	struct err err;
	bool help;

	(void)state;
	assert_int_equal(parse(words, &args, &help, &err), 0);
	assert_int_equal(args.seed, 2);
	assert_true(args.json);
	args_fini(&args);
}

static void words_after_two_dashes_are_no_flags(void **state)
{
	const char *words[] = { "--", "--json", NULL };
	struct args args;
	struct err err;
	bool help;

	(void)state;
	assert_int_equal(parse(words, &args, &help, &err), 0);
	assert_string_equal(args.operands.at[0], "--json");
	assert_false(args.json);
	args_fini(&args);
}

static void a_dash_is_standard_input(void **state)
{
	const char *words[] = { "-", NULL };
	struct args args;
	struct err err;
	bool help;

	(void)state;
	assert_int_equal(parse(words, &args, &help, &err), 0);
	assert_string_equal(args.operands.at[0], "-");
	args_fini(&args);
}

static void help_is_given_whatever_else_is_wrong(void **state)
{
	const char *words[] = { "--seed", "x", "--help", NULL };
	struct args args;
	struct err err;
	bool help;

	(void)state;
	assert_int_equal(parse((const char *[]){ "--help", NULL }, &args, &help, &err), 0);
	assert_true(help);
	args_fini(&args);
	assert_int_equal(parse(words, &args, &help, &err), 0);
	assert_true(help);
	args_fini(&args);
}

static const struct {
	const char *what, *words[WORDS_MAX], *says;
} mistakes[] = {
	{ "a slip", { "f", "--polcy", "x" }, "did you mean --policy?" },
	{ "nothing like it", { "f", "--zzzzzz" }, "unknown flag --zzzzzz" },
	{ "no value at the end", { "f", "--cluster" }, "needs a value" },
	{ "a flag where a value should be", { "f", "--cluster", "--json" }, "needs a value" },
	{ "an empty value", { "f", "--cluster=" }, "is empty" },
	{ "a value for a switch", { "f", "--json=1" }, "takes no value" },
	{ "a word for a number", { "f", "--seed", "one" }, "whole number" },
	{ "a fraction for a whole number", { "f", "--seed", "1.5" }, "whole number" },
	{ "too large", { "f", "--seed", "101" }, "0 to 100" },
	{ "not a number", { "f", "--error", "nan" }, "a number" },
	{ "not a time", { "f", "--start-cost", "2 parsecs" }, "a time" },
	{ "a short flag", { "f", "-j" }, "long names" },
	{ "no operand", { "--json" }, "missing" },
	{ "an operand too many", { "f", "g" }, "'g'" },
};

static void mistakes_are_usage_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct args args;
		struct err err = { 0 };
		bool help;

		if (parse(mistakes[i].words, &args, &help, &err) != ERR_USAGE)
			fail_msg("%s: accepted", mistakes[i].what);
		if (!strstr(err.text, mistakes[i].says))
			fail_msg("%s: %s", mistakes[i].what, err.text);
	}
}

/* Help, parsing and completion rely on these. */
/* ---- letters, flags kept by name, and commands that take the rest */

static const struct flag job_flags[] = {
	{ .name = "cpus_per_task",
		.kind = FLAG_SAID,
		.letter = 'c',
		.value = "N",
		.offset = offsetof(struct args, said),
		.help = "kept" },
	{ .name = "hold",
		.kind = FLAG_SAID,
		.letter = 'H',
		.offset = offsetof(struct args, said),
		.help = "a switch that is kept" },
	FLAG_OF(follow, FLAG_SWITCH, .letter = 'f', .help = "a switch"),
	{ 0 },
};

static const struct flag_group job_group = { .title = "all", .flags = job_flags };

static bool is_script(const char *word)
{
	return !strstr(word, ".yaml");
}

static const struct command job_command = {
	.name = "try",
	.operands = "FILE",
	.max_operands = 10,
	.takes_rest = is_script,
	.groups = { &job_group },
};

static int parse_job(const char *const *words, struct args *out, bool *help, struct err *err)
{
	char *argv[WORDS_MAX];
	int argc = 0;

	while (words[argc]) {
		argv[argc] = (char *)words[argc];
		argc++;
	}
	return args_parse(&job_command, argc, argv, out, help, err);
}

static void letters_are_flags(void **state)
{
	const char *words[] = { "-c4", "-H", "-f", "-c", "5", "--cpus-per-task=6", NULL };
	struct args args;
	struct err err;
	bool help;

	(void)state;
	assert_int_equal(parse_job(words, &args, &help, &err), 0);
	assert_true(args.follow);
	assert_int_equal(args.said.n, 4);
	assert_string_equal(args.said.at[0].name, "cpus_per_task");
	assert_string_equal(args.said.at[0].value, "4");
	assert_string_equal(args.said.at[1].name, "hold");
	assert_string_equal(args.said.at[1].value, "");
	assert_string_equal(args.said.at[2].value, "5");
	assert_string_equal(args.said.at[3].value, "6");
	args_fini(&args);
}

static void letters_can_be_wrong(void **state)
{
	static const char *const rows[][3] = { { "-c", NULL }, { "-Hx", NULL }, { "-z", NULL },
		{ "--hold=1", NULL } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct args args;
		struct err err;
		bool help;

		assert_int_equal(parse_job(rows[i], &args, &help, &err), ERR_USAGE);
	}
}

static void what_follows_a_script_is_its_own(void **state)
{
	static const struct {
		const char *words[6];
		size_t operands, dashes;
		bool help, follow;
	} rows[] = {
		{ { "s.sh", "-f", "--help" }, 3, SIZE_MAX, false, false },
		{ { "-f", "s.sh", "--", "x" }, 3, SIZE_MAX, false, true },
		{ { "a.yaml", "-f" }, 1, SIZE_MAX, false, true },
		{ { "--", "true", "-f" }, 2, 0, false, false },
		{ { "a.yaml", "--", "-f" }, 2, 1, false, false },
		{ { "-f", "--help", "s.sh" }, 0, SIZE_MAX, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct args args;
		struct err err;
		bool help;

		assert_int_equal(parse_job(rows[i].words, &args, &help, &err), 0);
		assert_int_equal(args.operands.n, rows[i].operands);
		assert_true(args.dashes == rows[i].dashes);
		assert_int_equal(help, rows[i].help);
		assert_int_equal(args.follow, rows[i].follow);
		args_fini(&args);
	}
}

static void the_tables_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		bool json = false;

		assert_non_null(c->summary);
		assert_non_null(c->operands);
		assert_non_null(c->examples);
		assert_non_null(c->run);
		for (int g = 0; g < COMMAND_GROUPS_MAX && c->groups[g]; g++)
			for (const struct flag *f = c->groups[g]->flags; f->name; f++) {
				assert_non_null(f->help);
				assert_true(f->kind == FLAG_SWITCH || f->kind == FLAG_SAID || f->value);
				json |= !strcmp(f->name, "json");
			}
		/* What it writes is a format of its own. */
		if (!json && strcmp(c->name, "db export") != 0)
			fail_msg("%s has no --json", c->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_flag_is_read),
		cmocka_unit_test(the_last_of_a_single_flag_counts),
		cmocka_unit_test(words_after_two_dashes_are_no_flags),
		cmocka_unit_test(a_dash_is_standard_input),
		cmocka_unit_test(help_is_given_whatever_else_is_wrong),
		cmocka_unit_test(mistakes_are_usage_errors),
		cmocka_unit_test(letters_are_flags),
		cmocka_unit_test(letters_can_be_wrong),
		cmocka_unit_test(what_follows_a_script_is_its_own),
		cmocka_unit_test(the_tables_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
