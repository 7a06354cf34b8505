/*
 * Real hands in a directory of their own, and what they have told.
 */
#ifndef TESTS_LIVE_LOCAL_HANDS_FIXTURE_H
#define TESTS_LIVE_LOCAL_HANDS_FIXTURE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "live/local/hands.h"
#include "live/local/proc.h"
#include "support/property.h"

enum { TOLD_MAX = 512, PATIENCE_MS = 60000 };

struct fixture {
	char *state, *guard;
	double claim_timeout_s; /* of hands that are opened from now on */
	struct hands *hands;
	struct ending endings[TOLD_MAX];
	uint32_t nendings, nbegun;
	uint32_t begun[TOLD_MAX];          /* jobs */
	uint32_t nlaunched, last_launched; /* launches told of, and the job of the last */
	struct err last_launch;            /* why it failed; code 0: it worked */
};

static inline void told_launched(void *ctx, uint32_t job, uint32_t attempt, const struct err *failed)
{
	struct fixture *f = ctx;

	(void)attempt;
	f->nlaunched++;
	f->last_launched = job;
	f->last_launch = failed ? *failed : (struct err){ 0 };
}

static inline void told_begun(void *ctx, uint32_t job, uint32_t attempt, double at_s)
{
	struct fixture *f = ctx;

	(void)attempt;
	assert_true(at_s > 0 && f->nbegun < TOLD_MAX);
	f->begun[f->nbegun++] = job;
}

static inline void told_ended(void *ctx, const struct ending *ending)
{
	struct fixture *f = ctx;

	assert_true(f->nendings < TOLD_MAX);
	f->endings[f->nendings++] = *ending;
}

/* Beside the tests in the build directory. */
static inline char *guard_path(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	for (int up = 0; up < 4; up++) /* B/tests/live/local/NAME */
		*strrchr(self, '/') = '\0';
	return mem_printf("%s/stint-guard", self);
}

static inline void open_hands(struct fixture *f, bool cgroups)
{
	struct hands_config config = { .state_dir = f->state,
		.ctx = f,
		.launched = told_launched,
		.begun = told_begun,
		.ended = told_ended };
	struct local_options options = { .guard = f->guard,
		.cgroups = cgroups,
		.claim_timeout_s = f->claim_timeout_s };
	struct err err = { 0 };

	if (local_hands_open(&config, &options, &f->hands, &err) < 0)
		fail_msg("%s", err.text);
}

static inline void reopen_hands(struct fixture *f, bool cgroups)
{
	hands_close(f->hands);
	open_hands(f, cgroups);
}

static inline struct fixture *fixture_create(bool cgroups)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	const char *tmp = getenv("TMPDIR");

	f->state = mem_printf("%s/hands.XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(f->state));
	assert_int_equal(chmod(f->state, 0711), 0);
	f->guard = guard_path();
	open_hands(f, cgroups);
	return f;
}

static inline void remove_tree(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *inner = mem_printf("%s/%s", path, entry->d_name);

		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && unlink(inner) < 0)
			remove_tree(inner);
		free(inner);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

static inline void fixture_destroy(struct fixture *f)
{
	hands_close(f->hands);
	remove_tree(f->state);
	free(f->state);
	free(f->guard);
	free(f);
}

/* ---- launching */

static const char *const plain_env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "COLOUR=blue", NULL };

/* A launch of `sh -c text` as ourselves; `argv` is filled.  Bounded, for tests that fail in the middle. */
static inline struct launch shell(uint32_t job, const char *text, const char *argv[4])
{
	argv[0] = "sh";
	argv[1] = "-c";
	argv[2] = text;
	argv[3] = NULL;
	return (struct launch){ .job = job,
		.attempt = 1,
		.argv = argv,
		.env = plain_env,
		.cwd = "/",
		.uid = getuid(),
		.gid = getgid(),
		.stop_signal = SIGTERM,
		.grace_s = 30,
		.time_s = 120 };
}

/* ---- waiting: for a condition, with a limit that means failure */

static inline void poll_once(struct fixture *f)
{
	struct pollfd on = { hands_fd(f->hands), POLLIN, 0 };
	struct err err = { 0 };

	if (poll(&on, 1, PATIENCE_MS) == 0)
		fail_msg("nothing happened for %d ms", PATIENCE_MS);
	assert_int_equal(hands_poll(f->hands, &err), 0);
}

