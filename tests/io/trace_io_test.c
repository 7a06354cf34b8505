#include "io/trace_io.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "io/import_case.h"

#define OWN "id,arrival_s,duration_s\n"

/* ---- what no format allows ---- */

static const struct {
	const char *what, *text;
	size_t n;
	const char *want;
} rows[] = {
	{ "nothing", "", 0, "t: empty; a trace has at least one job" },
	{ "blank lines", " \n\n", 3, "t: empty; a trace has at least one job" },
	{ "a byte order mark and nothing else", "\xef\xbb\xbf", 3,
		"t: empty; a trace has at least one job" },
	{ "a NUL byte", OWN "1,0,5\n2,\0,6\n", sizeof(OWN) - 1 + 13, "t:3: a NUL byte; a trace is text" },
	{ "UTF-16", "\xff\xfei\0d\0", 6, "t: this is UTF-16; save it as UTF-8" },
	{ "something else", "hello\nworld\n", 12,
		"t:1: not a known trace format (it begins 'hello'); name one with --format: stint, " },
	{ "something binary",
		"\x01\x02\x7f"
		"ELF",
		6,
		"t:1: not a known trace format (it begins '  \x7f"
		"ELF')" },
	{ "a lonely brace", "{", 1, "t:1: not a known trace format" },
	{ "misspelt columns", "arival_s,duraton\n0,5\n", 21,
		"did you mean the columns arrival_s, duration_s of Stint's own? Else name a format" },
	{ "columns of something else", "colour,shape,taste\nred,round,sour\n", 34,
		"(it begins 'colour,shape,taste'); name one with --format" },
	{ "numbers are no header", "arival_s,7\n0,5\n", 15, "name one with --format" },
	{ "one misspelt column", "id,arival_s,duration_s\n0,5\n", 27,
		"t:1: field 'arrival_s': not in the header; did you mean it by 'arival_s'?" },
	{ "another", "id,arrival_s,duraton\n0,5\n", 25,
		"t:1: field 'duration_s': not in the header; did you mean it by 'duraton'?" },
};

static void not_a_trace(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct trace trace = { 0 };
		struct err err = { 0 };
		int rc = trace_read_text("t", (struct slice){ rows[i].text, rows[i].n }, NULL,
			&trace, NULL, &err);

		assert_int_equal(rc, ERR_FORMAT);
		if (!strstr(err.text, rows[i].want))
			fail_msg("%s: got '%s', wanted '%s'", rows[i].what, err.text, rows[i].want);
		assert_null(trace.jobs);
	}
}

static void unknown_formats_have_a_nearest(void **state)
{
	const struct import_options options = { .format = "gavle" };
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(trace_read_text("t", slice_of("x"), &options, &trace, NULL, &err),
		ERR_MISSING);
	assert_non_null(strstr(err.text, "did you mean 'gavel'"));
	assert_ptr_equal(importer_find("swf", &err)->name, importer_find("swf", NULL)->name);
}

static void every_format_describes_itself(void **state)
{
	(void)state;
	for (size_t i = 0; importers[i]; i++) {
		assert_non_null(importers[i]->name);
		assert_non_null(importers[i]->summary);
		assert_non_null(importers[i]->origin);
		assert_true(importers[i]->recognise || importers[i]->header);
		assert_true(importers[i]->read || importers[i]->table);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(importers[i]->name, importers[k]->name);
		/* Nothing is recognised in nothing. */
		assert_int_equal(importer_sure(importers[i], (struct slice){ "", 0 }, "x"), 0);
	}
}

/* ---- what each format says it assumed and dropped ---- */

