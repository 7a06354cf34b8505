/*
 * A wall clock that is wrong (LD_PRELOAD): the file that FAKE_CLOCK names has the seconds that it is ahead.  It may
 * change at any time, which is a clock that is set.  CLOCK_BOOTTIME and CLOCK_MONOTONIC are as they are.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead_s(void)
{
	const char *path = getenv("FAKE_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[32] = "";

	if (fd < 0)
		return 0;
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	return strtol(text, NULL, 10);
}

int clock_gettime(clockid_t which, struct timespec *out)
{
	int rc = (int)syscall(SYS_clock_gettime, which, out);

	if (rc == 0 && which == CLOCK_REALTIME)
		out->tv_sec += ahead_s();
	return rc;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *out, void *zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct timeval){ .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
	return 0;
}
