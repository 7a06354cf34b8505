/*
 * libmicrohttpd, its callbacks and its life; and a ticker for what takes too
 * long.
 */
#include "api/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/openapi.h"
#include "api/port.h"
#include "api/request.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

enum {
	THREADS = 2,
	HEADER_BYTES = 32 * 1024, /* of one connection: request line, headers, and what is read at once */
	SWALLOW_BYTES = 1 << 20, /* of a request that is refused, so that the answer is read */
};

/* ---- connections */

static bool kernel_says(int fd, struct caller *out)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || n != sizeof(peer))
		return false;
	*out = (struct caller){
		.uid = peer.uid,
		.gid = peer.gid,
		.admin = peer.uid == 0 || peer.uid == geteuid(),
	};
	return true;
}

static uint64_t address_hash(const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;

	if (address && address->sa_family == AF_INET)
		return hash_bytes(HASH_START, &four->sin_addr, sizeof(four->sin_addr));
	if (address && address->sa_family == AF_INET6)
		return hash_bytes(HASH_START, &six->sin6_addr, sizeof(six->sin6_addr));
	return 0;
}

int connection_fd(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection,
		MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

bool fd_has(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 0) > 0;
}

static void address_text(const struct sockaddr *address, char out[TCP_ADDRESS_MAX])
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;

	if (address && address->sa_family == AF_INET)
		inet_ntop(AF_INET, &four->sin_addr, out, TCP_ADDRESS_MAX);
	else if (address && address->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &six->sin6_addr, out, TCP_ADDRESS_MAX);
	else
		snprintf(out, TCP_ADDRESS_MAX, "tcp");
}

static struct peer *peer_open(struct face *face, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info;
	struct server *s = face->server;
	struct peer *peer = mem_alloc(sizeof(*peer));

	peer->face = face;
	peer->since_s = clock_wall_s();
	peer->fd = connection_fd(connection);
	if (face->tcp) {
		info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
		peer->hash = info ? address_hash(info->client_addr) : 0;
		address_text(info ? info->client_addr : NULL, peer->from);
	} else {
		peer->known = s->who(peer->fd, &peer->caller);
		peer->trusted = peer->known;
		snprintf(peer->from, sizeof(peer->from), "unix");
	}
	pthread_mutex_lock(&s->lock);
	peer->next = s->peers;
	if (peer->next)
		peer->next->prev = peer;
	s->peers = peer;
	peers_make_room(s, peer);
	pthread_mutex_unlock(&s->lock);
	return peer;
}

static void peer_close(struct peer *peer)
{
	struct server *s = peer->face->server;

	pthread_mutex_lock(&s->lock);
	*(peer->prev ? &peer->prev->next : &s->peers) = peer->next;
	if (peer->next)
		peer->next->prev = peer->prev;
	pthread_mutex_unlock(&s->lock);
	free(peer);
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **own,
	enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*own = peer_open(ctx, connection);
	} else if (*own) {
		peer_close(*own);
		*own = NULL;
	}
}

/* False: it was cut off. */
static bool peer_turns(struct peer *peer, enum peer_state state)
{
	struct server *s = peer->face->server;
	bool cut;

	pthread_mutex_lock(&s->lock);
	s->busy += (state == PEER_BUSY) - (peer->state == PEER_BUSY);
	peer->state = state;
	peer->since_s = clock_wall_s();
	peer->served |= state == PEER_BUSY;
	if (!s->busy && s->stopping)
		pthread_cond_broadcast(&s->changed);
	cut = peer->cut;
	pthread_mutex_unlock(&s->lock);
	return !cut;
}

/* ---- requests */

static struct peer *peer_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection,
		MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void *on_request_line(void *ctx, const char *uri, struct MHD_Connection *connection)
{
	struct face *face = ctx;
	struct peer *peer = peer_of(connection);

	if (!peer)
		return NULL;
	peer_turns(peer, PEER_READING);
	return request_create(face->server, peer, uri, connection);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **own,
	enum MHD_RequestTerminationCode how)
{
	struct request *r = *own;
	struct server *s = ((struct face *)ctx)->server;

