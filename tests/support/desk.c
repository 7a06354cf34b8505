/*
 * Rounds made by hand.
 */
#include "support/desk.h"

#include <math.h>

#include "support/property.h"
#include "support/scene.h"

void desk_init(struct desk *desk, const char *cluster)
{
	struct err err = { 0 };

	*desk = (struct desk){ 0 };
	if (cluster_parse(cluster, &desk->cluster, &err) < 0)
		fail_msg("%s", err.text);
	desk->belief.cluster = &desk->cluster;
	plan_init(&desk->plan, &desk->cluster, placer_find("first-fit", &err), NULL, 1);
	rng_init(&desk->rng, 1, RNG_TEST);
}

void desk_fini(struct desk *desk)
{
	plan_fini(&desk->plan);
	cluster_fini(&desk->cluster);
	vec_fini(&desk->jobs);
	vec_fini(&desk->ids);
	vec_fini(&desk->job_state);
	arena_fini(&desk->scratch);
}

struct job *desk_job(struct desk *desk, double arrival_s, int gpus, double work, double ran_s)
{
	struct job job;

	job_init(&job);
	job.id = (uint32_t)desk->jobs.n;
	job.label = "job";
	job.arrival_s = arrival_s;
	job.gpus = job.min_gpus = job.max_gpus = gpus;
	job.work_est = work;
	job.state = JOB_PENDING;
	job.wait_since_s = arrival_s;
	if (ran_s > 0) {
		job.attempts = 1;
		job.start_s = arrival_s;
		job.ran_s = ran_s;
		job.done = ran_s;
		job.served_s = ran_s * gpus;
	}
	vec_push(&desk->jobs, job);
	vec_push(&desk->ids, job.id);
	return &desk->jobs.at[job.id];
}

void desk_run(struct desk *desk, uint32_t id, double since_s)
{
	struct job *job = &desk->jobs.at[id];

	plan_begin(&desk->plan);
	assert_true(plan_run(&desk->plan, job, (struct want){ .type = TYPE_ANY }));
	plan_commit(&desk->plan);
	job->grant = plan_grant(&desk->plan, id);
	job->state = JOB_RUNNING;
	job->attempts++;
	job->held_s = job->ready_s = since_s;
	job->rate = 1;
	if (isnan(job->start_s))
		job->start_s = since_s;
}

void desk_decide(struct desk *desk, const char *spec, double now_s)
{
	struct chosen_policy policy = scene_policy(spec);
	struct err err = { 0 };
	struct round round;

	desk->job_state.n = 0;
	vec_grow_zero(&desk->job_state, policy.rule->job_state_size * desk->jobs.n);
	round = (struct round){
		.now_s = now_s,
		.cluster = &desk->cluster,
		.belief = &desk->belief,
		.jobs = desk->jobs.at,
		.njobs = (uint32_t)desk->jobs.n,
		.active = desk->ids.at,
		.nactive = (uint32_t)desk->ids.n,
		.changed = desk->ids.at,
		.nchanged = (uint32_t)desk->ids.n,
		.job_state = desk->job_state.at,
		.scratch = &desk->scratch,
		.rng = &desk->rng,
	};
	plan_begin(&desk->plan);
	if (policy.rule->decide(policy.state, &round, &desk->plan, &err) < 0)
		fail_msg("%s", err.text);
	scene_policy_fini(&policy);
}

bool desk_runs(const struct desk *desk, uint32_t job)
{
	return plan_grant(&desk->plan, job) != NULL;
}

struct reason desk_reason(const struct desk *desk, uint32_t job)
{
	for (size_t i = 0; i < desk->plan.reasons.n; i++) {
		if (desk->plan.reasons.at[i].job == job)
			return desk->plan.reasons.at[i].reason;
	}
	return (struct reason){ .why = WHY_NONE, .other = JOB_NONE };
}

const char *desk_who(const struct desk *desk)
{
	static char letters[27];
	size_t n = 0;

	for (uint32_t i = 0; i < desk->jobs.n && i < 26; i++) {
		if (desk_runs(desk, i))
			letters[n++] = (char)('A' + i);
	}
	letters[n] = '\0';
	return letters;
}
