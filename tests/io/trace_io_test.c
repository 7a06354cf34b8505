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
	assert_int_equal(trace_read(path, NULL, NULL, &trace, NULL, &err), ERR_IO);
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
		cmocka_unit_test(a_file_is_read_and_a_missing_one_named),
		cmocka_unit_test(a_generator_is_asked),
		cmocka_unit_test(the_hash_is_of_the_text),
		cmocka_unit_test(lines_follow_their_jobs),
		cmocka_unit_test(many_jobs),
		cmocka_unit_test(rows_that_shrink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
