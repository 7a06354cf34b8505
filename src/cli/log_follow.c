#include "cli/log_follow.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/live_print.h"

enum { LINE_BYTES = 4096 }; /* lines of a tail are believed to be shorter on average */

static char *raw_path(const struct log_follow *f, int attempt, double offset, bool follow)
{
	struct buf path = { 0 };
	char *base = live_job_path(f->job, "log/raw");

	buf_str(&path, base);
	free(base);
	live_query(&path, "stream", f->errors ? "stderr" : "stdout");
	if (attempt > 0)
		live_query_number(&path, "attempt", attempt);
	live_query_number(&path, "offset", offset);
	if (follow)
		live_query(&path, "follow", "1");
	return path.at;
}

static int write_all(int to, const char *bytes, size_t n)
{
	while (n) {
		ssize_t wrote = write(to, bytes, n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return ERR_IO;
		bytes += wrote;
		n -= (size_t)wrote;
	}
	return 0;
}

/* ---- a stretch of one attempt */

static int see_copy(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	const struct log_follow *f = ctx;

	(void)reply;
	return write_all(f->to, bytes, n);
}

static int copy(const struct log_follow *f, int attempt, double offset, bool follow, struct err *err)
{
	char *path = raw_path(f, attempt, offset, follow);
	struct err cause = { 0 };
	int rc = live_stream(f->args, path, see_copy, (void *)f, &cause);

	free(path);
	if (rc && !*cause.text) /* see_copy() has no text */
		return err_set(err, ERR_IO, "cannot write what the job prints: %s", strerror(errno));
	return rc ? err_set(err, rc, "%s", cause.text) : 0;
}

static int see_keep(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	(void)reply;
	buf_add(ctx, bytes, n);
	return 0;
}

/* The last lines of what is there; `end` is how far that reaches. */
static int copy_tail(const struct log_follow *f, int attempt, double *end, struct err *err)
{
	char *base = live_job_path(f->job, "log"), *path;
	struct buf query = { 0 }, text = { 0 };
	json_t *log;
	double from;
	int64_t lines = 0;
	size_t at;
	int rc;

	buf_str(&query, base);
	free(base);
	live_query(&query, "stream", f->errors ? "stderr" : "stdout");
	if (attempt > 0)
		live_query_number(&query, "attempt", attempt);
	rc = live_get(f->args, query.at, &log, err);
	buf_fini(&query);
	if (rc)
		return rc;
	from = fmax(0, live_number(log, "size") - (double)f->tail * LINE_BYTES);
	json_decref(log);
	path = raw_path(f, attempt, from, false);
	rc = live_stream(f->args, path, see_keep, &text, err);
	free(path);
	if (!rc) {
		*end = from + (double)text.n;
		/* A last line without an end is a line too. */
		for (at = text.n ? text.n - 1 : 0; at > 0; at--)
			if (text.at[at - 1] == '\n' && ++lines == f->tail)
				break;
		if (text.n && f->tail && write_all(f->to, text.at + at, text.n - at))
			rc = err_set(err, ERR_IO, "cannot write what the job prints: %s",
				strerror(errno));
	}
	buf_fini(&text);
	return rc;
}

static int copy_attempt(const struct log_follow *f, int attempt, bool follow, struct err *err)
{
	double from = 0;
	int rc = 0;

	if (f->tail >= 0)
		rc = copy_tail(f, attempt, &from, err);
	if (!rc && (follow || f->tail < 0))
		rc = copy(f, attempt, from, follow, err);
	return rc;
}

int log_copy(const struct log_follow *f, struct err *err)
{
	return copy_attempt(f, f->attempt, false, err);
}

/* ---- through all attempts */

struct standing {
	int attempt; /* that has begun; 0: none */
	bool over;   /* the job has ended */
};

static int look(const struct log_follow *f, struct standing *out, struct err *err)
{
	char *path = live_job_path(f->job, NULL);
	json_t *job;
	int rc = live_get(f->args, path, &job, err);
	double attempt;
	const char *state;

	free(path);
	if (rc)
		return rc;
	attempt = live_number(job, "attempt");
	state = live_text(job, "state");
	out->attempt = attempt > 0 ? (int)attempt : 0;
	out->over = live_is_over(job);
	/* What is granted or waits has printed nothing yet in this attempt. */
	if (out->attempt && state && !strcmp(state, "CONFIGURING"))
		out->attempt--;
	json_decref(job);
	return 0;
}

int log_follow(const struct log_follow *f, struct err *err)
{
	struct log_follow rest = *f;
	struct standing now;
	double pause_s = 0.05;
	int next = f->attempt ? f->attempt : f->past ? 1 : 0, rc;

	for (;;) {
		rc = look(f, &now, err);
		if (rc)
			return rc;
		if (!next && now.attempt)
			next = now.attempt;
		while (next && next <= now.attempt) {
			rc = copy_attempt(&rest, next, true, err);
			if (rc && rc != ERR_MISSING)
				return rc;
			/* Its command may not have begun: nothing is there yet. */
			if (rc == ERR_MISSING && !now.over && next == now.attempt)
				break;
			next++;
			rest.tail = -1;
			pause_s = 0.05;
			if (f->attempt)
				return 0;
		}
		if (now.over && next > now.attempt)
			return 0;
		if (now.over && !now.attempt)
			return 0;
		live_pause(pause_s);
		pause_s = fmin(1, pause_s * 1.5);
	}
}
