/*
 * Turns: shares become times.  Stint's own mechanism by what it promises, the
 * published one by its priorities; its results are in sim/gavel_parity_test.c.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "policy/hetero/gavel.h"
#include "policy/hetero/table.h"
#include "support/property.h"
#include "support/scene.h"

#define ROUND_S 10

enum { JOBS_MAX = 10, TYPES_LIMIT = 3 };

/* ---- shares of our own choice, by a log */

static void write_log(char path[32], const char *text)
{
	FILE *to;
	int fd;

	snprintf(path, 32, "/tmp/stint-turns-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	to = fdopen(fd, "w");
	assert_non_null(to);
	fprintf(to, "%s\n", text);
	assert_int_equal(fclose(to), 0);
}

struct priorities {
	double of[2][2]; /* [jobs][types] */
};

static int take_priorities(void *ctx, const struct chosen_policy *policy, const struct round *round,
	const struct plan *plan, struct err *err)
{
	const struct gavel *g = policy->state;
	const struct share_table *t = g->turns.table;
	struct priorities *p = ctx;

	(void)round;
	(void)plan;
	(void)err;
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t w = 0; w < 2; w++)
			p->of[i][w] = table_cell(t, table_single(t, i), w)->priority;
	}
	return 0;
}

/* Share over part received.  At first all have had as much, so that two jobs have had a half of each type. */
static void a_priority_is_share_over_time(void **state)
{
	struct priorities p = { 0 };
	struct outcome out;
	struct scene scene;
	char path[32], policy[128];

	(void)state;
	write_log(path,
		"{\"ev\": \"alloc\", \"t\": 0, \"types\": [\"k80\", \"v100\"],"
		" \"x\": [[0, 0.25, 0.75], [1, 0.75, 0.25]]}");
	scene_init(&scene, "1x1:v100,1x1:k80");
	scene_job(&scene, 0, 1, 1e6);
	scene_job(&scene, 0, 1, 1e6);
	snprintf(policy, sizeof(policy), "gavel:compat=gavel,replay=%s", path);
	scene.config.policy = policy;
	scene.config.until_s = 1;
	scene.config.look = take_priorities;
	scene.config.look_ctx = &p;
	scene_run(&scene, &out);
	assert_true(p.of[0][0] == 1.5 && p.of[0][1] == 0.5);
	assert_true(p.of[1][0] == 0.5 && p.of[1][1] == 1.5);
	outcome_fini(&out);
	scene_fini(&scene);
	unlink(path);
}

/* ---- seconds that jobs had on types: one node for each type */

struct times {
	double of_s[JOBS_MAX][TYPES_LIMIT];
};

static struct times times_of(const struct outcome *o)
{
	struct times times = { 0 };

	for (uint32_t i = 0; i < o->nspans; i++)
		times.of_s[o->spans[i].job][o->spans[i].node] += o->spans[i].to_s - o->spans[i].from_s;
	return times;
}

static void two_jobs_have_what_the_log_says(void **state)
{
	struct outcome out;
	struct scene scene;
	struct times times;
	char path[32], policy[128];

	(void)state;
	write_log(path,
		"{\"ev\": \"alloc\", \"t\": 0, \"types\": [\"k80\", \"v100\"],"
		" \"x\": [[0, 0.25, 0.75], [1, 0.75, 0.25]]}");
	scene_init(&scene, "1x1:v100,1x1:k80");
	scene_job(&scene, 0, 1, 1e6);
	scene_job(&scene, 0, 1, 1e6);
	snprintf(policy, sizeof(policy), "gavel:round_s=%d,replay=%s", ROUND_S, path);
	scene.config.policy = policy;
	scene.config.until_s = 100 * ROUND_S;
	scene.config.want_spans = true;
	scene_run(&scene, &out);
	times = times_of(&out);
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t w = 0; w < 2; w++)
			assert_true(fabs(times.of_s[i][w] - (i == w ? 75 : 25) * ROUND_S) <= ROUND_S);
	}
	outcome_fini(&out);
	scene_fini(&scene);
	unlink(path);
}

/* ---- random worlds */

