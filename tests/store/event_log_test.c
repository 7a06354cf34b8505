#include "store/event_log.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static struct cluster cluster;
static char folder[] = "/tmp/event_log_test.XXXXXX";

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	return cluster_parse("4x8:v100", &cluster, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	cluster_fini(&cluster);
	return rmdir(folder);
}

static struct grant *grant_of(uint32_t nslots, const struct slot *slots)
{
	struct grant *g = mem_alloc(sizeof(*g) + nslots * sizeof(struct slot));

	g->share = 1;
	g->nslots = nslots;
	memcpy(g->slots, slots, nslots * sizeof(struct slot));
	for (uint32_t i = 0; i < nslots; i++)
		g->gpus += (uint32_t)__builtin_popcountll(slots[i].devices);
	return g;
}

static struct job job_named(const char *label, double ready_s)
{
	struct job job;

	job_init(&job);
	job.label = label;
	job.gpus = 4;
	job.ready_s = ready_s;
	return job;
}

static void each_kind_has_its_line(void **state)
{
	static const struct {
		const char *what;
		enum event_kind kind;
		struct reason reason;
		const char *want;
	} rows[] = {
		{ "a submission", EV_SUBMIT, { .other = JOB_NONE },
			"{\"t\":1.5,\"ev\":\"submit\",\"job\":\"7\",\"gpus\":4}" },
		{ "an end", EV_FINISH, { .other = JOB_NONE },
			"{\"t\":1.5,\"ev\":\"finish\",\"job\":\"7\",\"attempt\":2}" },
		{ "waiting for devices", EV_WAIT, { .why = WHY_BUSY, .need = 4, .other = JOB_NONE },
			"{\"t\":1.5,\"ev\":\"wait\",\"job\":\"7\",\"why\":\"busy\",\"need\":4,\"have\":0}" },
		{ "waiting behind another", EV_WAIT, { .why = WHY_BEHIND, .need = 4, .other = 3 },
			"{\"t\":1.5,\"ev\":\"wait\",\"job\":\"7\",\"why\":\"behind\",\"need\":4,"
			"\"other\":\"x\\\"y\"}" },
		{ "a refusal", EV_REJECT,
			{ .why = WHY_TOO_LARGE, .need = 64, .have = 32, .other = JOB_NONE },
			"{\"t\":1.5,\"ev\":\"reject\",\"job\":\"7\",\"why\":\"too-large\",\"need\":64,"
			"\"have\":32}" },
		{ "a preemption", EV_PREEMPT, { .why = WHY_OUTRANKED, .other = 3 },
			"{\"t\":1.5,\"ev\":\"preempt\",\"job\":\"7\",\"attempt\":2,\"why\":\"outranked\","
			"\"other\":\"x\\\"y\"}" },
		{ "a lost node", EV_LOST, { .other = JOB_NONE },
			"{\"t\":1.5,\"ev\":\"lost\",\"job\":\"7\",\"attempt\":2,\"node\":\"n2\",\"lost_s\":0.25}" },
		{ "a node that fails", EV_NODE_DOWN, { .other = JOB_NONE },
			"{\"t\":1.5,\"ev\":\"node-down\",\"node\":\"n2\"}" },
	};
	struct job job = job_named("7", 2);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool of_job = rows[i].kind != EV_NODE_DOWN;
		struct event event = {
			.at_s = 1.5,
			.kind = rows[i].kind,
			.job = of_job ? 6 : JOB_NONE,
			.node = 2,
			.attempt = 2,
			.reason = rows[i].reason,
			.value = 0.25,
		};
		struct buf line = { 0 };

		event_format(&event, of_job ? &job : NULL, "x\"y", &cluster, &line);
		if (strcmp(line.at, rows[i].want))
			fail_msg("%s: got %s, want %s", rows[i].what, line.at, rows[i].want);
		buf_fini(&line);
	}
}

