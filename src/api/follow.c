/*
 * Answers that go on.  The library asks for bytes; where there are none the
 * connection is suspended, and resumed by whoever has something: the stream, the
 * daemon's answer, the ticker.  Nothing is queued for a reader that is slow: it
 * is behind, and told so when the stream has forgotten what it missed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/server_parts.h"
#include "base/clock.h"
#include "base/mem.h"

enum { EVENTS_AT_ONCE = 64 * 1024, LOG_AT_ONCE = 64 * 1024 };

static const double ask_apart_s = 0.05; /* least time between two questions to the daemon */
static const double ask_anyway_s = 2;   /* even if nothing seems to have happened */

/* ---- both kinds */

static struct follow *follow_create(struct server *server, struct MHD_Connection *connection)
{
	struct follow *f = mem_alloc(sizeof(*f));

	f->server = server;
	f->connection = connection;
	f->fd = -1;
	f->peer = connection_fd(connection);
	f->since_s = clock_wall_s();
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

static void follow_free(struct follow *f)
{
	inquiry_leave(f->inquiry);
	if (f->fd >= 0)
		close(f->fd);
	buf_fini(&f->text);
	json_decref(f->args);
	log_place_fini(&f->place);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* The library is done with it. */
static void follow_end(void *ctx)
{
	struct follow *f = ctx;
	struct server *s = f->server;

	pthread_mutex_lock(&s->lock);
	*(f->prev ? &f->prev->next : &s->follows) = f->next;
	if (f->next)
		f->next->prev = f->prev;
	s->nlogs -= f->log != NULL;
	pthread_mutex_unlock(&s->lock);
	follow_free(f);
}

static struct MHD_Response *follow_begin(struct follow *f, MHD_ContentReaderCallback read, size_t block)
{
	struct server *s = f->server;
	struct MHD_Response *response = NULL;

	pthread_mutex_lock(&s->lock);
	if (!s->stopping)
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, read, f,
			follow_end);
	if (response) {
		f->next = s->follows;
		if (f->next)
			f->next->prev = f;
		s->follows = f;
		s->nlogs += f->log != NULL;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	if (!response)
		follow_free(f);
	return response;
}

/* With f->lock held. */
static void wake(struct follow *f)
{
	f->woken = true;
	if (f->suspended) {
		f->suspended = false;
		MHD_resume_connection(f->connection);
	}
}

/* Begins a look around: what happens from now on wakes us.  False: the server stops. */
static bool look(struct follow *f)
{
	bool over;

	pthread_mutex_lock(&f->lock);
	f->woken = false;
	over = f->over;
	pthread_mutex_unlock(&f->lock);
	return !over;
}

/* Sleeps if nothing happened since look(). */
static bool sleeps(struct follow *f)
{
	bool sleep;

	pthread_mutex_lock(&f->lock);
	sleep = !f->woken && !f->over;
	if (sleep) {
		f->suspended = true;
		MHD_suspend_connection(f->connection);
	}
	pthread_mutex_unlock(&f->lock);
	return sleep;
}

/* ---- events */

static bool take_beat(struct follow *f)
{
	bool beat;

	pthread_mutex_lock(&f->lock);
	beat = f->beat;
	f->beat = false;
	pthread_mutex_unlock(&f->lock);
	return beat;
}

static ssize_t send_events(struct follow *f, char *out, size_t max)
{
	size_t n = f->text.n - f->sent;

	if (n > max)
		n = max;
	memcpy(out, f->text.at + f->sent, n);
	f->sent += n;
	return (ssize_t)n;
}

static ssize_t read_events(void *ctx, uint64_t pos, char *out, size_t max)
{
	struct follow *f = ctx;

	(void)pos;
	while (f->sent == f->text.n) {
		f->sent = 0;
		buf_clear(&f->text);
		if (!look(f))
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (take_beat(f))
			buf_str(&f->text, ":\n\n");
		if (!stream_read(f->server->back.stream, &f->seq, EVENTS_AT_ONCE, &f->text) &&
			!f->text.n && sleeps(f))
			return 0;
	}
	return send_events(f, out, max);
}

struct MHD_Response *follow_events(struct server *server, struct MHD_Connection *connection,
	uint64_t after)
{
	struct follow *f = follow_create(server, connection);

	f->seq = after;
	/* Something at once: whoever connects sees that it works. */
	buf_str(&f->text, "retry: 2000\n\n");
	return follow_begin(f, read_events, EVENTS_AT_ONCE);
}

/* ---- logs */

static void log_answered(void *to, int status, struct buf *body)
{
	struct follow *f = to;
	json_t *said = status < 400 ? json_loadb(body->at, body->n, 0, NULL) : NULL;
	bool ended = !said || json_is_true(json_object_get(said, "ended"));

	json_decref(said);
	pthread_mutex_lock(&f->lock);
	f->asking = false;
	f->ended |= ended;
	wake(f);
	pthread_mutex_unlock(&f->lock);
}

/* With f->lock held. */
static bool should_ask(const struct follow *f, double now_s)
{
	double since = now_s - f->since_s;

	return !f->asking && !f->ended && since >= (f->moved ? ask_apart_s : ask_anyway_s);
}

static void ask(struct follow *f)
{
	bool ask;

	pthread_mutex_lock(&f->lock);
	ask = should_ask(f, clock_wall_s());
	if (ask) {
		f->asking = true;
		f->moved = false;
		f->since_s = clock_wall_s();
	}
	pthread_mutex_unlock(&f->lock);
	if (!ask)
		return;
	inquiry_leave(f->inquiry);
	f->inquiry = inquiry_create(log_answered, f);
	inquiry_ask(f->inquiry, &f->server->back, f->log, &f->caller, json_deep_copy(f->args));
}

/* A file that was shortened (its job empties it, or kept output was cut) is followed from its end on. */
static void see_cut(struct follow *f)
{
	struct stat st;

	if (fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size < f->offset)
		f->offset = (uint64_t)st.st_size;
}

static ssize_t read_file(struct follow *f, char *out, size_t max)
{
	ssize_t n;

	if (f->fd < 0)
		f->fd = log_open(&f->caller, &f->place);
	if (f->fd < 0)
		return 0; /* not yet */
	see_cut(f);
	do
		n = pread(f->fd, out, max, (off_t)f->offset);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		f->offset += (uint64_t)n;
	return n;
}

static ssize_t read_log(void *ctx, uint64_t pos, char *out, size_t max)
{
	struct follow *f = ctx;

	(void)pos;
	for (;;) {
		bool on = look(f), ended;
		ssize_t n;

		pthread_mutex_lock(&f->lock);
		ended = f->ended; /* before we read: nothing is written after that */
		pthread_mutex_unlock(&f->lock);
		n = on ? read_file(f, out, max) : 0;
		if (n > 0)
			return n;
		if (n < 0)
			return MHD_CONTENT_READER_END_WITH_ERROR;
		if (!on || ended)
			return MHD_CONTENT_READER_END_OF_STREAM;
		ask(f);
		if (sleeps(f))
			return 0;
	}
}

static const struct verb *log_verb(const struct server *server)
{
	for (const struct verb *v = server->back.verbs; v->name; v++) {
		if (!strcmp(v->name, "log"))
			return v;
	}
	return NULL;
}

struct MHD_Response *follow_log(struct server *server, struct MHD_Connection *connection,
	const struct caller *caller, const struct log_place *place, int fd, uint64_t offset,
	bool ended, json_t *args)
{
	struct follow *f = follow_create(server, connection);

	f->log = log_verb(server);
	f->caller = *caller;
	log_place_copy(&f->place, place);
	f->fd = fd;
	f->offset = offset;
	f->ended = ended;
	f->args = args;
	return follow_begin(f, read_log, LOG_AT_ONCE);
}

/* With f->lock held. */
static bool has_grown(const struct follow *f)
{
	struct stat st;

	/* One that the job named is looked for as its user when the daemon is asked next: that may take long. */
	if (f->fd < 0)
		return (!f->place.named || geteuid() != 0) && lstat(f->place.path, &st) == 0 &&
			S_ISREG(st.st_mode);
	return fstat(f->fd, &st) == 0 && (uint64_t)st.st_size != f->offset;
}

/* ---- all of them */

void follow_tick(struct server *server, double now_s)
{
	for (struct follow *f = server->follows; f; f = f->next) {
		pthread_mutex_lock(&f->lock);
		if (f->suspended && fd_has(f->peer, POLLRDHUP)) {
			f->over = true; /* nobody reads any more */
			wake(f);
		} else if (f->log) {
			if (f->suspended && (should_ask(f, now_s) || has_grown(f)))
				wake(f);
		} else if (now_s - f->since_s >= server->limits.beat_s) {
			f->since_s = now_s;
			f->beat = true;
			wake(f);
		}
		pthread_mutex_unlock(&f->lock);
	}
}

void follow_stop(struct server *server)
{
	for (struct follow *f = server->follows; f; f = f->next) {
		pthread_mutex_lock(&f->lock);
		f->over = true;
		wake(f);
		pthread_mutex_unlock(&f->lock);
	}
}

void follow_wake(void *ctx)
{
	struct server *server = ctx;
	double now_s = clock_wall_s();

	pthread_mutex_lock(&server->lock);
	for (struct follow *f = server->follows; f; f = f->next) {
		pthread_mutex_lock(&f->lock);
		f->moved = true;
		if (!f->log || should_ask(f, now_s))
			wake(f);
		pthread_mutex_unlock(&f->lock);
	}
	pthread_mutex_unlock(&server->lock);
}

bool follow_has_readers(void *ctx)
{
	struct server *server = ctx;
	bool has;

	pthread_mutex_lock(&server->lock);
	has = server->follows != NULL;
	pthread_mutex_unlock(&server->lock);
	return has;
}
