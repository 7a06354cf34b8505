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

static const double PAUSE_S = 0.05; /* at first */

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

/* Line by line, each behind the mark. */
static int write_marked(struct log_sink *sink, const char *bytes, size_t n)
{
	while (n) {
		const char *end = memchr(bytes, '\n', n);
		size_t piece = end ? (size_t)(end - bytes) + 1 : n;

		if (!sink->inside && write_all(sink->to, sink->mark, strlen(sink->mark)))
			return ERR_IO;
		if (write_all(sink->to, bytes, piece))
			return ERR_IO;
		sink->inside = !end;
		bytes += piece;
		n -= piece;
	}
	return 0;
}

static int sink_write(struct log_sink *sink, const char *bytes, size_t n)
{
	if (!n)
		return 0;
	sink->bytes += n;
	if (sink->mark)
		return write_marked(sink, bytes, n);
	sink->inside = bytes[n - 1] != '\n';
	return write_all(sink->to, bytes, n);
}

/* ---- one attempt */

/* Where a copy stands: `offset` is what comes next. */
struct place {
	const struct log_follow *f;
	int attempt; /* 0: the last there is */
	double offset;
	bool told; /* its tail has been printed */
};

static int cannot_write(struct err *err)
{
	return err_set(err, ERR_BROKEN, "cannot write what the job prints: %s", strerror(errno));
}

static int see_copy(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	struct place *place = ctx;

	(void)reply;
	if (sink_write(place->f->sink, bytes, n))
		return ERR_BROKEN;
	place->offset += (double)n;
	return 0;
}

static int copy(struct place *place, bool follow, struct err *err)
{
	char *path = raw_path(place->f, place->attempt, place->offset, follow);
	int rc = live_stream(place->f->args, path, see_copy, place, err);

	free(path);
	return rc == ERR_BROKEN ? cannot_write(err) : rc;
}

static int see_keep(void *ctx, const struct reply *reply, const char *bytes, size_t n)
{
	(void)reply;
	buf_add(ctx, bytes, n);
	return 0;
}

int log_place_ask(const struct log_follow *f, int attempt, json_t **out, struct err *err)
{
	char *base = live_job_path(f->job, "log");
	struct buf path = { 0 };
	int rc;

	buf_str(&path, base);
	free(base);
	live_query(&path, "stream", f->errors ? "stderr" : "stdout");
	if (attempt > 0)
		live_query_number(&path, "attempt", attempt);
	rc = live_get(f->args, path.at, out, err);
	buf_fini(&path);
	return rc;
}

static int size_of(const struct place *place, double *size, struct err *err)
{
	json_t *log;
	int rc = log_place_ask(place->f, place->attempt, &log, err);

	if (rc)
		return rc;
	*size = live_number(log, "size");
	json_decref(log);
	return 0;
}

/* Where the last lines begin.  A last line without an end is a line too. */
static size_t tail_of(const struct buf *text, int64_t lines)
{
	size_t at = text->n ? text->n - 1 : 0;

	if (!lines)
		return text->n;
	for (; at > 0; at--)
		if (text->at[at - 1] == '\n' && --lines == 0)
			break;
	return at;
}

/* The last lines of what is there. */
static int copy_tail(struct place *place, struct err *err)
{
	const struct log_follow *f = place->f;
	struct buf text = { 0 };
	double size;
	size_t at;
	char *path;
	int rc = size_of(place, &size, err);

	if (rc)
		return rc;
	place->offset = size > 0 ? fmax(0, size - (double)f->tail * LINE_BYTES) : 0;
	path = raw_path(f, place->attempt, place->offset, false);
	rc = live_stream(f->args, path, see_keep, &text, err);
	free(path);
	if (!rc) {
		at = tail_of(&text, f->tail);
		place->offset += (double)text.n;
		place->told = true;
		if (text.n && sink_write(f->sink, text.at + at, text.n - at))
			rc = cannot_write(err);
	}
	buf_fini(&text);
	return rc;
}

static int copy_attempt(struct place *place, bool follow, struct err *err)
{
	bool tail = place->f->tail >= 0 && !place->told;
	int rc = tail ? copy_tail(place, err) : 0;

	if (!rc && (follow || !tail))
		rc = copy(place, follow, err);
	return rc;
}

int log_copy(const struct log_follow *f, struct err *err)
{
	struct place place = { .f = f, .attempt = f->attempt };

	return copy_attempt(&place, false, err);
}

/* ---- through all attempts */

struct standing {
	int attempt; /* that has begun; 0: none */
	bool runs;   /* it goes on */
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
	out->runs = state && (!strcmp(state, "RUNNING") || !strcmp(state, "COMPLETING"));
	/* What is granted has printed nothing yet in this attempt. */
	if (out->attempt && state && !strcmp(state, "CONFIGURING"))
		out->attempt--;
	json_decref(job);
	return 0;
}

static void next_attempt(struct place *place)
{
	place->attempt++;
	place->offset = 0;
	place->told = true;
}

/* One stretch of the attempt at hand.  LATER: there is nothing yet. */
enum { DONE, LATER };

static int stretch(struct place *place, const struct standing *before, struct err *err)
{
	struct standing now;
	int rc = copy_attempt(place, true, err);

	if (rc == ERR_MISSING && !before->over && place->attempt == before->attempt)
		return LATER; /* its command has not begun */
	if (rc && rc != ERR_MISSING)
		return rc;
	rc = look(place->f, &now, err);
	if (rc)
		return rc;
	/* A daemon that stops ends its answers, but not the job. */
	if (now.attempt == place->attempt && now.runs)
		return LATER;
	next_attempt(place);
	return DONE;
}

static bool is_lost(int rc)
{
	return rc == ERR_IO || rc == ERR_UNREACHABLE || rc == ERR_FORMAT;
}

int log_follow(const struct log_follow *f, struct err *err)
{
	struct place place = { .f = f, .attempt = f->attempt ? f->attempt : f->past ? 1 : 0 };
	double pause_s = PAUSE_S, patience_s = LIVE_PATIENCE_S;
	bool asked = false;

	for (;;) {
		struct standing now;
		int rc = look(f, &now, err);

		if (!rc && !place.attempt)
			place.attempt = now.attempt;
		if (!rc && place.attempt && place.attempt <= now.attempt)
			rc = stretch(&place, &now, err);
		else if (!rc && now.over)
			return 0;
		else if (!rc)
			rc = LATER;
		if (rc < 0 && !(asked && is_lost(rc) && patience_s > 0))
			return rc;
		asked = true;
		patience_s = rc < 0 ? patience_s - pause_s : LIVE_PATIENCE_S;
		if (rc == DONE) {
			pause_s = PAUSE_S;
			if (f->attempt)
				return 0;
			continue;
		}
		live_pause(pause_s);
		pause_s = fmin(1, pause_s * 1.5);
	}
}
