#include <fcntl.h>

#include "cli/command.h"
#include "io/trace_io.h"
#include "store/record_fixture.h"
#include "support/property.h"

extern const struct command command_db_check, command_db_export;

/* An ended job as the daemon writes it. */
static void add_ended(struct record *r, uint32_t id, const char *state, const char *more)
{
	char *status = mem_printf(
		"{\"id\":%u,\"name\":\"n%u\",\"tenant\":\"ana\",\"state\":\"%s\",\"arrival_s\":%u%s}",
		id, id, state, 100 + id, more);
	struct record_event event = {
		.at_s = 200,
		.kind = "end",
		.job = id,
		.body = "{\n\"a\": 1}",
	};
	struct record_job job = a_job(id);

	job.state = state;
	job.live = false;
	job.end_s = 200;
	job.status = status;
	assert_int_equal(record_begin(r, NULL), 0);
	assert_int_equal(record_append(r, &event, &job, NULL, NULL), 0);
	assert_int_equal(record_commit(r, NULL), 0);
	free(status);
}

static struct record *filled(void)
{
	struct record *r;

	assert_int_equal(record_open(place, false, &r, NULL), 0);
	add_ended(r, 1, "COMPLETED",
		",\"gpus\":2,\"ran_s\":60,\"model\":\"bert\",\"types\":\"v100,a100\"");
	add_ended(r, 2, "CANCELLED", "");
	add_ended(r, 3, "FAILED",
		",\"gpus\":4,\"min_gpus\":2,\"max_gpus\":8,\"ran_s\":1.5,\"after\":[[0,1],[3,2]]");
	add_ended(r, 4, "NONSENSE", ",\"ran_s\":5");
	return r;
}

static int export_as(const char *format, const char *out, struct err *err)
{
	struct args args = { .state = folder, .format = format, .out = out, .quiet = true };

	return command_db_export.run(&args, err);
}

static void a_trace_has_what_ran(void **state)
{
	struct record *r = filled();
	char *out = path_join(folder, "trace.csv");
	struct import_options options = { 0 };
	struct trace trace = { 0 };
	struct notes notes = { 0 };
	struct err err = { 0 };

	(void)state;
	/* Commands that were over before the core counted a second of theirs. */
	add_ended(r, 5, "COMPLETED", ",\"gpus\":1,\"first_begun_s\":150,\"used_s\":5e-5");
	add_ended(r, 6, "COMPLETED", ",\"gpus\":1,\"first_begun_s\":150");
	assert_int_equal(export_as("trace", out, &err), 0); /* while it is being written */
	record_close(r);
	assert_int_equal(trace_read(out, &options, NULL, &trace, &notes, &err), 0);
	assert_int_equal(trace.njobs, 4);
	assert_string_equal(trace.jobs[0].label, "1");
	assert_string_equal(trace.jobs[0].name, "n1");
	assert_string_equal(trace.models.at[trace.jobs[0].model], "bert");
	assert_string_equal(trace.tenants.at[trace.jobs[1].tenant], "ana");
	assert_int_equal(trace.jobs[0].gpus, 2);
	assert_int_equal(trace.jobs[0].types, 3);
	assert_true(trace.work[0] == 60 && trace.work[1] == 1.5);
	assert_string_equal(trace.jobs[2].label, "5");
	assert_true(trace.work[2] == 5e-5 && trace.work[3] > 0);
	assert_true(trace.jobs[0].arrival_s == 101 && trace.jobs[1].arrival_s == 103);
	assert_int_equal(trace.jobs[1].min_gpus, 2);
	assert_int_equal(trace.jobs[1].max_gpus, 8);
	assert_int_equal(trace.jobs[1].ndeps, 1); /* job 2 never ran */
	assert_int_equal(trace.deps[trace.jobs[1].first_dep], 0);
	trace_fini(&trace);
	notes_fini(&notes);
	free(out);
}

/* ---- what a simulation needs */

