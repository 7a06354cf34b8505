/*
 * Names: a node is a vertex or a blossom, an odd circle of nodes that acts as
 * one.  The top of a vertex is the outermost blossom around it.  In a search
 * tops are outer (an even way from a vertex that is alone), inner (odd) or not
 * reached.  A dart is an edge with a direction: 2 * edge, + 1 from b to a.
 *
 * Prices are whole numbers.  An edge's slack is price(a) + price(b) + 2 *
 * prices of the blossoms around both - 2 * weight, never below 0; the search
 * moves along edges without slack.  Outer vertices all have the same parity,
 * so half a slack between two of them is whole again.
 */
#include "solver/matching.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "solver/lp.h"

static const uint32_t none = UINT32_MAX;

enum label { UNREACHED, OUTER, INNER };

struct blossom {
	VEC(uint32_t) nodes;    /* in a circle; the first holds the base */
	VEC(uint32_t) darts;    /* from each node to the next */
	VEC(uint32_t) vertices; /* all of them */
	int64_t price;
	bool used;
};

/* An edge between two outer tops, by the slack it will have had at the search's start. */
struct meeting {
	int64_t key;
	uint32_t edge;
};

/* A dart with what a search asks of it, side by side for speed. */
struct way {
	int64_t twice_weight;
	uint32_t to, dart;
};

struct search {
	const struct matching *m;
	uint32_t n;
	int64_t *weight; /* by edge */

	uint32_t *first_way; /* out of a vertex: ways[first_way[v] .. first_way[v + 1]] */
	struct way *ways;

	int64_t *price;     /* by vertex */
	uint32_t *mate;     /* by vertex: the dart to its mate, or none */
	uint32_t *top;      /* by vertex */
	uint32_t *parent;   /* by node: the blossom around it, or none */
	uint32_t *base;     /* by node: the vertex of it whose mate is outside */
	struct blossom *at; /* by node; those of vertices stay empty */

	/* Of one search. */
	enum label *label; /* by top */
	uint32_t *entry;   /* by labelled top: the dart that reached it, none for roots */
	uint32_t *seen;    /* by top: when a way to the root passed */
	uint32_t now_seen;
	uint32_t *nearest;  /* by vertex: the dart of least slack from an outer vertex, or none */
	int64_t moved;      /* how far outer prices fell so far */
	VEC(uint32_t) todo; /* outer vertices whose darts were not looked at */
	bool *looked;       /* by vertex: its darts were */
	VEC(struct meeting) meetings; /* a binary heap ... */
	size_t sorted_in;             /* ... as far as this */
};

/* ---- small things */

static uint32_t to(const struct search *s, uint32_t dart)
{
	const struct matching_edge *e = &s->m->edges[dart / 2];

	return dart & 1 ? e->a : e->b;
}

static uint32_t back(uint32_t dart)
{
	return dart ^ 1;
}

static uint32_t from(const struct search *s, uint32_t dart)
{
	return to(s, back(dart));
}

static int64_t slack(const struct search *s, uint32_t dart)
{
	return s->price[to(s, dart)] + s->price[from(s, dart)] - 2 * s->weight[dart / 2];
}

static const uint32_t *vertices_of(const struct search *s, const uint32_t *node, size_t *n)
{
	*n = *node < s->n ? 1 : s->at[*node].vertices.n;
	return *node < s->n ? node : s->at[*node].vertices.at;
}

static void set_top(struct search *s, uint32_t node)
{
	size_t n;
	const uint32_t *v = vertices_of(s, &node, &n);

	s->parent[node] = none;
	for (size_t i = 0; i < n; i++)
		s->top[v[i]] = node;
}

/* ---- the heap of meetings */

static bool sooner(const struct meeting *a, const struct meeting *b)
{
	return a->key != b->key ? a->key < b->key : a->edge < b->edge;
}

static void sift_up(struct meeting *at, size_t i)
{
	struct meeting m = at[i];

	for (; i && sooner(&m, &at[(i - 1) / 2]); i = (i - 1) / 2)
		at[i] = at[(i - 1) / 2];
	at[i] = m;
}

static void sift_down(struct meeting *at, size_t n, size_t i)
{
	struct meeting m = at[i];

	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && sooner(&at[child + 1], &at[child]))
			child++;
		if (!sooner(&at[child], &m))
			break;
		at[i] = at[child];
	}
	at[i] = m;
}

