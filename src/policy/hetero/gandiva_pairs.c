/*
 * Gandiva's packing as Gavel models it: when the cluster is too small for its jobs, jobs are
 * paired at random to share devices, and pairs that prove worth it stay.
 *
 * A pair is judged by what introspection says: the speeds of both beside each
 * other over their speeds alone.  Above 1 in sum, sharing beats taking turns.
 * Pairs are made until the groups (pairs and the jobs left alone) fit.  If they
 * do, each group runs all the time, the first to come on the fastest type.  If
 * they do not, groups have equal parts of each type; on a type where its two do
 * not gain by sharing, a pair takes turns instead.
 *
 * The model that the simulator of Gavel has of it is followed draw by draw
 * with compat=gavel.  There, any two of equal size that are drawn are a pair
 * until the next computation, it stays if the sum over all types is at least
 * 1, and groups always have equal parts.
 */
#include "policy/hetero/gandiva_pairs.h"

/* ---- introspection */

/* What both make together on a type, each in parts of what it makes alone; 0: they cannot share. */
static double gain(const struct program *p, uint32_t pair, uint32_t w)
{
	const double *both = &p->pair_speed[((size_t)pair * p->types + w) * 2];
	double a = p->speed[(size_t)p->pair[pair].a * p->types + w];
	double b = p->speed[(size_t)p->pair[pair].b * p->types + w];

	return both[0] > 0 && both[1] > 0 ? both[0] / a + both[1] / b : 0;
}

static bool pays(const struct program *p, uint32_t pair, uint32_t w)
{
	return gain(p, pair, w) > 1;
}

static bool pays_somewhere(const struct program *p, uint32_t pair)
{
	for (uint32_t w = 0; w < p->types; w++) {
		if (pays(p, pair, w))
			return true;
	}
	return false;
}

static bool pays_as_published(const struct program *p, uint32_t pair)
{
	double sum = 0;

	for (uint32_t w = 0; w < p->types; w++) {
		double here = gain(p, pair, w);

		if (here == 0)
			return false;
		sum += here;
	}
	return sum >= 1;
}

/* ---- who shares with whom */

#define ALONE UINT32_MAX

/* The present pairs: of each row, the number of its pair in the program. */
struct pairing {
	const struct program *program;
	uint32_t *pair_of; /* ALONE: none */
	uint32_t pairs;
	double wanted, there; /* devices that the groups ask for, and that are up */
	uint32_t *number;     /* by two rows: 1 + the pair's number, 0: not of equal size */
};

/* Everybody alone. */
static void begin_pairing(struct pairing *pairing, const struct program *p)
{
	*pairing = (struct pairing){
		.program = p,
		.pair_of = arena_array(p->round->scratch, uint32_t, p->jobs),
	};
	for (uint32_t row = 0; row < p->jobs; row++) {
		pairing->pair_of[row] = ALONE;
		pairing->wanted += p->gang[row];
	}
	for (uint32_t w = 0; w < p->types; w++)
		pairing->there += p->capacity[w];
}

static bool crowded(const struct pairing *pairing)
{
	return pairing->wanted > pairing->there;
}

static void join(struct gandiva_pairs *g, struct pairing *pairing, uint32_t pair)
{
	const struct program *p = pairing->program;
	uint32_t a = p->pair[pair].a, b = p->pair[pair].b;

	pairing->pair_of[a] = pairing->pair_of[b] = pair;
	pairing->pairs++;
	pairing->wanted -= p->gang[a];
	g->partner.at[p->id[a]] = p->id[b] + 1;
	g->partner.at[p->id[b]] = p->id[a] + 1;
}

/* Pairs of earlier computations whose jobs are both there and gain by it. */
static void keep_good_pairs(struct gandiva_pairs *g, struct pairing *pairing)
{
	const struct program *p = pairing->program;
	bool published = g->turns.compat != TURNS_OWN;

	for (uint32_t i = 0; i < p->pairs; i++) {
		uint32_t a = p->id[p->pair[i].a], b = p->id[p->pair[i].b];

		if (g->partner.at[a] != b + 1)
			continue;
		if (published ? pays_as_published(p, i) : crowded(pairing) && pays_somewhere(p, i))
			join(g, pairing, i);
	}
	for (uint32_t row = 0; row < p->jobs; row++) {
		if (pairing->pair_of[row] == ALONE)
			g->partner.at[p->id[row]] = 0;
	}
}

