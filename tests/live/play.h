/*
 * A daemon that is played by hand: cycles of inputs, turns, rows and restarts,
 * without processes and without a disk.
 *
 *	play_open(&p, "1x2", "las");
 *	play_submit(&p, 0, (struct ask){ .gpus = 2 });
 *	play_says(&p, "start 1.1, launch 1.1");
 *	play_close(&p);
 *
 * Whatever is written down is watched: nothing is launched twice, or on devices that
 * another still has, nothing new goes to drained devices, and every job ends once.  At
 * the end all rows are replayed.
 */
#ifndef TESTS_LIVE_PLAY_H
#define TESTS_LIVE_PLAY_H

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "live/core.h"
#include "live/epoch.h"
#include "live/replay.h"
#include "support/property.h"

enum { PLAY_NODES = 4 };

/* A row of the record, with text of its own. */
struct play_row {
	double at_s;
	char *kind, *body, *job_after, *attempt_after;
	uint32_t job, attempt;
	bool job_live, attempt_over;
};

/* What the world has of an attempt. */
struct proc {
	uint32_t job, attempt;
	bool launched, begun, asked, told, exited, over, whole;
	uint64_t holds[PLAY_NODES]; /* devices it may be using */
};

struct play {
	struct epoch epoch;
	struct core *core;
	double now_s;
	VEC(struct play_row) rows;  /* durable */
	VEC(struct play_row) cycle; /* not yet */
	VEC(struct proc) procs;
	VEC(int) ended; /* by job: -1 no such job, 0 alive, 1 ended; durable */
	uint32_t jobs;  /* the last number */
	uint64_t down[PLAY_NODES], drained[PLAY_NODES];
	bool shares;     /* the policy may put two on one device */
	uint32_t kills;  /* restarts that lost a cycle */
	struct buf said; /* the notes of this cycle */
};

/* What is asked for, in short. */
struct ask {
	int gpus, min_gpus, max_gpus, retries, priority;
	double share, estimate_s, begin_s, deadline_s;
	int64_t mem_bytes, mem_most; /* most: the memory is a label */
	bool hold, no_requeue;
	const char *tenant, *model, *types;
	uint32_t array_id, array_limit;
	struct dependency after[4];
};

/* ---- rows */

static inline char *play_copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static inline void play_row_fini(struct play_row *row)
{
	free(row->kind);
	free(row->body);
	free(row->job_after);
	free(row->attempt_after);
}

static inline void play_row(struct play *p, const char *kind, uint32_t job, uint32_t attempt,
	double at_s, const char *body, bool after)
{
	struct play_row row = { at_s, play_copy(kind), play_copy(body), NULL, NULL, job, attempt,
		false, false };
	const struct live_job *live = after && job ? core_job(p->core, job) : NULL;
	const struct attempt *a = after && attempt ? core_attempt(p->core, job, attempt) : NULL;
	struct buf text = { 0 };

	if (live) {
		core_job_status(p->core, job, &text);
		row.job_after = play_copy(text.at);
		row.job_live = !live_ended(live);
	}
	buf_fini(&text);
	if (a) {
		core_attempt_status(p->core, job, attempt, &text);
		row.attempt_after = play_copy(text.at);
		row.attempt_over = a->phase == PHASE_OVER;
	}
	buf_fini(&text);
	vec_push(&p->cycle, row);
}

static inline void play_take_notes(struct play *p)
{
	size_t n;
	const struct core_note *notes = core_notes(p->core, &n);

	for (size_t i = 0; i < n; i++) {
		const struct core_note *note = &notes[i];

		play_row(p, note_name(note->kind), note->job, note->attempt, note->at_s, note->body,
			true);
		buf_printf(&p->said, "%s%s %u", p->said.n ? ", " : "", note_name(note->kind),
			note->job);
		if (note->attempt)
			buf_printf(&p->said, ".%u", note->attempt);
	}
	core_forget_notes(p->core);
}

/* ---- what must hold of what is carried out */

