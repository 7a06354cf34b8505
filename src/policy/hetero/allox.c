/*
 * AlloX: least mean completion time on machines of different speeds, by a
 * matching of jobs to places in the machines' queues.
 *
 * The job that runs k-th from the end on a machine delays k jobs, itself
 * among them, by its run time p there, so it adds k x p to the sum of
 * completion times; a machine that is busy for another b seconds adds b.  The
 * cheapest matching of jobs to (machine, k) is the best schedule for the jobs that are known; its
 * first jobs start, and the rest is decided again when something happens.  A
 * machine may stay idle though jobs wait: they are done sooner on a faster one.
 *
 * Jobs of several devices: allox_match.h.  A job that is next and does not fit
 * keeps its turn: others pass it only if they will be over when it could start.
 *
 * Fairness: only jobs of the tenants that have had least are matched, or only
 * the oldest jobs; always enough of them to fill what is free.
 */
#include <math.h>

#include "policy/hetero/allox_match.h"
#include "policy/hetero/turns.h"
#include "policy/kit.h"

enum filter { FILTER_USERS, FILTER_JOBS };

static const char *const filter_names[] = { "users", "jobs", NULL };

struct user {
	double received_s;      /* GPU-seconds */
	double past_s, since_s; /* how long it had jobs here: before, and since when it has */
	double weight;
	bool present;
	uint32_t jobs; /* active ones */
};

struct allox {
	struct share_turns turns;
	double alpha;
	int filter;
	bool preempt;
	int most_jobs;

	VEC(struct user) users; /* by tenant; jobs without one share the first */
	VEC(uint32_t) kept;     /* published: by job, 1 + the type it was given */
};

/* GPU-seconds of the job that its user's account has. */
struct memory {
	double counted_s;
};

static const struct option options[] = {
	OPT_DOUBLE(struct allox, alpha, 0.3, 1e-6, 1,
		"part of the tenants (or jobs) that are considered: small is fair, 1 is fast"),
	OPT_CHOICE(struct allox, filter, FILTER_USERS, filter_names,
		"consider the tenants that have had least, or the oldest jobs"),
	OPT_BOOL(struct allox, preempt, 0, "match running jobs as well, and move or stop them"),
	OPT_INT(struct allox, most_jobs, 512, 1, 1000000,
		"match no more jobs than this at once, the shortest"),
	SHARE_TURNS_OPTIONS(struct allox),
	{ 0 },
};

/* ---- users */

static struct user *user_of(struct allox *a, const struct round *round, const struct job *job)
{
	size_t number = job->tenant == NAME_NONE ? 0 : (size_t)job->tenant + 1;
	double weight = round->tenants ? tenants_of_job(round->tenants, job)->weight : job->weight;

	vec_grow_zero(&a->users, number + 1);
	if (weight > a->users.at[number].weight)
		a->users.at[number].weight = weight;
	return &a->users.at[number];
}

static void charge(struct allox *a, const struct round *round, const struct job *job)
{
	struct memory *memory = (struct memory *)round->job_state + job->id;
	double served_s = job_served_s(job, round->now_s);

	user_of(a, round, job)->received_s += served_s - memory->counted_s;
	memory->counted_s = served_s;
}

/* Who has jobs here, and since when. */
static void note_presence(struct allox *a, const struct round *round)
{
	for (size_t i = 0; i < a->users.n; i++)
		a->users.at[i].jobs = 0;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		struct user *user;

		if (!job_active(job))
			continue;
		user = user_of(a, round, job);
		user->jobs++;
		if (!user->present)
			user->since_s = job->arrival_s;
		user->present = true;
	}
	for (size_t i = 0; i < a->users.n; i++) {
		struct user *user = &a->users.at[i];

		if (!user->present || user->jobs > 0)
			continue;
		user->past_s += round->now_s - user->since_s;
		user->present = false;
	}
}

static void bring_up_to_date(struct allox *a, const struct round *round)
{
	for (uint32_t i = 0; i < round->nchanged; i++)
		charge(a, round, &round->jobs[round->changed[i]]);
	for (uint32_t i = 0; i < round->nactive; i++) {
		if (round->jobs[round->active[i]].grant)
			charge(a, round, &round->jobs[round->active[i]]);
	}
	note_presence(a, round);
}

/* What the user has had over what its part of the cluster would have given it, but for a factor common to all. */
static double progress(const struct user *user, double now_s)
{
	double here_s = user->past_s + now_s - user->since_s;

	return here_s > 0 ? user->received_s / (here_s * user->weight) : 0;
}

