/*
 * Carrying out what was decided: launching, stopping, telling of a new size.
 */
#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/daemon_state.h"

/* ---- devices as jobs know them */

const char *device_index(const struct machine_device *device)
{
	static _Thread_local char text[16];

	snprintf(text, sizeof(text), "%d", device->index);
	return text;
}

const char *device_visible(const struct machine_device *device)
{
	return device->visible;
}

const char *device_uuid(const struct machine_device *device)
{
	return device->uuid;
}

void daemon_devices(const struct daemon *d, const struct grant *grant,
	const char *(*of)(const struct machine_device *device), struct buf *out)
{
	bool first = true;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		for (uint64_t left = grant->slots[i].devices; left; left &= left - 1) {
			uint32_t at = grant->slots[i].node * NODE_DEVICES_MAX +
				(uint32_t)__builtin_ctzll(left);
			const char *word = of(&d->machine.devices[d->device_of[at]]);

			if (!*word)
				continue;
			if (!first)
				buf_char(out, ',');
			first = false;
			buf_str(out, word);
		}
	}
}

/* ---- the submission */

struct reading {
	struct submission *out;
	struct err *err;
	uint32_t of; /* the element of its array that has the words */
	uint64_t seq;
};

static int see_seq(void *ctx, const struct record_job *job)
{
	((struct reading *)ctx)->seq = job->submit_seq;
	return 0;
}

static int see_submission(void *ctx, const struct record_event *event)
{
	struct reading *r = ctx;
	json_error_t where;
	json_t *body = json_loads(event->body, 0, &where);
	json_t *words = json_object_get(body, "submission");
	int rc = 0;

	r->of = (uint32_t)member_int(body, "of", 0);
	if (words)
		rc = submission_from_json(r->out, words, r->err);
	else if (!r->of)
		rc = err_set(r->err, ERR_FORMAT, "event %lu has no submission",
			(unsigned long)event->seq);
	json_decref(body);
	return rc;
}

static int read_submission(struct daemon *d, uint32_t job, struct reading *r)
{
	r->of = 0;
	if (record_job(d->record, job, see_seq, r, r->err) < 0)
		return r->err->code;
	return record_event_at(d->record, r->seq, see_submission, r, r->err);
}

int daemon_submission(struct daemon *d, uint32_t job, struct submission *out, struct err *err)
{
	struct reading r = { .out = out, .err = err };
	int rc = read_submission(d, job, &r);

	if (rc == 0 && r.of)
		rc = read_submission(d, r.of, &r);
	if (rc < 0)
		return rc;
	return submission_check(out, err);
}

/* ---- the environment */

struct environment {
	struct arena words;
	VEC(const char *) at;
};

/* The last one of a name counts, so that what we say cannot be undone by the submitter. */
static void set(struct environment *env, const char *name, const char *value)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->at.n; i++) {
		if (!strncmp(env->at.at[i], name, n) && env->at.at[i][n] == '=') {
			env->at.at[i] = arena_printf(&env->words, "%s=%s", name, value);
			return;
		}
	}
	vec_push(&env->at, arena_printf(&env->words, "%s=%s", name, value));
}

static void set_number(struct environment *env, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	set(env, name, text);
}

static bool has(const struct environment *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->at.n; i++) {
		if (!strncmp(env->at.at[i], name, n) && env->at.at[i][n] == '=')
			return true;
	}
	return false;
}

