#include "store/record_reserve.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"

static char *path_of(const char *db)
{
	return mem_printf("%s" RESERVE_END, db);
}

/* < 0: not known. */
static int64_t free_bytes(const char *path)
{
	struct statvfs disk;

	return statvfs(path, &disk) < 0 ? -1 : (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
}

static int64_t size_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : 0;
}

/* A copy of a state directory may have a file of the same size without any blocks. */
static bool has_blocks(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && (int64_t)st.st_blocks * 512 >= RESERVE_BYTES;
}

static void make_whole(const char *path, int64_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	if (posix_fallocate(fd, 0, RESERVE_BYTES) != 0)
		(void)!ftruncate(fd, size);
	close(fd);
}

void reserve_keep(const char *db, bool opening)
{
	char *path = path_of(db);
	int64_t size = size_of(path);
	bool whole = size >= RESERVE_BYTES && (!opening || has_blocks(path));

	if (!whole && free_bytes(db) >= 4 * (int64_t)RESERVE_BYTES)
		make_whole(path, size);
	free(path);
}

static bool cut(const char *path, int64_t size)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	bool done = fd >= 0 && ftruncate(fd, size) == 0;

	if (fd >= 0)
		close(fd);
	return done;
}

bool reserve_give(const char *db)
{
	char *path = path_of(db);
	int64_t size = size_of(path), left = size - RESERVE_PIECE;
	bool given = size > 0 && (left > 0 ? cut(path, left) : unlink(path) == 0);

	free(path);
	return given;
}

void reserve_give_until(const char *db, int64_t bytes)
{
	int64_t is = free_bytes(db);

	while (is >= 0 && is < bytes && reserve_give(db))
		is = free_bytes(db);
}

bool reserve_would_help(const struct err *err)
{
	return !strncmp(err->text, "disk full", strlen("disk full"));
}
