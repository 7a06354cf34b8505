/*
 * Explanations: every change that is suggested starts the job, no smaller one
 * does, and the causes are the binding constraints: checked by decisions that
 * this file makes for itself.
 */
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "engine/rules.h"
#include "sim/explain.h"
#include "support/property.h"
#include "support/scene.h"

#define ENDLESS 1e18

/* ---- random states */

struct state {
	struct cluster cluster;
	struct snapshot snapshot;
	uint32_t job;      /* that is asked about */
	uint64_t used[16]; /* by node */
};

/* Some free devices of a node, and the node; 0: none. */
static uint64_t take_devices(struct state *s, struct rng *rng, uint32_t *node, uint32_t want)
{
	uint64_t got = 0;
	uint32_t n = 0;

	*node = pick(rng, s->cluster.nnodes) - 1;
	for (uint32_t i = 0; i < s->cluster.nodes[*node].devices && n < want; i++) {
		if (s->used[*node] >> i & 1)
			continue;
		got |= UINT64_C(1) << i;
		n++;
	}
	s->used[*node] |= got;
	return got;
}

static struct job draw_job(struct rng *rng)
{
	struct job job;

	job_init(&job);
	job.gpus = job.min_gpus = job.max_gpus = 1 << (pick(rng, 3) - 1);
	job.work_est = pick(rng, 5000) + 5;
	job.nominal_rate = 1;
	job.tenant = pick(rng, 3) - 1;
	job.priority = (int32_t)pick(rng, 4) - 1;
	job.arrival_s = pick(rng, 900);
	job.types = pick(rng, 3) == 1 ? pick(rng, 2) : 0;
	return job;
}

static void add_running(struct state *s, struct rng *rng)
{
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(grant->slots[0]));
	struct job job = draw_job(rng);
	uint32_t node;
	uint64_t devices = take_devices(s, rng, &node, (uint32_t)job.gpus);

	if (devices) {
		job.gpus = __builtin_popcountll(devices);
		job.min_gpus = job.max_gpus = job.gpus;
		job.types = 0;
		grant->gpus = (uint32_t)job.gpus;
		grant->type = s->cluster.nodes[node].type;
		grant->nslots = 1;
		grant->share = 1;
		grant->slots[0] = (struct slot){ node, devices };
		job.rate = 1;
		job.start_s = job.held_s = job.ready_s = job.counted_s = 900 + pick(rng, 100);
		job.attempts = 1;
		snapshot_add(&s->snapshot, &job, grant, (uint32_t)s->snapshot.jobs.n + 1);
	}
	free(grant);
}

static void add_waiting(struct state *s, struct rng *rng, double arrival_s)
{
	struct job job = draw_job(rng);
	struct snapshot_job *one;
	uint32_t luck = pick(rng, 12), before = (uint32_t)s->snapshot.jobs.n;

	job.arrival_s = job.wait_since_s = arrival_s;
	one = snapshot_add(&s->snapshot, &job, NULL, before + 1);
	if (luck == 1)
		one->opens_s = INFINITY;
	else if (luck == 2)
		one->opens_s = 1000000;
	else if (luck == 3 && before) {
		uint32_t *after = arena_array(&s->snapshot.memory, uint32_t, 1);

		after[0] = pick(rng, before) - 1;
		one->after = after;
		one->nafter = 1;
	}
}

/* Devices that are drained, held or not, and some that the job avoids. */
static void draw_care(struct state *s, struct rng *rng)
{
	uint32_t node = pick(rng, s->cluster.nnodes) - 1;
	struct slot *avoid = arena_array(&s->snapshot.memory, struct slot, 1);

	if (pick(rng, 3) == 1)
		snapshot_drain(&s->snapshot, node, pick(rng, 3), pick(rng, 2) == 1 ? "dust" : NULL);
	if (pick(rng, 4) > 1)
		return;
	*avoid = (struct slot){ pick(rng, s->cluster.nnodes) - 1, pick(rng, 3) };
	s->snapshot.jobs.at[s->job].job.avoid = avoid;
	s->snapshot.jobs.at[s->job].job.navoid = 1;
}

