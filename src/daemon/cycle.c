/*
 * One turn of the daemon: what came is written down, decided upon, written
 * down again and carried out.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/audit.h"
#include "daemon/daemon_state.h"
#include "daemon/forecaster.h"
#include "daemon/library.h"
#include "daemon/reports.h"
#include "daemon/kept_use.h"
#include "daemon/retain.h"
#include "daemon/shadow.h"

enum { ROWS_KEPT = 20000 }; /* room for so many is kept for the next cycle */

#define RETRY_S 1.0 /* a disk that was full is asked again so often */
#define FULL_S 1.0  /* a disk that has just become full is waited for so long */

/* ---- rows */

static void fill_job(struct daemon *d, struct row *row)
{
	const struct live_job *job = core_job(d->core, row->event.job);
	struct buf *status = &d->row_text;

	if (!job)
		return;
	buf_clear(status);
	core_job_status(d->core, job->id, status);
	row->has_job = true;
	row->job = (struct record_job){
		.id = job->id,
		.uid = job->uid,
		.key = job->key ? arena_strdup(&d->row_words, job->key) : NULL,
		.name = arena_strdup(&d->row_words, job->name),
		.tenant = job->tenant ? arena_strdup(&d->row_words, job->tenant) : NULL,
		.state = live_state_name(job->state),
		.live = !live_ended(job),
		.arrival_s = job->arrival_s,
		.end_s = job->end_s,
		.submit_seq = job->submit_seq,
		.status = arena_strndup(&d->row_words, status->at, status->n),
	};
}

static void fill_attempt(struct daemon *d, struct row *row)
{
	const struct attempt *a = core_attempt(d->core, row->event.job, row->event.attempt);
	struct buf status = { 0 };

	if (!a)
		return;
	core_attempt_status(d->core, a->job, a->number, &status);
	row->has_attempt = true;
	row->attempt = (struct record_attempt){
		.job = a->job,
		.attempt = a->number,
		.over = a->phase == PHASE_OVER,
		.status = arena_strdup(&d->row_words, status.at),
	};
	buf_fini(&status);
}

static const char *keep_word(struct daemon *d, const char *word)
{
	return word ? arena_strdup(&d->row_words, word) : NULL;
}

/* Now: a job that ends is forgotten before its rows are published. */
void daemon_row_of(struct daemon *d, const struct live_job *job)
{
	struct row *row = &d->rows.at[d->rows.n - 1];

	row->state = live_state_name(job->state);
	row->name = row->has_job ? row->job.name : keep_word(d, job->name);
	row->tenant = row->has_job ? row->job.tenant : keep_word(d, job->tenant);
	row->user = keep_word(d, job->user);
	row->has_end = live_ended(job);
	row->code = job->code;
	row->signal = job->signal;
	row->end_text = row->has_end ? keep_word(d, job->end_text) : NULL;
}

void daemon_row(struct daemon *d, const char *kind, uint32_t job, uint32_t attempt, double at_s,
	const char *body, bool after)
{
	struct row row = {
		.event = {
			.at_s = at_s,
			.kind = kind,
			.job = job,
			.attempt = attempt,
			.body = arena_strdup(&d->row_words, body),
		},
	};
	const struct live_job *of = job ? core_job(d->core, job) : NULL;

	if (after && job)
		fill_job(d, &row);
	if (after && attempt)
		fill_attempt(d, &row);
	vec_push(&d->rows, row);
	if (of)
		daemon_row_of(d, of);
}

/* With the row that tells of it: the next daemon must know which offset jobs' moments are in. */
static int write_clock(struct daemon *d, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	record_clock_text(&d->clock, &text);
	rc = record_put_meta(d->record, "clock", text.at, err);
	buf_fini(&text);
	return rc;
}

