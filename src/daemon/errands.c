/*
 * Carrying out what was decided: launching, stopping, telling of a new size.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/daemon_state.h"
#include "daemon/kept_use.h"
#include "daemon/output_caps.h"

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

/* ---- what an attempt may take of the host */

static double cpus_for(const struct live_job *job, const struct attempt *a,
	const struct submission *what)
{
	if (a && a->grant->cpus > 0)
		return a->grant->cpus;
	return isnan(job->cpus_asked) ? what->cpus : job->cpus_asked;
}

/* Its share of the memory is for caching: only who said how much it needs is held to a limit, and never to less. */
static int64_t memory_for(const struct live_job *job, const struct attempt *a)
{
	int64_t asked = job->base.mem_bytes;

	return asked > 0 && a && a->grant->mem_bytes > asked ? a->grant->mem_bytes : asked;
}

/* Elements of an array that write to one file must not empty it for each other. */
static bool shares_output(const struct live_job *job, const struct submission *what)
{
	return job->array_id &&
		((what->out && !submission_output_is_own(what->out)) ||
			(what->err_out && !submission_output_is_own(what->err_out)));
}

/* What of its output is kept, and what the disk of the record keeps free. */
static void bound_output(const struct daemon *d, const struct live_job *job, struct launch *out)
{
	const struct output_caps *caps = d->config.output;
	struct statvfs disk;

	if (!caps)
		return;
	out->out_cap = output_cap_of(caps, job->tenant);
	if (statvfs(d->config.state_dir, &disk) == 0)
		out->out_reserve = output_reserve_of(caps,
			(double)disk.f_blocks * (double)disk.f_frsize);
}

/* What there is beside the launch while it lasts. */
struct launch_words {
	char *dir, *out, *err_out;
	uint32_t *places;
	struct environment env;
};

static void fill_launch(struct daemon *d, const struct live_job *job, const struct attempt *a,
	const struct submission *what, struct launch_words *words, struct launch *out)
{
	*words = (struct launch_words){
		.dir = hands_dir(d->hands, job->id, a ? a->number : 0),
		.out = daemon_output(d, job, what->out, what->cwd),
		.err_out = daemon_output(d, job, what->err_out, what->cwd),
		.places = mem_alloc(mem_array_size((a ? a->grant->gpus : 0) + 1, sizeof(uint32_t))),
	};
	*out = (struct launch){
		.job = job->id,
		.attempt = a ? a->number : 0,
		.devices = words->places,
		.ndevices = a ? daemon_places(d, a->grant, words->places) : 0,
		.name = job->name,
		.key = job->key,
		.argv = what->argv,
		.script = what->script,
		.cwd = what->cwd,
		.out = words->out,
		.err_out = words->err_out ? words->err_out : words->out,
		.out_append = shares_output(job, what),
		.uid = d->config.system ? job->uid : geteuid(),
		.gid = d->config.system ? job->gid : getegid(),
		.stop_signal = job->stop_signal,
		.grace_s = job->grace_s,
		.checkpoint = what->checkpoint,
		.time_s = job->time_s > 0 ? fmax(0.001, job->time_s - job->used_s) : 0,
		.cpus = cpus_for(job, a, what),
		.tasks_max = tasks_max(),
		.mem_bytes = memory_for(job, a),
		.mem_watch = job->mem_most > 0,
		.gpus = job->cpu_only ? 0 : (uint32_t)job->base.gpus,
		.requeue = job->requeue,
		.pty_rows = what->pty_rows,
		.pty_cols = what->pty_cols,
	};
	bound_output(d, job, out);
	daemon_environment(d, &words->env, job, a, what, words->dir);
	out->env = words->env.at.at;
}

static void free_launch(struct launch_words *words)
{
	vec_fini(&words->env.at);
	arena_fini(&words->env.words);
	free(words->dir);
	free(words->out);
	free(words->err_out);
	free(words->places);
}

