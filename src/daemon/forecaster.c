#include "daemon/forecaster.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/forecast_json.h"
#include "daemon/library.h"
#include "daemon/recall.h"

static const double BUDGET_S = 1; /* of the clock, for one forecast */
static const double LONG_BUDGET_S =
	0.3; /* the same where the queue is long: a question is answered within 2 s */
static const double FRESH_S = 10; /* what is no older answers questions, whatever happened since */
static const double SEEN_S = 30;  /* likewise for whoever only looks at all of it */
static const double PAUSE = 20;   /* times what one takes: at most a twentieth of a core */

/* One forecast; the thread's until it is done. */
struct forecast_task {
	struct task task;
	struct forecaster *of;
	struct snapshot snapshot;
	bool has_snapshot;
	struct desk *desk;
	struct calibration start, finish; /* as they are now */
	bool save, saved;                 /* they are to be written down */
	uint64_t changes;                 /* of the outcomes, which they have */
	uint64_t seq;                     /* the record's last when it began */
	uint64_t seed;
	/* what comes of it */
	int rc;
	struct err err;
	struct forecast forecast;
	struct forecast_text text;
	double took_s, computed_at;
};

struct forecaster {
	struct worker *worker;
	struct daemon *daemon;
	double every_s;
	char *path;           /* of the outcomes */
	struct recall recall; /* the thread's */
	struct outcomes outcomes;
	uint64_t saved; /* changes of the outcomes that are in the file or on their way */
	bool told;      /* metrics are those of told_changes */
	uint64_t told_changes;

	struct forecast_task *going; /* NULL: none */
	struct forecast_task *last;  /* the newest that is done; NULL: none yet */
	uint64_t begun, done;        /* how many */
	uint64_t wanted;             /* number of the forecast that a caller waits for */
	double next_s;               /* by itself, by clock_wall_s() */
};

/* ---- in the thread */

static bool save(const struct forecast_task *t)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	bool done;

	outcomes_write(&t->start, &t->finish, &text);
	done = file_write(t->of->path, text.at, text.n, &err) == 0;
	if (!done)
		log_warning(t->of->daemon->log, "the track record of forecasts is not kept: %s",
			err.text);
	buf_fini(&text);
	return done;
}

/* It is large, and not needed once it was run forward. */
static void drop_snapshot(struct forecast_task *t)
{
	if (t->has_snapshot)
		snapshot_fini(&t->snapshot);
	t->has_snapshot = false;
}

static void run_task(struct task *task)
{
	struct forecast_task *t = (struct forecast_task *)task;
	double began_s = clock_wall_s();
	struct correction start = calibration_correction(&t->start);
	struct correction finish = calibration_correction(&t->finish);

	t->rc = recall_refresh(&t->of->recall, &t->err);
	if (t->rc == 0)
		t->rc = forecast_run(
			&(struct forecast_config){
				.from = &t->snapshot,
				.habits = &t->of->recall.habits,
				.budget_s = t->snapshot.absent.n ? LONG_BUDGET_S : BUDGET_S,
				.start = &start,
				.finish = &finish,
				.want_spans = true,
				.plain = true,
				.stop = &t->of->daemon->closing,
				.seed = t->seed,
			},
			&t->forecast, &t->err);
	t->computed_at = clock_real_s();
	if (t->rc == 0)
		forecast_to_json(&t->forecast, &t->snapshot, t->desk, t->computed_at, &t->text);
	t->saved = t->save && save(t);
	drop_snapshot(t);
	t->took_s = clock_wall_s() - began_s;
}

/* ---- in the loop */

static void destroy_task(struct task *task)
{
	struct forecast_task *t = (struct forecast_task *)task;

	if (!t)
		return;
	drop_snapshot(t);
	desk_destroy(t->desk);
	forecast_fini(&t->forecast);
	forecast_text_fini(&t->text);
	free(t);
}