static void draw_state(struct state *s, struct rng *rng, const char *policy)
{
	static const char *const clusters[] = { "2x4:v100", "3x2:v100,1x4:k80", "1x8:v100,2x2:k80" };
	static const char *const tenants[] = { "ann", "bob", "cyd" };
	uint32_t nrunning = pick(rng, 6), nwaiting = pick(rng, 7);
	struct names names = { 0 }, none = { 0 };
	struct err err = { 0 };

	*s = (struct state){ 0 };
	if (cluster_parse(clusters[pick(rng, COUNT(clusters)) - 1], &s->cluster, &err) < 0)
		fail_msg("%s", err.text);
	snapshot_init(&s->snapshot, &s->cluster, 1000 + pick(rng, 100));
	s->snapshot.policy = mem_strdup(policy);
	s->snapshot.agents = agents_create(s->cluster.ntypes, (struct agents_options){ 0 });
	s->snapshot.belief = (struct rates){ .cluster = &s->snapshot.cluster };
	for (size_t i = 0; i < COUNT(tenants); i++)
		names_add(&names, tenants[i], strlen(tenants[i]));
	snapshot_take_names(&s->snapshot, &names, &none);
	names_fini(&names);
	for (uint32_t i = 0; i < nrunning; i++)
		add_running(s, rng);
	for (uint32_t i = 0; i < nwaiting; i++)
		add_waiting(s, rng, 900 + 10 * i);
	s->job = s->snapshot.nrunning + pick(rng, nwaiting) - 1;
	if (pick(rng, 4) == 1) {
		uint32_t node = pick(rng, s->cluster.nnodes) - 1;
		uint64_t last = UINT64_C(1) << (s->cluster.nodes[node].devices - 1);

		if (!(s->used[node] & last))
			vec_push(&s->snapshot.down, ((struct snapshot_down){ node, last }));
	}
	draw_care(s, rng);
}

static void drop_state(struct state *s)
{
	snapshot_fini(&s->snapshot);
	cluster_fini(&s->cluster);
}

/* ---- decisions of our own */

static double decision_s(const struct snapshot *s)
{
	struct chosen_policy policy = scene_policy(s->policy);
	double period_s = policy.rule->period_s ? policy.rule->period_s(policy.state) : 0;

	scene_policy_fini(&policy);
	return period_s > 0 ? ceil(s->now_s / period_s - 1e-9) * period_s : s->now_s;
}

/* A snapshot with some of it changed, and what is left of everybody's work. */
struct other_world {
	struct snapshot s;
	double *work;
	struct names names;
};

static void copy_world(const struct snapshot *s, struct other_world *w)
{
	size_t n = s->jobs.n;

	*w = (struct other_world){ .s = *s };
	w->s.jobs.at = mem_alloc(mem_array_size(n, sizeof(*w->s.jobs.at)));
	memcpy(w->s.jobs.at, s->jobs.at, n * sizeof(*w->s.jobs.at));
	w->work = mem_alloc(mem_array_size(n, sizeof(*w->work)));
	for (size_t i = 0; i < n; i++)
		w->work[i] = ENDLESS;
}

static bool starts_in(struct other_world *w, uint32_t job)
{
	struct future_job *out = mem_alloc(mem_array_size(w->s.jobs.n, sizeof(*out)));
	double at_s = decision_s(&w->s);
	struct err err = { 0 };
	bool starts;

	if (future_run(&(struct future_config){ .from = &w->s, .work = w->work, .until_s = at_s },
		    out, &err) < 0)
		fail_msg("%s", err.text);
	starts = out[job].start_s <= at_s;
	free(out);
	free(w->s.jobs.at);
	free(w->work);
	names_fini(&w->names);
	return starts;
}

static void leave(struct other_world *w, uint32_t i)
{
	if (i < w->s.nrunning)
		w->work[i] = 0;
	else
		w->s.jobs.at[i].opens_s = INFINITY;
}

static bool starts_with_gpus(const struct state *s, int gpus)
{
	struct other_world w;
	struct job *job;

	copy_world(&s->snapshot, &w);
	job = &w.s.jobs.at[s->job].job;
	job->gpus = job->min_gpus = job->max_gpus = gpus;
	return starts_in(&w, s->job);
}