	(void)connection;
	(void)how;
	if (!r)
		return;
	peer_turns(r->peer, PEER_IDLE);
	if (s->back.count && r->begun)
		s->back.count(s->back.self, r->verb ? r->verb->path : "other",
			r->queued ? r->status : 499);
	request_audit(r);
	request_destroy(r);
	*own = NULL;
}

static uint64_t swallow_bytes(const struct request *r)
{
	return r->trusted ? SWALLOW_BYTES : r->server->limits.stranger_bytes;
}

static enum MHD_Result begin(struct request *r, const char *method)
{
	uint64_t length = request_length(r);

	r->begun = true;
	request_admit(r, method);
	/* What is refused is read all the same, if it is little: the connection can be used again. */
	if (r->status && length != UINT64_MAX && length > swallow_bytes(r))
		return request_reply(r, NULL);
	return MHD_YES;
}

static enum MHD_Result receive(struct request *r, const char *bytes, size_t n)
{
	uint64_t limit = request_body_limit(r);

	r->received += n;
	if (!r->status && r->received > limit) {
		buf_fini(&r->body);
		request_refuse(r, 413, "the body is larger than %llu bytes", (unsigned long long)limit);
	}
	if (!r->status)
		buf_add(&r->body, bytes, n);
	return r->received > limit + swallow_bytes(r) ? MHD_NO : MHD_YES;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *bytes, size_t *n, void **own)
{
	struct request *r = *own;

	(void)ctx;
	(void)connection;
	(void)url;
	(void)version;
	if (!r)
		return MHD_NO;
	if (!r->begun)
		return begin(r, method);
	if (*n) {
		enum MHD_Result rc = receive(r, bytes, *n);

		*n = 0;
		return rc;
	}
	if (r->waits)
		return inquiry_is_over(r->inquiry) ? request_finish(r) : MHD_NO;
	return peer_turns(r->peer, PEER_BUSY) ? request_serve(r) : MHD_NO;
}

/* ---- what takes too long */

