/*
 * The daemon's life and its loop.
 */
#include "daemon/audit.h"
#include "daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/notify.h"
#include "daemon/daemon_state.h"
#include "daemon/forecaster.h"
#include "daemon/library.h"
#include "daemon/reports.h"
#include "daemon/kept_use.h"
#include "daemon/retain.h"
#include "daemon/roles.h"
#include "daemon/shadow.h"
#include "io/tenants_io.h"

#define LIVE_PLACER "first-fit"
#define LIVE_ADMIT "all"

/*
 * Enough ended jobs in the core's engine that a fresh one is worth it, whatever else is there; and where the queue has
 * drained, so that only a tenth as many are left to be taken over.
 */
enum { COMPACT_JOBS = 200000, DRAINED_JOBS = 50000, DRAINED_PART = 10, MANY_JOBS = 10000 };

/* No setting of the machine's clock moves it (daemon/clock.c).  No two cycles have the same time. */
double daemon_now_s(struct daemon *d)
{
	return fmax(nextafter(d->last_s, INFINITY), d->clock.boot_s + clock_boot_s());
}

/* ---- opening */

static char *copy_text(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static void copy_config(struct daemon *d, const struct daemon_config *config)
{
	d->config = *config;
	d->config.state_dir = copy_text(config->state_dir);
	d->config.guard = copy_text(config->guard);
	d->config.policy = copy_text(config->policy);
	d->config.placer = copy_text(config->placer);
	d->config.admit = copy_text(config->admit);
	d->config.tenants = copy_text(config->tenants);
	d->config.host_profiles = copy_text(config->host_profiles);
	d->config.program = copy_text(config->program);
	d->config.socket = copy_text(config->socket);
	d->config.runs = config->runs ? copy_text(config->runs)
				      : mem_printf("%s/runs", config->state_dir);
	d->log = config->log;
}

static int make_dirs(char *path, struct err *err)
{
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return err_set(err, ERR_IO, "cannot make the directory %s: %s", path,
				strerror(errno));
		if (!slash)
			return 0;
		*slash = '/';
	}
}

/* In system mode every user must be able to reach the logs of their jobs. */
static int open_state(struct daemon *d, struct err *err)
{
	char *path = mem_strdup(d->config.state_dir);
	int rc = make_dirs(path, err);

	if (rc == 0 && d->config.system)
		chmod(path, 0711);
	free(path);
	return rc < 0 ? rc : state_lock(d->config.state_dir, &d->lock, err);
}

static int open_record(struct daemon *d, struct err *err)
{
	char *path = mem_printf("%s/stint.db", d->config.state_dir);
	int rc = daemon_expect_record(d, path, err);
	struct buf born = { 0 };

	if (rc == 0)
		rc = record_open(path, false, &d->record, err);
	if (rc == 0)
		rc = state_lock_record(d->config.state_dir, &d->lock, err);
	free(path);
	if (rc < 0)
		return rc;
	if (!record_meta(d->record, "born", &born)) {
		buf_double(&born, floor(d->config.born_s > 0 ? d->config.born_s : clock_real_s()));
		rc = record_set_meta(d->record, "born", born.at, err);
	}
	if (rc == 0)
		d->born_s = strtod(born.at, NULL);
	buf_fini(&born);
	d->last_s = record_last_s(d->record);
	d->next_job = record_given(d->record) + 1;
	d->stamp = d->last_seq = record_last_seq(d->record);
	return rc < 0 ? rc : daemon_open_clock(d, err);
}

static const char *rule(const char *said, const char *before, const char *preset)
{
	return mem_strdup(said ? said : before ? before : preset);
}

/* The whole of it goes into the record, so that a replay needs no other file. */
static int read_hosts(struct daemon *d, struct err *err)
{
	struct file file;

	if (file_read_upto(d->config.host_profiles, 4 << 20, &file, err) < 0)
		return err_prefix(err, "host profiles");
	d->epoch.hosts = mem_strndup(file.at, file.n);
	file_fini(&file);
	return 0;
}

