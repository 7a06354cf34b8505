#include <math.h>

#include "io/cluster_io.h"
#include "io/import_case.h"

/* What is found in a trace, as "level line field text" of the first note with `part`, or NULL. */
static const struct note *find_note(const struct notes *notes, const char *part)
{
	for (size_t i = 0; i < notes->n; i++)
		if (strstr(notes->at[i].text, part))
			return &notes->at[i];
	return NULL;
}

static const struct {
	const char *what, *cluster, *text;
	const char *note; /* part of the text of a note; NULL: there must be no warning and no problem */
	enum note_level level;
	size_t line, count;
	const char *field, *fix; /* fix: a part of it */
} rows[] = {
	{ "a good trace", "2x4:v100", "arrival_s,duration_s,gpus,types\n0,5,8,v100\n9,5,1,any\n", NULL },
	{ "more GPUs than there are", "2x4:v100", "arrival_s,duration_s,gpus\n0,5,8\n1,5,9\n2,5,16\n",
		"more GPUs than the cluster has of one type: it can never run", NOTE_PROBLEM, 3, 2,
		"gpus", "job '1': it asks for 9, a type it may use has 8" },
	{ "types do not add up", "1x4:v100,1x4:p100", "arrival_s,duration_s,gpus\n0,5,8\n",
		"it can never run", NOTE_PROBLEM, 2, 1, "gpus", "has 4" },
	{ "a small type", "1x8:v100,1x2:p100",
		"arrival_s,duration_s,gpus,types\n0,5,4,v100|p100\n0,5,4,p100\n",
		"it can never run", NOTE_PROBLEM, 3, 1, "gpus", "has 2" },
	{ "an elastic job fits with fewer", "2x4:v100",
		"arrival_s,duration_s,gpus,min_gpus\n0,5,16,2\n", "it runs with fewer",
		NOTE_WARNING, 2, 1, "gpus", "job '0': it asks for 16 and will run with at most 8" },
	{ "a gang that fits one type", "1x2:a100,2x4:v100",
		"arrival_s,duration_s,gpus,gpus_by_type\n0,5,9,a100:4 v100:8\n9,5,9,a100:2 v100:9\n",
		NULL },
	{ "gangs that fit none", "1x2:a100,2x4:v100",
		"arrival_s,duration_s,gpus,gpus_by_type\n0,5,1,a100:4 v100:9\n9,5,1,a100:3\n",
		"it can never run", NOTE_PROBLEM, 2, 1, "gpus_by_type", "job '0': lower the numbers" },
	{ "a gang on a type it may not use", "1x2:a100,2x4:v100",
		"arrival_s,duration_s,gpus,types,gpus_by_type\n0,5,1,a100,a100:4 v100:8\n",
		"it can never run", NOTE_PROBLEM, 2, 1, "gpus_by_type", "job '0'" },
	{ "a type that is not there", "2x4:v100", "arrival_s,duration_s,types\n0,5,h100\n",
		"has none of the device types", NOTE_PROBLEM, 2, 1, "types",
		"name types of the cluster" },
	{ "without a cluster nobody knows", NULL, "arrival_s,duration_s,gpus\n0,5,9999\n5,5,1\n", NULL },
	{ "no run time", NULL, "arrival_s,duration_s\n0,5\n3,?\n4,?\n", "the job cannot be simulated",
		NOTE_PROBLEM, 3, 2, "duration_s", "job '1': give it duration_s or steps" },
	{ "no steps", NULL, "arrival_s,steps\n0,?\n", "the job cannot be simulated", NOTE_PROBLEM,
		2, 1, "steps", "give it" },
	{ "a deadline before the arrival", NULL, "arrival_s,duration_s,deadline_s\n10,5,100\n50,5,40\n",
		"not after the arrival", NOTE_PROBLEM, 3, 1, "deadline_s", "points in time" },
	{ "a deadline nobody can meet", NULL, "arrival_s,duration_s,deadline_s\n10,5,12\n50,5,100\n",
		"missed even if the job starts at once", NOTE_WARNING, 2, 1, "deadline_s", "more time" },
	{ "milliseconds", NULL, "arrival_s,duration_s\n0,50000000\n5,60000000\n6,7\n",
		"half of the jobs run longer than 579 days", NOTE_WARNING, 0, 1, "duration_s",
		"milliseconds" },
	{ "dates", NULL, "arrival_s,duration_s\n1700000000,5\n1700000009,5\n", "these are dates",
		NOTE_WARNING, 2, 1, "arrival_s", "subtract" },
	{ "all at once", NULL, "arrival_s,duration_s\n4,5\n4,5\n",
		"all jobs arrive at the same time", NOTE_WARNING, 0, 1, "arrival_s", "batch" },
	{ "waiting for a later job", NULL, "id,arrival_s,duration_s,after\na,0,5,b\nb,1,5,\n",
		"waits for a job that arrives later", NOTE_WARNING, 2, 1, "after", "job 'a'" },
	{ "dependencies without a circle", NULL,
		"id,arrival_s,duration_s,after\na,0,5,\nb,1,5,a\nc,2,5,a|b\nd,3,5,a|b|c\n", NULL },
	{ "steps need speeds", NULL, "arrival_s,steps\n0,5\n1,5\n",
		"the speed comes from a profile", NOTE_ASSUMED, 2, 2, "steps", "rate" },
	{ "too much work", "1x1:v100",
		"arrival_s,duration_s\n0,9\n1,9\n2,9\n3,9\n4,9\n5,9\n6,9\n7,9\n8,9\n9,9\n",
		"10.00 times the cluster's capacity", NOTE_WARNING, 0, 1, NULL, "queue" },
	{ "lines follow sorting", "1x4:v100", "arrival_s,duration_s,gpus\n9,5,1\n8,5,8\n1,5,1\n",
		"it can never run", NOTE_PROBLEM, 3, 1, "gpus", "job '1'" },
};