static inline struct proc *play_proc(struct play *p, uint32_t job, uint32_t attempt)
{
	for (size_t i = 0; i < p->procs.n; i++) {
		if (p->procs.at[i].job == job && p->procs.at[i].attempt == attempt)
			return &p->procs.at[i];
	}
	return NULL;
}

static inline void play_grant(const char *body, uint64_t *holds, bool *whole)
{
	json_t *json = json_loads(body, 0, NULL), *grant = json_object_get(json, "grant"), *slot;
	size_t i;

	assert_non_null(grant);
	json_array_foreach(json_object_get(grant, "on"), i, slot)
	{
		json_int_t node = json_integer_value(json_array_get(slot, 0));

		assert_true(node < PLAY_NODES);
		holds[node] |= (uint64_t)json_integer_value(json_array_get(slot, 1));
	}
	*whole = member_number(grant, "share", 1) >= 1;
	json_decref(json);
}

static inline void play_launch(struct play *p, struct proc *one)
{
	assert_false(one->launched);
	assert_false(one->over);
	one->launched = true;
	for (size_t i = 0; i < p->procs.n; i++) {
		const struct proc *other = &p->procs.at[i];

		if (other == one || !other->launched || other->over)
			continue;
		assert_int_not_equal(other->job, one->job);
		for (int n = 0; n < PLAY_NODES; n++)
			assert_false(!p->shares && (other->whole || one->whole) &&
				(other->holds[n] & one->holds[n]));
	}
}

/* Nobody may be told to take what another still has. */
static inline void play_resize(struct play *p, struct proc *one, const char *body)
{
	uint64_t next[PLAY_NODES] = { 0 };
	bool whole;

	assert_true(one->launched && one->begun && !one->over && !one->asked);
	play_grant(body, next, &whole);
	for (size_t i = 0; i < p->procs.n; i++) {
		const struct proc *other = &p->procs.at[i];

		for (int n = 0; other != one && other->launched && !other->over && n < PLAY_NODES; n++)
			assert_false(!p->shares && (other->whole || whole) &&
				(other->holds[n] & next[n]));
	}
	for (int n = 0; n < PLAY_NODES; n++)
		one->holds[n] |= next[n];
	one->told = true;
}

/* Of one that has taken its new size. */
static inline void play_resized(struct play *p, struct proc *one)
{
	for (size_t i = p->rows.n; i-- > 0;) {
		const struct play_row *row = &p->rows.at[i];

		if (row->job == one->job && row->attempt == one->attempt &&
			!strcmp(row->kind, "resize")) {
			memset(one->holds, 0, sizeof(one->holds));
			play_grant(row->body, one->holds, &one->whole);
			break;
		}
	}
	one->told = false;
}

/* All that is known of devices. */
static inline void play_health(struct play *p, const char *body)
{
	json_t *json = json_loads(body, 0, NULL);
	struct health health = { 0 };

	health_from_json(json_object_get(json, "health"), &p->epoch.cluster, &health);
	for (uint32_t node = 0; node < p->epoch.cluster.nnodes; node++)
		p->drained[node] = health_drained(&health, node);
	health_fini(&p->epoch.health);
	p->epoch.health = health;
	json_decref(json);
}

/* Drained devices go to nobody who has them not already. */
static inline void play_not_drained(const struct play *p, const struct proc *fresh)
{
	uint64_t had[PLAY_NODES] = { 0 };

	for (size_t i = 0; i < p->procs.n; i++) {
		const struct proc *other = &p->procs.at[i];

		for (int n = 0; other->job == fresh->job && !other->over && n < PLAY_NODES; n++)
			had[n] |= other->holds[n];
	}
	for (int n = 0; n < PLAY_NODES; n++)
		assert_false(fresh->holds[n] & p->drained[n] & ~had[n]);
}

