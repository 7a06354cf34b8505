/*
 * Gandiva's introspection.
 */
#include "policy/fair/gandiva_trials.h"

#include <math.h>

#include "model/elastic.h"

/* A job whose packing failed so often is left alone. */
#define FAILED_MAX 3

/* Moving costs what resuming costs: it must be worth it. */
#define STAY_COSTS 10

/* Speeds that differ by less are equal. */
#define SAME 1e-6

static const struct job *job_at(const struct slice_servers *s, const struct slice_server *server,
	uint32_t i)
{
	return &s->round->jobs[s->jobs[server->first + i]];
}

static bool crowded(const struct slice_server *server)
{
	return server->demand > server->devices;
}

/* Nothing was done to it within the window, and a move would not be most of what it does. */
static bool is_calm(const struct slice_servers *s, const struct trial_rules *rules,
	const struct job *job)
{
	const struct slice_memory *m = slice_memory_of(s, job->id);
	double cost_s = job->attempts > 0 ? STAY_COSTS * job->resume_cost_s : 0;

	return m->action == ACTION_NONE &&
		(m->acted_s == 0 || s->round->now_s - m->acted_s >= fmax(rules->window_s, cost_s));
}

static void act(const struct slice_servers *s, const struct job *job, enum gandiva_action action)
{
	struct slice_memory *m = slice_memory_of(s, job->id);

	m->action = (uint8_t)action;
	m->acted_s = s->round->now_s;
	m->before = job->grant ? job->rate : 0;
}

/* ---- judging */

bool trial_pays(double a, double a_alone, double b, double b_alone)
{
	return a / a_alone + b / b_alone > 1 + SAME;
}

/* As measured, else as believed. */
static double alone_speed(const struct slice_servers *s, const struct job *job)
{
	const struct slice_memory *m = slice_memory_of(s, job->id);
	uint32_t type = s->round->cluster->nodes[m->home - 1].type;

	return m->alone > 0 ? m->alone : rate_if(s->round->belief, job, type, job_gpus_on(job, type));
}

static void judge_pair(struct slice_servers *s, const struct job *guest, struct trial_counts *counts)
{
	struct slice_memory *m = slice_memory_of(s, guest->id);
	const struct job *host = &s->round->jobs[m->beside - 1];
	struct slice_memory *h = slice_memory_of(s, host->id);

	m->action = h->action = ACTION_NONE;
	if (trial_pays(guest->rate, alone_speed(s, guest), host->rate, alone_speed(s, host)))
		return;
	m->beside = h->guest = 0;
	s->stale = true;
	m->failed++;
	h->failed++;
	counts->unpacked++;
}

static void judge_move(struct slice_servers *s, const struct job *job, struct trial_counts *counts)
{
	struct slice_memory *m = slice_memory_of(s, job->id);
	uint32_t back = m->from - 1;

	m->action = ACTION_NONE;
	if (!(m->before > 0) || job->rate >= m->before * (1 - SAME))
		return;
	m->no_move = true;
	if (m->from && slice_can_host(s, job, back) &&
		slice_room(&s->at[back]) >= slice_gpus(s, job, back)) {
		slice_move(s, job, back);
		counts->moved_back++;
	}
}

static void judge_growth(const struct slice_servers *s, const struct job *job,
	struct trial_counts *counts)
{
	struct slice_memory *m = slice_memory_of(s, job->id);

	m->action = ACTION_NONE;
	if (m->grown == 0 || job->rate > m->before * (1 + SAME))
		return;
	m->no_grow = true;
	m->grown = 0;
	counts->shrunk++;
}

/* Measured for a whole window since it began to make steps. */
static bool is_measured(const struct slice_servers *s, const struct trial_rules *rules,
	const struct job *job)
{
	const struct slice_memory *m = slice_memory_of(s, job->id);

	return job->grant && job->rate > 0 && s->round->now_s >= job->ready_s &&
		s->round->now_s - m->acted_s >= rules->window_s;
}

void trials_judge(struct slice_servers *s, const struct trial_rules *rules, struct trial_counts *counts)
{
	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];
		struct slice_memory *m = slice_memory_of(s, job->id);

		if (!job_active(job) || !m->home)
			continue;
		if (job->grant && job->company == 0 && m->grown == 0 && job->rate > 0)
			m->alone = job->rate;
		if (m->action == ACTION_NONE || !is_measured(s, rules, job))
			continue;
		if (m->action == ACTION_PACK && m->beside && job->company > 0)
			judge_pair(s, job, counts);
		else if (m->action == ACTION_MOVE)
			judge_move(s, job, counts);
		else if (m->action == ACTION_GROW)
			judge_growth(s, job, counts);
	}
	slice_servers_list(s);
}

/* ---- packing */

