/*
 * Files: mapped or read or inflated, and written beside and renamed.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"

/* More than any trace; less than what a hostile gzip of a few MB unfolds to. */
static const size_t SIZE_LIMIT = (size_t)16 << 30;

enum { FIRST_READ = 1 << 16, GZIP_WINDOW = 15 + 16 };

/*
 * What streams and unfolds for so long without a newline is no text of lines, and there may be no
 * end of it.  JSON, which begins with a bracket, may be one line of any length.
 */
static const size_t LINE_LIMIT = (size_t)64 << 20;

/* Bytes that grow; they become a file's. */
struct growing {
	char *at;
	size_t n, cap;
	size_t limit;
	size_t seen; /* looked at for newlines */
	size_t line; /* where the last line begins */
};

static bool is_standard(const char *path)
{
	return !strcmp(path, "-");
}

static const char *shown(const char *path)
{
	return is_standard(path) ? "standard input" : path;
}

static int too_large(const char *path, size_t limit, struct err *err)
{
	if (limit < SIZE_LIMIT)
		return err_set(err, ERR_REFUSED, "%s: more than %zu MiB; is this the right file?",
			shown(path), limit >> 20);
	return err_set(err, ERR_REFUSED, "%s: more than %zu GiB of data; split it or pass a part of it",
		shown(path), limit >> 30);
}

static int make_room(struct growing *g, const char *path, struct err *err)
{
	if (g->n < g->cap)
		return 0;
	if (g->cap > g->limit)
		return too_large(path, g->limit, err);
	g->cap = g->cap ? g->cap * 2 : FIRST_READ;
	if (g->cap > g->limit)
		g->cap = g->limit + 1; /* one more tells that there is more */
	g->at = mem_resize(g->at, g->cap);
	return 0;
}

/* ---- reading ---- */

static bool is_gzip(const char *at, size_t n)
{
	return n >= 2 && !memcmp(at, "\x1f\x8b", 2);
}

static bool is_json(const char *at, size_t n)
{
	size_t i = 0;

	while (i < n && memchr(" \t\r\n", at[i], 4))
		i++;
	return i < n && (at[i] == '[' || at[i] == '{');
}

static int long_line(const char *path, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%s: a line of more than %zu MiB; is this the right file?",
		shown(path), LINE_LIMIT >> 20);
}

/* Looks at what has come since the last call. */
static int check_grown(struct growing *g, const char *path, struct err *err)
{
	const char *newline = memrchr(g->at + g->seen, '\n', g->n - g->seen);

	if (g->n > g->limit)
		return too_large(path, g->limit, err);
	g->seen = g->n;
	if (newline)
		g->line = (size_t)(newline + 1 - g->at);
	return g->n - g->line <= LINE_LIMIT || is_json(g->at, g->n) ? 0 : long_line(path, err);
}

/* Of a file that is all there: the first line tells enough, and is cheap. */
static int check_first_line(const char *at, size_t n, const char *path, struct err *err)
{
	if (n <= LINE_LIMIT || is_gzip(at, n) || memchr(at, '\n', LINE_LIMIT) || is_json(at, n))
		return 0;
	return long_line(path, err);
}

static int read_stream(int fd, const char *path, struct growing *g, struct err *err)
{
	for (;;) {
		int rc = make_room(g, path, err);
		ssize_t n;

		if (rc < 0)
			return rc;
		n = read(fd, g->at + g->n, g->cap - g->n);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "cannot read %s: %s", shown(path), strerror(errno));
		if (n < 0)
			continue;
		g->n += (size_t)n;
		if (!is_gzip(g->at, g->n))
			rc = check_grown(g, path, err);
		if (rc < 0)
			return rc;
	}
}

static int map(int fd, size_t n, size_t limit, const char *path, struct file *out, struct err *err)
{
	void *at = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	int rc;

	if (at == MAP_FAILED)
		return 0;
	rc = n > limit ? too_large(path, limit, err) : check_first_line(at, n, path, err);
	if (rc < 0) {
		munmap(at, n);
		return rc;
	}
	*out = (struct file){ .at = at, .n = n, .owned = at, .mapped = n };
	return 0;
}

/* Plain files are mapped; pipes, terminals and files that do not know their size (/proc) are read. */
static int load(int fd, size_t limit, const char *path, struct file *out, struct err *err)
{
	struct growing g = { .limit = limit };
	struct file file = { 0 };
	struct stat st;
	int rc = 0;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_IO, "cannot read %s: %s", shown(path), strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_IO, "%s: is a directory; name a file in it", shown(path));
	if (S_ISREG(st.st_mode) && st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0)
		rc = map(fd, (size_t)st.st_size, limit, path, &file, err);
	if (!rc && !file.mapped) {
		rc = read_stream(fd, path, &g, err);
		file = (struct file){ .at = g.at, .n = g.n, .owned = g.at };
	}
	if (rc < 0) {
		free(g.at);
		return rc;
	}
	*out = file;
	return 0;
}