/* New meetings wait at the end; most come at once, and many at once are cheaper. */
static void sort_in(struct search *s)
{
	size_t n = s->meetings.n;

	if (n - s->sorted_in > s->sorted_in / 8) {
		for (size_t i = n / 2; i-- > 0;)
			sift_down(s->meetings.at, n, i);
	} else {
		for (size_t i = s->sorted_in; i < n; i++)
			sift_up(s->meetings.at, i);
	}
	s->sorted_in = n;
}

static void pop_meeting(struct search *s)
{
	s->meetings.at[0] = s->meetings.at[--s->meetings.n];
	s->sorted_in = s->meetings.n;
	if (s->meetings.n)
		sift_down(s->meetings.at, s->meetings.n, 0);
}

/* The next edge between two different outer tops, or NULL. */
static const struct meeting *next_meeting(struct search *s)
{
	sort_in(s);
	while (s->meetings.n) {
		uint32_t dart = 2 * s->meetings.at[0].edge;

		if (s->top[to(s, dart)] != s->top[from(s, dart)])
			return &s->meetings.at[0];
		pop_meeting(s);
	}
	return NULL;
}

/* ---- turning matchings around */

static size_t index_in(const struct blossom *b, uint32_t node)
{
	size_t i = 0;

	while (b->nodes.at[i] != node)
		i++;
	return i;
}

/* The node of blossom b that holds the vertex. */
static uint32_t node_with(const struct search *s, uint32_t b, uint32_t vertex)
{
	uint32_t node = vertex;

	while (s->parent[node] != b)
		node = s->parent[node];
	return node;
}

static void rotate(uint32_t *at, size_t n, size_t by)
{
	uint32_t *copy = mem_alloc(n * sizeof(*copy));

	for (size_t i = 0; i < n; i++)
		copy[i] = at[(i + by) % n];
	memcpy(at, copy, n * sizeof(*copy));
	free(copy);
}

/* From node i of a circle there is a way of an even number of edges to node 0: this way round. */
static bool even_way_is_forward(size_t i)
{
	return i & 1;
}

/* The dart from node i of a circle to its neighbour, and that neighbour in *i. */
static uint32_t step(const struct blossom *b, size_t *i, bool forward)
{
	size_t n = b->nodes.n;
	uint32_t dart;

	if (forward) {
		dart = b->darts.at[*i];
		*i = (*i + 1) % n;
		return dart;
	}
	*i = (*i + n - 1) % n;
	return back(b->darts.at[*i]);
}

/* Makes `vertex` the base of a node; its own mate is the caller's. */
static void rebase(struct search *s, uint32_t node, uint32_t vertex)
{
	struct blossom *b = &s->at[node];
	uint32_t child;
	size_t i, start;

	s->base[node] = vertex;
	if (node < s->n)
		return;
	child = node_with(s, node, vertex);
	rebase(s, child, vertex);
	start = i = index_in(b, child);
	while (i) {
		uint32_t dart;
		size_t pair;

		step(b, &i, even_way_is_forward(start));
		pair = i;
		dart = step(b, &i, even_way_is_forward(start));
		rebase(s, b->nodes.at[pair], from(s, dart));
		rebase(s, b->nodes.at[i], to(s, dart));
		s->mate[from(s, dart)] = dart;
		s->mate[to(s, dart)] = back(dart);
	}
	rotate(b->nodes.at, b->nodes.n, start);
	rotate(b->darts.at, b->darts.n, start);
}

/* Matches the dart's start along it, and all the way back to the root the other way round. */
static void augment_from(struct search *s, uint32_t dart)
{
	for (;;) {
		uint32_t vertex = from(s, dart), outer = s->top[vertex], inner;

		rebase(s, outer, vertex);
		s->mate[vertex] = dart;
		if (s->entry[outer] == none)
			return;
		inner = s->top[from(s, s->entry[outer])];
		dart = s->entry[inner];
		rebase(s, inner, to(s, dart));
		s->mate[to(s, dart)] = back(dart);
	}
}

/* ---- growing, shrinking, expanding */

static void make_outer(struct search *s, uint32_t top, uint32_t entry)
{
	size_t n;
	const uint32_t *v = vertices_of(s, &top, &n);

	s->label[top] = OUTER;
	s->entry[top] = entry;
	for (size_t i = 0; i < n; i++)
		vec_push(&s->todo, v[i]);
}

