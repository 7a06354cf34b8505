#include "live/local/guard.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "live/local/hands_fixture.h"

static char *make_place(void)
{
	const char *tmp = getenv("TMPDIR");
	char *place = mem_printf("%s/guard.XXXXXX", tmp ? tmp : "/tmp");

	assert_non_null(mkdtemp(place));
	return place;
}

/* ---- orders */

static void an_order_arrives_as_it_was_sent(void **state)
{
	const char *argv[] = { "python3", "", "two words", "\xff\n", NULL };
	const char *env[] = { "A=1", NULL };
	struct order sent = { .launch = { .job = 7,
				      .attempt = 2,
				      .argv = argv,
				      .env = env,
				      .cwd = "/tmp",
				      .script = "",
				      .uid = 12,
				      .gid = 13,
				      .stop_signal = SIGUSR1,
				      .grace_s = 1.5,
				      .time_s = 60,
				      .cpus = 2.5,
				      .mem_bytes = INT64_C(1) << 40,
				      .tasks_max = 9 },
		.dir = (char *)"/state/jobs/7/2" };
	struct order got;
	struct err err;
	int fd = order_send(&sent, &err);

	(void)state;
	assert_int_equal(order_receive(fd, &got, &err), 0);
	close(fd);
	for (int i = 0; i < 4; i++)
		assert_string_equal(got.launch.argv[i], argv[i]);
	assert_null(got.launch.argv[4]);
	assert_string_equal(got.launch.env[0], "A=1");
	assert_null(got.launch.env[1]);
	assert_string_equal(got.launch.script, "");
	assert_null(got.launch.out);
	assert_null(got.launch.checkpoint);
	assert_string_equal(got.dir, sent.dir);
	assert_true(got.launch.grace_s == 1.5 && got.launch.mem_bytes == INT64_C(1) << 40);
	assert_true(got.launch.uid == 12 && got.launch.gid == 13 && got.launch.tasks_max == 9);
	order_fini(&got);
}

/* Every truncation, and bytes changed at random: refused or read, never worse. */
static void a_damaged_order_is_refused(void **state)
{
	struct rng rng = property("damaged orders");
	const char *argv[] = { "a", "b", NULL }, *env[] = { "A=1", NULL };
	struct order sent = { .launch = { .argv = argv, .env = env }, .dir = (char *)"/d" };
	char bytes[4096];
	struct err err;
	int fd = order_send(&sent, &err);
	ssize_t n = read(fd, bytes, sizeof(bytes));

	(void)state;
	close(fd);
	for (size_t i = 0; i < (size_t)n + rounds(300); i++) {
		struct order got;
		size_t keep = i < (size_t)n ? i : (size_t)n, at = rng_below(&rng, (uint64_t)n);
		char was = bytes[at];
		int rc;

		fd = memfd_create("damaged", MFD_CLOEXEC);
		if (keep == (size_t)n)
			bytes[at] = (char)rng_u64(&rng);
		assert_int_equal(write(fd, bytes, keep), keep);
		lseek(fd, 0, SEEK_SET);
		rc = order_receive(fd, &got, &err);
		if (keep < (size_t)n)
			assert_int_equal(rc, ERR_FORMAT);
		if (rc == 0)
			order_fini(&got);
		bytes[at] = was;
		close(fd);
	}
}

/* ---- the files */