static int write_rows(struct daemon *d, struct err *err)
{
	if (record_begin(d->record, err) < 0)
		return err->code;
	for (size_t i = 0; i < d->rows.n; i++) {
		struct row *row = &d->rows.at[i];

		if (record_append(d->record, &row->event, row->has_job ? &row->job : NULL,
			    row->has_attempt ? &row->attempt : NULL, err) < 0)
			return err->code;
	}
	if (d->clock_moved && write_clock(d, err) < 0)
		return err->code;
	return record_commit(d->record, err);
}

static void set_health(struct daemon *d, const char *text)
{
	pthread_mutex_lock(&d->mutex);
	snprintf(d->health, sizeof(d->health), "%s", text);
	pthread_mutex_unlock(&d->mutex);
}

void daemon_trouble(struct daemon *d, const char *text)
{
	if (!d->trouble[0])
		log_error(d->log,
			"the record cannot be written (%s): no new jobs are taken and none are started; what runs goes on",
			text);
	snprintf(d->trouble, sizeof(d->trouble), "%s", text);
	set_health(d, text);
	d->retry_s = clock_wall_s() + RETRY_S;
}

static void trouble_over(struct daemon *d)
{
	if (!d->trouble[0])
		return;
	d->trouble[0] = 0;
	set_health(d, "ok");
	log_notice(d->log, "the record can be written again");
}

/* Nothing waits to be written, so nothing would ever show that it could be. */
static bool try_again(struct daemon *d)
{
	struct err err = { 0 };

	if (record_set_meta(d->record, "tried", d->trouble, &err) < 0) {
		daemon_trouble(d, err.text);
		return false;
	}
	trouble_over(d);
	return true;
}

/* Where the words of each new job are. */
static void note_submitted(struct daemon *d)
{
	d->submitted.n = 0;
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct record_event *event = &d->rows.at[i].event;

		if (!strcmp(event->kind, "submit"))
			vec_push(&d->submitted, (struct submitted){ event->job, event->seq });
	}
}

bool row_matters(const struct row *row)
{
	static const char *const aside[] = { "progress", "checkpointed", "audit" };

	for (size_t i = 0; i < sizeof(aside) / sizeof(*aside); i++) {
		if (!strcmp(row->event.kind, aside[i]))
			return false;
	}
	return true;
}

static void move_stamp(struct daemon *d)
{
	size_t i = d->rows.n;

	while (i > 0 && !row_matters(&d->rows.at[i - 1]))
		i--;
	if (i > 0)
		d->stamp = d->rows.at[i - 1].event.seq;
}

/* Of more rows than the stream keeps, the first are not written for it unless a client or a notifier reads along. */
static void publish_rows(struct daemon *d)
{
	size_t i = 0;

	if (d->rows.n > STREAM_KEEPS && !stream_has_readers(d->stream)) {
		i = d->rows.n - STREAM_KEEPS;
		stream_skip(d->stream, d->rows.at[i - 1].event.seq);
	}
	for (; i < d->rows.n; i++)
		daemon_publish(d, &d->rows.at[i]);
}

/*
 * A disk that output of jobs has filled is full for a moment only: their guards cut it.  That moment is waited out
 * before it counts as trouble.
 */
static bool write_patiently(struct daemon *d, struct err *err)
{
	const struct timespec pause = { 0, 20000000 };
	double until_s = clock_wall_s() + FULL_S;

	for (;;) {
		if (write_rows(d, err) == 0)
			return true;
		record_rollback(d->record);
		if (d->trouble[0] || !daemon_disk_is_low(d) || clock_wall_s() >= until_s)
			return false;
		nanosleep(&pause, NULL);
	}
}

void daemon_drop_rows(struct daemon *d)
{
	d->rows.n = 0;
	if (d->rows.cap <= ROWS_KEPT) {
		arena_reset(&d->row_words);
		return;
	}
	vec_fini(&d->rows);
	arena_fini(&d->row_words);
	d->spare = true;
}

