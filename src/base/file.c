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
#define SIZE_LIMIT ((size_t)16 << 30)

enum { FIRST_READ = 1 << 16, GZIP_WINDOW = 15 + 16 };

/*
 * What streams and unfolds for so long without a newline is no text of lines, and there may be no
 * end of it.  JSON, which begins with a bracket, may be one line of any length.
 */
#define LINE_LIMIT ((size_t)64 << 20)

/* Bytes that grow; they become a file's. */
struct growing {
	char *at;
	size_t n, cap;
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

static int too_large(const char *path, struct err *err)
{
	return err_set(err, ERR_REFUSED, "%s: more than %zu GiB of data; split it or pass a part of it",
		shown(path), SIZE_LIMIT >> 30);
}

static int make_room(struct growing *g, const char *path, struct err *err)
{
	if (g->n < g->cap)
		return 0;
	if (g->cap >= SIZE_LIMIT)
		return too_large(path, err);
	g->cap = g->cap ? g->cap * 2 : FIRST_READ;
	g->at = mem_resize(g->at, g->cap);
	return 0;
}

/* ---- reading ---- */

static bool is_gzip(const char *at, size_t n)
{
	return n >= 2 && !memcmp(at, "\x1f\x8b", 2);
}

static bool is_json(const struct growing *g)
{
	size_t i = 0;

	while (i < g->n && memchr(" \t\r\n", g->at[i], 4))
		i++;
	return i < g->n && (g->at[i] == '[' || g->at[i] == '{');
}

static int check_line(struct growing *g, const char *path, struct err *err)
{
	const char *newline = memrchr(g->at + g->seen, '\n', g->n - g->seen);

	g->seen = g->n;
	if (newline)
		g->line = (size_t)(newline + 1 - g->at);
	if (g->n - g->line <= LINE_LIMIT || is_json(g))
		return 0;
	return err_set(err, ERR_FORMAT,
		"%s: a line of more than %zu MiB; is this the right file? (a trace has shorter ones)",
		shown(path), LINE_LIMIT >> 20);
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
			rc = check_line(g, path, err);
		if (rc < 0)
			return rc;
	}
}

/* Plain files are mapped; pipes, terminals and files that do not know their size (/proc) are read. */
static int load(int fd, const char *path, struct file *out, struct err *err)
{
	struct growing g = { 0 };
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_IO, "cannot read %s: %s", shown(path), strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_IO, "%s: is a directory; name a file in it", shown(path));
	if (S_ISREG(st.st_mode) && st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0) {
		size_t n = (size_t)st.st_size;
		void *at = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);

		if (at != MAP_FAILED) {
			*out = (struct file){ .at = at, .n = n, .owned = at, .mapped = n };
			return 0;
		}
	}
	rc = read_stream(fd, path, &g, err);
	if (rc < 0) {
		free(g.at);
		return rc;
	}
	*out = (struct file){ .at = g.at, .n = g.n, .owned = g.at };
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
		if (rc == Z_OK && check_line(g, path, err) < 0)
			return ERR_FORMAT;
		if (rc == Z_STREAM_END)
			return 0;
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

static int unpack(struct file *file, const char *path, struct err *err)
{
	struct growing g = { 0 };
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
	return err_set(err, ERR_IO, "cannot open %s: %s%s", path, strerror(why), advice);
}

int file_read(const char *path, struct file *out, struct err *err)
{
	struct file file;
	int fd = is_standard(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return cannot_open(path, errno, err);
	rc = load(fd, path, &file, err);
	if (!is_standard(path))
		close(fd);
	if (!rc && is_gzip(file.at, file.n))
		rc = unpack(&file, path, err);
	if (rc < 0)
		return rc;
	*out = file;
	return 0;
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
	if (fflush(f->to) == 0 && !failed_before && (!f->temporary || fsync(fileno(f->to)) == 0))
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

int file_write(const char *path, const char *bytes, size_t n, struct err *err)
{
	struct outfile f;
	int rc = outfile_open(&f, path, err);

	if (rc < 0)
		return rc;
	if (n)
		fwrite(bytes, 1, n, f.to); /* commit sees a failure */
	return outfile_commit(&f, err);
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
