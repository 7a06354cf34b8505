/*
 * Connections: how many there may be, how long they may take, and which are cut
 * off for others.
 *
 * A socket takes `connections` of them and SPARE_PEERS more, so that accept() goes
 * on and /healthz is answered while all are held.  Where there are too many, one is
 * cut off: first those that have shown no right token or session, then those that
 * wait for a request, then those of a user who has many, then the oldest of those
 * that came a moment ago.  What is beyond the limit all the same may ask for /healthz
 * only.  The same holds for connections of one user beyond `connections_each`, SPARE_EACH
 * of them.  A connection that is refused before it asked anything is answered with 503.
 */
#include <sys/socket.h>

#include "api/problem.h"
#include "api/server_parts.h"

static const double stranger_busy_s = 5; /* longer, a page's file is being read too slowly */
static const double fresh_s = 1;         /* shorter, its first request may be on its way */

void peer_cut(struct peer *peer)
{
	peer->cut = true;
	shutdown(peer->fd, SHUT_RDWR);
}

void peer_refusal(const struct peer *peer, struct buf *out)
{
	if (peer->own)
		problem_write_full(out,
			"you have %u connections to the daemon, the most that one user may have; end "
			"commands that wait or follow, or try again in a second",
			(unsigned)peer->face->server->limits.connections_each);
	else
		problem_write_full(out,
			"the daemon has as many connections as it takes; try again in a second");
}

/*
 * Cuts it off.  If it has asked nothing yet, it is answered first: the library writes nothing then, and a few
 * hundred bytes always fit into a socket that nothing was written to.
 */
static void turn_away(struct peer *peer)
{
	struct buf problem = { 0 }, answer = { 0 };

	if (peer->state == PEER_IDLE && !peer->served) {
		peer_refusal(peer, &problem);
		buf_printf(&answer,
			"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
			"Content-Length: %zu\r\nCache-Control: no-store\r\nRetry-After: 1\r\n"
			"Connection: close\r\n\r\n%s",
			problem.n, problem.at);
		(void)!send(peer->fd, answer.at, answer.n, MSG_DONTWAIT | MSG_NOSIGNAL);
		buf_fini(&problem);
		buf_fini(&answer);
	}
	peer_cut(peer);
}

static bool is_same_user(const struct peer *a, const struct peer *b)
{
	return !a->face->tcp && a->face == b->face && a->known == b->known &&
		a->caller.uid == b->caller.uid;
}

/*
 * Connections of the same user within the limit of users, or beyond it; over TCP users cannot be told apart.
 */
static uint32_t count_of(const struct server *s, const struct peer *peer, bool beyond)
{
	uint32_t n = 0;

	for (const struct peer *p = s->peers; p; p = p->next)
		n += !p->cut && p->own == beyond && is_same_user(p, peer);
	return n;
}

static uint32_t count_face(const struct server *s, const struct face *face)
{
	uint32_t n = 0;

	for (const struct peer *p = s->peers; p; p = p->next)
		n += !p->cut && p->face == face;
	return n;
}

/* How little is lost with it, 0: nothing may be cut off for a newcomer. */
static int expendable(const struct server *s, const struct peer *peer, double now_s)
{
	bool busy = peer->state == PEER_BUSY;

	if (!busy && !peer->served && now_s - peer->since_s < fresh_s)
		return 1;
	if (!peer->trusted && (!busy || now_s - peer->since_s > stranger_busy_s))
		return 4;
	if (peer->trusted && !busy)
		return 3;
	if (!peer->face->tcp && !peer->caller.admin &&
		count_of(s, peer, false) > s->limits.connections_each / 2)
		return 2;
	return 0;
}

/* The oldest of those that are lost most easily. */
static struct peer *victim(struct server *s, const struct peer *newcomer, double now_s)
{
	struct peer *best = NULL;
	int least = 0;

	for (struct peer *p = s->peers; p; p = p->next) {
		int how = p->cut || p == newcomer || p->face != newcomer->face
			? 0
			: expendable(s, p, now_s);

		if (how > least || (how && how == least && p->since_s < best->since_s)) {
			best = p;
			least = how;
		}
	}
	return best;
}

/* One user must not take all there are.  False: the newcomer was cut off. */
static bool within_own_limit(struct server *s, struct peer *newcomer)
{
	if (newcomer->face->tcp || (newcomer->known && newcomer->caller.admin) ||
		count_of(s, newcomer, false) <= s->limits.connections_each)
		return true;
	newcomer->own = newcomer->spare = true;
	if (count_of(s, newcomer, true) <= SPARE_EACH)
		return true;
	turn_away(newcomer);
	return false;
}

void peers_make_room(struct server *s, struct peer *newcomer)
{
	const struct face *face = newcomer->face;
	struct peer *other;
	uint32_t n;

	if (!within_own_limit(s, newcomer))
		return;
	n = count_face(s, face);
	if (n > s->limits.connections) {
		other = victim(s, newcomer, newcomer->since_s);
		if (other)
			turn_away(other);
		else if (n <= s->limits.connections + SPARE_PEERS)
			newcomer->spare = true;
		else
			turn_away(newcomer);
	}
	/* It holds a place that is not one: it has to be quick. */
	if (newcomer->spare)
		newcomer->trusted = false;
}

/* How long it may be in the state it is in; 0: as long as it likes. */
static double may_take(const struct server *s, const struct peer *p)
{
	const struct server_limits *l = &s->limits;

	if (p->state == PEER_BUSY)
		return p->trusted ? 0 : l->idle_s;
	if (p->state == PEER_READING)
		return p->trusted || l->read_s < l->first_s ? l->read_s : l->first_s;
	return p->served && p->trusted ? l->idle_s : l->first_s;
}

void peers_reap(struct server *s, double now_s)
{
	for (struct peer *p = s->peers; p; p = p->next) {
		double may = may_take(s, p);

		if (!p->cut && may > 0 && now_s - p->since_s > may)
			peer_cut(p);
	}
}
