/*
 * Scripts written for Slurm, and our own lines in them.
 */
#include "live/sbatch.h"

#include <signal.h>
#include <string.h>

#include "io/notes.h"
#include "support/property.h"

static int read_script(const char *text, struct submission *s, struct notes *notes, struct err *err)
{
	const struct submission_context context = { .now_s = 1763366400, .cwd = "/w", .notes = notes };

	submission_init(s);
	return sbatch_read(s, "job.sh", text, strlen(text), &context, err);
}

static bool noted(const struct notes *notes, const char *field, const char *text)
{
	for (size_t i = 0; i < notes->n; i++)
		if ((!field || (notes->at[i].field && !strcmp(notes->at[i].field, field))) &&
			strstr(notes->at[i].text, text))
			return true;
	return false;
}

static void a_usual_script(void **state)
{
	static const char text[] = "#!/bin/bash\n"
				   "#SBATCH --job-name=resnet\n"
				   "#SBATCH -N 1 -n1 -c 8\n"
				   "#SBATCH --gres=gpu:a100:2   # two of them\n"
				   "#SBATCH --mem=64G\n"
				   "#SBATCH -t 1-12:30:00\n"
				   "#SBATCH -o logs/%x-%j.out\n"
				   "#SBATCH -A vision\n"
				   "#SBATCH --partition=gpu --qos normal\n"
				   "#SBATCH --mail-type=ALL --mail-user=me@x.org\n"
				   "#SBATCH --signal=B:USR1@120\n"
				   "#SBATCH --comment=\"two words\"\n"
				   "#SBATCH --requeue\n"
				   "\n"
				   "# a remark\n"
				   "##SBATCH --array=0-9\n"
				   "echo hello\n";
	struct notes notes = { 0 };
	struct submission s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_script(text, &s, &notes, &err), 0);
	assert_string_equal(s.name, "resnet");
	assert_true(s.cpus == 8 && s.gpus == 2 && s.mem_bytes == 64LL << 30);
	assert_string_equal(s.types, "a100");
	assert_true(s.time_s == 86400 + 12 * 3600 + 1800);
	assert_string_equal(s.out, "logs/%x-%j.out");
	assert_string_equal(s.err_out, s.out);
	assert_string_equal(s.tenant, "vision");
	assert_string_equal(s.comment, "two words");
	assert_true(s.stop_signal == SIGUSR1 && s.grace_s == 120 && s.requeue && !s.array);
	assert_true(noted(&notes, "partition", "ignored") && noted(&notes, "qos", "ignored"));
	assert_true(noted(&notes, "mail-type", "ignored") && noted(&notes, "mail-user", "ignored"));
	assert_int_equal(notes.n, 4);
	submission_fini(&s);
	notes_fini(&notes);
}

/* One line each, and what it makes of one field. */
static void options_mean_what_they_do_to_slurm(void **state)
{
	static const struct {
		const char *line;
		size_t offset;
		double want;
	} rows[] = {
#define NUMBER(line, field, want) { line, offsetof(struct submission, field), want }
		NUMBER("-t 90", time_s, 5400),
		NUMBER("--time=90:30", time_s, 5430),
		NUMBER("-t 2:00:00", time_s, 7200),
		NUMBER("-t 2-12", time_s, 216000),
		NUMBER("-t 2-12:30", time_s, 217800),
		NUMBER("-tUNLIMITED", time_s, 0),
		NUMBER("-c4", cpus, 4),
		NUMBER("-c 4 -n 2", cpus, 8),
		NUMBER("-n 3", cpus, 3),
		NUMBER("--deadline=now+1hour", deadline_s, 1763366400 + 3600),
		NUMBER("-b now+60", begin_s, 1763366460),
#undef NUMBER
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200];
		struct submission s;
		struct err err = { 0 };
		double got;

		snprintf(text, sizeof(text), "#!/bin/sh\n#SBATCH %s\n", rows[i].line);
		if (read_script(text, &s, NULL, &err))
			fail_msg("%s: %s", rows[i].line, err.text);
		memcpy(&got, (char *)&s + rows[i].offset, sizeof(got));
		if (got != rows[i].want)
			fail_msg("%s: %g instead of %g", rows[i].line, got, rows[i].want);
		submission_fini(&s);
	}
}