static void set_devices(struct daemon *d, struct environment *env, const struct grant *grant)
{
	struct buf text = { 0 };

	buf_str(&text, "");
	daemon_devices(d, grant, device_uuid, &text);
	set(env, "STINT_DEVICES", text.at);
	buf_clear(&text);
	buf_str(&text, "");
	daemon_devices(d, grant, device_visible, &text);
	set(env, "CUDA_VISIBLE_DEVICES", text.at);
	set(env, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	buf_fini(&text);
}

/* For torchrun and its like: one machine, one process unless the job starts more. */
static void set_ranks(struct environment *env, const struct live_job *job)
{
	set(env, "RANK", "0");
	set(env, "LOCAL_RANK", "0");
	set(env, "WORLD_SIZE", "1");
	set(env, "LOCAL_WORLD_SIZE", "1");
	set(env, "MASTER_ADDR", "127.0.0.1");
	set_number(env, "MASTER_PORT", 20000 + job->id % 20000);
}

static void set_array(struct environment *env, const struct live_job *job)
{
	if (!job->array_id)
		return;
	set_number(env, "STINT_ARRAY_ID", job->array_id);
	set_number(env, "STINT_ARRAY_INDEX", job->array_index);
	set_number(env, "SLURM_ARRAY_JOB_ID", job->array_id);
	set_number(env, "SLURM_ARRAY_TASK_ID", job->array_index);
}

static void set_job(struct daemon *d, struct environment *env, const struct live_job *job,
	const struct attempt *a, const char *dir)
{
	char *grant = mem_printf("%s/grant", dir);

	set(env, "STINT", "1");
	set_number(env, "STINT_JOB_ID", job->id);
	set_number(env, "STINT_ATTEMPT", a->number);
	set_number(env, "STINT_RESTARTS", a->number - 1);
	set(env, "STINT_NAME", job->name);
	set(env, "STINT_TENANT", job->tenant ? job->tenant : "");
	set_number(env, "STINT_GPUS", a->grant->gpus);
	set_number(env, "STINT_MIN_GPUS", job->base.min_gpus);
	set_number(env, "STINT_MAX_GPUS", job->base.max_gpus);
	set(env, "STINT_TYPE", d->epoch.cluster.types[a->grant->type].name);
	set(env, "STINT_NODE", d->machine.host);
	set(env, "STINT_DIR", dir);
	set(env, "STINT_GRANT", grant);
	set(env, "STINT_SIGNAL", signal_name(job->stop_signal));
	set_number(env, "STINT_GRACE_S", job->grace_s);
	set_number(env, "STINT_SHARE", job->base.share > 0 ? job->base.share : 1);
	if (d->config.socket)
		set(env, "STINT_SOCKET", d->config.socket);
	set_number(env, "SLURM_JOB_ID", job->id);
	free(grant);
}

/* One job may submit another: what it was told of itself is not the other's. */
static bool is_of_a_job(const char *variable)
{
	return !strncmp(variable, "STINT_", 6) || !strncmp(variable, "STINT=", 6) ||
		!strncmp(variable, "SLURM_ARRAY_", 12) || !strncmp(variable, "SLURM_JOB_ID=", 13);
}

static void build_environment(struct daemon *d, struct environment *env, const struct live_job *job,
	const struct attempt *a, const struct submission *what, const char *dir)
{
	for (size_t i = 0; what->env && what->env[i]; i++) {
		if (!is_of_a_job(what->env[i]))
			vec_push(&env->at, what->env[i]);
	}
	set_job(d, env, job, a, dir);
	set_array(env, job);
	set_devices(d, env, a->grant);
	set_ranks(env, job);
	if (!strcmp(d->epoch.cluster.types[a->grant->type].name, "cpu") && !has(env, "OMP_NUM_THREADS"))
		set_number(env, "OMP_NUM_THREADS", a->grant->gpus);
	vec_push(&env->at, NULL);
}

/* ---- the grant's file, which tells a job of its size */

static const char *device_word(const struct machine_device *device)
{
	return device->visible[0] ? device->visible : device->uuid;
}

static void grant_text(struct daemon *d, const struct live_job *job, const struct grant *grant,
	struct buf *out)
{
	struct buf devices = { 0 };
	struct slice left;
	struct json j;

	daemon_devices(d, grant, device_word, &devices);
	left = (struct slice){ devices.at, devices.n };
	json_init(&j, out, false);
	json_begin_object(&j, NULL);
	json_int(&j, "gpus", grant->gpus);
	json_int(&j, "serial",
		core_engine_job(d->core, job)->resizes + core_engine_job(d->core, job)->migrations + 1);
	json_begin_array(&j, "devices");
	while (left.n) {
		struct slice one = slice_cut(&left, ',');
		char text[128];

		snprintf(text, sizeof(text), "%.*s", (int)one.n, one.at);
		json_str(&j, NULL, text);
	}
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
	buf_fini(&devices);
}

static int write_grant(struct daemon *d, const struct live_job *job, uint32_t attempt,
	const struct grant *grant, struct err *err)
{
	char *dir = hands_dir(d->hands, job->id, attempt);
	char *path = mem_printf("%s/grant", dir), *fresh = mem_printf("%s/grant.new", dir);
	struct buf text = { 0 };
	FILE *file;
	int rc = 0;

	grant_text(d, job, grant, &text);
	file = fopen(fresh, "we");
	if (!file || fwrite(text.at, 1, text.n, file) != text.n)
		rc = err_set(err, ERR_IO, "%s: %s", fresh, strerror(errno));
	if (file)
		fchmod(fileno(file), 0644); /* the job's user reads it */
	if (file && fclose(file) && rc == 0)
		rc = err_set(err, ERR_IO, "%s: %s", fresh, strerror(errno));
	if (rc == 0 && rename(fresh, path) < 0)
		rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	buf_fini(&text);
	free(dir);
	free(path);
	free(fresh);
	return rc;
}

/* ---- launching */

static char *output_path(const struct daemon *d, const char *pattern, const struct submission *what,
	const struct live_job *job)
{
	struct output_words words = {
		.id = job->id,
		.array_id = job->array_id,
		.index = job->array_id ? (int32_t)job->array_index : -1,
		.name = job->name,
		.user = job->user ? job->user : "",
		.node = d->machine.host,
	};
	struct buf path = { 0 };

	if (!pattern)
		return NULL;
	submission_output(pattern, what->cwd, &words, &path);
	return path.at;
}

static void news_of_failure(struct daemon *d, uint32_t job, uint32_t attempt, const char *text)
{
	struct news news = {
		.kind = "exit",
		.job = job,
		.attempt = attempt,
		.body = json_pack("{s:b,s:i,s:s}", "known", 1, "code", 126, "text", text),
	};

	vec_push(&d->news, news);
}

/* As systemd does for a service: no job may take all the process numbers there are. */
static int64_t tasks_max(void)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	long most = 32768;

	if (file) {
		if (fscanf(file, "%ld", &most) != 1)
			most = 32768;
		fclose(file);
	}
	return most * 15 / 100;
}