static void check_row(size_t i)
{
	struct cluster cluster = { 0 };
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };
	const struct note *note;

	if (rows[i].cluster)
		assert_int_equal(cluster_parse(rows[i].cluster, &cluster, &err), 0);
	if (read_text(rows[i].text, NULL, false, &trace, &notes, &err))
		fail_msg("%s: %s", rows[i].what, err.text);
	trace_check(&trace, rows[i].cluster ? &cluster : NULL, &notes);
	note = rows[i].note ? find_note(&notes, rows[i].note) : NULL;
	if (rows[i].note && !note) {
		show_notes(&notes);
		fail_msg("%s: nothing says '%s'", rows[i].what, rows[i].note);
	}
	if (!rows[i].note && (notes_count(&notes, NOTE_WARNING) || notes_count(&notes, NOTE_PROBLEM))) {
		show_notes(&notes);
		fail_msg("%s: it is good", rows[i].what);
	}
	if (note &&
		(note->level != rows[i].level || note->line != rows[i].line ||
			note->count != rows[i].count || !same_text(note->field, rows[i].field) ||
			!note->fix || !strstr(note->fix, rows[i].fix)))
		fail_msg("%s: level %d, line %zu, %zu times, field %s; %s", rows[i].what,
			note->level, note->line, note->count, note->field ? note->field : "-",
			note->fix ? note->fix : "-");
	trace_fini(&trace);
	notes_fini(&notes);
	cluster_fini(&cluster);
}

static void what_a_run_would_trip_over(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		check_row(i);
}

/* ---- jobs that wait for each other ---- */

static const char circle_csv[] = "id,arrival_s,duration_s,after\n"
				 "a,0,5,e\nb,1,5,c|a\nc,2,5,b\nd,3,5,b\ne,4,5,f\nf,5,5,a\n";
static const char smallest[] =
	"jobs wait for each other in a circle: job 'b' (line 3) waits for 'c' (line 4), "
	"which waits for 'b'";

static void a_circle_is_refused(void **state)
{
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_not_equal(read_text(circle_csv, NULL, false, &trace, &notes, &err), 0);
	if (!strstr(err.text, smallest) || !strstr(err.text, ":3: field 'after'"))
		fail_msg("it says: %s", err.text);
	notes_fini(&notes);
}

/* Both circles are named, and one dependency of each does not count. */
static void a_lenient_reader_breaks_circles(void **state)
{
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_text(circle_csv, NULL, true, &trace, &notes, &err), 0);
	assert_non_null(find_note(&notes, smallest));
	assert_non_null(find_note(&notes,
		"job 'a' (line 2) waits for 'e' (line 6), which waits for 'f' (line 7), which waits for 'a'"));
	assert_int_equal(trace.ndeps, 5);
	trace_check(&trace, NULL, &notes);
	assert_int_equal(notes_count(&notes, NOTE_PROBLEM), 2);
	trace_fini(&trace);
	notes_fini(&notes);
}

