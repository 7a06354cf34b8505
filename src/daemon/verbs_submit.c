/*
 * Submitting: checked, numbered, written down, and then the core's.
 */
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/plain.h"
#include "daemon/verbs_run.h"
#include "model/label.h"

enum {
	AFTER_MOST = 200000
}; /* dependencies of one submission, elements times what they wait for */

/* Asked once per user in a row: the answer may come over a network. */
const char *verb_user_name(struct daemon *d, uid_t uid)
{
	struct passwd entry, *found = NULL;
	char words[4096];

	if (d->user && d->user_uid == uid)
		return d->user;
	free(d->user);
	d->user_uid = uid;
	if (getpwuid_r(uid, &entry, words, sizeof(words), &found) == 0 && found)
		d->user = mem_strdup(entry.pw_name);
	else
		d->user = mem_printf("%u", (unsigned)uid);
	return d->user;
}

/* Dependencies on jobs that have ended already: dropped if met, refused if they never can be. */
struct ended_state {
	char state[32];
	bool live;
};

static int see_ended(void *ctx, const struct record_job *job)
{
	struct ended_state *out = ctx;

	snprintf(out->state, sizeof(out->state), "%s", job->state);
	out->live = job->live;
	return 0;
}

static bool met_already(enum dependency_kind kind, const char *state)
{
	bool ok = !strcmp(state, "COMPLETED");

	return kind == AFTER_ANY || kind == AFTER_START || (kind == AFTER_OK ? ok : !ok);
}

/* The first number of an array means all of it.  Every element of this one waits for every one of that. */
int verb_expand_after(struct daemon *d, struct submission *what, struct err *err)
{
	VEC(struct dependency) all = { 0 };
	uint64_t of_each = what->array ? what->narray : 1;
	bool more = false;

	for (uint32_t i = 0; i < what->nafter; i++) {
		struct dependency one = what->after[i];
		uint32_t left = call_array_size(d, one.job);

		more |= left > 1;
		if (more && (all.n + left) * of_each > AFTER_MOST) {
			size_t n = all.n + left;

			vec_fini(&all);
			return err_set(err, ERR_USAGE,
				"dependency: %lu jobs that each wait for %zu or more are too many; put one job between the arrays",
				(unsigned long)of_each, n);
		}
		for (; left > 0; left--, one.job++)
			vec_push(&all, one);
	}
	if (all.n) {
		struct dependency *after = arena_array(&what->memory, struct dependency, all.n);

		memcpy(after, all.at, all.n * sizeof(*after));
		what->after = after;
		what->nafter = (uint32_t)all.n;
	}
	vec_fini(&all);
	return 0;
}

int verb_settle_after(struct daemon *d, struct live_job *job, struct err *err)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < job->nafter; i++) {
		struct dependency *after = &job->after[i];
		struct ended_state seen = { 0 };

		if (core_job(d->core, after->job) && !live_ended(core_job(d->core, after->job))) {
			job->after[kept++] = *after;
			continue;
		}
		if (record_job(d->record, after->job, see_ended, &seen, err) < 0)
			return err_set(err, ERR_MISSING, "dependency: there is no job %u", after->job);
		if (!met_already(after->kind, seen.state))
			return err_set(err, ERR_NEVER,
				"dependency: job %u has ended as %s, so %s:%u can never be met",
				after->job, seen.state, dependency_name(after->kind), after->job);
	}
	job->nafter = kept;
	return 0;
}

static bool fits_a_node(const struct cluster *cluster, const struct live_job *job)
{
	uint32_t types = live_job_types(job, cluster);

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (types >> cluster->nodes[i].type & 1 &&
			cluster->nodes[i].devices >= (uint32_t)job->base.gpus)
			return true;
	}
	return false;
}

struct live_job *verb_draft_job(struct daemon *d, const struct caller *caller, uint32_t id,
	const struct submission *what)
{
	struct live_job *job = live_job_create(id, what, wallclock_offset(&d->clock.wall), d->last_s);

	/* A command sees one node's devices: a job that fits one is not spread, unless it can be of any size. */
	if (d->hands->table->sets_devices && !job->base.nodes && !job->cpu_only &&
		job->base.min_gpus == job->base.max_gpus && fits_a_node(&d->epoch.cluster, job))
		job->base.nodes = 1;

	job->uid = caller->uid;
	job->gid = caller->gid;
	job->user = mem_strdup(verb_user_name(d, caller->uid));
	if (!job->tenant)
		job->tenant = mem_strdup(job->user);
	return job;
}

