/*
 * Carrying out what was decided: launching, stopping, telling of a new size.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/daemon_state.h"

/* ---- launching */

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
	char *out = daemon_output(d, job, what->out, what->cwd);
	char *err_out = daemon_output(d, job, what->err_out, what->cwd);
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

	daemon_environment(d, &env, job, a, what, dir);
	launch.env = env.at.at;
	/* Before the command can look for it, and before there is no way back. */
	rc = hands_make_dir(d->hands, job->id, a->number, err);
	if (rc == 0)
		rc = daemon_write_grant(d, job, a->number, a->grant, err);
	if (rc == 0)
		rc = hands_launch(d->hands, &launch, err);
	vec_fini(&env.at);
	arena_fini(&env.words);
	free(dir);
	free(out);
	free(err_out);
	return rc;
}

/* Asks the hands, and passes on how it ended if it has.  False: it cannot be told yet. */
static bool claim_it(struct daemon *d, const struct attempt *a, bool void_it, enum claim *out)
{
	struct ending ending;
	struct err err = { 0 };

	if (hands_claim(d->hands, a->job, a->number, void_it, out, &ending, &err) < 0) {
		log_error(d->log, "job %u, attempt %u: %s; trying again", a->job, a->number, err.text);
		return false;
	}
	if (*out == CLAIM_ENDED)
		daemon_hands_ended(d, &ending);
	return true;
}

/*
 * What became of an attempt that was ordered: it runs, it is over, or it can still be launched, unless it
 * was asked to stop: then it never will be.  False: it cannot be told yet.
 */
static bool find_out(struct daemon *d, const struct attempt *a)
{
	enum claim claim;

	if (!claim_it(d, a, a->stop != STOP_NONE, &claim))
		return false;
	if (claim == CLAIM_NEVER && a->stop)
		news_of_failure(d, a->job, a->number, "it was stopped before it began");
	else if (claim == CLAIM_NEVER)
		vec_push(&d->errands, (struct errand){ NOTE_LAUNCH, a->job, a->number });
	else if (claim == CLAIM_RUNS && a->stop)
		vec_push(&d->errands, (struct errand){ NOTE_STOP, a->job, a->number });
	else if (claim == CLAIM_RUNS && a->next_told)
		vec_push(&d->errands, (struct errand){ NOTE_RESIZE, a->job, a->number });
	return true;
}

/* An attempt that turns out to have been launched already is taken over; it is not launched again. */
static bool take_over(struct daemon *d, const struct attempt *a)
{
	enum claim claim;

	if (!claim_it(d, a, true, &claim))
		return false;
	if (claim == CLAIM_NEVER)
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
	if (daemon_write_grant(d, job, a->number, a->next, &err) == 0 &&
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

static void news_of_ending(struct daemon *d, const struct ending *e)
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
	news_of_ending(d, ending);
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
