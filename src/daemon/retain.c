#include "daemon/retain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/kept_use.h"
#include "daemon/verbs_run.h"
#include "live/job_dirs.h"
#include "live/summary.h"
#include "store/record_prune.h"

enum {
	STEP_JOBS = 40, /* of one transaction: a few milliseconds */
	TRIES_MAX = 60, /* a step that fails is tried again so often */
};

#define STEP_PAUSE_S 0.02 /* between two steps, and at least three times as long as a step */
#define RETRY_S 5.0
#define LOOK_MOST_S 3600.0   /* between two looks at what has become old */
#define EPOCH_LEAST_S 3600.0 /* an epoch made for retention lasts so long */
#define EPOCH_AGAIN_S 60.0   /* no two epochs of --keep are closer */
#define SAY_EVERY_S 86400.0  /* what would be done is said so often */

/* Work beside the loop: counting what would go, or removing directories of jobs that were pruned. */
struct beside {
	struct task task;
	char *state_dir;
	bool sweeps;
	double before_s;
	const atomic_bool *stop;
	int rc;
	struct err err;
	struct record_prune_plan plan;
	struct job_dirs dirs;
	struct record *record;
	struct kept_sum gone; /* output in directories that were removed */
};

struct retain {
	struct prune *prune; /* under way; NULL: none */
	struct beside *beside;
	struct worker *worker;
	bool sweep_due;
	double step_s; /* when the next step is due */
	double look_s; /* when --keep looks again */
	double say_s;  /* when it says again what it would do */
	uint32_t tries;
	bool confirmed;
	bool asked; /* the present run was asked for */
	bool swept; /* by this daemon: nothing is left over from one that was killed */
	struct record_prune_plan would; /* of --keep, not confirmed; jobs 0: nothing */
	uint64_t jobs, events;          /* of the last run */
	struct job_dirs dirs;
	uint64_t runs; /* that are over */
	char trouble[1100];
};

/* ---- beside the loop */

/* 1: a summary is left of it, so that its directory may go. */
static int see_summary(void *ctx, const struct record_job *job)
{
	struct beside *b = ctx;

	if (job->submit_seq != 0)
		return 0;
	kept_sum_add(&b->gone, job->tenant, job_dirs_output_of(b->state_dir, job->id));
	return 1;
}

static bool may_go(void *ctx, uint32_t job)
{
	struct beside *b = ctx;
	struct err ignored = { 0 };

	return record_job(b->record, job, see_summary, b, &ignored) == 1;
}

static void run_beside(struct task *task)
{
	struct beside *b = (struct beside *)task;
	char *path = mem_printf("%s/stint.db", b->state_dir);

	b->rc = record_open(path, true, &b->record, &b->err);
	if (b->rc == 0 && b->sweeps)
		b->rc = job_dirs_sweep(b->state_dir, may_go, b, b->stop, &b->dirs, &b->err);
	else if (b->rc == 0)
		b->rc = record_prune_plan(b->record, b->before_s, &b->plan, &b->err);
	record_close(b->record);
	free(path);
}

static void destroy_beside(struct task *task)
{
	struct beside *b = (struct beside *)task;

	free(b->state_dir);
	kept_sum_fini(&b->gone);
	free(b);
}

static void begin_beside(struct daemon *d, bool sweeps, double before_s)
{
	struct retain *r = d->retain;

	r->beside = mem_alloc(sizeof(*r->beside));
	r->beside->task.run = run_beside;
	r->beside->task.destroy = destroy_beside;
	r->beside->state_dir = mem_strdup(d->config.state_dir);
	r->beside->sweeps = sweeps;
	r->beside->before_s = before_s;
	r->beside->stop = &d->closing;
	daemon_give_beside(d, &r->worker, &r->beside->task);
}

/* ---- what a person confirmed */

static bool is_confirmed(struct daemon *d)
{
	struct buf text = { 0 };
	bool is = record_meta(d->record, RETENTION_CONFIRMED, &text);

	buf_fini(&text);
	return is;
}