static void begun_is_made_once(void **state)
{
	char *place = make_place();
	int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct claim_note mine = { .group = { CGROUP_V1, { (char *)"/a b/c", NULL, (char *)"/m" } } };
	struct claim_note other = { .is_void = true }, got;
	struct err err;

	(void)state;
	assert_int_equal(proc_identify(getpid(), &mine.guard), 0);
	assert_int_equal(claim_read(dir, &got, &err), ERR_MISSING);
	assert_int_equal(claim_make(dir, &mine, &err), 0);
	assert_int_equal(claim_make(dir, &other, &err), ERR_REFUSED);
	assert_int_equal(claim_read(dir, &got, &err), 0);
	assert_true(!got.is_void && got.begun_s == 0 && got.guard.pid == getpid());
	assert_int_equal(got.guard.start, mine.guard.start);
	assert_string_equal(got.guard.boot, mine.guard.boot);
	assert_string_equal(got.group.dirs[CGROUP_KILL], "/a b/c");
	assert_null(got.group.dirs[CGROUP_TASKS]);
	assert_string_equal(got.group.dirs[CGROUP_MEMORY], "/m");
	claim_fini(&got);
	claim_mark(dir, 1763366400.25);
	assert_int_equal(claim_read(dir, &got, &err), 0);
	assert_true(got.begun_s == 1763366400.25);
	assert_string_equal(got.group.dirs[CGROUP_KILL], "/a b/c");
	claim_fini(&got);
	close(dir);
	remove_tree(place);
	free(place);
}

static void ended_reads_back(void **state)
{
	char *place = make_place();
	int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ending e = { .job = 3,
		.attempt = 4,
		.known = true,
		.code = -1,
		.signal = 9,
		.asked = true,
		.timed_out = true,
		.over_memory = true,
		.begun_s = 1.5,
		.ended_s = 3.25,
		.asked_s = 2,
		.cpu_s = 0.5,
		.rss_bytes = INT64_C(5) << 33,
		.text = "py thon: not found" };
	struct ending got;
	struct err err;

	(void)state;
	assert_int_equal(ending_read(dir, &got, &err), ERR_MISSING);
	assert_int_equal(ending_write(dir, &e, &err), 0);
	assert_int_equal(ending_read(dir, &got, &err), 0);
	assert_true(got.known && got.code == -1 && got.signal == 9 && got.asked && got.timed_out);
	assert_true(got.over_memory);
	assert_true(got.begun_s == 1.5 && got.ended_s == 3.25 && got.asked_s == 2);
	assert_true(got.cpu_s == 0.5 && got.rss_bytes == INT64_C(5) << 33);
	assert_string_equal(got.text, e.text);
	assert_int_equal(attempt_put(dir, "ended", "rubbish", 7, 0600, &err), 0);
	assert_int_equal(ending_read(dir, &got, &err), ERR_FORMAT);
	close(dir);
	remove_tree(place);
	free(place);
}

/* ---- processes */

static void a_process_is_known_for_good(void **state)
{
	struct proc_id id, late;
	pid_t child = fork();
	int fd;

	(void)state;
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(proc_identify(child, &id), 0);
	fd = proc_open(&id);
	assert_true(fd >= 0);
	close(fd);
	late = id;
	late.start++; /* another process of the same number */
	assert_int_equal(proc_open(&late), ERR_MISSING);
	late = id;
	late.boot[0] ^= 1; /* the same number and moment of another boot */
	assert_int_equal(proc_open(&late), ERR_MISSING);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(proc_open(&id), ERR_MISSING);
	assert_int_equal(proc_identify(child, &id), ERR_MISSING);
}

/* ---- control groups */

static pid_t sleeper_in(const struct cgroup *group)
{
	pid_t child = fork();

	if (child == 0) {
		cgroup_join(group);
		if (fork() == 0)
			setsid();
		for (;;)
			pause();
	}
	return child;
}

static uint32_t members(const struct cgroup *group)
{
	char *path = mem_printf("%s/cgroup.procs", group->dirs[CGROUP_KILL]), *text = text_of(path);
	uint32_t n = 0;

	for (const char *at = text; *at; at++)
		n += *at == '\n';
	free(text);
	free(path);
	return n;
}

