#include "policy/elastic/lyra_place.h"

#include <math.h>
#include <stdlib.h>

bool node_is_home(const struct round *round, uint32_t node)
{
	return !round->on_loan || !round->on_loan[node];
}

static uint32_t devices_in(struct slot slot)
{
	return (uint32_t)__builtin_popcountll(slot.devices);
}

/* ---- putting */

/* A job to be put somewhere else than it is. */
struct moved {
	const struct portion *portion;
	uint32_t base;         /* devices still to be found for it: base, */
	uint32_t extra;        /* and flexible */
	struct node_share *at; /* found so far */
	uint32_t n;
};

struct floor {
	const struct round *round;
	const struct plan *plan;
	uint32_t *free; /* by node */
	struct moved *moved;
	uint32_t n;
};

static void put(struct floor *f, struct moved *m, uint32_t node, uint32_t gpus)
{
	uint32_t i = 0;

	f->free[node] -= gpus;
	while (i < m->n && m->at[i].node != node)
		i++;
	if (i == m->n)
		m->at[m->n++] = (struct node_share){ node, 0 };
	m->at[i].gpus += gpus;
}

/* Takes up to *want of what it has on nodes at home, or on loan. */
static void keep_some(struct floor *f, struct moved *m, bool home, uint32_t *want)
{
	const struct grant *grant = m->portion->job->grant;

	for (uint32_t i = 0; grant && i<grant->nslots && * want> 0; i++) {
		struct slot slot = grant->slots[i];
		uint32_t n = devices_in(slot);

		if (node_is_home(f->round, slot.node) != home ||
			f->round->cluster->nodes[slot.node].type != m->portion->type)
			continue;
		for (uint32_t k = 0; k < m->n; k++)
			n -= m->at[k].node == slot.node ? m->at[k].gpus : 0;
		n = n < *want ? n : *want;
		n = n < f->free[slot.node] ? n : f->free[slot.node];
		if (n == 0)
			continue;
		put(f, m, slot.node, n);
		*want -= n;
	}
}

/* The node of such kind with the least room that is enough, else the one with the most; UINT32_MAX: none has any. */
static uint32_t best_fit(const struct floor *f, uint32_t type, bool home, uint32_t want)
{
	const struct space_type *t = &f->plan->space.types[type];
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < t->nnodes; i++) {
		uint32_t node = t->nodes[i], free = f->free[node];
		uint32_t had = best == UINT32_MAX ? 0 : f->free[best];
		bool enough = free >= want, had_enough = had >= want;

		if (free == 0 || node_is_home(f->round, node) != home)
			continue;
		if (best == UINT32_MAX || (enough && !had_enough) ||
			(enough == had_enough && (enough ? free < had : free > had)))
			best = node;
	}
	return best;
}

static void find_some(struct floor *f, struct moved *m, bool home, uint32_t *want)
{
	while (*want > 0) {
		uint32_t node = best_fit(f, m->portion->type, home, *want), n;

		if (node == UINT32_MAX)
			return;
		n = f->free[node] < *want ? f->free[node] : *want;
		put(f, m, node, n);
		*want -= n;
	}
}

static bool stays(const struct plan *plan, const struct portion *p)
{
	const struct grant *grant = plan_grant(plan, p->job->id);

	return grant && !grant->mixed && grant->type == p->type && grant->gpus == p->gpus;
}

static int by_size(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	if (x->portion->gpus != y->portion->gpus)
		return x->portion->gpus > y->portion->gpus ? -1 : 1;
	return x->portion < y->portion ? -1 : x->portion > y->portion;
}

/* Who stays has its devices; the others are to be moved.  False: some job shares devices. */
static bool survey(struct floor *f, const struct portion *portions, const uint32_t *base, uint32_t n)
{
	const struct cluster *cluster = f->round->cluster;

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		uint32_t down = (uint32_t)__builtin_popcountll(space_gone(&f->plan->space.nodes[i]));

		f->free[i] = f->plan->space.nodes[i].up ? cluster->nodes[i].devices - down : 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct portion *p = &portions[i];

		if (job_is_fraction(p->job))
			return false;
		if (p->gpus == 0)
			continue;
		if (!stays(f->plan, p)) {
			f->moved[f->n++] = (struct moved){
				.portion = p,
				.base = base[i],
				.extra = p->gpus - base[i],
				.at = arena_array(f->round->scratch, struct node_share, cluster->nnodes),
			};
			continue;
		}
		for (uint32_t k = 0; k < p->job->grant->nslots; k++)
			f->free[p->job->grant->slots[k].node] -= devices_in(p->job->grant->slots[k]);
	}
	qsort(f->moved, f->n, sizeof(*f->moved), by_size);
	return true;
}

static void find_places(struct floor *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		keep_some(f, &f->moved[i], true, &f->moved[i].base);
		keep_some(f, &f->moved[i], false, &f->moved[i].base);
		keep_some(f, &f->moved[i], false, &f->moved[i].extra);
		keep_some(f, &f->moved[i], true, &f->moved[i].extra);
	}
	for (uint32_t i = 0; i < f->n; i++)
		find_some(f, &f->moved[i], true, &f->moved[i].base);
	for (uint32_t i = 0; i < f->n; i++)
		find_some(f, &f->moved[i], false, &f->moved[i].base);
	for (uint32_t i = 0; i < f->n; i++)
		find_some(f, &f->moved[i], false, &f->moved[i].extra);
	for (uint32_t i = 0; i < f->n; i++)
		find_some(f, &f->moved[i], true, &f->moved[i].extra);
}