static inline void play_see_note(struct play *p, const struct play_row *row, enum note_kind kind)
{
	struct proc *one = row->attempt ? play_proc(p, row->job, row->attempt) : NULL;

	if (kind == NOTE_START) {
		struct proc fresh = { .job = row->job, .attempt = row->attempt };

		assert_null(one);
		play_grant(row->body, fresh.holds, &fresh.whole);
		play_not_drained(p, &fresh);
		vec_push(&p->procs, fresh);
		return;
	}
	assert_true(!row->attempt || one);
	switch (kind) {
	case NOTE_HEALTH:
		play_health(p, row->body);
		break;
	case NOTE_LAUNCH:
		play_launch(p, one);
		break;
	case NOTE_STOP:
		assert_true(one->launched && !one->asked && !one->over);
		one->asked = true;
		break;
	case NOTE_RESIZE:
		play_resize(p, one, row->body);
		break;
	case NOTE_OVER:
		assert_false(one->over);
		assert_int_equal(one->launched, one->exited);
		one->over = true;
		break;
	case NOTE_END:
		assert_int_equal(p->ended.at[row->job], 0);
		p->ended.at[row->job] = 1;
		break;
	default:
		break;
	}
}

static inline void play_see_input(struct play *p, const struct play_row *row)
{
	struct proc *one = row->attempt ? play_proc(p, row->job, row->attempt) : NULL;

	if (!strcmp(row->kind, "submit")) {
		while (p->ended.n <= row->job)
			vec_push(&p->ended, -1);
		assert_int_equal(p->ended.at[row->job], -1);
		p->ended.at[row->job] = 0;
	} else if (!strcmp(row->kind, "requeue")) {
		p->ended.at[row->job] = 0;
	} else if (!strcmp(row->kind, "begun")) {
		one->begun = true;
	} else if (!strcmp(row->kind, "exit")) {
		one->exited = true;
	} else if (!strcmp(row->kind, "resized")) {
		play_resized(p, one);
	}
}

/* The cycle's rows are durable, and carried out. */
static inline void play_flush(struct play *p)
{
	for (size_t i = 0; i < p->cycle.n; i++) {
		struct play_row row = p->cycle.at[i];
		int kind = note_kind_of(row.kind);

		if (kind >= 0)
			play_see_note(p, &row, (enum note_kind)kind);
		else
			play_see_input(p, &row);
		vec_push(&p->rows, row);
	}
	p->cycle.n = 0;
}

/* ---- epochs */

/* The last status that the record has; NULL: none. */
static inline const char *play_status(const struct play *p, uint32_t job, bool *live)
{
	for (size_t i = p->rows.n; i-- > 0;) {
		const struct play_row *row = &p->rows.at[i];

		if (row->job == job && row->job_after) {
			*live = row->job_live;
			return row->job_after;
		}
	}
	return NULL;
}

static inline const char *play_state_of(void *ctx, uint32_t job)
{
	bool live = false;
	const char *status = play_status(ctx, job, &live);
	json_t *json;
	int state;

	if (!status)
		return "CANCELLED";
	if (live)
		return NULL;
	json = json_loads(status, 0, NULL);
	state = live_state_of(member_text(json, "state"));
	json_decref(json);
	return live_state_name((enum live_state)state);
}

static inline void play_adopt_job(struct play *p, uint32_t id)
{
	struct err err = { 0 };
	bool live = false;
	const char *text = play_status(p, id, &live);
	json_t *status;

	if (!text || !live)
		return;
	status = json_loads(text, 0, NULL);
	epoch_settle_after(status, play_state_of, p);
	assert_int_equal(core_adopt_job(p->core, status, &err), 0);
	json_decref(status);
}

static inline void play_adopt_attempt(struct play *p, uint32_t job, uint32_t attempt)
{
	struct err err = { 0 };

	for (size_t i = p->rows.n; i-- > 0;) {
		const struct play_row *row = &p->rows.at[i];
		json_t *status;

		if (row->job != job || row->attempt != attempt || !row->attempt_after)
			continue;
		if (row->attempt_over)
			return;
		status = json_loads(row->attempt_after, 0, NULL);
		assert_int_equal(core_adopt_attempt(p->core, status, &err), 0);
		json_decref(status);
		return;
	}
}

