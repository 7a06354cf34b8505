/*
 * Explanations: every change that is suggested starts the job, no smaller one
 * does, and the causes are the binding constraints: checked by decisions that
 * this file makes for itself.
 */
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "engine/rules.h"
#include "explain_states.h"
#include "sim/explain.h"
#include "sim/moment.h"

#define ENDLESS 1e18

/* Fails with what was claimed, and of which state: SEED=… and the number repeat it. */
static void claim(const struct state *s, bool holds, const char *what)
{
	if (!holds)
		fail_msg("state %u (%s, %s, %s), job %u: not so: %s", s->number, s->snapshot.policy,
			s->snapshot.placer, s->snapshot.admit, s->job, what);
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

	if (future_run(&(struct future_config){ .from = &w->s,
			       .work = w->work,
			       .until_s = at_s,
			       .seed = w->s.seed },
		    out, &err) < 0)
		fail_msg("%s: %s", w->s.policy, err.text);
	starts = out[job].start_s <= at_s;
	free(out);
	free(w->s.jobs.at);
	free(w->work);
	names_fini(&w->names);
	return starts;
}

/* It ends, or (not `ended`) is taken away, which nobody who follows it may profit from. */
static void leave(struct other_world *w, uint32_t i, bool ended)
{
	w->s.jobs.at[i].keeps_followers = !ended;
	if (i < w->s.nrunning) {
		w->work[i] = 0;
		w->s.jobs.at[i].job.ready_s = fmin(w->s.jobs.at[i].job.ready_s, w->s.now_s);
	} else
		w->s.jobs.at[i].opens_s = INFINITY;
}

static bool starts_with_gpus(const struct state *s, int gpus)
{
	struct other_world w;
	struct job *job;

	copy_world(&s->snapshot, &w);
	job = &w.s.jobs.at[s->job].job;
	if (job->min_gpus < job->max_gpus)
		job->min_gpus = gpus;
	else
		job->gpus = job->min_gpus = job->max_gpus = gpus;
	return starts_in(&w, s->job);
}

static bool starts_with_cpus(const struct state *s, double cpus)
{
	struct other_world w;

	copy_world(&s->snapshot, &w);
	w.s.jobs.at[s->job].job.cpus = cpus;
	return starts_in(&w, s->job);
}

static bool starts_with_mem(const struct state *s, double bytes)
{
	struct other_world w;

	copy_world(&s->snapshot, &w);
	w.s.jobs.at[s->job].job.mem_bytes = (int64_t)bytes;
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
	w.s.jobs.at[s->job].job.work_est = w.s.jobs.at[s->job].job.done + time_s;
	return starts_in(&w, s->job);
}

static bool starts_with_priority(const struct state *s, int32_t priority)
{
	struct other_world w;

	copy_world(&s->snapshot, &w);
	w.s.jobs.at[s->job].job.priority = priority;
	return starts_in(&w, s->job);
}

/* With so many guaranteed to its tenant, or to be borrowed by it. */
static bool starts_with_quota(const struct state *s, enum change_kind kind, uint32_t n)
{
	static const char *const names[] = { "ann", "bob", "cyd" };
	const char *name = names[s->snapshot.jobs.at[s->job].job.tenant];
	struct tenants tenants;
	struct other_world w;
	uint32_t i;
	bool starts;

	tenants_copy(&s->snapshot.tenants, &tenants);
	tenants_add(&tenants, name, strlen(name));
	i = tenants_find(&tenants, name, strlen(name));
	if (kind == CHANGE_GUARANTEED)
		tenants_promise(&tenants, i, n);
	else
		tenants.at[i].borrow = n;
	copy_world(&s->snapshot, &w);
	w.s.tenants = tenants;
	starts = starts_in(&w, s->job);
	tenants_fini(&tenants);
	return starts;
}

static void check_quota(const struct state *s, enum change_kind kind, uint32_t n)
{
	claim(s, starts_with_quota(s, kind, n), "it starts with such a quota");
	claim(s, n > 0 && !starts_with_quota(s, kind, n - 1), "one device less would not do");
}

static bool starts_without(const struct state *s, const uint32_t *jobs, uint32_t n, bool ended)
{
	struct other_world w;

	copy_world(&s->snapshot, &w);
	for (uint32_t i = 0; i < n; i++)
		leave(&w, jobs[i], ended);
	return starts_in(&w, s->job);
}

static bool starts_after(const struct state *s, const uint32_t *jobs, uint32_t n)
{
	return starts_without(s, jobs, n, true);
}

