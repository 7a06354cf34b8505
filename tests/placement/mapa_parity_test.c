/*
 * Equal to the published MAPA program: scores of its five machines, and its
 * decisions job by job under its own rules of queueing.
 *
 * Its inputs and outputs are under DATA/mapa; DATA is STINT_DATA, else ../shared/data.
 *
 * The program steps through seconds, all jobs wait from the first on, the first that does not
 * fit blocks the others, and starting a job passes over the one behind it until the next second.
 * A job for which no placement is predicted to be better than none waits.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "placement/mapa_score.h"
#include "support/mapa_machine.h"
#include "support/property.h"

/* Every order of every set, one by one. */
static double tried(const struct mapa_graph *graph, uint32_t k)
{
	const struct embed_graph *g = mapa_graph_edges(graph);
	struct embedding best = { .value = 0 };

	for (uint64_t set = (UINT64_C(1) << k) - 1; set;
		set = embed_next_set((UINT64_C(1) << g->n) - 1, set))
		embed_order(g, set, PATTERN_RING, NULL, &best);
	return best.value;
}

/* What the program divides by and calls the best sum is not, for these. */
static bool is_known(const char *machine, uint32_t k, double ours)
{
	static const struct {
		const char *machine;
		uint32_t k;
		double best;
	} known[] = {
		{ "dgx-p", 7, 140 },
		{ "summit", 4, 120 },
		{ "summit", 5, 170 },
		{ "summit", 6, 220 },
		{ "torus-2d", 6, 275 },
		{ "cubeMesh-16", 3, 125 },
		{ "cubeMesh-16", 5, 225 },
		{ "cubeMesh-16", 6, 250 },
	};

	for (size_t i = 0; i < COUNT(known); i++) {
		if (!strcmp(known[i].machine, machine) && known[i].k == k && known[i].best == ours)
			return true;
	}
	return false;
}

static void best_rings_are_as_published(void **state)
{
	uint32_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < MAPA_MACHINES; i++) {
		struct cluster cluster = { 0 };
		struct mapa_graph *graph = machine_graph(&mapa_machines[i], &cluster);

		for (uint32_t k = 2; k < COUNT(mapa_machines[i].best) && mapa_machines[i].best[k]; k++) {
			double ours = mapa_best_sum(graph, k);

			assert_true(ours == tried(graph, k));
			if (ours != mapa_machines[i].best[k])
				printf("%s, ring of %u: the best sum is %g, published %u\n",
					mapa_machines[i].name, k, ours, mapa_machines[i].best[k]);
			wrong += !(ours == mapa_machines[i].best[k] ||
				is_known(mapa_machines[i].name, k, ours));
		}
		mapa_graph_destroy(graph);
		cluster_fini(&cluster);
	}
	assert_int_equal(wrong, 0);
}

