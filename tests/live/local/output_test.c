/*
 * Files that jobs write to: what is emptied, what is refused, and openings that hang.
 */
#include "live/local/output.h"

#include <linux/fuse.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "live/local/hands_fixture.h"

static void put(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void assert_text(const char *path, const char *want)
{
	char *text = text_of(path);

	assert_string_equal(text, want);
	free(text);
}

/* ---- what is emptied */

static void only_the_first_command_empties_the_file(void **state)
{
	static const struct {
		const char *what;
		uint32_t attempt;
		bool append, both;
		const char *out, *err_out;
	} rows[] = {
		{ "the first attempt begins anew", 1, false, false, "out\nsaved\nends\n", "bad\nlost\n" },
		{ "one file for both", 1, false, true, "out\nbad\nsaved\nlost\nends\n", "old\n" },
		{ "the second goes on", 2, false, false, "old\nout\nsaved\nends\n", "old\nbad\nlost\n" },
		{ "the second goes on in one file", 2, false, true,
			"old\nout\nbad\nsaved\nlost\nends\n", "old\n" },
		{ "files of several jobs are never emptied", 1, true, false,
			"old\nout\nsaved\nends\n", "old\nbad\nlost\n" },
	};
	struct fixture *f = fixture_create(true);
	char *out = path_in(f, "out"), *err_out = path_in(f, "err"), *ready = path_in(f, "ready");
	char *text = mem_printf("trap 'echo ends; exit 0' TERM; echo out; echo bad >&2; echo 1 >%s; "
				"while :; do sleep 0.01; done 2>/dev/null",
		ready);

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *argv[4];
		struct launch l = shell(i + 1, text, argv);
		struct err err = { 0 };

		print_message("%s\n", rows[i].what);
		unlink(ready);
		put(out, "old\n");
		put(err_out, "old\n");
		l.attempt = rows[i].attempt;
		l.out = out;
		l.err_out = rows[i].both ? out : err_out;
		l.out_append = rows[i].append;
		l.checkpoint = "echo saved; echo lost >&2";
		launch(f, &l);
		wait_file(ready);
		hands_stop(f->hands, l.job, l.attempt, false, &err);
		assert_int_equal(ending_of(f, l.job)->code, 0);
		assert_text(out, rows[i].out);
		assert_text(err_out, rows[i].err_out);
	}
	free(out);
	free(err_out);
	free(ready);
	free(text);
	fixture_destroy(f);
}

/* Saving matters more than what the checkpoint command prints. */
static void a_checkpoint_runs_without_its_output(void **state)
{
	struct fixture *f = fixture_create(true);
	char *dir = path_in(f, "dir"), *moved = path_in(f, "moved"), *out = path_in(f, "dir/out");
	char *ready = path_in(f, "ready"), *saved = path_in(f, "saved");
	char *text = mem_printf("trap 'exit 0' TERM; echo 1 >%s; while :; do sleep 0.01; done", ready);
	char *checkpoint = mem_printf("echo x; echo 1 >%s", saved);
	const char *argv[4];
	struct launch l = shell(1, text, argv);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(mkdir(dir, 0700), 0);
	l.out = l.err_out = out;
	l.checkpoint = checkpoint;
	launch(f, &l);
	wait_file(ready);
	assert_int_equal(rename(dir, moved), 0);
	hands_stop(f->hands, 1, 1, false, &err);
	assert_int_equal(ending_of(f, 1)->code, 0);
	assert_text(saved, "1\n");
	free(dir);
	free(moved);
	free(out);
	free(ready);
	free(saved);
	free(text);
	free(checkpoint);
	fixture_destroy(f);
}

/* ---- kinds */

static const struct ending *end_with_output(struct fixture *f, uint32_t job, const char *path)
{
	const char *argv[4];
	struct launch l = shell(job, "echo hello", argv);

	l.out = l.err_out = path;
	launch(f, &l);
	return ending_of(f, job);
}