void lyra_place(const struct round *round, struct plan *plan, const struct portion *portions,
	const uint32_t *base, uint32_t n)
{
	struct floor f = { .round = round, .plan = plan };

	if (!round->on_loan)
		return;
	f.free = arena_array(round->scratch, uint32_t, round->cluster->nnodes);
	f.moved = arena_array(round->scratch, struct moved, n);
	if (!survey(&f, portions, base, n))
		return;
	find_places(&f);
	for (uint32_t i = 0; i < f.n; i++)
		plan_stop(plan, f.moved[i].portion->job);
	for (uint32_t i = 0; i < f.n; i++) {
		struct moved *m = &f.moved[i];

		if (m->n > 0 && m->base == 0 && m->extra == 0)
			plan_run_at(plan, m->portion->job, m->at, m->n, (struct want){ 0 });
	}
}

/* ---- giving back */

/* A job on borrowed nodes. */
struct stake {
	const struct job *job;
	uint32_t *base; /* base workers, by slot of its grant */
	uint32_t span;  /* slots with any */
	bool gone;      /* preempted already */
};

struct recall {
	const struct round *round;
	struct stake *stakes;
	uint32_t n;
	bool *returned; /* by node */
};

/* Base workers are those at home first, then where it has most. */
static void find_base(const struct recall *r, struct stake *s)
{
	const struct grant *grant = s->job->grant;
	uint32_t left = job_least_on(s->job, grant->type);

	s->base = arena_array(r->round->scratch, uint32_t, grant->nslots);
	for (int home = 1; home >= 0; home--) {
		for (uint32_t turn = 0; turn < grant->nslots && left > 0; turn++) {
			uint32_t best = UINT32_MAX, n;

			for (uint32_t i = 0; i < grant->nslots; i++) {
				if (s->base[i] || node_is_home(r->round, grant->slots[i].node) != home)
					continue;
				if (best == UINT32_MAX ||
					devices_in(grant->slots[i]) > devices_in(grant->slots[best]))
					best = i;
			}
			if (best == UINT32_MAX)
				break;
			n = devices_in(grant->slots[best]);
			s->base[best] = n < left ? n : left;
			left -= s->base[best];
			s->span++;
		}
	}
}

static void list_stakes(struct recall *r)
{
	r->stakes = arena_array(r->round->scratch, struct stake, r->round->nactive);
	for (uint32_t i = 0; i < r->round->nactive; i++) {
		const struct job *job = &r->round->jobs[r->round->active[i]];

		if (!job->grant)
			continue;
		r->stakes[r->n].job = job;
		find_base(r, &r->stakes[r->n++]);
	}
}

static uint32_t slot_of(const struct job *job, uint32_t node)
{
	uint32_t i = 0;

	while (i < job->grant->nslots && job->grant->slots[i].node != node)
		i++;
	return i;
}

/* Whether its base is touched there. */
static bool has_base(const struct stake *s, uint32_t node)
{
	uint32_t slot = slot_of(s->job, node);

	return !s->gone && slot < s->job->grant->nslots && s->base[slot] > 0;
}

/* What giving a node back costs: preempted jobs, each by the part of its nodes that this is; -1 for one that is idle. */
static double cost_of(const struct recall *r, uint32_t node)
{
	double cost = 0;
	bool idle = true;

	for (uint32_t i = 0; i < r->n; i++) {
		const struct stake *s = &r->stakes[i];

		if (has_base(s, node))
			cost += 1.0 / s->span;
		idle = idle && (s->gone || slot_of(s->job, node) == s->job->grant->nslots);
	}
	return idle ? -1 : cost;
}

static uint32_t cheapest(const struct recall *r, double *cost)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t node = 0; node < r->round->cluster->nnodes; node++) {
		double here;

		if (node_is_home(r->round, node) || r->returned[node])
			continue;
		here = cost_of(r, node);
		if (best == UINT32_MAX || here < *cost - 1e-12) {
			best = node;
			*cost = here;
		}
	}
	return best;
}

uint32_t lyra_choose_returns(const struct round *round, uint32_t n, uint32_t *nodes)
{
	struct recall r = { .round = round };
	uint32_t harmless = 0;

	r.returned = arena_array(round->scratch, bool, round->cluster->nnodes);
	list_stakes(&r);
	for (uint32_t i = 0; i < n; i++) {
		double cost = 0;

		nodes[i] = cheapest(&r, &cost);
		if (nodes[i] == UINT32_MAX)
			return harmless;
		r.returned[nodes[i]] = true;
		harmless += cost <= 0;
		for (uint32_t k = 0; k < r.n; k++)
			r.stakes[k].gone |= has_base(&r.stakes[k], nodes[i]);
	}
	return harmless;
}