static void begin(struct daemon *d)
{
	struct forecaster *f = d->forecaster;
	struct forecast_task *t = mem_alloc(sizeof(*t));

	t->task.run = run_task;
	t->task.destroy = destroy_task;
	t->of = f;
	t->start = f->outcomes.start;
	t->finish = f->outcomes.finish;
	t->save = f->saved != f->outcomes.changes;
	t->changes = f->outcomes.changes;
	t->seq = d->last_seq;
	t->seed = d->config.seed + f->begun;
	t->desk = desk_create(d);
	core_snapshot_of(d->core, daemon_now_s(d),
		&(struct snapshot_want){ .most = CORE_FIRST_JOBS }, &t->snapshot);
	t->has_snapshot = true;
	f->begun++;
	f->going = t;
	worker_give(forecaster_worker(d), &t->task);
}

/* Medians are sorted for; the loop comes by often. */
static void set_metrics(struct daemon *d)
{
	struct forecaster *f = d->forecaster;
	struct track track;

	if (f->told && f->told_changes == f->outcomes.changes)
		return;
	f->told = true;
	f->told_changes = f->outcomes.changes;
	track = forecaster_track(d, true);
	metrics_set(d->metrics, METRICS_FORECAST_COVERAGE, track.coverage);
	metrics_set(d->metrics, METRICS_FORECAST_OUTCOMES, track.n);
	metrics_set(d->metrics, METRICS_FORECAST_ERROR, track.median_error_s);
}

static void take_in(struct daemon *d)
{
	struct forecaster *f = d->forecaster;
	struct forecast_task *t = f->going;

	f->going = NULL;
	f->done = f->begun;
	f->next_s = clock_wall_s() + fmax(f->every_s, PAUSE * t->took_s);
	if (t->saved)
		f->saved = t->changes;
	metrics_time(d->metrics, METRICS_FORECAST, t->took_s);
	if (t->rc == 0)
		outcomes_take(&f->outcomes, &t->forecast);
	else
		log_warning(d->log, "no forecast: %s", t->err.text);
	destroy_task(f->last ? &f->last->task : NULL);
	f->last = t;
}

/* Time passes also where nothing happens: what runs has run longer, and may still not be through. */
static bool anything_new(const struct daemon *d)
{
	const struct forecaster *f = d->forecaster;
	size_t n;

	core_jobs(d->core, &n);
	return n > 0 || (f->last && f->last->seq != d->last_seq);
}

/* Like a question, this must not keep the loop. */
static void timed(struct daemon *d, void (*work)(struct daemon *d))
{
	double before_s = clock_thread_cpu_s();

	work(d);
	metrics_time(d->metrics, METRICS_QUESTION, clock_thread_cpu_s() - before_s);
}

static bool is_time(const struct daemon *d)
{
	const struct forecaster *f = d->forecaster;

	return f->wanted > f->done ||
		(f->every_s > 0 && clock_wall_s() >= f->next_s && anything_new(d));
}

void forecaster_turn(struct daemon *d)
{
	struct forecaster *f = d->forecaster;

	if (f->going && task_done(&f->going->task))
		timed(d, take_in);
	if (f->going)
		return;
	if (is_time(d))
		timed(d, begin);
	set_metrics(d);
}

double forecaster_next_s(const struct daemon *d)
{
	const struct forecaster *f = d->forecaster;

	return f->every_s > 0 && !f->going && anything_new(d) ? f->next_s : INFINITY;
}

void forecaster_see(struct daemon *d, const struct core_note *note)
{
	struct outcomes *o = &d->forecaster->outcomes;
	const struct live_job *job = core_job(d->core, note->job);

	if (note->kind == NOTE_LAUNCH && note->attempt == 1)
		outcomes_started(o, note->job, note->at_s);
	if (note->kind != NOTE_END || !job)
		return;
	if (job->state == LIVE_CANCELLED)
		outcomes_drop(o, note->job);
	else
		outcomes_ended(o, note->job, note->at_s);
}

/* ---- for calls */

/* What takes long to make may be older. */
static bool is_recent(const struct forecast_task *t, double most_s)
{
	return clock_real_s() - t->computed_at <= fmax(most_s, 5 * t->took_s);
}

/* Jobs may have ended since, and as many have come. */
static bool all_last(const struct daemon *d, const struct forecast *f)
{
	for (size_t i = 0; i < f->jobs.n; i++) {
		const struct live_job *job = core_job(d->core, f->jobs.at[i].number);

		if (!job || live_ended(job))
			return false;
	}
	return true;
}