/* ---- who is considered */

struct standing {
	double progress;
	struct user *user;
	double gpus; /* of its jobs that compete */
};

static int by_progress(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;

	if (x->progress != y->progress)
		return x->progress < y->progress ? -1 : 1;
	return x->user < y->user ? -1 : x->user > y->user;
}

/* The users with jobs that compete, those that have had least first; returns how many. */
static uint32_t rank_users(struct allox *a, const struct lineup *m, struct standing *standing)
{
	const struct round *round = m->program->round;
	uint32_t n = 0, kept = 0;

	for (; n < a->users.n; n++)
		standing[n].user = &a->users.at[n];
	for (uint32_t i = 0; i < m->n; i++) {
		const struct job *job = &round->jobs[m->program->id[m->at[i].row]];

		standing[user_of(a, round, job) - a->users.at].gpus += job->gpus;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (standing[i].gpus == 0)
			continue;
		standing[kept] = standing[i];
		standing[kept].progress = progress(standing[i].user, round->now_s);
		kept++;
	}
	qsort(standing, kept, sizeof(*standing), by_progress);
	return kept;
}

static void leave_out(const struct lineup *m, const struct place *at, struct plan *plan, enum why why)
{
	if (plan)
		plan_why(plan, m->program->id[at->row],
			(struct reason){ .why = why,
				.need = (int32_t)m->program->gang[at->row],
				.other = JOB_NONE });
}

/* Leaves a part of the users, and more if their jobs would not fill the free devices. */
static void keep_poor_users(struct allox *a, struct lineup *m, double free, struct plan *plan)
{
	const struct round *round = m->program->round;
	struct standing *standing = arena_array(round->scratch, struct standing, a->users.n);
	bool *chosen = arena_array(round->scratch, bool, a->users.n);
	uint32_t n = rank_users(a, m, standing), kept = 0;
	double want = ceil(a->alpha * n - 1e-9), gpus = 0;

	for (uint32_t i = 0; i < n && (i < want || gpus < free); i++) {
		chosen[standing[i].user - a->users.at] = true;
		gpus += standing[i].gpus;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		const struct job *job = &round->jobs[m->program->id[m->at[i].row]];

		if (chosen[user_of(a, round, job) - a->users.at])
			m->at[kept++] = m->at[i];
		else
			leave_out(m, &m->at[i], plan, WHY_SHARE);
	}
	m->n = kept;
}

static void keep_old_jobs(const struct allox *a, struct lineup *m, double free, struct plan *plan)
{
	uint32_t want = (uint32_t)fmin(m->n, fmax(floor(a->alpha * m->n), free));

	for (uint32_t i = want; i < m->n; i++)
		leave_out(m, &m->at[i], plan, WHY_BEHIND);
	m->n = want;
}