/* What the record says last is kept; where it is only what used to be the default, the new one is mentioned. */
static void tell_former_default(struct daemon *d)
{
	static const char *const former[] = { "fair-share:preempt=1,elastic=1",
		"fair-share:preempt=1,elastic=1,priority=1", NULL };

	for (int i = 0; former[i]; i++) {
		if (!strcmp(d->epoch.rules.policy, former[i]))
			log_notice(d->log,
				"the policy stays %s, the default of an earlier version; to take the new one: "
				"stint policy set " DAEMON_POLICY,
				former[i]);
	}
}

/* As in the last epoch, unless the command line says otherwise. */
static int choose_rules(struct daemon *d, struct err *err)
{
	struct epoch last = { 0 };
	bool found = daemon_last_epoch(d, &last);
	const struct rule_specs *before = &last.rules;

	d->epoch.rules = (struct rule_specs){
		.policy = rule(d->config.policy, before->policy, DAEMON_POLICY),
		.placer = rule(d->config.placer, before->placer, LIVE_PLACER),
		.admit = rule(d->config.admit, before->admit, LIVE_ADMIT),
	};
	if (before->policy && !d->config.policy)
		tell_former_default(d);
	if (found && !d->config.tenants)
		tenants_copy(&last.tenants, &d->epoch.tenants);
	if (found && !d->config.host_profiles && last.hosts)
		d->epoch.hosts = mem_strdup(last.hosts);
	if (found)
		epoch_fini(&last);
	if (d->config.host_profiles && read_hosts(d, err) < 0)
		return err->code;
	if (d->config.tenants)
		return tenants_read(d->config.tenants, &d->epoch.tenants, err);
	return 0;
}

static int open_epoch(struct daemon *d, struct err *err)
{
	if (hands_discover(d->hands, &d->machine, err) < 0 || daemon_keep_places(d, err) < 0)
		return err->code;
	if (machine_cluster(&d->machine, &d->epoch.cluster, &d->device_of, err) < 0)
		return err->code;
	d->epoch.seed = d->config.seed;
	d->epoch.born_s = d->born_s;
	if (choose_rules(d, err) < 0)
		return err->code;
	daemon_find_health(d);
	d->last_s = daemon_now_s(d);
	if (daemon_first_epoch(d, err) < 0)
		return err->code;
	daemon_read_clock(d);
	d->opened_offset_s = wallclock_offset(&d->clock.wall);
	daemon_claim_attempts(d);
	daemon_adopted_unmarked(d);
	return 0;
}

static int watch_fd(struct daemon *d, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return fd < 0 ? -1 : epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static int open_loop(struct daemon *d, struct err *err)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	d->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	d->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	daemon_arm_clock(d);
	if (d->epoll_fd < 0 || watch_fd(d, d->wake_fd) < 0 || watch_fd(d, d->timer_fd) < 0 ||
		watch_fd(d, d->signal_fd) < 0 || watch_fd(d, d->clock_fd) < 0 ||
		watch_fd(d, hands_fd(d->hands)) < 0)
		return err_set(err, ERR_IO, "cannot set up the daemon's loop: %s", strerror(errno));
	return 0;
}

