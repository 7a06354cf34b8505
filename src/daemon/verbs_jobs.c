/*
 * Changing jobs: cancel, hold, release, requeue, signals, and what running jobs
 * say of themselves.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "daemon/audit.h"
#include "daemon/reports.h"
#include "daemon/verbs_run.h"

void call_begin(struct call *call, struct json *j)
{
	call->status = 200;
	buf_clear(&call->body);
	json_init(j, &call->body, false);
	json_begin_object(j, NULL);
	json_str(j, "schema", call->verb->schema);
}

/* ---- which jobs */

struct owner {
	uint32_t uid;
	bool found;
};

static int see_owner(void *ctx, const struct record_job *job)
{
	*(struct owner *)ctx = (struct owner){ job->uid, true };
	return 0;
}

static struct owner owner_of(struct daemon *d, uint32_t id)
{
	const struct live_job *job = core_job(d->core, id);
	struct owner owner = { 0 };
	struct err ignored = { 0 };

	if (job)
		return (struct owner){ job->uid, true };
	record_job(d->record, id, see_owner, &owner, &ignored);
	return owner;
}

/* Of an array all jobs are one user's. */
void call_audit(struct daemon *d, const struct call *call, const uint32_t *jobs, size_t n)
{
	if (n)
		audit_jobs(d, call, owner_of(d, jobs[0]).uid, jobs[0], n);
}

static bool allowed(struct daemon *d, struct call *call, uint32_t id, bool owner)
{
	struct owner who = owner_of(d, id);

	if (!who.found) {
		call_problem(call, 404, 3, "there is no job %u", id);
		return false;
	}
	if (owner && !verb_allows_job(call->verb, &call->caller, who.uid)) {
		if (call->caller.uid == (uid_t)-2)
			call_problem(call, 403, 4,
				"a token for reading shows no output of jobs: job %u has an owner, and only this user and administrators see it",
				id);
		else
			call_problem(call, 403, 4, "job %u belongs to another user", id);
		return false;
	}
	return true;
}

/* By what the world calls it, "4711_3"; 0: none. */
static uint32_t find_alias(struct daemon *d, const char *alias)
{
	char *prefix = mem_printf("%s%s@", WORLD_KEY, alias);
	size_t n;
	const struct live_job *const *jobs = core_jobs(d->core, &n);
	uint32_t found = 0;

	for (size_t i = n; i-- > 0 && !found;) {
		char *name = hands_alias(d->hands, jobs[i]->id);

		if ((name && !strcmp(name, alias)) ||
			(jobs[i]->key && !strncmp(jobs[i]->key, prefix, strlen(prefix))))
			found = jobs[i]->id;
		free(name);
	}
	if (!found)
		found = record_find_key_prefix(d->record, prefix);
	free(prefix);
	return found;
}

enum {
	INDEX_NONE = -1, /* a number alone: the job, or the whole array that begins with it */
	INDEX_SELF = -2, /* the world's name for one job: this one, also where an array begins with it */
};

/* "7", "7_3", or "slurm:4711_3". */
static bool parse_id(struct daemon *d, const char *text, uint32_t *id, int64_t *index)
{
	struct slice left = slice_of(text), first = slice_cut(&left, '_');
	int64_t number;

	*index = INDEX_NONE;
	if (!strncmp(text, WORLD_KEY, strlen(WORLD_KEY))) {
		*index = INDEX_SELF;
		*id = find_alias(d, text + strlen(WORLD_KEY));
		return *id != 0;
	}
	if (!slice_int(first, &number) || number < 1 || number > UINT32_MAX - 1)
		return false;
	*id = (uint32_t)number;
	if (strchr(text, '_'))
		return slice_int(left, index) && *index >= 0;
	return true;
}

static const char *id_text(const struct call *call)
{
	const char *text = member_text(call->args, "id");

	return text ? text : "";
}

static int see_array(void *ctx, const struct record_job *job)
{
	json_t *status = json_loads(job->status, 0, NULL);

	*(int64_t *)ctx = member_int(status, "array_id", 0);
	json_decref(status);
	return 0;
}

/* The submission of the array whose first job this is; false: it is none. */
static bool read_array(struct daemon *d, uint32_t array_id, struct submission *out)
{
	struct err ignored = { 0 };
	int64_t array_of = 0;

	return record_job(d->record, array_id, see_array, &array_of, &ignored) == 0 &&
		array_of == array_id && daemon_submission(d, array_id, out, &ignored) == 0;
}

uint32_t call_array_size(struct daemon *d, uint32_t array_id)
{
	struct submission what;
	uint32_t n = 1;

	if (!read_array(d, array_id, &what))
		return 1;
	if (what.array)
		n = what.narray;
	submission_fini(&what);
	return n;
}