static void memory_and_devices(void **state)
{
	static const struct {
		const char *line;
		int32_t gpus;
		int64_t mem;
		const char *types;
	} rows[] = {
		{ "--mem=4000", 0, 4000LL << 20, NULL },
		{ "--mem=4G", 0, 4LL << 30, NULL },
		{ "--mem=0", 0, 0, NULL },
		{ "--gpus=4 --mem-per-gpu=16G", 4, 64LL << 30, NULL },
		{ "--mem-per-cpu=1G -c 8", 0, 8LL << 30, NULL },
		{ "-G 2", 2, 0, NULL },
		{ "-G v100:2", 2, 0, "v100" },
		{ "-G v100", 1, 0, "v100" },
		{ "--gpus-per-node=a100:4", 4, 0, "a100" },
		{ "--gres=gpu", 1, 0, NULL },
		{ "--gres=gpu:3", 3, 0, NULL },
		{ "--gres=gpu:a100", 1, 0, "a100" },
		{ "--gres=gpu:a100:3,tmp:5", 3, 0, "a100" },
		{ "--gpus-per-task=2 -n 2", 4, 0, NULL },
		{ "--gres=none", 0, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200];
		struct submission s;
		struct err err = { 0 };

		snprintf(text, sizeof(text), "#!/bin/sh\n#SBATCH %s\n", rows[i].line);
		if (read_script(text, &s, NULL, &err))
			fail_msg("%s: %s", rows[i].line, err.text);
		if (s.gpus != rows[i].gpus || s.mem_bytes != rows[i].mem)
			fail_msg("%s: %d devices, %lld bytes", rows[i].line, s.gpus,
				(long long)s.mem_bytes);
		if (rows[i].types)
			assert_string_equal(s.types, rows[i].types);
		else
			assert_null(s.types);
		submission_fini(&s);
	}
}

static void others(void **state)
{
	static const char text[] = "#!/bin/sh\n"
				   "#SBATCH -H --no-requeue --nice -a 0-9%2\n"
				   "#SBATCH -d afterok:7 -D /data -e err.txt -o out.txt\n"
				   "#SBATCH --export=NONE --open-mode=append\n";
	struct submission s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_script(text, &s, NULL, &err), 0);
	assert_true(s.hold && !s.requeue && s.priority == -100 && s.narray == 10 && s.array_limit == 2);
	assert_int_equal(s.after[0].job, 7);
	assert_string_equal(s.cwd, "/data");
	assert_string_equal(s.out, "out.txt");
	assert_string_equal(s.err_out, "err.txt");
	assert_string_equal(s.export, "NONE");
	submission_fini(&s);
}

static void own_lines(void **state)
{
	static const char text[] = "#!/bin/sh\n"
				   "#SBATCH --gpus=2 --mem-per-gpu=1G\n"
				   "#STINT --min-gpus 1 --time=2h --hold\n"
				   "#STINT --checkpoint 'kill -USR1 1' -J 'my job'\n"
				   "#STINT --mem 8G\n";
	struct submission s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_script(text, &s, NULL, &err), 0);
	assert_true(s.gpus == 2 && s.min_gpus == 1 && s.time_s == 7200 && s.hold);
	assert_true(s.mem_bytes == 8LL << 30);
	assert_string_equal(s.checkpoint, "kill -USR1 1");
	assert_string_equal(s.name, "my job");
	submission_fini(&s);
}

static void without_lines_nothing_changes(void **state)
{
	struct notes notes = { 0 };
	struct submission s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_script("#!/bin/sh\necho\n", &s, &notes, &err), 0);
	assert_int_equal(s.gpus, -1);
	assert_int_equal(notes.n, 0);
	submission_fini(&s);
}

