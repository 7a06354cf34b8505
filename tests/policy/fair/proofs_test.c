/*
 * Whoever is left out by a fair policy is told the proof in numbers: exact ones on small
 * examples, worked out by hand, and what must be true of any.  (Those of drf and fair-share
 * are in drf_test.c.)
 */
#include <math.h>
#include <string.h>

#include "support/desk.h"
#include "support/property.h"
#include "support/scene.h"

enum { TOLD_MAX = 16 };

struct told {
	double at_s;
	uint32_t job;
	struct reason reason;
};

struct ear {
	struct told at[TOLD_MAX];
	uint32_t n;
};

static void hear(void *self, const struct event *event, const struct job *job)
{
	struct ear *ear = self;

	(void)job;
	if (event->kind != EV_WAIT)
		return;
	assert_true(ear->n < TOLD_MAX);
	ear->at[ear->n++] = (struct told){ event->at_s, event->job, event->reason };
}

/* Runs the scene and writes down what jobs were told. */
static void listen(struct scene *s, const char *policy, double until_s, struct ear *ear)
{
	struct observer observer = { ear, hear };
	struct outcome out;

	*ear = (struct ear){ 0 };
	s->config.policy = policy;
	s->config.until_s = until_s;
	s->config.observers = &observer;
	s->config.nobservers = 1;
	scene_run(s, &out);
	outcome_fini(&out);
	scene_fini(s);
}

static void assert_told(const struct ear *ear, uint32_t i, const struct told *want)
{
	const struct told *got = &ear->at[i];

	if (i >= ear->n)
		fail_msg("nobody was told anything for the %uth time", i);
	if (got->at_s != want->at_s || got->job != want->job ||
		got->reason.why != want->reason.why || got->reason.other != want->reason.other ||
		fabs(got->reason.share - want->reason.share) > 1e-9 ||
		fabs(got->reason.against - want->reason.against) > 1e-9)
		fail_msg("at %g job %u was told %s, other %d, %.9g against %.9g; not at %g job %u %s, other %d, %.9g against %.9g",
			got->at_s, got->job, why_name(got->reason.why), (int)got->reason.other,
			got->reason.share, got->reason.against, want->at_s, want->job,
			why_name(want->reason.why), (int)want->reason.other, want->reason.share,
			want->reason.against);
}

/*
 * One device, tickets 1 and 3, quanta of a minute: x, then three times y, then x again.  A tenant is due its part of each
 * minute; what it had and was due counts half after an hour.
 */
static void gandiva_fair_tells_shares(void **state)
{
	double f = pow(2, -1 / 60.), due = 60 * (1 + f + f * f + f * f * f);
	double y_had = 60 * (1 + f + f * f), x_had = 60 * f * f * f;
	struct told want[] = {
		/* both wait for their first: neither has had anything */
		{ 0, 1, { .why = WHY_ROUND, .other = JOB_NONE } },
		/* x had 60 s where 15 were its own, y nothing */
		{ 60, 0, { .why = WHY_SHARE, .other = 1, .share = 4, .against = 0 } },
		{ 240, 1,
			{ .why = WHY_SHARE,
				.other = 0,
				.share = y_had / (due * 3 / 4),
				.against = x_had / (due / 4) } },
	};
	struct scene s;
	struct ear ear;

	(void)state;
	scene_init(&s, "1x1");
	names_add(&s.trace.tenants, "x", 1);
	names_add(&s.trace.tenants, "y", 1);
	for (uint32_t i = 0; i < 2; i++) {
		struct job *job = scene_job(&s, 0, 1, 1e6);

		job->tenant = i;
		job->weight = i ? 3 : 1;
	}
	listen(&s, "gandiva-fair", 250, &ear);
	for (uint32_t i = 0; i < COUNT(want); i++)
		assert_told(&ear, i, &want[i]);
	assert_int_equal(ear.n, COUNT(want));
	/* who is above its share waits, who is below it runs */
	assert_true(want[2].reason.share > 1.005 && want[2].reason.against < 0.985);
}

/* The same tenant: shares say nothing, so it is device-time for each ticket, of which a job has half of one. */
static void gandiva_fair_tells_turns(void **state)
{
	struct told want[] = {
		{ 0, 1, { .why = WHY_ROUND, .other = JOB_NONE } },
		{ 60, 0, { .why = WHY_TURN, .other = 1, .share = 0, .against = 120 } },
		{ 120, 1, { .why = WHY_ROUND, .other = JOB_NONE } }, /* as much as the other */
		{ 180, 0, { .why = WHY_TURN, .other = 1, .share = 0, .against = 120 } },
	};
	struct scene s;
	struct ear ear;

	(void)state;
	scene_init(&s, "1x1");
	scene_job(&s, 0, 1, 1e6);
	scene_job(&s, 0, 1, 1e6);
	listen(&s, "gandiva-fair", 190, &ear);
	for (uint32_t i = 0; i < COUNT(want); i++)
		assert_told(&ear, i, &want[i]);
	assert_int_equal(ear.n, COUNT(want));
}

