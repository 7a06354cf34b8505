/*
 * Gandiva: every job runs soon, and what jobs show of themselves decides.
 *
 * A server runs jobs of one size where it can (gandiva_servers.h).  If it has more
 * of them than devices, they take turns of a slice, whole gangs at a time.  What
 * could be better is tried and measured: two jobs on the same devices if that
 * makes more than turns, jobs on servers with room, growable jobs on devices
 * that idle (gandiva_trials.h).
 *
 * mode=random-pairs is the packing alone as the simulator of Gavel models it
 * (policy/hetero/gandiva_pairs.c), and what compat means.
 */
#include "policy/fair/gandiva_trials.h"
#include "policy/hetero/gandiva_pairs.h"

enum mode { MODE_SERVERS, MODE_PAIRS };
static const char *const mode_names[] = { "servers", "random-pairs", NULL };

struct gandiva {
	union {
		struct gandiva_pairs pairs;
		struct share_turns turns; /* its options */
	};
	int mode;
	double slice_s, stay;
	struct trial_rules rules;

	VEC(uint32_t) affinity; /* by node */
	uint64_t turns_given;
	double looked_s; /* when something was last tried */
	struct trial_counts counts;
};

#define RULE(field_, kind_, ...) \
	{ \
		.name = #field_, .kind = kind_, .offset = offsetof(struct gandiva, rules.field_), \
		__VA_ARGS__ \
	}

static const struct option options[] = {
	OPT_CHOICE(struct gandiva, mode, MODE_SERVERS, mode_names,
		"the system server by server, or its packing alone as Gavel models it"),
	OPT_DOUBLE(struct gandiva, slice_s, 60, 1, 1e6,
		"jobs of a crowded server change places at multiples of this"),
	OPT_DOUBLE(struct gandiva, stay, 4, 0, 1000,
		"a job is not stopped before it ran this many times its resume cost"),
	RULE(window_s, OPTION_DOUBLE, .preset = 300, .min = 1, .max = 1e6,
		.help = "how long something is tried and measured before it is judged"),
	RULE(pack, OPTION_BOOL, .preset = 1, .max = 1,
		.help = "try two jobs on the same devices of crowded servers"),
	RULE(migrate, OPTION_BOOL, .preset = 1, .max = 1,
		.help = "move jobs to room elsewhere, and empty servers"),
	RULE(grow, OPTION_BOOL, .preset = 1, .max = 1,
		.help = "jobs that take more devices get idle ones of their server"),
	SHARE_TURNS_OPTIONS(struct gandiva),
	{ 0 },
};

struct session {
	struct gandiva *g;
	const struct round *round;
	struct plan *plan;
	struct slice_servers servers;
};

/* ---- who has the slice */

static bool slice_begins(const struct session *s)
{
	return turn_begins(s->round->now_s, s->g->slice_s);
}

static double next_slice_s(const struct session *s)
{
	return turn_next_s(s->round->now_s, s->g->slice_s);
}

/* As turn_was_worth_it(), but grants are renewed whenever company changes: held_s does not tell since when it runs. */
static bool settled(const struct session *s, const struct job *job)
{
	const struct slice_memory *m = slice_memory_of(&s->servers, job->id);
	double cost_s = job->attempts > 1 ? job->resume_cost_s : job->start_cost_s;

	return s->round->now_s >= job->ready_s &&
		s->round->now_s - m->began_s >= cost_s + s->g->stay * job->resume_cost_s;
}

/* Between slices who runs goes on; when one begins, those who have only just begun do. */
static bool goes_on(const struct session *s, const struct job *job, uint32_t node)
{
	return job_is_at(job, node) && (!slice_begins(s) || !settled(s, job));
}

/* Whether it can be stopped again when the next slice begins. */
static bool settles_soon(const struct session *s, const struct job *job, uint32_t node)
{
	double cost_s = job->attempts > 0 ? job->resume_cost_s : job->start_cost_s;

	return job_is_at(job, node) ||
		s->round->now_s + cost_s + s->g->stay * job->resume_cost_s <= next_slice_s(s);
}

/*
 * Walks the server's queue and marks who runs: `chosen` is by place in its list.  While those who go on keep a gang from its
 * turn nobody behind it begins who would do so in the next slice, too: else there would never be room for it.
 */