/* How busy it keeps a device: what it leaves to a second one like itself tells. */
static double busy(const struct slice_servers *s, const struct job *job, uint32_t type)
{
	double alone = rate_if(s->round->belief, job, type, job_gpus_on(job, type));
	double beside = rate_if_beside(s->round->belief, job, job, type);

	return beside > 0 ? alone / beside - 1 : INFINITY;
}

static bool fit_together(const struct slice_servers *s, const struct job *a, const struct job *b,
	uint32_t node)
{
	uint32_t type = s->round->cluster->nodes[node].type;
	int64_t mem_bytes = s->round->cluster->types[type].mem_bytes;

	if (slice_gpus(s, a, node) != slice_gpus(s, b, node))
		return false;
	if (mem_bytes > 0 && a->gpu_mem_bytes + b->gpu_mem_bytes > mem_bytes)
		return false;
	return rate_if_beside(s->round->belief, a, b, type) > 0 &&
		rate_if_beside(s->round->belief, b, a, type) > 0;
}

static bool may_pack(const struct slice_servers *s, const struct trial_rules *rules,
	const struct job *job)
{
	const struct slice_memory *m = slice_memory_of(s, job->id);

	return !m->beside && !m->guest && m->failed < FAILED_MAX && m->grown == 0 &&
		is_calm(s, rules, job);
}

/* The least busy of a server that may be packed, with `with` if not NULL; NULL: none. */
static const struct job *least_busy(const struct slice_servers *s, const struct trial_rules *rules,
	uint32_t node, const struct job *with)
{
	uint32_t type = s->round->cluster->nodes[node].type;
	const struct job *best = NULL;
	double least = INFINITY;

	for (uint32_t i = 0; i < s->at[node].n; i++) {
		const struct job *job = job_at(s, &s->at[node], i);
		double is = busy(s, job, type);

		if (job == with || !(is < least) || !may_pack(s, rules, job) ||
			(with && !fit_together(s, with, job, node)))
			continue;
		best = job;
		least = is;
	}
	return best;
}

/* Sharing is better than turns, and worse than devices of one's own. */
void trials_spread(struct slice_servers *s)
{
	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];
		struct slice_memory *m = slice_memory_of(s, job->id);
		uint32_t gpus;

		if (!job_active(job) || !m->home || !m->beside)
			continue;
		gpus = slice_gpus(s, job, m->home - 1);
		if (slice_room(&s->at[m->home - 1]) < gpus)
			continue;
		s->at[m->home - 1].demand += gpus;
		slice_memory_of(s, m->beside - 1)->guest = 0;
		slice_memory_of(s, m->beside - 1)->action = ACTION_NONE;
		m->beside = 0;
		m->action = ACTION_NONE;
		s->stale = true;
	}
	slice_servers_list(s);
}

void trials_pack(struct slice_servers *s, const struct trial_rules *rules, struct trial_counts *counts)
{
	for (uint32_t node = 0; rules->pack && node < s->round->cluster->nnodes; node++) {
		const struct job *guest, *host;

		if (!crowded(&s->at[node]))
			continue;
		guest = least_busy(s, rules, node, NULL);
		host = guest ? least_busy(s, rules, node, guest) : NULL;
		if (!host)
			continue;
		slice_memory_of(s, guest->id)->beside = 1 + host->id;
		slice_memory_of(s, host->id)->guest = 1 + guest->id;
		act(s, guest, ACTION_PACK);
		act(s, host, ACTION_PACK);
		counts->packed++;
		s->stale = true;
	}
	slice_servers_list(s);
}

/* ---- moving */

static bool may_go(const struct slice_servers *s, const struct trial_rules *rules, const struct job *job)
{
	const struct slice_memory *m = slice_memory_of(s, job->id);

	return !m->beside && !m->guest && !m->no_move && is_calm(s, rules, job);
}

static void go(struct slice_servers *s, const struct job *job, uint32_t to, struct trial_counts *counts)
{
	struct slice_memory *m = slice_memory_of(s, job->id);

	m->from = m->home;
	m->grown = 0;
	act(s, job, ACTION_MOVE);
	slice_move(s, job, to);
	counts->moved++;
}

/* Those who wait on crowded servers go where there is room. */
static void relieve(struct slice_servers *s, const struct trial_rules *rules, struct trial_counts *counts)
{
	for (uint32_t node = 0; node < s->round->cluster->nnodes; node++) {
		for (uint32_t i = 0; i < s->at[node].n && crowded(&s->at[node]); i++) {
			const struct job *job = job_at(s, &s->at[node], i);
			uint32_t to;

			if (plan_grant(s->plan, job->id) || !may_go(s, rules, job))
				continue;
			to = slice_find_room(s, job);
			if (to != UINT32_MAX && to != node)
				go(s, job, to, counts);
		}
	}
}

