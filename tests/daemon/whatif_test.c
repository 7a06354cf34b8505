/*
 * What-if by a program that a test writes: how it is called, how it may end, how
 * many there are, and what happens when the daemon stops.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon/daemon.h"
#include "daemon/verbs.h"
#include "support/property.h"

struct scene {
	char dir[40];
	struct daemon *daemon;
	pthread_t thread;
};

struct answer {
	int status;
	struct buf body;
	sem_t came;
};

/* Waits for a file that only some tests make. */
static void write_program(const struct scene *s, const char *script)
{
	char *path = path_join(s->dir, "program");
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fprintf(out, "#!/bin/sh\ncd '%s'\necho x >>begun\nprintf '%%s\\n' \"$@\" >args\n%s\n",
		s->dir, script);
	fclose(out);
	assert_int_equal(chmod(path, 0700), 0);
	free(path);
}

static void *run(void *self)
{
	struct err err = { 0 };

	daemon_run(self, &err);
	return NULL;
}

static void setup_for(struct scene *s, bool system, const char *script)
{
	struct daemon_config config = {
		.guard = "/bin/false",
		.machine = { .no_gpus = true, .slots = 2 },
		.policy = "fifo",
		.system = system,
	};
	struct err err = { 0 };
	char *program;

	strcpy(s->dir, "/tmp/stint-whatif.XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	write_program(s, script);
	program = path_join(s->dir, "program");
	config.program = program;
	config.state_dir = s->dir;
	if (daemon_open(&config, &s->daemon, &err) < 0)
		fail_msg("%s", err.text);
	free(program);
	assert_int_equal(pthread_create(&s->thread, NULL, run, s->daemon), 0);
}

static void setup(struct scene *s, const char *script)
{
	setup_for(s, false, script);
}

static void stop(struct scene *s)
{
	daemon_stop(s->daemon);
	pthread_join(s->thread, NULL);
}

static void teardown(struct scene *s)
{
	char command[80];

	daemon_close(s->daemon);
	snprintf(command, sizeof(command), "rm -rf '%s'", s->dir);
	assert_int_equal(system(command), 0);
}

static void take(void *ctx, int status, struct buf *body)
{
	struct answer *a = ctx;

	a->status = status;
	a->body = *body;
	sem_post(&a->came);
}

static void ask_as(struct scene *s, struct answer *a, uid_t uid, const char *body)
{
	struct caller caller = { .uid = uid, .gid = 65534 };

	*a = (struct answer){ 0 };
	sem_init(&a->came, 0, 0);
	daemon_call(s->daemon, verb_find("whatif"), &caller, json_loads(body, 0, NULL), take, a);
}

static void ask(struct scene *s, struct answer *a, const char *body)
{
	ask_as(s, a, 65534, body);
}

static void expect(struct answer *a, int status, const char *says)
{
	while (sem_wait(&a->came) < 0)
		continue;
	if (a->status != status || !strstr(a->body.at, says))
		fail_msg("%d: %s", a->status, a->body.at);
	buf_fini(&a->body);
	sem_destroy(&a->came);
}

static void asked(struct scene *s, const char *body, int status, const char *says)
{
	struct answer a;

	ask(s, &a, body);
	expect(&a, status, says);
}

static void what_it_is_called_with(void **state)
{
	static const char want[] = "--json\n--quiet\n--threads\n1\n--since\n3600\n--add\n4:a100,1x8:v100\n"
				   "--policy\nsrtf:round_s=60\n--placer\nspread\n";
	struct err err = { 0 };
	struct file args;
	struct scene s;
	char *path;

	(void)state;
	setup(&s, "[ \"$(nice)\" -ge 10 ] && echo '{\"schema\":\"whatif/1\"}'");
	asked(&s, "{\"since_s\":3600,\"add\":\"4:a100,1x8:v100\",\"policy\":\"srtf:round_s=60\",\"placer\":\"spread\"}",
		200, "{\"schema\":\"whatif/1\"}\n");
	path = path_join(s.dir, "args");
	assert_int_equal(file_read(path, &args, &err), 0);
	assert_true(args.n > strlen(want) && !strncmp(args.at, "whatif\n/tmp/stint-whatif.", 25));
	assert_memory_equal(args.at + args.n - strlen(want), want, strlen(want));
	file_fini(&args);
	free(path);
	stop(&s);
	teardown(&s);
}

static void what_makes_no_sense_is_not_run(void **state)
{
	static const struct {
		const char *body;
		int status;
		const char *says;
	} rows[] = {
		{ "{}", 400, "as it is now" },
		{ "{\"policy\":\"fifo\"}", 400, "as it is now" },
		{ "{\"policy\":\"fifo:misfit=block\",\"placer\":\"first-fit\"}", 400, "as it is now" },
		{ "{\"policy\":\"fifi\"}", 400, "did you mean" },
		{ "{\"policy\":\"fifo:nosuch=1\"}", 400, "nosuch" },
		{ "{\"policy\":\"--out\"}", 400, "no policy" },
		{ "{\"placer\":\"nowhere\"}", 400, "no placer" },
		{ "{\"policy\":\"gittins:history=/etc/shadow\"}", 409, "names a file" },
		{ "{\"policy\":\"gavel:replay=/etc/shadow\"}", 409, "names a file" },
		{ "{\"add\":\"lots\"}", 400, "DEVICES:TYPE" },
		{ "{\"add\":\"4:a100,--out=x\"}", 400, "DEVICES:TYPE" },
		{ "{\"add\":\"9999x64:a100\"}", 400, "at most" },
		{ "{\"add\":\"1:a\",\"since_s\":-1}", 400, "since_s" },
		{ "{\"add\":\"1:a\",\"since_s\":1e300}", 400, "since_s" },
	};
	struct scene s;
	char *path;

	(void)state;
	setup(&s, "echo '{}'");
	for (size_t i = 0; i < COUNT(rows); i++)
		asked(&s, rows[i].body, rows[i].status, rows[i].says);
	path = path_join(s.dir, "begun");
	assert_false(file_exists(path));
	free(path);
	stop(&s);
	teardown(&s);
}

static void however_it_ends_there_is_an_answer(void **state)
{
	static const struct {
		const char *script;
		int status;
		const char *says;
	} rows[] = {
		{ "echo '{\"a\":1}'; exit 5", 200, "{\"a\":1}" },
		{ "echo 'stint whatif: that is wrong' >&2; exit 2", 400, "\"that is wrong\"" },
		{ "echo 'stint whatif: no jobs' >&2; exit 3", 409, "\"no jobs\"" },
		{ "echo 'stint whatif: not so' >&2; exit 4", 409, "\"exit\":4" },
		{ "echo 'stint whatif: not so' >&2; exit 4", 409, "\"not so\"" },
		{ "echo 'stint whatif: broken' >&2; exit 1", 500, "the simulation failed: broken" },
		{ "exit 0", 500, "without a word" },
		{ "kill -9 $$", 500, "without a word" },
		{ "head -c 9000000 /dev/zero", 500, "failed" },
	};
	struct scene s;

	(void)state;
	setup(&s, "");
	for (size_t i = 0; i < COUNT(rows); i++) {
		write_program(&s, rows[i].script);
		asked(&s, "{\"policy\":\"sjf\"}", rows[i].status, rows[i].says);
	}
	stop(&s);
	teardown(&s);
}

/* One runs and one waits; the loop answers others meanwhile, the third that it is too many. */
static void two_at_once(void **state)
{
	struct answer first, second;
	struct scene s;
	char *go;

	(void)state;
	setup(&s, "until [ -e go ]; do sleep 0.02; done; echo '{\"done\":1}'");
	ask(&s, &first, "{\"policy\":\"sjf\"}");
	ask(&s, &second, "{\"policy\":\"sjf\"}");
	asked(&s, "{\"policy\":\"sjf\"}", 429, "being worked out already");
	go = path_join(s.dir, "go");
	fclose(fopen(go, "w"));
	expect(&first, 200, "done");
	expect(&second, 200, "done");
	asked(&s, "{\"policy\":\"sjf\"}", 200, "done");
	free(go);
	stop(&s);
	teardown(&s);
}

static void one_of_each_user(void **state)
{
	struct answer first, second, third;
	struct scene s;
	char *go;

	(void)state;
	setup_for(&s, true, "until [ -e go ]; do sleep 0.02; done; echo '{\"done\":1}'");
	ask_as(&s, &first, 1000, "{\"policy\":\"sjf\"}");
	ask_as(&s, &second, 1000, "{\"policy\":\"sjf\"}");
	expect(&second, 429, "what-if being worked out, and the limit is 1 (whatifs)");
	ask_as(&s, &second, 1001, "{\"policy\":\"sjf\"}");
	ask_as(&s, &third, 1002, "{\"policy\":\"sjf\"}");
	expect(&third, 429, "2 of these");
	go = path_join(s.dir, "go");
	fclose(fopen(go, "w"));
	expect(&first, 200, "done");
	expect(&second, 200, "done");
	free(go);
	stop(&s);
	teardown(&s);
}

/* Nobody waits minutes for a daemon to stop. */
static void a_daemon_that_stops_ends_them(void **state)
{
	struct answer first, second;
	struct scene s;
	char *begun;

	(void)state;
	setup(&s, "sleep 3600");
	ask(&s, &first, "{\"policy\":\"sjf\"}");
	ask(&s, &second, "{\"policy\":\"sjf\"}");
	begun = path_join(s.dir, "begun");
	while (!file_exists(begun))
		usleep(10000);
	free(begun);
	stop(&s);
	expect(&first, 503, "stopping");
	expect(&second, 503, "stopping");
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_is_called_with),
		cmocka_unit_test(what_makes_no_sense_is_not_run),
		cmocka_unit_test(however_it_ends_there_is_an_answer),
		cmocka_unit_test(two_at_once),
		cmocka_unit_test(one_of_each_user),
		cmocka_unit_test(a_daemon_that_stops_ends_them),
	};

	return cmocka_run_group_tests_name("daemon/whatif", tests, NULL, NULL);
}