static void choose(const struct session *s, uint32_t node, bool *chosen)
{
	const struct slice_server *server = &s->servers.at[node];
	uint32_t left = server->devices, begin = 0;
	bool kept = false;

	for (int going_on = 1; going_on >= 0; going_on--) {
		for (uint32_t i = 0; i < server->n; i++) {
			const struct job *job = &s->round->jobs[s->servers.jobs[server->first + i]];
			uint32_t gpus = slice_gpus(&s->servers, job, node);

			if (slice_memory_of(&s->servers, job->id)->beside ||
				goes_on(s, job, node) != going_on)
				continue;
			if (gpus > left) {
				kept |= !going_on && gpus <= server->devices - begin;
				continue;
			}
			if (kept && !settles_soon(s, job, node))
				continue;
			left -= gpus;
			begin += going_on ? 0 : gpus;
			chosen[i] = true;
		}
	}
}

/* Those who had the last slice go to the end of their queues, in the order they had. */
static void requeue(struct session *s)
{
	for (uint32_t node = 0; slice_begins(s) && node < s->round->cluster->nnodes; node++) {
		const struct slice_server *server = &s->servers.at[node];

		for (uint32_t i = 0; i < server->n; i++) {
			const struct job *job = &s->round->jobs[s->servers.jobs[server->first + i]];

			if (job->grant)
				slice_to_the_end(&s->servers, job);
		}
	}
	slice_servers_list(&s->servers);
}

/* ---- carrying it out */

/* Guests come back to their hosts; those who were parted find devices of their own. */
static void stop_others(const struct session *s, uint32_t node, const bool *chosen)
{
	const struct slice_server *server = &s->servers.at[node];

	for (uint32_t i = 0; i < server->n; i++) {
		const struct job *job = &s->round->jobs[s->servers.jobs[server->first + i]];
		const struct slice_memory *m = slice_memory_of(&s->servers, job->id);

		if (!chosen[i] || !job_is_at(job, node) || m->beside || (job->company > 0 && !m->guest))
			plan_stop(s->plan, job);
	}
}

static void wait_for_slice(const struct session *s, const struct job *job)
{
	plan_why(s->plan, job->id,
		(struct reason){ .why = WHY_ROUND, .other = JOB_NONE, .at_s = next_slice_s(s) });
}

/* It has devices from now on, or goes on. */
static void begin(const struct session *s, uint32_t node, const struct job *job)
{
	if (!job_is_at(job, node))
		slice_memory_of(&s->servers, job->id)->began_s = s->round->now_s;
}

static void run_host(const struct session *s, uint32_t node, const struct job *job)
{
	uint32_t gpus = slice_gpus(&s->servers, job, node) +
		slice_memory_of(&s->servers, job->id)->grown;

	if (plan_run_at(s->plan, job, &(struct node_share){ node, gpus }, 1, (struct want){ 0 }) ||
		plan_grant(s->plan, job->id))
		begin(s, node, job);
	else if (job->grant)
		wait_for_slice(s, job);
	else
		kit_no_room(s->round, s->plan, job);
}

/*
 * Of a server's jobs that run, the first in its queue: if it is before the one that waits, that is the proof.  Else it is
 * that one's turn, as soon as its gang fits or those who run do not only go on.
 */
static void say_turn(const struct session *s, const struct slice_server *server, const struct job *job)
{
	const struct slice_memory *m = slice_memory_of(&s->servers, job->id);

	for (uint32_t i = 0; i < server->n; i++) {
		uint32_t other = s->servers.jobs[server->first + i];
		const struct slice_memory *o = slice_memory_of(&s->servers, other);

		if (!plan_grant(s->plan, other) || o->beside || o->turn > m->turn)
			continue;
		plan_why(s->plan, job->id,
			(struct reason){ .why = WHY_TURN,
				.other = other,
				.share = s->round->now_s - m->queued_s,
				.against = s->round->now_s - o->queued_s });
		return;
	}
	wait_for_slice(s, job);
}

static void run_guest(const struct session *s, const struct job *job)
{
	const struct slice_memory *m = slice_memory_of(&s->servers, job->id);
	const struct job *host = &s->round->jobs[m->beside - 1];

	plan_stop(s->plan, job);
	if (plan_grant(s->plan, host->id) &&
		plan_run_beside(s->plan, job, host, (struct want){ .type = TYPE_ANY }))
		begin(s, m->home - 1, job);
	else
		wait_for_slice(s, job);
}

