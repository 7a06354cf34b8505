/*
 * Nothing lost, nothing twice: the daemon is killed at every call that changes what a
 * crash leaves behind, its disk is full or failing there, and it is killed at random
 * under load.
 *
 * A run of every point takes long: by default some are drawn (SEED), SOAK=1 takes all,
 * and AT=17 WHAT=torn repeats one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/client.h"
#include "base/mem.h"
#include "live/live_job.h"
#include "support/crash.h"
#include "support/property.h"

enum { WORKERS = 4, AFTER = 97 };

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

/* Refused where a call before it, whose answer was lost, has done it.  Takes `body`. */
static void tell(struct yard *y, uint32_t id, const char *verb, json_t *body)
{
	char path[64];
	int status;

	snprintf(path, sizeof(path), "/v1/jobs/%u/%s", id, verb);
	status = yard_ask(y, "POST", path, body, NULL);
	if (status != 200 && status != 409 && status != 404)
		yard_wrong(y, "%s: %d", path, status);
	json_decref(body);
}

static void change(struct yard *y, uint32_t id, const char *verb)
{
	tell(y, id, verb, NULL);
}

/* Takes `body`. */
static void administer(struct yard *y, const char *path, json_t *body)
{
	int status = yard_ask(y, "POST", path, body, NULL);

	if (status != 200)
		yard_wrong(y, "%s: %d", path, status);
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
	tell(y, longest, "progress",
		json_pack("{s:i,s:i,s:i}", "attempt", 1, "step", 10, "total", 100));
	tell(y, longest, "checkpointed", json_pack("{s:i,s:i}", "attempt", 1, "step", 10));
	/* Shorter ones: they preempt it. */
	yard_submit(y, with(sized(yard_job(y, "sweep", 0.05, 0), 1, 0.1), "array", json_string("0-3")),
		4, "COMPLETED", 0);
	dep = yard_submit(y,
		with(sized(yard_job(y, "dep", 0, 0), 1, 0.1), "after",
			json_pack("[{s:s,s:i}]", "kind", "afterok", "job", (int)longest)),
		1, "COMPLETED", 0);
	if (dep)
		yard_promise(y, dep)->after = longest;
	held = yard_submit(y, with(sized(yard_job(y, "held", 0.02, 0), 1, 1), "hold", json_true()),
		1, "COMPLETED", 0);
	parked = yard_submit(y, sized(yard_job(y, "parked", 0.2, 0), 1, 1), 1, "COMPLETED", 0);
	doomed = yard_submit(y, sized(yard_job(y, "doomed", 20, 0), 2, 30), 1, "CANCELLED", 0);
	yard_submit(y, with(sized(yard_job(y, "bad", 0, 3), 1, 0.1), "retries", json_integer(1)), 1,
		"FAILED", 3);
	tell(y, held, "update", json_pack("{s:i}", "priority", 3));
	administer(y, "/v1/policy", json_pack("{s:s}", "policy", "las"));
	administer(y, "/v1/quota", json_pack("{s:s,s:i}", "tenant", "physics", "weight", 2));
	yard_wait_started(y, parked);
	tell(y, parked, "hold", json_pack("{s:b}", "stop", 1));
	change(y, held, "release");
	change(y, parked, "release");
	yard_submit(y, with(yard_job(y, "late", 0.02, 0), "tenant", json_string("biology")), 1,
		"COMPLETED", 0);
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

static bool dies(struct fault fault)
{
	return fault.at && (!strncmp(fault.what, "kill", 4) || !strcmp(fault.what, "torn"));
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
	/* Who comes after it dies as well, somewhere on its way up or soon after. */
	if (dies(fault))
		y.again = (struct fault){ 1 + fault.at * 7 % AFTER, fault.what };
	if (!yard_start(&y, fault))
		yard_restart(&y);
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
	struct rng rng = property(
		"a daemon that dies at any write loses nothing and does nothing twice");
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
	printf("%llu calls, %u jobs, %u attempts, %u stopped\n", (unsigned long long)calls,
		tally.jobs, tally.attempts, tally.stops);
	assert_int_equal(wrong, 0);
	assert_true(calls > 100);
	assert_true(tally.stops > 0);
	for (size_t i = 0; i < COUNT(variants); i++) {
		size_t n = choose(&rng, calls, rounds(variants[i].n), &points);

		if (!what || !strcmp(what, variants[i].what))
			sweep(variants[i].what, points, n);
		free(points);
	}
}

/* ---- a disk that is full, and has room again */

static void done_with(struct yard *y)
{
	struct tally tally = { 0 };
	uint32_t wrong;

	yard_wait_all(y);
	finish(y, &tally);
	wrong = y->wrong;
	yard_close(y);
	assert_int_equal(wrong, 0);
}

static bool contains(const json_t *json, const char *key, const char *text)
{
	const char *said = member_text(json, key);

	return said && strstr(said, text);
}

static void set_mended(const struct yard *y, bool mended)
{
	FILE *file = mended ? fopen(y->mended, "w") : NULL;

	if (file)
		fclose(file);
	else
		unlink(y->mended);
}

/* Asks once: this is about what is said while it cannot be done. */
static void expect_refusal(struct yard *y, const char *why)
{
	json_t *job = yard_job(y, "refused", 0, 0), *answer = NULL;
	int status = client_once(y->client, "POST", "/v1/jobs", job, &answer);

	if (status != 507 || !contains(answer, "detail", why))
		yard_wrong(y, "a submission to a disk that fails is answered %d: %s", status,
			answer ? member_text(answer, "detail") : "nothing");
	json_decref(answer);
	json_decref(job);
}

static void expect_queue_says(struct yard *y, const char *why)
{
	char *command = mem_printf("'%s' queue --socket '%s' 2>&1", getenv("STINT"), y->socket);
	FILE *in = popen(command, "r");
	char text[1024];
	size_t n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

	text[n] = 0;
	if (!in || pclose(in) != 0 || !strstr(text, why))
		yard_wrong(y, "stint queue does not say what is wrong but: %s", text);
	free(command);
}

static void expect_sick(struct yard *y, const char *why)
{
	json_t *answer = NULL;
	int status = client_once(y->client, "GET", "/healthz", NULL, &answer);

	if (status != 503 || !contains(answer, "detail", why))
		yard_wrong(y, "/healthz says %d %s", status,
			answer ? member_text(answer, "detail") : "");
	json_decref(answer);
	expect_queue_says(y, why);
}

static void wait_healthy(struct yard *y)
{
	for (int i = 0; i < 3000; i++) {
		if (client_once(y->client, "GET", "/healthz", NULL, NULL) == 200)
			return;
		nap_s(0.01);
	}
	yard_wrong(y, "it does not recover");
}

static void wait_line(struct yard *y, uint32_t job, const char *what)
{
	char want[64], line[256];

	snprintf(want, sizeof(want), "%u 1 %s ", job, what);
	for (int i = 0; i < 3000; i++) {
		FILE *in = fopen(y->lines, "r");
		bool found = false;

		while (in && !found && fgets(line, sizeof(line), in))
			found = !strncmp(line, want, strlen(want));
		if (in)
			fclose(in);
		if (found)
			return;
		nap_s(0.01);
	}
	yard_wrong(y, "job %u has no line \"%s\"", job, what);
}

/* Waits for a job to end, and may begin while its end cannot be written down. */
struct waiter {
	const struct yard *yard;
	uint32_t job;
	char state[32];
};

static void *wait_for_end(void *ctx)
{
	struct waiter *w = ctx;
	struct client *client = yard_client(w->yard);
	json_t *answer = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/v1/jobs/%u/wait?timeout_s=25", w->job);
	client_once(client, "GET", path, NULL, &answer);
	snprintf(w->state, sizeof(w->state), "%s", answer ? member_text(answer, "state") : "nothing");
	json_decref(answer);
	client_close(client);
	return NULL;
}

static void sick_disk(const char *what, const char *why)
{
	struct waiter waiter;
	pthread_t thread;
	struct yard y;
	uint32_t running, starts;

	yard_open(&y, what);
	set_mended(&y, true);
	yard_start(&y, (struct fault){ 1, what });
	/* With nothing under way, so that nothing but the attempt itself shows that it works again. */
	set_mended(&y, false);
	expect_refusal(&y, why);
	expect_sick(&y, why);
	set_mended(&y, true);
	wait_healthy(&y);
	running = yard_submit(&y, yard_job(&y, "running", 0.5, 0), 1, "COMPLETED", 0);
	yard_wait_started(&y, running);
	/* And with a job that ends meanwhile. */
	set_mended(&y, false);
	expect_refusal(&y, why);
	expect_sick(&y, why);
	wait_line(&y, running, "end");
	waiter = (struct waiter){ .yard = &y, .job = running };
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &waiter), 0);
	expect_refusal(&y, why);
	starts = y.starts;
	set_mended(&y, true);
	pthread_join(thread, NULL);
	if (strcmp(waiter.state, "COMPLETED") != 0)
		yard_wrong(&y, "who waited for the job hears that it is %s", waiter.state);
	wait_healthy(&y);
	yard_submit(&y, yard_job(&y, "after", 0, 0), 1, "COMPLETED", 0);
	yard_wait_all(&y);
	if (y.starts != starts)
		yard_wrong(&y, "it had to be started again");
	done_with(&y);
}