/* After a restore an attempt of the job that the copy does not know may run: beside it the job would run twice. */
static int wait_for_foreign(const struct daemon *d, uint32_t job, struct err *err)
{
	size_t n;
	const struct foreign_attempt *at = hands_foreign(d->hands, &n);

	for (size_t i = 0; i < n; i++) {
		if (at[i].job == job)
			return err_set(err, ERR_IO,
				"attempt %u of this job was begun by another history of the record and still runs; the job goes "
				"on when that has ended: 'stint foreign' shows it, 'stint foreign end %u/%u' ends it",
				at[i].attempt, job, at[i].attempt);
	}
	return 0;
}

/* Without an attempt the world only gets to know the job.  `seq`: launch.seq */
static int launch_with(struct daemon *d, const struct live_job *job, const struct attempt *a,
	const struct submission *what, uint64_t seq, struct err *err)
{
	struct launch_words words;
	struct launch launch;
	int rc = 0;

	fill_launch(d, job, a, what, &words, &launch);
	launch.seq = seq;
	if (!a) {
		rc = hands_expect(d->hands, &launch, err);
		free_launch(&words);
		return rc;
	}
	rc = wait_for_foreign(d, job->id, err);
	/* Before the command can look for it, and before there is no way back. */
	if (rc == 0)
		rc = hands_clear(d->hands, job->id, a->number, err);
	if (rc == ERR_REFUSED) /* what runs there is another record's, and not for us to take over */
		rc = err_set(err, ERR_IO, "%s", err->text);
	if (rc == 0)
		rc = hands_make_dir(d->hands, job->id, a->number, err);
	if (rc == 0)
		rc = daemon_write_grant(d, job, a->number, a->grant, err);
	if (rc == 0)
		rc = hands_launch(d->hands, &launch, err);
	if (rc >= 0 && (!launch.out || !launch.err_out))
		kept_use_watch(d, job->id, a->number);
	free_launch(&words);
	return rc;
}

/* Asks the hands, and passes on how it ended if it has.  False: it cannot be told yet. */
static bool claim_it(struct daemon *d, const struct attempt *a, bool void_it, enum claim *out)
{
	uint32_t *places = mem_alloc(mem_array_size(a->grant->gpus + 1, sizeof(*places)));
	struct holding of = {
		.job = a->job,
		.attempt = a->number,
		.devices = places,
		.n = daemon_places(d, a->grant, places),
	};
	struct ending ending;
	struct err err = { 0 };
	int rc = hands_claim(d->hands, &of, void_it, out, &ending, &err);

	free(places);
	if (rc < 0 && a->phase == PHASE_LAUNCHED)
		launch_failed(d, a->job, a->number, err.text);
	else if (rc < 0)
		log_error(d->log, "job %u, attempt %u: %s; trying again", a->job, a->number, err.text);
	if (rc < 0)
		return false;
	launch_settled(d, a->job, a->number, false);
	if (*out == CLAIM_ENDED)
		daemon_hands_ended(d, &ending);
	return true;
}

/*
 * The record has seen its command run, and its claim is gone: after a restore what ended since may have been pruned.  How
 * it ended is not known any more, as after a lost machine.
 */
static void lose(struct daemon *d, const struct attempt *a)
{
	struct ending ending = { .job = a->job,
		.attempt = a->number,
		.code = -1,
		.ended_s = clock_real_s() };

	log_warning(d->log,
		"job %u, attempt %u: the record has it running, and its directory has no trace of it: it counts as lost",
		a->job, a->number);
	daemon_hands_ended(d, &ending);
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
	/* No guard may begin it behind our back. */
	if (claim == CLAIM_NEVER && a->phase == PHASE_RUNNING && !claim_it(d, a, true, &claim))
		return false;
	/* The job would run twice at once if it went on with its next attempt. */
	if (claim == CLAIM_FOREIGN && a->stop != STOP_CANCEL)
		return false;
	if (claim == CLAIM_NEVER && a->phase == PHASE_RUNNING)
		lose(d, a);
	else if ((claim == CLAIM_NEVER || claim == CLAIM_FOREIGN) && a->stop)
		news_of_failure(d, a->job, a->number, "it was stopped before it began");
	else if (claim == CLAIM_NEVER)
		daemon_errand(d, ERRAND_LAUNCH, a->job, a->number);
	else if (claim == CLAIM_RUNS && a->stop)
		daemon_errand(d, ERRAND_STOP, a->job, a->number);
	else if (claim == CLAIM_RUNS && a->next_told)
		daemon_errand(d, ERRAND_RESIZE, a->job, a->number);
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
	return claim != CLAIM_FOREIGN;
}

