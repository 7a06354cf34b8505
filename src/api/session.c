/*
 * A short list and a short file.
 */
#include "api/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/listen.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

enum { FILE_MAX = 64 * 1024 };

static void drop(struct sessions *s, uint32_t i)
{
	s->n--;
	memmove(&s->at[i], &s->at[i + 1], (s->n - i) * sizeof(s->at[0]));
	memset(&s->at[s->n], 0, sizeof(s->at[0]));
}

static void drop_code(struct sessions *s, uint32_t i)
{
	s->ncodes--;
	memmove(&s->codes[i], &s->codes[i + 1], (s->ncodes - i) * sizeof(s->codes[0]));
	memset(&s->codes[s->ncodes], 0, sizeof(s->codes[0]));
}

/* ---- the file */

static bool take_secret(struct slice *line, char out[TOKEN_DIGITS + 1])
{
	struct slice word = slice_cut(line, ' ');

	if (word.n != TOKEN_DIGITS)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		if (!strchr("0123456789abcdef", word.at[i]))
			return false;
	}
	memcpy(out, word.at, TOKEN_DIGITS);
	out[TOKEN_DIGITS] = '\0';
	return true;
}

static void read_line(struct sessions *s, struct slice line, double now_s)
{
	struct session one = { 0 };

	if (s->n < SESSIONS_MAX && take_secret(&line, one.id) && take_secret(&line, one.key) &&
		slice_double(line, &one.until_s) && one.until_s > now_s &&
		one.until_s <= now_s + SESSION_S)
		s->at[s->n++] = one;
}

/* The first line says which token they belong to. */
static void read_all(struct sessions *s, const struct file *file, double now_s)
{
	struct lines lines = lines_of(file->at, file->n);
	struct slice line;
	char want[32];

	snprintf(want, sizeof(want), "%016llx", (unsigned long long)s->token);
	if (!lines_next(&lines, &line) || !slice_is(line, want))
		return;
	while (lines_next(&lines, &line))
		read_line(s, line, now_s);
}

/* A file that others could read or write is none. */
static bool is_secret(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		!(st.st_mode & 077);
}

void sessions_load(struct sessions *s, const char *dir, const char *token, double now_s)
{
	struct file file;
	struct err ignored = { 0 };

	s->path = path_join(dir, "sessions");
	s->token = hash_bytes(HASH_START, token, strlen(token));
	if (!is_secret(s->path) || file_read_upto(s->path, FILE_MAX, &file, &ignored) < 0)
		return;
	read_all(s, &file, now_s);
	file_fini(&file);
}

static bool write_all(const struct sessions *s, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct buf text = { 0 };
	bool done = false;

	buf_printf(&text, "%016llx\n", (unsigned long long)s->token);
	for (uint32_t i = 0; i < s->n; i++)
		buf_printf(&text, "%s %s %.0f\n", s->at[i].id, s->at[i].key, s->at[i].until_s);
	if (fd >= 0) {
		done = write(fd, text.at, text.n) == (ssize_t)text.n;
		done &= close(fd) == 0;
	}
	buf_fini(&text);
	return done;
}

/* One that is not kept lasts as long as the daemon does: no reason to refuse it. */
static void save(const struct sessions *s)
{
	char *beside;

	if (!s->path)
		return;
	beside = mem_printf("%s.%ld", s->path, (long)getpid());
	unlink(beside);
	if (!write_all(s, beside) || rename(beside, s->path) < 0)
		unlink(beside);
	free(beside);
}

void sessions_fini(struct sessions *s)
{
	free(s->path);
	*s = (struct sessions){ 0 };
}

/* ---- sessions */

int sessions_begin(struct sessions *s, double now_s, const struct session **out, struct err *err)
{
	struct session one = { .until_s = now_s + SESSION_S };

	if (token_make(one.id, err) < 0 || token_make(one.key, err) < 0)
		return err ? err->code : ERR_IO;
	if (s->n == SESSIONS_MAX)
		drop(s, 0);
	s->at[s->n] = one;
	*out = &s->at[s->n++];
	save(s);
	return 0;
}

bool sessions_know(const struct sessions *s, const char *id, const char *key, double now_s)
{
	bool known = false;

	for (uint32_t i = 0; id && key && i < s->n; i++)
		known |= gate_same(id, s->at[i].id) && gate_same(key, s->at[i].key) &&
			s->at[i].until_s > now_s;
	return known;
}

void sessions_end(struct sessions *s, const char *id)
{
	for (uint32_t i = 0; id && i < s->n; i++) {
		if (!gate_same(id, s->at[i].id))
			continue;
		drop(s, i);
		save(s);
		return;
	}
}

/* ---- codes */

int sessions_code(struct sessions *s, double now_s, const char **out, struct err *err)
{
	struct session_code one = { .until_s = now_s + SESSION_CODE_S };

	if (token_make(one.text, err) < 0)
		return err ? err->code : ERR_IO;
	if (s->ncodes == SESSION_CODES_MAX)
		drop_code(s, 0);
	s->codes[s->ncodes] = one;
	*out = s->codes[s->ncodes++].text;
	return 0;
}

bool sessions_use_code(struct sessions *s, const char *code, double now_s)
{
	for (uint32_t i = 0; i < s->ncodes; i++) {
		bool fresh = s->codes[i].until_s > now_s;

		if (!gate_same(code, s->codes[i].text))
			continue;
		drop_code(s, i);
		return fresh;
	}
	return false;
}
