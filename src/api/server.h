/*
 * The daemon's face: HTTP with JSON, on a unix socket and on TCP.
 *
 * Over the unix socket the kernel says who calls.  Over TCP, which is this
 * machine's loopback unless expressly asked otherwise, a caller with the token
 * (STATE/token) is the daemon's own user, and one with STATE/token.read may ask
 * with GET; gate.h says what else is checked.  A daemon for all users has no full
 * token on a port that any user could have bound before it.
 *
 * Routes come from the daemon's table of verbs; the server itself answers
 *
 *	GET /, /assets/{name}      the page; no token needed
 *	POST /login, /logout       a session of the page: both sides prove themselves (api/session.h)
 *	POST /v1/open              an address that logs in at the page, once
 *	GET /healthz               no token needed
 *	GET /metrics               OpenMetrics text
 *	GET /v1/openapi.json       the routes
 *	GET /v1/events             server-sent events; ?after= or Last-Event-ID
 *	GET /v1/jobs/{id}/log/raw  the bytes of a log; follow=1: until the attempt is over
 *
 * Threads of its own; a request waits for the daemon without holding one.
 */
#ifndef API_SERVER_H
#define API_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/audit.h"
#include "daemon/daemon.h"
#include "daemon/verbs.h"

struct server;

/* What stands behind the server. */
struct api_back {
	void *self;
	const struct verb *verbs; /* name NULL after the last; a verb "log" if log/raw is to work */
	/* As daemon_call(): takes args; answer() is called once, from any thread, also at once. */
	void (*call)(void *self, const struct verb *verb, const struct caller *caller, json_t *args,
		daemon_answer *answer, void *ctx);
	struct stream *stream;
	void (*metrics)(void *self, struct buf *out);
	bool (*healthy)(void *self, struct buf *out);
	/* Every request once it is over; NULL: nobody counts.  From any thread. */
	void (*count)(void *self, const char *route, int status);
	/* What daemon/audit.h is about; NULL: nobody keeps it.  From any thread. */
	void (*audit)(void *self, const struct audit_entry *entry);
	/* The role of a user whom the kernel names; NULL: admin or user, as the kernel's word says.  From any thread. */
	enum role (*role)(void *self, uid_t uid);
};

/* Zero means the default. */
struct server_limits {
	uint32_t connections;      /* per socket; 256.  A few more are there for /healthz */
	uint32_t connections_each; /* of one user who is no admin, or one address if exposed; 64 */
	uint64_t body_bytes;       /* 8 MiB */
	uint64_t stranger_bytes;   /* body of a request without a right token or session; 4 KiB */
	double rate, burst; /* requests over TCP per peer; 5,000/s, 10,000.  rate < 0: no limit */
	double first_s; /* from connecting to the first request, and all of a request without a right token; 10 */
	double idle_s; /* between requests, or without a byte read by the peer; 60 */
	double read_s; /* for one request to come in whole; 60 */
	double beat_s; /* between heartbeats of an event stream; 15 */
};

struct server_config {
	const char *socket;    /* unix; NULL: none */
	const char *state_dir; /* for token and address */
	const char *address;   /* TCP, "127.0.0.1"; NULL: none */
	uint16_t port;         /* 0: that of the last run (api/port.h), else any */
	int given;      /* a TCP socket that listens already, instead of `address`; 0: none */
	bool exposed;   /* other machines may reach `address` */
	bool new_token; /* as after a daemon that left its address file: the old ones are void */
	bool system;    /* every user may connect to the unix socket */
	struct server_limits limits;
	/* Who is at the other end of a unix socket; NULL: the kernel is asked. */
	bool (*who)(int fd, struct caller *out);
};

/* Copies the config and *back; what back points to must live until server_stop(). */
int server_start(const struct server_config *config, const struct api_back *back,
	struct server **out, struct err *err);
/*
 * Answers what waits with 503 and ends.  Calls the back has not answered yet may be answered later,
 * after this too.  NULL is fine.
 */
void server_stop(struct server *server);

uint16_t server_port(const struct server *server);       /* 0: no TCP */
const char *server_address(const struct server *server); /* "127.0.0.1" */
/* Whether STATE/token is taken over TCP; see server_parts.h. */
bool server_takes_token(const struct server *server);
/* Whether tokens were made anew because the last daemon did not stop cleanly. */
bool server_was_unclean(const struct server *server);
/* The port of the last run if another program has it now, so that the tokens are new; 0: none. */
uint16_t server_lost_port(const struct server *server);

/* The routes of its own, for documents and tests. */
extern const struct verb server_routes[];

#endif
