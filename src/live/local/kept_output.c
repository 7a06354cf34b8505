#include "live/local/kept_output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "live/job_dirs.h"

/* No job writes faster than that. */
static const double fastest_Bps = 8e9;
static const double shortest_pause_s = 0.02, longest_pause_s = 5, low_pause_s = 0.25;

enum {
	TAIL_MOST = 1 << 20,
	MARK_MOST = 256,
	LINE_MOST = 4096,     /* a cut is moved to the end of a line that is not longer */
	LOW_SLACK = 64 << 10, /* what a file may grow while the disk is low before it is cut back */
	LOW_TAIL = 16 << 10,
};

/* ---- opening */

bool kept_open(struct kept_output *kept, int which, const char *name, uid_t uid, gid_t gid)
{
	struct kept_file *file = &kept->files[which];
	int why;

	file->fd = openat(kept->dir, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		0600);
	if (file->fd < 0)
		return false;
	if (uid == geteuid() || fchown(file->fd, uid, gid) == 0) {
		file->reader = openat(kept->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		kept->any = true;
		return true;
	}
	why = errno;
	close(file->fd);
	file->fd = -1;
	errno = why;
	return false;
}

static int64_t bytes_in(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? job_dirs_bytes(&st) : 0;
}

static int64_t bytes_before(int dir, uint32_t attempt)
{
	int64_t sum = 0;

	for (uint32_t i = 1; i < attempt; i++) {
		char out[32], err_out[32];

		snprintf(out, sizeof(out), "../%u/stdout", i);
		snprintf(err_out, sizeof(err_out), "../%u/stderr", i);
		sum += bytes_in(dir, out) + bytes_in(dir, err_out);
	}
	return sum;
}

void kept_bound(struct kept_output *kept, uint32_t attempt, int64_t cap, int64_t reserve)
{
	int64_t least = cap / 16;

	kept->reserve = reserve;
	kept->cap = cap > 0 ? cap - bytes_before(kept->dir, attempt) : 0;
	if (cap > 0 && kept->cap < least)
		kept->cap = least > 0 ? least : 1;
}

/* ---- cutting */

static int64_t size_of(const struct kept_file *file)
{
	struct stat st;

	return file->fd >= 0 && fstat(file->fd, &st) == 0 ? job_dirs_bytes(&st) : 0;
}

/* The end of the last whole line before `at`, or `at` where lines are longer. */
static int64_t line_before(const struct kept_file *file, int64_t at)
{
	char bytes[LINE_MOST];
	int64_t from = at > LINE_MOST ? at - LINE_MOST : 0;
	ssize_t n = pread(file->reader, bytes, (size_t)(at - from), from);
	const char *end = n > 0 ? memrchr(bytes, '\n', (size_t)n) : NULL;

	return end ? from + (end - bytes) + 1 : at;
}

static void append(const struct kept_file *file, const char *bytes, size_t n)
{
	while (n) {
		ssize_t wrote = write(file->fd, bytes, n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return; /* the job fills the disk faster than we: the next look tries again */
		bytes += wrote;
		n -= (size_t)wrote;
	}
}

enum cut_reason {
	CUT_CAP,    /* of the job */
	CUT_TENANT, /* its tenant's jobs together keep what they may */
	CUT_DISK,   /* little room on the disk */
};

/* A line that tells of the cut. */
static size_t put_mark(const struct kept_file *file, enum cut_reason reason, int64_t cap,
	bool on_new_line, char *out, size_t size)
{
	const char *line = on_new_line ? "" : "\n";
	char cut[32], most[32];
	int n;

	text_size((double)file->cut, cut);
	if (reason == CUT_DISK)
		n = snprintf(out, size,
			"%s[stint: %s of output were cut here, because the disk is nearly full]\n",
			line, cut);
	else if (reason == CUT_TENANT)
		n = snprintf(out, size,
			"%s[stint: %s of output were cut here: the jobs of this tenant keep as much as they may together; --output FILE keeps all]\n",
			line, cut);
	else
		n = snprintf(out, size,
			"%s[stint: %s of output were cut here: an attempt of this job may keep %s; --output FILE keeps all]\n",
			line, cut, text_size((double)cap, most));
	return (size_t)n;
}

/* What comes last in the file, from the beginning of a line on if there is one; `out` has room for `most`. */
static size_t read_tail(const struct kept_file *file, int64_t end, int64_t most, char *out)
{
	ssize_t n = pread(file->reader, out, (size_t)most, end - most);
	const char *line = n > 0 ? memchr(out, '\n', (size_t)n) : NULL;
	size_t skip = line && line + 1 < out + n ? (size_t)(line + 1 - out) : 0;

	if (n <= 0)
		return 0;
	memmove(out, out + skip, (size_t)n - skip);
	return (size_t)n - skip;
}

static int64_t length_of(const struct kept_file *file)
{
	struct stat st;

	return fstat(file->fd, &st) == 0 ? (int64_t)st.st_size : 0;
}

static bool ends_line(const struct kept_file *file)
{
	int64_t end = length_of(file);
	char last = '\n';

	if (end > 0)
		(void)!pread(file->reader, &last, 1, end - 1);
	return last == '\n';
}

/*
 * Keeps the first `head` bytes and the last `tail`; `reason` and `cap` are for the mark.  A job that writes all the time may lose
 * what it writes between the reading of the tail and the cut; one that writes now and then does not, since the
 * tail is read again if the file has grown meanwhile.
 */
static void cut(struct kept_file *file, int64_t head, int64_t tail, enum cut_reason reason, int64_t cap)
{
	enum { TRIES = 4 };
	static char bytes[MARK_MOST + TAIL_MOST]; /* one guard, one thread */
	int64_t end = length_of(file), at;
	size_t n = 0, mark;
	char line[MARK_MOST];

	if (end <= head + tail)
		return;
	at = line_before(file, head);
	tail = tail < TAIL_MOST ? tail : TAIL_MOST;
	for (int i = 0; i < TRIES && (i == 0 || length_of(file) != end); i++) {
		end = length_of(file);
		n = read_tail(file, end, tail, bytes + MARK_MOST);
	}
	if (ftruncate(file->fd, at) < 0)
		return;
	/* A mark that is cut off itself is counted on. */
	file->cut = (file->cut_at >= at ? file->cut : 0) + end - at - (int64_t)n;
	/* In one piece: what the job writes comes before or behind. */
	mark = put_mark(file, reason, cap, ends_line(file), line, sizeof(line));
	memcpy(bytes + MARK_MOST - mark, line, mark);
	append(file, bytes + MARK_MOST - mark, mark + n);
	/* What came before moved the mark: the next cut, a line further on, has to know that it is cut off. */
	file->cut_at = length_of(file) - (int64_t)(mark + n);
	if (file->cut_at < at)
		file->cut_at = at;
}

/* ---- looking */

static int64_t free_bytes(const struct kept_output *kept)
{
	struct statvfs disk;

	if (kept->reserve <= 0 || fstatvfs(kept->dir, &disk) < 0)
		return INT64_MAX;
	return (int64_t)((double)disk.f_bavail * (double)disk.f_frsize);
}

void kept_hold(struct kept_output *kept, bool hold)
{
	for (int i = 0; i < KEPT_FILES && hold && !kept->held && !kept->low; i++) {
		struct kept_file *file = &kept->files[i];

		file->settled = size_of(file);
		if (file->settled < LOW_SLACK)
			file->settled = LOW_SLACK;
	}
	kept->held = hold;
}

/*
 * When the disk runs low a file goes back to its size at the look before: the job that wrote most since then gives
 * most back.
 */
static void see_low(struct kept_output *kept, bool low)
{
	for (int i = 0; i < KEPT_FILES && !kept->low && !kept->held; i++) {
		struct kept_file *file = &kept->files[i];

		if (!low)
			file->settled = size_of(file);
		else if (file->settled < LOW_SLACK)
			file->settled = LOW_SLACK;
	}
	kept->low = low;
}

static void hold_back(struct kept_output *kept)
{
	for (int i = 0; i < KEPT_FILES; i++) {
		struct kept_file *file = &kept->files[i];

		if (file->fd >= 0 && size_of(file) > file->settled + LOW_SLACK)
			cut(file, file->settled, LOW_TAIL, kept->low ? CUT_DISK : CUT_TENANT, 0);
	}
}

static int64_t sum(const struct kept_output *kept)
{
	return size_of(&kept->files[KEPT_OUT]) + size_of(&kept->files[KEPT_ERR]);
}

/*
 * Shortens the larger file until both have thirteen sixteenths of the cap: the rest is for what comes before the next cut,
 * so that what is copied stays in proportion to what is written.  The larger has half of the cap at least, so
 * it keeps five sixteenths.  Its end is three eighths of what is kept, as far as that can be copied in one piece.
 */
static void bound(struct kept_output *kept)
{
	int64_t sizes[KEPT_FILES] = { size_of(&kept->files[KEPT_OUT]),
		size_of(&kept->files[KEPT_ERR]) };
	int which = sizes[KEPT_OUT] >= sizes[KEPT_ERR] ? KEPT_OUT : KEPT_ERR;
	struct kept_file *larger = &kept->files[which];
	int64_t least = kept->cap / 16 * 5, left = kept->cap / 16 * 13 - sizes[!which], tail;

	if (left < least)
		left = least;
	tail = left / 8 * 3 < TAIL_MOST ? left / 8 * 3 : TAIL_MOST;
	cut(larger, left - tail, tail, CUT_CAP, kept->cap);
	if (larger->settled > left - tail)
		larger->settled = left - tail;
}

double kept_look(struct kept_output *kept)
{
	int64_t room, left;

	if (!kept->any || (kept->cap <= 0 && kept->reserve <= 0 && !kept->held))
		return INFINITY;
	for (int i = 0; i < KEPT_FILES && kept->cap > 0 && sum(kept) > kept->cap; i++)
		bound(kept);
	left = free_bytes(kept);
	see_low(kept, left < kept->reserve);
	if (kept->low || kept->held)
		hold_back(kept);
	room = kept->cap > 0 ? kept->cap - sum(kept) : INT64_MAX;
	return fmin(fmax((double)(room < left ? room : left) / fastest_Bps, shortest_pause_s),
		kept->low || kept->held ? low_pause_s : longest_pause_s);
}