static void refused(struct fixture *f, uint32_t job, const char *path, const char *why)
{
	const struct ending *e = end_with_output(f, job, path);

	assert_int_equal(e->code, 126);
	assert_true(e->begun_s == 0);
	if (!strstr(e->text, why))
		fail_msg("'%s' does not say '%s'", e->text, why);
}

static void files_of_other_kinds_are_refused(void **state)
{
	struct fixture *f = fixture_create(true);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char *fifo = path_in(f, "fifo"), *link = path_in(f, "link"), *device = path_in(f, "device");
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink("/dev/null", link), 0);
	refused(f, 1, fifo, "it is a FIFO that no process reads");
	refused(f, 2, link, "it is a symbolic link");
	refused(f, 3, f->state, "it is a directory");
	snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/stint-output-%d", (int)getpid());
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	refused(f, 4, at.sun_path, "it is a socket");
	unlink(at.sun_path);
	close(listener);
	if (getuid() == 0 && mknod(device, S_IFBLK | 0600, makedev(7, 200)) == 0) {
		refused(f, 5, device, "it is a block device");
		unlink(device);
		assert_int_equal(mknod(device, S_IFCHR | 0600, makedev(10, 130)), 0);
		refused(f, 6, device, "it is a device that is no terminal");
	} else {
		print_message("skip - making devices needs root\n");
	}
	assert_int_equal(end_with_output(f, 7, "/dev/null")->code, 0);
	free(fifo);
	free(link);
	free(device);
	fixture_destroy(f);
}

/* More than a pipe holds: the job's own writes wait for the reader. */
static void a_fifo_with_a_reader_gets_everything(void **state)
{
	enum { BYTES = 1 << 20 };
	struct fixture *f = fixture_create(true);
	char *fifo = path_in(f, "fifo"), piece[65536];
	const char *argv[4];
	struct launch l = shell(1, "head -c 1048576 /dev/zero", argv);
	size_t got = 0;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	l.out = l.err_out = fifo;
	launch(f, &l);
	for (int ms = 0; got < BYTES && ms < PATIENCE_MS;) {
		ssize_t n = read(fd, piece, sizeof(piece));

		if (n > 0) {
			got += (size_t)n;
			continue;
		}
		pause_ms(5);
		ms += 5;
	}
	assert_int_equal(got, BYTES);
	assert_int_equal(ending_of(f, 1)->code, 0);
	close(fd);
	free(fifo);
	fixture_destroy(f);
}

/* ---- openings that hang */

static void the_time_limit_counts_from_the_claim(void **state)
{
	struct fixture *f = fixture_create(true);
	char *path = path_in(f, "leased");
	const char *argv[4];
	struct launch l = shell(1, "exit 0", argv);
	int fd = lease(path);

	(void)state;
	l.out = l.err_out = path;
	l.time_s = 0.2;
	l.grace_s = 1000;
	if (fd >= 0) {
		launch(f, &l);
		assert_true(ending_of(f, 1)->timed_out);
		assert_true(ending_of(f, 1)->begun_s == 0);
		assert_int_equal(ending_of(f, 1)->signal, SIGKILL);
		close(fd);
	}
	free(path);
	fixture_destroy(f);
}

static void an_opening_that_hangs_can_be_stopped(void **state)
{
	struct fixture *f = fixture_create(true);
	char *path = path_in(f, "leased");
	const char *argv[4];
	struct launch l = shell(1, "exit 0", argv);
	struct err err = { 0 };
	int fd = lease(path);

	(void)state;
	l.out = l.err_out = path;
	l.grace_s = 1000;
	if (fd >= 0) {
		launch(f, &l);
		hands_stop(f->hands, 1, 1, false, &err);
		assert_true(ending_of(f, 1)->asked && !ending_of(f, 1)->timed_out);
		assert_true(ending_of(f, 1)->begun_s == 0);
		assert_true(ending_of(f, 1)->signal != 0);
		close(fd);
	}
	free(path);
	fixture_destroy(f);
}

