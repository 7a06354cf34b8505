/*
 * Pooling: who is put where, and what nobody may have too much of.
 */
#include <math.h>
#include <string.h>

#include "io/cluster_io.h"
#include "support/property.h"
#include "support/referee.h"
#include "support/scene.h"

/* A host without devices, and servers with hardly any CPUs. */
static const char lab[] = "network: {node_link: 5GB/s}\n"
			  "pooling: {rtt: 0.1ms, pcie: 10GB/s, attach: 1s, detach: 0.2s}\n"
			  "nodes:\n"
			  "  - {name: host, count: 2, devices: 0, type: v100, cpus: 8}\n"
			  "  - {name: server, count: 2, devices: 2, type: v100, cpus: 1}\n";

static void lab_init(struct scene *s, const char *text)
{
	struct err err = { 0 };

	scene_init(s, "1x1");
	cluster_fini(&s->cluster);
	if (cluster_read_yaml("lab.yaml", text, strlen(text), &s->cluster, &err) < 0)
		fail_msg("%s", err.text);
	s->config.policy = "pool";
}

/* The example: a tenth longer over a link of its own. */
static struct job *example(struct scene *s, double at_s, int gpus, double work)
{
	struct job *job = scene_job(s, at_s, gpus, work);

	job->moves_Bps = 100e6 / 0.110;
	job->calls_ps = 10 / 0.110;
	job->cpus = 4;
	return job;
}

static void a_remote_job_pays_the_tax_and_attaches(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	lab_init(&s, lab);
	example(&s, 0, 1, 110);
	scene_run(&s, &out);
	assert_int_equal(out.jobs[0].state, JOB_FINISHED);
	assert_float_equal(out.jobs[0].finish_s, 1 + 121, 1e-6);
	outcome_fini(&out);
	scene_fini(&s);
}

/* b: on one host's link a second would pay 28 %; it takes the other host, and a third waits until one ends. */
static void whoever_would_pay_too_much_goes_elsewhere_or_waits(void **state)
{
	struct outcome out;
	struct scene s;

	(void)state;
	lab_init(&s, lab);
	for (int i = 0; i < 3; i++)
		example(&s, 0, 1, 110);
	s.config.policy = "pool:patience_s=1e6";
	scene_run(&s, &out);
	assert_float_equal(out.jobs[0].finish_s, 122, 1e-6);
	assert_float_equal(out.jobs[1].finish_s, 122, 1e-6);
	assert_float_equal(out.jobs[2].start_s, 122, 1e-6);
	assert_true(out.waited_by_why_s[WHY_CLOSER] > 100);
	outcome_fini(&out);

	s.config.policy = "pool:patience_s=10"; /* after that it takes what there is, and all share */
	scene_run(&s, &out);
	assert_float_equal(out.jobs[2].start_s, 10, 1e-6);
	assert_true(out.jobs[2].finish_s > 11 + 121);
	assert_true(out.jobs[0].finish_s > 122 || out.jobs[1].finish_s > 122);
	outcome_fini(&out);
	scene_fini(&s);
}

struct where {
	uint32_t host, nslots, node;
	uint32_t renewals, migrations;
};

static void see_where(void *self, const struct event *event, const struct job *job)
{
	struct where *w = self;

	if (!job || job->id != 0)
		return;
	if (event->kind == EV_START || event->kind == EV_MIGRATE)
		*w = (struct where){ event->grant->host, event->grant->nslots,
			event->grant->slots[0].node, w->renewals, w->migrations };
	w->renewals += event->kind == EV_RENEW;
	w->migrations += event->kind == EV_MIGRATE;
}