struct element {
	int64_t array_id, index;
};

static int see_element(void *ctx, const struct record_job *job)
{
	json_t *status = json_loads(job->status, 0, NULL);

	*(struct element *)ctx = (struct element){ member_int(status, "array_id", 0),
		member_int(status, "array_index", 0) };
	json_decref(status);
	return 0;
}

/* The same of an array that was pruned: its summaries follow each other. */
static uint32_t pruned_element(struct daemon *d, uint32_t array_id, int64_t index)
{
	struct err ignored = { 0 };
	struct element e;

	for (uint32_t id = array_id; id < array_id + SUBMISSION_ARRAY_MAX; id++) {
		if (record_job(d->record, id, see_element, &e, &ignored) < 0 || e.array_id != array_id)
			return 0;
		if (e.index == index)
			return id;
	}
	return 0;
}

/* The number of an element, alive or ended: they follow each other as the array was written.  0: none. */
static uint32_t element_of(struct daemon *d, uint32_t array_id, int64_t index)
{
	struct submission what;
	uint32_t found = 0;

	const struct live_job *job = core_job(d->core, array_id + (uint32_t)index);

	/* As most arrays are: 0-9. */
	if (job && job->array_id == array_id && job->array_index == index)
		return job->id;
	if (!read_array(d, array_id, &what))
		return pruned_element(d, array_id, index);
	for (uint32_t i = 0; what.array && i < what.narray && !found; i++) {
		if (what.array[i] == index)
			found = array_id + i;
	}
	submission_fini(&what);
	return found;
}

size_t verb_jobs_from(const struct live_job *const *jobs, size_t n, uint32_t id)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (jobs[middle]->id < id)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* Those that are alive; of ended ones nothing can be changed, except by requeue. */
static void list_array(const struct daemon *d, uint32_t array_id, uint32_t **out, size_t *n)
{
	size_t all;
	const struct live_job *const *jobs = core_jobs(d->core, &all);
	VEC(uint32_t) found = { 0 };

	/* Numbers of an array follow each other. */
	for (size_t i = verb_jobs_from(jobs, all, array_id);
		i < all && jobs[i]->array_id == array_id; i++) {
		if (!live_ended(jobs[i]))
			vec_push(&found, jobs[i]->id);
	}
	*out = found.at;
	*n = found.n;
}

/* The job itself; where its number alone is said and an array begins with it, those of the array that are alive. */
static size_t meant_by(struct daemon *d, uint32_t id, int64_t index, uint32_t **out)
{
	const struct live_job *job = core_job(d->core, id);
	size_t n = 0;

	*out = NULL;
	if (index == INDEX_NONE && (!job || job->array_id == id))
		list_array(d, id, out, &n);
	if (n)
		return n;
	free(*out);
	*out = mem_alloc(sizeof(**out));
	(*out)[0] = id;
	return 1;
}

bool daemon_jobs_named(struct daemon *d, const char *word, uint32_t **out, size_t *n)
{
	uint32_t id;
	int64_t index;

	*out = NULL;
	*n = 0;
	if (!parse_id(d, word, &id, &index))
		return !strncmp(word, WORLD_KEY, strlen(WORLD_KEY));
	if (index >= 0)
		id = index <= UINT32_MAX ? element_of(d, id, index) : 0;
	if (id)
		*n = meant_by(d, id, index, out);
	return true;
}

size_t call_jobs(struct daemon *d, struct call *call, bool owner, uint32_t **out)
{
	uint32_t id;
	int64_t index;
	size_t n;

	*out = NULL;
	if (!parse_id(d, id_text(call), &id, &index) &&
		!strncmp(id_text(call), WORLD_KEY, strlen(WORLD_KEY))) {
		call_problem(call, 404, 3, "no job here is Slurm's %s",
			id_text(call) + strlen(WORLD_KEY));
		return 0;
	}
	if (!parse_id(d, id_text(call), &id, &index)) {
		call_problem(call, 400, 2,
			"'%s' is not a job number; write 7, or 7_3 for index 3 of array 7",
			id_text(call));
		return 0;
	}
	if (index >= 0) {
		uint32_t array_id = id;

		id = element_of(d, array_id, index);
		if (!id) {
			call_problem(call, 404, 3, "there is no job %u_%ld", array_id, (long)index);
			return 0;
		}
	}
	n = meant_by(d, id, index, out);
	for (size_t i = 0; i < n; i++) {
		if (!allowed(d, call, (*out)[i], owner)) {
			free(*out);
			*out = NULL;
			return 0;
		}
	}
	return n;
}