bool daemon_flush(struct daemon *d)
{
	struct err err = { 0 };
	double began_s = clock_wall_s();

	if (d->rows.n == 0 && !d->trouble[0])
		return true;
	if (d->trouble[0] && began_s < d->retry_s)
		return false;
	if (d->rows.n == 0)
		return try_again(d);
	if (!write_patiently(d, &err)) {
		daemon_trouble(d, err.text);
		return false;
	}
	metrics_time(d->metrics, METRICS_COMMIT, clock_wall_s() - began_s);
	publish_rows(d);
	note_submitted(d);
	d->last_seq = d->rows.at[d->rows.n - 1].event.seq;
	move_stamp(d);
	d->clock_moved = false;
	daemon_drop_rows(d);
	trouble_over(d);
	return true;
}

/* ---- notes */

static void count_note(struct daemon *d, const struct core_note *note)
{
	const struct live_job *job = core_job(d->core, note->job);
	const struct attempt *a = core_attempt(d->core, note->job, note->attempt);

	if (!job)
		return;
	switch (note->kind) {
	case NOTE_LAUNCH:
		metrics_count(d->metrics, METRICS_STARTS, 1);
		if (note->attempt == 1)
			metrics_time(d->metrics, METRICS_WAIT, note->at_s - job->arrival_s);
		break;
	case NOTE_STOP:
		metrics_count(d->metrics, METRICS_PREEMPTIONS, a && a->stop == STOP_PREEMPT);
		break;
	case NOTE_RESIZE:
		metrics_count(d->metrics, METRICS_RESIZES, 1);
		break;
	case NOTE_OVER:
		if (a && !isnan(a->begun_s))
			metrics_time(d->metrics, METRICS_RUN, a->over_s - a->begun_s);
		break;
	case NOTE_END:
		metrics_ended(d->metrics, live_state_name(job->state));
		break;
	default:
		break;
	}
}

static void order_errand(struct daemon *d, const struct core_note *note)
{
	static const struct {
		enum note_kind note;
		enum errand_kind errand;
	} orders[] = {
		{ NOTE_LAUNCH, ERRAND_LAUNCH },
		{ NOTE_STOP, ERRAND_STOP },
		{ NOTE_RESIZE, ERRAND_RESIZE },
		{ NOTE_RENEW, ERRAND_RENEW },
		{ NOTE_END, ERRAND_FORGET },
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (note->kind == orders[i].note && (note->kind != NOTE_END || d->hands->table->forget))
			daemon_errand(d, orders[i].errand, note->job, note->attempt);
	}
}

void daemon_take_notes(struct daemon *d)
{
	size_t n;
	const struct core_note *notes = core_notes(d->core, &n);

	for (size_t i = 0; i < n; i++) {
		const struct core_note *note = &notes[i];

		daemon_row(d, note_name(note->kind), note->job, note->attempt, note->at_s,
			note->body, true);
		count_note(d, note);
		forecaster_see(d, note);
		order_errand(d, note);
	}
	core_forget_notes(d->core);
}

/* ---- calls */

static struct call *take_calls(struct daemon *d)
{
	struct call *calls;

	pthread_mutex_lock(&d->mutex);
	calls = d->calls;
	d->calls = NULL;
	d->calls_end = &d->calls;
	pthread_mutex_unlock(&d->mutex);
	return calls;
}

static void answer(struct daemon *d, struct call *call)
{
	if (verb_is_submit(call->verb))
		metrics_time(d->metrics, METRICS_SUBMIT, clock_wall_s() - call->came_s);
	if (call->status >= 400)
		metrics_count(d->metrics, METRICS_REFUSED, 1);
	call->answer(call->ctx, call->status, &call->body);
	call_destroy(call);
}