static void who_asks_slurm_for_no_devices_gets_none(void **state)
{
	struct notes notes = { 0 };
	struct submission s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_script("#!/bin/sh\n#SBATCH -t 5\n", &s, &notes, &err), 0);
	assert_int_equal(s.gpus, 0);
	assert_true(noted(&notes, "gpus", "gets none"));
	submission_fini(&s);
	notes_fini(&notes);
}

static void late_lines_do_not_count(void **state)
{
	struct notes notes = { 0 };
	struct submission s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_script("#!/bin/sh\ncd x\n#SBATCH -G 2\n", &s, &notes, &err), 0);
	assert_int_equal(s.gpus, -1);
	assert_true(noted(&notes, NULL, "after the first command"));
	assert_int_equal(notes.at[0].line, 3);
	submission_fini(&s);
	notes_fini(&notes);
}

static void mistakes_name_line_and_option(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "--gpu=2", "job.sh:2: there is no option --gpu; did you mean --gpus?" },
		{ "-Z", "job.sh:2: there is no option -Z" },
		{ "--time=soon", "job.sh:2: --time: 'soon' is not understood" },
		{ "--time", "job.sh:2: --time needs a value" },
		{ "-t", "job.sh:2: --time needs a value" },
		{ "--hold=1", "job.sh:2: --hold takes no value" },
		{ "--nodes=4", "job.sh:2: --nodes: '4': a job runs on one machine" },
		{ "--gres=gpu:a100:2,gpu:v100:1", "job.sh:2: --gres: " },
		{ "--mem=lots", "job.sh:2: --mem: 'lots'" },
		{ "--array=9-0", "job.sh:2: --array: '9-0' is no list" },
		{ "--dependency=singleton", "job.sh:2: --dependency: 'singleton'" },
		{ "--signal=NOPE@5", "job.sh:2: --signal: there is no signal" },
		{ "--comment='open", "job.sh:2: a quote is not closed" },
		{ "hello", "job.sh:2: 'hello' is no option" },
		{ "-n 0", "job.sh:2: --ntasks: '0'" },
		{ "-i in.txt", "job.sh:2: --input: is not supported" },
		{ "--gpus=99999999999", "job.sh:2: --gpus: " },
		{ "--gpus=2000000000 --mem-per-gpu=1T", "bytes of memory are too much" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200];
		struct submission s;
		struct err err = { 0 };
		int rc;

		snprintf(text, sizeof(text), "#!/bin/sh\n#SBATCH %s\n", rows[i].line);
		rc = read_script(text, &s, NULL, &err);
		if (rc != ERR_FORMAT || !strstr(err.text, rows[i].says))
			fail_msg("%s: %d '%s'", rows[i].line, rc, err.text);
		submission_fini(&s);
	}
}

static void mistakes_in_own_lines(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "--gpuz 2", "job.sh:2: gpuz: a job has no such field; did you mean gpus?" },
		{ "--gpus", "job.sh:2: --gpus needs a value" },
		{ "--gpus two", "job.sh:2: gpus: 'two'" },
		{ "hello", "job.sh:2: 'hello' is no flag" },
		{ "-", "job.sh:2: '-' is no flag" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200];
		struct submission s;
		struct err err = { 0 };
		int rc;

		snprintf(text, sizeof(text), "#!/bin/sh\n#STINT %s\n", rows[i].line);
		rc = read_script(text, &s, NULL, &err);
		if (rc != ERR_FORMAT || !strstr(err.text, rows[i].says))
			fail_msg("%s: %d '%s'", rows[i].line, rc, err.text);
		submission_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_usual_script),
		cmocka_unit_test(options_mean_what_they_do_to_slurm),
		cmocka_unit_test(memory_and_devices),
		cmocka_unit_test(others),
		cmocka_unit_test(own_lines),
		cmocka_unit_test(without_lines_nothing_changes),
		cmocka_unit_test(who_asks_slurm_for_no_devices_gets_none),
		cmocka_unit_test(late_lines_do_not_count),
		cmocka_unit_test(mistakes_name_line_and_option),
		cmocka_unit_test(mistakes_in_own_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
