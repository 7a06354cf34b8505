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
			? err_set(err, ERR_REFUSED,
				  "another daemon uses %s; ask it with 'stint queue', or choose another directory with --state",
				  dir)
			: err_set(err, ERR_IO, "cannot lock %s: %s", dir, strerror(errno));
	free(path);
	free(jobs);
	return rc;
}

static int lock_state(const char *dir, int tries, struct state_lock *out, struct err *err)
{
	int rc;

	*out = STATE_UNLOCKED;
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
	*lock = STATE_UNLOCKED;
}