/* Each that leads nowhere is named, the first twenty at least. */
static void strays_are_named(void **state)
{
	struct buf text = { 0 };
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_str(&text, "id,arrival_s,duration_s,after\na,0,5,zz\nb,1,5,a|b\n");
	for (int i = 0; i < 30; i++)
		buf_printf(&text, "j%d,2,5,x%d\n", i, i);
	assert_int_equal(read_text(text.at, NULL, true, &trace, &notes, &err), 0);
	assert_non_null(
		find_note(&notes, "\"zz\" is not the id of a job; the dependency does not count"));
	assert_non_null(find_note(&notes, "\"b\" is the job itself; the dependency does not count"));
	assert_non_null(find_note(&notes, "\"x17\" is not the id of a job"));
	assert_null(find_note(&notes, "\"x18\" is"));
	assert_int_equal(find_note(&notes, "more jobs wait for some that are not here")->count, 12);
	assert_int_equal(trace.ndeps, 1);
	trace_fini(&trace);
	notes_fini(&notes);
	buf_fini(&text);
}

static void many_circles_do_not_take_long(void **state)
{
	enum { PAIRS = 20000 };
	struct buf text = { 0 };
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_str(&text, "id,arrival_s,duration_s,after\n");
	for (int i = 0; i < PAIRS; i++)
		buf_printf(&text, "a%d,0,5,b%d\nb%d,0,5,a%d\n", i, i, i, i);
	assert_int_equal(read_text(text.at, NULL, true, &trace, &notes, &err), 0);
	assert_non_null(find_note(&notes, "more jobs wait for each other in circles"));
	assert_int_equal(trace.njobs, 2 * PAIRS);
	assert_true(trace.ndeps < 200);
	trace_fini(&trace);
	notes_fini(&notes);
	buf_fini(&text);
}

static void check_names_the_smallest_circle(void **state)
{
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	const struct note *note;

	(void)state;
	for (uint32_t i = 0; i < 12; i++) {
		trace_add(&trace)->gpus = 1;
		trace.work[i] = 5;
	}
	for (uint32_t i = 0; i < 12; i++)
		trace_add_dep(&trace, i, (i + 1) % 12);
	trace_finish(&trace, 0);
	trace_check(&trace, NULL, &notes);
	note = find_note(&notes, "in a circle");
	assert_non_null(note);
	if (!strstr(note->text,
		    "'7', which waits for another and so on, 12 jobs in all, the last of which waits for '0'"))
		fail_msg("it says: %s", note->text);
	trace_fini(&trace);
	notes_fini(&notes);
}

/* ---- nodes with CPUs and memory ---- */

static const char small_yaml[] = "nodes:\n"
				 "  - {count: 2, type: v100, devices: 8, cpus: 32, mem: 64GiB}\n"
				 "  - {count: 1, type: p100, devices: 4}\n";

static const struct {
	const char *what, *row; /* of arrival_s,duration_s,gpus,min_gpus,types,cpus,mem */
	const char *note;       /* NULL: all is well */
	enum note_level level;
	const char *field, *fix;
} fed[] = {
	{ "all of both nodes", "0,5,16,,v100,64,128G", NULL },
	{ "one device may have a whole node's", "0,5,2,,v100,64,1G", NULL },
	{ "more CPUs than a node has", "0,5,1,,v100,33,1G", "more CPUs than the nodes have",
		NOTE_PROBLEM, "cpus", "job '0': it asks for 33 CPUs in all, 33 for each of its 1 GPUs" },
	{ "more CPUs for each than nodes can give all", "0,5,16,,v100,80,",
		"more CPUs than the nodes have", NOTE_PROBLEM, "cpus", "5 for each of its 16 GPUs" },
	{ "more memory than a node has", "0,5,2,,v100,,300G", "more memory than the nodes have",
		NOTE_PROBLEM, "mem", "it asks for 300.0 GiB in all, 150.0 for each of its 2 GPUs" },
	{ "nodes that do not say what they have give any", "0,5,4,,p100,1000,900G", NULL },
	{ "any type will do", "0,5,4,,,1000,900G", NULL },
	{ "an elastic job is cut", "0,5,20,4,v100,64,", "it runs with fewer", NOTE_WARNING, "gpus",
		"it asks for 20 and will run with at most 16" },
	{ "an elastic job that not even the least feeds", "0,5,4,2,v100,200,",
		"more CPUs than the nodes have", NOTE_PROBLEM, "cpus", "" },
	{ "a type that is not here beside one that is", "0,5,4,,v100|h100,,",
		"the cluster has no 'h100'", NOTE_ASSUMED, "types", NULL },
};