/* A job that takes all servers, and one on each: after its quantum they are owed theirs. */
static void gandiva_fair_tells_large_jobs(void **state)
{
	struct scene s;
	struct ear ear;
	bool told = false;

	(void)state;
	scene_init(&s, "2x2");
	scene_job(&s, 0, 4, 1e6);
	scene_job(&s, 0, 2, 1e6);
	scene_job(&s, 0, 2, 1e6);
	listen(&s, "gandiva-fair:round_s=1", 1.5, &ear);
	for (uint32_t i = 0; i < ear.n; i++) {
		const struct told *t = &ear.at[i];

		if (t->job != 0)
			continue;
		/* a third of a ticket each: 4 devices for a second are 12 */
		assert_told(&ear, i,
			&(struct told){ 1, 0,
				{ .why = WHY_TURN, .other = 1, .share = 0, .against = 12 } });
		told = true;
	}
	assert_true(told);
}

/* Three on one device in slices of a minute: who goes to the end of the queue is told who was there before. */
static void gandiva_tells_turns(void **state)
{
	struct told want[] = {
		{ 0, 1, { .why = WHY_TURN, .other = 0, .share = 0, .against = 0 } },
		{ 0, 2, { .why = WHY_TURN, .other = 0, .share = 0, .against = 0 } },
		{ 60, 0, { .why = WHY_TURN, .other = 1, .share = 0, .against = 60 } },
		{ 120, 1, { .why = WHY_TURN, .other = 2, .share = 0, .against = 120 } },
		{ 180, 2, { .why = WHY_TURN, .other = 0, .share = 0, .against = 120 } },
	};
	struct scene s;
	struct ear ear;

	(void)state;
	scene_init(&s, "1x1");
	for (int i = 0; i < 3; i++)
		scene_job(&s, 0, 1, 1e6);
	listen(&s, "gandiva:pack=0", 190, &ear);
	for (uint32_t i = 0; i < COUNT(want); i++)
		assert_told(&ear, i, &want[i]);
	assert_int_equal(ear.n, COUNT(want));
}

/*
 * At 5 the last, of 10 s, has the lease of the first, of 100 s.  If each waited for a lease of 10 s, it would end at 20
 * of 10 s, and the other at 5 + 10 + 95 of 100 s.  With two devices and three jobs, a fair part is all of them still if
 * crowds are what they ask for (2 of 2 before it came), and half if apps are counted.  Nobody has a tenant: each job is
 * for itself.
 */