static int confirm(struct daemon *d, const char *how, uid_t uid, struct err *err)
{
	char text[128];
	int rc;

	if (d->retain->confirmed)
		return 0;
	snprintf(text, sizeof(text), "{\"at\":%.0f,\"uid\":%u,\"how\":\"%s\"}", clock_real_s(),
		(unsigned int)uid, how);
	rc = record_set_meta(d->record, RETENTION_CONFIRMED, text, err);
	d->retain->confirmed = rc == 0;
	return rc;
}

int retain_open(struct daemon *d, struct err *err)
{
	char keep[32];
	struct buf before = { 0 };
	int rc = 0;

	d->retain = mem_alloc(sizeof(*d->retain));
	d->retain->confirmed = is_confirmed(d);
	d->retain->look_s = d->config.keep_s > 0 ? 0 : INFINITY;
	/* Of a new record nothing is older than the one who starts it so. */
	if (d->config.keep_s > 0 && d->last_seq == 0)
		rc = confirm(d, "keep", geteuid(), err);
	snprintf(keep, sizeof(keep), "%.17g", d->config.keep_s);
	if (rc == 0 &&
		(!record_meta(d->record, RETENTION_KEEP, &before) ? d->config.keep_s > 0
								  : strcmp(before.at, keep) != 0))
		rc = record_set_meta(d->record, RETENTION_KEEP, keep, err);
	buf_fini(&before);
	return rc;
}

void retain_close(struct daemon *d)
{
	struct retain *r = d->retain;

	if (!r)
		return;
	worker_destroy(r->worker);
	if (r->beside) {
		kept_use_drop(d, &r->beside->gone);
		destroy_beside(&r->beside->task);
	}
	prune_destroy(r->prune);
	free(r);
	d->retain = NULL;
}

/* ---- a run */

static int begin(struct daemon *d, double older_s, bool asked, struct err *err)
{
	struct retain *r = d->retain;
	int rc;

	rc = prune_create(d->record, d->last_s - older_s, live_summarise, &r->prune, err);
	if (rc < 0)
		return rc;
	r->asked = asked;
	r->tries = 0;
	r->step_s = 0;
	r->trouble[0] = 0;
	r->dirs = (struct job_dirs){ 0 };
	r->jobs = r->events = 0;
	return 0;
}

/* The epoch that decides now began before the cut: with another one a replay has something whole again. */
static void begin_epoch(struct daemon *d)
{
	struct err err = { 0 };

	if (daemon_new_epoch(d, "retention", &err) < 0)
		log_warning(d->log, "retention: no new epoch could begin: %s", err.text);
}

static void end_steps(struct daemon *d)
{
	struct retain *r = d->retain;
	struct record_pruned pruned;

	prune_destroy(r->prune);
	r->prune = NULL;
	if (record_pruned(d->record, &pruned) && d->epoch_s < pruned.at_s &&
		(r->asked || d->last_s - d->epoch_s > EPOCH_AGAIN_S))
		begin_epoch(d);
	r->sweep_due = r->jobs || r->asked || !r->swept;
	r->runs += !r->sweep_due;
}

static void fail(struct daemon *d, const char *text)
{
	struct retain *r = d->retain;

	if (!r->trouble[0])
		log_warning(d->log, "pruning: %s; it is tried again", text);
	snprintf(r->trouble, sizeof(r->trouble), "%s", text);
	r->step_s = clock_wall_s() + RETRY_S;
	if (++r->tries < TRIES_MAX)
		return;
	log_error(d->log, "pruning was given up: %s", text);
	prune_destroy(r->prune);
	r->prune = NULL;
	r->runs++;
}

