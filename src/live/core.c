/*
 * The core: its life, its turn, and its notes.
 */
#include "live/core.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/hosting_io.h"
#include "live/core_state.h"

enum { NOTES_KEPT = 20000 };                /* room for so many is kept */
enum { COPIED_JOBS = 2 * CORE_FIRST_JOBS }; /* that copies have, as a rule */

static const char *const note_names[NOTE_KINDS] = {
	[NOTE_START] = "start",
	[NOTE_LAUNCH] = "launch",
	[NOTE_STOP] = "stop",
	[NOTE_RESIZE] = "resize",
	[NOTE_RENEW] = "renew",
	[NOTE_STATE] = "state",
	[NOTE_OVER] = "over",
	[NOTE_END] = "end",
	[NOTE_DRAINED] = "drained",
	[NOTE_RESUMED] = "resumed",
	[NOTE_HEALTH] = "health",
};

const char *note_name(enum note_kind kind)
{
	return note_names[kind];
}

int note_kind_of(const char *name)
{
	for (int i = 0; i < NOTE_KINDS; i++) {
		if (!strcmp(name, note_names[i]))
			return i;
	}
	return -1;
}

/* ---- life */

static char *copy_or(const char *text, const char *preset)
{
	return mem_strdup(text ? text : preset);
}

static void copy_config(struct core *c, const struct core_config *config)
{
	c->cluster = config->cluster;
	c->policy = copy_or(config->rules.policy, PRESET_POLICY);
	c->placer = copy_or(config->rules.placer, PRESET_PLACER);
	c->admit = copy_or(config->rules.admit, PRESET_ADMIT);
	c->rules = (struct rule_specs){ c->policy, c->placer, c->admit };
	if (config->tenants && config->tenants->n)
		tenants_copy(config->tenants, &c->tenants);
	c->care = config->care;
	if (config->health)
		health_copy(config->health, &c->health);
	c->speeds = profile_create(c->cluster, &c->model_names);
	c->belief = (struct rates){ .cluster = c->cluster, .profile = c->speeds, .cautious = true };
	c->watch = core_observer(c);
	c->copies = snapshot_store_create();
	c->engine_config = (struct engine_config){
		.cluster = c->cluster,
		.belief = &c->belief,
		.observers = &c->watch,
		.nobservers = 1,
		.seed = config->seed,
		.eager = true,
		.takes_all = true, /* who submitted it was told that it is taken */
	};
}

static int read_hosts(struct core *c, const struct core_config *config, struct err *err)
{
	const char *file = config->hosts_file ? config->hosts_file : "host profiles";

	if (!config->hosts)
		return 0;
	c->hosting = hosting_create();
	if (hosting_read_text(file, slice_of(config->hosts), c->cluster, &c->model_names,
		    c->hosting, c->speeds, NULL, err) < 0)
		return err->code;
	profile_learn_names(c->speeds);
	profile_set_hosting(c->speeds, c->hosting);
	return 0;
}

/* Rules that do not suit are nearly always those of what a file of tenants asks for. */
static int check_rules(struct core *c, const char *tenants_file, struct err *err)
{
	if (rules_suit(&c->engine_config, &c->tenants, err) == 0)
		return 0;
	return tenants_file ? err_prefix(err, "%s", tenants_file) : err->code;
}

int core_open(const struct core_config *config, double now_s, struct core **out, struct err *err)
{
	struct core *c = mem_alloc(sizeof(*c));
	const struct chosen_policy *policy = &c->engine_config.policy;

	c->now_s = now_s;
	c->next_gate_s = INFINITY;
	c->start_cost_s = NAN;
	copy_config(c, config);
	if (read_hosts(c, config, err) < 0 || rules_choose(&c->rules, &c->engine_config, err) < 0 ||
		rules_live(&c->engine_config, err) < 0 ||
		check_rules(c, config->tenants_file, err) < 0) {
		core_close(c);
		return err->code;
	}
	c->agents = agents_create(c->cluster->ntypes,
		(struct agents_options){
			.merged = policy->rule->typeless && policy->rule->typeless(policy->state),
			.proportional = true,
		});
	c->belief.agents = c->agents;
	*out = c;
	return 0;
}

static void free_old_names(struct core *c)
{
	for (size_t i = 0; i < c->old_names.n; i++)
		free(c->old_names.at[i]);
	c->old_names.n = 0;
}