static void number_pairs(struct pairing *pairing)
{
	const struct program *p = pairing->program;

	pairing->number = arena_array(p->round->scratch, uint32_t, (size_t)p->jobs * p->jobs);
	for (uint32_t i = 0; i < p->pairs; i++) {
		uint32_t a = p->pair[i].a, b = p->pair[i].b;

		pairing->number[(size_t)a * p->jobs + b] = i + 1;
		pairing->number[(size_t)b * p->jobs + a] = i + 1;
	}
}

static void remove_row(uint32_t *rows, uint32_t *n, uint32_t at)
{
	for (--*n; at < *n; at++)
		rows[at] = rows[at + 1];
}

static uint32_t list_alone(const struct pairing *pairing, uint32_t **alone)
{
	uint32_t n = 0;

	*alone = arena_array(pairing->program->round->scratch, uint32_t, pairing->program->jobs);
	for (uint32_t row = 0; row < pairing->program->jobs; row++) {
		if (pairing->pair_of[row] == ALONE)
			(*alone)[n++] = row;
	}
	return n;
}

/* 1 + the number of the pair, if the two may be one and it pays. */
static uint32_t good_pair(const struct pairing *pairing, uint32_t a, uint32_t b)
{
	uint32_t pair = pairing->number[(size_t)a * pairing->program->jobs + b];

	return pair && pays_somewhere(pairing->program, pair - 1) ? pair : 0;
}

/* Draws a job, and a partner for it among those it gains with, until the groups fit. */
static void draw_pairs(struct gandiva_pairs *g, struct pairing *pairing)
{
	uint32_t *alone, n = list_alone(pairing, &alone);

	number_pairs(pairing);
	while (n >= 2 && crowded(pairing)) {
		uint32_t at = twister_below(&g->rng, n), row = alone[at], partners = 0, drawn;

		remove_row(alone, &n, at);
		for (uint32_t i = 0; i < n; i++)
			partners += good_pair(pairing, row, alone[i]) > 0;
		if (partners == 0)
			continue;
		drawn = twister_below(&g->rng, partners) + 1;
		for (at = 0; drawn > 0; at++)
			drawn -= good_pair(pairing, row, alone[at]) > 0;
		join(g, pairing, good_pair(pairing, row, alone[at - 1]) - 1);
		remove_row(alone, &n, at - 1);
	}
}

/* Published: draws two, as often as there are jobs alone at first, and pairs them if they are of equal size. */
static void draw_as_published(struct gandiva_pairs *g, struct pairing *pairing)
{
	uint32_t *alone, n = list_alone(pairing, &alone);

	number_pairs(pairing);
	for (uint32_t draws = n; draws > 0 && n >= 2; draws--) {
		uint32_t two[2], pair;

		twister_two(&g->rng, n, two);
		pair = pairing->number[(size_t)alone[two[0]] * pairing->program->jobs + alone[two[1]]];
		if (!pair)
			continue;
		join(g, pairing, pair - 1);
		remove_row(alone, &n, two[0] > two[1] ? two[0] : two[1]);
		remove_row(alone, &n, two[0] > two[1] ? two[1] : two[0]);
	}
}

/* ---- shares */

/* The fastest type with room for a group, and where a pair gains; types: none. */
static uint32_t best_type(const struct pairing *pairing, uint32_t row, const double *room)
{
	const struct program *p = pairing->program;
	const double *speed = &p->speed[(size_t)row * p->types];
	uint32_t best = p->types, pair = pairing->pair_of[row];

	for (uint32_t w = 0; w < p->types; w++) {
		if (p->gang[row] <= room[w] && speed[w] > (best < p->types ? speed[best] : 0) &&
			(pair == ALONE || pays(p, pair, w)))
			best = w;
	}
	return best;
}