static const struct {
	const char *format, *text;
	const char *notes[5]; /* "level field: part of its text" or with "xN " before: N times */
} said[] = {
	{ "gavel", "ResNet-18 (batch size 64)\tcmd\tdir\t-n\t1\t100\t1\t1\t2.0\t0\n",
		{ "1 command: not used", "1 SLO: no deadline" } },
	{ "gavel7", "LM (batch size 10)\tcmd\t-n\t1\t100\t0\t1\n",
		{ "1 command: not used", "0 job type: weigh the same" } },
	{ "shockwave", "LM\tcmd\tdir\t-n\t1\t100\t1\tgns\t1\t-1\t50\t0\n",
		{ "1 command: not used", "0 duration: steps / duration", "1 mode: taken as fixed" } },
	{ "tiresias", "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n1,1,0,9,vgg,5,1\n",
		{ "1 iterations: iterations and interval are not used" } },
	{ "muri", "job_id,num_gpu,submit_time,iterations,duration,interval,resource_time_0\n1,1,0,9,5000,1,2\n",
		{ "0 duration: milliseconds", "1 iterations: not used", "1 resource_time_0: not used" } },
	{ "lucid",
		"job_id,vc,gpu_num,state,submit_time,duration,model,batchsize,gpu_util\n"
		"1,a,1,FAILED,2020-01-01 00:00:00,5,bert,4,90\n",
		{ "0 vc: virtual clusters", "1 gpu_util: not used", "0 state: ended as FAILED",
			"0 -: shifted" } },
	{ "synergy", "0,alexnet,.1,334,4\n", { "0 iterations: are steps" } },
	{ "sia", "name,time,application,num_replicas,batch_size,category\na,0,bert,1,8,rigid\n",
		{ "0 application: which --profiles names", "0 num_replicas: asked for",
			"0 category: may tune" } },
	{ "philly",
		"[{\"jobid\":\"a\",\"vc\":\"v\",\"status\":\"Killed\",\"submitted_time\":\"2017-10-09 07:00:00\","
		"\"attempts\":[{\"start_time\":\"2017-10-09 07:00:05\",\"end_time\":\"2017-10-09 07:01:00\","
		"\"detail\":[{\"ip\":\"m\",\"gpus\":[\"gpu0\"]}]}]}]",
		{ "0 attempts: together", "0 vc: virtual clusters",
			"1 attempts.detail.gpus: not used", "0 status: ended as Killed" } },
	{ "philly-csv", "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:00:00,5,1,5,v\n",
		{ "0 cluster: virtual clusters", "1 gpu_time: not used" } },
	{ "helios",
		"job_id,vc,gpu_num,state,submit_time,start_time,duration\n"
		"1,a,1,FAILED,2020-01-01 00:00:00,2020-01-01 00:00:00,5\n"
		"2,a,1,COMPLETED,2020-01-01 00:00:00,2020-01-01 00:00:00,5\n"
		"3,a,1,FAILED,2020-01-01 00:00:00,2020-01-01 00:00:00,5\n",
		{ "0 vc: virtual clusters", "1 start_time: not used", "x2 0 state: ended as FAILED" } },
	{ "pai", "job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration\n1,2,0,4,0.75,MISC,5\n",
		{ "0 num_inst: one gang", "0 num_gpu: whole one", "0 gpu_type: any" } },
	{ "openb",
		"name,num_gpu,gpu_milli,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
		"a,1,500,BE,Failed,0,9,1\n",
		{ "0 qos: opportunistic", "0 scheduled_time: to its deletion",
			"0 gpu_milli: whole one", "0 pod_phase: ended as Failed" } },
	{ "swf", "1 0 5 60 4 -1 -1 4 100 -1 5 3 1 1 1 1 7 2\n",
		{ "0 allocated processors: one GPU", "1 wait time: not used",
			"0 status: ended as cancelled", "1 preceding job: not used" } },
	{ "sacct",
		"JobID|State|Submit|ElapsedRaw|Timelimit|AllocTRES|Account|Cluster|NodeList\n"
		"1|CANCELLED by 7|2024-01-01T00:00:00|60|1:00:00|gres/gpu=1|a|c|n\n"
		"2|TIMEOUT|2024-01-01T00:00:00|60|1:00:00|gres/gpu=1|a|c|n\n"
		"3|CANCELLED by 9|2024-01-01T00:00:00|60|1:00:00|gres/gpu=1|a|c|n\n"
		"4|FAILED|2024-01-01T00:00:00|0|1:00:00|gres/gpu=1|a|c|n\n",
		{ "x2 0 State: ended as CANCELLED", "0 State: ended as TIMEOUT", "1 -: not used",
			"0 Timelimit: time limit", "1 ElapsedRaw: never ran" } },
	{ "jobcomp",
		"JobId=1 UserId=a(1) Name=n JobState=FAILED Partition=p TimeLimit=5 StartTime=2024-01-01T00:00:00 "
		"EndTime=2024-01-01T00:00:09 NodeList=n1 NodeCnt=1 ProcCnt=1 Tres=gres/gpu=1 Account= "
		"SubmitTime=2024-01-01T00:00:00\n",
		{ "0 JobState: ended as FAILED", "0 TimeLimit: time limit", "0 Account: users" } },
};

