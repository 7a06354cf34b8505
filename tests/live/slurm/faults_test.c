/*
 * Whatever goes wrong between the hands and Slurm, every job runs to its end
 * once, and never twice at a time.
 */
#include "live/slurm/play.h"

enum { JOBS = 40, DEVICES = 12 };

enum phase { WAITS, LAUNCHED, RUNS, DONE };

/* What a daemon would have written down. */
struct record {
	enum phase phase;
	uint32_t attempt, gpus, first;
	bool stop, held;
};

struct model {
	struct play p;
	struct rng rng;
	struct record jobs[JOBS + 1];
	bool taken[DEVICES];
	uint32_t restarts, attempts;
};

static void free_devices(struct model *m, struct record *r)
{
	for (uint32_t i = 0; i < r->gpus; i++)
		m->taken[r->first + i] = false;
}

static void note_end(struct model *m, struct record *r, const struct ending *e)
{
	bool fine = e->known && !e->bounced && !e->node_failed && e->code == 0 && !e->signal;

	free_devices(m, r);
	r->stop = false;
	r->phase = fine ? DONE : WAITS;
	if (!e->known)
		fail_msg("job %u, attempt %u: %s", e->job, e->attempt, e->text);
	if (fine)
		hands_forget(m->p.hands, e->job);
}

static void note(struct model *m, const struct news *n)
{
	struct record *r = &m->jobs[n->job];

	if (n->kind == NEWS_SAID)
		return;
	assert_true(n->job >= 1 && n->job <= JOBS);
	if (n->kind == NEWS_BEGUN) {
		assert_int_equal(n->attempt, r->attempt);
		assert_true(r->phase == LAUNCHED || r->phase == RUNS);
		r->phase = RUNS;
	} else if (n->kind == NEWS_ENDED) {
		assert_int_equal(n->attempt, r->attempt);
		assert_true(r->phase == LAUNCHED || r->phase == RUNS);
		note_end(m, r, &n->ending);
	} else if (!strcmp(n->word, "hold")) {
		r->held = true;
	} else if (!strcmp(n->word, "release")) {
		r->held = false;
	} else if (!strcmp(n->word, "outside")) {
		assert_string_equal(member_text(n->body, "state"), "COMPLETED");
		assert_int_equal(r->phase, WAITS);
		r->phase = DONE;
		hands_forget(m->p.hands, n->job);
	} else if (strcmp(n->word, "requeue") != 0) {
		fail_msg("job %u: %s", n->job, n->word);
	}
}

static void take_news(struct model *m)
{
	for (size_t i = 0; i < m->p.news.n; i++)
		note(m, &m->p.news.at[i]);
	play_clear(&m->p);
}

/* So many free devices of one node; DEVICES: none. */
static uint32_t find_room(const struct model *m, uint32_t n)
{
	for (uint32_t node = 0; node < 3; node++) {
		for (uint32_t first = node * 4; first + n <= node * 4 + 4; first++) {
			uint32_t k = 0;

			while (k < n && !m->taken[first + k] && m->p.machine.devices[first + k].up)
				k++;
			if (k == n)
				return first;
		}
	}
	return DEVICES;
}

static void launch_some(struct model *m, bool troubled)
{
	for (uint32_t job = 1; job <= JOBS; job++) {
		struct record *r = &m->jobs[job];
		uint32_t first = r->phase == WAITS && !r->held ? find_room(m, r->gpus) : DEVICES;

		if (first == DEVICES || rng_below(&m->rng, 3) == 0)
			continue;
		r->first = first;
		r->attempt++;
		r->phase = LAUNCHED;
		m->attempts++;
		for (uint32_t i = 0; i < r->gpus; i++)
			m->taken[first + i] = true;
		/* A daemon may die between writing it down and doing it. */
		if (!troubled || rng_below(&m->rng, 50))
			play_launch(&m->p, job, r->attempt, first, r->gpus);
	}
}