static void predicted_bandwidth_is_as_published(void **state)
{
	static const struct {
		uint32_t links[EMBED_KINDS]; /* host, single, double */
		double GBps;
	} rows[] = {
		{ { 0, 0, 1 }, 39.08 },
		{ { 0, 1, 0 }, 21.61 },
		{ { 1, 0, 0 }, 10.08 },
		{ { 0, 0, 2 }, 58.93 },
		{ { 0, 1, 1 }, 44.58 },
		{ { 0, 2, 0 }, 27.72 },
		{ { 1, 0, 1 }, 18.92 },
		{ { 2, 0, 0 }, 10.37 },
		{ { 1, 1, 0 }, 0.66 },
		{ { 0, 0, 3 }, 77.05 },
		{ { 0, 3, 0 }, 33.05 },
		{ { 0, 0, 4 }, 94.48 },
		{ { 2, 3, 0 }, 53.61 },
		{ { 0, 5, 0 }, 42.91 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_true(fabs(bandwidth_published(rows[i].links) - rows[i].GBps) < 0.0051);
}

/* ---- jobs */

struct job_line {
	uint32_t gpus, service_s;
	bool sensitive;
};

struct placed {
	bool there;
	int64_t start_s, end_s;
	uint64_t devices;
	struct embedding order;
	double normalised;
};

struct queue {
	const struct machine *machine;
	VEC(struct job_line) jobs;
	VEC(struct placed) placed;
	VEC(uint32_t) waiting;
	VEC(uint32_t) running;
	uint64_t busy;
	int64_t now_s;
	const struct machine_links *links; /* every choice is tried by hand; NULL: it is not */
	uint32_t tried;
};

static void read_jobs(struct queue *q)
{
	struct lines lines;
	struct slice line;
	struct file file;

	mapa_data("jobs300.txt", &file);
	for (lines = lines_of(file.at, file.n); lines_next(&lines, &line);) {
		struct job_line job = { .gpus = (uint32_t)mapa_number(slice_cut(&line, ',')) };

		assert_true(slice_is(slice_cut(&line, ','), "ring"));
		slice_cut(&line, ',');
		job.service_s = (uint32_t)mapa_number(slice_cut(&line, ','));
		job.sensitive = mapa_number(slice_cut(&line, ',')) != 0;
		vec_push(&q->waiting, (uint32_t)q->jobs.n);
		vec_push(&q->jobs, job);
		vec_push(&q->placed, (struct placed){ 0 });
	}
	file_fini(&file);
}

enum policy { BASELINE, TOPO_AWARE, GREEDY, PRESERVE, POLICIES };
static const char *const policy_names[] = { "baseline", "topoAware", "greedy", "preserve" };

static enum mapa_rule rule_of(enum policy policy, const struct job_line *job)
{
	static const enum mapa_rule rules[] = { MAPA_LOWEST, MAPA_SOCKET, MAPA_GREEDY };

	if (policy == PRESERVE)
		return job->sensitive ? MAPA_PREDICTED : MAPA_PRESERVE;
	return rules[policy];
}

/* The order of the devices that the program reports: within a socket the lowest first, else the best. */
static void put_in_order(const struct mapa_graph *graph, enum mapa_rule rule,
	const struct mapa_choice *choice, struct embedding *out)
{
	*out = (struct embedding){ .value = -INFINITY };
	if (rule == MAPA_SOCKET && choice->value > 0) {
		for (uint64_t left = choice->devices; left; left &= left - 1)
			out->at[out->n++] = (uint8_t)__builtin_ctzll(left);
		embed_measure(mapa_graph_edges(graph), PATTERN_RING, out);
		return;
	}
	embed_order(mapa_graph_edges(graph), choice->devices, PATTERN_RING,
		rule == MAPA_PREDICTED ? bandwidth_published : NULL, out);
}

/* Of these devices, or of none, the same as by trying every ring of every set. */
static void try_by_hand(struct queue *q, uint64_t free_, uint32_t n, enum mapa_rule rule,
	double least, uint64_t got)
{
	uint64_t want;
	struct tried t;

	if (!q->links || rule == MAPA_LOWEST || rule == MAPA_SOCKET)
		return;
	want = try_sets(q->links, free_, n, rule);
	if (want)
		try_rings(q->links, want, &t);
	if (want && rule == MAPA_PREDICTED && t.predicted <= least + 1e-9)
		want = 0;
	if (want != got)
		fail_msg("%s: %u of %llx by rule %d: %llx, and %llx by trying all",
			q->machine->name, n, (unsigned long long)free_, (int)rule,
			(unsigned long long)got, (unsigned long long)want);
	q->tried++;
}

static bool start(struct queue *q, struct mapa_graph *graph, enum policy policy, uint32_t id)
{
	static const uint32_t no_links[EMBED_KINDS];
	const struct job_line *job = &q->jobs.at[id];
	struct placed *placed = &q->placed.at[id];
	enum mapa_rule rule = rule_of(policy, job);
	double least = rule == MAPA_PREDICTED ? bandwidth_published(no_links) : -INFINITY;
	struct mapa_choice choice;
	uint64_t free_ = ((UINT64_C(1) << q->machine->gpus) - 1) & ~q->busy;
	bool found = mapa_choose(graph, free_, job->gpus, rule, least, &choice);

	try_by_hand(q, free_, job->gpus, rule, least, found ? choice.devices : 0);
	if (!found)
		return false;
	*placed = (struct placed){ .there = true, .start_s = q->now_s, .devices = choice.devices };
	placed->end_s = q->now_s + job->service_s;
	put_in_order(graph, rule, &choice, &placed->order);
	placed->normalised = placed->order.sum / q->machine->best[job->gpus];
	q->busy |= choice.devices;
	vec_push(&q->running, id);
	return true;
}

static void end_jobs(struct queue *q)
{
	size_t kept = 0;

	for (size_t i = 0; i < q->running.n; i++) {
		const struct placed *p = &q->placed.at[q->running.at[i]];

		if (p->end_s == q->now_s)
			q->busy &= ~p->devices;
		else
			q->running.at[kept++] = q->running.at[i];
	}
	q->running.n = kept;
}

/* Starting one takes it out of the list that is being gone through: the next moves up and is passed over. */
static void start_jobs(struct queue *q, struct mapa_graph *graph, enum policy policy)
{
	for (size_t i = 0; i < q->waiting.n; i++) {
		if (!start(q, graph, policy, q->waiting.at[i]))
			return;
		memmove(&q->waiting.at[i], &q->waiting.at[i + 1],
			sizeof(*q->waiting.at) * (q->waiting.n - i - 1));
		q->waiting.n--;
	}
}

static void run_queue(struct queue *q, struct mapa_graph *graph, enum policy policy)
{
	read_jobs(q);
	while (q->waiting.n > 0 || q->running.n > 0) {
		end_jobs(q);
		start_jobs(q, graph, policy);
		q->now_s++;
		assert_true(q->now_s < 100000);
	}
}

static void queue_fini(struct queue *q)
{
	vec_fini(&q->jobs);
	vec_fini(&q->placed);
	vec_fini(&q->waiting);
	vec_fini(&q->running);
}

/* ---- job by job */

enum {
	ID,
	START,
	END,
	QUEUED,
	RAN,
	SUM,
	NORMALISED,
	SENSITIVE,
	GPUS,
	HOST,
	PREDICTED,
	TASK,
	DEVICES,
	FIELDS
};

static double real(struct slice text)
{
	double x = NAN;

	slice_double(text, &x);
	return x;
}

static bool same_devices(struct slice text, const struct embedding *order)
{
	for (uint32_t i = 0; i < order->n; i++) {
		if (mapa_number(slice_cut(&text, ',')) != order->at[i] + 1)
			return false;
	}
	return slice_trim(text).n == 0;
}

static bool agrees(struct slice line, const struct queue *q)
{
	struct slice field[FIELDS];
	const struct placed *p;
	const struct embedding *e;

	for (int i = 0; i < FIELDS; i++)
		field[i] = slice_cut(&line, ' ');
	p = &q->placed.at[mapa_number(field[ID])];
	e = &p->order;
	return p->there && p->start_s == mapa_number(field[START]) &&
		p->end_s == mapa_number(field[END]) && e->sum == (double)mapa_number(field[SUM]) &&
		fabs(p->normalised - real(field[NORMALISED])) < 1e-6 &&
		fabs((double)e->links[LINK_HOST] / e->n - real(field[HOST])) < 1e-6 &&
		fabs(bandwidth_published(e->links) - real(field[PREDICTED])) < 1e-6 &&
		same_devices(field[DEVICES], e);
}

static void compare_log(enum policy policy, const struct queue *q)
{
	char *name = mem_printf("measured-dgx-v%sLog.csv", policy_names[policy]);
	uint32_t compared = 0, wrong = 0;
	struct lines lines;
	struct slice line;
	struct file file;
	bool heading = true;

	mapa_data(name, &file);
	for (lines = lines_of(file.at, file.n); lines_next(&lines, &line); heading = false) {
		if (heading || !slice_trim(line).n)
			continue;
		compared++;
		if (!agrees(line, q) && wrong++ < 5)
			print_error("%s: differs: %.*s\n", name, (int)line.n, line.at);
	}
	file_fini(&file);
	free(name);
	assert_int_equal(wrong, 0);
	assert_int_equal(compared, q->jobs.n);
}

static void decides_as_published_job_by_job(void **state)
{
	(void)state;
	for (int policy = 0; policy < POLICIES; policy++) {
		struct cluster cluster = { 0 };
		struct mapa_graph *graph = machine_graph(&mapa_machines[0], &cluster);
		struct queue q = { .machine = &mapa_machines[0] };

		run_queue(&q, graph, (enum policy)policy);
		compare_log((enum policy)policy, &q);
		queue_fini(&q);
		mapa_graph_destroy(graph);
		cluster_fini(&cluster);
	}
}

/* ---- the table of means, over the jobs that need bandwidth */

struct means {
	int64_t makespan_s;
	double sum, normalised, predicted, host;
};

static struct means means_of(const struct queue *q)
{
	struct means m = { 0 };
	uint32_t n = 0;

	for (size_t i = 0; i < q->jobs.n; i++) {
		const struct placed *p = &q->placed.at[i];

		m.makespan_s = p->end_s > m.makespan_s ? p->end_s : m.makespan_s;
		if (!q->jobs.at[i].sensitive)
			continue;
		n++;
		m.sum += p->order.sum;
		m.normalised += p->normalised;
		m.predicted += bandwidth_published(p->order.links);
		m.host += (double)p->order.links[LINK_HOST] / p->order.n;
	}
	m.sum /= n;
	m.normalised /= n;
	m.predicted /= n;
	m.host /= n;
	return m;
}

static const struct means published[][POLICIES] = {
	{ { 2265, 126.2, .832, 45.3, .159 }, { 2265, 128.0, .849, 46.6, .114 },
		{ 2265, 145.4, .984, 56.7, .077 }, { 2274, 118.9, .861, 57.6, .112 } },
	{ { 2265, 62.1, .924, 29.9, .152 }, { 2265, 63.2, .946, 31.0, .107 },
		{ 2265, 65.7, .973, 31.1, .054 }, { 2317, 62.5, .951, 37.4, .098 } },
	{ { 3216, 127.8, .837, 43.6, .256 }, { 3216, 129.8, .856, 44.9, .233 },
		{ 3216, 133.3, .879, 47.8, .203 }, { 3218, 134.5, .891, 48.6, .189 } },
};

/* To the digits that were published. */
static bool same_means(const struct means *a, const struct means *b)
{
	return a->makespan_s == b->makespan_s && fabs(a->sum - b->sum) < .0501 &&
		fabs(a->normalised - b->normalised) < .000501 &&
		fabs(a->predicted - b->predicted) < .0501 && fabs(a->host - b->host) < .000501;
}

static void means_are_as_published(void **state)
{
	uint32_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(published); i++) {
		for (int policy = 0; policy < POLICIES; policy++) {
			struct cluster cluster = { 0 };
			struct mapa_graph *graph = machine_graph(&mapa_machines[i], &cluster);
			struct queue q = { .machine = &mapa_machines[i] };
			struct means m;

			run_queue(&q, graph, (enum policy)policy);
			m = means_of(&q);
			printf("%-7s %-9s makespan %lld, sum %.1f, normalised %.3f, predicted %.1f, host %.3f\n",
				mapa_machines[i].name, policy_names[policy],
				(long long)m.makespan_s, m.sum, m.normalised, m.predicted, m.host);
			wrong += !same_means(&m, &published[i][policy]);
			queue_fini(&q);
			mapa_graph_destroy(graph);
			cluster_fini(&cluster);
		}
	}
	assert_int_equal(wrong, 0);
}

/* ---- all five machines, also where nothing was recorded */

static void check_scores(const struct machine *m)
{
	struct cluster cluster = { 0 };
	struct mapa_graph *graph = machine_graph(m, &cluster);
	struct machine_links links;
	uint32_t most = m->gpus > 8 ? 5 : m->gpus, sets = 0;

	machine_read(m, &links);
	for (uint64_t set = 1; set < UINT64_C(1) << m->gpus; set++) {
		uint32_t n = (uint32_t)__builtin_popcountll(set);
		struct mapa_choice greedy, predicted;
		struct tried t;

		if (n < 2 || n > most)
			continue;
		sets++;
		try_rings(&links, set, &t);
		assert_true(mapa_choose(graph, set, n, MAPA_GREEDY, -INFINITY, &greedy));
		assert_true(mapa_choose(graph, set, n, MAPA_PREDICTED, -INFINITY, &predicted));
		assert_true(greedy.value == t.sum && fabs(predicted.value - t.predicted) < 1e-9);
	}
	printf("%-11s scores of all %u sets of 2 to %u devices\n", m->name, sets, most);
	mapa_graph_destroy(graph);
	cluster_fini(&cluster);
}

static void scores_are_those_of_all_rings(void **state)
{
	(void)state;
	for (size_t i = 0; i < MAPA_MACHINES; i++)
		check_scores(&mapa_machines[i]);
}

static void decides_as_trying_every_ring_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < MAPA_MACHINES; i++) {
		struct machine_links links;
		uint32_t tried = 0;

		machine_read(&mapa_machines[i], &links);
		for (int policy = GREEDY; policy < POLICIES; policy++) {
			struct cluster cluster = { 0 };
			struct mapa_graph *graph = machine_graph(&mapa_machines[i], &cluster);
			struct queue q = { .machine = &mapa_machines[i], .links = &links };

			run_queue(&q, graph, (enum policy)policy);
			tried += q.tried;
			queue_fini(&q);
			mapa_graph_destroy(graph);
			cluster_fini(&cluster);
		}
		printf("%-11s %u choices by greedy and preserve\n", mapa_machines[i].name, tried);
		assert_true(tried >= 600);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(best_rings_are_as_published),
		cmocka_unit_test(predicted_bandwidth_is_as_published),
		cmocka_unit_test(decides_as_published_job_by_job),
		cmocka_unit_test(means_are_as_published),
		cmocka_unit_test(scores_are_those_of_all_rings),
		cmocka_unit_test(decides_as_trying_every_ring_does),
	};

	return cmocka_run_group_tests_name("placement/mapa_parity", tests, NULL, NULL);
}