int daemon_open(const struct daemon_config *config, struct daemon **out, struct err *err)
{
	struct daemon *d = mem_alloc(sizeof(*d));

	d->lock = STATE_UNLOCKED;
	d->epoll_fd = d->wake_fd = d->timer_fd = d->signal_fd = d->clock_fd = -1;
	d->calls_end = &d->calls;
	pthread_mutex_init(&d->mutex, NULL);
	snprintf(d->health, sizeof(d->health), "ok");
	copy_config(d, config);
	d->metrics = metrics_create();
	d->forecaster = forecaster_create(d, config->forecast_every_s);
	if (limits_parse(config->limits, &d->limits, err) < 0 || open_state(d, err) < 0 ||
		open_record(d, err) < 0 || retain_open(d, err) < 0 || daemon_open_hands(d, err) < 0 ||
		daemon_meet_foreign(d, err) < 0 || open_loop(d, err) < 0) {
		daemon_close(d);
		return err->code;
	}
	d->stream = stream_create(d->last_seq);
	d->audit = audit_create();
	if (open_epoch(d, err) < 0 || kept_use_open(d, err) < 0) {
		daemon_close(d);
		return err->code;
	}
	if (config->shadow &&
		shadow_create(d, config->shadow, config->shadow_every_s, &d->shadow, err) < 0) {
		daemon_close(d);
		return err->code;
	}
	*out = d;
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void free_rules(struct rule_specs *rules)
{
	free((char *)rules->policy);
	free((char *)rules->placer);
	free((char *)rules->admit);
}

static void refuse_call(struct call *call)
{
	call_problem(call, 503, 6, "the daemon is stopping");
	call->answer(call->ctx, call->status, &call->body);
	call_destroy(call);
}

static void refuse_all(struct daemon *d)
{
	pthread_mutex_lock(&d->mutex);
	d->closed = true;
	pthread_mutex_unlock(&d->mutex);
	while (d->calls) {
		struct call *call = d->calls;

		d->calls = call->next;
		refuse_call(call);
	}
	for (size_t i = 0; i < d->waiting.n; i++)
		refuse_call(d->waiting.at[i]);
	for (size_t i = 0; i < d->done.n; i++)
		refuse_call(d->done.at[i]);
	d->waiting.n = d->done.n = 0;
}

/* Before calls are refused: their tasks go with them. */
static void stop_workers(struct daemon *d)
{
	atomic_store(&d->closing, true);
	worker_destroy(d->worker);
	worker_destroy(d->whatif);
	worker_destroy(d->watcher);
	d->worker = d->whatif = d->watcher = NULL;
	forecaster_stop(d->forecaster);
	shadow_destroy(d->shadow);
	d->shadow = NULL;
}

void daemon_close(struct daemon *d)
{
	if (!d)
		return;
	audit_finish(d); /* the server has stopped, so nothing comes on top */
	stop_workers(d);
	reasons_destroy(d->reasons);
	refuse_all(d);
	forecaster_destroy(d->forecaster);
	library_close(d->library);
	retain_close(d);
	kept_use_close(d);
	core_close(d->core);
	hands_close(d->hands);
	audit_destroy(d->audit);
	record_close(d->record);
	machine_fini(&d->machine);
	cluster_fini(&d->epoch.cluster);
	tenants_fini(&d->epoch.tenants);
	free(d->epoch.hosts);
	free_rules(&d->epoch.rules);
	health_fini(&d->epoch.health);
	json_decref(d->epoch.devices);
	daemon_forget_idle(d);
	free(d->device_of);
	limits_fini(&d->limits);
	tally_fini(&d->tally);
	free(d->user);
	stream_destroy(d->stream);
	metrics_destroy(d->metrics);
	for (size_t i = 0; i < d->news.n; i++)
		json_decref(d->news.at[i].body);
	wallclock_fini(&d->clock.wall);
	vec_fini(&d->news);
	reports_fini(d);
	vec_fini(&d->rows);
	vec_fini(&d->errands);
	vec_fini(&d->failed_launches);
	vec_fini(&d->submitted);
	vec_fini(&d->asked);
	vec_fini(&d->done);
	vec_fini(&d->waiting);
	arena_fini(&d->row_words);
	buf_fini(&d->row_text);
	close_fd(d->epoll_fd);
	close_fd(d->wake_fd);
	close_fd(d->timer_fd);
	close_fd(d->signal_fd);
	close_fd(d->clock_fd);
	state_unlock(&d->lock);
	pthread_mutex_destroy(&d->mutex);
	free((char *)d->config.state_dir);
	free((char *)d->config.guard);
	free((char *)d->config.policy);
	free((char *)d->config.placer);
	free((char *)d->config.admit);
	free((char *)d->config.tenants);
	free((char *)d->config.host_profiles);
	free((char *)d->config.program);
	free((char *)d->config.socket);
	free((char *)d->config.runs);
	free(d);
}

/* ---- from other threads */

void daemon_wake(struct daemon *d)
{
	uint64_t one = 1;

	(void)!write(d->wake_fd, &one, sizeof(one));
}

static void wake_from_worker(void *ctx)
{
	daemon_wake(ctx);
}

void daemon_give_beside(struct daemon *d, struct worker **worker, struct task *task)
{
	if (!*worker)
		*worker = worker_create(wake_from_worker, d, worker == &d->worker ? 0 : NICENESS);
	worker_give(*worker, task);
}

void daemon_give_to(struct daemon *d, struct worker **worker, struct call *call, struct task *task)
{
	call->task = task;
	call->until_s = INFINITY;
	daemon_give_beside(d, worker, task);
}

void daemon_give(struct daemon *d, struct call *call, struct task *task)
{
	daemon_give_to(d, &d->worker, call, task);
}

void daemon_call(struct daemon *d, const struct verb *verb, const struct caller *caller,
	json_t *args, daemon_answer *answer, void *ctx)
{
	struct call *call = mem_alloc(sizeof(*call));
	bool closed;

	*call = (struct call){
		.verb = verb,
		.caller = *caller,
		.args = args ? args : json_object(),
		.answer = answer,
		.ctx = ctx,
		.came_s = clock_wall_s(),
		.until_s = INFINITY,
	};
	pthread_mutex_lock(&d->mutex);
	closed = d->closed;
	if (!closed) {
		*d->calls_end = call;
		d->calls_end = &call->next;
	}
	pthread_mutex_unlock(&d->mutex);
	if (closed)
		refuse_call(call);
	else
		daemon_wake(d);
}

void daemon_stop(struct daemon *d)
{
	__atomic_store_n(&d->stopping, true, __ATOMIC_SEQ_CST);
	daemon_wake(d);
}

enum role daemon_role(struct daemon *d, uid_t uid)
{
	return roles_of(d->config.roles, uid, NULL);
}

struct stream *daemon_stream(struct daemon *d)
{
	return d->stream;
}

void daemon_metrics(struct daemon *d, struct buf *out)
{
	metrics_render(d->metrics, out);
}

void daemon_count(struct daemon *d, const char *route, int status)
{
	metrics_http(d->metrics, route, status);
}

void daemon_notified(struct daemon *d, const char *result)
{
	metrics_notified(d->metrics, result);
}

bool daemon_healthy(struct daemon *d, struct buf *out)
{
	bool fine;

	pthread_mutex_lock(&d->mutex);
	fine = !strcmp(d->health, "ok");
	if (fine && d->degraded[0])
		buf_printf(out, "degraded: %s", d->degraded);
	else
		buf_str(out, d->health);
	pthread_mutex_unlock(&d->mutex);
	return fine;
}

/* ---- the loop */

void daemon_beat(struct daemon *d, const struct notify *notify)
{
	d->notify = notify;
}

static double beat_s(const struct daemon *d)
{
	double period_s = d->notify ? notify_period_s(d->notify) : 0;

	return period_s > 0 ? fmin(period_s, DAEMON_LOOK_S) : DAEMON_LOOK_S;
}

static void tell_manager(struct daemon *d)
{
	size_t jobs;

	if (!d->notify || clock_wall_s() < d->told_s + beat_s(d))
		return;
	d->told_s = clock_wall_s();
	core_jobs(d->core, &jobs);
	notify_alive(d->notify);
	notify_status(d->notify, "%zu jobs, %u run%s%s", jobs, hands_running(d->hands),
		d->trouble[0] ? "; " : "", d->trouble);
}

/* Seconds until there is something to do. */
static double next_in_s(struct daemon *d)
{
	double next = core_wake_s(d->core) - daemon_now_s(d), wall_s = clock_wall_s();

	next = fmin(next, d->looked_s + DAEMON_LOOK_S - wall_s);
	next = fmin(next, daemon_idle_in_s(d));
	if (d->notify)
		next = fmin(next, d->told_s + beat_s(d) - wall_s);
	if (d->trouble[0])
		next = fmin(next, d->retry_s - wall_s);
	next = fmin(next, forecaster_next_s(d) - wall_s);
	next = fmin(next, shadow_next_s(d) - wall_s);
	next = fmin(next, retain_next_s(d) - wall_s);
	next = fmin(next, kept_use_next_s(d) - wall_s);
	next = fmin(next, daemon_errand_in_s(d));
	if (!d->trouble[0])
		next = fmin(next, audit_next_s(d->audit) - wall_s);
	next = fmin(next, reports_in_s(d));
	if (d->news.n)
		next = 0;
	for (size_t i = 0; i < d->waiting.n; i++)
		next = fmin(next, d->waiting.at[i]->until_s - wall_s);
	return next;
}

static void set_timer(struct daemon *d)
{
	double in_s = fmin(fmax(0, next_in_s(d)), DAEMON_LOOK_S);
	struct itimerspec when = { 0 };

	when.it_value.tv_sec = (time_t)in_s;
	when.it_value.tv_nsec = (long)((in_s - floor(in_s)) * 1e9);
	if (when.it_value.tv_sec == 0 && when.it_value.tv_nsec == 0)
		when.it_value.tv_nsec = 1;
	timerfd_settime(d->timer_fd, 0, &when, NULL);
}

static void read_signals(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP)
			d->stopping = true;
		log_notice(d->log, "%s: %s", strsignal((int)info.ssi_signo),
			info.ssi_signo == SIGHUP ? "nothing to reload" : "stopping; jobs run on");
	}
}