static inline uint32_t play_attempts(const struct play *p, uint32_t job)
{
	uint32_t last = 0;

	for (size_t i = 0; i < p->procs.n; i++) {
		if (p->procs.at[i].job == job && p->procs.at[i].attempt > last)
			last = p->procs.at[i].attempt;
	}
	return last;
}

static inline void play_apply(struct play *p, const char *kind, uint32_t job, uint32_t attempt,
	const char *body);

/* A new core from what is durable.  What is not was never there. */
static inline void play_epoch(struct play *p, const char *why)
{
	struct core_config config = {
		.cluster = &p->epoch.cluster,
		.rules = p->epoch.rules,
		.tenants = &p->epoch.tenants,
		.seed = p->epoch.seed,
		.care = p->epoch.care,
		.health = &p->epoch.health,
	};
	struct buf body = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < p->cycle.n; i++)
		play_row_fini(&p->cycle.at[i]);
	p->cycle.n = 0;
	while (p->jobs && (p->jobs >= p->ended.n || p->ended.at[p->jobs] < 0))
		p->jobs--;
	core_close(p->core);
	assert_int_equal(core_open(&config, p->now_s, &p->core, &err), 0);
	for (uint32_t id = 1; id <= p->jobs; id++)
		play_adopt_job(p, id);
	for (uint32_t id = 1; id <= p->jobs; id++) {
		for (uint32_t n = 1; n <= play_attempts(p, id); n++)
			play_adopt_attempt(p, id, n);
	}
	p->epoch.why = why;
	epoch_to_json(&p->epoch, &body);
	play_row(p, "epoch", 0, 0, p->now_s, body.at, false);
	buf_fini(&body);
	for (uint32_t node = 0; node < p->epoch.cluster.nnodes; node++) {
		char down[96];

		snprintf(down, sizeof(down), "{\"node\":%u,\"devices\":%llu,\"up\":false}", node,
			(unsigned long long)p->down[node]);
		if (p->down[node])
			play_apply(p, "devices", 0, 0, down);
	}
}

/* The daemon is killed and started again. */
static inline void play_restart(struct play *p, double at_s)
{
	p->now_s = at_s;
	p->kills += p->cycle.n > 0;
	play_epoch(p, "restart");
	play_flush(p);
}

/* Other rules from now on, as the daemon changes them: between two turns. */
static inline void play_policy(struct play *p, double at_s, const char *policy)
{
	struct err err = { 0 };

	p->now_s = at_s;
	assert_int_equal(core_turn(p->core, at_s, &err), 0);
	core_note_all(p->core);
	play_take_notes(p);
	play_flush(p);
	p->epoch.rules.policy = policy;
	play_epoch(p, "policy");
	play_flush(p);
}

static inline void play_open(struct play *p, const char *cluster, const char *policy)
{
	struct err err = { 0 };

	*p = (struct play){
		.epoch = { .rules = { .policy = policy },
			.seed = 7,
			.born_s = 1e9,
			.care = { .avoid_after = 2, .drain_after = 3, .drain_users = 1 } },
	};
	assert_int_equal(cluster_parse(cluster, &p->epoch.cluster, &err), 0);
	play_epoch(p, "start");
	play_flush(p);
}

/* ---- cycles */

static inline void play_fail(const struct err *err)
{
	if (err->code)
		fail_msg("%s", err->text);
}

static inline void play_begin(struct play *p, double at_s)
{
	struct err err = { 0 };

	p->now_s = at_s;
	buf_clear(&p->said);
	core_turn(p->core, at_s, &err);
	play_fail(&err);
	play_take_notes(p);
}

/* What was refused left no trace and is not written down. */
static inline int play_try(struct play *p, const char *kind, uint32_t job, uint32_t attempt,
	const char *text)
{
	json_t *body = json_loads(text, 0, NULL);
	struct err err = { 0 };
	int rc;

	assert_non_null(body);
	rc = core_apply(p->core, kind, job, attempt, p->now_s, body, &err);
	json_decref(body);
	if (rc == 0)
		play_row(p, kind, job, attempt, p->now_s, text, false);
	return rc;
}

