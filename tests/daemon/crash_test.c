/*
 * Nothing lost, nothing twice: the daemon is killed at every call that changes what a
 * crash leaves behind, its disk is full or failing there, and it is killed at random
 * under load.
 *
 * A run of every point takes long: by default some are drawn (SEED), SOAK=1 takes all,
 * and AT=17 WHAT=torn repeats one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/client.h"
#include "live/live_job.h"
#include "base/mem.h"
#include "support/crash.h"
#include "support/property.h"

enum { WORKERS = 4 };

static void nap_s(double s)
{
	struct timespec t = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };

	nanosleep(&t, NULL);
}

/* ---- the scripted run */

static json_t *with(json_t *job, const char *key, json_t *value)
{
	json_object_set_new(job, key, value);
	return job;
}

static json_t *sized(json_t *job, int gpus, double estimate_s)
{
	with(job, "gpus", json_integer(gpus));
	return with(job, "estimate_s", json_real(estimate_s));
}

/* Refused where a call before it, whose answer was lost, has done it. */
static void change(struct yard *y, uint32_t id, const char *verb)
{
	char path[64];
	int status;

	snprintf(path, sizeof(path), "/v1/jobs/%u/%s", id, verb);
	status = yard_ask(y, "POST", path, NULL, NULL);
	if (status != 200 && status != 409 && status != 404)
		yard_wrong(y, "%s: %d", path, status);
}

static void set_policy(struct yard *y, const char *policy)
{
	json_t *body = json_pack("{s:s}", "policy", policy);

	if (yard_ask(y, "POST", "/v1/policy", body, NULL) != 200)
		yard_wrong(y, "policy %s is refused", policy);
	json_decref(body);
}

static void expect_policy(struct yard *y, const char *policy)
{
	json_t *answer = NULL;

	if (yard_ask(y, "GET", "/v1/policy", NULL, &answer) != 200 ||
		strncmp(member_text(answer, "policy"), policy, strlen(policy)) != 0)
		yard_wrong(y, "the policy is %s, not %s", member_text(answer, "policy"), policy);
	json_decref(answer);
}

static void play_script(struct yard *y)
{
	uint32_t longest, dep, held, parked, doomed;

	longest = yard_submit(y, sized(yard_job(y, "long", 0.3, 0), 4, 60), 1, "COMPLETED", 0);
	yard_wait_started(y, longest);
	/* Shorter ones: they preempt it. */
	yard_submit(y, with(sized(yard_job(y, "sweep", 0.05, 0), 1, 0.1), "array", json_string("0-3")),
		4, "COMPLETED", 0);
	dep = yard_submit(y,
		with(sized(yard_job(y, "dep", 0, 0), 1, 0.1), "after",
			json_pack("[{s:s,s:i}]", "kind", "afterok", "job", (int)longest)),
		1, "COMPLETED", 0);
	if (dep)
		yard_promise(y, dep)->after = longest;
	held = yard_submit(y, with(sized(yard_job(y, "held", 0.02, 0), 1, 1), "hold", json_true()), 1,
		"COMPLETED", 0);
	parked = yard_submit(y, sized(yard_job(y, "parked", 0.2, 0), 1, 1), 1, "COMPLETED", 0);
	doomed = yard_submit(y, sized(yard_job(y, "doomed", 20, 0), 2, 30), 1, "CANCELLED", 0);
	yard_submit(y, with(sized(yard_job(y, "bad", 0, 3), 1, 0.1), "retries", json_integer(1)), 1,
		"FAILED", 3);
	set_policy(y, "las");
	yard_wait_started(y, parked);
	change(y, parked, "hold");
	change(y, held, "release");
	change(y, parked, "release");
	yard_submit(y, yard_job(y, "late", 0.02, 0), 1, "COMPLETED", 0);
	yard_wait_started(y, doomed);
	change(y, doomed, "cancel");
	yard_wait_all(y);
}

/* Once more after the end: what is over stays over. */
static void finish(struct yard *y, struct tally *tally)
{
	yard_kill(y);
	if (yard_start(y, (struct fault){ 0 })) {
		yard_wait_all(y);
		yard_stop(y);
	}
	yard_verify(y, tally);
}

static uint64_t read_count(const struct yard *y)
{
	FILE *in = fopen(y->count, "r");
	unsigned long long n = 0;

	if (!in || fscanf(in, "%llu", &n) != 1)
		n = 0;
	if (in)
		fclose(in);
	return n;
}