static void draw_world(struct scene *scene, struct rng *rng, uint32_t jobs, bool endless, bool gangs)
{
	char cluster[64];
	uint32_t types = pick(rng, TYPES_LIMIT);
	size_t n = 0;

	for (uint32_t w = 0; w < types; w++)
		n += (size_t)snprintf(cluster + n, sizeof(cluster) - n, "%s1x%u:t%u", w ? "," : "",
			(gangs ? 3 : 0) + pick(rng, 4), w);
	scene_init(scene, cluster);
	for (uint32_t i = 0; i < jobs; i++)
		names_add(&scene->trace.models, (char[]){ (char)('a' + i), 0 }, 1);
	scene->profile = profile_create(&scene->cluster, &scene->trace.models);
	for (uint32_t i = 0; i < jobs; i++) {
		struct job *job = scene_job(scene, endless ? 0 : (double)rng_below(rng, 50 * ROUND_S),
			gangs ? 1 << rng_below(rng, 3) : 1, endless ? 1e9 : pick(rng, 100 * ROUND_S));

		job->model = i;
		job->by_steps = true;
		for (uint32_t w = 0; w < types; w++)
			profile_add(scene->profile, i, w, (uint32_t)job->gpus, 0,
				w > 0 && rng_below(rng, 8) == 0 ? 0 : (double)pick(rng, 8));
	}
	scene->config.truth = scene->profile;
}

/* ---- the mechanism seen from behind the policy */

struct watched {
	struct chosen_policy policy;
	double round_s;
	double begun; /* the last multiple of round_s in which it decided */
	uint64_t decisions;
	double x[JOBS_MAX][TYPES_LIMIT];
};

/* Whoever ran keeps its devices. */
static void nobody_was_stopped(const struct round *round, const struct plan *plan)
{
	for (uint32_t i = 0; i < round->njobs; i++) {
		const struct job *job = &round->jobs[i];

		if (job_active(job) && job->grant)
			assert_true(plan_grant(plan, i) &&
				grant_same_devices(job->grant, plan_grant(plan, i)));
	}
}

/* No device is free that a job without any could use. */
static void nothing_is_idle(const struct round *round, const struct plan *plan)
{
	for (uint32_t i = 0; i < round->njobs; i++) {
		const struct job *job = &round->jobs[i];

		if (!job_active(job) || plan_grant(plan, i))
			continue;
		for (uint32_t w = 0; w < round->cluster->ntypes; w++)
			assert_true(plan_free(plan, w) < (uint32_t)job->gpus ||
				!(rate_if(round->belief, job, w, (uint32_t)job->gpus) > 0));
	}
}

static void take_shares(struct watched *watched, const struct round *round)
{
	const struct gavel *g = watched->policy.state;
	const struct share_table *t = g->turns.table;

	for (uint32_t i = 0; i < round->njobs; i++) {
		for (uint32_t w = 0; w < t->types; w++) {
			const struct share_cell *cell = table_cell(t, table_single(t, i), w);

			/* a share of time on a type where it stands still is none */
			watched->x[i][w] = cell->speed[0] > 0 ? cell->x : 0;
		}
	}
}

static int watch_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct watched *watched = self;
	double number = floor(round->now_s / watched->round_s + 1e-9);
	int rc = watched->policy.rule->decide(watched->policy.state, round, plan, err);

	if (rc < 0)
		return rc;
	if (watched->decisions++ > 0 && number <= watched->begun)
		nobody_was_stopped(round, plan);
	else
		watched->begun = number;
	nothing_is_idle(round, plan);
	return 0;
}

static int watch_endless(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	int rc = watch_decide(self, round, plan, err);

	if (rc == 0)
		take_shares(self, round);
	return rc;
}

static const struct policy watch = { .name = "watch", .decide = watch_decide };
static const struct policy watch_shares = { .name = "watch", .decide = watch_endless };

static const char *const watched_policies[] = {
	"gavel:round_s=10",
	"gavel:round_s=10,water_filling=1",
	"gavel:round_s=10,objective=makespan",
	"gavel:round_s=10,objective=finish-time",
	"gavel:round_s=10,objective=throughput",
	"gavel:round_s=10,hetero=0",
	"isolated:round_s=10",
};