static void stop_one(struct model *m)
{
	uint32_t job = 1 + (uint32_t)rng_below(&m->rng, JOBS);
	struct record *r = &m->jobs[job];

	if (r->phase != LAUNCHED && r->phase != RUNS)
		return;
	r->stop = true;
	play_stop(&m->p, job, r->attempt, rng_below(&m->rng, 20) == 0);
}

static void come_back(struct model *m)
{
	play_open(&m->p);
	for (uint32_t job = 1; job <= JOBS; job++) {
		if (m->jobs[job].phase != DONE)
			play_expect(&m->p, job, NULL);
	}
	hands_expected_all(m->p.hands);
	for (uint32_t job = 1; job <= JOBS; job++) {
		struct record *r = &m->jobs[job];

		if (r->phase != LAUNCHED && r->phase != RUNS)
			continue;
		play_claim(&m->p, job, r->attempt, r->first, r->gpus, r->stop);
		if (r->stop)
			play_stop(&m->p, job, r->attempt, false);
	}
}

/* The daemon dies, with or without having written down what it was told last. */
static void crash(struct model *m)
{
	struct fake_faults faults = m->p.fake.faults;

	if (rng_below(&m->rng, 2))
		take_news(m);
	play_close(&m->p);
	play_clear(&m->p);
	fake_pass(&m->p.fake, rng_uniform(&m->rng) * 5);
	m->p.fake.faults = (struct fake_faults){ 0 };
	m->p.fake.down = false;
	come_back(m);
	m->p.fake.faults = faults;
	m->restarts++;
}

static void node_trouble(struct model *m)
{
	struct fake_node *node = &m->p.fake.nodes.at[rng_below(&m->rng, 3)];

	if (node->down)
		node->down = false;
	else
		fake_fail_node(&m->p.fake, node->name);
}

static void user_trouble(struct model *m)
{
	struct fake_job *j = fake_of(&m->p.fake, "x", 1 + (uint32_t)rng_below(&m->rng, JOBS));

	if (j && j->state == FAKE_RUNNING)
		fake_requeue(&m->p.fake, j, rng_below(&m->rng, 2));
}

static void trouble(struct model *m)
{
	switch (rng_below(&m->rng, 60)) {
	case 0:
		crash(m);
		break;
	case 1:
	case 2:
		node_trouble(m);
		break;
	case 3:
		m->p.fake.down = !m->p.fake.down;
		break;
	case 4:
		user_trouble(m);
		break;
	case 5:
		m->p.fake.alive = false;
		break;
	case 6:
	case 7:
	case 8:
	case 9:
		stop_one(m);
		break;
	}
}

static void step(struct model *m, bool troubled)
{
	fake_pass(&m->p.fake, 0.05 + rng_uniform(&m->rng) * 0.4);
	if (troubled)
		trouble(m);
	play_poll(&m->p);
	take_news(m);
	hands_refresh(m->p.hands, &m->p.machine);
	launch_some(m, troubled);
}

static bool all_done(const struct model *m)
{
	for (uint32_t job = 1; job <= JOBS; job++) {
		if (m->jobs[job].phase != DONE)
			return false;
	}
	return true;
}

static void begin(struct model *m, uint64_t seed)
{
	*m = (struct model){ 0 };
	play_init(&m->p, seed);
	m->p.patience_s = 5;
	rng_init(&m->rng, seed, RNG_TEST);
	m->p.fake.min_job_age_s = 1e9;
	m->p.fake.work_s = 12;
	for (uint32_t job = 1; job <= JOBS; job++)
		m->jobs[job].gpus = 1 + (uint32_t)rng_below(&m->rng, 3);
	come_back(m);
	m->p.fake.faults = (struct fake_faults){ .after = 0.03,
		.before = 0.03,
		.death = 0.02,
		.garbage = 0.01,
		.late = 0.02,
		.away = 0.03 };
}

static void mend(struct model *m)
{
	m->p.fake.faults = (struct fake_faults){ 0 };
	m->p.fake.down = false;
	for (size_t i = 0; i < m->p.fake.nodes.n; i++)
		m->p.fake.nodes.at[i].down = false;
	fake_pass(&m->p.fake, 100); /* nothing comes late any more */
	crash(m);
}