/* False: to be tried again. */
static bool launch(struct daemon *d, const struct errand *errand)
{
	const struct live_job *job = core_job(d->core, errand->job);
	const struct attempt *a = core_attempt(d->core, errand->job, errand->attempt);
	struct submission what;
	struct err err = { 0 };
	int rc;

	if (!job || !a || a->phase == PHASE_WAITING || a->phase == PHASE_OVER) {
		launch_settled(d, errand->job, errand->attempt, false);
		return true;
	}
	/* By a report in its name it runs, and nothing of it was started. */
	if (a->phase == PHASE_RUNNING) {
		launch_settled(d, errand->job, errand->attempt, false);
		return find_out(d, a);
	}
	if (a->stop) {
		launch_settled(d, errand->job, errand->attempt, false);
		if (!find_out(d, a))
			daemon_errand(d, ERRAND_FIND_OUT, a->job, a->number);
		return true;
	}
	if (!launch_is_due(d, job->id, a->number))
		return false;
	if (daemon_submission(d, job->id, &what, &err) < 0) {
		launch_settled(d, job->id, a->number, false);
		news_of_failure(d, job->id, a->number, err.text);
		return true;
	}
	rc = launch_with(d, job, a, &what, errand->seq, &err);
	submission_fini(&what);
	if (rc == LAUNCH_PENDING)
		return true; /* daemon_hands_launched() goes on */
	if (rc == 0 || rc == ERR_REFUSED)
		launch_settled(d, job->id, a->number, rc == 0);
	if (rc == 0)
		return true;
	if (rc == ERR_REFUSED)
		return take_over(d, a);
	launch_failed(d, job->id, a->number, err.text);
	return false;
}