static void run_server(const struct session *s, uint32_t node, const bool *chosen)
{
	const struct slice_server *server = &s->servers.at[node];

	for (int stays = 1; stays >= 0; stays--) {
		for (uint32_t i = 0; i < server->n; i++) {
			const struct job *job = &s->round->jobs[s->servers.jobs[server->first + i]];

			if (chosen[i] && job_is_at(job, node) == stays)
				run_host(s, node, job);
		}
	}
	for (uint32_t i = 0; i < server->n; i++) {
		const struct job *job = &s->round->jobs[s->servers.jobs[server->first + i]];

		if (slice_memory_of(&s->servers, job->id)->beside)
			run_guest(s, job);
		else if (!chosen[i])
			say_turn(s, server, job);
	}
}

/* Whoever cannot have a home takes what is free. */
static void run_homeless(const struct session *s)
{
	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];

		if (job_active(job) && !slice_memory_of(&s->servers, job->id)->home &&
			!plan_grant(s->plan, job->id) && !kit_run(s->round, s->plan, job))
			kit_no_room(s->round, s->plan, job);
	}
}

static void run_all(const struct session *s)
{
	uint32_t nnodes = s->round->cluster->nnodes;
	bool *chosen = arena_array(s->round->scratch, bool, s->round->nactive + 1);

	for (uint32_t node = 0; node < nnodes; node++) {
		if (s->servers.at[node].n > 0)
			choose(s, node, &chosen[s->servers.at[node].first]);
	}
	for (uint32_t node = 0; node < nnodes; node++) {
		if (s->servers.at[node].n > 0)
			stop_others(s, node, &chosen[s->servers.at[node].first]);
	}
	for (uint32_t node = 0; node < nnodes; node++) {
		if (s->servers.at[node].n > 0)
			run_server(s, node, &chosen[s->servers.at[node].first]);
	}
	run_homeless(s);
}

/* ---- */

static bool anybody_left(const struct round *round)
{
	for (uint32_t i = 0; i < round->nchanged; i++) {
		if (job_ended(&round->jobs[round->changed[i]]))
			return true;
	}
	return round->capacity_changed;
}

/* Says whether somebody could grow soon. */
static bool introspect(struct session *s)
{
	struct gandiva *g = s->g;

	trials_judge(&s->servers, &g->rules, &g->counts);
	trials_spread(&s->servers);
	if (anybody_left(s->round))
		trials_migrate(&s->servers, &g->rules, &g->counts);
	if (slice_begins(s) && s->round->now_s >= g->looked_s + g->rules.window_s) {
		trials_pack(&s->servers, &g->rules, &g->counts);
		g->looked_s = s->round->now_s;
	}
	return trials_grow(&s->servers, &g->rules, &g->counts);
}

static int gandiva_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct gandiva *g = self;
	struct session s = { .g = g, .round = round, .plan = plan };
	double trial_s;
	bool may_grow;

	if (g->mode == MODE_PAIRS)
		return gandiva_pairs_decide(&g->pairs, round, plan, err);
	vec_grow_zero(&g->affinity, round->cluster->nnodes);
	s.servers = (struct slice_servers){ .round = round,
		.plan = plan,
		.patience_s = g->slice_s,
		.turns = &g->turns_given,
		.affinity = g->affinity.at };
	slice_servers_gather(&s.servers);
	slice_servers_admit(&s.servers);
	may_grow = introspect(&s);
	requeue(&s);
	run_all(&s);
	if (may_grow || kit_anybody_waits(round, plan))
		plan_wake(plan, next_slice_s(&s));
	/* what is overdue has not had the slice to be measured in */
	trial_s = trials_end_s(&s.servers, &g->rules);
	plan_wake(plan, trial_s > round->now_s ? trial_s : next_slice_s(&s));
	return 0;
}

static int gandiva_init(void *self, struct err *err)
{
	struct gandiva *g = self;

	(void)err;
	g->pairs.turns.pack = true;
	if (g->pairs.turns.compat != TURNS_OWN || g->pairs.turns.replay[0])
		g->mode = MODE_PAIRS;
	return 0;
}