/* Lifts what the bits say, by our own hand. */
static bool starts_lifted(const struct state *s, uint32_t constraints)
{
	static const char *const others[] = { "ann", "bob", "cyd", "nobody else" };
	struct other_world w;
	struct snapshot_job *one;

	copy_world(&s->snapshot, &w);
	one = &w.s.jobs.at[s->job];
	if (constraints >> (one->opens_s == INFINITY ? BY_HOLD : BY_BEGIN) & 1)
		one->opens_s = -INFINITY;
	if (constraints >> BY_DEPENDENCY & 1)
		one->nafter = 0;
	if (constraints >> (strcmp(w.s.admit, "quota") ? BY_ADMISSION : BY_QUOTA) & 1)
		w.s.admit = "all";
	if (constraints >> BY_HOST & 1) {
		one->job.cpus = 0;
		one->job.mem_bytes = 0;
	}
	if (constraints >> BY_DEADLINE & 1)
		one->job.deadline_s = INFINITY;
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
		one->job.work_est = one->job.done + 1;
	if (constraints >> BY_PRIORITY & 1) {
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
			leave(&w, i, false);
	}
	return starts_in(&w, s->job);
}

/* ---- changes hold what they promise */

static void check_wait(const struct state *s, const struct change *c)
{
	const struct snapshot *from = &s->snapshot;

	claim(s, c->njobs > 0, "it waits for somebody");
	claim(s, starts_after(s, c->jobs, c->njobs), "it starts after those it waits for");
	if (c->njobs > 1) {
		claim(s, !starts_after(s, c->jobs, c->njobs - 1), "the last one matters");
		return;
	}
	for (uint32_t i = 0; i < from->nrunning; i++) {
		if (explain_left_s(from, i) < explain_left_s(from, c->jobs[0]))
			claim(s, !starts_after(s, &i, 1), "nobody who ends sooner would do");
	}
}

static void check_time(const struct state *s, double time_s)
{
	const struct job *job = &s->snapshot.jobs.at[s->job].job;
	const double *next = explain_ladder_s;

	while (*next != time_s)
		next++;
	next++;
	claim(s, starts_with_time(s, time_s), "it starts if it is so short");
	if (*next > 0 && *next < job->work_est - job->done)
		claim(s, !starts_with_time(s, *next), "the next longer time would not do");
}

static void check_change(const struct state *s, const struct change *c)
{
	const struct job *job = &s->snapshot.jobs.at[s->job].job;
	uint32_t other = (uint32_t)c->value;

	switch (c->kind) {
	case CHANGE_GPUS:
		claim(s, c->value >= 1 && c->value < job->min_gpus, "fewer devices are fewer");
		claim(s, starts_with_gpus(s, (int)c->value), "it starts with so few devices");
		for (int gpus = (int)c->value + 1; gpus < job->min_gpus; gpus++)
			claim(s, !starts_with_gpus(s, gpus), "more devices would not do");
		break;
	case CHANGE_GUARANTEED:
	case CHANGE_BORROW:
		check_quota(s, c->kind, other);
		break;
	case CHANGE_CPUS:
		claim(s, c->value >= 0 && c->value < job->cpus, "fewer CPUs are fewer");
		claim(s, starts_with_cpus(s, c->value), "it starts with so few CPUs");
		if (c->value + 1 < job->cpus)
			claim(s, !starts_with_cpus(s, c->value + 1), "one CPU more would not do");
		break;
	case CHANGE_MEM:
		claim(s, c->value >= 0 && c->value < (double)job->mem_bytes, "less memory is less");
		claim(s, starts_with_mem(s, c->value), "it starts with so little memory");
		if (c->value + EXPLAIN_GIB < (double)job->mem_bytes)
			claim(s, !starts_with_mem(s, c->value + EXPLAIN_GIB),
				"one GiB more would not do");
		break;
	case CHANGE_TYPES:
		claim(s, !job_may_use(job, other), "the type is new to it");
		claim(s, starts_with_type(s, other), "it starts with the type as well");
		break;
	case CHANGE_TIME:
		check_time(s, c->value);
		break;
	case CHANGE_PRIORITY:
		claim(s, c->value > job->priority, "the priority is higher");
		claim(s, starts_with_priority(s, (int32_t)c->value), "it starts with the priority");
		for (int32_t p = job->priority + 1; p < c->value; p++)
			claim(s, !starts_with_priority(s, p), "a lower priority would not do");
		break;
	case CHANGE_WAIT:
		check_wait(s, c);
		break;
	case CHANGE_HOLD:
		claim(s, s->snapshot.jobs.at[other].job.tenant == job->tenant, "one's own job is held");
		claim(s, starts_without(s, &other, 1, false), "it starts if that one is held");
		break;
	case CHANGE_RELEASE:
		claim(s, isinf(s->snapshot.jobs.at[s->job].opens_s) && starts_lifted(s, 1u << BY_HOLD),
			"it starts when it is let go");
		break;
	default:
		fail();
	}
}

/* ---- causes are the binding constraints */