static void check(struct model *m, uint64_t seed)
{
	if (m->p.fake.double_runs)
		fail_msg("seed %llu: %llu double runs", (unsigned long long)seed,
			(unsigned long long)m->p.fake.double_runs);
	for (uint32_t job = 1; job <= JOBS; job++) {
		struct fake_job *j = fake_of(&m->p.fake, "x", job);

		if (m->jobs[job].phase != DONE)
			fail_msg("seed %llu: job %u is in phase %d, attempt %u",
				(unsigned long long)seed, job, m->jobs[job].phase,
				m->jobs[job].attempt);
		if (m->p.fake.completed.n <= job || m->p.fake.completed.at[job] != 1)
			fail_msg("seed %llu: job %u completed %u times", (unsigned long long)seed,
				job, m->p.fake.completed.n > job ? m->p.fake.completed.at[job] : 0);
		if (!j || j->state != FAKE_ENDED)
			fail_msg("seed %llu: job %u is still there", (unsigned long long)seed, job);
	}
}

static void course(uint64_t seed, struct model *m)
{
	begin(m, seed);
	for (int i = 0; i < 600; i++)
		step(m, true);
	mend(m);
	for (int i = 0; i < 4000 && !all_done(m); i++)
		step(m, false);
	play_pass(&m->p, 5);
	take_news(m);
	check(m, seed);
	play_fini(&m->p);
}

static void test_exactly_once(void **state)
{
	uint64_t first = property_seed(), n = getenv("SEED") ? 1 : rounds(6), attempts = 0,
		 restarts = 0;
	struct model *m = mem_alloc(sizeof(*m));

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++) {
		printf("[   SEED   ] %llu: every job runs to its end once\n", (unsigned long long)seed);
		course(seed, m);
		attempts += m->attempts;
		restarts += m->restarts;
	}
	printf("%llu attempts, %llu restarts of the daemon\n", (unsigned long long)attempts,
		(unsigned long long)restarts);
	free(m);
}

/* ---- the bar: no submission is lost and none is doubled */

static void test_submissions(void **state)
{
	uint32_t n = getenv("SOAK") ? 10000 : 2000, given = 0, doubles = 0, lost = 0;
	struct play p;
	size_t *alive;

	(void)state;
	printf("[   SEED   ] %llu: %u submissions\n", (unsigned long long)property_seed(), n);
	play_init(&p, property_seed());
	p.fake.min_job_age_s = 1e9;
	play_open(&p);
	hands_expected_all(p.hands);
	p.fake.faults = (struct fake_faults){ .after = 0.1,
		.before = 0.05,
		.death = 0.05,
		.garbage = 0.03,
		.late = 0.05,
		.away = 0.05 };
	while (given < n) {
		for (uint32_t i = 0; i < 20 && given < n; i++)
			play_expect(&p, ++given, NULL);
		play_pass(&p, 0.3);
		play_clear(&p);
	}
	play_pass(&p, 600);
	p.fake.faults = (struct fake_faults){ 0 };
	play_pass(&p, 200);
	alive = mem_alloc((n + 1) * sizeof(*alive));
	for (size_t i = 0; i < p.fake.jobs.n; i++) {
		const struct fake_job *j = p.fake.jobs.at[i];

		assert_int_equal(j->runs, 0);
		if (j->state != FAKE_ENDED)
			alive[atoi(j->comment + 8)]++;
	}
	for (uint32_t job = 1; job <= n; job++) {
		lost += alive[job] == 0;
		doubles += alive[job] > 1;
	}
	printf("%u submitted through %llu requests and %llu bridges: %llu reached Slurm, %u lost, %u doubled\n",
		n, (unsigned long long)p.fake.requests, (unsigned long long)p.fake.opens,
		(unsigned long long)p.fake.submitted, lost, doubles);
	assert_int_equal(lost, 0);
	assert_int_equal(doubles, 0);
	free(alive);
	play_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exactly_once),
		cmocka_unit_test(test_submissions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