static void devices_are_used_and_jobs_left_alone(void **state)
{
	struct rng rng = property("no idle device that a job could use; nobody stopped between rounds");

	(void)state;
	for (size_t round = 0; round < rounds(70); round++) {
		struct watched watched = { .round_s = ROUND_S };
		struct scene scene;
		struct outcome out;

		draw_world(&scene, &rng, JOBS_MAX, false, round % 2);
		watched.policy = scene_policy(watched_policies[round % COUNT(watched_policies)]);
		scene_run_policy(&scene, &watch, &watched, &out);
		for (uint32_t i = 0; i < out.njobs; i++)
			assert_true(out.jobs[i].state == JOB_FINISHED ||
				out.jobs[i].state == JOB_REJECTED);
		outcome_fini(&out);
		scene_policy_fini(&watched.policy);
		scene_fini(&scene);
	}
}

/* Rounds that somebody lacks of what it was promised on a type. */
static double most_lacking(struct scene *scene, const char *policy, uint32_t over)
{
	struct watched watched = { .round_s = ROUND_S, .policy = scene_policy(policy) };
	struct outcome out;
	struct times times;
	double worst = 0;

	scene->config.until_s = over * ROUND_S;
	scene->config.want_spans = true;
	scene_run_policy(scene, &watch_shares, &watched, &out);
	assert_int_equal(out.spans_dropped, 0);
	times = times_of(&out);
	for (uint32_t i = 0; i < out.njobs; i++) {
		for (uint32_t w = 0; w < scene->cluster.ntypes; w++)
			worst = fmax(worst, watched.x[i][w] * over - times.of_s[i][w] / ROUND_S);
	}
	outcome_fini(&out);
	scene_policy_fini(&watched.policy);
	return worst;
}

/*
 * In most worlds nobody ever lacks more than two rounds: one that it waits for, one for being owed on two
 * types at once.  Who is owed most is served first, type by type, and that is no exact schedule: in a few
 * worlds somebody falls behind slowly, up to the rounds that credits remember.
 */
static void everybody_has_its_share(void **state)
{
	enum { ROUNDS = 200, REMEMBERED = 16 };
	struct rng rng = property("over time everybody has its share, within two rounds");
	size_t behind = 0, worlds = rounds(60);
	double worst = 0;

	(void)state;
	for (size_t round = 0; round < worlds; round++) {
		struct scene scene;
		double lacks;

		draw_world(&scene, &rng, JOBS_MAX, true, false);
		lacks = most_lacking(&scene,
			round % 2 ? "gavel:round_s=10" : "gavel:round_s=10,water_filling=1", ROUNDS);
		worst = fmax(worst, lacks);
		behind += lacks > 2;
		scene_fini(&scene);
	}
	printf("             lacking most: %.2f rounds of %d; more than 2 in %zu of %zu worlds\n",
		worst, ROUNDS, behind, worlds);
	assert_true(worst <= REMEMBERED);
	assert_true(behind <= 1 + worlds / 10);
}

/* Alike jobs that outnumber the devices have equal times. */
static void equals_have_equal_times(void **state)
{
	enum { ROUNDS = 70, JOBS = 7, DEVICES = 3 };
	struct scene scene;
	struct outcome out;
	struct times times;

	(void)state;
	scene_init(&scene, "1x3:v100");
	for (uint32_t i = 0; i < JOBS; i++)
		scene_job(&scene, 0, 1, 1e9);
	scene.config.policy = "gavel:round_s=10";
	scene.config.until_s = ROUNDS * ROUND_S;
	scene.config.want_spans = true;
	scene_run(&scene, &out);
	times = times_of(&out);
	for (uint32_t i = 0; i < JOBS; i++)
		assert_true(fabs(times.of_s[i][0] - ROUNDS * ROUND_S * DEVICES / (double)JOBS) <=
			ROUND_S);
	outcome_fini(&out);
	scene_fini(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_priority_is_share_over_time),
		cmocka_unit_test(two_jobs_have_what_the_log_says),
		cmocka_unit_test(devices_are_used_and_jobs_left_alone),
		cmocka_unit_test(everybody_has_its_share),
		cmocka_unit_test(equals_have_equal_times),
	};

	return cmocka_run_group_tests_name("policy/hetero/turns", tests, NULL, NULL);
}