static void themis_tells_finish_times(void **state)
{
	static const struct {
		const char *policy;
		double fair; /* times alone */
	} rows[] = { { "themis:lease_s=10", 1 }, { "themis:lease_s=10,ideal=apps", 2 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scene s;
		struct ear ear;

		scene_init(&s, "1x2");
		scene_job(&s, 0, 1, 100);
		scene_job(&s, 0, 1, 100);
		scene_job(&s, 5, 1, 10);
		listen(&s, rows[i].policy, 6, &ear);
		assert_told(&ear, 0,
			&(struct told){ 5, 0,
				{ .why = WHY_SHARE,
					.other = 2,
					.share = rows[i].fair * 100 / 110,
					.against = rows[i].fair / 2 } });
		assert_int_equal(ear.n, 1);
	}
}

/*
 * A gang that lies on two nodes, for there is one device left on each, is believed to go slower where links matter and its
 * model is not known: at 5 it has 97 of 100 s to do at that speed, and came at 2.
 */
static void themis_counts_distance(void **state)
{
	static const struct {
		const char *policy;
		uint32_t racks;
		double speed;
	} rows[] = {
		{ "themis:lease_s=10,recall=0", 1, 0.8 },
		{ "themis:lease_s=10,recall=0,rack_speed=0.5", 1, 0.5 },
		{ "themis:lease_s=10,recall=0", 2, 0.6 },
		{ "themis:lease_s=10,recall=0,far_speed=0.4", 2, 0.4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scene s;
		struct ear ear;

		scene_init(&s, "2x2");
		s.cluster.net_Bps = 1e9;
		for (uint32_t k = 1; k < rows[i].racks; k++)
			s.cluster.nodes[1].rack = cluster_add_rack(&s.cluster, NULL, 0);
		scene_job(&s, 0, 1, 1e6);
		scene_job(&s, 0, 1, 1);
		scene_job(&s, 0, 1, 1e6);
		scene_job(&s, 2, 2, 100);
		scene_job(&s, 5, 1, 1e6);
		listen(&s, rows[i].policy, 6, &ear);
		assert_told(&ear, 0,
			&(struct told){ 5, 4,
				{ .why = WHY_SHARE,
					.other = 3,
					.share = 1e6 / (1e6 + 10),
					.against = 100 / (3 + 97 / rows[i].speed) } });
	}
}

/* Where a share is the reason, it is above that of another job (of another tenant), which runs. */
static void proofs_prove_something(void **state)
{
	static const char *const specs[] = { "themis", "themis:app=tenant", "gandiva-fair", "drf",
		"fair-share" };
	struct rng rng = property("proofs by shares");
	uint32_t proofs[COUNT(specs)] = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(300); round++) {
		size_t spec = round % COUNT(specs);
		struct desk desk;

		desk_init(&desk, "2x4");
		for (uint32_t n = 8 + pick(&rng, 20); n > 0; n--)
			desk_job(&desk, (double)rng_below(&rng, 100), 1 << rng_below(&rng, 3),
				1000 + (double)rng_below(&rng, 500), (double)rng_below(&rng, 300))
				->tenant = (uint32_t)rng_below(&rng, 3);
		desk_decide(&desk, specs[spec], 600);
		for (uint32_t i = 0; i < desk.jobs.n; i++) {
			struct reason r = desk_reason(&desk, i);

			if (r.why != WHY_SHARE)
				continue;
			proofs[spec]++;
			assert_true(r.other != JOB_NONE && desk_runs(&desk, r.other));
			/* where jobs share, each is for itself */
			assert_true(spec == 0 ||
				desk.jobs.at[r.other].tenant != desk.jobs.at[i].tenant);
			assert_true(r.share > r.against);
		}
		desk_fini(&desk);
	}
	for (size_t i = 0; i < COUNT(specs); i++)
		printf("%s: %u proofs\n", specs[i], proofs[i]);
	assert_true(proofs[0] > 0 && proofs[3] > 0 && proofs[4] > 0);
}

struct judge {
	const char *policy;
	const struct trace *trace;
	bool by_job; /* where jobs share and not tenants */
	uint32_t proofs;
};

static void judge_told(void *self, const struct event *event, const struct job *job)
{
	struct judge *j = self;
	const struct reason *r = &event->reason;

	if (event->kind != EV_WAIT || r->other == JOB_NONE ||
		(r->why != WHY_SHARE && r->why != WHY_TURN))
		return;
	j->proofs++;
	assert_true(r->other != job->id && r->other < j->trace->njobs);
	if (r->why == WHY_TURN)
		assert_true(r->share >= -1e-9 && r->share <= r->against + 1e-9);
	else if (!(r->share > r->against))
		fail_msg("%s: at %g job %u was told %g against %g of job %u", j->policy,
			event->at_s, job->id, r->share, r->against, r->other);
	if (r->why == WHY_SHARE && !j->by_job)
		assert_true(j->trace->jobs[r->other].tenant != job->tenant);
}

/* Whole runs, as desks have no past. */
static void proofs_hold_over_whole_runs(void **state)
{
	static const char *const specs[] = { "themis:lease_s=20", "gandiva:slice_s=5,window_s=20",
		"themis:lease_s=20,app=tenant", "gandiva-fair:round_s=5,balance_s=20",
		"drf:preempt=1,round_s=5", "fair-share:preempt=1,patience_s=5" };
	static const char *const names[] = { "a", "b", "c" };
	struct rng rng = property("proofs over whole runs");
	uint32_t proofs[COUNT(specs)] = { 0 };

	(void)state;
	for (size_t round = 0; round < rounds(60); round++) {
		struct judge judge = { .by_job = round % COUNT(specs) < 2 };
		struct observer observer = { &judge, judge_told };
		struct outcome out;
		struct scene s;

		scene_init(&s, round % 2 ? "2x4" : "2x2:v100,1x4:k80");
		for (size_t i = 0; i < COUNT(names); i++)
			names_add(&s.trace.tenants, names[i], 1);
		scene_draw(&s, &rng, (struct draw){ 40, 100, 100, 8 });
		for (uint32_t i = 0; i < s.trace.njobs; i++) {
			s.trace.jobs[i].tenant = (uint32_t)rng_below(&rng, COUNT(names));
			s.trace.jobs[i].weight = 1 + s.trace.jobs[i].tenant;
		}
		scene_ready(&s);
		judge.trace = &s.trace;
		judge.policy = specs[round % COUNT(specs)];
		s.config.policy = specs[round % COUNT(specs)];
		s.config.observers = &observer;
		s.config.nobservers = 1;
		scene_run(&s, &out);
		proofs[round % COUNT(specs)] += judge.proofs;
		outcome_fini(&out);
		scene_fini(&s);
	}
	for (size_t i = 0; i < COUNT(specs); i++) {
		printf("%s: %u proofs\n", specs[i], proofs[i]);
		assert_true(proofs[i] > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gandiva_fair_tells_shares),
		cmocka_unit_test(gandiva_fair_tells_turns),
		cmocka_unit_test(gandiva_fair_tells_large_jobs),
		cmocka_unit_test(gandiva_tells_turns),
		cmocka_unit_test(themis_tells_finish_times),
		cmocka_unit_test(themis_counts_distance),
		cmocka_unit_test(proofs_prove_something),
		cmocka_unit_test(proofs_hold_over_whole_runs),
	};

	return cmocka_run_group_tests_name("policy/fair/proofs", tests, NULL, NULL);
}