/* d: a pair of one host is chosen over two that are elsewhere, however long these have been idle. */
static void a_pair_of_one_host_comes_first(void **state)
{
	static const char text[] = "network: {node_link: 5GB/s}\n"
				   "nodes:\n"
				   "  - {count: 2, devices: 1, type: v100, cpus: 8}\n"
				   "  - {count: 1, devices: 2, type: v100, cpus: 8}\n";
	struct where where = { 0 };
	struct observer observer = { &where, see_where };
	struct outcome out;
	struct scene s;

	(void)state;
	lab_init(&s, text);
	example(&s, 0, 2, 10);
	s.config.observers = &observer;
	s.config.nobservers = 1;
	scene_run(&s, &out);
	assert_int_equal(where.host, 0);
	assert_int_equal(where.nslots, 1);
	assert_int_equal(where.node, 2);
	outcome_fini(&out);
	scene_fini(&s);
}

/* A gang larger than any server, for a process on one host. */
static void devices_of_many_servers_are_gathered(void **state)
{
	struct where where = { 0 };
	struct observer observer = { &where, see_where };
	struct outcome out;
	struct scene s;

	(void)state;
	lab_init(&s, lab);
	example(&s, 0, 3, 100)->cpus = 8;
	s.config.policy = "pool:patience_s=0";
	s.config.observers = &observer;
	s.config.nobservers = 1;
	scene_run(&s, &out);
	assert_int_equal(out.jobs[0].state, JOB_FINISHED);
	assert_true(where.host == 1 || where.host == 2);
	assert_int_equal(where.nslots, 2);
	outcome_fini(&out);
	scene_fini(&s);
}

/* It starts remotely, as the node that could feed it has its device in use; when that is free it goes there. */
static void a_remote_job_moves_home_when_that_pays(void **state)
{
	static const char text[] = "network: {node_link: 5GB/s}\n"
				   "pooling: {rtt: 0.1ms, pcie: 10GB/s, attach: 1s, detach: 0.2s}\n"
				   "nodes:\n"
				   "  - {name: big, devices: 1, type: v100, cpus: 16}\n"
				   "  - {name: small, devices: 1, type: v100, cpus: 1}\n";
	struct where where = { 0 };
	struct observer observer = { &where, see_where };
	struct outcome out;
	struct scene s;
	struct job *first;

	(void)state;
	lab_init(&s, text);
	example(&s, 1, 1, 1000);
	first = scene_job(&s, 0, 1, 100);
	first->cpus = 4;
	scene_ready(&s);
	/* Jobs are numbered by arrival: the remote one is 1. */
	s.config.policy = "pool:rebalance_s=50";
	scene_run(&s, &out);
	assert_int_equal(out.jobs[1].migrations, 1);
	/* 150 s at 1/1.1 less a second to attach, 0.2 to detach, and the rest at home. */
	assert_true(out.jobs[1].finish_s < 1 + 1 + 1100);
	outcome_fini(&out);
	s.config.policy = "pool:rebalance_s=0";
	scene_run(&s, &out);
	assert_int_equal(out.jobs[1].migrations, 0);
	assert_float_equal(out.jobs[1].finish_s, 1 + 1 + 1100, 1e-6);
	outcome_fini(&out);
	(void)where;
	(void)observer;
	scene_fini(&s);
}

/*
 * c: device A has 0.5 and 8 GB free, B 0.4 and 12 GB.  A slice of 0.4 and 10 GB fits B alone, as compute and
 * memory come from one device; one of 0.4 and 6 GB fits both, and leaves nothing of B.
 */
static void a_slice_comes_from_one_device(void **state)
{
	static const char text[] = "types: [{name: v100, mem: 16GiB}]\n"
				   "nodes: [{devices: 2, type: v100, cpus: 16}]\n";
	static const struct {
		double share;
		int64_t gib;
	} has[] = { { .5, 8 }, { .6, 4 }, { .4, 0 } };

	(void)state;
	for (int64_t gib = 6; gib <= 10; gib += 4) {
		struct outcome out;
		struct scene s;

		lab_init(&s, text);
		for (size_t i = 0; i < COUNT(has); i++) {
			struct job *job = scene_job(&s, (double)i, 1, 100);

			job->share = has[i].share;
			job->gpu_mem_bytes = (has[i].gib ? has[i].gib : gib) << 30;
		}
		s.config.want_spans = true;
		scene_run(&s, &out);
		assert_int_equal(out.nspans, 3);
		for (uint32_t i = 0; i < out.nspans; i++) {
			assert_int_equal(out.spans[i].devices, out.spans[i].job == 0 ? 0x1 : 0x2);
			assert_float_equal(out.spans[i].from_s, out.spans[i].job, 1e-9);
		}
		outcome_fini(&out);
		scene_fini(&s);
	}
}