/* A file system that takes every request and answers the first only.  Its process, or -1. */
static pid_t mount_dead(const char *path)
{
	char options[128];
	char request[1 << 17];
	struct {
		struct fuse_out_header head;
		struct fuse_init_out init;
	} answer = { .head = { .len = sizeof(answer) },
		.init = { .major = FUSE_KERNEL_VERSION,
			.minor = FUSE_KERNEL_MINOR_VERSION,
			.max_write = 4096 } };
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	pid_t server;

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd < 0 || unshare(CLONE_NEWNS) < 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("stint-test", path, "fuse", 0, options) < 0)
		return -1;
	server = fork();
	while (server == 0) {
		ssize_t n = read(fd, request, sizeof(request));
		const struct fuse_in_header *head = (const void *)request;

		if (n < 0 && errno != EINTR)
			_exit(0);
		if (n < (ssize_t)sizeof(*head) || head->opcode != FUSE_INIT)
			continue;
		answer.head.unique = head->unique;
		if (write(fd, &answer, sizeof(answer)) < 0)
			_exit(1);
	}
	close(fd);
	return server;
}

/* The process cannot even be killed: the attempt ends all the same, and its devices are free. */
static void a_dead_file_system_is_given_up(void **state)
{
	struct fixture *f = fixture_create(true);
	char *dir = path_in(f, "mount"), *path = path_in(f, "mount/out");
	const char *argv[4];
	struct launch l = shell(1, "exit 0", argv);
	pid_t server;

	(void)state;
	assert_int_equal(mkdir(dir, 0700), 0);
	server = getuid() == 0 ? mount_dead(dir) : -1;
	l.out = l.err_out = path;
	l.time_s = 0.2;
	l.grace_s = 1000;
	if (server > 0) {
		launch(f, &l);
		assert_true(ending_of(f, 1)->timed_out);
		assert_true(ending_of(f, 1)->begun_s == 0);
		assert_non_null(strstr(ending_of(f, 1)->text, "does not answer"));
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
		umount2(dir, MNT_DETACH);
	} else {
		print_message("skip - a dead file system needs root and /dev/fuse\n");
	}
	free(dir);
	free(path);
	fixture_destroy(f);
}

/* ---- output that is kept */

static int64_t size_at(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("there is no '%s'", part);
}

/*
 * A job that prints five times the cap, and a last line when the guard has cut: `most` is what the file then has at
 * most.
 */
static char *wordy(struct fixture *f, uint32_t job, int most)
{
	char *path = hands_output(f->hands, job, 1, false);
	char *script = mem_printf(
		"for i in 1 2 3 4 5; do seq -f 'line %%.0f' 40000; "
		"until [ $(stat -c %%s %s) -lt %d ]; do sleep 0.02; done; done; echo bad >&2; echo bye",
		path, most);

	free(path);
	return script;
}

static void kept_output_has_a_cap(void **state)
{
	enum { CAP = 256 << 10 };
	struct fixture *f = fixture_create(true);
	char *path = hands_output(f->hands, 1, 1, false), *script = wordy(f, 1, CAP), *text;
	const char *argv[4];
	struct launch l = shell(1, script, argv);

	(void)state;
	l.out_cap = CAP;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 0);
	assert_true(size_at(path) <= CAP);
	text = output_of(f, 1, false);
	assert_int_equal(strncmp(text, "line 1\nline 2\n", 14), 0);
	assert_has(text, "an attempt of this job may keep 256");
	assert_has(text, "bye\n");
	free(text);
	text = output_of(f, 1, true);
	assert_string_equal(text, "bad\n");
	free(text);
	free(path);
	free(script);
	fixture_destroy(f);
}