/* Reads are answered at once, changes when they are durable, and those that wait when it is time. */
static void file_call(struct daemon *d, struct call *call)
{
	if (call->reader)
		library_give(d, call);
	else if (!call->status)
		vec_push(&d->waiting, call);
	else if (call->status >= 400 || !strcmp(call->verb->method, "GET"))
		answer(d, call);
	else
		vec_push(&d->done, call);
}

static void refuse_for_trouble(struct daemon *d, struct call *call)
{
	call_problem(call, 507, 1,
		"the daemon cannot write its record (%s), so it takes nothing new; what runs goes on.  Make room and try again",
		d->trouble);
}

/*
 * Submissions are durable before they count: their rows are written first, and if that fails they were
 * never there.
 */
static void do_submits(struct daemon *d, struct call *calls)
{
	size_t before;
	bool durable;

	verb_meet_tenants(d, calls);
	d->asked.n = 0;
	before = d->rows.n;
	for (struct call *call = calls; call; call = call->next) {
		if (verb_is_submit(call->verb) && d->trouble[0])
			refuse_for_trouble(d, call);
		else if (verb_is_submit(call->verb))
			verb_prepare_submit(d, call);
	}
	durable = d->rows.n == before || daemon_flush(d);
	if (!durable)
		d->rows.n = before;
	for (struct call *call = calls; call; call = call->next) {
		if (!verb_is_submit(call->verb) || call->status)
			continue;
		if (durable)
			verb_finish_submit(d, call);
		else
			refuse_for_trouble(d, call);
	}
}

/* Whatever is asked keeps the loop from deciding for so long. */
static void ask(struct daemon *d, struct call *call)
{
	double before_s = clock_thread_cpu_s();

	verb_run(d, call);
	if (!strcmp(call->verb->method, "GET"))
		metrics_time(d->metrics, METRICS_QUESTION, clock_thread_cpu_s() - before_s);
}

static void do_calls(struct daemon *d, struct call *calls)
{
	do_submits(d, calls);
	while (calls) {
		struct call *call = calls;

		calls = call->next;
		if (!verb_is_submit(call->verb))
			ask(d, call);
		file_call(d, call);
	}
}

/* ---- news of the machine */

static void take_news(struct daemon *d, const struct news *news, const char *body)
{
	daemon_row(d, news->kind, news->job, news->attempt, d->last_s, body, false);
	metrics_count(d->metrics, METRICS_IDLE_RECLAIMS, !strcmp(news->kind, "reclaim"));
}

static void do_news(struct daemon *d)
{
	for (size_t i = 0; i < d->news.n; i++) {
		struct news *news = &d->news.at[i];
		struct err err = { 0 };
		char *body = json_dumps(news->body, JSON_COMPACT);

		if (news->job)
			reports_flush(d, news->job); /* what it said before its end counts before it */
		if (core_apply(d->core, news->kind, news->job, news->attempt, d->last_s, news->body,
			    &err) == 0)
			take_news(d, news, body);
		else
			log_debug(d->log, "%s of job %u, attempt %u: %s", news->kind, news->job,
				news->attempt, err.text);
		free(body);
		json_decref(news->body);
	}
	d->news.n = 0;
}

/* Its task is done, its forecast is there, its job has ended, or its time is over. */
static bool is_due(const struct daemon *d, const struct call *call)
{
	if (call->task)
		return task_done(call->task);
	if (call->forecast)
		return forecaster_is_done(d, call);
	return !core_job(d->core, call->job) || clock_wall_s() >= call->until_s;
}

/* Long polls whose job has ended, whose time is over, or whose answer has been worked out. */
static void do_waiting(struct daemon *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->waiting.n; i++) {
		struct call *call = d->waiting.at[i];

		if (is_due(d, call))
			ask(d, call);
		if (call->status)
			answer(d, call);
		else
			d->waiting.at[kept++] = call;
	}
	d->waiting.n = kept;
}

static void answer_done(struct daemon *d)
{
	for (size_t i = 0; i < d->done.n; i++)
		answer(d, d->done.at[i]);
	d->done.n = 0;
}