void file_fini(struct file *file)
{
	if (file->mapped)
		munmap(file->owned, file->mapped);
	else
		free(file->owned);
	*file = (struct file){ 0 };
}

/* ---- gzip ---- */

/* zlib counts in 32 bits: hand it a part, note how much it took. */
static int inflate_step(z_stream *z, const char **at, const char *end, struct growing *g)
{
	size_t in = (size_t)(end - *at), room = g->cap - g->n;
	int rc;

	z->avail_in = in > UINT_MAX ? UINT_MAX : (uInt)in;
	z->avail_out = room > UINT_MAX ? UINT_MAX : (uInt)room;
	in = z->avail_in;
	room = z->avail_out;
	z->next_in = (z_const Bytef *)*at;
	z->next_out = (Bytef *)g->at + g->n;
	rc = inflate(z, Z_NO_FLUSH);
	*at += in - z->avail_in;
	g->n += room - z->avail_out;
	return rc;
}

static int inflate_member(z_stream *z, const char **at, const char *end, struct growing *g,
	const char *path, struct err *err)
{
	for (;;) {
		int rc = make_room(g, path, err);

		if (rc < 0)
			return rc;
		rc = inflate_step(z, at, end, g);
		if (rc == Z_OK || rc == Z_STREAM_END) {
			int grown = check_grown(g, path, err);

			if (grown < 0 || rc == Z_STREAM_END)
				return grown;
		}
		if (rc != Z_OK && rc != Z_BUF_ERROR)
			return err_set(err, ERR_FORMAT,
				"%s: gzip data is corrupt (%s); fetch it again or check it with gzip -t",
				shown(path), z->msg ? z->msg : zError(rc));
		if (*at == end && g->n < g->cap)
			return err_set(err, ERR_FORMAT,
				"%s: gzip data ends early (truncated?); fetch it again", shown(path));
	}
}

/* Padding with zeros is usual on tapes and block devices; anything else is damage. */
static bool only_zeros(const char *at, const char *end)
{
	while (at < end && !*at)
		at++;
	return at == end;
}

/* A gzip file is one member or several, one after the other. */
static int inflate_all(struct file *packed, struct growing *g, const char *path, struct err *err)
{
	const char *at = packed->at, *end = at + packed->n;
	z_stream z = { 0 };
	int rc = 0;

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return err_set(err, ERR_IO, "%s: cannot start zlib", shown(path));
	while (is_gzip(at, (size_t)(end - at))) {
		rc = inflate_member(&z, &at, end, g, path, err);
		if (rc < 0)
			break;
		inflateReset(&z);
	}
	if (!rc && !only_zeros(at, end))
		rc = err_set(err, ERR_FORMAT,
			"%s: gzip data is followed by something else (damaged?); fetch it again",
			shown(path));
	inflateEnd(&z);
	return rc;
}

static int unpack(struct file *file, size_t limit, const char *path, struct err *err)
{
	struct growing g = { .limit = limit };
	int rc = inflate_all(file, &g, path, err);

	file_fini(file);
	if (rc < 0) {
		free(g.at);
		return rc;
	}
	*file = (struct file){ .at = g.at, .n = g.n, .owned = g.at };
	return 0;
}

static int cannot_open(const char *path, int why, struct err *err)
{
	const char *advice = "";

	if (why == ENOENT)
		advice = "; check the path";
	else if (why == EACCES)
		advice = "; check who may read it";
	return err_set(err, why == ENOENT ? ERR_MISSING : ERR_IO, "cannot open %s: %s%s", path,
		strerror(why), advice);
}