static void test_full_disk(void **state)
{
	(void)state;
	sick_disk("enospc-from", "disk full");
}

static void test_failing_disk(void **state)
{
	(void)state;
	sick_disk("eio-from", "disk failing");
}

/* ---- a directory that cannot be used for a while */

/* A file where job 1 has, or would have, its directory. */
static void obstruct(const struct yard *y, bool on)
{
	char *jobs = mem_printf("%s/jobs", y->state), *one = mem_printf("%s/1", jobs),
	     *away = mem_printf("%s/away", jobs);
	FILE *file;

	mkdir(jobs, 0711);
	if (on) {
		rename(one, away);
		file = fopen(one, "w");
		assert_non_null(file);
		fclose(file);
	} else {
		unlink(one);
		rename(away, one);
	}
	free(jobs);
	free(one);
	free(away);
}

static void test_cancelled_before_it_could_be_launched(void **state)
{
	struct yard y;

	(void)state;
	yard_open(&y, "cancelled before it could be launched");
	obstruct(&y, true);
	yard_start(&y, (struct fault){ 0 });
	change(&y, yard_submit(&y, yard_job(&y, "blocked", 20, 0), 1, "CANCELLED", 0), "cancel");
	obstruct(&y, false);
	done_with(&y);
}

static void test_not_found_at_once(void **state)
{
	struct yard y;
	uint32_t job;

	(void)state;
	yard_open(&y, "not found at once after a restart");
	yard_start(&y, (struct fault){ 0 });
	job = yard_submit(&y, yard_job(&y, "hidden", 0.3, 0), 1, "COMPLETED", 0);
	yard_wait_started(&y, job);
	yard_kill(&y);
	obstruct(&y, true);
	yard_start(&y, (struct fault){ 0 });
	wait_line(&y, job, "end");
	obstruct(&y, false);
	done_with(&y);
}