/* ---- properties */

struct witness {
	const struct cluster *cluster;
	const struct trace *trace;
	struct grant *held[40];
	double now_s;
	uint32_t remote;
};

static void drop(struct witness *w, uint32_t job)
{
	free(w->held[job]);
	w->held[job] = NULL;
}

/* Of every node's link no more than it has is promised, and of no device more than there is. */
static void check_links(struct witness *w)
{
	double used[8] = { 0 };

	for (uint32_t id = 0; id < w->trace->njobs; id++) {
		const struct grant *g = w->held[id];

		for (uint32_t i = 0; g && g->host && i < g->nslots; i++) {
			double Bps = g->link_Bps * __builtin_popcountll(g->slots[i].devices);

			if (g->slots[i].node == g->host - 1)
				continue;
			used[g->host - 1] += Bps;
			used[g->slots[i].node] += Bps;
			w->remote++;
		}
	}
	for (uint32_t i = 0; i < w->cluster->nnodes; i++)
		assert_true(used[i] <= w->cluster->net_Bps * (1 + 1e-9));
}

static void see(void *self, const struct event *event, const struct job *job)
{
	struct witness *w = self;
	size_t size;

	if (event->at_s > w->now_s)
		check_links(w);
	w->now_s = event->at_s;
	switch (event->kind) {
	case EV_START:
	case EV_RENEW:
	case EV_MIGRATE:
		drop(w, job->id);
		size = sizeof(*event->grant) + sizeof(struct slot) * event->grant->nslots;
		w->held[job->id] = mem_alloc(size);
		memcpy(w->held[job->id], event->grant, size);
		break;
	case EV_PREEMPT:
	case EV_FINISH:
	case EV_LOST:
		drop(w, job->id);
		break;
	default:
		break;
	}
}

static void no_link_carries_more_than_it_can(void **state)
{
	struct rng rng = property("pool: shares of every link within its capacity");
	uint32_t remote = 0;

	(void)state;
	for (size_t i = 0; i < rounds(40); i++) {
		struct witness w = { 0 };
		struct observer observer = { &w, see };
		struct outcome out;
		struct scene s;

		lab_init(&s, lab);
		scene_draw(&s, &rng, (struct draw){ 40, 100, 40, 4 });
		for (uint32_t k = 0; k < s.trace.njobs; k++) {
			s.trace.jobs[k].cpus = pick(&rng, 6);
			s.trace.jobs[k].moves_Bps = 1e9 * rng_uniform(&rng);
		}
		scene_ready(&s);
		w.cluster = &s.cluster;
		w.trace = &s.trace;
		s.config.policy = i % 2 ? "pool" : "pool:patience_s=5,rebalance_s=7";
		s.config.observers = &observer;
		s.config.nobservers = 1;
		scene_run(&s, &out);
		for (uint32_t k = 0; k < out.njobs; k++)
			assert_int_equal(out.jobs[k].state, JOB_FINISHED);
		remote += w.remote;
		outcome_fini(&out);
		scene_fini(&s);
	}
	assert_true(remote > 100); /* else nothing was tested */
}

static void count_remote(void *self, const struct event *event, const struct job *job)
{
	(void)job;
	*(uint32_t *)self += event->kind == EV_START && event->grant->host > 0;
}