static void add_attempt(struct record *r, uint32_t job, uint32_t number, const char *times)
{
	char *status = mem_printf("{\"job\":%u,\"attempt\":%u%s}", job, number, times);
	struct record_event event = {
		.at_s = 150,
		.kind = "over",
		.job = job,
		.attempt = number,
		.body = "{}",
	};
	struct record_attempt attempt = {
		.job = job,
		.attempt = number,
		.over = true,
		.status = status,
	};

	assert_int_equal(record_begin(r, NULL), 0);
	assert_int_equal(record_append(r, &event, NULL, &attempt, NULL), 0);
	assert_int_equal(record_commit(r, NULL), 0);
	free(status);
}

/* Its status in the end does not say what it waited for, nor what was believed of it. */
static void add_asked(struct record *r, uint32_t id, const char *more)
{
	char *body = mem_printf(
		"{\"job\":{\"id\":%u,\"name\":\"n\",\"state\":\"PENDING\",\"arrival_s\":%u%s}}", id,
		100 + id, more);

	assert_int_equal(record_begin(r, NULL), 0);
	assert_int_equal(submit(r, a_job(id), body, NULL), 0);
	assert_int_equal(record_commit(r, NULL), 0);
	free(body);
}

static void fill_for_sim(void)
{
	static const char epoch[] =
		"{\"policy\":\"las:round_s=2\",\"placer\":\"first-fit\",\"seed\":7,\"cluster\":"
		"\"nodes:\\n  - {name: here, type: v100, devices: 2}\\n  - {name: here, type: cpu, devices: 4}\\n\","
		"\"tenants\":[{\"name\":\"ana\",\"weight\":2,\"within\":\"fifo\"}]}";
	struct record *r;

	assert_int_equal(record_open(place, false, &r, NULL), 0);
	assert_int_equal(record_set_meta(r, "epoch", epoch, NULL), 0);
	add_asked(r, 1, ",\"work_est\":30");
	add_asked(r, 2, ",\"work_est\":90,\"after\":[[0,1]]");
	/* The first was thrown back once; the other never was. */
	add_attempt(r, 1, 1, ",\"ordered_s\":101,\"begun_s\":101.5");
	add_attempt(r, 1, 2, ",\"ordered_s\":110");
	add_attempt(r, 1, 3, ",\"ordered_s\":120,\"begun_s\":121");
	add_attempt(r, 1, 4, ",\"ordered_s\":130,\"begun_s\":133");
	add_attempt(r, 2, 1, ",\"ordered_s\":140,\"begun_s\":140.25");
	add_ended(r, 1, "COMPLETED",
		",\"ran_s\":60,\"done\":45,\"work_est\":50,\"end_s\":140,\"preemptions\":3");
	add_ended(r, 2, "COMPLETED",
		",\"cpu_only\":true,\"ran_s\":9,\"done\":9,\"work_est\":90,\"end_s\":150");
	/* On two devices it was not twice as fast as on one, which it asked for. */
	add_ended(r, 3, "COMPLETED",
		",\"min_gpus\":1,\"max_gpus\":2,\"ran_s\":50,\"served_s\":90,\"occupied_s\":95,"
		"\"restarts\":2,\"resizes\":2,\"by_steps\":true,\"done\":120,\"end_s\":160,"
		"\"first_batch\":64,\"speeds\":[{\"type\":\"v100\",\"nodes\":1,\"gpus\":2,\"batch\":64,"
		"\"step_s\":0.4},{\"type\":\"v100\",\"nodes\":1,\"gpus\":1,\"batch\":64,\"step_s\":0.5},"
		"{\"type\":\"k80\",\"nodes\":1,\"gpus\":1,\"batch\":64,\"step_s\":2}]");
	record_close(r);
}

static void look_at_trace(const char *dir)
{
	char *path = path_join(dir, "trace.csv");
	struct import_options options = { 0 };
	struct trace t = { 0 };
	struct notes notes = { 0 };

	assert_int_equal(trace_read(path, &options, NULL, &t, &notes, NULL), 0);
	assert_int_equal(t.njobs, 3);
	assert_true(t.work[0] == 45 && t.work[1] == 9 && t.work[2] == 60);
	assert_string_equal(t.models.at[t.jobs[2].model], "job-3");
	assert_true(t.jobs[0].work_est == 30 && t.jobs[1].work_est == 90);
	assert_true(t.jobs[0].start_cost_s == 0.5 && t.jobs[0].resume_cost_s == 2);
	assert_true(t.jobs[1].start_cost_s == 0.25 && t.jobs[1].resume_cost_s == 2);
	assert_int_equal(t.jobs[1].ndeps, 1);
	assert_string_equal(t.types.at[__builtin_ctz(t.jobs[0].types)], "v100");
	assert_string_equal(t.types.at[__builtin_ctz(t.jobs[1].types)], "cpu");
	trace_fini(&t);
	notes_fini(&notes);
	free(path);
}

