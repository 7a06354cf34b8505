/*
 * What would become of a submission: it is checked as one, copied with the
 * moment, and run forward with and without by the forecaster's thread.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/forecast_json.h"
#include "daemon/forecaster.h"
#include "daemon/recall.h"
#include "daemon/verbs_run.h"
#include "sim/dry_run.h"

enum {
	PLAN_JOBS_MAX = 1000, /* in one plan */
	HARMS_TOLD = 50,
	AT_ONCE = 8, /* plans that wait, of all and of each user */
	EACH = 2,
};
static const double BUDGET_S = 2;
static const double LONG_BUDGET_S = 0.35; /* where the queue is long: least futures within four times that */

struct plan_task {
	struct task task;
	struct snapshot snapshot;
	struct recall *recall;
	const atomic_bool *stop;
	uint32_t nnew;
	uint64_t stamp, seed;
	struct correction start, finish;
	int rc;
	struct err err;
	struct dry_run result;
};

/* ---- in the thread */

static void run_task(struct task *task)
{
	struct plan_task *t = (struct plan_task *)task;

	t->rc = recall_refresh(t->recall, &t->err);
	if (t->rc == 0)
		t->rc = dry_run(
			&(struct dry_run_config){
				.from = &t->snapshot,
				.nnew = t->nnew,
				.habits = &t->recall->habits,
				.budget_s = t->snapshot.absent.n ? LONG_BUDGET_S : BUDGET_S,
				.start = &t->start,
				.finish = &t->finish,
				.stop = t->stop,
				.seed = t->seed,
			},
			&t->result, &t->err);
}

static void destroy_task(struct task *task)
{
	struct plan_task *t = (struct plan_task *)task;

	snapshot_fini(&t->snapshot);
	dry_run_fini(&t->result);
	free(t);
}

/* ---- the answer */

static void put_where(struct daemon *d, const struct dry_run *r, struct json *j)
{
	const struct cluster *cluster = core_cluster(d->core);

	if (!r->gpus || r->node >= cluster->nnodes || r->type >= cluster->ntypes) {
		json_str(j, "where", NULL);
		return;
	}
	json_begin_object(j, "where");
	json_str(j, "node", cluster->nodes[r->node].name);
	json_str(j, "type", cluster->types[r->type].name);
	json_int(j, "gpus", r->gpus);
	json_int(j, "nodes", r->nodes);
	json_end(j, '}');
}

static void put_other(struct daemon *d, const struct dry_run_harm *harm, struct json *j)
{
	const struct live_job *job = core_job(d->core, harm->number);

	json_int(j, "job", harm->number);
	if (job) {
		job_put_array(job, j);
		json_str(j, "name", job->name);
		json_str(j, "user", job->user);
	}
}

static void put_seconds(double s, const char *key, struct json *j)
{
	json_double(j, key, isfinite(s) ? s : NAN);
}

