/*
 * What the files of the server share.
 *
 * Locks are taken in this order: a stream's, server->lock, inquiry->lock,
 * follow->lock.  The stream is never called with one of ours held.
 */
#ifndef API_SERVER_PARTS_H
#define API_SERVER_PARTS_H

#include <microhttpd.h>
#include <pthread.h>

#include "api/gate.h"
#include "api/listen.h"
#include "api/log_file.h"
#include "api/route.h"
#include "api/server.h"
#include "api/session.h"

/* ---- a call of the daemon that somebody waits for, or waited */

struct inquiry {
	pthread_mutex_t lock;
	int refs; /* who asks, and the daemon until it has answered */
	/* Called once with the lock held, unless whoever asked has gone.  May take the body. */
	void (*then)(void *to, int status, struct buf *body);
	void *to; /* NULL: answered, or nobody waits */
};

struct inquiry *inquiry_create(void (*then)(void *to, int status, struct buf *body), void *to);
/* Asks the daemon; takes `args`. */
void inquiry_ask(struct inquiry *inquiry, const struct api_back *back, const struct verb *verb,
	const struct caller *caller, json_t *args);
/* Answers it in the daemon's place, if it has not been. */
void inquiry_cancel(struct inquiry *inquiry, int status, const char *why);
bool inquiry_is_over(struct inquiry *inquiry);
/* The asker goes; then() is not running and is not called any more.  NULL is fine. */
void inquiry_leave(struct inquiry *inquiry);

/* ---- an answer that goes on: events, or a log that grows */

struct follow {
	struct server *server;
	struct MHD_Connection *connection;
	struct follow *prev, *next;
	pthread_mutex_t lock;  /* of what follows */
	bool suspended, woken; /* woken: something happened since we looked */
	bool over;             /* the server stops, or the reader has gone */
	bool beat, moved;      /* a heartbeat is due; the stream went on */
	bool asking, ended;    /* log: whether the attempt is over */
	double since_s;        /* last heartbeat, or last asked */
	/* The reader's own. */
	uint64_t seq;
	struct buf text; /* events to be sent */
	size_t sent;
	const struct verb *log;
	struct caller caller;
	struct inquiry *inquiry;
	json_t *args;
	struct log_place place;
	int fd;
	int peer; /* the connection's descriptor */
	uint64_t offset;
};

/* Both give a response, or NULL while the server stops. */
struct MHD_Response *follow_events(struct server *server, struct MHD_Connection *connection,
	uint64_t after);
/* Takes `fd` (-1: not there yet) and `args`, which are those of the verb log. */
struct MHD_Response *follow_log(struct server *server, struct MHD_Connection *connection,
	const struct caller *caller, const struct log_place *place, int fd, uint64_t offset,
	bool ended, json_t *args);
/* With server->lock held: all of them, now and then, and when the server stops. */
void follow_tick(struct server *server, double now_s);
void follow_stop(struct server *server);
/* The stream went on. */
void follow_wake(void *server);
bool follow_has_readers(void *server);

/* ---- connections and the server */

int connection_fd(struct MHD_Connection *connection);
/* Whether it has `events` (or has broken): a suspended connection is not looked at by the library. */
bool fd_has(int fd, short events);

enum {
	SPARE_PEERS = 32, /* beyond the limit of a socket, for /healthz */
	SPARE_EACH = 16,  /* beyond the limit of a user */
};

enum peer_state { PEER_IDLE, PEER_READING, PEER_BUSY };

struct peer {
	struct peer *prev, *next;
	struct face *face;
	struct caller caller;
	bool known;   /* we know who calls: by the kernel's word */
	bool served;  /* had an answer before */
	bool trusted; /* a request of it had a right token or session; over the unix socket: known */
	bool spare;   /* beyond a limit: /healthz only */
	bool own;     /* with `spare`: beyond the limit of its user, not that of the socket */
	bool cut;     /* we have cut it off: what it sent before must not count any more */
	enum peer_state state;
	double since_s;             /* in that state */
	uint64_t hash;              /* of its address */
	char from[TCP_ADDRESS_MAX]; /* its address, "unix" */
	int fd;
};

/* With server->lock held.  Shuts the socket down; the library closes it. */
void peer_cut(struct peer *peer);
/* Why a connection beyond a limit is refused, as problem JSON. */
void peer_refusal(const struct peer *peer, struct buf *out);
/* With server->lock held, for a peer that is in the list: cuts off connections where there are too many. */
void peers_make_room(struct server *server, struct peer *newcomer);
/* With server->lock held: cuts off what takes too long. */
void peers_reap(struct server *server, double now_s);

/* One of the sockets. */
struct face {
	struct server *server;
	struct MHD_Daemon *http;
	bool tcp;
	int fd;
};

struct server {
	struct api_back back;
	struct server_limits limits;
	struct routes routes;
	struct stream_follower follower;
	struct face unix_face, tcp_face;
	struct unix_socket socket;
	char *state_dir, *address_file;
	char *url; /* NULL: no TCP */
	bool (*who)(int fd, struct caller *out);
	bool system, exposed;
	uint16_t port;
	uint16_t lost_port; /* of the last run, which another program has now; 0: none */
	char address[TCP_ADDRESS_MAX];
	/*
	 * STATE/token and STATE/token.read.  `whole` false: a daemon for all users listens on a port that
	 * an unprivileged user could have bound before it, so nobody must send the full token there: there is
	 * none.
	 */
	char token[TOKEN_DIGITS + 1], read_token[TOKEN_DIGITS + 1];
	bool whole, unclean;
	struct buf openapi;
	pthread_t ticker;
	bool ticking;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool stopping;
	uint32_t busy; /* requests under way */
	struct peer *peers;
	struct request *waiting; /* for the daemon */
	struct follow *follows;
	uint32_t nlogs;
	struct gate_rate good, bad; /* requests with and without a token that is right */
	struct sessions sessions;   /* of the page */
};

#endif