/* Slices and whole gangs, remote or not: of no device more than there is, in compute and in memory. */
static void no_device_is_given_twice(void **state)
{
	static const char text[] = "network: {node_link: 5GB/s}\n"
				   "types: [{name: v100, mem: 16GiB}]\n"
				   "pooling: {rtt: 0.1ms, pcie: 10GB/s, attach: 1s, detach: 0.2s}\n"
				   "nodes:\n"
				   "  - {name: host, count: 2, devices: 0, type: v100, cpus: 8}\n"
				   "  - {name: server, count: 2, devices: 2, type: v100, cpus: 2}\n";
	struct rng rng = property("pool: compute and memory of slices within every device");
	uint32_t remote = 0;

	(void)state;
	for (size_t i = 0; i < rounds(40); i++) {
		struct chosen_policy chosen = scene_policy(
			i % 2 ? "pool" : "pool:patience_s=5,rebalance_s=7");
		struct observer observers[2];
		struct outcome out = { 0 };
		struct referee r;
		struct scene s;

		lab_init(&s, text);
		scene_draw(&s, &rng, (struct draw){ 40, 100, 40, 2 });
		for (uint32_t k = 0; k < s.trace.njobs; k++) {
			struct job *job = &s.trace.jobs[k];

			job->cpus = rng_below(&rng, 4);
			job->share = rng_below(&rng, 3) ? pick(&rng, 9) / 10.0 : 0;
			job->gpu_mem_bytes = (int64_t)pick(&rng, 16) << 30;
		}
		scene_ready(&s);
		referee_init(&r, &s.cluster, &s.trace);
		observers[0] = referee_observer(&r);
		observers[1] = (struct observer){ &remote, count_remote };
		s.config.observers = observers;
		s.config.nobservers = 2;
		scene_run_policy(&s, referee_policy(&r, chosen), &r, &out);
		referee_end(&r, &out);
		if (r.breach[0])
			fail_msg("round %zu: %s", i, r.breach);
		for (uint32_t k = 0; k < out.njobs; k++)
			assert_int_equal(out.jobs[k].state, JOB_FINISHED);
		outcome_fini(&out);
		scene_policy_fini(&chosen);
		referee_fini(&r);
		scene_fini(&s);
	}
	assert_true(remote > 100); /* else nothing was tested */
}

/* Where distance costs nothing it is best fit, job by job. */
static void without_a_tax_it_is_best_fit(void **state)
{
	struct rng rng = property("pool over an endless network is best fit");

	(void)state;
	for (size_t i = 0; i < rounds(60); i++) {
		struct outcome pooled, fitted;
		struct scene s;

		scene_init(&s, "3x4");
		scene_draw(&s, &rng, (struct draw){ 30, 60, 30, 8 });
		scene_ready(&s);
		s.config.placer = "best-fit";
		s.config.policy = "pool";
		s.config.want_spans = true;
		scene_run(&s, &pooled);
		s.config.policy = "fifo:misfit=skip";
		scene_run(&s, &fitted);
		assert_int_equal(pooled.nspans, fitted.nspans);
		for (uint32_t k = 0; k < pooled.nspans; k++) {
			assert_int_equal(pooled.spans[k].job, fitted.spans[k].job);
			assert_int_equal(pooled.spans[k].node, fitted.spans[k].node);
			assert_int_equal(pooled.spans[k].devices, fitted.spans[k].devices);
		}
		outcome_fini(&pooled);
		outcome_fini(&fitted);
		scene_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_remote_job_pays_the_tax_and_attaches),
		cmocka_unit_test(whoever_would_pay_too_much_goes_elsewhere_or_waits),
		cmocka_unit_test(a_pair_of_one_host_comes_first),
		cmocka_unit_test(devices_of_many_servers_are_gathered),
		cmocka_unit_test(a_remote_job_moves_home_when_that_pays),
		cmocka_unit_test(a_slice_comes_from_one_device),
		cmocka_unit_test(no_device_is_given_twice),
		cmocka_unit_test(no_link_carries_more_than_it_can),
		cmocka_unit_test(without_a_tax_it_is_best_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