static bool starts_with_type(const struct state *s, uint32_t type)
{
	struct other_world w;

	copy_world(&s->snapshot, &w);
	w.s.jobs.at[s->job].job.types |= UINT32_C(1) << type;
	return starts_in(&w, s->job);
}

static bool starts_with_time(const struct state *s, double time_s)
{
	struct other_world w;

	copy_world(&s->snapshot, &w);
	w.s.jobs.at[s->job].job.work_est = time_s;
	return starts_in(&w, s->job);
}

static bool starts_with_priority(const struct state *s, int32_t priority)
{
	struct other_world w;

	copy_world(&s->snapshot, &w);
	w.s.jobs.at[s->job].job.priority = priority;
	return starts_in(&w, s->job);
}

static bool starts_after(const struct state *s, const uint32_t *jobs, uint32_t n)
{
	struct other_world w;

	copy_world(&s->snapshot, &w);
	for (uint32_t i = 0; i < n; i++)
		leave(&w, jobs[i]);
	return starts_in(&w, s->job);
}

/* ---- changes hold what they promise */

static void check_wait(const struct state *s, const struct change *c)
{
	const struct snapshot *from = &s->snapshot;

	assert_true(c->njobs > 0);
	assert_true(starts_after(s, c->jobs, c->njobs));
	if (c->njobs > 1) {
		assert_false(starts_after(s, c->jobs, c->njobs - 1));
		return;
	}
	for (uint32_t i = 0; i < from->nrunning; i++) {
		if (explain_left_s(from, i) < explain_left_s(from, c->jobs[0]))
			assert_false(starts_after(s, &i, 1));
	}
}

static void check_time(const struct state *s, double time_s)
{
	const double *next = explain_ladder_s;

	while (*next != time_s)
		next++;
	next++;
	assert_true(starts_with_time(s, time_s));
	if (*next > 0 && *next < s->snapshot.jobs.at[s->job].job.work_est)
		assert_false(starts_with_time(s, *next));
}

static void check_change(const struct state *s, const struct change *c)
{
	const struct job *job = &s->snapshot.jobs.at[s->job].job;
	uint32_t other = (uint32_t)c->value;

	switch (c->kind) {
	case CHANGE_GPUS:
		assert_true(c->value >= 1 && c->value < job->gpus);
		assert_true(starts_with_gpus(s, (int)c->value));
		for (int gpus = (int)c->value + 1; gpus < job->gpus; gpus++)
			assert_false(starts_with_gpus(s, gpus));
		break;
	case CHANGE_TYPES:
		assert_false(job_may_use(job, other));
		assert_true(starts_with_type(s, other));
		break;
	case CHANGE_TIME:
		check_time(s, c->value);
		break;
	case CHANGE_PRIORITY:
		assert_true(c->value > job->priority);
		assert_true(starts_with_priority(s, (int32_t)c->value));
		for (int32_t p = job->priority + 1; p < c->value; p++)
			assert_false(starts_with_priority(s, p));
		break;
	case CHANGE_WAIT:
		check_wait(s, c);
		break;
	case CHANGE_HOLD:
		assert_true(s->snapshot.jobs.at[other].job.tenant == job->tenant);
		assert_true(starts_after(s, &other, 1));
		break;
	case CHANGE_RELEASE:
		assert_true(isinf(s->snapshot.jobs.at[s->job].opens_s));
		break;
	default:
		fail();
	}
}

/* ---- causes are the binding constraints */