uint32_t call_job(struct daemon *d, struct call *call, bool owner)
{
	uint32_t id, first;
	int64_t index;
	uint32_t *jobs;

	if (parse_id(d, id_text(call), &id, &index) && index == INDEX_NONE)
		return allowed(d, call, id, owner) ? id : 0;
	if (!call_jobs(d, call, owner, &jobs))
		return 0;
	first = jobs[0];
	free(jobs);
	return first;
}

/* ---- changes */

bool call_apply(struct daemon *d, struct call *call, const char *input, uint32_t id,
	uint32_t attempt, const json_t *body)
{
	struct err err = { 0 };
	char *text;

	if (core_apply(d->core, input, id, attempt, d->last_s, body, &err) < 0) {
		call_fail(call, err.code, err.text);
		return false;
	}
	text = json_dumps(body, JSON_COMPACT);
	daemon_row(d, input, id, attempt, d->last_s, text, false);
	free(text);
	return true;
}

void call_answer_changed(struct daemon *d, struct call *call, const uint32_t *jobs, size_t n, size_t left)
{
	struct json j;

	call_begin(call, &j);
	json_begin_array(&j, "jobs");
	for (size_t i = 0; i < n; i++)
		job_put_changed(d, jobs[i], &j);
	json_end(&j, ']');
	if (left)
		json_int(&j, "left_running", (int64_t)left);
	json_end(&j, '}');
}

json_t *call_reason(const struct call *call)
{
	json_t *body = json_pack("{s:I}", "by", (json_int_t)call->caller.uid);
	json_t *reason = json_object_get(call->args, "reason");

	if (json_is_string(reason))
		json_object_set(body, "reason", reason);
	return body;
}

static void change_these(struct daemon *d, struct call *call, const char *input, uint32_t *jobs,
	size_t n, size_t left)
{
	json_t *body = n ? call_reason(call) : NULL;
	size_t done = 0;

	while (done < n && call_apply(d, call, input, jobs[done], 0, body))
		done++;
	call_audit(d, call, jobs, done);
	/* At the first that cannot be changed it stops, and the answer is why; those before it are changed. */
	if (n && done == n)
		call_answer_changed(d, call, jobs, n, left);
	json_decref(body);
	free(jobs);
}

static void change(struct daemon *d, struct call *call, const char *input)
{
	uint32_t *jobs;
	size_t n = call_jobs(d, call, true, &jobs);

	change_these(d, call, input, jobs, n, 0);
}

void verb_cancel(struct daemon *d, struct call *call)
{
	change(d, call, "cancel");
}

bool verb_job_runs(const struct daemon *d, const struct live_job *job)
{
	const struct attempt *a = core_attempt(d->core, job->id, job->attempt);

	return a && !a->stop && (a->phase == PHASE_LAUNCHED || a->phase == PHASE_RUNNING);
}

/*
 * A hold stops no command unless that is asked for.  Of an array those that wait are held; a job that runs, or an
 * array all of which runs, is refused.  What the record has from before is replayed as it was: the core holds both.
 */
void verb_hold(struct daemon *d, struct call *call)
{
	uint32_t *jobs;
	size_t n = call_jobs(d, call, true, &jobs), waiting = 0;

	for (size_t i = 0; i < n; i++) {
		const struct live_job *job = core_job(d->core, jobs[i]);

		if (!job || !verb_job_runs(d, job) || member_bool(call->args, "stop", false))
			jobs[waiting++] = jobs[i];
	}
	if (n && !waiting)
		call_problem(call, 409, 4,
			"job %s is running, and a hold stops no job; 'stint hold --stop %s' stops it and holds it",
			id_text(call), id_text(call));
	change_these(d, call, "hold", jobs, waiting, n - waiting);
}

void verb_release(struct daemon *d, struct call *call)
{
	change(d, call, "release");
}

/* ---- running again */

static int see_status(void *ctx, const struct record_job *job)
{
	json_t **out = ctx;

	if (job->live || !job->submit_seq)
		return 0;
	*out = json_loads(job->status, 0, NULL);
	json_object_set_new(*out, "submit_seq", json_integer((json_int_t)job->submit_seq));
	return 0;
}

/* The status of a job that ended, as one that waits again. */
static json_t *revived(struct daemon *d, uint32_t id)
{
	struct err ignored = { 0 };
	json_t *status = NULL;

	record_job(d->record, id, see_status, &status, &ignored);
	if (!status)
		return NULL;
	json_object_set_new(status, "state", json_string("PENDING"));
	json_object_del(status, "end_s");
	json_object_del(status, "end_text");
	json_object_del(status, "failed");
	json_object_del(status, "failed_on");
	json_object_del(status, "lost");
	json_object_del(status, "used_s");
	json_object_del(status, "after");
	json_object_set_new(status, "wait_since_s", json_real(d->last_s));
	return status;
}

