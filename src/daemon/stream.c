/*
 * A ring of notices, already written as server-sent events, under one mutex.
 */
#include "daemon/stream.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct notice {
	uint64_t seq;
	char *text;
	size_t n;
};

struct stream {
	pthread_mutex_t lock;
	struct notice at[STREAM_KEEPS]; /* seq s after the first is at [(first + s) % STREAM_KEEPS] */
	size_t first, n;
	uint64_t gone; /* notices up to this one are not here any more */
	uint64_t last;
	struct stream_follower *followers;
};

struct stream *stream_create(uint64_t last_seq)
{
	struct stream *stream = mem_alloc(sizeof(*stream));

	pthread_mutex_init(&stream->lock, NULL);
	stream->gone = stream->last = last_seq;
	return stream;
}

void stream_destroy(struct stream *stream)
{
	if (!stream)
		return;
	for (size_t i = 0; i < STREAM_KEEPS; i++)
		free(stream->at[i].text);
	pthread_mutex_destroy(&stream->lock);
	free(stream);
}

/* A line end inside would begin a field of its own. */
static void add_line(struct buf *out, const char *text)
{
	size_t from = out->n;

	buf_str(out, text);
	for (size_t i = from; i < out->n; i++) {
		if (out->at[i] == '\n' || out->at[i] == '\r')
			out->at[i] = ' ';
	}
}

static void drop_first(struct stream *stream)
{
	struct notice *notice = &stream->at[stream->first];

	stream->gone = notice->seq;
	free(notice->text);
	*notice = (struct notice){ 0 };
	stream->first = (stream->first + 1) % STREAM_KEEPS;
	stream->n--;
}

void stream_push(struct stream *stream, uint64_t seq, const char *kind, const char *json)
{
	struct buf text = { 0 };

	buf_printf(&text, "id: %llu\nevent: ", (unsigned long long)seq);
	add_line(&text, kind);
	buf_str(&text, "\ndata: ");
	add_line(&text, json);
	buf_str(&text, "\n\n");

	pthread_mutex_lock(&stream->lock);
	if (stream->n == STREAM_KEEPS)
		drop_first(stream);
	stream->at[(stream->first + stream->n) % STREAM_KEEPS] = (struct notice){ seq, text.at,
		text.n };
	stream->n++;
	stream->last = seq;
	for (struct stream_follower *f = stream->followers; f; f = f->next)
		f->wake(f->ctx);
	pthread_mutex_unlock(&stream->lock);
}

void stream_skip(struct stream *stream, uint64_t seq)
{
	pthread_mutex_lock(&stream->lock);
	while (stream->n)
		drop_first(stream);
	stream->gone = stream->last = seq;
	pthread_mutex_unlock(&stream->lock);
}

bool stream_has_readers(struct stream *stream)
{
	bool has = false;

	pthread_mutex_lock(&stream->lock);
	for (struct stream_follower *f = stream->followers; f && !has; f = f->next)
		has = !f->has_readers || f->has_readers(f->ctx);
	pthread_mutex_unlock(&stream->lock);
	return has;
}

static const struct notice *nth(const struct stream *stream, size_t i)
{
	return &stream->at[(stream->first + i) % STREAM_KEEPS];
}

/* How many of the ring are not after `seq`. */
static size_t seen_by(const struct stream *stream, uint64_t seq)
{
	size_t low = 0, high = stream->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (nth(stream, mid)->seq > seq)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void say_lost(const struct stream *stream, uint64_t *seq, struct buf *out)
{
	unsigned long long from = *seq + 1, to = stream->gone;

	buf_printf(out, "id: %llu\nevent: lost\ndata: {\"from\":%llu,\"to\":%llu}\n\n", to, from, to);
	*seq = stream->gone;
}

bool stream_read(struct stream *stream, uint64_t *seq, size_t max, struct buf *out)
{
	size_t before = out->n;

	pthread_mutex_lock(&stream->lock);
	if (*seq < stream->gone)
		say_lost(stream, seq, out);
	for (size_t i = seen_by(stream, *seq); i < stream->n; i++) {
		const struct notice *notice = nth(stream, i);

		if (out->n > before && out->n - before + notice->n > max)
			break;
		buf_add(out, notice->text, notice->n);
		*seq = notice->seq;
	}
	pthread_mutex_unlock(&stream->lock);
	return out->n > before;
}

uint64_t stream_last(struct stream *stream)
{
	uint64_t last;

	pthread_mutex_lock(&stream->lock);
	last = stream->last;
	pthread_mutex_unlock(&stream->lock);
	return last;
}

void stream_follow(struct stream *stream, struct stream_follower *follower)
{
	pthread_mutex_lock(&stream->lock);
	follower->next = stream->followers;
	stream->followers = follower;
	pthread_mutex_unlock(&stream->lock);
}

void stream_unfollow(struct stream *stream, struct stream_follower *follower)
{
	struct stream_follower **at;

	pthread_mutex_lock(&stream->lock);
	for (at = &stream->followers; *at; at = &(*at)->next) {
		if (*at != follower)
			continue;
		*at = follower->next;
		break;
	}
	pthread_mutex_unlock(&stream->lock);
}