/* Once the guard has the order, what the job writes is cut; the job goes on. */
static void held_output_does_not_grow(void **state)
{
	struct fixture *f = fixture_create(true);
	char *path = hands_output(f->hands, 1, 1, false), *text;
	char *script = mem_printf(
		"until grep -q 'stint: ' %s; do seq -f 'line %%.0f' 20000; sleep 0.05; done; echo bye",
		path);
	const char *argv[4];
	struct launch l = shell(1, script, argv);
	struct err err;

	(void)state;
	assert_true(hands_can_hold_output(f->hands));
	launch(f, &l);
	assert_int_equal(hands_hold_output(f->hands, 1, 1, true, &err), 0);
	assert_int_equal(ending_of(f, 1)->code, 0);
	text = output_of(f, 1, false);
	assert_has(text, "the jobs of this tenant keep as much as they may");
	assert_has(text, "bye\n");
	free(text);
	assert_int_equal(hands_hold_output(f->hands, 1, 1, true, &err), ERR_MISSING);
	free(path);
	free(script);
	fixture_destroy(f);
}

/* A job that writes as fast as it can: it goes on, and what is left in the end is within the cap. */
static void a_fast_writer_goes_on(void **state)
{
	enum { CAP = 1 << 20 };
	struct fixture *f = fixture_create(true);
	char *path = hands_output(f->hands, 1, 1, false),
	     *err_path = hands_output(f->hands, 1, 1, true);
	const char *argv[4];
	struct launch l = shell(1, "seq -f 'line %.0f' 1000000; seq -f 'line %.0f' 300000 >&2", argv);

	(void)state;
	l.out_cap = CAP;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 0);
	assert_true(size_at(path) + size_at(err_path) <= CAP);
	free(path);
	free(err_path);
	fixture_destroy(f);
}

/* All attempts together have the cap; the last has a sixteenth in any case. */
static void attempts_share_the_cap(void **state)
{
	enum { CAP = 1 << 20 };
	struct fixture *f = fixture_create(true);
	char *first = hands_output(f->hands, 1, 1, false), *path = hands_output(f->hands, 1, 2, false);
	const char *argv[4];
	struct launch l = shell(1, "seq -f 'line %.0f' 100000", argv);

	(void)state;
	l.out_cap = CAP;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 0);
	f->nendings = 0;
	l.attempt = 2;
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 0);
	assert_true(size_at(path) > 0 && size_at(first) + size_at(path) <= CAP);
	free(first);
	free(path);
	fixture_destroy(f);
}

/* On a disk whose free space is below the reserve files stay small, and jobs run. */
static void a_low_disk_holds_output_back(void **state)
{
	enum { MOST = 128 << 10 };
	struct fixture *f = fixture_create(true);
	char *path = hands_output(f->hands, 1, 1, false), *script = wordy(f, 1, MOST), *text;
	const char *argv[4];
	struct launch l = shell(1, script, argv);

	(void)state;
	l.out_reserve = INT64_MAX; /* no disk is that large */
	launch(f, &l);
	assert_int_equal(ending_of(f, 1)->code, 0);
	assert_true(size_at(path) <= MOST);
	text = output_of(f, 1, false);
	assert_int_equal(strncmp(text, "line 1\nline 2\n", 14), 0);
	assert_has(text, "because the disk is nearly full");
	assert_has(text, "bye\n");
	free(text);
	free(path);
	free(script);
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_first_command_empties_the_file),
		cmocka_unit_test(a_checkpoint_runs_without_its_output),
		cmocka_unit_test(files_of_other_kinds_are_refused),
		cmocka_unit_test(a_fifo_with_a_reader_gets_everything),
		cmocka_unit_test(the_time_limit_counts_from_the_claim),
		cmocka_unit_test(an_opening_that_hangs_can_be_stopped),
		cmocka_unit_test(kept_output_has_a_cap),
		cmocka_unit_test(held_output_does_not_grow),
		cmocka_unit_test(a_fast_writer_goes_on),
		cmocka_unit_test(attempts_share_the_cap),
		cmocka_unit_test(a_low_disk_holds_output_back),
		cmocka_unit_test(a_dead_file_system_is_given_up),
	};

	return cmocka_run_group_tests_name("live/local/output", tests, NULL, NULL);
}