/* More than can be matched in reasonable time: the long ones would not start now anyway. */
static int by_run_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->run_s != y->run_s)
		return x->run_s < y->run_s ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int by_row(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

static void keep_short_jobs(const struct allox *a, struct lineup *m, struct plan *plan)
{
	uint32_t most = (uint32_t)a->most_jobs;

	if (m->n <= most)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		m->at[i].run_s = lineup_shortest_s(m->program, m->at[i].row);
	qsort(m->at, m->n, sizeof(*m->at), by_run_time);
	for (uint32_t i = most; i < m->n; i++)
		leave_out(m, &m->at[i], plan, WHY_BEHIND);
	m->n = most;
	qsort(m->at, m->n, sizeof(*m->at), by_row);
}

/* `plan` is told why jobs are left out; NULL: nobody is. */
static void consider(struct allox *a, struct lineup *m, double free, struct plan *plan)
{
	if (m->n > 0 && a->filter == FILTER_USERS)
		keep_poor_users(a, m, free, plan);
	else if (m->n > 0)
		keep_old_jobs(a, m, free, plan);
	keep_short_jobs(a, m, plan);
}

/* ---- Stint's own: at every event, without rounds */

static bool fits_somewhere(const struct program *p, uint32_t row)
{
	for (uint32_t w = 0; w < p->types; w++) {
		if (p->speed[(size_t)row * p->types + w] > 0 && p->gang[row] <= p->capacity[w])
			return true;
	}
	return false;
}

static uint32_t column_of_type(const struct program *p, uint32_t type)
{
	uint32_t w = 0;

	while (w < p->types && p->type[w] != type)
		w++;
	return w;
}

/* Running jobs block their devices, or compete for all if they may be stopped; returns the devices to be had. */
static double gather(struct allox *a, struct lineup *m, const struct program *p, const struct plan *plan)
{
	double free = 0;

	lineup_init(m, p);
	/* Running jobs first: of equals the one that runs goes on. */
	for (int running = 1; running >= 0; running--) {
		for (uint32_t row = 0; row < p->jobs; row++) {
			const struct grant *grant = p->round->jobs[p->id[row]].grant;

			if ((grant != NULL) != running || !fits_somewhere(p, row))
				continue;
			if (a->preempt || !grant)
				m->at[m->n++].row = row;
			else if (column_of_type(p, grant->type) < p->types)
				lineup_add_devices(m, column_of_type(p, grant->type), grant->gpus,
					lineup_run_s(p, row, column_of_type(p, grant->type)));
		}
	}
	for (uint32_t w = 0; w < p->types; w++) {
		uint32_t n = a->preempt ? (uint32_t)p->capacity[w] : plan_free(plan, p->type[w]);

		lineup_add_devices(m, w, n, 0);
		free += n;
	}
	return free;
}

/* Takes the jobs in the order in which they start as far as there is room, and says why to the others. */
struct choice {
	uint32_t room[TYPES_MAX]; /* by column */
	uint32_t next[TYPES_MAX]; /* the job that is next and does not fit; JOB_NONE */
	double next_s[TYPES_MAX]; /* when it could start */
	struct place **picks;
	uint32_t n;
};

static void choose_one(const struct lineup *m, struct choice *c, struct place *at, struct plan *plan)
{
	const struct program *p = m->program;
	uint32_t w = m->lines[at->line].column, gang = (uint32_t)p->gang[at->row];

	if (gang > c->room[w]) {
		if (!p->round->jobs[p->id[at->row]].grant)
			plan_why(plan, p->id[at->row],
				(struct reason){
					.why = WHY_BUSY,
					.need = (int32_t)gang,
					.have = (int32_t)c->room[w],
					.other = JOB_NONE,
				});
		if (c->next[w] == JOB_NONE) {
			c->next[w] = p->id[at->row];
			c->next_s[w] = m->ready_s[w][gang - 1];
		}
	} else if (c->next[w] != JOB_NONE && at->run_s > c->next_s[w]) {
		plan_why(plan, p->id[at->row],
			(struct reason){ .why = WHY_RESERVED,
				.need = (int32_t)gang,
				.other = c->next[w] });
	} else {
		c->room[w] -= gang;
		c->picks[c->n++] = at;
		lineup_take_devices(m, w, gang, at->run_s);
	}
}

static void choose(const struct lineup *m, struct choice *c, bool preempt, struct plan *plan)
{
	const struct program *p = m->program;

	*c = (struct choice){ .picks = arena_array(p->round->scratch, struct place *, m->n) };
	for (uint32_t w = 0; w < p->types; w++) {
		c->room[w] = preempt ? m->devices[w] : plan_free(plan, p->type[w]);
		c->next[w] = JOB_NONE;
	}
	for (uint32_t i = 0; i < m->n; i++)
		choose_one(m, c, &m->at[i], plan);
}

/* Whoever runs and was not chosen to go on there. */
static void stop_leavers(const struct lineup *m, const struct choice *c, struct plan *plan)
{
	const struct round *round = m->program->round;
	int *chosen = arena_array(round->scratch, int, round->njobs);

	for (uint32_t i = 0; i < c->n; i++)
		chosen[m->program->id[c->picks[i]->row]] = 1 +
			(int)m->program->type[m->lines[c->picks[i]->line].column];
	for (uint32_t row = 0; row < m->program->jobs; row++) {
		const struct job *job = &round->jobs[m->program->id[row]];

		if (!job->grant || chosen[job->id] == 1 + (int)job->grant->type)
			continue;
		plan_stop(plan, job);
		if (!chosen[job->id])
			plan_why(plan, job->id,
				(struct reason){ .why = WHY_OUTRANKED,
					.need = job->gpus,
					.other = JOB_NONE });
	}
}

/*
 * Devices are there but not where the placer wants them, or without CPUs and memory.  If nobody
 * else has any of the type there is nothing to wait for, and any other type will do.
 */
static void run(const struct round *round, struct plan *plan, const struct job *job, uint32_t type)
{
	bool empty = plan_free(plan, type) == plan->space.types[type].up;

	if (plan_run(plan, job, (struct want){ .type = (int)type }))
		return;
	if (!empty || !kit_run(round, plan, job))
		kit_no_room(round, plan, job);
}

/* Who found no place for want of free devices has not been told why yet. */
static void turn_away_the_rest(const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !plan_grant(plan, job->id))
			kit_no_room(round, plan, job);
	}
}