static void check_fed(const struct cluster *cluster, size_t i)
{
	struct buf text = { 0 };
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };
	const struct note *note;

	buf_printf(&text, "arrival_s,duration_s,gpus,min_gpus,types,cpus,mem\n%s\n", fed[i].row);
	if (read_text(text.at, NULL, false, &trace, &notes, &err))
		fail_msg("%s: %s", fed[i].what, err.text);
	trace_check(&trace, cluster, &notes);
	note = fed[i].note ? find_note(&notes, fed[i].note) : NULL;
	if (!fed[i].note != !notes.n || (fed[i].note && !note)) {
		show_notes(&notes);
		fail_msg("%s", fed[i].what);
	}
	if (note) {
		assert_int_equal(notes.n, 1); /* one problem, one note */
		assert_int_equal(note->level, fed[i].level);
		assert_string_equal(note->field, fed[i].field);
		if (fed[i].fix && !strstr(note->fix, fed[i].fix))
			fail_msg("%s: %s", fed[i].what, note->fix);
	}
	trace_fini(&trace);
	notes_fini(&notes);
	buf_fini(&text);
}

static void nodes_must_feed_their_devices(void **state)
{
	struct cluster cluster = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(
		cluster_read_yaml("lab.yaml", small_yaml, strlen(small_yaml), &cluster, &err), 0);
	for (size_t i = 0; i < COUNT(fed); i++)
		check_fed(&cluster, i);
	cluster_fini(&cluster);
}

/* Reading says nothing of an unknown run time, the check says it once. */
static void a_problem_is_told_once(void **state)
{
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_text("arrival_s,duration_s,gpus\n0,?,1\n1,-4,1\n", NULL, true, &trace,
				 &notes, &err),
		0);
	trace_check(&trace, NULL, &notes);
	assert_int_equal(notes_count(&notes, NOTE_PROBLEM), 2);
	for (size_t i = 0; i < notes.n; i++) {
		assert_null(strstr(notes.at[i].text, "left out"));
		assert_null(strstr(notes.at[i].fix, "--lenient")); /* it was read so already */
	}
	trace_fini(&trace);
	notes_fini(&notes);
}

/* What no reader lets through, a generator may do. */
static void broken_jobs(void **state)
{
	static const char *const wants[] = { "no jobs", "is not a positive number",
		"a time of 0 or later", "min_gpus <= gpus <= max_gpus", "the weight is not",
		"the estimated run time", "an earlier job has the same id", "a job that is not there" };
	struct notes notes = { 0 };
	struct trace trace = { 0 };

	(void)state;
	trace_check(&trace, NULL, &notes);
	for (int i = 0; i < 2; i++) {
		struct job *job = trace_add(&trace);

		job->label = trace_text(&trace, "x", 1);
		job->arrival_s = -1;
		job->min_gpus = 2;
		job->weight = 0;
		job->work_est = -1;
		trace.work[i] = -1;
		trace_add_dep(&trace, (uint32_t)i, 77);
	}
	trace_finish(&trace, NAN);
	trace_check(&trace, NULL, &notes);
	for (size_t i = 0; i < COUNT(wants); i++)
		if (!has_note(&notes, wants[i])) {
			show_notes(&notes);
			fail_msg("nothing says '%s'", wants[i]);
		}
	trace_check(&trace, NULL, NULL);
	trace_fini(&trace);
	notes_fini(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_run_would_trip_over),
		cmocka_unit_test(a_circle_is_refused),
		cmocka_unit_test(a_lenient_reader_breaks_circles),
		cmocka_unit_test(strays_are_named),
		cmocka_unit_test(many_circles_do_not_take_long),
		cmocka_unit_test(check_names_the_smallest_circle),
		cmocka_unit_test(nodes_must_feed_their_devices),
		cmocka_unit_test(a_problem_is_told_once),
		cmocka_unit_test(broken_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
