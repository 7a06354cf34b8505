/*
 * The line to the bridge: one descriptor to wait for (an epoll instance with the
 * pipes and a timer), one request under way, and a bridge that is started anew.
 */
#include "live/slurm/wire.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/members.h"
#include "base/text.h"
#include "base/vec.h"

#define PAUSE_FIRST_S 0.1
#define PAUSE_LAST_S 5.0
#define HELLO_PATIENCE_S 30.0
enum { CHUNK = 65536, LINE_MAX_BYTES = 1 << 30, PROTOCOL = 1 };

struct request {
	json_t *body;
	double patience_s;
	wire_answer_fn *then;
	void *ctx;
};

struct wire {
	struct wire_config config;
	int epoll, timer;
	bool up;                /* the other side was started */
	bool ready;             /* and has said hello */
	bool writing;           /* the epoll instance waits for room */
	double pause_s, next_s; /* how long to wait before the next try, and until when */
	double wake_s, set_s;   /* when the user wants to be called; what the timer is set to */
	char told[32];          /* kind of what was told by away() */
	json_int_t last_id, id; /* of the one under way; 0: none */
	double deadline_s;
	struct request asked; /* the one under way; no `then`: hello */
	VEC(struct request) queue;
	size_t first; /* of the queue */
	struct buf out, in;
	size_t sent, scanned;
};

/* ---- telling */

static void tell(struct request *r, const struct wire_answer *answer)
{
	if (r->then)
		r->then(r->ctx, answer);
}

/* Ends the one under way; hello is told to nobody. */
static void settle(struct wire *wire, const struct wire_answer *answer)
{
	struct request asked = wire->asked;

	wire->id = 0;
	wire->asked = (struct request){ 0 };
	tell(&asked, answer);
}

static void tell_away(struct wire *wire, const char *kind, const char *error)
{
	if (!strcmp(wire->told, kind))
		return;
	snprintf(wire->told, sizeof(wire->told), "%s", kind);
	if (wire->config.away)
		wire->config.away(wire->config.ctx, kind, error);
}

static void pause_more(struct wire *wire)
{
	wire->pause_s = fmin(PAUSE_LAST_S, wire->pause_s > 0 ? wire->pause_s * 2 : PAUSE_FIRST_S);
	wire->next_s = wire->config.now_s() + wire->pause_s;
}

/* ---- the other side */

static void watch(struct wire *wire, int fd, uint32_t events, bool on)
{
	struct epoll_event event = { .events = events };

	if (fd >= 0)
		epoll_ctl(wire->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &event);
}

static void watch_room(struct wire *wire, bool on)
{
	if (on != wire->writing)
		watch(wire, wire->config.transport->write_fd(wire->config.transport_self), EPOLLOUT,
			on);
	wire->writing = on;
}

static void disconnect(struct wire *wire)
{
	const struct transport *t = wire->config.transport;

	if (!wire->up)
		return;
	watch_room(wire, false);
	watch(wire, t->read_fd(wire->config.transport_self), EPOLLIN, false);
	t->close(wire->config.transport_self);
	wire->up = wire->ready = false;
	buf_clear(&wire->out);
	buf_clear(&wire->in);
	wire->sent = wire->scanned = 0;
}

/* What was under way is lost, and the next one is started after a while. */
static void lose(struct wire *wire, const char *why)
{
	disconnect(wire);
	pause_more(wire);
	tell_away(wire, "bridge", why);
	if (wire->id)
		settle(wire, &(struct wire_answer){ .lost = true, .kind = "", .error = why });
}

static void connect_it(struct wire *wire)
{
	const struct transport *t = wire->config.transport;
	struct err err = { 0 };

	if (wire->up || wire->config.now_s() < wire->next_s)
		return;
	if (t->open(wire->config.transport_self, &err) < 0) {
		pause_more(wire);
		tell_away(wire, err.code == ERR_MISSING ? "program" : "bridge", err.text);
		return;
	}
	wire->up = true;
	watch(wire, t->read_fd(wire->config.transport_self), EPOLLIN, true);
}

/* ---- out */