/* "level field", the first of a kind. */
static const struct note *note_like(const struct notes *notes, const char *want, size_t *count)
{
	char place[128];

	*count = 1;
	if (*want == 'x')
		*count = strtoul(want + 1, (char **)&want, 10), want++;
	for (size_t i = 0; i < notes->n; i++) {
		const struct note *note = &notes->at[i];
		size_t n = (size_t)snprintf(place, sizeof(place), "%d %s: ", note->level,
			note->field ? note->field : "-");

		if (strncmp(want, place, n) == 0 && strstr(note->text, want + n))
			return note;
	}
	return NULL;
}

static void formats_say_what_they_assumed_and_dropped(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(said); i++) {
		struct notes notes = { 0 };
		struct trace trace = { 0 };
		struct err err = { 0 };

		if (read_text(said[i].text, NULL, false, &trace, &notes, &err))
			fail_msg("%s: %s", said[i].format, err.text);
		assert_string_equal(trace.format, said[i].format);
		for (size_t k = 0; k < COUNT(said[i].notes) && said[i].notes[k]; k++) {
			size_t count;
			const struct note *note = note_like(&notes, said[i].notes[k], &count);

			if (!note || note->count != count) {
				show_notes(&notes);
				fail_msg("%s: nothing says '%s'", said[i].format, said[i].notes[k]);
			}
		}
		trace_fini(&trace);
		notes_fini(&notes);
	}
	/* Every format but our own, which drops nothing, is among them. */
	for (size_t i = 0; importers[i]; i++) {
		bool there = !strcmp(importers[i]->name, "stint");

		for (size_t k = 0; k < COUNT(said); k++)
			there |= !strcmp(importers[i]->name, said[k].format);
		if (!there)
			fail_msg("%s says nothing", importers[i]->name);
	}
}

/* ---- when nothing is left ---- */

static void only_many_bad_rows_put_the_format_in_doubt(void **state)
{
	struct buf text = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_str(&text, OWN);
	for (int i = 0; i < 12; i++) {
		buf_printf(&text, "%d,0,-5\n", i);
		assert_int_equal(read_text(text.at, NULL, true, &trace, NULL, &err), ERR_FORMAT);
		assert_non_null(strstr(err.text, "(line 2: duration_s: is negative)"));
		assert_int_equal(strstr(err.text, "is it really stint?") != NULL, i >= 9);
	}
	buf_fini(&text);
}

/* ---- files ---- */

static void a_file_is_read_and_a_missing_one_named(void **state)
{
	char path[] = "/tmp/stint-trace-XXXXXX";
	struct trace trace = { 0 };
	struct err err = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, OWN "7,2,5\n", sizeof(OWN "7,2,5\n") - 1, &err), 0);
	assert_int_equal(trace_read(path, NULL, NULL, &trace, NULL, &err), 0);
	assert_int_equal(trace.njobs, 1);
	assert_string_equal(trace.source, path);
	assert_string_equal(trace.format, "stint");
	assert_string_equal(trace.jobs[0].label, "7");
	trace_fini(&trace);
	unlink(path);
	assert_int_equal(trace_read(path, NULL, NULL, &trace, NULL, &err), ERR_MISSING);
	assert_non_null(strstr(err.text, path));
}

