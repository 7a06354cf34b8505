/*
 * Connections: how many there may be, how long they may take, and which are cut
 * off for others.
 *
 * A socket takes `connections` of them and SPARE_PEERS more, so that accept() goes
 * on and /healthz is answered while all are held.  Where there are too many, one is
 * cut off: first those that have shown no right token or session, then those that
 * wait for a request, then those of a user who has many, then the oldest of those
 * that came a moment ago.  What is beyond the limit all the same may ask for /healthz
 * only.
 */
#include "api/server_parts.h"

static const double stranger_busy_s = 5; /* longer, a page's file is being read too slowly */
static const double fresh_s = 1;         /* shorter, its first request may be on its way */

void peer_cut(struct peer *peer)
{
	peer->cut = true;
	shutdown(peer->fd, SHUT_RDWR);
}

static bool is_same_user(const struct peer *a, const struct peer *b)
{
	return !a->face->tcp && a->face == b->face && a->known == b->known &&
		a->caller.uid == b->caller.uid;
}

/* Connections of the same user; over TCP they cannot be told apart. */
static uint32_t count_of(const struct server *s, const struct peer *peer)
{
	uint32_t n = 0;

	for (const struct peer *p = s->peers; p; p = p->next)
		n += !p->cut && is_same_user(p, peer);
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
		count_of(s, peer) > s->limits.connections_each / 2)
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

void peers_make_room(struct server *s, struct peer *newcomer)
{
	const struct face *face = newcomer->face;
	struct peer *other;
	uint32_t n;

	/* One user must not take all there are. */
	if (!face->tcp && !(newcomer->known && newcomer->caller.admin) &&
		count_of(s, newcomer) > s->limits.connections_each) {
		peer_cut(newcomer);
		return;
	}
	n = count_face(s, face);
	if (n <= s->limits.connections)
		return;
	other = victim(s, newcomer, newcomer->since_s);
	if (other)
		peer_cut(other);
	else if (n <= s->limits.connections + SPARE_PEERS)
		newcomer->spare = true;
	else
		peer_cut(newcomer);
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