/* What is known of how long such jobs run, where nobody said. */
static void guess_run_time(struct daemon *d, const struct caller *caller, struct submission *what)
{
	double mean_s;

	if (what->estimate_s > 0)
		return;
	mean_s = record_mean_run_s(d->record, caller->uid, what->name, 8);
	if (mean_s > 0)
		what->estimate_s = mean_s;
}

/* What earlier ones of its name had, with the whole machine for those that need more (model/label.h). */
static void label_memory(struct daemon *d, const struct caller *caller, struct submission *what)
{
	enum { RUNS = 200, GRAIN = 1 << 20 };
	struct label_sample samples[RUNS];
	double bytes[RUNS], ran_s[RUNS];
	uint32_t n;

	if (!what->mem_auto)
		return;
	what->mem_bytes = what->mem_most = d->machine.mem_bytes;
	n = record_peaks(d->record, caller->uid, what->name, RUNS, bytes, ran_s);
	for (uint32_t i = 0; i < n; i++)
		samples[i] = (struct label_sample){ bytes[i], ran_s[i] };
	if (n < (uint32_t)what->mem_auto)
		return;
	label_sort(samples, n);
	what->mem_bytes =
		((int64_t)label_first(samples, n, (double)what->mem_most, LABEL_WASTE, 0) / GRAIN + 1) *
		GRAIN;
	if (what->mem_bytes > what->mem_most)
		what->mem_bytes = what->mem_most;
}

/* `words` is the submission as JSON text; `of` the job whose row has it (0: this one). */
static void row_of_submit(struct daemon *d, const struct live_job *job, const char *words, uint32_t of)
{
	struct buf status = { 0 }, body = { 0 };
	struct row *row;

	live_job_status(job, &status);
	buf_str(&body, "{\"job\":");
	buf_add(&body, status.at, status.n);
	if (of) {
		buf_printf(&body, ",\"of\":%u}", of);
	} else {
		buf_str(&body, ",\"submission\":");
		buf_str(&body, words);
		buf_char(&body, '}');
	}
	daemon_row(d, "submit", job->id, 0, d->last_s, body.at, false);
	row = &d->rows.at[d->rows.n - 1];
	row->has_job = true;
	daemon_row_of(d, job);
	row->job = (struct record_job){
		.id = job->id,
		.uid = job->uid,
		.key = job->key ? arena_strdup(&d->row_words, job->key) : NULL,
		.name = arena_strdup(&d->row_words, job->name),
		.tenant = arena_strdup(&d->row_words, job->tenant),
		.state = live_state_name(job->state),
		.live = true,
		.arrival_s = job->arrival_s,
		.end_s = NAN,
		.status = arena_strdup(&d->row_words, status.at),
	};
	buf_fini(&status);
	buf_fini(&body);
}

/* A key that is known, in the record or earlier in this batch. */
static uint32_t known_key(struct daemon *d, uid_t uid, const char *key)
{
	uint32_t found = record_find_key(d->record, uid, key);

	for (size_t i = 0; !found && i < d->rows.n; i++) {
		const struct row *row = &d->rows.at[i];

		if (row->has_job && row->job.uid == uid && row->job.key && !strcmp(row->job.key, key))
			found = row->job.id;
	}
	return found;
}

/* The submission of a job that is there already, also if its row is not durable yet. */
static int first_submission(struct daemon *d, uint32_t id, struct submission *out, struct err *err)
{
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct row *row = &d->rows.at[i];
		json_t *body, *words;
		int rc;

		if (!row->has_job || row->job.id != id || strcmp(row->event.kind, "submit") != 0)
			continue;
		body = json_loads(row->event.body, 0, NULL);
		words = json_object_get(body, "submission");
		rc = words ? submission_from_json(out, words, err)
			   : err_set(err, ERR_MISSING, "job %u has no submission", id);
		json_decref(body);
		return rc < 0 ? rc : submission_check(out, err);
	}
	return daemon_submission(d, id, out, err);
}

/* A key stands for one submission: the same again is that job, another one is a mistake. */
static int check_key(struct daemon *d, uint32_t known, const struct submission *what, struct err *err)
{
	struct submission first;
	struct err ignored = { 0 };
	char member[160];
	int rc = 0;

	if (first_submission(d, known, &first, &ignored) < 0)
		return 0; /* an imported job, or one whose submission is gone: nothing to compare */
	if (!submission_same(&first, what, member, sizeof(member)))
		rc = err_set(err, ERR_REFUSED,
			"key: '%s' was used before for job %u, with another %s; use another key, or submit exactly the same again",
			what->key, known, member);
	submission_fini(&first);
	return rc;
}