/* ---- a lock that outlives its daemon for a moment */

static void test_lock_held_a_moment_longer(void **state)
{
	struct yard y;
	char *path;
	pid_t child;
	int fd;

	(void)state;
	yard_open(&y, "a lock held a moment longer");
	path = mem_printf("%s/lock", y.state);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
	child = fork();
	if (child == 0) {
		nap_s(0.1);
		_exit(0);
	}
	close(fd);
	free(path);
	if (!yard_start(&y, (struct fault){ 0 }))
		yard_wrong(&y, "it does not come up");
	waitpid(child, NULL, 0);
	done_with(&y);
}

/* ---- killed at random under load */

enum { SUBMITTERS = 3 };

struct submitter {
	struct yard *yard;
	struct rng rng;
	uint32_t number;
	const atomic_bool *enough;
	VEC(struct promise) promises;
};

/* Under its key until it is there; without a key once, and then nobody knows. */
static void submit_one(struct submitter *s, struct client *client, uint32_t serial)
{
	struct promise p = { .n = 1, .state = "COMPLETED" };
	uint64_t kind = rng_below(&s->rng, 10);
	json_t *job, *answer = NULL;
	int status;

	snprintf(p.name, sizeof(p.name), "s%u-%u", s->number, serial);
	job = yard_job(s->yard, p.name, kind < 5 ? 0 : 0.05, 0);
	if (kind == 9) {
		p.n = 3;
		with(job, "array", json_string("1-3"));
	}
	if (kind == 8)
		json_object_del(job, "key");
	if (kind < 3)
		sized(job, 1 + (int)kind, 0.05);
	do {
		json_decref(answer);
		answer = NULL;
		status = client_once(client, "POST", "/v1/jobs", job, &answer);
		if (status == 0)
			nap_s(0.005);
	} while (status == 0 && kind != 8);
	p.certain = status == 200 || status == 201;
	p.id = (uint32_t)member_int(json_array_get(json_object_get(answer, "jobs"), 0), "id", 0);
	if (status && !p.certain)
		yard_wrong(s->yard, "%s is refused with %d", p.name, status);
	vec_push(&s->promises, p);
	json_decref(answer);
	json_decref(job);
}

