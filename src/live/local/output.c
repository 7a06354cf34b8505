#include "live/local/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- files that the user names */

/* Numbers of the kernel's memory devices, which never block. */
enum {
	MEM_MAJOR = 1,
	NULL_MINOR = 3,
	ZERO_MINOR = 5,
	FULL_MINOR = 7,
	TTY_MAJOR = 4,
	TTYAUX_MAJOR = 5
};

static bool is_sink(dev_t device)
{
	return major(device) == MEM_MAJOR &&
		(minor(device) == NULL_MINOR || minor(device) == ZERO_MINOR ||
			minor(device) == FULL_MINOR);
}

/* Before it is opened: opening some devices does something.  The kernel gives 136 to 143 to pseudo terminals. */
static bool is_terminal(dev_t device)
{
	return major(device) == TTY_MAJOR || major(device) == TTYAUX_MAJOR ||
		(major(device) >= 136 && major(device) <= 143);
}

/* What is wrong with a file of this kind as output; NULL: nothing. */
static const char *wrong_kind(const struct stat *file)
{
	switch (file->st_mode & S_IFMT) {
	case S_IFREG:
	case S_IFIFO:
		return NULL;
	case S_IFLNK:
		return "it is a symbolic link";
	case S_IFDIR:
		return "it is a directory";
	case S_IFSOCK:
		return "it is a socket";
	case S_IFBLK:
		return "it is a block device";
	case S_IFCHR:
		return is_sink(file->st_rdev) || is_terminal(file->st_rdev)
			? NULL
			: "it is a device that is no terminal";
	default:
		return "it is no file";
	}
}

static int refuse(char *why, size_t cap, const char *path, const char *reason)
{
	snprintf(why, cap, "cannot write %s: %s", path, reason);
	return -1;
}

static const char *reason_of(int number, const struct stat *before)
{
	if (number == ELOOP)
		return "it is a symbolic link";
	if (number == ENXIO && S_ISFIFO(before->st_mode))
		return "it is a FIFO that no process reads; start the reader first";
	return strerror(number);
}

/* Without waiting, but for a lease that another process holds on the file: the kernel takes that away in time. */
static int open_at_once(const char *path)
{
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
	int fd = open(path, flags | O_NONBLOCK, 0666);

	return fd < 0 && errno == EWOULDBLOCK ? open(path, flags, 0666) : fd;
}

int output_open(const char *path, bool anew, char *why, size_t cap)
{
	struct stat file = { 0 };
	const char *wrong = lstat(path, &file) == 0 ? wrong_kind(&file) : NULL;
	int fd;

	if (wrong)
		return refuse(why, cap, path, wrong);
	fd = open_at_once(path);
	if (fd < 0)
		return refuse(why, cap, path, reason_of(errno, &file));
	/* Another file may have the name by now. */
	if (fstat(fd, &file) < 0)
		wrong = strerror(errno);
	else
		wrong = wrong_kind(&file);
	if (!wrong && anew && S_ISREG(file.st_mode) && ftruncate(fd, 0) < 0)
		wrong = strerror(errno);
	if (!wrong && fcntl(fd, F_SETFL, O_APPEND) < 0) /* the job's own writes may wait */
		wrong = strerror(errno);
	if (!wrong)
		return fd;
	close(fd);
	return refuse(why, cap, path, wrong);
}