static const char *const constraint_words[CONSTRAINTS] = { "hold", "begin", "dependency",
	"admission", "quota", "down", "drained", "avoid", "host", "types", "deadline", "share",
	"priority", "length", "size", "queue", "busy" };

static void check_causes(const struct state *s, const struct explanation *e)
{
	uint32_t all = 0, alone = 0, needed = 0;
	struct trial trial;
	struct err err = { 0 };

	for (size_t i = 0; i < e->causes.n; i++) {
		const struct cause *cause = &e->causes.at[i];

		claim(s, cause->said || cause->alone || cause->needed, "a cause is binding or said");
		claim(s, !cause->said || i == 0, "what was said comes first");
		if (cause->constraint == CONSTRAINTS)
			continue;
		alone |= (uint32_t)cause->alone << cause->constraint;
		needed |= (uint32_t)cause->needed << cause->constraint;
	}
	assert_int_equal(trial_init(&trial, &s->snapshot, s->job, &err), 0);
	for (int c = 0; c < CONSTRAINTS; c++)
		all |= (uint32_t)trial_applies(&trial, (enum constraint)c) << c;
	trial_fini(&trial);
	/* Each that does it alone is named, and only those; what does not apply makes no difference. */
	for (int c = 0; c < CONSTRAINTS; c++)
		claim(s, starts_lifted(s, UINT32_C(1) << c) == (alone >> c & 1), constraint_words[c]);
	claim(s, e->never == (!starts_lifted(s, all) && !alone), "never means never");
	if (!starts_lifted(s, all))
		return;
	/* Together the needed are enough; without any one of them they are not. */
	claim(s, needed && starts_lifted(s, needed), "the needed are enough");
	for (int c = 0; c < CONSTRAINTS; c++) {
		uint32_t one = UINT32_C(1) << c;

		if (needed & one)
			claim(s, !starts_lifted(s, needed & ~one), "each of the needed is");
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
			claim(s, listed == starts_with_type(s, type),
				"every type that would do is listed");
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
		"las:round_s=60", "tiresias", "gavel", "priority", "drf", "sjf", "conservative", "sia",
		"elasticflow", "pollux:population=12,generations=5", "shockwave", "afs", "allox",
		"e-las", "fair-share:preempt=1,priority=1,reserve_s=5", "gandiva", "gavel:packing=1",
		"gittins", "heet", "isolated", "kungfu", "lyra", "optimus", "proportional", "srsf",
		"elasticflow:slot_s=60", "gavel:tenants=1", "elasticflow:fill=backward",
		"gavel:objective=slo-cost", "gavel:objective=finish-time", "gavel:gangs=free" };
	struct rng rng = property("explanations hold what they say");
	size_t asked = 0, changes = 0, kinds[CHANGE_KINDS] = { 0 };
	uint32_t most = 0;
	size_t binding[CONSTRAINTS] = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(1000); round++) {
		struct explanation e;
		struct err err = { 0 };
		struct buf text = { 0 };
		struct json j;
		struct state s;

		draw_state(&s, &rng, rules[round % COUNT(rules)]);
		s.number = (uint32_t)round;
		if (explain(&(struct explain_config){ .from = &s.snapshot, .job = s.job }, &e, &err) < 0)
			fail_msg("%s: %s", s.snapshot.policy, err.text);
		claim(&s, e.starts == starts_lifted(&s, 0), "it starts as things are");
		claim(&s, e.tries <= EXPLAIN_TRIES, "few tries");
		most = e.tries > most ? e.tries : most;
		if (!e.starts) {
			asked++;
			check_causes(&s, &e);
			for (size_t i = 0; i < e.causes.n; i++) {
				const struct cause *cause = &e.causes.at[i];

				if (cause->alone || cause->needed)
					binding[cause->constraint]++;
			}
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
	printf("\n[          ] binding:");
	for (int c = 0; c < CONSTRAINTS; c++) {
		printf(" %s %zu", constraint_words[c], binding[c]);
		/* Some are rare: a part of the rounds may not meet them. */
		assert_true(binding[c] > 0 || c == BY_DEADLINE || rounds(1000) < 1000);
	}
	printf("\n");
}

static void a_job_is_believed_to_end_at_its_limit(void **state)
{
	struct moment m;

	(void)state;
	moment_init(&m, "1x4:v100", "fifo", 1000);
	moment_runs(&m, 0x1, 3600, 900);
	assert_float_equal(explain_left_s(&m.s, 0), 3500, 1e-6);
	m.s.jobs.at[0].limit_s = 60;
	assert_float_equal(explain_left_s(&m.s, 0), 60, 1e-6);
	moment_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explanations_are_right),
		cmocka_unit_test(care_is_a_cause),
		cmocka_unit_test(a_job_is_believed_to_end_at_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