static int decide_at_event(struct allox *a, const struct round *round, struct plan *plan)
{
	struct program program;
	struct lineup m;
	struct choice c;
	double free;

	bring_up_to_date(a, round);
	program_init(&program, round, plan, false);
	free = gather(a, &m, &program, plan);
	if (free == 0)
		m.n = 0;
	consider(a, &m, free, plan);
	lineup_solve(&m);
	choose(&m, &c, a->preempt, plan);
	if (a->preempt)
		stop_leavers(&m, &c, plan);
	for (uint32_t i = 0; i < c.n; i++)
		run(round, plan, &round->jobs[program.id[c.picks[i]->row]],
			program.type[m.lines[c.picks[i]->line].column]);
	turn_away_the_rest(round, plan);
	return 0;
}

/* ---- as published: by shares; who has been matched once keeps its type */

static double gather_unmatched(struct allox *a, struct lineup *m, const struct program *p)
{
	double free = 0, kept[TYPES_MAX] = { 0 };

	lineup_init(m, p);
	vec_grow_zero(&a->kept, p->round->njobs);
	for (uint32_t row = 0; row < p->jobs; row++) {
		uint32_t had = a->kept.at[p->id[row]];
		uint32_t w = had > 0 ? column_of_type(p, had - 1) : p->types;

		if (w < p->types)
			kept[w] += p->gang[row];
		else if (fits_somewhere(p, row))
			m->at[m->n++].row = row;
	}
	for (uint32_t w = 0; w < p->types; w++) {
		double n = fmax(0, p->capacity[w] - kept[w]);

		lineup_add_devices(m, w, (uint32_t)n, 0);
		free += n;
	}
	return free;
}

static int allox_shares(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	struct allox *a = self;
	struct lineup m;
	double free = gather_unmatched(a, &m, p);

	(void)err;
	consider(a, &m, free, NULL);
	lineup_solve(&m);
	for (uint32_t i = 0; i < m.n; i++) {
		if (m.at[i].start_s == 0)
			a->kept.at[p->id[m.at[i].row]] = 1 + p->type[m.lines[m.at[i].line].column];
	}
	for (uint32_t row = 0; row < p->jobs; row++) {
		uint32_t had = a->kept.at[p->id[row]];
		uint32_t w = had > 0 ? column_of_type(p, had - 1) : p->types;

		if (w < p->types)
			shares->x[(size_t)row * p->types + w] = 1;
	}
	return 0;
}

/* ---- */

static int allox_init(void *self, struct err *err)
{
	const struct allox *a = self;

	if (a->turns.replay[0] && a->turns.compat == TURNS_OWN)
		return err_set(err, ERR_USAGE, "replay=%s needs shares: add compat=gavel",
			a->turns.replay);
	return 0;
}

static void allox_fini(void *self)
{
	struct allox *a = self;

	share_turns_fini(&a->turns);
	vec_fini(&a->users);
	vec_fini(&a->kept);
}

static int allox_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct allox *a = self;

	if (a->turns.compat == TURNS_OWN)
		return decide_at_event(a, round, plan);
	bring_up_to_date(a, round);
	return share_turns_decide(&a->turns, allox_shares, self, round, plan, err);
}

static uint32_t allox_figures(const void *self, struct figure out[FIGURES_MAX])
{
	return share_turns_figures(&((const struct allox *)self)->turns, out);
}

static enum compat allox_compat(const void *self)
{
	return share_turns_compat(&((const struct allox *)self)->turns);
}

static unsigned allox_uses_now(const void *self)
{
	return ((const struct allox *)self)->filter == FILTER_USERS ? USES_WEIGHT : 0;
}

const struct policy policy_allox = {
	.name = "allox",
	.summary = "jobs matched to places in the queues of types for the least mean completion time",
	.origin = "Le et al., EuroSys 2020",
	.family = "hetero",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.uses = USES_WEIGHT,
	.options = options,
	.state_size = sizeof(struct allox),
	.compat = allox_compat,
	.job_state_size = sizeof(struct memory),
	.init = allox_init,
	.fini = allox_fini,
	.uses_now = allox_uses_now,
	.decide = allox_decide,
	.figures = allox_figures,
};