void daemon_hands_launched(void *ctx, uint32_t job, uint32_t attempt, const struct err *failed)
{
	struct daemon *d = ctx;
	const struct attempt *a = core_attempt(d->core, job, attempt);

	if (!failed || !a || a->phase == PHASE_OVER) {
		launch_settled(d, job, attempt, !failed);
		return;
	}
	if (failed->code == ERR_REFUSED && take_over(d, a)) {
		launch_settled(d, job, attempt, false);
		return;
	}
	launch_failed(d, job, attempt, failed->text);
	daemon_errand(d, ERRAND_LAUNCH, job, attempt);
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

/* It goes on with other CPUs and memory: its group is bound by these, and its file says so. */
static bool renew(struct daemon *d, const struct errand *errand)
{
	const struct live_job *job = core_job(d->core, errand->job);
	const struct attempt *a = core_attempt(d->core, errand->job, errand->attempt);
	struct submission what;
	struct err err = { 0 };
	int rc;

	if (!job || !a || a->phase != PHASE_RUNNING || a->stop)
		return true; /* a launch that is still to come says the same */
	rc = daemon_submission(d, job->id, &what, &err);
	if (rc == 0) {
		rc = hands_limit(d->hands, job->id, a->number, cpus_for(job, a, &what),
			memory_for(job, a), &err);
		submission_fini(&what);
	}
	if (rc == 0)
		rc = daemon_write_grant(d, job, a->number, a->grant, &err);
	if (rc < 0)
		log_warning(d->log,
			"job %u, attempt %u cannot have other CPUs and memory (%s): trying again",
			job->id, a->number, err.text);
	return rc == 0;
}

static bool find_again(struct daemon *d, const struct errand *errand)
{
	const struct attempt *a = core_attempt(d->core, errand->job, errand->attempt);

	if (!a || a->phase == PHASE_OVER) {
		launch_settled(d, errand->job, errand->attempt, false);
		return true;
	}
	return launch_is_due(d, a->job, a->number) && find_out(d, a);
}

/* The world gets to know it, unless it has ended or has an attempt, which says the same. */
static bool expect(struct daemon *d, const struct errand *errand)
{
	const struct live_job *job = core_job(d->core, errand->job);
	struct submission what;
	struct err err = { 0 };
	int rc;

	if (!job || live_ended(job))
		return true;
	rc = daemon_submission(d, job->id, &what, &err);
	if (rc < 0)
		return true; /* its launch will say why */
	rc = launch_with(d, job, NULL, &what, 0, &err);
	submission_fini(&what);
	if (rc < 0)
		log_warning(d->log, "job %u cannot be announced (%s): trying again", job->id, err.text);
	return rc == 0;
}

static bool forget(struct daemon *d, const struct errand *errand)
{
	hands_forget(d->hands, errand->job);
	return true;
}

static bool run_errand(struct daemon *d, const struct errand *errand)
{
	static bool (*const runs[])(struct daemon * d, const struct errand *errand) = {
		[ERRAND_LAUNCH] = launch,
		[ERRAND_STOP] = stop,
		[ERRAND_RESIZE] = tell_size,
		[ERRAND_RENEW] = renew,
		[ERRAND_FIND_OUT] = find_again,
		[ERRAND_EXPECT] = expect,
		[ERRAND_FORGET] = forget,
	};

	return runs[errand->kind](d, errand);
}

void daemon_errand(struct daemon *d, enum errand_kind kind, uint32_t job, uint32_t attempt)
{
	vec_push(&d->errands, (struct errand){ .kind = kind, .job = job, .attempt = attempt });
}

/* With a disk that is full, whoever fills it can still be cancelled. */
void daemon_run_cancels(struct daemon *d)
{
	for (size_t i = 0; i < d->errands.n; i++) {
		const struct errand *errand = &d->errands.at[i];
		const struct attempt *a = core_attempt(d->core, errand->job, errand->attempt);

		if (errand->kind == ERRAND_STOP && a && a->stop == STOP_CANCEL)
			stop(d, errand);
	}
}

double daemon_errand_in_s(const struct daemon *d)
{
	double in_s = INFINITY, now_s = clock_wall_s();

	for (size_t i = 0; i < d->errands.n; i++) {
		const struct errand *errand = &d->errands.at[i];
		const struct failed_launch *f = errand->kind == ERRAND_LAUNCH ||
				errand->kind == ERRAND_FIND_OUT
			? launch_trouble(d, errand->job)
			: NULL;

		in_s = fmin(in_s, f ? fmax(0, f->due_s - now_s) : 0.5);
	}
	return in_s;
}

void daemon_run_errands(struct daemon *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->errands.n; i++) {
		struct errand errand = d->errands.at[i];

		if (!errand.seq)
			errand.seq = d->last_seq;
		if (!run_errand(d, &errand))
			d->errands.at[kept++] = errand;
	}
	d->errands.n = kept;
}

/* ---- after a restart */

/* A world with a queue of its own is told what is alive; whatever else it has of ours has ended. */
static void expect_all(struct daemon *d)
{
	size_t n;
	const struct live_job *const *jobs = core_jobs(d->core, &n);

	for (size_t i = 0; d->hands->table->expect && i < n; i++) {
		struct errand errand = { .kind = ERRAND_EXPECT, .job = jobs[i]->id };

		if (!expect(d, &errand))
			vec_push(&d->errands, errand);
	}
	hands_expected_all(d->hands);
}

/* After a restart: every attempt that was ordered is found, launched or known to be over. */
void daemon_claim_attempts(struct daemon *d)
{
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);

	expect_all(d);
	for (size_t i = 0; i < n; i++) {
		const struct attempt *a = attempts[i];

		if (a->phase != PHASE_WAITING && a->phase != PHASE_OVER && !find_out(d, a))
			daemon_errand(d, ERRAND_FIND_OUT, a->job, a->number);
	}
}
