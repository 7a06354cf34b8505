/*
 * Keys and marks, lists of tasks, nodes, and the script: the parts that need no Slurm.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/slurm/fact.h"
#include "live/slurm/nodes.h"
#include "live/slurm/script.h"
#include "support/property.h"

static void test_keys(void **state)
{
	struct slurm_key key = { 0 };
	struct slurm_mark mark = { 0 };
	char text[96], name[SLURM_NAME_MAX];
	double submit_s;

	(void)state;
	key_write(text, sizeof(text), "7c1e", (struct slurm_key){ 12, 3 });
	assert_string_equal(text, "stint:7c1e:12:3");
	assert_true(key_read(text, "7c1e", &key) && key.job == 12 && key.generation == 3);
	assert_false(key_read(text, "7c1", &key));
	assert_false(key_read("stint:7c1e:12:3:4", "7c1e", &key));
	assert_false(key_read("stint:7c1e:12:-3", "7c1e", &key));
	mark_write(text, sizeof(text), "7c1e", (struct slurm_mark){ 12, 3, 1 });
	assert_true(mark_read(text, "7c1e", &mark) && mark.attempt == 3 && mark.restarts == 1);
	assert_false(mark_read("stint:wanted", "wanted", &mark));
	outside_key_write(text, sizeof(text), "4711_3", 1763366400);
	assert_string_equal(text, "slurm:4711_3@1763366400");
	assert_true(outside_key_read(text, name, &submit_s) && submit_s == 1763366400);
	assert_string_equal(name, "4711_3");
	assert_false(outside_key_read("slurm:4711", name, &submit_s));
	assert_false(outside_key_read("mine", name, &submit_s));
}

static void test_tasks(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		uint32_t last, at_once;
	} rows[] = {
		{ "0-9%2", 10, 9, 2 },
		{ "3", 1, 3, 0 },
		{ "1,3,10-20:5", 5, 20, 0 },
		{ "", 0, 0, 0 },
		{ "x,7-3,-4", 0, 0, 0 },
		{ "0-4000000000", SLURM_TASKS_MAX, SLURM_TASKS_MAX - 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		slurm_tasks tasks = { 0 };

		assert_int_equal(tasks_read(rows[i].text, &tasks), rows[i].at_once);
		assert_int_equal(tasks.n, rows[i].n);
		if (tasks.n)
			assert_int_equal(tasks.at[tasks.n - 1], rows[i].last);
		vec_fini(&tasks);
	}
}

static json_t *nodes_of(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	assert_non_null(json);
	return json;
}

static void test_nodes(void **state)
{
	json_t *answer = nodes_of(
		"{\"nodes\":[{\"name\":\"a\",\"state\":\"IDLE\",\"cpus\":8,\"mem_mb\":100,"
		"\"gpus\":[{\"type\":\"\",\"count\":2}]},{\"name\":\"b\",\"state\":\"DOWN\","
		"\"gpus\":[{\"type\":\"v100\",\"count\":4},{\"type\":\"k80\",\"count\":1}]},"
		"{\"name\":\"c\",\"state\":\"IDLE\",\"gpus\":[]}]}");
	struct nodes nodes = { 0 };
	struct machine machine;
	struct buf notices = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_true(nodes_read(&nodes, answer, NULL));
	assert_false(nodes_read(&nodes, answer, NULL));
	assert_int_equal(nodes_machine(&nodes, "vc", "22.05.8", &machine, &err), 0);
	assert_int_equal(machine.nhosts, 2);
	assert_int_equal(machine.ndevices, 6);
	assert_string_equal(machine.devices[0].type, "gpu");
	assert_string_equal(machine.devices[1].uuid, "a/gpu/1");
	assert_true(machine.devices[0].up && !machine.devices[2].up);
	nodes_notices(&nodes, &notices);
	assert_non_null(strstr(notices.at, "gres.conf"));
	assert_non_null(strstr(notices.at, "node b has GPUs of several types"));
	assert_int_equal(nodes_refresh(&nodes, NULL, 0, NULL, &machine), 0);
	buf_fini(&notices);
	machine_fini(&machine);
	nodes_fini(&nodes);
	json_decref(answer);
}

/* Runs it, and what it printed is what was wanted. */
static void check_script(const struct launch *launch, const char *want)
{
	char path[] = "/tmp/stint-script-XXXXXX", command[64], said[256] = "";
	int fd = mkstemp(path);
	struct buf text = { 0 };
	FILE *out;

	script_write(launch, &text);
	assert_int_equal(write(fd, text.at, text.n), (ssize_t)text.n);
	fchmod(fd, 0700);
	close(fd);
	snprintf(command, sizeof(command), "SLURM_RESTART_COUNT=2 %s", path);
	out = popen(command, "r");
	assert_non_null(out);
	said[fread(said, 1, sizeof(said) - 1, out)] = '\0';
	pclose(out);
	unlink(path);
	buf_fini(&text);
	assert_string_equal(said, want);
}

static void test_script(void **state)
{
	const char *const words[] = { "printf", "%s|", "it's", "a \"b\" $HOME `x`", "", NULL };
	const char *const args[] = { "one's", "two", NULL };
	struct launch launch = { .job = 7, .argv = words };

	(void)state;
	check_script(&launch, "it's|a \"b\" $HOME `x`||");
	launch.argv = args;
	launch.script = "#!/bin/bash\necho \"$1 $2 $STINT_ATTEMPT $STINT_RESTARTS\"";
	check_script(&launch, "one's two 3 2\n");
	launch.script = "echo \"$#\"\n";
	check_script(&launch, "2\n");
	/* Another interpreter reads it from a file without a name. */
	launch.script =
		"#!/usr/bin/awk -f\nBEGIN { print ARGV[1], ARGV[2], ENVIRON[\"STINT_ATTEMPT\"] }\n";
	check_script(&launch, "one's two 3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