/* Who has closed both halves waits for nothing; of TCP only a broken connection shows. */
static void forget_the_gone(struct server *s)
{
	for (struct request *r = s->waiting; r; r = r->next) {
		if (fd_has(r->peer->fd, 0))
			inquiry_cancel(r->inquiry, 503, "the caller has gone");
	}
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void *tick(void *ctx)
{
	struct server *s = ctx;
	const struct server_limits *l = &s->limits;
	double often = least(least(l->first_s, l->idle_s), least(l->read_s, l->beat_s)) / 4;

	pthread_mutex_lock(&s->lock);
	while (!s->stopping) {
		double wait_s = least(s->nlogs ? 0.2 : 1, often);
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += (long)(wait_s * 1e9);
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&s->changed, &s->lock, &until);
		peers_reap(s, clock_wall_s());
		forget_the_gone(s);
		follow_tick(s, clock_wall_s());
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- life */

static void set_limits(struct server_limits *l)
{
	l->connections = l->connections ? l->connections : 256;
	l->connections_each = l->connections_each ? l->connections_each : 64;
	l->stranger_bytes = l->stranger_bytes ? l->stranger_bytes : 4096;
	l->body_bytes = l->body_bytes ? l->body_bytes : 8u << 20;
	l->rate = l->rate != 0 ? l->rate : 5000;
	l->burst = l->burst > 0 ? l->burst : 10000;
	l->first_s = l->first_s > 0 ? l->first_s : 10;
	l->idle_s = l->idle_s > 0 ? l->idle_s : 60;
	l->read_s = l->read_s > 0 ? l->read_s : 60;
	l->beat_s = l->beat_s > 0 ? l->beat_s : 15;
}

static struct server *server_create(const struct server_config *config, const struct api_back *back)
{
	struct server *s = mem_alloc(sizeof(*s));
	pthread_condattr_t monotonic;

	s->back = *back;
	s->limits = config->limits;
	set_limits(&s->limits);
	s->good = s->bad = (struct gate_rate){ .rate = s->limits.rate, .burst = s->limits.burst };
	s->routes = (struct routes){ back->verbs, server_routes };
	s->who = config->who ? config->who : kernel_says;
	s->system = config->system;
	s->exposed = config->exposed;
	s->unix_face = (struct face){ .server = s, .fd = -1 };
	s->tcp_face = (struct face){ .server = s, .fd = -1, .tcp = true };
	s->socket.fd = -1;
	if (config->state_dir)
		s->state_dir = mem_strdup(config->state_dir);
	openapi_write(&s->routes, &s->openapi);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

static void server_free(struct server *s)
{
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	buf_fini(&s->openapi);
	free(s->state_dir);
	free(s->address_file);
	free(s->url);
	free(s);
}

static int open_face(struct face *face, int fd, struct err *err)
{
	struct server *s = face->server;
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO;
	struct MHD_OptionItem each[] = {
		{ MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)s->limits.connections_each, NULL },
		{ MHD_OPTION_END, 0, NULL },
	};

	if (!face->tcp || !s->exposed)
		each[0] = each[1]; /* everybody has the same address then */
	face->fd = fd;
	face->http = MHD_start_daemon(flags, 0, NULL, NULL, on_request, face,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)(s->limits.connections + 2 * SPARE_PEERS),
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(s->limits.idle_s + 0.999),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, on_connection, face,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, face, MHD_OPTION_URI_LOG_CALLBACK,
		on_request_line, face, MHD_OPTION_ARRAY, each, MHD_OPTION_END);
	if (!face->http)
		return err_set(err, ERR_IO, "cannot start the server: %s", strerror(errno));
	return 0;
}

static int open_unix(struct server *s, const struct server_config *config, struct err *err)
{
	int rc;

	if (!config->socket)
		return 0;
	rc = unix_listen(config->socket, config->system, &s->socket, err);
	return rc < 0 ? rc : open_face(&s->unix_face, s->socket.fd, err);
}

static int write_address(struct server *s, const char *address, struct err *err)
{
	bool six = strchr(address, ':');
	char *text = mem_printf(six ? "http://[%s]:%u\n" : "http://%s:%u\n", address, s->port);
	int rc;

	s->address_file = path_join(s->state_dir, "address");
	s->url = mem_strndup(text, strlen(text) - 1);
	rc = file_write(s->address_file, text, strlen(text), err);
	free(text);
	return rc;
}

/*
 * A daemon that stops removes its address file.  Where it is still there, the port was free for others to
 * take while clients still sent tokens to it.  Where another program has the port of the last run, it may
 * have got some.
 */
static int load_tokens(struct server *s, bool renew, struct err *err)
{
	char *left = path_join(s->state_dir, "address");
	int rc;

	s->unclean = file_exists(left);
	free(left);
	renew |= s->unclean || s->lost_port;
	if (s->whole) {
		rc = token_load(s->state_dir, renew, s->token, err);
	} else {
		token_remove(s->state_dir);
		rc = token_make(s->token, err);
	}
	return rc < 0 ? rc : token_load_read(s->state_dir, renew, s->read_token, err);
}

/* Earlier versions kept sessions across restarts. */
static void forget_old_sessions(const char *dir)
{
	char *path = path_join(dir, "sessions");

	unlink(path);
	free(path);
}

/*
 * On the port that was asked for, else on that of the last run.  Where another program has that one, on any
 * that is free, and this becomes the port of the runs to come.
 */
static int listen_again(struct server *s, const struct server_config *config, int *fd, struct err *err)
{
	uint16_t last = config->port ? 0 : port_recall(s->state_dir);
	struct err ignored = { 0 };
	int rc;

	snprintf(s->address, sizeof(s->address), "%s", config->address);
	if (last && tcp_listen(config->address, last, config->exposed, fd, &s->port, &ignored) == 0)
		return 0;
	rc = tcp_listen(config->address, config->port, config->exposed, fd, &s->port, err);
	if (rc < 0 || config->port)
		return rc;
	s->lost_port = last;
	rc = port_remember(s->state_dir, s->port, err);
	if (rc < 0)
		close(*fd);
	return rc;
}

static int open_tcp(struct server *s, const struct server_config *config, struct err *err)
{
	int fd = config->given, rc;

	if (!config->address && !config->given)
		return 0;
	if (!s->state_dir)
		return err_set(err, ERR_USAGE, "TCP needs a state directory for its token");
	if (config->given)
		rc = tcp_adopt(fd, config->exposed, s->address, &s->port, err);
	else
		rc = listen_again(s, config, &fd, err);
	if (rc < 0)
		return rc;
	s->tcp_face.fd = fd;
	s->whole = !s->system || config->given || !tcp_is_unprivileged(s->port);
	rc = load_tokens(s, config->new_token, err);
	if (rc < 0)
		return rc;
	rc = sessions_start(&s->sessions, err);
	if (rc < 0)
		return rc;
	forget_old_sessions(s->state_dir);
	rc = open_face(&s->tcp_face, fd, err);
	return rc < 0 ? rc : write_address(s, s->address, err);
}

/* Threads that are ours take no signals: those are for the daemon's. */
static int start_threads(struct server *s, const struct server_config *config, struct err *err)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = open_unix(s, config, err);
	if (!rc)
		rc = open_tcp(s, config, err);
	if (!rc && pthread_create(&s->ticker, NULL, tick, s) != 0)
		rc = err_set(err, ERR_IO, "cannot start a thread");
	s->ticking = !rc;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int server_start(const struct server_config *config, const struct api_back *back,
	struct server **out, struct err *err)
{
	struct server *s = server_create(config, back);
	int rc;

	s->follower = (struct stream_follower){ .wake = follow_wake,
		.has_readers = follow_has_readers,
		.ctx = s };
	stream_follow(back->stream, &s->follower);
	rc = start_threads(s, config, err);
	if (rc < 0) {
		server_stop(s);
		return rc;
	}
	*out = s;
	return 0;
}

uint16_t server_port(const struct server *server)
{
	return server->port;
}

const char *server_address(const struct server *server)
{
	return server->address;
}

bool server_takes_token(const struct server *server)
{
	return server->whole;
}

bool server_was_unclean(const struct server *server)
{
	return server->unclean;
}

uint16_t server_lost_port(const struct server *server)
{
	return server->lost_port;
}

/* Everything that waits is answered, and gets a moment to be sent. */
static void let_go(struct server *s)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 1;
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	for (struct request *r = s->waiting; r; r = r->next)
		inquiry_cancel(r->inquiry, 503, "the daemon is stopping");
	follow_stop(s);
	pthread_cond_broadcast(&s->changed);
	while (s->busy) {
		if (pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT)
			break;
	}
	pthread_mutex_unlock(&s->lock);
}

static void close_face(struct face *face)
{
	if (face->http)
		MHD_stop_daemon(face->http);
	face->http = NULL;
}

void server_stop(struct server *s)
{
	if (!s)
		return;
	if (s->unix_face.http)
		MHD_quiesce_daemon(s->unix_face.http);
	if (s->tcp_face.http)
		MHD_quiesce_daemon(s->tcp_face.http);
	let_go(s);
	if (s->ticking)
		pthread_join(s->ticker, NULL);
	stream_unfollow(s->back.stream, &s->follower);
	close_face(&s->unix_face);
	close_face(&s->tcp_face);
	unix_close(&s->socket);
	if (s->tcp_face.fd >= 0)
		close(s->tcp_face.fd);
	if (s->address_file)
		unlink(s->address_file);
	server_free(s);
}
