/*
 * A decision in the shadow: a snapshot, a moment of the future under the policy, a row.
 */
#include "daemon/shadow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/daemon_state.h"
#include "sim/future.h"

static const double ENDLESS = 1e15; /* steps: nobody ends while it decides */

/* One decision; the thread's until it is done. */
struct shadow_task {
	struct task task;
	const struct shadow *of;
	struct snapshot from;
	struct buf body; /* of the row */
	struct err err;
	int rc;
	uint32_t starts, stops;
};

struct shadow {
	char *policy;
	double every_s;
	double period_s; /* of its rounds; 0: it decides at every event */
	struct worker *worker;
	struct shadow_task *going; /* NULL: none */
	uint64_t stamp;            /* of the state that was decided on last */
	double next_s;             /* by clock_wall_s() */
	char *last;                /* what the last row said, or NULL */
	bool told;                 /* that it cannot decide */
};

/* ---- in the thread */

static void put_numbers(struct json *j, const char *key, const struct shadow_task *t,
	const struct future_job *jobs, bool start, uint32_t *n)
{
	json_begin_array(j, key);
	for (uint32_t i = 0; i < t->from.jobs.n; i++) {
		bool runs = t->from.jobs.at[i].grant != NULL;
		bool meant = start ? !runs && isfinite(jobs[i].start_s) : runs && jobs[i].stops > 0;

		if (meant)
			json_int(j, NULL, t->from.jobs.at[i].number);
		*n += meant;
	}
	json_end(j, ']');
}

static void describe(struct shadow_task *t, const struct future_job *jobs)
{
	struct json j;

	json_init(&j, &t->body, false);
	json_begin_object(&j, NULL);
	json_str(&j, "policy", t->of->policy);
	put_numbers(&j, "start", t, jobs, true, &t->starts);
	put_numbers(&j, "stop", t, jobs, false, &t->stops);
	json_end(&j, '}');
}

static void decide(struct task *task)
{
	struct shadow_task *t = (struct shadow_task *)task;
	size_t n = t->from.jobs.n;
	double *work = mem_alloc(mem_array_size(n + 1, sizeof(*work)));
	struct future_job *jobs = mem_alloc(mem_array_size(n + 1, sizeof(*jobs)));
	struct future_config config = {
		.from = &t->from,
		.policy = t->of->policy,
		.work = work,
		.until_s = t->from.now_s + fmax(1e-3, t->of->period_s),
		.seed = t->from.seed,
	};

	for (size_t i = 0; i < n; i++) {
		work[i] = ENDLESS;
		t->from.jobs.at[i].limit_s = INFINITY;
	}
	t->rc = future_run(&config, jobs, &t->err);
	if (t->rc == 0)
		describe(t, jobs);
	free(work);
	free(jobs);
}

static void destroy_task(struct task *task)
{
	struct shadow_task *t = (struct shadow_task *)task;

	snapshot_fini(&t->from);
	buf_fini(&t->body);
	free(t);
}

/* ---- in the loop */

static void wake(void *ctx)
{
	daemon_wake(ctx);
}

int shadow_create(struct daemon *d, const char *policy, double every_s, struct shadow **out,
	struct err *err)
{
	struct rule_specs specs = { .policy = policy };
	struct engine_config trial = { 0 };
	struct shadow *shadow;

	if (rules_choose(&specs, &trial, err) < 0) {
		rules_release(&trial);
		return err->code;
	}
	shadow = mem_alloc(sizeof(*shadow));
	shadow->policy = mem_strdup(policy);
	shadow->every_s = every_s;
	if (trial.policy.rule->period_s)
		shadow->period_s = trial.policy.rule->period_s(trial.policy.state);
	shadow->worker = worker_create(wake, d, NICENESS);
	rules_release(&trial);
	*out = shadow;
	return 0;
}

void shadow_destroy(struct shadow *shadow)
{
	if (!shadow)
		return;
	worker_destroy(shadow->worker);
	if (shadow->going)
		destroy_task(&shadow->going->task);
	free(shadow->policy);
	free(shadow->last);
	free(shadow);
}

static void begin(struct daemon *d, struct shadow *s)
{
	struct shadow_task *t = mem_alloc(sizeof(*t));

	t->task.run = decide;
	t->task.destroy = destroy_task;
	t->of = s;
	core_snapshot(d->core, d->last_s, &t->from);
	s->going = t;
	s->stamp = d->stamp;
	s->next_s = clock_wall_s() + fmax(s->every_s, s->period_s);
	worker_give(s->worker, &t->task);
}

static void finish(struct daemon *d, struct shadow *s)
{
	struct shadow_task *t = s->going;

	s->going = NULL;
	if (t->rc < 0 && !s->told)
		log_warning(d->log, "%s cannot decide on what is here: %s", s->policy, t->err.text);
	s->told = t->rc < 0;
	if (t->rc == 0 && (!s->last || strcmp(s->last, t->body.at) != 0)) {
		free(s->last);
		s->last = mem_strdup(t->body.at);
		daemon_row(d, "shadow", 0, 0, t->from.now_s, t->body.at, false);
		log_info(d->log, "%s would start %u and stop %u", s->policy, t->starts, t->stops);
		daemon_flush(d);
	}
	destroy_task(&t->task);
}

void shadow_turn(struct daemon *d)
{
	struct shadow *s = d->shadow;

	if (!s)
		return;
	if (s->going && task_done(&s->going->task))
		finish(d, s);
	if (!s->going && clock_wall_s() >= s->next_s && s->stamp != d->stamp && !d->trouble[0])
		begin(d, s);
}

double shadow_next_s(const struct daemon *d)
{
	const struct shadow *s = d->shadow;

	return s && !s->going && s->stamp != d->stamp ? s->next_s : INFINITY;
}