int file_read_owned(const char *path, size_t limit, struct file *out, struct stat *of, struct err *err)
{
	struct file file;
	int fd = is_standard(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return cannot_open(path, errno, err);
	rc = fstat(fd, of) < 0 ? cannot_open(path, errno, err) : load(fd, limit, path, &file, err);
	if (!is_standard(path))
		close(fd);
	if (!rc && is_gzip(file.at, file.n))
		rc = unpack(&file, limit, path, err);
	if (rc < 0)
		return rc;
	*out = file;
	return 0;
}

int file_read_upto(const char *path, size_t limit, struct file *out, struct err *err)
{
	struct stat of;

	return file_read_owned(path, limit, out, &of, err);
}

int file_read(const char *path, struct file *out, struct err *err)
{
	return file_read_upto(path, SIZE_LIMIT, out, err);
}

/* ---- lines ---- */

struct lines lines_of(const char *at, size_t n)
{
	return (struct lines){ at, n ? at + n : at, 0 };
}

bool lines_next(struct lines *it, struct slice *line)
{
	const char *start = it->at, *stop;

	if (start == it->end)
		return false;
	stop = memchr(start, '\n', (size_t)(it->end - start));
	it->at = stop ? stop + 1 : it->end;
	if (!stop)
		stop = it->end;
	if (stop > start && stop[-1] == '\r')
		stop--;
	*line = (struct slice){ start, (size_t)(stop - start) };
	it->number++;
	return true;
}

/* ---- writing ---- */

static int cannot_write(const char *path, int why, struct err *err)
{
	const char *advice = "";

	if (why == ENOENT)
		advice = "; does its directory exist?";
	else if (why == ENOSPC)
		advice = "; make room on the disk";
	return err_set(err, ERR_IO, "cannot write %s: %s%s", path, strerror(why), advice);
}

static void forget(struct outfile *f)
{
	free(f->path);
	free(f->temporary);
	*f = (struct outfile){ 0 };
}

/* A name that nobody has, made like any new file: mkstemp() would ignore the umask. */
static int open_beside(struct outfile *f)
{
	for (unsigned try = 0; try < 1000; try++) {
		int fd;

		f->temporary = mem_printf("%s.tmp-%ld-%u", f->path, (long)getpid(), try);
		fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		free(f->temporary);
		f->temporary = NULL;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/*
 * Opens what `path` means.  A link is followed, so that the file behind it is
 * replaced and not the link; devices and pipes (/dev/null!) are written to.
 */
static int open_for_writing(struct outfile *f, const char *path)
{
	struct stat st;
	char *real;

	if (stat(path, &st) < 0) {
		f->path = mem_strdup(path);
		return open_beside(f);
	}
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	real = realpath(path, NULL);
	f->path = real ? real : mem_strdup(path);
	return S_ISREG(st.st_mode) ? open_beside(f) : open(path, O_WRONLY | O_CLOEXEC);
}

int outfile_open(struct outfile *f, const char *path, struct err *err)
{
	struct outfile new = { 0 };
	int fd, why;

	if (is_standard(path)) {
		*f = (struct outfile){ .to = stdout };
		return 0;
	}
	fd = open_for_writing(&new, path);
	if (fd < 0) {
		why = errno;
		forget(&new);
		return cannot_write(path, why, err);
	}
	new.to = fdopen(fd, "w");
	if (!new.to) {
		why = errno;
		close(fd);
		outfile_abandon(&new);
		return cannot_write(path, why, err);
	}
	*f = new;
	return 0;
}

/* Everything to the disk (or pipe); 0 or why not. */
static int flush(const struct outfile *f)
{
	bool failed_before = ferror(f->to);

	errno = 0;
	if (fflush(f->to) == 0 && !failed_before &&
		(!f->temporary || f->soon || fsync(fileno(f->to)) == 0))
		return 0;
	return errno ? errno : EIO;
}

int outfile_commit(struct outfile *f, struct err *err)
{
	int why = flush(f), rc = 0;

	if (f->to != stdout && fclose(f->to) != 0 && !why)
		why = errno;
	f->to = NULL;
	if (!why && f->temporary && rename(f->temporary, f->path) < 0)
		why = errno;
	if (why)
		rc = cannot_write(f->path ? f->path : "standard output", why, err);
	if (why && f->temporary)
		unlink(f->temporary);
	forget(f);
	return rc;
}

void outfile_abandon(struct outfile *f)
{
	if (f->to && f->to != stdout)
		fclose(f->to);
	if (f->temporary)
		unlink(f->temporary);
	forget(f);
}

static int write_all(const char *path, const char *bytes, size_t n, bool soon, struct err *err)
{
	struct outfile f;
	int rc = outfile_open(&f, path, err);

	if (rc < 0)
		return rc;
	f.soon = soon;
	if (n)
		fwrite(bytes, 1, n, f.to); /* commit sees a failure */
	return outfile_commit(&f, err);
}

int file_write(const char *path, const char *bytes, size_t n, struct err *err)
{
	return write_all(path, bytes, n, false, err);
}

int file_write_soon(const char *path, const char *bytes, size_t n, struct err *err)
{
	return write_all(path, bytes, n, true, err);
}

/* ---- paths ---- */

bool file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

bool file_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int make_one(const char *path, struct err *err)
{
	int why;

	if (mkdir(path, 0777) == 0 || file_is_dir(path))
		return 0;
	why = errno;
	return err_set(err, ERR_IO, "cannot make directory %s: %s%s", path, strerror(why),
		why == EEXIST ? "; something that is not a directory has that name" : "");
}

int dir_make(const char *path, struct err *err)
{
	char *part = mem_strdup(path);
	int rc = 0;

	for (char *at = part + 1; *part && *at && !rc; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		rc = make_one(part, err);
		*at = '/';
	}
	if (!rc)
		rc = make_one(path, err);
	free(part);
	return rc;
}

char *path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	return mem_printf("%s%s%s", dir, n && dir[n - 1] != '/' ? "/" : "", name);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