void core_close(struct core *c)
{
	if (!c)
		return;
	engine_destroy(c->engine);
	rules_release(&c->engine_config);
	for (size_t i = 0; i < c->jobs.n; i++)
		live_job_destroy(c->jobs.at[i]);
	for (size_t i = 0; i < c->attempts.n; i++)
		attempt_destroy(c->attempts.at[i]);
	vec_fini(&c->jobs);
	vec_fini(&c->attempts);
	vec_fini(&c->of_engine);
	vec_fini(&c->outside);
	vec_fini(&c->queue);
	free_old_names(c);
	vec_fini(&c->old_names);
	vec_fini(&c->later);
	arena_fini(&c->later_words);
	vec_fini(&c->notes);
	arena_fini(&c->words);
	profile_destroy(c->speeds);
	hosting_destroy(c->hosting);
	agents_destroy(c->agents);
	names_fini(&c->tenant_names);
	names_fini(&c->model_names);
	tenants_fini(&c->tenants);
	tenants_fini(&c->bound);
	snapshot_store_release(c->copies);
	health_fini(&c->health);
	free(c->policy);
	free(c->placer);
	free(c->admit);
	free(c);
}

/* ---- jobs by number */

size_t core_index(const struct core *c, uint32_t id)
{
	size_t low = 0, high = c->jobs.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->jobs.at[mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct live_job *core_find(const struct core *c, uint32_t id)
{
	size_t i = core_index(c, id);

	return i < c->jobs.n && c->jobs.at[i]->id == id ? c->jobs.at[i] : NULL;
}

/* One that was here before (a job run again) finds its place. */
void core_list(struct core *c, struct live_job *job)
{
	size_t i = core_index(c, job->id);

	vec_push(&c->jobs, job);
	snapshot_store_expect(c->copies, c->jobs.n < COPIED_JOBS ? c->jobs.n : COPIED_JOBS);
	memmove(&c->jobs.at[i + 1], &c->jobs.at[i], (c->jobs.n - 1 - i) * sizeof(c->jobs.at[0]));
	c->jobs.at[i] = job;
}

/* ---- taking over */

/*
 * The engine is made with the first turn, when all tenants of the epoch are known: those of the table
 * are bound to the names that jobs use.
 */
int core_adopt_job(struct core *c, const json_t *status, struct err *err)
{
	struct live_job *job;

	if (live_job_from_status(status, &job, err) < 0)
		return err->code;
	if (job->tenant)
		names_add(&c->tenant_names, job->tenant, strlen(job->tenant));
	core_list(c, job);
	return 0;
}

int core_adopt_attempt(struct core *c, const json_t *status, struct err *err)
{
	struct attempt *a;

	if (attempt_from_status(status, c->cluster, &a, err) < 0)
		return err->code;
	vec_push(&c->attempts, a);
	return 0;
}

/*
 * The attempt whose devices the engine shall know as the job's.  One that was asked to stop may have lost
 * them to another, which waits for them.
 */
static const struct attempt *holder(const struct core *c, const struct live_job *job)
{
	const struct attempt *a = core_alive(c, job->id);

	return a && a->stop == STOP_NONE ? a : NULL;
}

/*
 * Whether one that was taken over before is on its devices too, and the new policy does not put two there
 * as the last one did.
 */
static bool crowded(const struct core *c, const struct live_job *job, const struct attempt *a)
{
	if (c->engine_config.policy.rule->traits & POLICY_SHARES)
		return false;
	for (size_t i = 0; i < c->of_engine.n; i++) {
		const struct live_job *other = c->of_engine.at[i];

		if (job_is_fraction(&job->base) && job_is_fraction(&other->base))
			continue;
		if (core_overlap(attempt_claim(a), attempt_claim(holder(c, other))))
			return true;
	}
	return false;
}

static void take_over(struct core *c, struct live_job *job)
{
	const struct attempt *a = holder(c, job);

	if (a && crowded(c, job, a)) {
		core_stop_attempts(c, job, STOP_PREEMPT);
		a = NULL;
	}
	if (!a) {
		core_wait_outside(c, job);
		return;
	}
	core_bind(c, job);
	if (isnan(job->base.counted_s))
		job->base.counted_s = c->now_s;
	job->engine_id = engine_adopt(c->engine, &job->base, attempt_claim(a));
	vec_push(&c->of_engine, job);
	core_teach(c, job);
}

static void begin_epoch(struct core *c)
{
	struct err err = { 0 };

	if (c->tenants.n) {
		for (uint32_t i = 0; i < c->tenants.n; i++)
			names_add(&c->tenant_names, c->tenants.at[i].name,
				strlen(c->tenants.at[i].name));
		tenants_bind(&c->tenants, &c->tenant_names, &c->bound);
		c->engine_config.tenants = &c->bound;
	}
	c->engine = engine_create(&c->engine_config, &core_driver, c, c->now_s, &err);
	assert(c->engine); /* core_open() asked whether the rules suit */
	core_tell_drained(c);
	for (size_t i = 0; i < c->jobs.n; i++)
		take_over(c, c->jobs.at[i]);
	for (size_t i = 0; i < c->jobs.n; i++)
		core_restate(c, c->jobs.at[i]);
	c->gates_moved = true;
}

bool core_knows_tenant(const struct core *c, const char *tenant)
{
	return !c->tenants.n || names_find(&c->tenant_names, tenant, strlen(tenant)) != NAME_NONE;
}

struct engine *core_engine(struct core *c)
{
	if (!c->engine)
		begin_epoch(c);
	return c->engine;
}

/* ---- turns */

static int step(struct core *c, double at_s, struct err *err)
{
	c->now_s = at_s;
	c->due = false;
	core_open_gates(c);
	if (engine_turn(c->engine, at_s, err) < 0)
		return err->code;
	c->queue.n = c->queue_at = 0;
	core_launch_ready(c);
	return 0;
}

/*
 * From one moment at which something is due to the next, so that what happens, and when, does not depend
 * on how late the caller is.
 */
int core_turn(struct core *c, double now_s, struct err *err)
{
	core_engine(c);
	do {
		if (step(c, fmax(c->now_s, fmin(now_s, core_wake_s(c))), err) < 0)
			return err->code;
	} while (c->now_s < now_s || core_wake_s(c) <= c->now_s);
	return 0;
}

double core_wake_s(const struct core *c)
{
	if (!c->engine || c->due || c->gates_moved || c->queue_at < c->queue.n)
		return c->now_s;
	return fmin(c->next_gate_s, engine_next_s(c->engine));
}

void core_tell(struct core *c, struct event event, const struct job *spec)
{
	struct told told = { .event = event };

	told.event.at_s = c->now_s;
	if (spec)
		told.spec = *spec;
	vec_push(&c->queue, told);
}

void core_tell_progress(struct core *c, struct live_job *job, double done)
{
	struct job spec = *core_engine_job(c, job);
	bool other_unit = spec.by_steps != job->base.by_steps;

	if (job->engine_id == JOB_NONE) {
		job->base.done = done;
		return;
	}
	if (!isnan(job->progress.per_s))
		spec.rate = job->progress.per_s;
	else if (other_unit)
		spec.rate = job->base.nominal_rate;
	spec.done = done;
	job_take_belief(&spec, &job->base);
	core_tell(c,
		(struct event){
			.kind = EV_PROGRESS,
			.job = job->engine_id,
			.learnt = job->learnt,
		},
		&spec);
	job->learnt = false;
}

/* Totals as the engine has them; the rest as the core knows it better. */
static struct job merged(const struct core *c, const struct live_job *job)
{
	struct job now = *core_engine_job(c, job);

	now.grant = NULL;
	job_take_belief(&now, &job->base);
	return now;
}

/* As the engine would settle them, without it. */
static void bring_totals(const struct job *last, double now_s, struct job *to)
{
	to->done = job_done(last, now_s);
	to->ran_s = job_ran_s(last, now_s);
	if (last->state == JOB_RUNNING)
		to->overhead_s += now_s - last->counted_s - (to->ran_s - last->ran_s);
	to->served_s = job_served_s(last, now_s);
	to->occupied_s = job_occupied_s(last, now_s);
	to->eff_s = last->eff_s + (to->served_s - last->served_s) * last->efficiency;
	if (last->nominal_rate > 0)
		to->worth_s = last->worth_s +
			(to->done - last->done) / last->nominal_rate * job_width(last);
}

void core_leave_engine(struct core *c, struct live_job *job)
{
	struct job last = *core_engine_job(c, job);

	if (job->engine_id == JOB_NONE)
		return;
	job->base = merged(c, job);
	bring_totals(&last, c->now_s, &job->base);
	job->base.waited_s = job_waited_s(&last, c->now_s);
	job->base.wait_since_s = c->now_s;
	job->base.state = JOB_FUTURE;
	c->of_engine.at[job->engine_id] = NULL;
	agents_forget(c->agents, job->engine_id);
	job->engine_id = JOB_NONE;
}

void core_withdraw(struct core *c, struct live_job *job)
{
	if (job->engine_id == JOB_NONE)
		return;
	core_tell(c, (struct event){ .kind = EV_WITHDRAW, .job = job->engine_id }, NULL);
	core_leave_engine(c, job);
}

static enum live_state state_of(const struct core *c, const struct live_job *job)
{
	const struct attempt *a = core_alive(c, job->id);

	if (!a)
		return LIVE_PENDING;
	if (a->stop)
		return LIVE_COMPLETING;
	return a->phase == PHASE_RUNNING ? LIVE_RUNNING : LIVE_CONFIGURING;
}

void core_restate(struct core *c, struct live_job *job)
{
	if (!live_ended(job))
		job->state = state_of(c, job);
}

void core_end(struct core *c, struct live_job *job, enum live_state state, const char *text)
{
	if (job->engine_id != JOB_NONE) {
		struct event event = {
			.kind = state == LIVE_COMPLETED ? EV_FINISH : EV_WITHDRAW,
			.job = job->engine_id,
			.value = job->base.work_est,
		};

		core_tell(c, event, NULL);
		core_leave_engine(c, job);
	}
	for (size_t i = 0; i < c->attempts.n; i++) {
		struct attempt *a = c->attempts.at[i];

		if (a->job == job->id && a->phase == PHASE_WAITING)
			core_retire(c, a, "its job ended before");
	}
	job->state = state;
	job->end_s = c->now_s;
	free(job->end_text);
	job->end_text = text ? mem_strdup(text) : NULL;
	c->gates_moved = true;
	core_note(c, NOTE_END, job->id, 0, NULL);
}

/* ---- notes */

void core_note(struct core *c, enum note_kind kind, uint32_t job, uint32_t attempt, const char *body)
{
	struct core_note note = {
		.kind = kind,
		.job = job,
		.attempt = attempt,
		.at_s = c->now_s,
		.body = body ? arena_strdup(&c->words, body) : "{}",
	};

	vec_push(&c->notes, note);
}

const struct core_note *core_notes(const struct core *c, size_t *n)
{
	*n = c->notes.n;
	return c->notes.at;
}

bool core_job_status(const struct core *core, uint32_t id, struct buf *out)
{
	const struct live_job *job = core_find(core, id);
	struct live_job view;

	if (!job)
		return false;
	view = *job;
	view.base = merged(core, job);
	live_job_status(&view, out);
	return true;
}

bool core_attempt_status(const struct core *c, uint32_t job, uint32_t number, struct buf *out)
{
	const struct attempt *a = core_find_attempt(c, job, number);

	if (!a)
		return false;
	attempt_status(a, c->cluster, out);
	return true;
}

static void forget_ended_jobs(struct core *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->jobs.n; i++) {
		struct live_job *job = c->jobs.at[i];

		if (live_ended(job) && !core_alive(c, job->id) && !job->outside)
			live_job_destroy(job);
		else
			c->jobs.at[kept++] = job;
	}
	c->jobs.n = kept;
}

static void forget_over_attempts(struct core *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->attempts.n; i++) {
		if (c->attempts.at[i]->phase == PHASE_OVER)
			attempt_destroy(c->attempts.at[i]);
		else
			c->attempts.at[kept++] = c->attempts.at[i];
	}
	c->attempts.n = kept;
}

void core_forget_notes(struct core *c)
{
	bool ended = false;

	for (size_t i = 0; i < c->notes.n; i++)
		ended |= c->notes.at[i].kind == NOTE_END || c->notes.at[i].kind == NOTE_OVER;
	c->notes.n = 0;
	if (c->notes.cap > NOTES_KEPT) {
		vec_fini(&c->notes);
		arena_fini(&c->words);
	}
	arena_reset(&c->words);
	if (!c->gates_moved)
		free_old_names(c);
	/* Gates look at jobs that ended: only when they have looked are these forgotten. */
	c->stale |= ended;
	if (!c->stale || c->gates_moved)
		return;
	c->stale = false;
	forget_over_attempts(c);
	forget_ended_jobs(c);
}

void core_note_all(struct core *c)
{
	for (size_t i = 0; i < c->jobs.n; i++) {
		if (!live_ended(c->jobs.at[i]))
			core_note(c, NOTE_STATE, c->jobs.at[i]->id, 0, CORE_NOTE_ALL);
	}
}