static int launch_with(struct daemon *d, const struct live_job *job, const struct attempt *a,
	const struct submission *what, struct err *err)
{
	char *dir = hands_dir(d->hands, job->id, a->number);
	char *out = output_path(d, what->out, what, job);
	char *err_out = output_path(d, what->err_out, what, job);
	struct environment env = { 0 };
	struct launch launch = {
		.job = job->id,
		.attempt = a->number,
		.argv = what->argv,
		.script = what->script,
		.cwd = what->cwd,
		.out = out,
		.err_out = err_out ? err_out : out,
		.uid = d->config.system ? job->uid : geteuid(),
		.gid = d->config.system ? job->gid : getegid(),
		.stop_signal = job->stop_signal,
		.grace_s = job->grace_s,
		.checkpoint = what->checkpoint,
		.time_s = job->time_s > 0 ? fmax(0.001, job->time_s - job->used_s) : 0,
		.cpus = what->cpus,
		.tasks_max = tasks_max(),
		.mem_bytes = what->mem_bytes,
	};
	int rc;

	build_environment(d, &env, job, a, what, dir);
	launch.env = env.at.at;
	/* Before the command can look for it, and before there is no way back. */
	rc = hands_make_dir(d->hands, job->id, a->number, err);
	if (rc == 0)
		rc = write_grant(d, job, a->number, a->grant, err);
	if (rc == 0)
		rc = hands_launch(d->hands, &launch, err);
	vec_fini(&env.at);
	arena_fini(&env.words);
	free(dir);
	free(out);
	free(err_out);
	return rc;
}