/* A tight dart to a top that was not reached: it becomes inner, its mate outer. */
static void grow(struct search *s, uint32_t dart)
{
	uint32_t inner = s->top[to(s, dart)], mate = s->mate[s->base[inner]];

	s->label[inner] = INNER;
	s->entry[inner] = dart;
	make_outer(s, s->top[to(s, mate)], mate);
}

/* The outer top before this one on the way to the root, or none. */
static uint32_t outer_before(const struct search *s, uint32_t outer)
{
	if (s->entry[outer] == none)
		return none;
	return s->top[from(s, s->entry[s->top[from(s, s->entry[outer])]])];
}

/* The first outer top on both ways to the root; none if the roots differ. */
static uint32_t meeting_place(struct search *s, uint32_t one, uint32_t two)
{
	s->now_seen++;
	for (; one != none; one = outer_before(s, one))
		s->seen[one] = s->now_seen;
	while (two != none && s->seen[two] != s->now_seen)
		two = outer_before(s, two);
	return two;
}

static uint32_t new_blossom(struct search *s)
{
	uint32_t b = s->n;

	while (s->at[b].used)
		b++;
	s->at[b].used = true;
	s->at[b].price = 0;
	s->at[b].nodes.n = s->at[b].darts.n = s->at[b].vertices.n = 0;
	return b;
}

/* The way from the dart's start up to `stop`: each node with the dart that leaves it upwards. */
static void climb(const struct search *s, struct blossom *b, uint32_t node, uint32_t stop)
{
	while (node != stop) {
		uint32_t up = back(s->entry[node]);

		vec_push(&b->nodes, node);
		vec_push(&b->darts, up);
		node = s->top[to(s, up)];
	}
}

static void reverse(uint32_t *at, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t t = at[i];

		at[i] = at[n - 1 - i];
		at[n - 1 - i] = t;
	}
}

/* The circle from `stop` down to the dart's start, along the dart, and up again from its end. */
static void make_circle(const struct search *s, struct blossom *b, uint32_t dart, uint32_t stop)
{
	size_t n;

	climb(s, b, s->top[from(s, dart)], stop);
	n = b->nodes.n;
	vec_push(&b->nodes, stop);
	reverse(b->nodes.at, n + 1);
	reverse(b->darts.at, n);
	for (size_t i = 0; i < n; i++)
		b->darts.at[i] = back(b->darts.at[i]);
	vec_push(&b->darts, dart);
	climb(s, b, s->top[to(s, dart)], stop);
}

static void shrink(struct search *s, uint32_t dart, uint32_t stop)
{
	uint32_t id = new_blossom(s);
	struct blossom *b = &s->at[id];

	make_circle(s, b, dart, stop);
	for (size_t i = 0; i < b->nodes.n; i++) {
		size_t n;
		const uint32_t *v = vertices_of(s, &b->nodes.at[i], &n);

		for (size_t k = 0; k < n; k++) {
			vec_push(&b->vertices, v[k]);
			if (s->label[b->nodes.at[i]] == INNER)
				vec_push(&s->todo, v[k]);
		}
	}
	for (size_t i = 0; i < b->nodes.n; i++)
		s->parent[b->nodes.at[i]] = id;
	s->label[id] = OUTER;
	s->entry[id] = s->entry[stop];
	s->base[id] = s->base[stop];
	set_top(s, id);
}

static void break_up(struct search *s, uint32_t id)
{
	struct blossom *b = &s->at[id];

	for (size_t i = 0; i < b->nodes.n; i++)
		set_top(s, b->nodes.at[i]);
	b->used = false;
}

/*
 * An inner blossom whose price is used up.  What lies on the even way from
 * where it was entered to its base stays in the search, the rest drops out.
 */
static void expand(struct search *s, uint32_t id)
{
	struct blossom *b = &s->at[id];
	uint32_t entry = s->entry[id];
	size_t i, start;

	start = i = index_in(b, node_with(s, id, to(s, entry)));
	break_up(s, id);
	for (size_t k = 0; k < b->nodes.n; k++)
		s->label[b->nodes.at[k]] = UNREACHED;
	for (;;) {
		uint32_t inner = b->nodes.at[i], dart;

		s->label[inner] = INNER;
		s->entry[inner] = entry;
		if (!i)
			return;
		dart = step(b, &i, even_way_is_forward(start));
		make_outer(s, b->nodes.at[i], dart);
		entry = step(b, &i, even_way_is_forward(start));
	}
}

