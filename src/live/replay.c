/*
 * Two queues of notes: those the record has, and those that come now.
 *
 * A note may be recorded after inputs that came later than its decision, so notes that
 * come are kept until the record's turn is theirs.  The core is given time only when a
 * recorded note asks for it: whoever wrote the record may have been killed before its
 * next decision.
 */
#include "live/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "live/core.h"
#include "live/epoch.h"

/* What the record says last of a job or an attempt. */
struct last_job {
	uint32_t id;
	int state;
	char *status; /* NULL: it has ended */
};

struct last_attempt {
	uint32_t job, number;
	char *status;
};

/* One that was pruned. */
struct past_job {
	uint32_t id;
	int state;
};

struct replay {
	struct epoch epoch;
	struct core *core; /* NULL before the first epoch */
	double now_s;
	VEC(struct last_job) jobs;         /* by number */
	VEC(struct last_attempt) attempts; /* by job and number; those not over */
	VEC(struct core_note) came;        /* with bodies of their own */
	size_t came_at;
	bool noted;  /* the last row was a note */
	bool pruned; /* rows before the first epoch from `cut` on are passed over */
	uint64_t cut;
	VEC(struct past_job) past; /* by number */
	struct replay_result result;
};

struct replay *replay_create(void)
{
	return mem_alloc(sizeof(struct replay));
}

void replay_from(struct replay *r, uint64_t cut)
{
	r->pruned = true;
	r->cut = cut;
}

bool replay_past(struct replay *r, uint32_t job, const char *state)
{
	int number = live_state_of(state);

	if (number < 0)
		return false;
	vec_push(&r->past, (struct past_job){ job, number });
	return true;
}

/* ---- notes that came */

static void drop_note(struct core_note *note)
{
	free((char *)note->body);
}

static size_t open_notes(const struct replay *r)
{
	return r->came.n - r->came_at;
}

static void drop_notes(struct replay *r)
{
	while (r->came_at < r->came.n)
		drop_note(&r->came.at[r->came_at++]);
	r->came.n = r->came_at = 0;
}

static void take_notes(struct replay *r)
{
	size_t n;
	const struct core_note *notes = core_notes(r->core, &n);

	if (r->came_at == r->came.n)
		r->came.n = r->came_at = 0;
	for (size_t i = 0; i < n; i++) {
		struct core_note note = notes[i];

		note.body = mem_strdup(note.body);
		vec_push(&r->came, note);
	}
	core_forget_notes(r->core);
}

static int turn(struct replay *r, double at_s, struct err *err)
{
	if (core_turn(r->core, at_s, err) < 0)
		return err->code;
	r->now_s = fmax(r->now_s, at_s);
	take_notes(r);
	return 0;
}

void replay_destroy(struct replay *r)
{
	if (!r)
		return;
	drop_notes(r);
	vec_fini(&r->came);
	core_close(r->core);
	epoch_fini(&r->epoch);
	for (size_t i = 0; i < r->jobs.n; i++)
		free(r->jobs.at[i].status);
	for (size_t i = 0; i < r->attempts.n; i++)
		free(r->attempts.at[i].status);
	vec_fini(&r->jobs);
	vec_fini(&r->attempts);
	vec_fini(&r->past);
	free(r);
}

/* ---- statuses, for the next epoch */

