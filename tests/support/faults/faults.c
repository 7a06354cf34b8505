/*
 * libfaults.so: makes a chosen system call of a chosen program go wrong.
 *
 *	LD_PRELOAD=build/tests/fake/libfaults.so FAULTS_PROGRAM=stint FAULTS_DIR=$STATE \
 *	FAULTS_AT=17 FAULTS_WHAT=kill stint daemon --state $STATE
 *
 * Counted are the calls that change what a crash leaves behind: write, pwrite, writev,
 * pwritev, fsync, fdatasync, ftruncate, posix_fallocate, rename, link, unlink, mkdir, and open with O_CREAT
 * (and their *at and *64 forms), made on something below a directory.
 *
 *	FAULTS_PROGRAM  last part of /proc/self/exe; other programs are left alone
 *	FAULTS_DIR      absolute; calls on paths outside of it are not counted
 *	FAULTS_AT       the call to spoil, from 1; absent or 0: none, only count
 *	FAULTS_WHAT     what happens to it:
 *	    kill          SIGKILL instead of the call
 *	    kill-after    SIGKILL after the call
 *	    torn          half of what it writes, then SIGKILL; of other calls: kill
 *	    short         half of what it writes, and says so; of other calls: nothing
 *	    enospc, eio   this one call fails
 *	    enospc-from, eio-from   this one and all that follow fail until the file
 *	                  FAULTS_OFF exists
 *	FAULTS_OFF      see there; better not below FAULTS_DIR
 *	FAULTS_COUNT    a file that always says in text how many calls there were so far:
 *	                a driver runs once without FAULTS_AT, reads it, and knows what to try
 *	FAULTS_NOSYNC   if set, fsync and fdatasync are counted and spoilt but wait for no disk:
 *	                what a process has written outlives it, so tests of its death lose nothing
 *
 * A full disk still lets go of files: enospc spares unlink.  A process counts from 0 after exec;
 * children that have only forked count together with it.  What stdio writes by itself
 * is not seen, but the fsync and rename after it are.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DIGITS = 20 };

/* Shared with children that only forked. */
struct shared {
	atomic_flag lock;
	uint64_t calls;
};

static struct {
	atomic_int state; /* 0: nobody has asked, 1: being set up, 2: off, 3: on */
	char dir[PATH_MAX];
	size_t dir_n;
	uint64_t at;
	const char *what, *off;
	bool nosync;
	struct shared *shared;
	char *text; /* FAULTS_COUNT, mapped; NULL: none */
} faults;

/* ---- what is asked for */

static bool is_program(const char *name)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	const char *slash;

	if (n <= 0 || !name)
		return false;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	return !strcmp(slash ? slash + 1 : exe, name);
}

static char *map_count(const char *path)
{
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)
		      : -1;
	char *text = MAP_FAILED;

	if (fd >= 0 && syscall(SYS_ftruncate, fd, DIGITS + 1) == 0)
		text = mmap(NULL, DIGITS + 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return text == MAP_FAILED ? NULL : text;
}

