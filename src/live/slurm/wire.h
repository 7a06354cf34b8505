/*
 * The line to the bridge (doc/slurm-protocol.md): requests go out, and each is
 * answered once, by what the bridge says or by the news that it is lost.
 *
 * The bridge answers one after the other, so one is under way at a time and the
 * rest waits here.  A bridge that dies, talks nonsense or is silent for too long
 * is started again; what was under way is lost then and nobody knows whether it
 * was done; what waited goes to the next one.
 *
 * All calls return at once.  Callbacks come from wire_poll() alone.
 */
#ifndef LIVE_SLURM_WIRE_H
#define LIVE_SLURM_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct wire;

/* Where the bytes go.  A test puts its own in place of a program. */
struct transport {
	/* Starts the other side, once more after each close(). */
	int (*open)(void *self, struct err *err);
	void (*close)(void *self);
	/* To wait for; -1: there is nothing to wait for, wire_poll() is called often enough. */
	int (*read_fd)(const void *self);
	int (*write_fd)(const void *self);
	/* Bytes; 0: not now; -1: it is dead. */
	ssize_t (*read)(void *self, char *to, size_t n);
	ssize_t (*write)(void *self, const char *from, size_t n);
};

/* What became of a request; all borrowed for the call. */
struct wire_answer {
	bool lost; /* nobody knows whether it was done */
	bool ok;
	const char *kind;   /* of the failure, "" where there is none: "timeout", … */
	const char *error;  /* in words, "" likewise */
	const json_t *body; /* the whole answer; NULL: lost */
};

typedef void wire_answer_fn(void *ctx, const struct wire_answer *answer);

struct wire_config {
	const struct transport *transport;
	void *transport_self;
	double (*now_s)(void); /* all that has to do with time goes by this */
	void *ctx;
	/* The bridge is there, for the first time or again, and this is its hello. */
	void (*hello)(void *ctx, const json_t *hello);
	/* It is not, and why; told once for each reason until it is there again. */
	void (*away)(void *ctx, const char *kind, const char *error);
};

/* Starts nothing yet: the first wire_poll() does. */
int wire_open(const struct wire_config *config, struct wire **out, struct err *err);
/* Nothing is told any more.  Takes NULL. */
void wire_close(struct wire *wire);

/* Readable when wire_poll() has something to do. */
int wire_fd(const struct wire *wire);
int wire_poll(struct wire *wire, struct err *err);

/* Takes `request`, which gets an id; its answer has so many seconds from when it is sent. */
void wire_send(struct wire *wire, json_t *request, double patience_s, wire_answer_fn *then, void *ctx);
/* Requests that are not answered yet. */
size_t wire_waiting(const struct wire *wire);
/* Whether wire_poll() would send something. */
bool wire_is_due(const struct wire *wire);
/* Whether the bridge has said hello. */
bool wire_ready(const struct wire *wire);
/* wire_poll() shall be called then, too: the latest word counts.  INFINITY: no need. */
void wire_wake(struct wire *wire, double at_s);

#endif