/* ---- one search */

/* A tight edge between two outer tops.  True if it made one pair more. */
static bool meet(struct search *s, uint32_t dart)
{
	uint32_t stop = meeting_place(s, s->top[from(s, dart)], s->top[to(s, dart)]);

	if (stop != none) {
		shrink(s, dart, stop);
		return false;
	}
	augment_from(s, dart);
	augment_from(s, back(dart));
	return true;
}

static bool look_along(struct search *s, uint32_t v, const struct way *way)
{
	uint32_t top = s->top[way->to];
	int64_t left = s->price[v] + s->price[way->to] - way->twice_weight;

	if (top == s->top[v])
		return false;
	if (s->label[top] == OUTER) {
		if (left == 0)
			return meet(s, way->dart);
		/* Otherwise it will be noticed from the other end. */
		if (s->looked[way->to])
			vec_push(&s->meetings, (struct meeting){ left + 2 * s->moved, way->dart / 2 });
		return false;
	}
	if (left == 0 && s->label[top] == UNREACHED)
		grow(s, way->dart);
	else if (s->nearest[way->to] == none || left < slack(s, s->nearest[way->to]))
		s->nearest[way->to] = way->dart;
	return false;
}

/* Follows tight edges.  True if it made one pair more. */
static bool follow(struct search *s)
{
	while (s->todo.n) {
		uint32_t v = s->todo.at[--s->todo.n];

		s->looked[v] = true;
		for (uint32_t i = s->first_way[v]; i < s->first_way[v + 1]; i++) {
			if (look_along(s, v, &s->ways[i]))
				return true;
		}
	}
	return false;
}

/* How far prices may move until something happens; *end if that is the end of all searches. */
static int64_t next_change(struct search *s, bool *end)
{
	const struct meeting *meeting = next_meeting(s);
	int64_t least = INT64_MAX;

	for (uint32_t v = 0; v < s->n; v++) {
		if (s->label[s->top[v]] == OUTER && s->price[v] < least)
			least = s->price[v];
	}
	*end = true;
	for (uint32_t v = 0; v < s->n; v++) {
		if (s->label[s->top[v]] == UNREACHED && s->nearest[v] != none &&
			slack(s, s->nearest[v]) < least) {
			least = slack(s, s->nearest[v]);
			*end = false;
		}
	}
	if (meeting && meeting->key / 2 - s->moved < least) {
		least = meeting->key / 2 - s->moved;
		*end = false;
	}
	for (uint32_t b = s->n; b < 2 * s->n; b++) {
		if (s->at[b].used && s->parent[b] == none && s->label[b] == INNER &&
			s->at[b].price < least) {
			least = s->at[b].price;
			*end = false;
		}
	}
	return least;
}

static void move_prices(struct search *s, int64_t by)
{
	s->moved += by;
	for (uint32_t v = 0; v < s->n; v++) {
		enum label label = s->label[s->top[v]];

		s->price[v] += label == OUTER ? -by : label == INNER ? by : 0;
	}
	for (uint32_t b = s->n; b < 2 * s->n; b++) {
		if (s->at[b].used && s->parent[b] == none)
			s->at[b].price += s->label[b] == OUTER ? by
				: s->label[b] == INNER         ? -by
							       : 0;
	}
}

/* What became possible by moving prices.  True if it made one pair more. */
static bool use_change(struct search *s)
{
	const struct meeting *meeting;

	for (uint32_t v = 0; v < s->n; v++) {
		if (s->label[s->top[v]] == UNREACHED && s->nearest[v] != none &&
			!slack(s, s->nearest[v]))
			grow(s, s->nearest[v]);
	}
	for (uint32_t b = s->n; b < 2 * s->n; b++) {
		if (s->at[b].used && s->parent[b] == none && s->label[b] == INNER && !s->at[b].price)
			expand(s, b);
	}
	while ((meeting = next_meeting(s)) && meeting->key == 2 * s->moved) {
		uint32_t dart = 2 * meeting->edge;

		pop_meeting(s);
		if (meet(s, dart))
			return true;
	}
	return false;
}