/* Returns how many calls there were, and adds up what happened. */
static uint64_t scripted(struct fault fault, struct tally *tally, uint32_t *wrong, uint32_t *kills)
{
	struct yard y;
	char label[64];
	uint64_t calls;

	snprintf(label, sizeof(label), "AT=%llu WHAT=%s", (unsigned long long)fault.at, fault.what);
	yard_open(&y, label);
	y.policy = "srtf";
	if (!yard_start(&y, fault)) {
		y.kills++;
		yard_start(&y, (struct fault){ 0 });
	}
	y.policy = NULL;
	play_script(&y);
	calls = read_count(&y);
	expect_policy(&y, "las");
	finish(&y, tally);
	*wrong += y.wrong;
	*kills += y.kills;
	yard_close(&y);
	return calls;
}

/* ---- many of them */


struct sums {
	uint32_t points, kills, wrong;
	struct tally tally;
};

/* A worker's part: every WORKERS-th point. */
static void work(const char *what, const uint64_t *points, size_t n, size_t worker, int out)
{
	struct sums sums = { 0 };

	for (size_t i = worker; i < n; i += WORKERS) {
		scripted((struct fault){ points[i], what }, &sums.tally, &sums.wrong, &sums.kills);
		sums.points++;
	}
	fflush(stdout);
	_exit(write(out, &sums, sizeof(sums)) == sizeof(sums) ? 0 : 1);
}

static void sweep(const char *what, const uint64_t *points, size_t n)
{
	struct sums all = { 0 }, one;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	for (size_t i = 0; i < WORKERS; i++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0)
			work(what, points, n, i, ends[1]);
	}
	close(ends[1]);
	for (size_t i = 0; i < WORKERS; i++) {
		if (read(ends[0], &one, sizeof(one)) != sizeof(one)) {
			all.wrong++;
			continue;
		}
		all.points += one.points;
		all.kills += one.kills;
		all.wrong += one.wrong;
		all.tally.jobs += one.tally.jobs;
		all.tally.attempts += one.tally.attempts;
		all.tally.stops += one.tally.stops;
	}
	close(ends[0]);
	while (wait(NULL) > 0)
		;
	printf("%s: %u points, %u deaths, %u jobs, %u attempts, %u stopped, %u violations\n", what,
		all.points, all.kills, all.tally.jobs, all.tally.attempts, all.tally.stops, all.wrong);
	assert_int_equal(all.wrong, 0);
}

/* All points, or `n` of them spread evenly from a place that is drawn. */
static size_t choose(struct rng *rng, uint64_t calls, size_t n, uint64_t **out)
{
	bool all = getenv("SOAK") || n >= calls;
	size_t count = all ? calls : n;
	double step = (double)calls / (double)count, from = all ? 0 : rng_uniform(rng) * step;

	*out = mem_alloc((count + 1) * sizeof(**out));
	for (size_t i = 0; i < count; i++)
		(*out)[i] = 1 + (uint64_t)(from + step * (double)i);
	return count;
}

static const struct {
	const char *what;
	size_t n; /* points without SOAK */
} variants[] = {
	{ "kill", 24 },
	{ "kill-after", 12 },
	{ "torn", 12 },
	{ "enospc", 8 },
	{ "eio", 8 },
	{ "short", 4 },
};

static void test_every_call(void **state)
{
	struct rng rng = property("a daemon that dies at any write loses nothing and does nothing twice");
	const char *at = getenv("AT"), *what = getenv("WHAT");
	struct tally tally = { 0 };
	uint32_t wrong = 0, kills = 0;
	uint64_t calls, *points;

	(void)state;
	if (at && what) {
		uint64_t one = strtoull(at, NULL, 10);

		sweep(what, &one, 1);
		return;
	}
	calls = scripted((struct fault){ 0, "nothing" }, &tally, &wrong, &kills);
	printf("%llu calls, %u jobs, %u attempts, %u stopped\n", (unsigned long long)calls, tally.jobs,
		tally.attempts, tally.stops);
	assert_int_equal(wrong, 0);
	assert_true(calls > 100);
	assert_true(tally.stops > 0);
	for (size_t i = 0; i < COUNT(variants); i++) {
		size_t n = choose(&rng, calls, variants[i].n, &points);

		if (!what || !strcmp(what, variants[i].what))
			sweep(variants[i].what, points, n);
		free(points);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_call),
	};

	if (argc == 5 && !strcmp(argv[1], "job"))
		return crash_job(argv + 2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