static void step(struct daemon *d)
{
	struct retain *r = d->retain;
	double began_s = clock_wall_s(), took_s;
	struct err err = { 0 };
	int rc = prune_step(r->prune, STEP_JOBS, &err);

	if (rc < 0) {
		fail(d, err.text);
		return;
	}
	r->trouble[0] = 0;
	r->tries = 0;
	r->jobs = prune_jobs(r->prune);
	r->events = prune_events(r->prune);
	took_s = clock_wall_s() - began_s;
	metrics_time(d->metrics, METRICS_COMMIT, took_s);
	r->step_s = clock_wall_s() + fmax(STEP_PAUSE_S, 3 * took_s);
	if (rc == 0)
		end_steps(d);
}

static void end_sweep(struct daemon *d)
{
	struct retain *r = d->retain;

	r->dirs = r->beside->dirs;
	kept_use_drop(d, &r->beside->gone);
	r->runs++;
	r->swept = r->beside->rc == 0;
	if (r->beside->rc < 0) {
		snprintf(r->trouble, sizeof(r->trouble), "%s", r->beside->err.text);
		log_warning(d->log, "directories of pruned jobs stay: %s", r->trouble);
	}
	if (r->jobs || r->dirs.removed)
		log_notice(d->log,
			"pruned: %llu jobs are summaries now, %llu events and %llu job directories were deleted",
			(unsigned long long)r->jobs, (unsigned long long)r->events,
			(unsigned long long)r->dirs.removed);
	if (r->dirs.left && (r->jobs || r->asked))
		log_notice(d->log,
			"%llu director%s of pruned jobs under %s/jobs stay%s: there are files that are not Stint's",
			(unsigned long long)r->dirs.left, r->dirs.left == 1 ? "y" : "ies",
			d->config.state_dir, r->dirs.left == 1 ? "s" : "");
}

static void end_plan(struct daemon *d)
{
	struct retain *r = d->retain;
	char age[32];

	if (r->beside->rc < 0)
		return;
	r->would = r->beside->plan;
	if (!r->would.jobs || clock_wall_s() < r->say_s)
		return;
	r->say_s = clock_wall_s() + SAY_EVERY_S;
	log_notice(d->log,
		"--keep %s would prune %llu job%s and at most %llu events, and does not: nobody has confirmed it for this record yet; 'stint db prune --older %s' asks",
		retention_age(d->config.keep_s, age), (unsigned long long)r->would.jobs,
		r->would.jobs == 1 ? "" : "s", (unsigned long long)r->would.events, age);
}

static void end_beside(struct daemon *d)
{
	struct retain *r = d->retain;

	if (r->beside->sweeps)
		end_sweep(d);
	else
		end_plan(d);
	destroy_beside(&r->beside->task);
	r->beside = NULL;
}

static bool is_running(const struct retain *r)
{
	return r->prune || r->sweep_due || (r->beside && r->beside->sweeps);
}

/* ---- by itself */

/* What is kept can be replayed but for its oldest eighth. */
static void look(struct daemon *d)
{
	struct retain *r = d->retain;
	double keep_s = d->config.keep_s;
	struct err err = { 0 };

	r->look_s = clock_wall_s() + fmin(LOOK_MOST_S, fmax(1, keep_s / 20));
	if (!r->confirmed) {
		begin_beside(d, false, d->last_s - keep_s);
		return;
	}
	if (d->last_s - d->epoch_s > fmax(EPOCH_LEAST_S, keep_s / 8))
		begin_epoch(d);
	if (begin(d, keep_s, false, &err) < 0)
		log_warning(d->log, "pruning cannot begin: %s", err.text);
}

void retain_turn(struct daemon *d)
{
	struct retain *r = d->retain;
	double wall_s = clock_wall_s();

	/* Pruning makes room, so what is kept for a full disk is for it. */
	if (d->trouble[0] && !(is_running(r) && daemon_use_reserve(d)))
		return;
	if (r->beside && task_done(&r->beside->task))
		end_beside(d);
	if (r->prune && wall_s >= r->step_s)
		step(d);
	if (r->sweep_due && !r->beside && !kept_use_is_counting(d)) {
		r->sweep_due = false;
		begin_beside(d, true, 0);
	}
	if (!is_running(r) && !r->beside && wall_s >= r->look_s)
		look(d);
}