int verb_check_runnable(struct daemon *d, struct live_job *job, struct err *err)
{
	struct buf why = { 0 };
	int rc = 0;

	if (job->base.cpus > d->machine.cpus)
		rc = err_set(err, ERR_NEVER,
			"it can never run here: it needs %g CPUs and this machine has %u",
			job->base.cpus, d->machine.cpus);
	else if (d->machine.mem_bytes > 0 && job->base.mem_bytes > d->machine.mem_bytes)
		rc = err_set(err, ERR_NEVER,
			"it can never run here: it needs %.1f GiB of memory and this machine has %.1f",
			(double)job->base.mem_bytes / (1 << 30),
			(double)d->machine.mem_bytes / (1 << 30));
	else if (isfinite(job->deadline_s) && job->deadline_s <= d->last_s)
		rc = err_set(err, ERR_NEVER, "deadline: that moment has passed");
	else if (!core_could_run(d->core, job, &why))
		rc = err_set(err, ERR_NEVER, "it can never run here: %s", why.at);
	buf_fini(&why);
	return rc;
}

/* For when the rows are durable. */
static void remember(struct call *call, uint32_t id, struct live_job *job)
{
	vec_push(&call->made, (struct made){ id, job });
}

void verb_drop_made(struct call *call)
{
	for (size_t i = 0; i < call->made.n; i++)
		live_job_destroy(call->made.at[i].job);
	vec_fini(&call->made);
}

static int add_elements(struct daemon *d, struct call *call, struct submission *what,
	const char *words, struct err *err)
{
	uint32_t n = what->array ? what->narray : 1, first = d->next_job;
	int64_t bytes = (int64_t)strlen(words);

	for (uint32_t i = 0; i < n; i++) {
		struct live_job *job = verb_draft_job(d, &call->caller, first + i, what);
		int rc = 0;

		job->submitted_bytes = bytes / n + (bytes % n > i);
		if (what->array) {
			job->array_id = first;
			job->array_index = (uint32_t)what->array[i];
			if (i > 0) {
				free(job->key);
				job->key = NULL;
			}
		}
		rc = verb_settle_after(d, job, err);
		if (rc == 0 && i == 0)
			rc = verb_check_runnable(d, job, err);
		if (rc < 0) {
			live_job_destroy(job);
			return rc;
		}
		row_of_submit(d, job, words, i ? first : 0);
		remember(call, job->id, job);
	}
	d->next_job += n;
	return 0;
}

/* Where everybody may submit, nobody speaks for another or gives themselves a larger share. */
static int check_account(struct daemon *d, const struct caller *caller,
	const struct submission *what, struct err *err)
{
	if (what->submitted_s > 0 && !caller->outside)
		return err_set(err, ERR_USAGE,
			"submitted: jobs that come from another scheduler have come before, no others");
	if (!d->config.system || caller->admin)
		return 0;
	if (what->tenant && strcmp(what->tenant, verb_user_name(d, caller->uid)) != 0)
		return err_set(err, ERR_REFUSED,
			"tenant: only root may submit for a tenant other than %s",
			verb_user_name(d, caller->uid));
	if (what->weight > 1 || what->priority > 0)
		return err_set(err, ERR_REFUSED,
			"weight, priority: only root may give more than others have");
	return 0;
}

/* What the kernel takes of arguments and variables together, less what Stint adds to them. */
static int check_exec(const struct submission *what, struct err *err)
{
	enum { OWN_BYTES = 16 << 10, KERNEL_MAX = 6 << 20 };
	long system = sysconf(_SC_ARG_MAX);
	size_t most = (system > 0 && system < KERNEL_MAX ? (size_t)system : KERNEL_MAX) - OWN_BYTES;
	size_t words = submission_exec_bytes(what->argv), env = submission_exec_bytes(what->env);
	char is[32], is_env[32], limit[32];

	if (words + env <= most)
		return 0;
	return err_set(err, LIMIT_BYTES,
		"command, env: %s of arguments and %s of variables are above what this system passes to a program (%s); export fewer variables (--export=NONE, --export=NAME,...) or put them into a file",
		text_size((double)words, is), text_size((double)env, is_env),
		text_size((double)most, limit));
}

static int check_terminal(const struct daemon *d, const struct submission *what, struct err *err)
{
	if (!what->pty_rows || d->hands->table->has_terminals)
		return 0;
	return err_set(err, ERR_REFUSED,
		"pty: jobs of this daemon run under %s, where it has no terminals to give; use srun --pty, or leave out --pty",
		d->hands->table->name);
}