static inline void play_apply(struct play *p, const char *kind, uint32_t job, uint32_t attempt,
	const char *body)
{
	assert_int_equal(play_try(p, kind, job, attempt, body), 0);
}

static inline void play_decide(struct play *p)
{
	struct err err = { 0 };

	core_turn(p->core, p->now_s, &err);
	play_fail(&err);
	play_take_notes(p);
}

static inline void play_end(struct play *p)
{
	play_decide(p);
	play_flush(p);
}

/* ---- whole cycles with one input */

static inline void play_pass(struct play *p, double at_s)
{
	play_begin(p, at_s);
	play_end(p);
}

static inline void play_do(struct play *p, double at_s, const char *kind, uint32_t job,
	uint32_t attempt, const char *body)
{
	play_begin(p, at_s);
	play_apply(p, kind, job, attempt, body);
	play_end(p);
}

static inline void play_begun(struct play *p, double at_s, uint32_t job, uint32_t attempt)
{
	play_do(p, at_s, "begun", job, attempt, "{}");
}

static inline void play_exit(struct play *p, double at_s, uint32_t job, uint32_t attempt, int code)
{
	char body[64];

	snprintf(body, sizeof(body), "{\"known\":true,\"code\":%d}", code);
	play_do(p, at_s, "exit", job, attempt, body);
}

static inline void play_change(struct play *p, double at_s, const char *what, uint32_t job)
{
	play_do(p, at_s, what, job, 0, "{}");
}

static inline uint32_t play_count_after(const struct ask *ask)
{
	uint32_t n = 0;

	while (n < 4 && ask->after[n].job)
		n++;
	return n;
}

/* The status of a new job; free() it. */
static inline char *play_draft(const struct play *p, uint32_t id, const struct ask *ask)
{
	struct submission what;
	struct live_job *job;
	struct buf status = { 0 };

	submission_init(&what);
	what.name = "job";
	what.gpus = ask->gpus;
	what.min_gpus = ask->min_gpus ? ask->min_gpus : ask->gpus;
	what.max_gpus = ask->max_gpus ? ask->max_gpus : ask->gpus;
	what.share = ask->share > 0 ? ask->share : 1;
	what.estimate_s = ask->estimate_s;
	what.begin_s = ask->begin_s > 0 ? p->epoch.born_s + ask->begin_s : 0;
	what.deadline_s = ask->deadline_s > 0 ? p->epoch.born_s + ask->deadline_s : 0;
	what.hold = ask->hold;
	what.retries = ask->retries;
	what.mem_bytes = ask->mem_bytes;
	what.mem_most = ask->mem_most;
	what.mem_auto = ask->mem_most > 0;
	what.priority = ask->priority;
	what.requeue = !ask->no_requeue;
	what.tenant = ask->tenant;
	what.model = ask->model;
	what.types = ask->types;
	what.array_limit = ask->array_limit;
	what.after = ask->after;
	what.nafter = play_count_after(ask);
	job = live_job_create(id, &what, p->epoch.born_s, p->now_s);
	job->array_id = ask->array_id;
	job->array_index = ask->array_id ? id - ask->array_id : 0;
	live_job_status(job, &status);
	live_job_destroy(job);
	submission_fini(&what);
	return status.at;
}

/* What it follows and has ended is settled by whoever takes it in. */
static inline char *play_settled(struct play *p, char *text)
{
	json_t *status = json_loads(text, 0, NULL);

	free(text);
	epoch_settle_after(status, play_state_of, p);
	text = json_dumps(status, JSON_COMPACT);
	json_decref(status);
	return text;
}

/* The row of a new job, as the daemon makes it durable before the core hears of it. */
static inline uint32_t play_write_submit(struct play *p, struct ask ask)
{
	uint32_t id = ++p->jobs;
	char *status = play_settled(p, play_draft(p, id, &ask));
	char *body = mem_printf("{\"submission\":{},\"job\":%s}", status);

	play_row(p, "submit", id, 0, p->now_s, body, false);
	p->cycle.at[p->cycle.n - 1].job_after = status;
	p->cycle.at[p->cycle.n - 1].job_live = true;
	free(body);
	return id;
}