/* Lifts what the bits say, by our own hand. */
static bool starts_lifted(const struct state *s, uint32_t constraints)
{
	static const char *const others[] = { "ann", "bob", "cyd", "nobody else" };
	struct other_world w;
	struct snapshot_job *one;

	copy_world(&s->snapshot, &w);
	one = &w.s.jobs.at[s->job];
	if (constraints >> BY_HOLD & 1 || constraints >> BY_BEGIN & 1)
		one->opens_s = -INFINITY;
	if (constraints >> BY_DEPENDENCY & 1)
		one->nafter = 0;
	if (constraints >> BY_DOWN & 1)
		w.s.down.n = 0;
	if (constraints >> BY_DRAINED & 1)
		w.s.drained.n = 0;
	if (constraints >> BY_AVOID & 1)
		one->job.navoid = 0;
	if (constraints >> BY_TYPES & 1)
		one->job.types = 0;
	if (constraints >> BY_SIZE & 1)
		one->job.gpus = one->job.min_gpus = one->job.max_gpus = 1;
	if (constraints >> BY_LENGTH & 1)
		one->job.work_est = 1;
	if (constraints >> BY_PRIORITY & 1) {
		one->job.priority = INT32_MIN;
		for (size_t i = 0; i < w.s.jobs.n; i++) {
			if (i != s->job && w.s.jobs.at[i].job.priority >= one->job.priority)
				one->job.priority = w.s.jobs.at[i].job.priority + 1;
		}
	}
	if (constraints >> BY_SHARE & 1) {
		for (size_t i = 0; i < COUNT(others); i++)
			names_add(&w.names, others[i], strlen(others[i]));
		w.s.tenant_names = w.names;
		one->job.tenant = COUNT(others) - 1;
	}
	for (uint32_t i = 0; i < w.s.jobs.n; i++) {
		if (i != s->job && constraints >> (i < w.s.nrunning ? BY_BUSY : BY_QUEUE) & 1)
			leave(&w, i);
	}
	return starts_in(&w, s->job);
}

static void check_causes(const struct state *s, const struct explanation *e)
{
	uint32_t all = 0, alone = 0, needed = 0;
	struct trial trial;
	struct err err = { 0 };

	for (size_t i = 0; i < e->causes.n; i++) {
		const struct cause *cause = &e->causes.at[i];

		assert_true(cause->said || cause->alone || cause->needed);
		assert_true(!cause->said || i == 0);
		if (cause->constraint == CONSTRAINTS)
			continue;
		alone |= (uint32_t)cause->alone << cause->constraint;
		needed |= (uint32_t)cause->needed << cause->constraint;
	}
	assert_int_equal(trial_init(&trial, &s->snapshot, s->job, &err), 0);
	for (int c = 0; c < CONSTRAINTS; c++)
		all |= (uint32_t)trial_applies(&trial, (enum constraint)c) << c;
	trial_fini(&trial);
	/* Each that does it alone is named, and only those. */
	for (int c = 0; c < CONSTRAINTS; c++) {
		if (all >> c & 1)
			assert_int_equal(starts_lifted(s, UINT32_C(1) << c), alone >> c & 1);
	}
	assert_int_equal(e->never, !starts_lifted(s, all) && !alone);
	if (!starts_lifted(s, all))
		return;
	/* Together the needed are enough; without any one of them they are not. */
	assert_true(needed && starts_lifted(s, needed));
	for (int c = 0; c < CONSTRAINTS; c++) {
		uint32_t one = UINT32_C(1) << c;

		if (needed & one)
			assert_false(starts_lifted(s, needed & ~one));
	}
}

static void check_types_are_whole(const struct state *s, const struct explanation *e)
{
	const struct job *job = &s->snapshot.jobs.at[s->job].job;

	if (!starts_lifted(s, UINT32_C(1) << BY_TYPES))
		return;
	for (uint32_t type = 0; type < s->cluster.ntypes; type++) {
		bool listed = false;

		for (size_t i = 0; i < e->changes.n; i++)
			listed |= e->changes.at[i].kind == CHANGE_TYPES &&
				e->changes.at[i].value == type;
		if (job->types && !job_may_use(job, type))
			assert_int_equal(listed, starts_with_type(s, type));
	}
}

/* One that wants one device, and has these. */
static void add_plain(struct state *s, uint64_t devices)
{
	struct grant *grant = mem_alloc(sizeof(*grant) + sizeof(grant->slots[0]));
	struct job job;

	job_init(&job);
	job.min_gpus = job.max_gpus = 1;
	job.work_est = 100;
	job.rate = job.attempts = devices != 0;
	job.start_s = job.held_s = job.ready_s = job.counted_s = devices ? 990 : NAN;
	grant->gpus = grant->nslots = 1;
	grant->share = 1;
	grant->slots[0] = (struct slot){ 0, devices };
	snapshot_add(&s->snapshot, &job, devices ? grant : NULL, (uint32_t)s->snapshot.jobs.n + 1);
	free(grant);
}

