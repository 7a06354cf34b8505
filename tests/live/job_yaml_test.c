/*
 * Job files.
 */
#include "live/job_yaml.h"

#include <string.h>

#include "support/property.h"

static int read_yaml(const char *text, struct submission *s, struct err *err)
{
	const struct submission_context context = { .now_s = 1e9, .cwd = "/w" };

	submission_init(s);
	return job_yaml_read(s, "job.yaml", text, strlen(text), &context, err);
}

static void a_whole_file(void **state)
{
	static const char text[] = "name: resnet\n"
				   "gpus: 2\n"
				   "min_gpus: 1\n"
				   "time: 2h\n"
				   "mem: 64G\n"
				   "requeue: false\n"
				   "array: 0-9%2\n"
				   "dependency: afterok:7\n"
				   "chdir: sub\n"
				   "env:\n"
				   "  SEED: 1\n"
				   "  EMPTY: \"\"\n"
				   "command: [python, train.py, --epochs, 90]\n";
	struct submission s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_yaml(text, &s, &err), 0);
	assert_string_equal(s.name, "resnet");
	assert_true(s.gpus == 2 && s.min_gpus == 1 && s.time_s == 7200 && !s.requeue && s.narray == 10);
	assert_string_equal(s.argv[0], "python");
	assert_string_equal(s.argv[3], "90");
	assert_null(s.argv[4]);
	assert_string_equal(s.env[0], "SEED=1");
	assert_string_equal(s.env[1], "EMPTY=");
	assert_null(s.env[2]);
	assert_string_equal(s.cwd, "/w/sub");
	assert_int_equal(submission_check(&s, &err), 0);
	submission_fini(&s);
}

static void a_command_for_the_shell(void **state)
{
	struct submission s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_yaml("command: /usr/bin/python train.py | tee log\n", &s, &err), 0);
	assert_string_equal(s.argv[0], "/bin/sh");
	assert_string_equal(s.argv[1], "-c");
	assert_string_equal(s.argv[2], "/usr/bin/python train.py | tee log");
	assert_null(s.argv[3]);
	assert_string_equal(s.name, "python");
	submission_fini(&s);
	assert_int_equal(read_yaml("name: n\ncommand: |\n  cd x\n  ./run\n", &s, &err), 0);
	assert_string_equal(s.argv[2], "cd x\n./run\n");
	assert_string_equal(s.name, "n");
	submission_fini(&s);
}

static void mistakes_name_line_and_field(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "is empty" },
		{ "gpus: 1\ngpuz: 2\n", "job.yaml:2: gpuz: no such field (did you mean \"gpus\"?)" },
		{ "gpus: two\n", "job.yaml:1: gpus: 'two' is not understood" },
		{ "name: x\ntime: 60\n", "job.yaml:2: time: '60' of what?" },
		{ "gpus: [1]\n", "job.yaml:1: gpus: a single value expected" },
		{ "gpus: 1\ngpus: 2\n", "job.yaml:2: gpus: given twice" },
		{ "command: {a: b}\n", "job.yaml:1: command: write a text for the shell" },
		{ "command: \"\"\n", "job.yaml:1: command: write a text for the shell" },
		{ "command: [a, [b]]\n", "job.yaml:1: command #2: write a text" },
		{ "env: x\n", "job.yaml:1: env: write NAME: value" },
		{ "env:\n  A: [1]\n", "job.yaml:2: env A: a variable has a single value" },
		{ "env:\n  \"A=B\": 1\n", "env: 'A=B' is no name" },
		{ "- a\n", "job.yaml:1: " },
		{ "a: [\n", "not valid YAML" },
		{ "gpus: &x 1\nmin_gpus: *x\n", "aliases" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct submission s;
		struct err err = { 0 };
		int rc = read_yaml(rows[i].text, &s, &err);

		if (rc != ERR_FORMAT || !strstr(err.text, rows[i].says))
			fail_msg("%s: %d '%s'", rows[i].text, rc, err.text);
		submission_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file),
		cmocka_unit_test(a_command_for_the_shell),
		cmocka_unit_test(mistakes_name_line_and_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
