/*
 * A machine with a state for each part of an answer.
 */
#include "api/reply.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_DIGITS = 8, EVENT_MAX = 1 << 20 };

void reply_fini(struct reply *reply)
{
	buf_fini(&reply->line);
}

/* ---- head */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int status_line(struct reply *r, struct slice line, struct err *err)
{
	const char *at = line.at;

	if (line.n < 12 || memcmp(at, "HTTP/1.", 7) != 0 || (at[7] != '0' && at[7] != '1') ||
		at[8] != ' ' || !is_digit(at[9]) || !is_digit(at[10]) || !is_digit(at[11]) ||
		(line.n > 12 && at[12] != ' '))
		return err_set(err, ERR_FORMAT, "this is no HTTP answer");
	r->one_one = at[7] == '1';
	r->keep = r->one_one;
	r->status = (at[9] - '0') * 100 + (at[10] - '0') * 10 + (at[11] - '0');
	if (r->status < 100 || r->status > 599 || r->status == 101)
		return err_set(err, ERR_FORMAT, "an HTTP answer with status %d", r->status);
	r->state = REPLY_HEADER;
	return 0;
}

static int content_length(struct reply *r, struct slice value, struct err *err)
{
	uint64_t n = 0;

	if (!value.n || value.n > 18)
		return err_set(err, ERR_FORMAT, "an HTTP answer with a bad Content-Length");
	for (size_t i = 0; i < value.n; i++) {
		if (!is_digit(value.at[i]))
			return err_set(err, ERR_FORMAT, "an HTTP answer with a bad Content-Length");
		n = n * 10 + (uint64_t)(value.at[i] - '0');
	}
	if (r->has_length && n != r->left)
		return err_set(err, ERR_FORMAT, "an HTTP answer with two Content-Lengths");
	r->has_length = true;
	r->left = n;
	return 0;
}

static void copy_text(char *out, size_t room, struct slice value)
{
	size_t n = value.n < room - 1 ? value.n : room - 1;

	memcpy(out, value.at, n);
	out[n] = '\0';
}

static bool is_name(struct slice name)
{
	for (size_t i = 0; i < name.n; i++) {
		if (!isalnum((unsigned char)name.at[i]) && !strchr("!#$%&'*+-.^_`|~", name.at[i]))
			return false;
	}
	return name.n > 0;
}

static int header_line(struct reply *r, struct slice line, struct err *err)
{
	struct slice value = line, name = slice_cut(&value, ':');

	if (name.n == line.n || !is_name(name) || memchr(line.at, '\0', line.n))
		return err_set(err, ERR_FORMAT, "an HTTP answer with a broken header");
	value = slice_trim(value);
	if (slice_is_nocase(name, "Content-Length"))
		return content_length(r, value, err);
	if (slice_is_nocase(name, "Transfer-Encoding")) {
		if (r->chunked || !slice_is_nocase(value, "chunked"))
			return err_set(err, ERR_FORMAT,
				"an HTTP answer in an encoding that is not known");
		r->chunked = true;
	} else if (slice_is_nocase(name, "Connection")) {
		r->keep = slice_is_nocase(value, "keep-alive") ||
			(r->keep && !slice_is_nocase(value, "close"));
	} else if (slice_is_nocase(name, "Content-Type")) {
		copy_text(r->content_type, sizeof(r->content_type), value);
	} else if (slice_is_nocase(name, "X-Stint-Attempt")) {
		slice_int(value, &r->attempt);
	}
	return 0;
}

/* An interim answer, which says nothing; the real one follows. */
static void start_over(struct reply *r)
{
	r->state = REPLY_STATUS;
	r->status = 0;
	r->chunked = r->has_length = false;
	r->left = 0;
	r->content_type[0] = '\0';
}

static int end_of_head(struct reply *r, struct err *err)
{
	if (r->status < 200) {
		start_over(r);
		return 0;
	}
	if (r->chunked && r->has_length)
		return err_set(err, ERR_FORMAT, "an HTTP answer with two lengths");
	if (r->has_length && r->body_max && r->left > r->body_max)
		return err_set(err, ERR_FORMAT, "an HTTP answer that is too large");
	if (r->status == 204 || r->status == 304 || (r->has_length && !r->left)) {
		r->state = REPLY_DONE;
	} else if (r->chunked) {
		r->state = REPLY_CHUNK;
	} else if (r->has_length) {
		r->state = REPLY_LENGTH;
	} else {
		r->state = REPLY_REST;
		r->keep = false;
	}
	return 0;
}

/* ---- chunks */