static void drain(int fd)
{
	uint64_t count;

	(void)!read(fd, &count, sizeof(count));
}

static int wait_for_something(struct daemon *d, struct err *err)
{
	struct epoll_event events[8];
	int n;

	set_timer(d);
	n = epoll_wait(d->epoll_fd, events, 8, -1);
	if (n < 0 && errno != EINTR)
		return err_set(err, ERR_IO, "epoll: %s", strerror(errno));
	drain(d->wake_fd);
	drain(d->timer_fd);
	daemon_arm_clock(d);
	read_signals(d);
	if (hands_poll(d->hands, err) < 0)
		return err->code;
	daemon_look_at_machine(d);
	daemon_look_idle(d);
	tell_manager(d);
	return 0;
}

static bool is_worth_it(const struct daemon *d)
{
	size_t left, gone = core_forgotten(d->core);

	core_jobs(d->core, &left);
	return gone >= COMPACT_JOBS || (gone >= DRAINED_JOBS && left * DRAINED_PART <= gone);
}

/* If it cannot be done now it is done later. */
static void compact(struct daemon *d)
{
	struct err err = { 0 };

	if ((!is_worth_it(d) && !d->epoch_due) || d->trouble[0])
		return;
	if (daemon_new_epoch(d, "compact", &err) < 0)
		log_warning(d->log, "the core could not be made anew: %s", err.text);
	else
		d->epoch_due = false;
	d->spare = true;
}