static int see_pruned(void *ctx, const struct record_job *job)
{
	*(bool *)ctx = job->submit_seq == 0;
	return 0;
}

/* Answered with why not if one of the jobs is only a summary. */
static bool refuse_pruned(struct daemon *d, struct call *call, const uint32_t *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct err ignored = { 0 };
		bool pruned = false;

		if (core_job(d->core, jobs[i]) ||
			record_job(d->record, jobs[i], see_pruned, &pruned, &ignored) < 0 || !pruned)
			continue;
		call_problem(call, 409, 4,
			"job %u was pruned: its command is no longer in the record; submit it again",
			jobs[i]);
		return true;
	}
	return false;
}

void verb_requeue(struct daemon *d, struct call *call)
{
	uint32_t *jobs;
	size_t n = call_jobs(d, call, true, &jobs), again = 0, done = 0;
	struct err err = { 0 };

	if (refuse_pruned(d, call, jobs, n)) {
		free(jobs);
		return;
	}
	for (size_t i = 0; i < n; i++)
		again += !core_job(d->core, jobs[i]);
	if (limits_check_again(d, call, again, &err) < 0) {
		call_fail(call, err.code, err.text);
		free(jobs);
		return;
	}
	for (bool fine = true; fine && done < n; done += fine) {
		json_t *body = call_reason(call);
		json_t *status = core_job(d->core, jobs[done]) ? NULL : revived(d, jobs[done]);

		if (status)
			json_object_set_new(body, "job", status);
		fine = call_apply(d, call, "requeue", jobs[done], 0, body);
		json_decref(body);
	}
	call_audit(d, call, jobs, done);
	if (n && done == n)
		call_answer_changed(d, call, jobs, n, 0);
	free(jobs);
}

void verb_signal(struct daemon *d, struct call *call)
{
	const char *word = member_text(call->args, "signal");
	int number = word ? signal_of_name(word) : 0;
	uint32_t id = call_job(d, call, true);
	const struct live_job *job;
	struct err err = { 0 };

	if (!id)
		return;
	job = core_job(d->core, id);
	if (number <= 0)
		call_problem(call, 400, 2, "'%s' is not a signal", word ? word : "");
	else if (!job || (job->state != LIVE_RUNNING && job->state != LIVE_COMPLETING))
		call_problem(call, 409, 4, "job %u does not run", id);
	else if (hands_signal(d->hands, id, job->attempt, number, &err) < 0)
		call_fail(call, err.code, err.text);
	else
		call_answer_changed(d, call, &id, 1, 0);
	call_audit(d, call, &id, call->status == 200);
}

/* ---- what running jobs say */

/*
 * A job that reports has begun, also where its report is quicker than the word of its guard.  The word that comes
 * later finds an attempt that runs and changes nothing.
 */
static bool call_begin_attempt(struct daemon *d, struct call *call, uint32_t id, uint32_t number)
{
	const struct attempt *a = core_attempt(d->core, id, number);
	json_t *body;
	bool fine;

	if (!a || a->phase != PHASE_LAUNCHED)
		return true;
	body = json_pack("{s:f,s:f}", "at", daemon_wall_s(d, d->last_s), "at_s", d->last_s);
	fine = call_apply(d, call, "begun", id, number, body);
	json_decref(body);
	return fine;
}

/* Of reports of progress at most one a second becomes a row. */
static bool take_word(struct daemon *d, struct call *call, const char *input, uint32_t id,
	uint32_t attempt, const json_t *body)
{
	bool progress = !strcmp(input, "progress");

	if (progress && reports_hold(d, id, attempt, body))
		return true;
	reports_flush(d, id);
	if (!call_apply(d, call, input, id, attempt, body))
		return false;
	if (progress)
		reports_taken(d, id, attempt);
	return true;
}

static void say(struct daemon *d, struct call *call, const char *input)
{
	uint32_t id = call_job(d, call, true);
	uint32_t attempt = (uint32_t)member_int(call->args, "attempt", 0);
	json_t *body;

	if (!id)
		return;
	body = json_deep_copy(call->args);
	json_object_del(body, "id");
	json_object_del(body, "attempt");
	if (call_begin_attempt(d, call, id, attempt) && take_word(d, call, input, id, attempt, body))
		call_answer_changed(d, call, &id, 1, 0);
	json_decref(body);
}

void verb_progress(struct daemon *d, struct call *call)
{
	say(d, call, "progress");
}

void verb_checkpointed(struct daemon *d, struct call *call)
{
	say(d, call, "checkpointed");
}

void verb_resized(struct daemon *d, struct call *call)
{
	say(d, call, "resized");
}