/* In order of arrival each group has one type all the time.  False: somebody finds no room. */
static bool run_all(const struct pairing *pairing, struct shares *shares)
{
	const struct program *p = pairing->program;
	double room[TYPES_MAX];

	memcpy(room, p->capacity, sizeof(room));
	for (uint32_t row = 0; row < p->jobs; row++) {
		uint32_t pair = pairing->pair_of[row], w;

		if (pair != ALONE && p->pair[pair].b == row)
			continue;
		w = best_type(pairing, row, room);
		if (w == p->types)
			return false;
		room[w] -= p->gang[row];
		if (pair == ALONE)
			shares->x[(size_t)row * p->types + w] = 1;
		else
			shares->pair_x[(size_t)pair * p->types + w] = 1;
	}
	return true;
}

/* Where sharing does not pay, the two have half of the time each. */
static void share_as_pair(const struct gandiva_pairs *g, const struct program *p, uint32_t pair,
	const double *part, struct shares *shares)
{
	const struct program_pair *rows = &p->pair[pair];

	for (uint32_t w = 0; w < p->types; w++) {
		if (g->turns.compat != TURNS_OWN || pays(p, pair, w)) {
			shares->pair_x[(size_t)pair * p->types + w] = part[w];
		} else {
			shares->x[(size_t)rows->a * p->types + w] = part[w] / 2;
			shares->x[(size_t)rows->b * p->types + w] = part[w] / 2;
		}
	}
}

/* Every group has an equal part of each type. */
static void share_out(const struct gandiva_pairs *g, const struct pairing *pairing, struct shares *shares)
{
	const struct program *p = pairing->program;
	uint32_t groups = p->jobs - pairing->pairs;
	double part[TYPES_MAX];

	for (uint32_t row = 0; row < p->jobs; row++) {
		uint32_t pair = pairing->pair_of[row];

		if (pair == ALONE) {
			program_isolated(p, row, groups, &shares->x[(size_t)row * p->types]);
		} else if (p->pair[pair].a == row) {
			program_isolated(p, row, groups, part);
			share_as_pair(g, p, pair, part, shares);
		}
	}
}

/* While all jobs fit they have equal parts alone; pairs remember each other. */
static void share_as_published(struct gandiva_pairs *g, struct pairing *pairing, struct shares *shares)
{
	const struct program *p = pairing->program;
	bool fit;

	begin_pairing(pairing, p);
	fit = !crowded(pairing);
	keep_good_pairs(g, pairing);
	if (fit)
		begin_pairing(pairing, p);
	else
		draw_as_published(g, pairing);
	share_out(g, pairing, shares);
}

static void share_anew(struct gandiva_pairs *g, struct pairing *pairing, struct shares *shares)
{
	const struct program *p = pairing->program;

	begin_pairing(pairing, p);
	keep_good_pairs(g, pairing);
	draw_pairs(g, pairing);
	if (!crowded(pairing) && run_all(pairing, shares))
		return;
	shares_init(shares, p);
	share_out(g, pairing, shares);
}

static int gandiva_shares(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	struct gandiva_pairs *g = self;
	struct pairing pairing = { .program = p };

	(void)err;
	if (!g->seeded)
		twister_init(&g->rng, p->round->seed);
	g->seeded = true;
	vec_grow_zero(&g->partner, p->round->njobs);
	if (g->turns.compat != TURNS_OWN)
		share_as_published(g, &pairing, shares);
	else
		share_anew(g, &pairing, shares);
	return 0;
}

/* ---- */

void gandiva_pairs_fini(struct gandiva_pairs *g)
{
	share_turns_fini(&g->turns);
	vec_fini(&g->partner);
}

int gandiva_pairs_decide(struct gandiva_pairs *g, const struct round *round, struct plan *plan,
	struct err *err)
{
	return share_turns_decide(&g->turns, gandiva_shares, g, round, plan, err);
}

/* Draws with a copy of the generator and the pairs, so that looking changes nothing. */
int gandiva_pairs_show(const struct gandiva_pairs *g, const struct round *round,
	const struct plan *plan, struct program *program, struct shares *shares, struct err *err)
{
	struct gandiva_pairs copy = *g;
	int rc;

	memset(&copy.partner, 0, sizeof(copy.partner));
	for (size_t i = 0; i < g->partner.n; i++)
		vec_push(&copy.partner, g->partner.at[i]);
	rc = share_turns_show(&copy.turns, gandiva_shares, &copy, round, plan, program, shares, err);
	vec_fini(&copy.partner);
	return rc;
}