/*
 * What became of an attempt that was ordered: it runs, it is over, or it can still be launched, unless it
 * was asked to stop: then it never will be.  False: it cannot be told yet.
 */
static bool find_out(struct daemon *d, const struct attempt *a)
{
	struct ending ending;
	struct err err = { 0 };
	enum claim claim;

	if (hands_claim(d->hands, a->job, a->number, a->stop != STOP_NONE, &claim, &ending, &err) < 0) {
		log_error(d->log, "job %u, attempt %u: %s; trying again", a->job, a->number, err.text);
		return false;
	}
	if (claim == CLAIM_ENDED)
		daemon_hands_ended(d, &ending);
	else if (claim == CLAIM_NEVER && a->stop)
		news_of_failure(d, a->job, a->number, "it was stopped before it began");
	else if (claim == CLAIM_NEVER)
		vec_push(&d->errands, (struct errand){ NOTE_LAUNCH, a->job, a->number });
	else if (a->stop)
		vec_push(&d->errands, (struct errand){ NOTE_STOP, a->job, a->number });
	else if (a->next_told)
		vec_push(&d->errands, (struct errand){ NOTE_RESIZE, a->job, a->number });
	return true;
}

/* An attempt that turns out to have been launched already is taken over; it is not launched again. */
static bool take_over(struct daemon *d, const struct attempt *a)
{
	struct ending ending;
	struct err err = { 0 };
	enum claim claim;

	if (hands_claim(d->hands, a->job, a->number, true, &claim, &ending, &err) < 0) {
		log_error(d->log, "job %u, attempt %u: %s; trying again", a->job, a->number, err.text);
		return false;
	}
	if (claim == CLAIM_ENDED)
		daemon_hands_ended(d, &ending);
	else if (claim == CLAIM_NEVER)
		news_of_failure(d, a->job, a->number, "its directory was claimed by somebody else");
	return true;
}

/* False: to be tried again. */
static bool launch(struct daemon *d, const struct errand *errand)
{
	const struct live_job *job = core_job(d->core, errand->job);
	const struct attempt *a = core_attempt(d->core, errand->job, errand->attempt);
	struct submission what;
	struct err err = { 0 };
	int rc;

	if (!job || !a || a->phase != PHASE_LAUNCHED)
		return true;
	if (a->stop)
		return find_out(d, a);
	if (daemon_submission(d, job->id, &what, &err) < 0) {
		news_of_failure(d, job->id, a->number, err.text);
		return true;
	}
	rc = launch_with(d, job, a, &what, &err);
	submission_fini(&what);
	if (rc == 0)
		return true;
	if (rc == ERR_REFUSED)
		return take_over(d, a);
	log_warning(d->log, "job %u, attempt %u could not be launched (%s): trying again", job->id,
		a->number, err.text);
	return false;
}

/* Both answer whether that was it; else it is tried again. */
static bool stop(struct daemon *d, const struct errand *errand)
{
	const struct attempt *a = core_attempt(d->core, errand->job, errand->attempt);
	struct err err = { 0 };

	if (!a || a->phase == PHASE_OVER ||
		hands_stop(d->hands, errand->job, errand->attempt, false, &err) == 0)
		return true;
	log_warning(d->log, "job %u, attempt %u cannot be stopped (%s): trying again", errand->job,
		errand->attempt, err.text);
	return false;
}

static bool tell_size(struct daemon *d, const struct errand *errand)
{
	const struct live_job *job = core_job(d->core, errand->job);
	const struct attempt *a = core_attempt(d->core, errand->job, errand->attempt);
	struct err err = { 0 };

	if (!job || !a || !a->next || !a->next_told)
		return true;
	if (write_grant(d, job, a->number, a->next, &err) == 0 &&
		hands_signal(d->hands, job->id, a->number, SIGURG, &err) == 0)
		return true;
	log_warning(d->log, "job %u, attempt %u cannot be told of its new size (%s): trying again",
		job->id, a->number, err.text);
	return false;
}