/* Of all: whoever looks now and then takes what there is, else every look would cost a forecast. */
static bool good_for_all(const struct daemon *d, bool fresh)
{
	const struct forecast_task *last = d->forecaster->last;
	size_t n, known;

	if (!last || last->rc < 0)
		return false;
	core_jobs(d->core, &n);
	known = last->forecast.jobs.n + last->forecast.absent.n;
	if (fresh)
		return is_recent(last, FRESH_S) && known == n && all_last(d, &last->forecast);
	return is_recent(last, SEEN_S) && known <= n + n / 10 + 1 && n <= known + known / 10 + 1;
}

static bool good_enough(const struct daemon *d, uint32_t number)
{
	const struct forecast_task *last = d->forecaster->last;
	const struct live_job *job = core_job(d->core, number);
	const struct forecast_job *known;

	if (!last || last->rc < 0 || !is_recent(last, FRESH_S))
		return false;
	known = forecast_find(&last->forecast, number);
	if (!known && job && job->state == LIVE_PENDING)
		return forecast_find_absent(&last->forecast, number) != NULL;
	return known && job && known->waits == (job->state == LIVE_PENDING);
}

bool forecaster_ready(struct daemon *d, struct call *call, uint32_t job)
{
	struct forecaster *f = d->forecaster;

	bool fresh = member_bool(call->args, "fresh", false);

	if (call->forecast || (job ? good_enough(d, job) : good_for_all(d, fresh)))
		return true;
	/* The one that is going on will do if nothing has happened since it began. */
	call->forecast = f->going && f->going->seq == d->last_seq ? f->begun : f->begun + 1;
	call->until_s = INFINITY;
	f->wanted = call->forecast;
	return false;
}

bool forecaster_is_done(const struct daemon *d, const struct call *call)
{
	return d->forecaster->done >= call->forecast;
}

const char *forecaster_failed(const struct daemon *d)
{
	const struct forecast_task *last = d->forecaster->last;

	if (!last)
		return "there is no forecast yet";
	return last->rc < 0 ? last->err.text : NULL;
}

const struct forecast *forecaster_last(const struct daemon *d)
{
	return &d->forecaster->last->forecast;
}

const struct forecast_text *forecaster_text(const struct daemon *d)
{
	return &d->forecaster->last->text;
}

double forecaster_computed_at(const struct daemon *d)
{
	return d->forecaster->last->computed_at;
}

struct track forecaster_track(const struct daemon *d, bool starts)
{
	const struct outcomes *o = &d->forecaster->outcomes;

	return calibration_track(starts ? &o->start : &o->finish);
}

struct correction forecaster_correction(const struct daemon *d, bool starts)
{
	const struct outcomes *o = &d->forecaster->outcomes;

	return calibration_correction(starts ? &o->start : &o->finish);
}

/* ---- its life */

static void wake(void *ctx)
{
	daemon_wake(ctx);
}

struct worker *forecaster_worker(struct daemon *d)
{
	if (!d->forecaster->worker)
		d->forecaster->worker = worker_create(wake, d, NICENESS);
	return d->forecaster->worker;
}

struct recall *forecaster_recall(struct daemon *d)
{
	return &d->forecaster->recall;
}

struct forecaster *forecaster_create(struct daemon *d, double every_s)
{
	struct forecaster *f = mem_alloc(sizeof(*f));
	struct err err = { 0 };

	f->daemon = d;
	f->every_s = every_s;
	f->path = mem_printf("%s/forecasts.json", d->config.state_dir);
	recall_init(&f->recall, d->config.state_dir);
	if (outcomes_read(f->path, &f->outcomes, &err) < 0)
		log_warning(d->log, "the track record of forecasts begins anew: %s", err.text);
	return f;
}

void forecaster_stop(struct forecaster *f)
{
	if (!f)
		return;
	worker_destroy(f->worker);
	f->worker = NULL;
}

void forecaster_destroy(struct forecaster *f)
{
	if (!f)
		return;
	forecaster_stop(f);
	if (f->saved != f->outcomes.changes) {
		struct forecast_task t = { .of = f,
			.start = f->outcomes.start,
			.finish = f->outcomes.finish };

		save(&t);
	}
	destroy_task(f->going ? &f->going->task : NULL);
	destroy_task(f->last ? &f->last->task : NULL);
	recall_fini(&f->recall);
	outcomes_fini(&f->outcomes);
	free(f->path);
	free(f);
}