/* Nobody waits for a disk.  What was asked for happens with the first write that succeeds. */
static void answer_undone(struct daemon *d)
{
	for (size_t i = 0; i < d->done.n; i++)
		call_problem(d->done.at[i], 507, 1,
			"the daemon cannot write its record (%s): this is done as soon as it can, unless it stops before",
			d->trouble);
	answer_done(d);
}

static void set_care_gauges(struct daemon *d)
{
	const struct health *health = core_health(d->core);
	size_t n, idle = 0, drained = 0;
	const struct attempt *const *attempts = core_attempts(d->core, &n);

	for (size_t i = 0; i < n; i++) {
		const struct live_job *job = core_job(d->core, attempts[i]->job);
		struct idle_state state;

		if (job && attempts[i]->phase == PHASE_RUNNING &&
			daemon_is_idle(d, job, d->last_s, &state))
			idle += attempts[i]->grant->gpus;
	}
	for (size_t i = 0; i < health->devices.n; i++)
		drained += health->devices.at[i].drained != NULL;
	metrics_set(d->metrics, METRICS_IDLE_DEVICES, (double)idle);
	metrics_set(d->metrics, METRICS_DRAINED_DEVICES, (double)drained);
}

static void set_gauges(struct daemon *d)
{
	size_t n, held = 0, up = 0;
	const struct attempt *const *attempts = core_attempts(d->core, &n);
	size_t jobs;

	for (size_t i = 0; i < n; i++)
		held += attempts[i]->phase == PHASE_OVER ? 0 : attempts[i]->grant->gpus;
	for (uint32_t i = 0; i < d->machine.ndevices; i++)
		up += d->machine.devices[i].up;
	core_jobs(d->core, &jobs);
	metrics_set(d->metrics, METRICS_RUNNING, (double)n);
	metrics_set(d->metrics, METRICS_PENDING, jobs > n ? (double)(jobs - n) : 0);
	metrics_set(d->metrics, METRICS_DEVICES, d->machine.ndevices);
	metrics_set(d->metrics, METRICS_DEVICES_UP, (double)up);
	metrics_set(d->metrics, METRICS_DEVICES_HELD, (double)held);
}

static int decide(struct daemon *d, struct err *err)
{
	uint64_t before = core_decisions(d->core);
	double began_s = clock_wall_s();
	int rc = core_turn(d->core, d->last_s, err);

	if (core_decisions(d->core) > before) {
		metrics_time(d->metrics, METRICS_DECISION, clock_wall_s() - began_s);
		metrics_count(d->metrics, METRICS_DECISIONS, core_decisions(d->core) - before);
		if (!d->reasons)
			d->reasons = reasons_create();
		reasons_see(d->reasons, d->core, d->last_s);
	}
	return rc;
}

int daemon_cycle(struct daemon *d, struct err *err)
{
	d->last_s = daemon_now_s(d);
	if (decide(d, err) < 0)
		return err->code;
	/* What was decided for moments before this one is written before what happens now. */
	daemon_take_notes(d);
	daemon_read_clock(d);
	do_calls(d, take_calls(d));
	reports_turn(d);
	do_news(d);
	if (__atomic_load_n(&d->stopping, __ATOMIC_SEQ_CST))
		reports_flush(d, 0);
	if (decide(d, err) < 0)
		return err->code;
	daemon_take_notes(d);
	if (daemon_flush(d)) {
		answer_done(d); /* first: launching takes a while, and does not change the answer */
		daemon_run_errands(d);
	} else {
		daemon_run_cancels(d);
		answer_undone(d);
	}
	forecaster_turn(d);
	shadow_turn(d);
	retain_turn(d);
	kept_use_turn(d);
	audit_turn(d);
	do_waiting(d);
	set_gauges(d);
	set_care_gauges(d);
	daemon_look_degraded(d);
	return 0;
}