static int add_one(struct daemon *d, struct call *call, const json_t *words, struct err *err)
{
	struct submission what;
	uint32_t known = 0;
	json_t *full;
	char *text;
	int rc;

	if (submission_from_json(&what, words, err) < 0)
		return err->code;
	rc = submission_check(&what, err);
	if (rc == ERR_REFUSED) /* one argument or variable; check_exec() has all of them */
		rc = err->code = LIMIT_BYTES;
	if (rc == 0)
		rc = check_exec(&what, err);
	if (rc == 0)
		rc = check_terminal(d, &what, err);
	if (rc == 0)
		rc = check_account(d, &call->caller, &what, err);
	if (rc == 0 && what.key)
		known = known_key(d, call->caller.uid, what.key);
	if (rc == 0 && known && !call->caller.outside)
		rc = check_key(d, known, &what, err);
	if (rc == 0 && known) {
		remember(call, known, NULL);
	} else if (rc == 0) {
		guess_run_time(d, &call->caller, &what);
		label_memory(d, &call->caller, &what);
		full = submission_to_json(&what);
		text = json_dumps(full, JSON_COMPACT);
		rc = verb_expand_after(d, &what, err);
		if (rc == 0)
			rc = add_elements(d, call, &what, text, err);
		free(text);
		json_decref(full);
	}
	submission_fini(&what);
	return rc;
}

static int add_all(struct daemon *d, struct call *call, struct err *err)
{
	const json_t *many = json_object_get(call->args, "jobs");

	if (!many)
		return add_one(d, call, call->args, err);
	if (!json_is_array(many) || json_array_size(many) == 0 || json_object_size(call->args) != 1)
		return err_set(err, ERR_USAGE,
			"jobs: a list of submissions is needed, and nothing beside it");
	for (size_t i = 0; i < json_array_size(many); i++) {
		if (add_one(d, call, json_array_get(many, i), err) < 0)
			return err_prefix(err, "jobs[%zu]", i);
	}
	return 0;
}

/* What is not, submission_check() refuses a moment later. */
static bool is_plain(const char *name)
{
	return *name && strlen(name) <= 200 && text_is_plain(name);
}

static bool meet_tenant(struct daemon *d, const struct call *call, const json_t *words)
{
	const char *tenant = member_text(words, "tenant");

	if (!tenant || (d->config.system && !call->caller.admin))
		tenant = verb_user_name(d, call->caller.uid);
	if (core_knows_tenant(d->core, tenant) || !is_plain(tenant))
		return false;
	/* It may be in the table and not in the core: after an epoch that could not be written down. */
	tenants_add(&d->epoch.tenants, tenant, strlen(tenant));
	return true;
}

void verb_meet_tenants(struct daemon *d, const struct call *calls)
{
	struct err err = { 0 };
	bool met = false;

	if (!d->epoch.tenants.n || d->trouble[0])
		return;
	for (const struct call *call = calls; call; call = call->next) {
		const json_t *many = json_object_get(call->args, "jobs");

		if (!verb_is_submit(call->verb))
			continue;
		if (!many)
			met |= meet_tenant(d, call, call->args);
		for (size_t i = 0; i < json_array_size(many); i++)
			met |= meet_tenant(d, call, json_array_get(many, i));
	}
	/* Their jobs would be written down, and the core would not take them. */
	if (met && daemon_new_epoch(d, "tenants", &err) < 0)
		daemon_trouble(d, err.text);
}

/* Deadlines are promised to all of a call's jobs, beside those of calls before it, or to none. */
static int check_promises(struct daemon *d, const struct call *call, struct err *err)
{
	size_t before = d->asked.n, n, fit;
	struct buf why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < call->made.n; i++) {
		if (call->made.at[i].job)
			vec_push(&d->asked, call->made.at[i].job);
	}
	n = d->asked.n - before;
	fit = core_welcome(d->core, d->asked.at, d->asked.n, d->last_s, &why);
	if (fit < d->asked.n && fit <= before)
		rc = err_set(err, ERR_REFUSED, "refused: %s", why.at);
	else if (fit < d->asked.n)
		rc = err_set(err, ERR_REFUSED,
			"refused, all or none: of these %zu jobs the first %zu could be had; of the next, %s",
			n, fit - before, why.at);
	if (rc < 0) {
		d->asked.n = before;
		d->refused += n;
	}
	buf_fini(&why);
	return rc;
}

bool verb_draft(struct daemon *d, struct call *call)
{
	size_t before = d->rows.n;
	uint32_t next_job = d->next_job;
	uint64_t refused = d->refused;
	struct err err = { 0 };
	int rc;

	d->asked.n = 0;
	rc = add_all(d, call, &err);
	if (rc == 0)
		rc = check_promises(d, call, &err);
	d->asked.n = 0;
	d->rows.n = before;
	d->next_job = next_job;
	d->refused = refused;
	if (before == 0)
		arena_reset(&d->row_words);
	if (rc < 0) {
		verb_drop_made(call);
		call_fail(call, err.code, err.text);
	}
	return rc == 0;
}