/* Launches, and waits for what becomes of the claim. */
static inline int try_launch(struct fixture *f, const struct launch *l, struct err *err)
{
	uint32_t told = f->nlaunched;
	int rc = hands_launch(f->hands, l, err);

	if (rc != LAUNCH_PENDING)
		return rc;
	while (f->nlaunched == told)
		poll_once(f);
	assert_int_equal(f->last_launched, l->job);
	*err = f->last_launch;
	return err->code;
}

static inline void launch(struct fixture *f, const struct launch *l)
{
	struct err err = { 0 };

	if (try_launch(f, l, &err) < 0)
		fail_msg("%s", err.text);
}

static inline void launch_shell(struct fixture *f, uint32_t job, const char *text)
{
	const char *argv[4];
	struct launch l = shell(job, text, argv);

	launch(f, &l);
}

static inline const struct ending *ending_of(struct fixture *f, uint32_t job)
{
	for (;;) {
		for (uint32_t i = 0; i < f->nendings; i++) {
			if (f->endings[i].job == job)
				return &f->endings[i];
		}
		poll_once(f);
	}
}

static inline bool has_begun(const struct fixture *f, uint32_t job)
{
	for (uint32_t i = 0; i < f->nbegun; i++) {
		if (f->begun[i] == job)
			return true;
	}
	return false;
}

static inline void wait_begun(struct fixture *f, uint32_t job)
{
	while (!has_begun(f, job))
		poll_once(f);
}

static inline void pause_ms(int ms)
{
	poll(NULL, 0, ms);
}

/* Until the file is there and has something in it. */
static inline void wait_file(const char *path)
{
	struct stat now;

	for (int ms = 0; stat(path, &now) < 0 || !now.st_size; ms += 5) {
		if (ms > PATIENCE_MS)
			fail_msg("%s does not appear", path);
		pause_ms(5);
	}
}

/*
 * A new file whose opening by another process waits for 45 seconds, until the descriptor is closed or the other
 * process is killed: a lease.  -1: this file system knows none.
 */
static inline int lease(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
		return fd;
	print_message("skip - this file system knows no leases\n");
	close(fd);
	return -1;
}

/* ---- looking */

/* Text of a file, malloc'ed; "" if there is none. */
static inline char *text_of(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = mem_alloc(1 << 20);

	if (in) {
		text[fread(text, 1, (1 << 20) - 1, in)] = '\0';
		fclose(in);
	}
	return text;
}

static inline char *output_of(struct fixture *f, uint32_t job, bool err_out)
{
	char *path = hands_output(f->hands, job, 1, err_out), *text = text_of(path);

	free(path);
	return text;
}

static inline void assert_output(struct fixture *f, uint32_t job, const char *want)
{
	char *text = output_of(f, job, false);

	assert_string_equal(text, want);
	free(text);
}

/* The path of a file that a job can use to say something, in the state directory. */
static inline char *path_in(const struct fixture *f, const char *name)
{
	return mem_printf("%s/%s", f->state, name);
}

static inline bool alive(pid_t pid)
{
	char path[64], *text, *name_ends;
	bool is;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	text = text_of(path);
	name_ends = strrchr(text, ')');
	is = name_ends && name_ends[2] != 'Z' && name_ends[2] != 'X';
	free(text);
	return is;
}

/* How many processes of this machine have that in their command line. */
static inline int processes_with(const char *what)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(dir))) {
		char path[300], line[4096];
		int fd;
		ssize_t got;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		got = fd < 0 ? 0 : read(fd, line, sizeof(line));
		if (fd >= 0)
			close(fd);
		n += got > 0 && atoi(entry->d_name) != getpid() &&
			memmem(line, (size_t)got, what, strlen(what)) != NULL;
	}
	closedir(dir);
	return n;
}

static inline int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* The guard of a job's attempt 1, as `begun` has it. */
static inline pid_t guard_of(const struct fixture *f, uint32_t job)
{
	char *dir = hands_dir(f->hands, job, 1), *path = mem_printf("%s/begun", dir);
	char *text = text_of(path), *line = strstr(text, "guard ");
	pid_t pid = line ? atoi(line + 6) : 0;

	free(text);
	free(path);
	free(dir);
	return pid;
}

#endif