static void put_harms(struct daemon *d, const struct dry_run *r, struct json *j)
{
	size_t delayed = 0;

	json_begin_array(j, "preempts");
	for (size_t i = 0; i < r->harms.n; i++) {
		if (r->harms.at[i].stopped < 0.5)
			continue;
		json_begin_object(j, NULL);
		put_other(d, &r->harms.at[i], j);
		json_double(j, "share", r->harms.at[i].stopped);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_begin_array(j, "delays");
	for (size_t i = 0; i < r->harms.n; i++) {
		const struct dry_run_harm *harm = &r->harms.at[i];

		if (!(harm->late.p90 > 0) || delayed++ >= HARMS_TOLD)
			continue;
		json_begin_object(j, NULL);
		put_other(d, harm, j);
		json_begin_object(j, "by_s");
		put_seconds(harm->late.p10, "p10", j);
		put_seconds(harm->late.p50, "p50", j);
		put_seconds(harm->late.p90, "p90", j);
		json_end(j, '}');
		json_end(j, '}');
	}
	json_end(j, ']');
	json_int(j, "delayed", (int64_t)delayed);
}

static void answer_task(struct daemon *d, struct call *call)
{
	const struct plan_task *t = (const struct plan_task *)call->task;
	const struct dry_run *r = &t->result;
	struct track track = forecaster_track(d, true);
	double zero_s = wallclock_offset(&d->clock.wall) + t->snapshot.now_s;
	struct json j;

	if (t->rc < 0) {
		call_fail(call, t->rc, t->err.text);
		return;
	}
	call_begin(call, &j);
	json_int(&j, "stamp", (int64_t)t->stamp);
	json_double(&j, "at", zero_s);
	json_int(&j, "jobs", t->nnew);
	put_futures(r->futures, r->wanted, &j);
	json_bool(&j, "starts_now", r->starts_now);
	if (r->bounded) {
		json_str(&j, "start", NULL);
		json_str(&j, "finish", NULL);
		put_bound("not_before", r->start.p10, zero_s, &j);
	} else {
		put_moments("start", &r->start, zero_s, &j);
		put_moments("finish", &r->finish, zero_s, &j);
	}
	json_double(&j, "never", r->never);
	json_int(&j, "simulated", (int64_t)t->snapshot.jobs.n - t->nnew);
	json_int(&j, "left_out", (int64_t)t->snapshot.absent.n);
	put_where(d, r, &j);
	json_double(&j, "gpu_hours", r->gpu_s / 3600);
	put_harms(d, r, &j);
	put_track("calibration", &track, &j);
	json_end(&j, '}');
}

/* ---- asking */

/* All that are new; false: answered. */
static bool gather(struct call *call, const struct live_job **out, size_t *n)
{
	if (call->made.n > PLAN_JOBS_MAX) {
		call_problem(call, 400, 2,
			"%zu jobs are too many for one plan; plan the first %d of them",
			call->made.n, PLAN_JOBS_MAX);
		return false;
	}
	for (size_t i = 0; i < call->made.n; i++) {
		if (!call->made.at[i].job) {
			call_problem(call, 409, 4,
				"job %u was submitted before under this key; nothing would be new",
				call->made.at[i].id);
			return false;
		}
		out[i] = call->made.at[i].job;
	}
	*n = call->made.n;
	return true;
}

/* Each has a copy of the moment and keeps the forecaster's thread busy. */
static bool is_busy(const struct daemon *d, const struct call *call)
{
	size_t all = 0, own = 0;

	for (size_t i = 0; i < d->waiting.n; i++) {
		const struct call *other = d->waiting.at[i];

		all += other->verb == call->verb;
		own += other->verb == call->verb && other->caller.uid == call->caller.uid;
	}
	return all >= AT_ONCE || own >= EACH;
}

static void begin_task(struct daemon *d, struct call *call)
{
	const struct live_job *jobs[PLAN_JOBS_MAX];
	struct plan_task *t;
	size_t n;

	if (!gather(call, jobs, &n))
		return;
	t = mem_alloc(sizeof(*t));
	t->task.run = run_task;
	t->task.destroy = destroy_task;
	t->recall = forecaster_recall(d);
	t->stop = &d->closing;
	t->nnew = (uint32_t)n;
	t->stamp = d->stamp;
	t->seed = d->config.seed;
	t->start = forecaster_correction(d, true);
	t->finish = forecaster_correction(d, false);
	core_snapshot_of(d->core, daemon_now_s(d),
		&(struct snapshot_want){ .most = CORE_FIRST_JOBS, .added = jobs, .nadded = n },
		&t->snapshot);
	call->task = &t->task;
	call->until_s = INFINITY;
	worker_give(forecaster_worker(d), &t->task);
}

void verb_plan(struct daemon *d, struct call *call)
{
	if (call->task) {
		answer_task(d, call);
		return;
	}
	if (is_busy(d, call)) {
		call_problem(call, 429, 4, "other plans are being worked out; ask again in a moment");
		return;
	}
	if (!verb_draft(d, call))
		return;
	begin_task(d, call);
	verb_drop_made(call);
}