/* What a great many rows or jobs took goes back to the system, which the C library does not do by itself. */
static void give_memory_back(struct daemon *d)
{
	size_t n;

	core_jobs(d->core, &n);
	if (n > d->most_jobs)
		d->most_jobs = n;
	if (d->most_jobs >= MANY_JOBS && n * DRAINED_PART <= d->most_jobs) {
		d->most_jobs = n;
		d->spare = true;
	}
	if (!d->spare || d->rows.n)
		return;
	d->spare = false;
	record_release_memory(d->record);
	malloc_trim(0);
}

/* A policy that fails must not end the daemon, which would fail again when it is started again. */
static int go_on_without_policy(struct daemon *d, struct err *err)
{
	static const char plain[] = "fifo:misfit=skip";

	if (!strcmp(d->epoch.rules.policy, plain))
		return err->code;
	log_error(d->log, "%s; jobs are run by %s from now on: choose another with 'stint policy set'",
		err->text, plain);
	free((char *)d->epoch.rules.policy);
	d->epoch.rules.policy = mem_strdup(plain);
	return daemon_new_epoch(d, "failed", err);
}

int daemon_run(struct daemon *d, struct err *err)
{
	int rc = 0;

	while (rc == 0 && !__atomic_load_n(&d->stopping, __ATOMIC_SEQ_CST)) {
		rc = daemon_cycle(d, err);
		if (rc < 0)
			rc = go_on_without_policy(d, err);
		compact(d);
		give_memory_back(d);
		if (rc == 0)
			rc = wait_for_something(d, err);
	}
	if (rc == 0)
		rc = daemon_cycle(d, err);
	stop_workers(d);
	refuse_all(d);
	return rc;
}