static void gandiva_fini(void *self)
{
	struct gandiva *g = self;

	gandiva_pairs_fini(&g->pairs);
	vec_fini(&g->affinity);
}

/* ---- memory for trials */

static uint32_t renumber(uint32_t one_more, const struct renumbering *r)
{
	uint32_t job = one_more ? r->number(r->ctx, one_more - 1) : JOB_NONE;

	return job == JOB_NONE ? 0 : 1 + job;
}

static void gandiva_carry(void *memory, const struct renumbering *renumbering)
{
	struct slice_memory *m = memory;

	m->beside = renumber(m->beside, renumbering);
	m->guest = renumber(m->guest, renumbering);
}

/* Homes and turns are kept job by job; here is where their count stands, then sizes by server. */
struct kept {
	uint64_t turns_given;
	double looked_s;
};

static size_t gandiva_remember(const void *self, const struct job *jobs, uint32_t njobs,
	const void *memory, void **out)
{
	const struct gandiva *g = self;
	size_t sizes = g->affinity.n * sizeof(*g->affinity.at);
	struct kept *kept;

	(void)jobs;
	(void)njobs;
	(void)memory;
	if (g->mode == MODE_PAIRS)
		return 0;
	kept = mem_alloc(sizeof(*kept) + sizes);
	*kept = (struct kept){ g->turns_given, g->looked_s };
	if (sizes)
		memcpy(kept + 1, g->affinity.at, sizes);
	*out = kept;
	return sizeof(*kept) + sizes;
}

static void gandiva_resume(void *self, const void *bytes, size_t n)
{
	struct gandiva *g = self;
	const struct kept *kept = bytes;
	size_t sizes = n - sizeof(*kept);

	g->turns_given = kept->turns_given;
	g->looked_s = kept->looked_s;
	vec_grow_zero(&g->affinity, sizes / sizeof(*g->affinity.at));
	if (sizes)
		memcpy(g->affinity.at, kept + 1, sizes);
}

/* ---- */

static int gandiva_show(void *self, const struct round *round, const struct plan *plan,
	struct program *program, struct shares *shares, struct err *err)
{
	const struct gandiva *g = self;

	if (g->mode != MODE_PAIRS)
		return err_set(err, ERR_USAGE, "gandiva works by shares with mode=random-pairs only");
	return gandiva_pairs_show(&g->pairs, round, plan, program, shares, err);
}

static uint32_t gandiva_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct gandiva *g = self;

	if (g->mode == MODE_PAIRS)
		return share_turns_figures(&g->pairs.turns, out);
	out[0] = (struct figure){ "packed", g->counts.packed };
	out[1] = (struct figure){ "unpacked", g->counts.unpacked };
	out[2] = (struct figure){ "moved", g->counts.moved };
	out[3] = (struct figure){ "moved_back", g->counts.moved_back };
	out[4] = (struct figure){ "grown", g->counts.grown };
	out[5] = (struct figure){ "shrunk", g->counts.shrunk };
	return 6;
}

static enum compat gandiva_compat(const void *self)
{
	return share_turns_compat(&((const struct gandiva *)self)->pairs.turns);
}

static unsigned gandiva_uses_now(const void *self)
{
	const struct gandiva *g = self;

	return g->rules.grow && g->mode == MODE_SERVERS ? USES_RANGE : 0;
}

const struct policy policy_gandiva = {
	.name = "gandiva",
	.summary = "turns by server; packing, moving and growing are tried, measured and undone if they do not pay",
	.origin = "Xiao et al., OSDI 2018; its packing as modelled by Gavel, OSDI 2020",
	.family = "fair",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES | POLICY_RANDOM | POLICY_SHARES,
	.uses = USES_RANGE,
	.options = options,
	.state_size = sizeof(struct gandiva),
	.job_state_size = sizeof(struct slice_memory),
	.compat = gandiva_compat,
	.init = gandiva_init,
	.fini = gandiva_fini,
	.uses_now = gandiva_uses_now,
	.decide = gandiva_decide,
	.figures = gandiva_figures,
	.shares = gandiva_show,
	.remember = gandiva_remember,
	.resume = gandiva_resume,
	.carry = gandiva_carry,
};