/* A job that lies apart, as no server had room for it when it came, goes to one that has if it is believed to be faster there. */
static void bring_together(struct slice_servers *s, const struct trial_rules *rules,
	struct trial_counts *counts)
{
	const struct round *round = s->round;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		uint32_t to;

		if (!job_active(job) || !job->grant || job->grant->nslots < 2 ||
			slice_memory_of(s, job->id)->home || !may_go(s, rules, job))
			continue;
		to = slice_find_room(s, job);
		if (to != UINT32_MAX &&
			rate_in(round->belief, job, round->cluster->nodes[to].type,
				(struct shape){ .gpus = slice_gpus(s, job, to), .nodes = 1, .racks = 1 }) >
				rate_in(round->belief, job, job->grant->type,
					grant_shape(round->cluster, job->grant)) *
					(1 + SAME))
			go(s, job, to, counts);
	}
}

/* The server that is neither idle nor crowded and has most room; UINT32_MAX: none. */
static uint32_t emptiest(const struct slice_servers *s)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < s->round->cluster->nnodes; i++) {
		if (s->at[i].n > 0 && slice_room(&s->at[i]) > 0 &&
			(best == UINT32_MAX || slice_room(&s->at[i]) > slice_room(&s->at[best])))
			best = i;
	}
	return best;
}

/* A fuller server with room where the job is believed to be no slower; the fullest, the first of equals. */
static uint32_t fuller(const struct slice_servers *s, const struct job *job, uint32_t from)
{
	const struct node *nodes = s->round->cluster->nodes;
	double speed = rate_if(s->round->belief, job, nodes[from].type, slice_gpus(s, job, from));
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < s->round->cluster->nnodes; i++) {
		uint32_t room = slice_room(&s->at[i]), gpus = slice_gpus(s, job, i);

		if (i == from || s->at[i].n == 0 || room >= slice_room(&s->at[from]) ||
			room < gpus || !slice_can_host(s, job, i) ||
			rate_if(s->round->belief, job, nodes[i].type, gpus) < speed * (1 - SAME))
			continue;
		if (best == UINT32_MAX || room < slice_room(&s->at[best]))
			best = i;
	}
	return best;
}

void trials_migrate(struct slice_servers *s, const struct trial_rules *rules, struct trial_counts *counts)
{
	uint32_t from;

	if (!rules->migrate)
		return;
	relieve(s, rules, counts);
	bring_together(s, rules, counts);
	slice_servers_list(s);
	from = emptiest(s);
	for (uint32_t i = 0; from != UINT32_MAX && i < s->at[from].n; i++) {
		const struct job *job = job_at(s, &s->at[from], i);
		uint32_t to = may_go(s, rules, job) ? fuller(s, job, from) : UINT32_MAX;

		if (to != UINT32_MAX)
			go(s, job, to, counts);
	}
	slice_servers_list(s);
}

/* ---- growing */

/* Devices that the job could have beyond what it asked for. */
static uint32_t growth_of(const struct slice_servers *s, const struct job *job, uint32_t idle)
{
	const struct slice_memory *m = slice_memory_of(s, job->id);
	uint32_t more = job->max_gpus > job->gpus ? (uint32_t)(job->max_gpus - job->gpus) : 0;

	if (job->gpus_by_type || job->units || m->guest || m->beside || m->no_grow)
		return 0;
	return more < idle ? more : idle;
}

static bool grow_one(const struct slice_servers *s, const struct trial_rules *rules,
	const struct job *job, uint32_t *idle, struct trial_counts *counts)
{
	struct slice_memory *m = slice_memory_of(s, job->id);
	uint32_t more = rules->grow ? growth_of(s, job, *idle) : 0;
	bool later = false;

	if (m->grown > more) {
		m->grown = more;
		m->action = ACTION_NONE;
		counts->shrunk++;
	} else if (more > m->grown) {
		later = !job->grant || !is_calm(s, rules, job);
		if (!later) {
			m->grown = more;
			act(s, job, ACTION_GROW);
			counts->grown++;
		}
	}
	*idle -= m->grown;
	return later;
}

bool trials_grow(struct slice_servers *s, const struct trial_rules *rules, struct trial_counts *counts)
{
	bool later = false;

	for (uint32_t node = 0; node < s->round->cluster->nnodes; node++) {
		uint32_t idle = slice_room(&s->at[node]);

		for (uint32_t i = 0; i < s->at[node].n; i++)
			later |= grow_one(s, rules, job_at(s, &s->at[node], i), &idle, counts);
	}
	return later;
}

double trials_end_s(const struct slice_servers *s, const struct trial_rules *rules)
{
	double next_s = INFINITY;

	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];
		const struct slice_memory *m = slice_memory_of(s, job->id);

		if (job_active(job) && m->action != ACTION_NONE)
			next_s = fmin(next_s, m->acted_s + rules->window_s);
	}
	return next_s;
}
