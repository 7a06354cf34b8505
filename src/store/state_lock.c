#include "store/state_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { TRIES = 200 }; /* every 10 ms */

static const off_t locked_byte = (off_t)1 << 62;

/*
 * A child of a daemon that was killed, on its way to become a guard, holds the locks and the socket a
 * moment longer than its parent.
 */
static bool take(int fd, int tries)
{
	struct timespec pause = { 0, 10000000 };

	for (int left = tries; flock(fd, LOCK_EX | LOCK_NB) < 0; left--) {
		if (errno != EWOULDBLOCK || !left)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* ---- the record itself */

/*
 * A lock of the open file on one byte far behind the end.  SQLite's locks are of the process and on other bytes, so
 * neither is in the way of the other, also where a network file system makes one kind out of both.
 */
static bool lock_byte(int fd, int tries)
{
	struct flock byte = { .l_type = F_WRLCK, .l_start = locked_byte, .l_len = 1 };
	struct timespec pause = { 0, 10000000 };

	for (int left = tries; fcntl(fd, F_OFD_SETLK, &byte) < 0; left--) {
		if ((errno != EAGAIN && errno != EACCES) || !left)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static bool is_still_there(int fd, const char *path)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
		here.st_ino == there.st_ino;
}

/* Whether a process holds the directory `jobs`, or, without one, the file `lock`. */
static bool has_holder(const char *dir)
{
	static const char *const names[] = { "jobs", "lock" };
	bool held = false;

	for (size_t i = 0; i < 2 && !held; i++) {
		char *path = mem_printf("%s/%s", dir, names[i]);
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		held = fd >= 0 && !take(fd, 0);
		if (fd >= 0)
			close(fd);
		free(path);
	}
	return held;
}

static int in_use(const char *dir, struct err *err)
{
	return err_set(err, ERR_REFUSED,
		"another daemon uses %s; ask it with 'stint queue', or choose another directory with --state",
		dir);
}

static int record_in_use(const char *dir, struct err *err)
{
	if (has_holder(dir))
		return in_use(dir, err);
	return err_set(err, ERR_REFUSED,
		"another daemon uses %s/stint.db, and it does not hold %s/jobs and %s/lock: these were moved or "
		"deleted while it ran.  Nothing was changed.  Stop that daemon ('fuser %s/stint.db' names its "
		"process; its jobs run on), put the directory jobs back if it is elsewhere, and start again",
		dir, dir, dir, dir);
}

/* ERR_MISSING: there is no record yet. */
static int lock_record(const char *dir, int tries, int *out, struct err *err)
{
	char *path = mem_printf("%s/stint.db", dir);
	int rc = 0;

	do {
		if (*out >= 0)
			close(*out); /* it was replaced while we waited */
		*out = open(path, O_RDWR | O_CLOEXEC);
		if (*out < 0)
			rc = errno == ENOENT
				? ERR_MISSING
				: err_set(err, ERR_IO, "cannot open %s: %s", path, strerror(errno));
		else if (!lock_byte(*out, tries))
			rc = errno == EAGAIN || errno == EACCES
				? record_in_use(dir, err)
				: err_set(err, ERR_IO, "cannot lock %s: %s", path, strerror(errno));
	} while (rc == 0 && !is_still_there(*out, path));
	free(path);
	return rc;
}

int state_lock_record(const char *dir, struct state_lock *lock, struct err *err)
{
	int rc = lock->record >= 0 ? 0 : lock_record(dir, TRIES, &lock->record, err);

	return rc == ERR_MISSING ? err_set(err, rc, "%s/stint.db is gone", dir) : rc;
}

/* ---- what is beside it */

static int take_both(const char *dir, int tries, struct state_lock *lock, struct err *err)
{
	char *path = mem_printf("%s/lock", dir), *jobs = mem_printf("%s/jobs", dir);
	int rc = 0;

	if (mkdir(jobs, geteuid() == 0 ? 0711 : 0700) == 0 || errno == EEXIST)
		lock->dir = open(jobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lock->file = lock->dir < 0 ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock->dir < 0)
		rc = err_set(err, ERR_IO, "%s: %s", jobs, strerror(errno));
	else if (lock->file < 0)
		rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	else if (!take(lock->dir, tries) || !take(lock->file, tries))
		rc = errno == EWOULDBLOCK
			? in_use(dir, err)
			: err_set(err, ERR_IO, "cannot lock %s: %s", dir, strerror(errno));
	free(path);
	free(jobs);
	return rc;
}

static int lock_state(const char *dir, int tries, struct state_lock *out, struct err *err)
{
	int rc;

	*out = STATE_UNLOCKED;
	/* The record first: a refusal has made nothing then. */
	rc = lock_record(dir, tries, &out->record, err);
	if (rc == 0 || rc == ERR_MISSING)
		rc = take_both(dir, tries, out, err);
	if (rc < 0)
		state_unlock(out);
	return rc;
}

int state_lock(const char *dir, struct state_lock *out, struct err *err)
{
	return lock_state(dir, TRIES, out, err);
}

int state_lock_now(const char *dir, struct state_lock *out, struct err *err)
{
	return lock_state(dir, 0, out, err);
}

void state_unlock(struct state_lock *lock)
{
	if (lock->file >= 0)
		close(lock->file);
	if (lock->dir >= 0)
		close(lock->dir);
	if (lock->record >= 0)
		close(lock->record);
	*lock = STATE_UNLOCKED;
}
