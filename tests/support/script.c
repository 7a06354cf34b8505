/*
 * The driver that reads from a sheet.
 */
#include "support/script.h"

#include <math.h>

#include "support/property.h"

static int script_wait(void *self, double until_s, struct event *event, struct err *err)
{
	struct script *s = self;

	if (s->wait_fails)
		return err_set(err, ERR_IO, "the line is dead");
	if (s->next < s->n && s->events[s->next].at_s <= until_s)
		*event = s->events[s->next++];
	else if (isinf(until_s) && s->next == s->n)
		*event = (struct event){ .kind = EV_END };
	else
		*event = (struct event){ .kind = EV_TIMER, .at_s = until_s };
	return 0;
}

static int script_act(void *self, struct action *a, struct err *err)
{
	struct script *s = self;
	struct deed deed = { .act = a->act, .job = a->job->id, .at_s = a->now_s };

	if (s->failing && s->fails == a->act)
		return err_set(err, ERR_IO, "it does not answer");
	if (a->grant) {
		deed.node = a->grant->slots[0].node;
		deed.gpus = a->grant->gpus;
	}
	vec_push(&s->deeds, deed);
	a->done = job_done(a->job, a->now_s);
	a->ready_s = a->now_s;
	a->rate = 1;
	return 0;
}

static bool script_over(void *self)
{
	const struct script *s = self;

	return s->next == s->n;
}

static int script_lost(void *self, const struct job *job, double now_s, double *done, struct err *err)
{
	const struct script *s = self;

	(void)job;
	(void)now_s;
	(void)done;
	return s->lost_fails ? err_set(err, ERR_IO, "nobody knows what is left") : 0;
}

const struct driver script_driver = {
	.name = "script",
	.wait = script_wait,
	.act = script_act,
	.over = script_over,
	.lost = script_lost,
};

int script_run(struct script *script, const char *cluster_spec, const struct policy *policy,
	struct outcome *out, struct err *err)
{
	struct cluster cluster;
	struct rates belief = { .cluster = &cluster };
	struct engine_config config = {
		.cluster = &cluster,
		.belief = &belief,
		.policy = { policy, script->policy_state },
		.placer = { .rule = placer_find("first-fit", NULL) },
		.admission = { .rule = admission_find("all", NULL) },
	};
	int rc;

	assert_int_equal(cluster_parse(cluster_spec, &cluster, err), 0);
	rc = engine_run(&config, &script_driver, script, out, err);
	cluster_fini(&cluster);
	return rc;
}

struct job script_job(const char *label, int gpus)
{
	struct job job;

	job_init(&job);
	job.label = label;
	job.gpus = job.min_gpus = job.max_gpus = gpus;
	job.work_est = 1e9;
	return job;
}