static void a_start_says_where(void **state)
{
	static const struct {
		const char *what;
		uint64_t devices;
		const char *want;
	} rows[] = {
		{ "one device", 1, "[[\"n3\",\"0\"]]" },
		{ "a run of devices", 0x0f, "[[\"n3\",\"0-3\"]]" },
		{ "scattered devices", 0xb5, "[[\"n3\",\"0,2,4-5,7\"]]" },
		{ "the last of a large node", UINT64_C(3) << 62, "[[\"n3\",\"62-63\"]]" },
		{ "a whole large node", UINT64_MAX, "[[\"n3\",\"0-63\"]]" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct grant *g = grant_of(1, &(struct slot){ 3, rows[i].devices });
		struct job job = job_named("7", 12.5);
		struct event event = { .at_s = 10, .kind = EV_START, .job = 0, .attempt = 1, .grant = g };
		struct buf line = { 0 };
		char *want = mem_printf("{\"t\":10,\"ev\":\"start\",\"job\":\"7\",\"attempt\":1,"
					"\"type\":\"v100\",\"gpus\":%u,\"on\":%s,\"ready\":12.5}",
			g->gpus, rows[i].want);

		event_format(&event, &job, NULL, &cluster, &line);
		if (strcmp(line.at, want))
			fail_msg("%s: got %s, want %s", rows[i].what, line.at, want);
		buf_fini(&line);
		free(want);
		free(g);
	}
}

static void a_start_on_two_nodes_names_both(void **state)
{
	struct slot slots[] = { { 0, 0xff }, { 1, 3 } };
	struct grant *g = grant_of(2, slots);
	struct event event = { .kind = EV_RESIZE, .job = 9, .attempt = 3, .grant = g, .value = 1 };
	struct buf line = { 0 };

	(void)state;
	g->share = 0.5;
	g->batch = 64;
	event_format(&event, NULL, NULL, &cluster, &line);
	assert_string_equal(line.at,
		"{\"t\":0,\"ev\":\"resize\",\"job_id\":9,\"attempt\":3,\"type\":\"v100\",\"gpus\":10,"
		"\"on\":[[\"n0\",\"0-7\"],[\"n1\",\"0-1\"]],\"batch\":64,\"share\":0.5,\"ready\":1}");
	buf_fini(&line);
	free(g);
}

static void a_mixture_names_its_types(void **state)
{
	struct slot slots[] = { { 0, 3 }, { 1, 1 } };
	struct grant *g = grant_of(2, slots);
	struct event event = { .kind = EV_START, .job = 9, .attempt = 1, .grant = g };
	struct cluster two;
	struct buf line = { 0 };

	(void)state;
	assert_int_equal(cluster_parse("1x8:v100,1x8:k80", &two, NULL), 0);
	g->balanced = true;
	grant_set_type(g, &two);
	event_format(&event, NULL, NULL, &two, &line);
	assert_string_equal(line.at,
		"{\"t\":0,\"ev\":\"start\",\"job_id\":9,\"attempt\":1,\"type\":\"v100\","
		"\"types\":[[\"v100\",2],[\"k80\",1]],\"gpus\":3,"
		"\"on\":[[\"n0\",\"0-1\"],[\"n1\",\"0\"]],\"balanced\":true,\"ready\":0}");
	buf_fini(&line);
	free(g);
	cluster_fini(&two);
}

/* ---- the file, and the check against it */

static void tell(struct observer to, uint32_t njobs, double last_s)
{
	char label[16];

	for (uint32_t i = 0; i < njobs; i++) {
		struct job job = job_named(label, 0);
		struct event event = { .at_s = i + 1 == njobs ? last_s : i,
			.kind = EV_SUBMIT,
			.job = i,
			.reason = { .other = JOB_NONE } };

		snprintf(label, sizeof(label), "j%u", (unsigned)i);
		to.see(to.self, &event, &job);
	}
}

static void write_log(const char *path, uint32_t njobs)
{
	struct event_log *log;

	assert_int_equal(event_log_create(path, &cluster, &log, NULL), 0);
	tell(event_log_observer(log), njobs, njobs - 1);
	assert_false(file_exists(path)); /* not before it is whole */
	assert_int_equal(event_log_commit(log, NULL), 0);
	event_log_destroy(log);
	assert_true(file_exists(path));
}

static void a_log_has_every_event(void **state)
{
	char *path = path_join(folder, "events.jsonl");
	struct file file;
	struct lines it;
	struct slice line;
	size_t n = 0;

	(void)state;
	write_log(path, 20000); /* more than one buffer */
	assert_int_equal(file_read(path, &file, NULL), 0);
	for (it = lines_of(file.at, file.n); lines_next(&it, &line); n++)
		assert_true(line.n > 2 && line.at[0] == '{' && line.at[line.n - 1] == '}');
	assert_int_equal(n, 20000);
	file_fini(&file);
	unlink(path);
	free(path);
}

static void an_abandoned_log_leaves_nothing(void **state)
{
	char *path = path_join(folder, "events.jsonl");
	struct event_log *log;

	(void)state;
	assert_int_equal(event_log_create(path, &cluster, &log, NULL), 0);
	tell(event_log_observer(log), 10, 9);
	event_log_destroy(log);
	event_log_destroy(NULL);
	assert_false(file_exists(path));
	free(path);
}

static void the_check_finds_the_first_difference(void **state)
{
	static const struct {
		const char *what;
		uint32_t njobs;
		double last_s;
		int rc;
		const char *says;
	} rows[] = {
		{ "the same run", 5, 4, 0, NULL },
		{ "another time", 5, 4.5, ERR_DIFFER, ":5: recorded {\"t\":4," },
		{ "a run that goes on", 6, 5, ERR_DIFFER, "ends after 5 events" },
		{ "a run that ends early", 4, 3, ERR_DIFFER, "but this run ended before" },
	};
	char *path = path_join(folder, "events.jsonl");

	(void)state;
	write_log(path, 5);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct event_check *check;
		struct err err = { 0 };
		uint64_t events = 0;

		assert_int_equal(event_check_create(path, &cluster, &check, &err), 0);
		tell(event_check_observer(check), rows[i].njobs, rows[i].last_s);
		assert_int_equal(event_check_finish(check, &events, &err), rows[i].rc);
		if (rows[i].says && !strstr(err.text, rows[i].says))
			fail_msg("%s: %s", rows[i].what, err.text);
		if (!rows[i].rc)
			assert_int_equal(events, 5);
		event_check_destroy(check);
	}
	unlink(path);
	free(path);
}

static void a_check_without_a_record_fails(void **state)
{
	struct event_check *check = NULL;
	struct err err = { 0 };

	(void)state;
	assert_true(event_check_create("/nowhere/events.jsonl", &cluster, &check, &err) < 0);
	assert_non_null(strstr(err.text, "/nowhere/events.jsonl"));
	event_check_destroy(check);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_line),
		cmocka_unit_test(a_start_says_where),
		cmocka_unit_test(a_start_on_two_nodes_names_both),
		cmocka_unit_test(a_mixture_names_its_types),
		cmocka_unit_test(a_log_has_every_event),
		cmocka_unit_test(an_abandoned_log_leaves_nothing),
		cmocka_unit_test(the_check_finds_the_first_difference),
		cmocka_unit_test(a_check_without_a_record_fails),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