static int chunk_line(struct reply *r, struct slice line, struct err *err)
{
	struct slice digits = slice_cut(&line, ';');
	uint64_t n = 0;

	digits = slice_trim(digits);
	if (!digits.n || digits.n > CHUNK_DIGITS)
		return err_set(err, ERR_FORMAT, "an HTTP answer with a bad chunk");
	for (size_t i = 0; i < digits.n; i++) {
		char c = digits.at[i];

		if (!isxdigit((unsigned char)c))
			return err_set(err, ERR_FORMAT, "an HTTP answer with a bad chunk");
		n = n * 16 + (uint64_t)(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	r->left = n;
	r->state = n ? REPLY_CHUNK_DATA : REPLY_TRAILER;
	return 0;
}

static int take_line(struct reply *r, struct slice line, struct err *err)
{
	switch (r->state) {
	case REPLY_STATUS:
		return status_line(r, line, err);
	case REPLY_HEADER:
		return line.n ? header_line(r, line, err) : end_of_head(r, err);
	case REPLY_CHUNK:
		return chunk_line(r, line, err);
	case REPLY_CHUNK_END:
		if (line.n)
			return err_set(err, ERR_FORMAT, "an HTTP answer with a bad chunk");
		r->state = REPLY_CHUNK;
		return 0;
	default: /* a trailer */
		if (!line.n)
			r->state = REPLY_DONE;
		return 0;
	}
}

/* Collects a line, up to and with its end. */
static ssize_t feed_line(struct reply *r, const char *bytes, size_t n, struct err *err)
{
	const char *end = memchr(bytes, '\n', n);
	size_t used = end ? (size_t)(end - bytes) + 1 : n;
	bool framing = r->state == REPLY_CHUNK || r->state == REPLY_CHUNK_END;
	struct slice line;
	int rc;

	r->head += framing ? 0 : used;
	if (r->line.n + used > REPLY_LINE_MAX || r->head > REPLY_HEAD_MAX)
		return err_set(err, ERR_FORMAT, "an HTTP answer with headers that are too long");
	buf_add(&r->line, bytes, used);
	if (!end)
		return (ssize_t)used;
	line = (struct slice){ r->line.at, r->line.n - 1 };
	if (!line.n || line.at[line.n - 1] != '\r')
		return err_set(err, ERR_FORMAT, "an HTTP answer with a broken line");
	line.n--;
	rc = take_line(r, line, err);
	buf_clear(&r->line);
	return rc < 0 ? rc : (ssize_t)used;
}

/* ---- body */

static ssize_t feed_body(struct reply *r, const char *bytes, size_t n, reply_body *body, void *ctx,
	int *stop, struct err *err)
{
	if (r->state != REPLY_REST && n > r->left)
		n = (size_t)r->left;
	r->body_bytes += n;
	if (r->body_max && r->body_bytes > r->body_max)
		return err_set(err, ERR_FORMAT, "an HTTP answer that is too large");
	*stop = body ? body(ctx, r, bytes, n) : 0;
	if (r->state == REPLY_REST)
		return (ssize_t)n;
	r->left -= n;
	if (!r->left)
		r->state = r->state == REPLY_LENGTH ? REPLY_DONE : REPLY_CHUNK_END;
	return (ssize_t)n;
}

static bool in_body(const struct reply *r)
{
	return r->state == REPLY_LENGTH || r->state == REPLY_REST || r->state == REPLY_CHUNK_DATA;
}

ssize_t reply_feed(struct reply *r, const char *bytes, size_t n, reply_body *body, void *ctx,
	int *stop, struct err *err)
{
	size_t used = 0;

	*stop = 0;
	while (used < n && r->state != REPLY_DONE && !*stop) {
		ssize_t step = in_body(r) ? feed_body(r, bytes + used, n - used, body, ctx, stop, err)
					  : feed_line(r, bytes + used, n - used, err);

		if (step < 0)
			return step;
		used += (size_t)step;
	}
	return (ssize_t)used;
}

int reply_end(struct reply *r, struct err *err)
{
	if (r->state == REPLY_REST)
		r->state = REPLY_DONE;
	if (r->state == REPLY_DONE)
		return 0;
	return err_set(err, ERR_FORMAT, "the connection ended in the middle of an answer");
}

/* ---- server-sent events */

void sse_fini(struct sse *sse)
{
	buf_fini(&sse->line);
	buf_fini(&sse->id);
	buf_fini(&sse->kind);
	buf_fini(&sse->data);
}

static const char *text_of(const struct buf *buf)
{
	return buf->n ? buf->at : "";
}

static int dispatch(struct sse *sse, sse_event *see, void *ctx)
{
	int64_t id = 0;
	int rc = 0;

	slice_int(slice_of(text_of(&sse->id)), &id);
	if (sse->any)
		rc = see(ctx, id > 0 ? (uint64_t)id : 0, sse->kind.n ? sse->kind.at : "message",
			text_of(&sse->data));
	sse->any = false;
	buf_clear(&sse->kind);
	buf_clear(&sse->data);
	return rc;
}

static void set_buf(struct buf *buf, struct slice value)
{
	buf_clear(buf);
	buf_add(buf, value.at, value.n);
}

static void field(struct sse *sse, struct slice line)
{
	struct slice value = line, name = slice_cut(&value, ':');

	if (value.n && value.at[0] == ' ')
		value = (struct slice){ value.at + 1, value.n - 1 };
	if (slice_is(name, "id")) {
		set_buf(&sse->id, value);
	} else if (slice_is(name, "event")) {
		set_buf(&sse->kind, value);
	} else if (slice_is(name, "data")) {
		if (sse->any)
			buf_char(&sse->data, '\n');
		buf_add(&sse->data, value.at, value.n);
		sse->any = true;
	}
}

static int event_line(struct sse *sse, sse_event *see, void *ctx)
{
	struct slice line = { text_of(&sse->line), sse->line.n };
	int rc = 0;

	if (line.n && line.at[line.n - 1] == '\r')
		line.n--;
	if (!line.n)
		rc = dispatch(sse, see, ctx);
	else
		field(sse, line);
	buf_clear(&sse->line);
	return rc;
}

int sse_feed(struct sse *sse, const char *bytes, size_t n, sse_event *see, void *ctx)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		if (bytes[i] == '\n')
			rc = event_line(sse, see, ctx);
		else
			buf_char(&sse->line, bytes[i]);
		if (sse->line.n + sse->data.n > EVENT_MAX)
			return ERR_FORMAT;
	}
	return rc;
}
