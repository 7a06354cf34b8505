/*
 * Explanations against the core itself: what is said to start a job is done to the
 * core that the copy was taken from, by the inputs that people's commands become, and
 * the job has devices after its next turn.
 */
#include "play.h"
#include "sim/explain.h"

enum { ASKED_S = 100 };

struct world {
	struct play p;
	const char *policy;
	uint64_t number;
};

static uint32_t below(struct rng *rng, uint32_t n)
{
	return (uint32_t)rng_below(rng, n);
}

static struct ask draw_ask(struct rng *rng)
{
	static const char *const tenants[] = { "ann", "bob", "cyd" };
	struct ask ask = {
		.gpus = 1 << below(rng, 3),
		.priority = (int)below(rng, 4),
		.tenant = tenants[below(rng, 3)],
		.estimate_s = 60 + below(rng, 5000),
		.types = below(rng, 4) ? NULL : "v100",
		.hold = below(rng, 6) == 0,
	};

	if (below(rng, 4) == 0) {
		ask.min_gpus = 1;
		ask.max_gpus = ask.gpus + 2;
	}
	return ask;
}

/* The same number makes the same world again. */
static void make(struct world *w)
{
	static const char *const clusters[] = { "1x4:v100", "1x4:v100,1x2:k80", "2x2:v100,1x4:k80" };
	struct rng rng;
	uint32_t jobs;

	rng_init(&rng, property_seed() * 1000003 + w->number, RNG_TEST);
	jobs = 4 + below(&rng, 6);
	play_open(&w->p, clusters[below(&rng, 3)], w->policy);
	w->p.shares = !strcmp(w->policy, "gandiva") || !strcmp(w->policy, "antman");
	for (uint32_t i = 1; i <= jobs; i++)
		play_submit(&w->p, 5 * i, draw_ask(&rng));
	if (below(&rng, 3) == 0 && core_attempt(w->p.core, 1, 1))
		play_exit(&w->p, 90, 1, 1, 0);
	play_pass(&w->p, ASKED_S);
}

static bool has_devices(const struct world *w, uint32_t number)
{
	const struct live_job *job = core_job(w->p.core, number);

	return job && job->engine_id != JOB_NONE &&
		core_engine_job(w->p.core, job)->state == JOB_RUNNING;
}

/* False: it was not launched yet, so it cannot. */
static bool end_job(struct world *w, uint32_t number)
{
	const struct live_job *job = core_job(w->p.core, number);

	assert_non_null(job);
	return play_try(&w->p, "exit", number, job->attempt, "{\"known\":true,\"code\":0}") == 0;
}

/* One that runs is asked to stop, and does. */
static bool hold_job(struct world *w, uint32_t number)
{
	bool runs = core_job(w->p.core, number)->state != LIVE_PENDING;

	play_apply(&w->p, "hold", number, 0, "{}");
	play_end(&w->p);
	play_begin(&w->p, ASKED_S);
	return !runs || end_job(w, number);
}

/* What its command does; false: it is for who submits again. */
static bool apply(struct world *w, const struct snapshot *s, uint32_t number, const struct change *c)
{
	bool done = true;
	char body[64];

	play_begin(&w->p, ASKED_S);
	switch (c->kind) {
	case CHANGE_RELEASE:
		play_apply(&w->p, "release", number, 0, "{}");
		break;
	case CHANGE_PRIORITY:
		snprintf(body, sizeof(body), "{\"priority\":%.0f}", c->value);
		play_apply(&w->p, "update", number, 0, body);
		break;
	case CHANGE_HOLD:
		done = hold_job(w, s->jobs.at[(uint32_t)c->value].number);
		break;
	case CHANGE_WAIT:
		for (uint32_t i = 0; i < c->njobs; i++)
			done = end_job(w, s->jobs.at[c->jobs[i]].number) && done;
		break;
	default:
		done = false;
		break;
	}
	play_end(&w->p);
	return done;
}

static uint32_t check_change(const struct world *from, const struct snapshot *s, uint32_t number,
	const struct change *c)
{
	struct world again = { .policy = from->policy, .number = from->number };
	bool applied;

	make(&again);
	applied = apply(&again, s, number, c);
	if (applied && !has_devices(&again, number))
		fail_msg("world %llu (%s), job %u: %s was to start it",
			(unsigned long long)from->number, from->policy, number, change_name(c->kind));
	play_close(&again.p);
	return applied;
}

/* One that waits, as the world has it; 0: nobody does. */
static uint32_t who_waits(const struct world *w)
{
	size_t n;
	const struct live_job *const *jobs = core_jobs(w->p.core, &n);

	for (size_t i = 0; i < n; i++) {
		const struct live_job *job = jobs[(i + w->number) % n];

		if (job->state == LIVE_PENDING)
			return job->id;
	}
	return 0;
}

static void the_core_does_what_was_said(void **state)
{
	/*
	 * Those that decide at every event and not by the time alone, as themis does when it recalls leases; and whose
	 * memory beyond jobs, if any, is in the copy.
	 */
	static const char *const rules[] = { "fifo", "easy", "conservative", "sjf", "srtf",
		"priority", "drf", "drf:preempt=1", "las", "srsf", "tiresias",
		"fair-share:preempt=1,elastic=1,priority=1,reserve_s=5", "fair-share", "afs",
		"lyra", "gittins", "e-las", "themis:recall=0", "themis:app=tenant,align=0,recall=0",
		"gandiva", "gandiva-fair", "antman", "dally" };
	uint32_t asked = 0, applied = 0;

	(void)state;
	property("explanations against the core");
	for (size_t round = 0; round < rounds(460); round++) {
		struct world w = { .policy = rules[round % COUNT(rules)], .number = round };
		struct explanation e;
		struct snapshot s;
		struct err err = { 0 };
		uint32_t number;

		make(&w);
		number = who_waits(&w);
		core_snapshot(w.p.core, ASKED_S, &s);
		play_close(&w.p);
		if (number) {
			if (explain(&(struct explain_config){ .from = &s,
					    .job = snapshot_find(&s, number) },
				    &e, &err) < 0)
				fail_msg("%s", err.text);
			if (e.starts)
				fail_msg("world %zu (%s), job %u waits, and is said to start",
					round, w.policy, number);
			for (size_t i = 0; i < e.changes.n; i++)
				applied += check_change(&w, &s, number, &e.changes.at[i]);
			asked++;
			explanation_fini(&e);
		}
		snapshot_fini(&s);
	}
	printf("[          ] %u jobs that wait, %u changes made\n", asked, applied);
	assert_true(applied > asked / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_core_does_what_was_said),
	};

	return cmocka_run_group_tests_name("live/explain_core", tests, NULL, NULL);
}