static size_t find_job(const struct replay *r, uint32_t id)
{
	size_t low = 0, high = r->jobs.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->jobs.at[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct last_job *job_at(struct replay *r, uint32_t id)
{
	size_t i = find_job(r, id);

	if (i == r->jobs.n || r->jobs.at[i].id != id) {
		vec_push(&r->jobs, (struct last_job){ 0 });
		memmove(&r->jobs.at[i + 1], &r->jobs.at[i],
			(r->jobs.n - 1 - i) * sizeof(r->jobs.at[0]));
		r->jobs.at[i] = (struct last_job){ .id = id };
	}
	return &r->jobs.at[i];
}

static int state_in(const char *status)
{
	json_t *json = json_loads(status, 0, NULL);
	const char *word = member_text(json, "state");
	int state = word ? live_state_of(word) : -1;

	json_decref(json);
	return state;
}

static void keep_job(struct replay *r, const struct replay_row *row)
{
	struct last_job *job = job_at(r, row->job);

	free(job->status);
	job->status = row->job_live ? mem_strdup(row->job_after) : NULL;
	job->state = row->job_live ? -1 : state_in(row->job_after);
}

/* Of the first that is not before it. */
static size_t find_attempt(const struct replay *r, uint32_t job, uint32_t number)
{
	size_t i = r->attempts.n;

	/* Backwards: the newest change most. */
	for (; i > 0; i--) {
		const struct last_attempt *a = &r->attempts.at[i - 1];

		if (a->job < job || (a->job == job && a->number < number))
			break;
	}
	return i;
}

static void move_attempts(struct replay *r, size_t to, size_t from, size_t n)
{
	memmove(&r->attempts.at[to], &r->attempts.at[from], n * sizeof(r->attempts.at[0]));
}

static void keep_attempt(struct replay *r, const struct replay_row *row)
{
	size_t i = find_attempt(r, row->job, row->attempt);
	bool here = i < r->attempts.n && r->attempts.at[i].job == row->job &&
		r->attempts.at[i].number == row->attempt;

	if (here)
		free(r->attempts.at[i].status);
	if (row->attempt_over) {
		if (here)
			move_attempts(r, i, i + 1, --r->attempts.n - i);
		return;
	}
	if (!here) {
		vec_push(&r->attempts, (struct last_attempt){ 0 });
		move_attempts(r, i + 1, i, r->attempts.n - 1 - i);
	}
	r->attempts.at[i] = (struct last_attempt){ row->job, row->attempt,
		mem_strdup(row->attempt_after) };
}

static void keep_statuses(struct replay *r, const struct replay_row *row)
{
	if (row->job_after && row->job)
		keep_job(r, row);
	if (row->attempt_after && row->attempt)
		keep_attempt(r, row);
}

/* ---- epochs */

static json_t *read_json(const char *text, struct err *err)
{
	json_error_t where;
	json_t *json = json_loads(text ? text : "", 0, &where);

	if (!json)
		err_set(err, ERR_FORMAT, "not JSON: %s", where.text);
	return json;
}

/* A job that is not known will never end well. */
static const char *past_state(const struct replay *r, uint32_t id)
{
	size_t low = 0, high = r->past.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->past.at[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return live_state_name(low < r->past.n && r->past.at[low].id == id
			? (enum live_state)r->past.at[low].state
			: LIVE_CANCELLED);
}

static const char *state_of(void *ctx, uint32_t id)
{
	struct replay *r = ctx;
	size_t i = find_job(r, id);

	if (i == r->jobs.n || r->jobs.at[i].id != id)
		return past_state(r, id);
	return r->jobs.at[i].status ? NULL : live_state_name((enum live_state)r->jobs.at[i].state);
}

static int adopt_job(struct replay *r, const struct last_job *job, struct err *err)
{
	json_t *status = read_json(job->status, err);
	int rc;

	if (!status)
		return err_prefix(err, "status of job %u", job->id);
	epoch_settle_after(status, state_of, r);
	rc = core_adopt_job(r->core, status, err);
	json_decref(status);
	return rc < 0 ? err_prefix(err, "status of job %u", job->id) : 0;
}

/* One whose devices are gone was not taken over. */
static int adopt_attempt(struct replay *r, const struct last_attempt *a, struct err *err)
{
	json_t *status = read_json(a->status, err);
	int rc;

	if (!status)
		return err_prefix(err, "status of attempt %u of job %u", a->number, a->job);
	rc = core_adopt_attempt(r->core, status, err);
	json_decref(status);
	return rc == ERR_FORMAT ? 0 : rc;
}

static int adopt_all(struct replay *r, struct err *err)
{
	for (size_t i = 0; i < r->jobs.n; i++) {
		if (r->jobs.at[i].status && adopt_job(r, &r->jobs.at[i], err) < 0)
			return err->code;
	}
	for (size_t i = 0; i < r->attempts.n; i++) {
		if (adopt_attempt(r, &r->attempts.at[i], err) < 0)
			return err->code;
	}
	return 0;
}

static void end_epoch(struct replay *r)
{
	r->result.lost += open_notes(r);
	drop_notes(r);
	core_close(r->core);
	r->core = NULL;
	epoch_fini(&r->epoch);
}

static int open_core(struct replay *r, double at_s, struct err *err)
{
	struct core_config config = {
		.cluster = &r->epoch.cluster,
		.rules = r->epoch.rules,
		.tenants = &r->epoch.tenants,
		.seed = r->epoch.seed,
		.hosts = r->epoch.hosts,
		.care = r->epoch.care,
		.health = &r->epoch.health,
	};

	if (core_open(&config, at_s, &r->core, err) < 0)
		return err->code;
	r->now_s = at_s;
	return adopt_all(r, err);
}

static int see_epoch(struct replay *r, const struct replay_row *row, struct err *err)
{
	json_t *body = read_json(row->body, err);
	int rc;

	if (!body)
		return err->code;
	end_epoch(r);
	if (!r->result.epochs++) {
		r->result.from_seq = row->seq;
		r->result.from_s = row->at_s;
	}
	r->noted = false;
	rc = epoch_from_json(body, &r->epoch, err);
	json_decref(body);
	return rc < 0 ? rc : open_core(r, row->at_s, err);
}

/* ---- inputs */

static int not_recorded(const struct replay *r, struct err *err)
{
	const struct core_note *note = &r->came.at[r->came_at];

	return err_set(err, ERR_DIFFER,
		"now comes '%s' of job %u, attempt %u at %.17g s %s, which was not recorded",
		note_name(note->kind), note->job, note->attempt, note->at_s, note->body);
}

static int apply(struct replay *r, const struct replay_row *row, const json_t *body, struct err *err)
{
	struct err why = { 0 };

	/* What was due before it comes before it; jobs that ended then are forgotten, as they were. */
	if (row->at_s > r->now_s && turn(r, row->at_s, err) < 0)
		return err->code;
	if (core_apply(r->core, row->kind, row->job, row->attempt, row->at_s, body, &why) < 0)
		return err_set(err, ERR_DIFFER, "'%s' of job %u, attempt %u was taken then; now: %s",
			row->kind, row->job, row->attempt, why.text);
	take_notes(r);
	return 0;
}

static int see_input(struct replay *r, const struct replay_row *row, struct err *err)
{
	json_t *body;
	int rc;

	if (!r->core)
		return err_set(err, ERR_FORMAT, "'%s' before the first epoch", row->kind);
	/* Another cycle begins: the notes of the one before are complete. */
	if (r->noted && open_notes(r))
		return not_recorded(r, err);
	body = read_json(row->body, err);
	if (!body)
		return err->code;
	r->noted = false;
	r->result.inputs++;
	rc = apply(r, row, body, err);
	json_decref(body);
	return rc;
}

/* ---- notes of the record */

static bool same(const struct core_note *note, const struct replay_row *row)
{
	return !strcmp(note_name(note->kind), row->kind) && note->job == row->job &&
		note->attempt == row->attempt && note->at_s == row->at_s &&
		!strcmp(note->body, row->body);
}

static int differ(const struct replay_row *row, const struct core_note *note, struct err *err)
{
	if (!note)
		return err_set(err, ERR_DIFFER,
			"'%s' of job %u, attempt %u at %.17g s %s was recorded; now comes nothing",
			row->kind, row->job, row->attempt, row->at_s, row->body);
	return err_set(err, ERR_DIFFER,
		"'%s' of job %u, attempt %u at %.17g s %s was recorded; now comes '%s' of job %u, attempt %u at %.17g s %s",
		row->kind, row->job, row->attempt, row->at_s, row->body, note_name(note->kind),
		note->job, note->attempt, note->at_s, note->body);
}

/* What the record has before an epoch's end is not decided: it was asked for. */
static int bring_notes(struct replay *r, const struct replay_row *row, struct err *err)
{
	if (open_notes(r))
		return 0;
	if (strcmp(row->body, CORE_NOTE_ALL) != 0)
		return turn(r, row->at_s, err);
	if (row->at_s > r->now_s && turn(r, row->at_s, err) < 0)
		return err->code;
	core_note_all(r->core);
	take_notes(r);
	return 0;
}

static int see_note(struct replay *r, const struct replay_row *row, struct err *err)
{
	struct core_note *note;

	r->noted = true;
	if (!r->core)
		return 0; /* left over by a record that begins later; its statuses count */
	if (bring_notes(r, row, err) < 0)
		return err->code;
	note = open_notes(r) ? &r->came.at[r->came_at] : NULL;
	if (!note || !same(note, row))
		return differ(row, note, err);
	drop_note(note);
	r->came_at++;
	r->result.notes++;
	return 0;
}

bool replay_is_remark(const char *kind)
{
	static const char *const remarks[] = { "shadow", "imported", "audit" };

	for (size_t i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++) {
		if (!strcmp(kind, remarks[i]))
			return true;
	}
	return false;
}

static int see(struct replay *r, const struct replay_row *row, struct err *err)
{
	if (!strcmp(row->kind, "epoch"))
		return see_epoch(r, row, err);
	if (core_is_input(row->kind))
		return see_input(r, row, err);
	if (note_kind_of(row->kind) >= 0)
		return see_note(r, row, err);
	if (replay_is_remark(row->kind))
		return 0;
	return err_set(err, ERR_FORMAT, "'%s' is neither an input nor a note", row->kind);
}

/* It belongs to an epoch that is not whole any more. */
static bool is_passed(const struct replay *r, const struct replay_row *row)
{
	return r->pruned && !r->result.epochs &&
		(row->seq < r->cut || strcmp(row->kind, "epoch") != 0);
}

int replay_row(struct replay *r, const struct replay_row *row, struct err *err)
{
	r->result.rows++;
	if (is_passed(r, row))
		r->result.passed++;
	else if (see(r, row, err) < 0)
		return err_prefix(err, "row %llu", (unsigned long long)row->seq);
	keep_statuses(r, row);
	return 0;
}

int replay_finish(struct replay *r, struct replay_result *out, struct err *err)
{
	(void)err;
	r->result.lost += open_notes(r);
	drop_notes(r);
	*out = r->result;
	return 0;
}