static bool find_again(struct daemon *d, const struct errand *errand)
{
	const struct attempt *a = core_attempt(d->core, errand->job, errand->attempt);

	return !a || a->phase == PHASE_OVER || find_out(d, a);
}

static bool run_errand(struct daemon *d, const struct errand *errand)
{
	if (errand->kind == NOTE_LAUNCH)
		return launch(d, errand);
	if (errand->kind == NOTE_START)
		return find_again(d, errand);
	return errand->kind == NOTE_STOP ? stop(d, errand) : tell_size(d, errand);
}

/* With a disk that is full, whoever fills it can still be cancelled. */
void daemon_run_cancels(struct daemon *d)
{
	for (size_t i = 0; i < d->errands.n; i++) {
		const struct errand *errand = &d->errands.at[i];
		const struct attempt *a = core_attempt(d->core, errand->job, errand->attempt);

		if (errand->kind == NOTE_STOP && a && a->stop == STOP_CANCEL)
			stop(d, errand);
	}
}

void daemon_run_errands(struct daemon *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->errands.n; i++) {
		struct errand errand = d->errands.at[i];

		if (!run_errand(d, &errand))
			d->errands.at[kept++] = errand;
	}
	d->errands.n = kept;
}

/* ---- what the hands tell */

void daemon_news_of_ending(struct daemon *d, const struct ending *e)
{
	json_t *body = json_pack("{s:b,s:i,s:i,s:b,s:b,s:f,s:f,s:f,s:I}", "known", e->known, "code",
		e->code, "signal", e->signal, "asked", e->asked, "timed_out", e->timed_out, "begun",
		e->begun_s, "ended", e->ended_s, "cpu_s", e->cpu_s, "rss_bytes",
		(json_int_t)e->rss_bytes);
	struct news news = { .kind = "exit", .job = e->job, .attempt = e->attempt, .body = body };

	/* By the guard's clock: we may hear of it much later. */
	if (e->known && e->begun_s > 0)
		json_object_set_new(body, "ran_s", json_real(fmax(0, e->ended_s - e->begun_s)));
	else
		json_object_set_new(body, "ran_s", json_real(0));
	if (e->known && e->ended_s > 0)
		json_object_set_new(body, "ended_at_s", json_real(e->ended_s - d->born_s));
	if (e->known && e->asked_s > 0)
		json_object_set_new(body, "grace_s", json_real(fmax(0, e->ended_s - e->asked_s)));
	if (e->text[0])
		json_object_set_new(body, "text", json_string(e->text));
	else if (!e->known)
		json_object_set_new(body, "text",
			json_string("its guard is gone and left no word (reboot, or killed)"));
	else if (e->timed_out)
		json_object_set_new(body, "text", json_string("its time limit was over"));
	vec_push(&d->news, news);
}

/* Attempts that ended so fast that their begin was never told, began all the same. */
void daemon_hands_begun(void *ctx, uint32_t job, uint32_t attempt, double at_s)
{
	struct daemon *d = ctx;
	struct news news = {
		.kind = "begun",
		.job = job,
		.attempt = attempt,
		.body = json_pack("{s:f,s:f}", "at", at_s, "at_s", at_s - d->born_s),
	};

	vec_push(&d->news, news);
}

void daemon_hands_ended(void *ctx, const struct ending *ending)
{
	struct daemon *d = ctx;
	const struct attempt *a = core_attempt(d->core, ending->job, ending->attempt);

	if (a && a->phase == PHASE_LAUNCHED && ending->begun_s > 0)
		daemon_hands_begun(d, ending->job, ending->attempt, ending->begun_s);
	daemon_news_of_ending(d, ending);
}

/* After a restart: every attempt that was ordered is found, launched or known to be over. */
void daemon_claim_attempts(struct daemon *d)
{
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);

	for (size_t i = 0; i < n; i++) {
		const struct attempt *a = attempts[i];

		if (a->phase != PHASE_WAITING && a->phase != PHASE_OVER && !find_out(d, a))
			vec_push(&d->errands, (struct errand){ NOTE_START, a->job, a->number });
	}
}
