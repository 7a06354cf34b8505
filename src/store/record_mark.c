/*
 * Two lines of equal length take turns, each with a sum of its own: what is torn by a crash is not
 * taken for a number, and the other line is whole.
 */
#include "store/record_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

#define HEAD_FORMAT "stint record 1\nid %s\ngeneration %010u\n"
#define LINE_FORMAT "seq %020llu job %010u"
#define SUM_FORMAT " sum %016llx\n"

enum {
	HEAD_SIZE = 15 + 3 + LINEAGE_ID_DIGITS + 1 + 11 + 10 + 1,
	LINE_SIZE = 4 + 20 + 5 + 10 + 5 + 16 + 1,
	FILE_SIZE = HEAD_SIZE + 2 * LINE_SIZE,
};

char *record_mark_path(const char *db)
{
	const char *base = path_base(db);

	if (strcmp(base, "stint.db") != 0)
		return mem_printf("%s.id", db);
	return mem_printf("%.*srecord.id", (int)(base - db), db);
}

static unsigned long long sum_of(const char *line)
{
	return hash_bytes(HASH_START, line, strlen(line));
}

/* LINE_SIZE bytes and a NUL. */
static void write_line(char *to, uint64_t seq, uint32_t job)
{
	int n = snprintf(to, LINE_SIZE + 1, LINE_FORMAT, (unsigned long long)seq, job);

	snprintf(to + n, (size_t)(LINE_SIZE + 1 - n), SUM_FORMAT, sum_of(to));
}

/* Takes a line that is whole and further than what `out` has. */
static bool read_line(const char *text, struct record_mark *out)
{
	char again[LINE_SIZE + 1];
	unsigned long long seq;
	unsigned int job;

	if (sscanf(text, "seq %20llu job %10u", &seq, &job) != 2)
		return false;
	write_line(again, seq, job);
	if (strncmp(text, again, LINE_SIZE) != 0)
		return false;
	if (seq >= out->seq) {
		out->seq = seq;
		out->job = job;
	}
	return true;
}

static bool read_text(const char *text, size_t n, struct record_mark *out)
{
	char head[HEAD_SIZE + 1];
	bool first, second;

	if (n != FILE_SIZE ||
		sscanf(text, "stint record 1\nid %32s\ngeneration %10u\n", out->id,
			&out->generation) != 2)
		return false;
	snprintf(head, sizeof(head), HEAD_FORMAT, out->id, out->generation);
	first = read_line(text + HEAD_SIZE, out);
	second = read_line(text + HEAD_SIZE + LINE_SIZE, out);
	return (first || second) && !strncmp(text, head, HEAD_SIZE) && lineage_id_is_good(out->id);
}

int record_mark_read(const char *db, struct record_mark *out, struct err *err)
{
	char *path = record_mark_path(db), text[FILE_SIZE + 2];
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, FILE_SIZE + 1, 0);

	*out = (struct record_mark){ 0 };
	if (n < 0)
		rc = err_set(err, errno == ENOENT ? ERR_MISSING : ERR_IO, "cannot read %s: %s",
			path, strerror(errno));
	else
		text[n] = '\0';
	if (rc == 0 && !read_text(text, (size_t)n, out))
		rc = err_set(err, ERR_FORMAT, "%s is damaged", path);
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

static int sync_parent(const char *path)
{
	char *parent = mem_strndup(path, (size_t)(path_base(path) - path));
	int dir = open(*parent ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = dir < 0 ? -1 : fsync(dir), why = errno;

	if (dir >= 0)
		close(dir);
	free(parent);
	errno = why;
	return rc;
}

static int put_file(const char *path, const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), why;
	ssize_t wrote = 0;

	if (fd < 0)
		return -1;
	for (; n && (wrote = write(fd, text, n)) > 0; text += wrote)
		n -= (size_t)wrote;
	if (!n && fsync(fd) == 0)
		return close(fd);
	why = wrote == 0 ? ENOSPC : errno;
	close(fd);
	errno = why;
	return -1;
}

int record_mark_write(const char *db, const struct record_mark *mark, struct err *err)
{
	char text[FILE_SIZE + 1], *path = record_mark_path(db), *fresh = mem_printf("%s.new", path);
	int rc = 0;

	snprintf(text, sizeof(text), HEAD_FORMAT, mark->id, mark->generation);
	write_line(text + HEAD_SIZE, mark->seq, mark->job);
	write_line(text + HEAD_SIZE + LINE_SIZE, mark->seq, mark->job);
	if (put_file(fresh, text, FILE_SIZE) < 0 || rename(fresh, path) < 0 || sync_parent(path) < 0) {
		int why = errno;

		rc = err_set(err, ERR_IO, "%scannot write %s: %s",
			why == ENOSPC || why == EDQUOT ? "disk full: "
				: why == EIO           ? "disk failing: "
						       : "",
			path, strerror(why));
		unlink(fresh);
	}
	free(fresh);
	free(path);
	return rc;
}

void record_mark_open(const char *db, struct mark_file *out)
{
	char *path = record_mark_path(db);

	*out = (struct mark_file){ .fd = open(path, O_WRONLY | O_CLOEXEC) };
	free(path);
}

void record_mark_move(struct mark_file *file, uint64_t seq, uint32_t job)
{
	char line[LINE_SIZE + 1];

	if (file->fd < 0)
		return;
	write_line(line, seq, job);
	(void)!pwrite(file->fd, line, LINE_SIZE, HEAD_SIZE + (file->second ? LINE_SIZE : 0));
	file->second = !file->second;
}

void record_mark_close(struct mark_file *file)
{
	if (file->fd < 0)
		return;
	fdatasync(file->fd);
	close(file->fd);
	file->fd = -1;
}