static void begin(struct wire *wire, struct request *r)
{
	char *line;

	wire->id = ++wire->last_id;
	json_object_set_new(r->body, "id", json_integer(wire->id));
	line = json_dumps(r->body, JSON_COMPACT);
	json_decref(r->body);
	r->body = NULL;
	wire->asked = *r;
	wire->deadline_s = wire->config.now_s() + r->patience_s;
	buf_clear(&wire->out);
	wire->sent = 0;
	buf_str(&wire->out, line ? line : "{}");
	buf_char(&wire->out, '\n');
	free(line);
}

static void next_request(struct wire *wire)
{
	struct request hello = {
		.patience_s = HELLO_PATIENCE_S,
	};

	if (!wire->up || wire->id)
		return;
	if (!wire->ready && wire->config.now_s() >= wire->next_s) {
		hello.body = json_pack("{s:s,s:i}", "op", "hello", "protocol", PROTOCOL);
		begin(wire, &hello);
	} else if (wire->ready && wire->first < wire->queue.n) {
		begin(wire, &wire->queue.at[wire->first++]);
	}
	if (wire->first == wire->queue.n)
		wire->first = wire->queue.n = 0;
}

static void write_out(struct wire *wire)
{
	const struct transport *t = wire->config.transport;
	ssize_t n = 1;

	while (wire->up && wire->sent < wire->out.n && n > 0) {
		n = t->write(wire->config.transport_self, wire->out.at + wire->sent,
			wire->out.n - wire->sent);
		if (n > 0)
			wire->sent += (size_t)n;
	}
	if (n < 0)
		lose(wire, "the bridge (stint-slurm) has ended");
	else if (wire->up)
		watch_room(wire, wire->sent < wire->out.n);
}

/* ---- in */

static void hear_hello(struct wire *wire, const json_t *body, bool ok)
{
	const char *kind = member_text(body, "kind"), *error = member_text(body, "error");

	wire->id = 0;
	if (!ok) {
		pause_more(wire);
		tell_away(wire, kind ? kind : "protocol", error ? error : "it does not say why");
		return;
	}
	wire->ready = true;
	wire->pause_s = 0;
	wire->told[0] = '\0';
	if (wire->config.hello)
		wire->config.hello(wire->config.ctx, body);
}

static void hear_answer(struct wire *wire, const json_t *body)
{
	bool ok = member_bool(body, "ok", false);
	const char *kind = member_text(body, "kind"), *error = member_text(body, "error");
	struct wire_answer answer = {
		.ok = ok,
		.kind = ok     ? ""
			: kind ? kind
			       : "protocol",
		.error = ok     ? ""
			: error ? error
				: "it does not say why",
		.body = body,
	};

	if (!wire->ready)
		hear_hello(wire, body, ok);
	else
		settle(wire, &answer);
}

/* False: the other side is gone. */
static bool hear_line(struct wire *wire, const char *line, size_t n)
{
	json_t *body = json_loadb(line, n, 0, NULL);
	json_int_t id = member_int(body, "id", 0);
	bool sense = json_is_object(body);

	if (sense && wire->id && id == wire->id)
		hear_answer(wire, body);
	json_decref(body);
	/* Who talks nonsense once cannot be believed later; an answer that nobody waits for is no harm. */
	if (!sense)
		lose(wire, "the bridge (stint-slurm) said something that is no JSON object");
	return wire->up;
}

static void hear_lines(struct wire *wire)
{
	size_t begin = 0;
	char *end;

	while (wire->in.n > wire->scanned &&
		(end = memchr(wire->in.at + wire->scanned, '\n', wire->in.n - wire->scanned))) {
		if (!hear_line(wire, wire->in.at + begin, (size_t)(end - wire->in.at) - begin))
			return;
		begin = wire->scanned = (size_t)(end - wire->in.at) + 1;
	}
	if (begin) {
		memmove(wire->in.at, wire->in.at + begin, wire->in.n - begin);
		wire->in.n -= begin;
	}
	wire->scanned = wire->in.n;
}