static inline void play_give_submit(struct play *p, uint32_t id)
{
	struct err err = { 0 };
	json_t *body = NULL;

	for (size_t i = p->rows.n; i-- > 0 && !body;) {
		if (p->rows.at[i].job == id && !strcmp(p->rows.at[i].kind, "submit"))
			body = json_loads(p->rows.at[i].body, 0, NULL);
	}
	core_apply(p->core, "submit", id, 0, p->now_s, body, &err);
	json_decref(body);
	play_fail(&err);
}

static inline uint32_t play_submit(struct play *p, double at_s, struct ask ask)
{
	uint32_t id;

	play_begin(p, at_s);
	id = play_write_submit(p, ask);
	play_flush(p);
	play_give_submit(p, id);
	play_end(p);
	return id;
}

/* ---- looking */

static inline void play_says(const struct play *p, const char *notes)
{
	assert_string_equal(p->said.n ? p->said.at : "", notes);
}

static inline void play_state(const struct play *p, uint32_t job, const char *state)
{
	const struct live_job *live = core_job(p->core, job);
	const char *ended = live ? NULL : play_state_of((void *)(uintptr_t)p, job);

	assert_string_equal(live ? live_state_name(live->state) : ended ? ended : "?", state);
}

static inline void play_reason(const struct play *p, uint32_t job, const char *why)
{
	struct buf text = { 0 };
	uint32_t about;
	const char *word = core_reason(p->core, core_job(p->core, job), p->now_s, &text, &about);

	assert_string_equal(word ? word : "", why);
	buf_fini(&text);
}

/* The job's status now; json_decref() it. */
static inline json_t *play_look(const struct play *p, uint32_t job)
{
	struct buf text = { 0 };
	json_t *status;

	assert_true(core_job_status(p->core, job, &text));
	status = json_loads(text.at, 0, NULL);
	buf_fini(&text);
	return status;
}

static inline double play_number(const struct play *p, uint32_t job, const char *member)
{
	json_t *status = play_look(p, job);
	double value = member_number(status, member, NAN);

	json_decref(status);
	return value;
}

/* ---- the end */

static inline struct replay_row play_again(const struct play_row *row, uint64_t seq)
{
	return (struct replay_row){
		.seq = seq,
		.at_s = row->at_s,
		.kind = row->kind,
		.job = row->job,
		.attempt = row->attempt,
		.body = row->body,
		.job_after = row->job_after,
		.attempt_after = row->attempt_after,
		.job_live = row->job_live,
		.attempt_over = row->attempt_over,
	};
}

static inline void play_replay(struct play *p, struct replay_result *out)
{
	struct replay *replay = replay_create();
	struct err err = { 0 };

	for (size_t i = 0; i < p->rows.n; i++) {
		struct replay_row again = play_again(&p->rows.at[i], i + 1);

		replay_row(replay, &again, &err);
		play_fail(&err);
	}
	replay_finish(replay, out, &err);
	play_fail(&err);
	replay_destroy(replay);
}

static inline void play_close(struct play *p)
{
	struct replay_result result;

	play_replay(p, &result);
	assert_int_equal(result.rows, p->rows.n);
	assert_true(p->kills > 0 || result.lost == 0);
	core_close(p->core);
	for (size_t i = 0; i < p->rows.n; i++)
		play_row_fini(&p->rows.at[i]);
	for (size_t i = 0; i < p->cycle.n; i++)
		play_row_fini(&p->cycle.at[i]);
	vec_fini(&p->rows);
	vec_fini(&p->cycle);
	vec_fini(&p->procs);
	vec_fini(&p->ended);
	buf_fini(&p->said);
	cluster_fini(&p->epoch.cluster);
	tenants_fini(&p->epoch.tenants);
	health_fini(&p->epoch.health);
}

#endif