static void *submit_many(void *ctx)
{
	struct submitter *s = ctx;
	struct client *client = yard_client(s->yard);

	for (uint32_t serial = 1; !atomic_load(s->enough); serial++) {
		submit_one(s, client, serial);
		nap_s(rng_uniform(&s->rng) * 0.04);
	}
	client_close(client);
	return NULL;
}

static void kill_many(struct yard *y, struct rng *rng, size_t kills)
{
	yard_start(y, (struct fault){ 0 });
	for (size_t i = 0; i < kills; i++) {
		/* Often soon, to meet it on its way up. */
		nap_s(rng_below(rng, 4) ? rng_uniform(rng) * 0.3 : rng_uniform(rng) * 0.01);
		yard_kill(y);
		if (!yard_start(y, (struct fault){ 0 })) {
			yard_wrong(y, "it died of itself on its way up");
			yard_restart(y);
		}
	}
}

static void test_random_kills(void **state)
{
	struct rng rng = property("a daemon killed at random under load loses nothing");
	struct submitter submitters[SUBMITTERS];
	pthread_t threads[SUBMITTERS];
	atomic_bool enough = false;
	struct tally tally = { 0 };
	struct yard y;
	char label[64];
	uint32_t wrong;

	(void)state;
	snprintf(label, sizeof(label), "SEED=%llu", (unsigned long long)property_seed());
	yard_open(&y, label);
	y.policy = "srtf";
	for (uint32_t i = 0; i < SUBMITTERS; i++) {
		submitters[i] = (struct submitter){ .yard = &y, .number = i, .enough = &enough };
		rng_for(&submitters[i].rng, property_seed(), RNG_TEST, i + 1);
		assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &submitters[i]), 0);
	}
	kill_many(&y, &rng, rounds(20));
	atomic_store(&enough, true);
	for (uint32_t i = 0; i < SUBMITTERS; i++) {
		pthread_join(threads[i], NULL);
		for (size_t k = 0; k < submitters[i].promises.n; k++)
			vec_push(&y.promises, submitters[i].promises.at[k]);
		vec_fini(&submitters[i].promises);
	}
	yard_wait_all(&y);
	finish(&y, &tally);
	printf("%u kills, %u jobs, %u attempts, %u stopped, %u violations\n", y.kills, tally.jobs,
		tally.attempts, tally.stops, y.wrong);
	wrong = y.wrong;
	yard_close(&y);
	assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_failing_disk),
		cmocka_unit_test(test_cancelled_before_it_could_be_launched),
		cmocka_unit_test(test_not_found_at_once),
		cmocka_unit_test(test_lock_held_a_moment_longer),
		cmocka_unit_test(test_random_kills),
		cmocka_unit_test(test_every_call),
	};

	if (argc == 5 && !strcmp(argv[1], "job"))
		return crash_job(argv + 2);
	if (getenv("TEST"))
		cmocka_set_test_filter(getenv("TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