static bool file_has(const char *dir, const char *name, const char *text)
{
	char *path = path_join(dir, name);
	struct file file;
	bool has;

	assert_int_equal(file_read(path, &file, NULL), 0);
	has = memmem(file.at, file.n, text, strlen(text)) != NULL;
	file_fini(&file);
	free(path);
	return has;
}

static void a_simulation_has_costs_and_beliefs(void **state)
{
	char *dir = path_join(folder, "again");
	struct err err = { 0 };

	(void)state;
	fill_for_sim();
	assert_int_equal(export_as("sim", NULL, &err), ERR_USAGE);
	assert_int_equal(export_as("sim", dir, &err), 0);
	look_at_trace(dir);
	assert_true(file_has(dir, "cluster.yaml", "v100"));
	assert_true(file_has(dir, "tenants.yaml", "weight: 2"));
	assert_true(file_has(dir, "real.csv", "\n1,n1,ana,,1,101,,140,39,"));
	assert_true(file_has(dir, "real.csv", ",2,95,\n")); /* restarts, GPU-seconds */
	assert_true(file_has(dir, "throughputs.csv", "job-3,v100,2,1,2.5\njob-3,v100,1,1,2\n"));
	assert_false(file_has(dir, "throughputs.csv", "k80"));
	free(dir);
}

static void nothing_that_ran_is_no_simulation(void **state)
{
	struct record *r;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(record_open(place, false, &r, NULL), 0);
	record_close(r);
	assert_int_equal(export_as("sim", folder, &err), ERR_MISSING);
}

static void events_are_lines_of_json(void **state)
{
	static const char first[] = "{\"seq\":1,\"at_s\":200,\"kind\":\"end\",\"job\":1,\"body\":{ \"a\": 1},"
				    "\"job_after\":{\"id\":1,";
	struct record *r = filled();
	char *out = path_join(folder, "events.jsonl");
	struct file file;
	struct slice line;
	struct lines it;

	(void)state;
	record_close(r);
	assert_int_equal(export_as("events", out, NULL), 0);
	assert_int_equal(file_read(out, &file, NULL), 0);
	it = lines_of(file.at, file.n);
	assert_true(lines_next(&it, &line));
	assert_memory_equal(line.at, first, strlen(first));
	while (lines_next(&it, &line))
		;
	assert_int_equal(it.number, 4);
	file_fini(&file);
	free(out);
}

static int check_said(const char *said, struct err *err)
{
	struct args args = { .state = said };

	return command_db_check.run(&args, err);
}

static void check_says_whether_it_is_sound(void **state)
{
	struct record *r = filled();
	struct err err = { 0 };
	char noise[4096];
	int fd;

	(void)state;
	memset(noise, 0x5a, sizeof(noise));
	assert_int_equal(check_said(folder, &err), 0);
	record_close(r);
	assert_int_equal(check_said(place, &err), 0); /* a file by itself */
	fd = open(place, O_WRONLY);                   /* a page of noise */
	assert_int_equal(pwrite(fd, noise, sizeof(noise), 2 * 4096), sizeof(noise));
	close(fd);
	assert_int_equal(check_said(folder, &err), ERR_DIFFER);
	assert_int_equal(truncate(place, 8192), 0);
	assert_int_equal(check_said(folder, &err), ERR_FORMAT);
	assert_int_equal(check_said("/nowhere", &err), ERR_MISSING);
	assert_non_null(strstr(err.text, "--state"));
	assert_int_equal(export_as("xml", NULL, &err), ERR_USAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_trace_has_what_ran),
		TEST(a_simulation_has_costs_and_beliefs),
		TEST(nothing_that_ran_is_no_simulation),
		TEST(events_are_lines_of_json),
		TEST(check_says_whether_it_is_sound),
	};

	return cmocka_run_group_tests_name("cli/db", tests, NULL, NULL);
}