static void kills_a_group(enum cgroup_kind kind)
{
	struct cgroup_limits limits = { .tasks_max = 10 };
	struct cgroup base, group;
	pid_t child;

	cgroup_find(&base, kind);
	if (base.kind != kind || !base.dirs[CGROUP_KILL]) {
		printf("skip - no control groups %s here\n", cgroup_kind_name(kind));
		cgroup_fini(&base);
		return;
	}
	char *name = mem_printf("test.%d", (int)getpid());

	cgroup_name(&group, &base, name, &limits);
	cgroup_make(&group, &limits);
	if (group.kind == CGROUP_NONE) {
		printf("skip - may not make control groups %s here\n", cgroup_kind_name(kind));
	} else {
		child = sleeper_in(&group);
		while (members(&group) < 2)
			pause_ms(1);
		while (cgroup_kill(&group))
			waitpid(child, NULL, WNOHANG);
		waitpid(child, NULL, WNOHANG);
		cgroup_remove(&group);
		assert_int_not_equal(access(group.dirs[CGROUP_KILL], F_OK), 0);
	}
	free(name);
	cgroup_fini(&group);
	cgroup_tidy(&base);
	cgroup_fini(&base);
}

static void kills_a_group_of_version_1(void **state)
{
	(void)state;
	kills_a_group(CGROUP_V1);
}

static void kills_a_group_of_version_2(void **state)
{
	(void)state;
	kills_a_group(CGROUP_V2);
}

/* What the limits become, as the command itself sees it. */
static void limits_are_set(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1,
		"for c in pids cpu; do d=$(sed -n \"s/^[0-9]*:$c://p\" /proc/self/cgroup); "
		"cat /sys/fs/cgroup/$c$d/pids.max /sys/fs/cgroup/$c$d/cpu.cfs_quota_us 2>/dev/null; done; "
		"d=$(sed -n 's/^0:://p' /proc/self/cgroup); "
		"cat /sys/fs/cgroup$d/pids.max /sys/fs/cgroup$d/cpu.max 2>/dev/null; true",
		argv);
	char *text;

	(void)state;
	l.tasks_max = 77;
	l.cpus = 1.5;
	launch(f, &l);
	ending_of(f, 1);
	text = output_of(f, 1, false);
	if (!strcmp(hands_kind(f->hands), "none") || geteuid() != 0)
		printf("skip - control groups: %s\n", hands_kind(f->hands));
	else
		assert_true(!strcmp(text, "77\n150000\n") || !strcmp(text, "77\n150000 100000\n"));
	free(text);
	fixture_destroy(f);
}

/* What the kernel ends for its memory says so, and gets no other try for that. */
static void a_job_out_of_memory_says_so(void **state)
{
	struct fixture *f = fixture_create(true);
	const char *argv[4];
	struct launch l = shell(1,
		"x=$(head -c 400000000 /dev/zero | tr '\\0' x); echo ${#x} >/dev/null", argv);
	const struct ending *ending;

	(void)state;
	l.mem_bytes = 32 << 20;
	launch(f, &l);
	ending = ending_of(f, 1);
	assert_false(ending->over_memory);
	if (ending->code == 0)
		printf("skip - memory is not bounded here (control groups: %s)\n",
			hands_kind(f->hands));
	else
		assert_non_null(strstr(ending->text,
			"out of memory: the kernel killed it at its limit of 0.03 GiB"));
	fixture_destroy(f);
}

/* ---- the program */

static void started_by_hand_it_says_so(void **state)
{
	char *guard = guard_path(), *command = mem_printf("exec 3<&- 4<&-; %s 2>&1", guard);
	char line[200] = "";
	FILE *in = popen(command, "re");
	int status;

	(void)state;
	assert_non_null(fgets(line, sizeof(line), in));
	status = pclose(in);
	assert_non_null(strstr(line, "started by the stint daemon"));
	assert_int_equal(WEXITSTATUS(status), 2);
	free(command);
	free(guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_arrives_as_it_was_sent),
		cmocka_unit_test(a_damaged_order_is_refused),
		cmocka_unit_test(begun_is_made_once),
		cmocka_unit_test(ended_reads_back),
		cmocka_unit_test(a_process_is_known_for_good),
		cmocka_unit_test(kills_a_group_of_version_1),
		cmocka_unit_test(kills_a_group_of_version_2),
		cmocka_unit_test(limits_are_set),
		cmocka_unit_test(a_job_out_of_memory_says_so),
		cmocka_unit_test(started_by_hand_it_says_so),
	};

	return cmocka_run_group_tests_name("live/local/guard", tests, NULL, NULL);
}