static void start_search(struct search *s)
{
	for (uint32_t i = 0; i < 2 * s->n; i++)
		s->label[i] = UNREACHED;
	for (uint32_t v = 0; v < s->n; v++) {
		s->nearest[v] = none;
		s->looked[v] = false;
	}
	s->todo.n = s->meetings.n = s->sorted_in = 0;
	s->moved = 0;
	for (uint32_t v = 0; v < s->n; v++) {
		uint32_t top = s->top[v];

		if (s->mate[v] == none && s->base[top] == v)
			make_outer(s, top, none);
	}
}

/* True if there is one pair more; false if the matching is the heaviest. */
static bool one_search(struct search *s)
{
	start_search(s);
	if (!s->todo.n)
		return false;
	for (;;) {
		int64_t by;
		bool end;

		if (follow(s))
			return true;
		by = next_change(s, &end);
		move_prices(s, by);
		if (end)
			return false;
		if (use_change(s))
			return true;
	}
}

/* Blossoms without a price hold nothing together. */
static void break_up_free(struct search *s)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t b = s->n; b < 2 * s->n; b++) {
			if (s->at[b].used && s->parent[b] == none && !s->at[b].price) {
				break_up(s, b);
				again = true;
			}
		}
	}
}

/* ---- proof */

/* Twice what the edge's common blossoms add to its slack. */
static int64_t around_both(const struct search *s, uint32_t a, uint32_t b, uint32_t *seen, uint32_t now)
{
	int64_t sum = 0;

	for (uint32_t x = s->parent[a]; x != none; x = s->parent[x])
		seen[x] = now;
	for (uint32_t x = s->parent[b]; x != none; x = s->parent[x]) {
		if (seen[x] == now)
			sum += 2 * s->at[x].price;
	}
	return sum;
}

/* Prices that nobody can be paid more than, and a matching that is paid as much. */
static bool proved(struct search *s)
{
	int64_t owed = 0, paid = 0;

	memset(s->seen, 0, 2 * s->n * sizeof(*s->seen));
	for (uint32_t v = 0; v < s->n; v++) {
		if (s->price[v] < 0 || (s->mate[v] != none && from(s, s->mate[v]) != v) ||
			(s->mate[v] != none && s->mate[to(s, s->mate[v])] != back(s->mate[v])))
			return false;
		owed += s->price[v];
		if (s->mate[v] != none)
			paid += s->weight[s->mate[v] / 2];
	}
	for (uint32_t b = s->n; b < 2 * s->n; b++) {
		if (s->at[b].used && s->at[b].price < 0)
			return false;
		if (s->at[b].used)
			owed += s->at[b].price * (int64_t)(s->at[b].vertices.n - 1);
	}
	for (size_t e = 0; e < s->m->n_edges; e++) {
		const struct matching_edge *edge = &s->m->edges[e];

		if (slack(s, 2 * (uint32_t)e) +
				around_both(s, edge->a, edge->b, s->seen, (uint32_t)e + 1) <
			0)
			return false;
	}
	return owed == paid;
}

/* ---- setting up */

static int64_t greatest_weight(const struct search *s)
{
	int64_t most = 0;

	for (size_t e = 0; e < s->m->n_edges; e++)
		most = s->weight[e] > most ? s->weight[e] : most;
	return most;
}

/* For most pairs every edge is worth more than all weights together. */
static void round_weights(struct search *s)
{
	const struct matching *m = s->m;
	int64_t each = m->most_pairs ? (int64_t)(m->vertices / 2 + 1) << 44 : 0;
	double most = 0, scale;
	int exponent;

	for (size_t e = 0; e < m->n_edges; e++) {
		assert(m->edges[e].weight >= 0 && m->edges[e].weight < INFINITY);
		most = fmax(most, m->edges[e].weight);
	}
	frexp(most, &exponent);
	scale = most > 0 ? ldexp(1, 44 - exponent) : 0;
	for (size_t e = 0; e < m->n_edges; e++)
		s->weight[e] = (int64_t)nearbyint(m->edges[e].weight * scale) + each;
}