static void a_generator_is_asked(void **state)
{
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(trace_read("synth:jobs=20", NULL, NULL, &trace, NULL, &err), 0);
	assert_int_equal(trace.njobs, 20);
	assert_round_trip(&trace);
	trace_fini(&trace);
	assert_int_equal(trace_read("synth:jbos=20", NULL, NULL, &trace, NULL, &err), ERR_USAGE);
}

/* ---- what is remembered ---- */

static uint64_t hash_of(const char *text)
{
	struct trace trace = { 0 };
	struct err err = { 0 };
	uint64_t hash;

	assert_int_equal(read_text(text, NULL, false, &trace, NULL, &err), 0);
	hash = trace.hash;
	trace_fini(&trace);
	return hash;
}

static void the_hash_is_of_the_text(void **state)
{
	(void)state;
	assert_true(hash_of(OWN "1,0,5\n2,0,5\n3,0,5\n") == hash_of(OWN "1,0,5\n2,0,5\n3,0,5\n"));
	assert_true(hash_of(OWN "1,0,5\n2,0,5\n3,0,5\n") != hash_of(OWN "1,0,5\n2,0,5\n3,0,6\n"));
	assert_true(hash_of(OWN "1,0,5\n2,0,5\n3,0,5\n") != hash_of(OWN "1,0,5\n3,0,5\n2,0,5\n"));
	assert_true(hash_of(OWN "1,0,5\n") != hash_of(OWN "1,0,5"));
}

static void lines_follow_their_jobs(void **state)
{
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(
		read_text(OWN "a,9,5\n\nb,3,5\nc,6,-5\nd,3,5\n", NULL, true, &trace, &notes, &err), 0);
	assert_int_equal(notes.nlines, 3);
	assert_int_equal(notes_line(&notes, 0), 4); /* b */
	assert_int_equal(notes_line(&notes, 1), 6); /* d */
	assert_int_equal(notes_line(&notes, 2), 2); /* a */
	assert_int_equal(notes_line(&notes, 3), 0);
	trace_fini(&trace);
	notes_fini(&notes);
}

/* Enough of them for the reader to make room ahead. */
static void many_jobs(void **state)
{
	struct buf text = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };
	uint32_t n = 50000;

	(void)state;
	buf_str(&text, "id,arrival_s,duration_s,measured_on\n");
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&text, "%u,%u,%u,%s\n", i, i / 2, i + 1, i % 2 ? "v100" : "");
	assert_int_equal(read_text(text.at, NULL, false, &trace, NULL, &err), 0);
	assert_int_equal(trace.njobs, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(trace.jobs[i].id, i);
		assert_true(trace.work[i] == i + 1);
		assert_int_equal(trace.measured_on[i], i % 2);
	}
	assert_round_trip(&trace);
	trace_fini(&trace);
	buf_fini(&text);
}

/* Rows that shrink make the estimate of their number wrong; those left out count in the numbering. */
static void rows_that_shrink(void **state)
{
	struct buf text = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };
	uint32_t n = 60000;

	(void)state;
	buf_str(&text, "name,arrival_s,duration_s\n");
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&text, "%s,%u,%d\n",
			i < 9000 ? "a long name of a job but only at first" : "b", i,
			i < 500 ? -1 : 7);
	assert_int_equal(read_text(text.at, NULL, true, &trace, NULL, &err), 0);
	assert_int_equal(trace.njobs, n - 500);
	assert_string_equal(trace.jobs[0].label, "500");
	trace_fini(&trace);
	buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_a_trace),
		cmocka_unit_test(unknown_formats_have_a_nearest),
		cmocka_unit_test(every_format_describes_itself),
		cmocka_unit_test(formats_say_what_they_assumed_and_dropped),
		cmocka_unit_test(only_many_bad_rows_put_the_format_in_doubt),
		cmocka_unit_test(a_file_is_read_and_a_missing_one_named),
		cmocka_unit_test(a_generator_is_asked),
		cmocka_unit_test(the_hash_is_of_the_text),
		cmocka_unit_test(lines_follow_their_jobs),
		cmocka_unit_test(many_jobs),
		cmocka_unit_test(rows_that_shrink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
