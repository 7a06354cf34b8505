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
	assert_int_equal(export_as("trace", out, &err), 0); /* while it is being written */
	record_close(r);
	assert_int_equal(trace_read(out, &options, NULL, &trace, &notes, &err), 0);
	assert_int_equal(trace.njobs, 2);
	assert_string_equal(trace.jobs[0].label, "1");
	assert_string_equal(trace.jobs[0].name, "n1");
	assert_string_equal(trace.models.at[trace.jobs[0].model], "bert");
	assert_string_equal(trace.tenants.at[trace.jobs[1].tenant], "ana");
	assert_int_equal(trace.jobs[0].gpus, 2);
	assert_int_equal(trace.jobs[0].types, 3);
	assert_true(trace.work[0] == 60 && trace.work[1] == 1.5);
	assert_true(trace.jobs[0].arrival_s == 0 && trace.jobs[1].arrival_s == 2);
	assert_int_equal(trace.jobs[1].min_gpus, 2);
	assert_int_equal(trace.jobs[1].max_gpus, 8);
	assert_int_equal(trace.jobs[1].ndeps, 1); /* job 2 never ran */
	assert_int_equal(trace.deps[trace.jobs[1].first_dep], 0);
	trace_fini(&trace);
	notes_fini(&notes);
	free(out);
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
		TEST(events_are_lines_of_json),
		TEST(check_says_whether_it_is_sound),
	};

	return cmocka_run_group_tests_name("cli/db", tests, NULL, NULL);
}