static void read_in(struct wire *wire)
{
	const struct transport *t = wire->config.transport;
	char *chunk = mem_alloc(CHUNK);
	ssize_t n = 0;

	while (wire->up && (n = t->read(wire->config.transport_self, chunk, CHUNK)) > 0) {
		buf_add(&wire->in, chunk, (size_t)n);
		hear_lines(wire);
		if (wire->in.n > LINE_MAX_BYTES)
			lose(wire, "the bridge (stint-slurm) does not end its line");
	}
	free(chunk);
	if (wire->up && n < 0)
		lose(wire, "the bridge (stint-slurm) has ended");
}

/* ---- time */

static void set_timer(struct wire *wire)
{
	double now_s = wire->config.now_s(), at_s = wire->wake_s, in_s;
	struct itimerspec spec = { 0 };

	if (wire->id)
		at_s = fmin(at_s, wire->deadline_s);
	else if (!wire->up || !wire->ready)
		at_s = fmin(at_s, wire->next_s);
	if (at_s == wire->set_s)
		return;
	wire->set_s = at_s;
	in_s = fmin(1e6, fmax(1e-6, at_s - now_s));
	if (isfinite(at_s)) {
		spec.it_value.tv_sec = (time_t)in_s;
		spec.it_value.tv_nsec = (long)((in_s - floor(in_s)) * 1e9);
	}
	timerfd_settime(wire->timer, 0, &spec, NULL);
}

static void hear_timer(struct wire *wire)
{
	uint64_t times;

	/* It has gone off: whatever it is to be set to next is news. */
	if (read(wire->timer, &times, sizeof(times)) == sizeof(times))
		wire->set_s = NAN;
	if (wire->id && wire->config.now_s() >= wire->deadline_s)
		lose(wire, "the bridge (stint-slurm) did not answer in time");
}

/* ---- the whole */

int wire_poll(struct wire *wire, struct err *err)
{
	json_int_t before;

	(void)err;
	hear_timer(wire);
	connect_it(wire);
	/* An answer makes room for the next request, which may be answered at once. */
	do {
		before = wire->last_id;
		next_request(wire);
		write_out(wire);
		read_in(wire);
	} while (wire->last_id != before);
	set_timer(wire);
	return 0;
}

void wire_send(struct wire *wire, json_t *request, double patience_s, wire_answer_fn *then, void *ctx)
{
	vec_push(&wire->queue, (struct request){ request, patience_s, then, ctx });
	if (!wire->id && wire->ready)
		wire_wake(wire, fmin(wire->wake_s, wire->config.now_s()));
}

size_t wire_waiting(const struct wire *wire)
{
	return wire->queue.n - wire->first + (wire->id && wire->asked.then ? 1 : 0);
}

bool wire_is_due(const struct wire *wire)
{
	return wire->up && wire->ready && !wire->id && wire->first < wire->queue.n;
}

bool wire_ready(const struct wire *wire)
{
	return wire->ready;
}

void wire_wake(struct wire *wire, double at_s)
{
	wire->wake_s = at_s;
	set_timer(wire);
}

int wire_fd(const struct wire *wire)
{
	return wire->epoll;
}

int wire_open(const struct wire_config *config, struct wire **out, struct err *err)
{
	struct wire *wire = mem_alloc(sizeof(*wire));

	wire->config = *config;
	wire->wake_s = INFINITY;
	wire->set_s = NAN;
	/* Not those of whoever spoke to a bridge before us. */
	wire->last_id = (json_int_t)(config->now_s() * 1e3);
	wire->epoll = epoll_create1(EPOLL_CLOEXEC);
	wire->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (wire->epoll < 0 || wire->timer < 0) {
		wire_close(wire);
		return err_set(err, ERR_IO, "cannot wait for the bridge: %s", strerror(errno));
	}
	watch(wire, wire->timer, EPOLLIN, true);
	set_timer(wire);
	*out = wire;
	return 0;
}

void wire_close(struct wire *wire)
{
	if (!wire)
		return;
	disconnect(wire);
	for (size_t i = wire->first; i < wire->queue.n; i++)
		json_decref(wire->queue.at[i].body);
	vec_fini(&wire->queue);
	buf_fini(&wire->out);
	buf_fini(&wire->in);
	if (wire->epoll >= 0)
		close(wire->epoll);
	if (wire->timer >= 0)
		close(wire->timer);
	free(wire);
}