/* The only device that is free is drained, or avoided: that is said, and which. */
static void care_is_a_cause(void **state)
{
	static const struct {
		bool drained;
		enum constraint constraint;
		const char *text;
	} rows[] = {
		{ true, BY_DRAINED, "1 device of node n0 is drained (dust)" },
		{ false, BY_AVOID, "it failed on 1 device of node n0 and waits for others" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slot avoid = { 0, 2 };
		struct explanation e;
		struct err err = { 0 };
		struct buf text = { 0 };
		struct state s = { 0 };
		struct job *job;

		assert_int_equal(cluster_parse("1x2:v100", &s.cluster, &err), 0);
		snapshot_init(&s.snapshot, &s.cluster, 1000);
		s.snapshot.policy = mem_strdup("fifo");
		s.snapshot.agents = agents_create(1, (struct agents_options){ 0 });
		s.snapshot.belief = (struct rates){ .cluster = &s.snapshot.cluster };
		add_plain(&s, 1);
		add_plain(&s, 0);
		job = &s.snapshot.jobs.at[1].job;
		if (rows[i].drained) {
			snapshot_drain(&s.snapshot, 0, 2, "dust");
		} else {
			job->avoid = &avoid;
			job->navoid = 1;
		}
		assert_int_equal(explain(&(struct explain_config){ .from = &s.snapshot, .job = 1 },
					 &e, &err),
			0);
		assert_false(e.starts);
		for (size_t k = 0; k < e.causes.n; k++) {
			if (e.causes.at[k].constraint == rows[i].constraint && e.causes.at[k].alone)
				explain_cause_text(&e, &e.causes.at[k], &text);
		}
		assert_non_null(text.at);
		assert_non_null(strstr(text.at, rows[i].text));
		buf_fini(&text);
		explanation_fini(&e);
		drop_state(&s);
	}
}

static void explanations_are_right(void **state)
{
	static const char *const rules[] = { "fifo", "easy", "srtf", "fair-share", "las",
		"las:round_s=60", "tiresias", "gavel", "priority", "drf", "sjf", "conservative" };
	struct rng rng = property("explanations hold what they say");
	size_t asked = 0, changes = 0, kinds[CHANGE_KINDS] = { 0 };
	uint32_t most = 0;

	(void)state;
	for (size_t round = 0; round < rounds(480); round++) {
		struct explanation e;
		struct err err = { 0 };
		struct buf text = { 0 };
		struct json j;
		struct state s;

		draw_state(&s, &rng, rules[round % COUNT(rules)]);
		if (explain(&(struct explain_config){ .from = &s.snapshot, .job = s.job }, &e, &err) < 0)
			fail_msg("%s: %s", s.snapshot.policy, err.text);
		assert_int_equal(e.starts, starts_lifted(&s, 0));
		assert_true(e.tries <= EXPLAIN_TRIES);
		most = e.tries > most ? e.tries : most;
		if (!e.starts) {
			asked++;
			check_causes(&s, &e);
			for (size_t i = 0; i < e.changes.n; i++) {
				check_change(&s, &e.changes.at[i]);
				kinds[e.changes.at[i].kind]++;
			}
			if (!e.cut)
				check_types_are_whole(&s, &e);
			changes += e.changes.n;
			assert_true(e.causes.n > 0);
		}
		json_init(&j, &text, false);
		json_begin_object(&j, NULL);
		explain_to_json(&e, 1e9, &j);
		json_end(&j, '}');
		assert_non_null(strstr(text.at, "\"verdict\""));
		buf_fini(&text);
		explanation_fini(&e);
		drop_state(&s);
	}
	printf("[          ] %zu waiting jobs, %zu changes, at most %u tries; by kind:", asked,
		changes, most);
	for (int kind = 0; kind < CHANGE_KINDS; kind++)
		printf(" %s %zu", change_name((enum change_kind)kind), kinds[kind]);
	printf("\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explanations_are_right),
		cmocka_unit_test(care_is_a_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
