/*
 * What people may ask for: presets, checks, the JSON form, and output files.
 */
#include "live/submission.h"

#include <signal.h>
#include <string.h>

#include "support/property.h"

static const char *const python[] = { "/usr/bin/python", "train.py", NULL };

/* One that is fine as it is. */
static void good(struct submission *s)
{
	submission_init(s);
	s->argv = python;
	s->cwd = "/tmp";
}

static void little_needs_to_be_said(void **state)
{
	struct submission s;
	struct err err = { 0 };

	(void)state;
	good(&s);
	assert_int_equal(submission_check(&s, &err), 0);
	assert_string_equal(s.name, "python");
	assert_int_equal(s.gpus, 1);
	assert_int_equal(s.min_gpus, 1);
	assert_int_equal(s.max_gpus, 1);
	assert_int_equal(s.stop_signal, SIGTERM);
	assert_true(s.requeue && s.grace_s == 30 && s.weight == 1 && s.share == 1);
	submission_fini(&s);
}

static void elastic_jobs_settle_their_size(void **state)
{
	static const struct {
		int32_t gpus, min, max, want[3];
	} rows[] = {
		{ -1, -1, -1, { 1, 1, 1 } },
		{ 4, -1, -1, { 4, 4, 4 } },
		{ -1, 2, 8, { 2, 2, 8 } },
		{ -1, -1, 8, { 1, 1, 8 } },
		{ 4, 1, -1, { 4, 1, 4 } },
		{ 0, -1, -1, { 0, 0, 0 } },
		{ -1, -1, 0, { 0, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct submission s;
		struct err err = { 0 };

		good(&s);
		s.gpus = rows[i].gpus;
		s.min_gpus = rows[i].min;
		s.max_gpus = rows[i].max;
		assert_int_equal(submission_check(&s, &err), 0);
		assert_int_equal(s.gpus, rows[i].want[0]);
		assert_int_equal(s.min_gpus, rows[i].want[1]);
		assert_int_equal(s.max_gpus, rows[i].want[2]);
		submission_fini(&s);
	}
}

/* ---- what makes no sense, as JSON over a good one */

static int check_text(const char *text, struct err *err)
{
	json_t *json = json_loads(text, 0, NULL), *whole;
	struct submission s;
	int rc;

	assert_non_null(json);
	whole = json_pack("{s:[s], s:s}", "command", "true", "cwd", "/");
	json_object_update(whole, json);
	rc = submission_from_json(&s, whole, err);
	json_decref(json);
	json_decref(whole);
	if (rc)
		return rc;
	rc = submission_check(&s, err);
	submission_fini(&s);
	return rc;
}

static void senseless_ones_name_the_member(void **state)
{
	static const struct {
		const char *json, *says;
	} rows[] = {
		{ "{\"command\": []}", "command: is missing" },
		{ "{\"command\": [\"\"]}", "command: is missing" },
		{ "{\"command\": \"python\"}", "command: must be a list" },
		{ "{\"command\": [7]}", "command: must be a list" },
		{ "{\"cwd\": \"here\"}", "cwd: say the directory" },
		{ "{\"cwd\": null}", "" },
		{ "{\"gpus\": -1}", "gpus: -1 is out of range" },
		{ "{\"gpus\": 1.5}", "gpus: must be a whole number" },
		{ "{\"gpus\": 1000000}", "gpus: 1e+06 is not from 0 to 100000" },
		{ "{\"gpus\": 99999999999}", "gpus: 99999999999 is out of range" },
		{ "{\"gpus\": 2, \"min_gpus\": 3}", "min_gpus: 3 is more than gpus" },
		{ "{\"gpus\": 2, \"max_gpus\": 1}", "max_gpus: 1 is less than gpus" },
		{ "{\"gpus\": 2, \"min_gpus\": 0}", "min_gpus: a job that uses devices" },
		{ "{\"gpus\": 0, \"max_gpus\": 2}", "max_gpus: is 2, but gpus is 0" },
		{ "{\"share\": 0}", "share: 0 is no part" },
		{ "{\"share\": 1.5}", "share: 1.5 is no part" },
		{ "{\"types\": \"a100,,v100\"}", "types: 'a100,,v100' is no list" },
		{ "{\"types\": \"a b\"}", "types: " },
		{ "{\"weight\": 0}", "weight: 0 is not from" },
		{ "{\"time_s\": -5}", "time_s: -5 is not from" },
		{ "{\"time_s\": \"2h\"}", "time_s: must be a number" },
		{ "{\"grace_s\": 1e6}", "grace_s: 1e+06 is not from" },
		{ "{\"retries\": -1}", "retries: -1 is not from" },
		{ "{\"deadline\": 100, \"begin\": 200}", "deadline: is before begin" },
		{ "{\"signal\": \"NOPE\"}", "signal: must be the name of a signal" },
		{ "{\"signal\": \"STOP\"}", "signal: STOP does not ask" },
		{ "{\"name\": \"\"}", "name: is empty" },
		{ "{\"name\": \"a\\nb\"}", "name: byte 2 is a control character" },
		{ "{\"comment\": \"a\\u001b[2J\"}", "comment: byte 2 is a control character" },
		{ "{\"comment\": \"ok\\u202egpj\"}",
			"comment: byte 3 is a control character or an invisible one (U+202E)" },
		{ "{\"key\": \"a\\u009b\"}", "key: byte 2 is a control character" },
		{ "{\"tenant\": \"ro\\u200bot\"}", "tenant: byte 3 is a control character" },
		{ "{\"model\": \"a\\tb\"}", "model: byte 2 is a control character" },
		{ "{\"name\": \"a\\u0000b\"}", "" },
		{ "{\"key\": \"\"}", "key: is empty" },
		{ "{\"output\": \"\"}", "output: is empty" },
		{ "{\"output\": \"a-%q\"}", "output: 'a-%q': %q stands for nothing" },
		{ "{\"error\": \"100%\"}", "error: '100%'" },
		{ "{\"script\": \"echo\"}", "script: begin it with" },
		{ "{\"env\": [\"A=b\"]}", "env: must be an object" },
		{ "{\"env\": {\"A\": 1}}", "env: A must be a text" },
		{ "{\"env\": {\"A=B\": \"c\"}}", "env: 'A=B' is no name" },
		{ "{\"after\": [7]}", "after: must be a list" },
		{ "{\"after\": [{\"kind\": \"afterwards\", \"job\": 7}]}", "after: there is no kind" },
		{ "{\"after\": [{\"kind\": \"afterok\", \"job\": 0}]}", "after: must be a list" },
		{ "{\"array\": \"9-0\"}", "array: '9-0' is no list of indices" },
		{ "{\"schema\": \"submission/2\"}", "schema: must be" },
		{ "{\"min_gpu\": 1}", "did you mean min_gpus?" },
		{ "{\"hold\": 1}", "hold: must be true or false" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		json_t *json = json_loads(rows[i].json, 0, NULL);

		if (!json) { /* jansson itself refuses it */
			assert_string_equal(rows[i].says, "");
			continue;
		}
		json_decref(json);
		if (check_text(rows[i].json, &err) != ERR_USAGE || !strstr(err.text, rows[i].says))
			fail_msg("%s: '%s' instead of '%s'", rows[i].json, err.text, rows[i].says);
	}
}

static void what_cannot_travel_is_refused(void **state)
{
	static const char *const latin1[] = { "echo", "caf\xe9", NULL };
	struct submission s;
	struct err err = { 0 };

	(void)state;
	good(&s);
	s.argv = latin1;
	assert_int_equal(submission_check(&s, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "command: is not UTF-8"));
	submission_fini(&s);
}

/* ---- JSON both ways */

static const char whole[] =
	"{\"schema\": \"submission/1\", \"name\": \"n\", \"cwd\": \"/w\", \"output\": \"o-%j\", \"error\": "
	"\"e\", \"tenant\": \"t\", \"model\": \"m\", \"key\": \"k\", \"comment\": \"c\", \"gpus\": 2, "
	"\"min_gpus\": 1, \"max_gpus\": 4, \"types\": \"a,b\", \"share\": 0.5, \"gpu_mem_bytes\": "
	"17179869184, \"cpus\": 4.0, \"mem_bytes\": 1024, \"time_s\": 60.5, \"estimate_s\": 50.0, "
	"\"deadline\": 2000000000.25, \"begin\": 1900000000.0, \"hold\": true, \"weight\": 2.0, "
	"\"priority\": -3, \"opportunistic\": true, \"grace_s\": 5.0, \"checkpoint\": \"save\", "
	"\"requeue\": false, \"retries\": 2, \"command\": [\"a\", \"\", \"b c\"], \"env\": {\"A\": \"\", "
	"\"B\": \"x=y\"}, \"signal\": \"USR1\", \"array\": \"0-8:2,20%3\", \"after\": [{\"kind\": "
	"\"afterok\", \"job\": 7}, {\"kind\": \"after\", \"job\": 9}]}";

static void json_comes_back_as_it_went(void **state)
{
	json_t *before = json_loads(whole, 0, NULL), *after;
	struct submission s;
	struct err err = { 0 };

	(void)state;
	assert_non_null(before);
	assert_int_equal(submission_from_json(&s, before, &err), 0);
	assert_int_equal(submission_check(&s, &err), 0);
	assert_string_equal(s.env[1], "B=x=y");
	assert_int_equal(s.narray, 6);
	assert_int_equal(s.array_limit, 3);
	assert_int_equal(s.after[1].kind, AFTER_START);
	assert_int_equal(s.stop_signal, SIGUSR1);
	after = submission_to_json(&s);
	assert_true(json_equal(before, after));
	submission_fini(&s);
	json_decref(before);
	json_decref(after);
}

static void what_is_preset_is_not_written(void **state)
{
	struct submission s;
	json_t *json;

	(void)state;
	submission_init(&s);
	json = submission_to_json(&s);
	assert_int_equal(json_object_size(json), 1);
	json_decref(json);
	submission_fini(&s);
}

static void null_is_as_good_as_nothing(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(check_text("{\"name\": null, \"array\": null, \"gpus\": null}", &err), 0);
}

/* ---- output files */

static void signs_in_output_names(void **state)
{
	static const struct {
		const char *pattern, *want;
	} rows[] = {
		{ "out.txt", "/w/out.txt" },
		{ "/abs/%j.out", "/abs/9.out" },
		{ "%x-%A_%a", "/w/net_1-7_3" },
		{ "%4j-%3a", "/w/0009-003" },
		{ "%u@%N.%%", "/w/me@box.%" },
		{ "slurm-%J.%t", "/w/slurm-9.0" },
		{ "cut%", "/w/cut" },
	};
	const struct output_words words = { 9, 7, 3, "net/1", "me", "box" };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out = { 0 };

		submission_output(rows[i].pattern, "/w", &words, &out);
		assert_string_equal(out.at, rows[i].want);
		buf_fini(&out);
	}
}

static void signs_outside_of_arrays(void **state)
{
	const struct output_words words = { .id = 5, .index = -1 };
	struct buf out = { 0 };

	(void)state;
	submission_output("%A-%a%x", "/", &words, &out);
	assert_string_equal(out.at, "/5-0");
	buf_fini(&out);
}

static void elements_have_a_file_each_by_their_signs(void **state)
{
	(void)state;
	assert_true(submission_output_is_own("log.%a"));
	assert_true(submission_output_is_own("%A_%04a.txt"));
	assert_true(submission_output_is_own("%j"));
	assert_false(submission_output_is_own("log"));
	assert_false(submission_output_is_own("%A.%x"));
	assert_false(submission_output_is_own("100%%a"));
	assert_false(submission_output_is_own("log%"));
	assert_false(submission_output_is_own("log%4"));
}

/* ---- the environment */

static bool has(const struct submission *s, const char *pair)
{
	for (const char *const *e = s->env; *e; e++)
		if (!strcmp(*e, pair))
			return true;
	return false;
}

static void the_environment_goes_along_as_told(void **state)
{
	static const char *const environment[] = { "PATH=/bin", "HOME=/h", "A=1", "B=2",
		"STINT_SOCKET=x", "RANK=0", NULL };
	static const char *const own[] = { "B=own", NULL };
	static const struct {
		const char *export;
		const char *has, *lacks;
	} rows[] = {
		{ NULL, "A=1", "STINT_SOCKET=x" },
		{ NULL, "B=own", "B=2" },
		{ NULL, "RANK=0", "nothing" },
		{ "ALL", "A=1", "B=2" },
		{ "NONE", "PATH=/bin", "A=1" },
		{ "NONE", "B=own", "RANK=0" },
		{ "A", "A=1", "RANK=0" },
		{ "A=9,RANK", "A=9", "A=1" },
		{ "ALL,A=9", "A=9", "A=1" },
		{ "B=flag", "B=flag", "B=own" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct submission s;

		good(&s);
		s.export = rows[i].export;
		s.env = own;
		submission_export(&s, environment, NULL);
		if (!has(&s, rows[i].has) || has(&s, rows[i].lacks))
			fail_msg("--export %s: has no %s, or has %s",
				rows[i].export ? rows[i].export : "as it is", rows[i].has,
				rows[i].lacks);
		submission_fini(&s);
	}
}

static void a_job_does_not_pass_on_what_it_was_told(void **state)
{
	static const char *const environment[] = { "STINT=1", "RANK=0", "A=caf\xe9", "C=3",
		"broken", NULL };
	struct submission s;

	(void)state;
	good(&s);
	submission_export(&s, environment, NULL);
	assert_true(has(&s, "C=3"));
	assert_false(has(&s, "RANK=0"));
	assert_false(has(&s, "STINT=1"));
	assert_false(has(&s, "A=caf\xe9"));
	assert_null(s.env[1]);
	submission_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_needs_to_be_said),
		cmocka_unit_test(elastic_jobs_settle_their_size),
		cmocka_unit_test(senseless_ones_name_the_member),
		cmocka_unit_test(what_cannot_travel_is_refused),
		cmocka_unit_test(json_comes_back_as_it_went),
		cmocka_unit_test(what_is_preset_is_not_written),
		cmocka_unit_test(null_is_as_good_as_nothing),
		cmocka_unit_test(signs_in_output_names),
		cmocka_unit_test(signs_outside_of_arrays),
		cmocka_unit_test(elements_have_a_file_each_by_their_signs),
		cmocka_unit_test(the_environment_goes_along_as_told),
		cmocka_unit_test(a_job_does_not_pass_on_what_it_was_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