static void list_ways(struct search *s)
{
	const struct matching *m = s->m;

	for (size_t e = 0; e < m->n_edges; e++) {
		assert(m->edges[e].a < s->n && m->edges[e].b < s->n && m->edges[e].a != m->edges[e].b);
		s->first_way[m->edges[e].a + 2]++;
		s->first_way[m->edges[e].b + 2]++;
	}
	for (uint32_t v = 0; v < s->n; v++)
		s->first_way[v + 2] += s->first_way[v + 1];
	for (uint32_t dart = 0; dart < 2 * m->n_edges; dart++) {
		uint32_t i = s->first_way[from(s, dart) + 1]++;

		s->ways[i] = (struct way){ 2 * s->weight[dart / 2], to(s, dart), dart };
	}
}

static void search_init(struct search *s, const struct matching *m, struct arena *arena)
{
	uint32_t n = m->vertices;
	int64_t greatest;

	*s = (struct search){
		.m = m,
		.n = n,
		.weight = arena_array(arena, int64_t, m->n_edges),
		.first_way = arena_array(arena, uint32_t, n + 2),
		.ways = arena_array(arena, struct way, 2 * m->n_edges),
		.price = arena_array(arena, int64_t, n),
		.mate = arena_array(arena, uint32_t, n),
		.top = arena_array(arena, uint32_t, n),
		.parent = arena_array(arena, uint32_t, 2 * n),
		.base = arena_array(arena, uint32_t, 2 * n),
		.at = arena_array(arena, struct blossom, 2 * n),
		.label = arena_array(arena, enum label, 2 * n),
		.entry = arena_array(arena, uint32_t, 2 * n),
		.seen = arena_array(arena, uint32_t, 2 * n),
		.nearest = arena_array(arena, uint32_t, n),
		.looked = arena_array(arena, bool, n),
	};
	round_weights(s);
	list_ways(s);
	greatest = greatest_weight(s);
	for (uint32_t v = 0; v < n; v++) {
		s->price[v] = greatest;
		s->mate[v] = none;
		s->top[v] = s->base[v] = v;
	}
	for (uint32_t i = 0; i < 2 * n; i++)
		s->parent[i] = none;
}

static void search_fini(struct search *s)
{
	for (uint32_t b = s->n; b < 2 * s->n; b++) {
		vec_fini(&s->at[b].nodes);
		vec_fini(&s->at[b].darts);
		vec_fini(&s->at[b].vertices);
	}
	vec_fini(&s->todo);
	vec_fini(&s->meetings);
}

static bool by_blossoms(const struct matching *m, uint32_t *mate_of)
{
	struct arena arena = { 0 };
	struct search s;
	bool good;

	search_init(&s, m, &arena);
	while (one_search(&s))
		break_up_free(&s);
	good = proved(&s);
	for (uint32_t v = 0; good && v < m->vertices; v++)
		mate_of[v] = s.mate[v] == none ? MATCHING_ALONE : to(&s, s.mate[v]);
	search_fini(&s);
	arena_fini(&arena);
	return good;
}

/* ---- the other way */

static bool by_integer_program(const struct matching *m, uint32_t *mate_of)
{
	struct lp *lp = lp_create();
	double each = 0;
	bool good;

	for (size_t e = 0; e < m->n_edges && m->most_pairs; e++)
		each = fmax(each, (m->edges[e].weight + 1) * m->vertices);
	lp_maximise(lp, true);
	for (uint32_t v = 0; v < m->vertices; v++)
		lp_add_row(lp, -INFINITY, 1);
	for (size_t e = 0; e < m->n_edges; e++) {
		uint32_t x = lp_add_column(lp, m->edges[e].weight + each, 0, 1, true);

		lp_set(lp, m->edges[e].a, x, 1);
		lp_set(lp, m->edges[e].b, x, 1);
	}
	good = lp_solve(lp, (struct lp_limits){ 0 }) == LP_OPTIMAL;
	for (uint32_t v = 0; good && v < m->vertices; v++)
		mate_of[v] = MATCHING_ALONE;
	for (size_t e = 0; good && e < m->n_edges; e++) {
		if (lp_value(lp, (uint32_t)e) > 0.5) {
			mate_of[m->edges[e].a] = m->edges[e].b;
			mate_of[m->edges[e].b] = m->edges[e].a;
		}
	}
	lp_destroy(lp);
	return good;
}

bool matching_solve(const struct matching *m, uint32_t *mate_of)
{
	assert(m->vertices <= MATCHING_MOST_VERTICES && m->n_edges < UINT32_MAX / 2);
	return by_blossoms(m, mate_of) || by_integer_program(m, mate_of);
}