static bool set_up(void)
{
	const char *dir = getenv("FAULTS_DIR"), *at = getenv("FAULTS_AT");
	const char *what = getenv("FAULTS_WHAT");

	if (!is_program(getenv("FAULTS_PROGRAM")) || !dir || !realpath(dir, faults.dir))
		return false;
	faults.dir_n = strlen(faults.dir);
	faults.at = at ? strtoull(at, NULL, 10) : 0;
	faults.what = what ? what : "";
	faults.off = getenv("FAULTS_OFF");
	faults.nosync = getenv("FAULTS_NOSYNC") != NULL;
	faults.shared = mmap(NULL, sizeof(*faults.shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	faults.text = map_count(getenv("FAULTS_COUNT"));
	return faults.shared != MAP_FAILED;
}

/* At the first call, so that a program that makes none leaves FAULTS_COUNT alone. */
static bool is_on(void)
{
	int none = 0;

	if (atomic_load(&faults.state) == 0 && atomic_compare_exchange_strong(&faults.state, &none, 1))
		atomic_store(&faults.state, set_up() ? 3 : 2);
	while (atomic_load(&faults.state) == 1)
		;
	return atomic_load(&faults.state) == 3;
}

/* ---- which calls */

static bool is_below(const char *path)
{
	return !strncmp(path, faults.dir, faults.dir_n) &&
		(path[faults.dir_n] == '/' || path[faults.dir_n] == '\0');
}

static bool fd_is_below(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return is_below(path);
}

/* The parent counts: the file itself may not be there yet. */
static bool path_is_below(int at, const char *path)
{
	char parent[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int n, fd;
	bool below;

	n = slash == path ? 1 : slash ? (int)(slash - path) : 1;
	n = snprintf(parent, sizeof(parent), "%.*s", n, slash ? path : ".");
	if (n < 0 || (size_t)n >= sizeof(parent))
		return false;
	if (at == AT_FDCWD || parent[0] == '/')
		return realpath(parent, real) && is_below(real);
	fd = (int)syscall(SYS_openat, at, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	below = fd >= 0 && fd_is_below(fd);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return below;
}

static uint64_t count(void)
{
	uint64_t n, rest;

	while (atomic_flag_test_and_set(&faults.shared->lock))
		;
	rest = n = ++faults.shared->calls;
	if (faults.text) {
		faults.text[DIGITS] = '\n';
		for (int i = DIGITS; i-- > 0; rest /= 10)
			faults.text[i] = rest || i == DIGITS - 1 ? (char)('0' + rest % 10) : ' ';
	}
	atomic_flag_clear(&faults.shared->lock);
	return n;
}

/* ---- what happens */

enum verdict { PASS, FAIL, HALF_THEN_DIE, HALF, PASS_THEN_DIE };

static void die(void)
{
	syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
	for (;;)
		pause();
}

static bool is_what(const char *name)
{
	return !strcmp(faults.what, name);
}

static bool is_mended(void)
{
	return faults.off && syscall(SYS_faccessat, AT_FDCWD, faults.off, F_OK) == 0;
}

static enum verdict fail_with(int error)
{
	errno = error;
	return FAIL;
}

static enum verdict spoil(void)
{
	if (is_what("kill"))
		die();
	if (is_what("kill-after"))
		return PASS_THEN_DIE;
	if (is_what("torn"))
		return HALF_THEN_DIE;
	if (is_what("short"))
		return HALF;
	if (is_what("enospc"))
		return fail_with(ENOSPC);
	return is_what("eio") ? fail_with(EIO) : PASS;
}

static enum verdict judge(void)
{
	uint64_t n = count();

	if (faults.at && n >= faults.at && is_what("enospc-from") && !is_mended())
		return fail_with(ENOSPC);
	if (faults.at && n >= faults.at && is_what("eio-from") && !is_mended())
		return fail_with(EIO);
	return faults.at && n == faults.at ? spoil() : PASS;
}

static enum verdict judge_fd(int fd)
{
	int before = errno;
	enum verdict v = is_on() && fd_is_below(fd) ? judge() : PASS;

	if (v != FAIL)
		errno = before;
	return v;
}

static enum verdict judge_path(int at, const char *path)
{
	int before = errno;
	enum verdict v = is_on() && path_is_below(at, path) ? judge() : PASS;

	if (v == HALF_THEN_DIE)
		die();
	if (v != FAIL)
		errno = before;
	return v;
}

static enum verdict judge_unlink(int at, const char *path)
{
	enum verdict v = judge_path(at, path);

	return v == FAIL && errno == ENOSPC ? PASS : v;
}

static enum verdict judge_sync(int fd)
{
	enum verdict v = judge_fd(fd);

	if (v == HALF_THEN_DIE)
		die();
	return v;
}

static long after(enum verdict v, long result)
{
	if (v == PASS_THEN_DIE)
		die();
	return result;
}

/* ---- the calls */

#define REAL(name) \
	static __typeof__(name) *real; \
	if (!real) \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

static size_t part(enum verdict v, size_t n)
{
	return (v == HALF || v == HALF_THEN_DIE) && n > 1 ? n / 2 : n;
}

static ssize_t written(enum verdict v, ssize_t n)
{
	if (v == HALF_THEN_DIE)
		die();
	return after(v, n);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	REAL(write);
	enum verdict v = judge_fd(fd);

	return v == FAIL ? -1 : written(v, real(fd, bytes, part(v, n)));
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	REAL(pwrite);
	enum verdict v = judge_fd(fd);

	return v == FAIL ? -1 : written(v, real(fd, bytes, part(v, n), at));
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	REAL(pwrite64);
	enum verdict v = judge_fd(fd);

	return v == FAIL ? -1 : written(v, real(fd, bytes, part(v, n), at));
}

/* Half of several pieces: half of the pieces, or half of the only one. */
static ssize_t half_of(int fd, const struct iovec *pieces, int n)
{
	if (n > 1)
		return (ssize_t)syscall(SYS_writev, fd, pieces, n / 2);
	return (ssize_t)syscall(SYS_write, fd, pieces[0].iov_base, part(HALF, pieces[0].iov_len));
}

ssize_t writev(int fd, const struct iovec *pieces, int n)
{
	REAL(writev);
	enum verdict v = judge_fd(fd);

	if (v == FAIL)
		return -1;
	if ((v == HALF || v == HALF_THEN_DIE) && n > 0)
		return written(v, half_of(fd, pieces, n));
	return written(v, real(fd, pieces, n));
}

ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t at)
{
	REAL(pwritev);
	enum verdict v = judge_fd(fd);

	return v == FAIL ? -1 : written(v, real(fd, pieces, v != PASS && n > 1 ? n / 2 : n, at));
}

int fsync(int fd)
{
	REAL(fsync);
	enum verdict v = judge_sync(fd);

	return v == FAIL ? -1 : (int)after(v, faults.nosync ? 0 : real(fd));
}

int fdatasync(int fd)
{
	REAL(fdatasync);
	enum verdict v = judge_sync(fd);

	return v == FAIL ? -1 : (int)after(v, faults.nosync ? 0 : real(fd));
}

int ftruncate(int fd, off_t n)
{
	REAL(ftruncate);
	enum verdict v = judge_sync(fd);

	return v == FAIL ? -1 : (int)after(v, real(fd, n));
}

int ftruncate64(int fd, off64_t n)
{
	REAL(ftruncate64);
	enum verdict v = judge_sync(fd);

	return v == FAIL ? -1 : (int)after(v, real(fd, n));
}

/* This one returns its error. */
int posix_fallocate(int fd, off_t at, off_t n)
{
	REAL(posix_fallocate);
	enum verdict v = judge_sync(fd);

	return v == FAIL ? errno : (int)after(v, real(fd, at, n));
}

int rename(const char *from, const char *to)
{
	REAL(rename);
	enum verdict v = judge_path(AT_FDCWD, to);

	return v == FAIL ? -1 : (int)after(v, real(from, to));
}

int renameat(int from_at, const char *from, int to_at, const char *to)
{
	REAL(renameat);
	enum verdict v = judge_path(to_at, to);

	return v == FAIL ? -1 : (int)after(v, real(from_at, from, to_at, to));
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned int flags)
{
	REAL(renameat2);
	enum verdict v = judge_path(to_at, to);

	return v == FAIL ? -1 : (int)after(v, real(from_at, from, to_at, to, flags));
}

int link(const char *from, const char *to)
{
	REAL(link);
	enum verdict v = judge_path(AT_FDCWD, to);

	return v == FAIL ? -1 : (int)after(v, real(from, to));
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
	REAL(linkat);
	enum verdict v = judge_path(to_at, to);

	return v == FAIL ? -1 : (int)after(v, real(from_at, from, to_at, to, flags));
}

int symlink(const char *text, const char *to)
{
	REAL(symlink);
	enum verdict v = judge_path(AT_FDCWD, to);

	return v == FAIL ? -1 : (int)after(v, real(text, to));
}

int unlink(const char *path)
{
	REAL(unlink);
	enum verdict v = judge_unlink(AT_FDCWD, path);

	return v == FAIL ? -1 : (int)after(v, real(path));
}

int unlinkat(int at, const char *path, int flags)
{
	REAL(unlinkat);
	enum verdict v = judge_unlink(at, path);

	return v == FAIL ? -1 : (int)after(v, real(at, path, flags));
}

int mkdir(const char *path, mode_t mode)
{
	REAL(mkdir);
	enum verdict v = judge_path(AT_FDCWD, path);

	return v == FAIL ? -1 : (int)after(v, real(path, mode));
}

int mkdirat(int at, const char *path, mode_t mode)
{
	REAL(mkdirat);
	enum verdict v = judge_path(at, path);

	return v == FAIL ? -1 : (int)after(v, real(at, path, mode));
}

/* ---- open, which takes a mode only sometimes */

static bool makes_files(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

static mode_t mode_in(int flags, va_list ap)
{
	return makes_files(flags) ? va_arg(ap, mode_t) : 0;
}

static enum verdict judge_open(int at, const char *path, int flags)
{
	return makes_files(flags) ? judge_path(at, path) : PASS;
}

#define OPEN(name) \
	int name(const char *path, int flags, ...) \
	{ \
		REAL(name); \
		enum verdict v = judge_open(AT_FDCWD, path, flags); \
		va_list ap; \
		mode_t mode; \
\
		va_start(ap, flags); \
		mode = mode_in(flags, ap); \
		va_end(ap); \
		return v == FAIL ? -1 : (int)after(v, real(path, flags, mode)); \
	}

#define OPENAT(name) \
	int name(int at, const char *path, int flags, ...) \
	{ \
		REAL(name); \
		enum verdict v = judge_open(at, path, flags); \
		va_list ap; \
		mode_t mode; \
\
		va_start(ap, flags); \
		mode = mode_in(flags, ap); \
		va_end(ap); \
		return v == FAIL ? -1 : (int)after(v, real(at, path, flags, mode)); \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int creat(const char *path, mode_t mode)
{
	return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
