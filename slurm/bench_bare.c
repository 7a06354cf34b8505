/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_bare [SWITCHES [after]]: how long a whole-cluster switch takes with bare calls of libslurm: requeue
 * every job that runs, pin and release as many others on shifted nodes, until all of them run.
 *
 * With "after" the others are released when those before them have left, as by a scheduler that gives nobody
 * a GPU before it is free.  Slurm then starts them at its next turn, up to a second later; jobs that wait
 * already are looked at whenever another one has ended.
 *
 * Needs a cluster that is idle and an operator.  It submits two jobs for each GPU and cancels them at the
 * end.  Prints seconds, a line for each switch; what a daemon needs for the same is to be compared with it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"

#define MARK "stint-bare"

struct place {
	char node[128];
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int rc, const char *what)
{
	if (rc == SLURM_SUCCESS)
		return;
	fprintf(stderr, "slurm_bare: %s: %s\n", what, slurm_strerror(slurm_get_errno()));
	exit(1);
}

/* One place for each GPU of a node that is up. */
static struct place *find_places(size_t *count)
{
	node_info_msg_t *found = NULL;
	struct place *places = NULL;

	*count = 0;
	must(slurm_load_node(0, &found, SHOW_ALL | SHOW_DETAIL), "nodes");
	for (uint32_t i = 0; i < found->record_count; i++) {
		const node_info_t *node = &found->node_array[i];
		size_t gpus = (node->node_state & NODE_STATE_BASE) == NODE_STATE_IDLE
			? (size_t)gres_sum(node->gres).count
			: 0;

		places = realloc(places, (*count + gpus + 1) * sizeof(*places));
		if (!places)
			abort();
		for (size_t k = 0; k < gpus; k++)
			snprintf(places[(*count)++].node, sizeof(places[0].node), "%s", node->name);
	}
	slurm_free_node_info_msg(found);
	return places;
}

static uint32_t submit(void)
{
	job_desc_msg_t d;
	submit_response_msg_t *answer = NULL;
	char *environment[] = { (char *)"PATH=/usr/bin:/bin", NULL };

	slurm_init_job_desc_msg(&d);
	d.name = d.comment = (char *)MARK;
	d.script = (char *)"#!/bin/sh\nexec sleep 100000\n";
	d.work_dir = (char *)"/";
	d.std_out = d.std_err = d.std_in = (char *)"/dev/null";
	d.environment = environment;
	d.env_size = 1;
	d.user_id = getuid();
	d.group_id = getgid();
	d.min_nodes = d.max_nodes = 1;
	d.tres_per_node = (char *)"gres:gpu:1";
	d.priority = 0;
	d.requeue = 1;
	must(slurm_submit_batch_job(&d, &answer), "submit");
	uint32_t job = answer->job_id;
	slurm_free_submit_response_response_msg(answer);
	return job;
}

static void start(uint32_t job, const char *node)
{
	job_desc_msg_t d;

	slurm_init_job_desc_msg(&d);
	d.job_id = job;
	d.req_nodes = (char *)node;
	d.begin_time = time(NULL);
	d.priority = INFINITE;
	must(slurm_update_job(&d), "start");
}

static bool runs(uint32_t state)
{
	return (state & JOB_STATE_BASE) == JOB_RUNNING;
}

static bool is_there(uint32_t state)
{
	return runs(state) || state & JOB_COMPLETING;
}

/* How many of ours are so. */
static size_t count_jobs(const uint32_t *jobs, size_t count, bool is(uint32_t state))
{
	job_info_msg_t *found = NULL;
	size_t n = 0;

	must(slurm_load_jobs(0, &found, SHOW_ALL), "jobs");
	for (uint32_t i = 0; i < found->record_count; i++) {
		const slurm_job_info_t *job = &found->job_array[i];
		if (job->job_id >= jobs[0] && job->job_id <= jobs[count - 1] && is(job->job_state))
			n++;
	}
	slurm_free_job_info_msg(found);
	return n;
}

static void await(const uint32_t *jobs, size_t count, bool is(uint32_t state), size_t wanted)
{
	double until = now_s() + 300;

	while (count_jobs(jobs, count, is) != wanted) {
		if (now_s() > until) {
			fprintf(stderr,
				"slurm_bare: not all jobs run after 300 s: is the cluster idle?\n");
			exit(1);
		}
		usleep(20000);
	}
}

/* Half `from` leaves, half `to` comes, each job to the next node but one. */
static void switch_over(const uint32_t *from, const uint32_t *to, const struct place *places,
	size_t count, size_t shift, bool after)
{
	double began = now_s(), asked;

	for (size_t i = 0; from && i < count; i++)
		must(slurm_requeue(from[i], JOB_REQUEUE_HOLD), "requeue");
	if (from && after)
		await(from, count, is_there, 0);
	asked = now_s();
	for (size_t i = 0; i < count; i++)
		start(to[i], places[(i + shift) % count].node);
	double pinned = now_s();
	await(to, count, runs, count);
	printf("%s %zu GPUs: %.2f s (requeue %.2f, start %.2f, until all run %.2f)\n",
		from ? "switch" : "fill  ", count, now_s() - began, asked - began, pinned - asked,
		now_s() - pinned);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int switches = argc > 1 ? atoi(argv[1]) : 3;
	bool after = argc > 2 && !strcmp(argv[2], "after");
	size_t count;

	slurm_init(NULL);
	struct place *places = find_places(&count);
	if (!count) {
		fprintf(stderr, "slurm_bare: no idle node has GPUs\n");
		return 1;
	}
	uint32_t *jobs = calloc(2 * count, sizeof(*jobs));
	if (!jobs)
		abort();
	for (size_t i = 0; i < 2 * count; i++)
		jobs[i] = submit();
	switch_over(NULL, jobs, places, count, 0, after);
	for (int k = 1; k <= switches; k++)
		switch_over(jobs + count * ((size_t)(k - 1) % 2), jobs + count * ((size_t)k % 2),
			places, count, (size_t)k * 5, after);
	for (size_t i = 0; i < 2 * count; i++)
		slurm_kill_job(jobs[i], SIGKILL, 0);
	free(jobs);
	free(places);
	return 0;
}