/* Something of this turn of the loop, which is not written yet. */
static bool is_changing(const struct daemon *d)
{
	for (size_t i = 0; i < d->rows.n; i++) {
		if (row_matters(&d->rows.at[i]))
			return true;
	}
	return false;
}

/* Whoever has made a plan wants it carried out as it was, or not at all. */
static int check_stamp(const struct daemon *d, struct call *call, struct err *err)
{
	json_t *stamp = json_object_get(call->args, "if_unchanged");
	json_int_t planned = json_integer_value(stamp);

	if (!stamp)
		return 0;
	if (!json_is_integer(stamp) || planned < 0)
		return err_set(err, ERR_USAGE,
			"if_unchanged: the stamp of a plan is needed, a whole number");
	json_object_del(call->args, "if_unchanged");
	if ((uint64_t)planned == d->stamp && !is_changing(d))
		return 0;
	return err_set(err, ERR_REFUSED,
		"things have changed since the plan with stamp %lld (now %llu): plan again",
		(long long)planned, (unsigned long long)d->stamp);
}

bool verb_prepare_submit(struct daemon *d, struct call *call)
{
	size_t before = d->rows.n;
	uint32_t next_job = d->next_job;
	struct err err = { 0 };

	if (verb_refuse_change(d, call))
		return false;
	if (limits_check_rate(d, call, &err) == 0 && check_stamp(d, call, &err) == 0 &&
		add_all(d, call, &err) == 0 && limits_check_made(d, call, &err) == 0 &&
		check_promises(d, call, &err) == 0) {
		limits_count_made(d, call);
		return true;
	}
	d->rows.n = before;
	d->next_job = next_job;
	verb_drop_made(call);
	call_fail(call, err.code, err.text);
	return false;
}

static uint64_t seq_of(const struct daemon *d, uint32_t id)
{
	size_t low = 0, high = d->submitted.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->submitted.at[mid].job < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < d->submitted.n ? d->submitted.at[low].seq : 0;
}

/* The record has its status, from which the same job can be made again. */
static void give_to_core(struct daemon *d, struct made *made)
{
	struct err err = { 0 };

	made->job->submit_seq = seq_of(d, made->id);
	if (core_submit(d->core, made->job, d->last_s, &err) < 0)
		log_error(d->log, "job %u: %s", made->id, err.text);
	else if (d->hands->table->expect)
		daemon_errand(d, ERRAND_EXPECT, made->id, 0);
	made->job = NULL;
}

/* What those who submit should know of the jobs, each once. */
static void put_remarks(struct daemon *d, const struct call *call, struct json *j)
{
	struct buf last = { 0 }, text = { 0 };

	json_begin_array(j, "remarks");
	for (size_t i = 0; i < call->made.n; i++) {
		if (!call->made.at[i].job)
			continue;
		buf_clear(&text);
		core_promise(d->core, call->made.at[i].job, d->last_s, &text);
		if (text.n == 0 || (last.n && !strcmp(last.at, text.at)))
			continue;
		json_str(j, NULL, text.at);
		buf_clear(&last);
		buf_str(&last, text.at);
	}
	json_end(j, ']');
	buf_fini(&last);
	buf_fini(&text);
}

void verb_finish_submit(struct daemon *d, struct call *call)
{
	bool fresh = false;
	struct json j;

	call_begin(call, &j);
	put_remarks(d, call, &j);
	verb_put_notes(d, call, &j);
	json_begin_array(&j, "jobs");
	for (size_t i = 0; i < call->made.n; i++) {
		struct made *made = &call->made.at[i];
		bool is_new = made->job != NULL;

		if (is_new)
			give_to_core(d, made);
		fresh |= is_new;
		json_begin_object(&j, NULL);
		json_int(&j, "id", made->id);
		json_bool(&j, "new", is_new);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_int(&j, "count", (int64_t)call->made.n);
	if (call->made.n && call->args && json_object_get(call->args, "array"))
		json_int(&j, "array_id", call->made.at[0].id);
	json_end(&j, '}');
	metrics_count(d->metrics, METRICS_SUBMITS, call->made.n);
	call->status = fresh ? 201 : 200;
}

/* Submissions go the way above; this is never called. */
void verb_submit(struct daemon *d, struct call *call)
{
	(void)d;
	call_problem(call, 500, 1, "a submission outside the order of things");
}