double retain_next_s(const struct daemon *d)
{
	const struct retain *r = d->retain;

	if (d->trouble[0])
		return INFINITY;
	if (r->prune)
		return r->step_s;
	return r->beside ? INFINITY : r->look_s; /* the loop is woken when what is beside it ends */
}

/* ---- asked for */

static void put_pruned(struct daemon *d, struct json *j)
{
	struct record_pruned pruned;

	if (!record_pruned(d->record, &pruned))
		return;
	json_begin_object(j, "pruned");
	json_int(j, "seq", (int64_t)pruned.seq);
	json_double(j, "before", daemon_wall_s(d, pruned.at_s));
	json_int(j, "jobs", (int64_t)pruned.jobs);
	json_int(j, "events", (int64_t)pruned.events);
	json_end(j, '}');
}

static void put_keep(struct daemon *d, struct json *j)
{
	const struct retain *r = d->retain;

	json_bool(j, "confirmed", r->confirmed);
	if (!(d->config.keep_s > 0))
		return;
	json_double(j, "keep_s", d->config.keep_s);
	if (!r->confirmed)
		json_int(j, "would_prune_jobs", (int64_t)r->would.jobs);
}

/* What went wrong may name files of other users. */
static void put_run(struct daemon *d, const struct caller *caller, struct json *j)
{
	const struct retain *r = d->retain;

	json_begin_object(j, "prune");
	json_bool(j, "running", is_running(r));
	json_int(j, "runs", (int64_t)r->runs);
	json_int(j, "jobs", (int64_t)r->jobs);
	json_int(j, "events", (int64_t)r->events);
	json_int(j, "directories", (int64_t)r->dirs.removed);
	json_int(j, "directories_left", (int64_t)r->dirs.left);
	if (r->trouble[0] && caller->admin)
		json_str(j, "trouble", r->trouble);
	json_end(j, '}');
}

void verb_record(struct daemon *d, struct call *call)
{
	struct record_size size = { 0 };
	struct err ignored = { 0 };
	struct json j;

	record_size(d->record, &size, &ignored);
	call_begin(call, &j);
	json_str(&j, "state", d->config.state_dir);
	json_int(&j, "bytes", size.bytes);
	json_int(&j, "free_bytes", size.free_bytes);
	json_bool(&j, "gives_back", size.gives_back);
	json_int(&j, "last_seq", (int64_t)d->last_seq);
	json_int(&j, "last_job", d->next_job - 1);
	json_double(&j, "last", daemon_wall_s(d, d->last_s));
	put_pruned(d, &j);
	put_keep(d, &j);
	put_run(d, &call->caller, &j);
	kept_use_put(d, call->caller.admin ? NULL : verb_user_name(d, call->caller.uid), &j);
	json_end(&j, '}');
}

void verb_prune(struct daemon *d, struct call *call)
{
	double older_s = member_number(call->args, "older_s", NAN);
	struct err err = { 0 };

	if (!(older_s >= 0)) {
		call_problem(call, 400, 2, "older_s: seconds, 0 or more");
		return;
	}
	if (is_running(d->retain)) {
		call_problem(call, 409, 4,
			"the record is being pruned already; 'stint db status' says how far it is");
		return;
	}
	if (!d->retain->confirmed && !member_bool(call->args, "confirm", false)) {
		call_problem(call, 409, 4,
			"nobody has confirmed yet that this record may be pruned: say confirm, or run 'stint db prune' on a terminal");
		return;
	}
	if (confirm(d, "prune", call->caller.uid, &err) < 0 || begin(d, older_s, true, &err) < 0) {
		call_fail(call, err.code, err.text);
		return;
	}
	verb_record(d, call);
}
