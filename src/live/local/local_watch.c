/*
 * Watching guards: an epoll instance with a pidfd for each guard, and for those
 * that were launched and have not begun the pipe on which they say so.
 *
 * A launch is pending until its guard has reported what became of the claim.  A guard
 * that reports no claim, or nothing before its deadline, is killed; when it is dead, its
 * report and the claim itself tell whether the attempt counts as started.
 *
 * What cannot be waited for (an adopted attempt that has not begun; the last
 * processes of a guard that was killed) is looked at again by a timer that runs
 * only while there is such a thing.
 */
#include "live/local/local_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

enum { TICK_MS = 20, EVENTS = 64 };

struct watched *local_find(struct local *hands, uint32_t job, uint32_t attempt)
{
	for (size_t i = 0; i < hands->watched.n; i++) {
		struct watched *w = &hands->watched.at[i];

		if (w->job == job && w->attempt == attempt)
			return w;
	}
	return NULL;
}

static struct watched *find_serial(struct local *hands, uint64_t serial)
{
	for (size_t i = 0; i < hands->watched.n; i++) {
		if (hands->watched.at[i].serial == serial)
			return &hands->watched.at[i];
	}
	return NULL;
}

int local_listen(struct local *hands, int fd, uint64_t serial, enum source source)
{
	struct epoll_event event = { .events = EPOLLIN,
		.data.u64 = serial * SOURCES + (uint64_t)source };

	return epoll_ctl(hands->epoll, EPOLL_CTL_ADD, fd, &event);
}

static void tick(struct local *hands, bool on)
{
	struct itimerspec every = { { 0, TICK_MS * 1000000 }, { 0, 1 } };

	if (on != hands->ticking)
		timerfd_settime(hands->timer, 0, on ? &every : &(struct itimerspec){ 0 }, NULL);
	hands->ticking = on;
}

/* Wakes us when the first of the pending guards is out of time. */
static void arm_deadline(struct local *hands)
{
	struct itimerspec at = { 0 };
	double first_s = INFINITY;

	for (size_t i = 0; i < hands->watched.n; i++) {
		if (hands->watched.at[i].pending)
			first_s = fmin(first_s, hands->watched.at[i].until_s);
	}
	if (isfinite(first_s)) {
		at.it_value.tv_sec = (time_t)first_s;
		at.it_value.tv_nsec = (long)((first_s - floor(first_s)) * 1e9);
	}
	timerfd_settime(hands->deadline, TFD_TIMER_ABSTIME, &at, NULL);
}

void local_hang_up(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Takes over the descriptors.  What cannot be waited for is looked at by the timer. */
void local_watch(struct local *hands, struct watched w)
{
	w.serial = ++hands->last_serial;
	if (w.report >= 0 && local_listen(hands, w.report, w.serial, FROM_REPORT) < 0)
		local_hang_up(&w.report);
	if (w.guard < 0 || local_listen(hands, w.guard, w.serial, FROM_GUARD) < 0)
		w.look = true;
	if (w.report < 0)
		w.look = true;
	vec_push(&hands->watched, w);
	if (w.look)
		tick(hands, true);
	if (w.pending)
		arm_deadline(hands);
}

/* Those from this one on.  One that cannot be waited for is seen with the next look at the machine. */
void local_watch_foreign(struct local *hands, size_t from)
{
	for (size_t i = from; i < hands->foreign.guards.n; i++)
		local_listen(hands, hands->foreign.guards.at[i], 0, FROM_FOREIGN);
}

/* Forgets it. */
void local_unwatch(struct local *hands, struct watched *w)
{
	local_hang_up(&w->guard);
	local_hang_up(&w->report);
	*w = hands->watched.at[--hands->watched.n];
}

/* ---- pending launches */

int local_refused(uint32_t job, uint32_t attempt, struct err *err)
{
	return err_set(err, ERR_REFUSED, "attempt %u of job %u was claimed before", attempt, job);
}

/* True: the attempt is this guard's, as its claim says. */
static bool has_claimed(struct local *hands, const struct watched *w)
{
	struct claim_note note = { 0 };
	struct err ignored;
	bool is = local_read_claim(hands, w->job, w->attempt, &note, &ignored) == 0 &&
		note.guard.pid == w->pid;

	claim_fini(&note);
	return is;
}

static void tell_launched(struct local *hands, uint32_t job, uint32_t attempt, const struct err *failed)
{
	if (hands->base.config.launched)
		hands->base.config.launched(hands->base.config.ctx, job, attempt, failed);
}

/* Answers the attempt as it is afterwards: the callback may have launched another. */
static struct watched *settle_claimed(struct local *hands, struct watched *w)
{
	uint64_t serial = w->serial;

	w->pending = false;
	tell_launched(hands, w->job, w->attempt, NULL);
	return find_serial(hands, serial);
}

/* It reported no claim, or nothing in time.  Its death tells the rest. */
static void kill_guard(struct watched *w)
{
	w->until_s = INFINITY;
	if (w->guard >= 0)
		syscall(SYS_pidfd_send_signal, w->guard, SIGKILL, NULL, 0);
}

/* The first report of a pending guard. */
static void hear_claim(struct local *hands, struct watched *w)
{
	char word = 0;
	ssize_t n = read(w->report, &word, 1), rest;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n == 1 && word == REPORT_CLAIMED) {
		settle_claimed(hands, w);
		return;
	}
	w->word = word;
	rest = n == 1 ? read(w->report, w->why, sizeof(w->why) - 1) : 0;
	w->why[rest > 0 ? rest : 0] = '\0';
	local_hang_up(&w->report);
	kill_guard(w);
}

/* Why a launch failed whose guard is dead. */
static int launch_error(const struct local *hands, const struct watched *w, struct err *err)
{
	if (w->word == REPORT_REFUSED)
		return local_refused(w->job, w->attempt, err);
	if (w->word == REPORT_FAILED)
		return err_set(err, ERR_IO, "cannot launch job %u: %s", w->job, w->why);
	return err_set(err, ERR_IO, "cannot launch job %u: %s did not answer", w->job, hands->guard);
}

/*
 * The guard of a pending launch is dead.  If it had claimed the attempt all the same, then the attempt counts as
 * started, and it is answered: its ending is to be told.  NULL: nothing has started.
 */
static struct watched *settle_dead(struct local *hands, struct watched *w)
{
	uint64_t serial = w->serial;
	uint32_t job = w->job, attempt = w->attempt;
	struct err err = { 0 };

	if (w->report >= 0)
		hear_claim(hands, w);
	w = find_serial(hands, serial);
	if (!w || !w->pending)
		return w;
	if (!w->word && has_claimed(hands, w))
		return settle_claimed(hands, w);
	launch_error(hands, w, &err);
	local_unwatch(hands, w);
	tell_launched(hands, job, attempt, &err);
	return NULL;
}

/* Those that are out of time. */
static void end_patience(struct local *hands)
{
	double now_s = proc_monotonic_s();
	uint64_t times;

	(void)!read(hands->deadline, &times, sizeof(times));
	for (size_t i = 0; i < hands->watched.n; i++) {
		struct watched *w = &hands->watched.at[i];

		if (w->pending && w->until_s <= now_s)
			kill_guard(w);
	}
	arm_deadline(hands);
}

/* ---- telling */

static void tell_begun(struct local *hands, struct watched *w, double at_s)
{
	if (w->told_begun || at_s <= 0)
		return;
	w->told_begun = true;
	if (hands->base.config.begun)
		hands->base.config.begun(hands->base.config.ctx, w->job, w->attempt, at_s);
}

/* What the directory says; ERR_MISSING: it is nobody's. */
int local_read_claim(struct local *hands, uint32_t job, uint32_t attempt, struct claim_note *out,
	struct err *err)
{
	int dir = local_open_dir(hands, job, attempt, err), rc;

	if (dir < 0)
		return dir;
	rc = claim_read(dir, out, err);
	close(dir);
	return rc;
}

/* Kills what a guard left that was killed itself.  True: nothing is left. */
static bool bury(struct local *hands, uint32_t job, uint32_t attempt, const struct claim_note *note)
{
	char *dir = hands_dir(&hands->base, job, attempt), *mark = mem_printf("STINT_DIR=%s", dir);
	uint32_t grouped = cgroup_kill(&note->group);
	struct proc_left left = proc_kill_orphans(&note->guard, mark);

	free(mark);
	free(dir);
	if (grouped || left.alive > left.forbidden)
		return false;
	cgroup_remove(&note->group);
	return true;
}

/* The word of a guard that is dead. */
static int read_ending(struct local *hands, uint32_t job, uint32_t attempt, struct ending *out,
	struct err *err)
{
	int dir = local_open_dir(hands, job, attempt, err), rc;

	if (dir < 0)
		return dir;
	rc = ending_read(dir, out, err);
	close(dir);
	if (rc < 0)
		return rc;
	out->job = job;
	out->attempt = attempt;
	return 0;
}

/*
 * How an attempt whose guard is dead ended.  Without a word of the guard what it left is killed.
 * False: it cannot be told yet, because that is not all dead or the machine does not let us read.
 */
bool local_settle_ending(struct local *hands, uint32_t job, uint32_t attempt, struct ending *out)
{
	struct claim_note note = { 0 };
	struct err err;
	int rc = read_ending(hands, job, attempt, out, &err);
	bool buried;

	if (rc == 0 || rc == ERR_IO)
		return rc == 0;
	if (local_read_claim(hands, job, attempt, &note, &err) == ERR_IO)
		return false;
	/* What is left of one that ran elsewhere is for the daemon there. */
	buried = note.elsewhere || bury(hands, job, attempt, &note);
	*out = (struct ending){ .job = job,
		.attempt = attempt,
		.code = -1,
		.begun_s = note.begun_s,
		.ended_s = proc_now_s() };
	claim_fini(&note);
	return buried;
}

/* The guard is dead. */
static void conclude(struct local *hands, struct watched *w)
{
	uint64_t serial = w->serial;
	struct ending ending;

	if (w->guard >= 0)
		waitid(P_PIDFD, (id_t)w->guard, &(siginfo_t){ 0 }, WEXITED | WNOHANG);
	local_hang_up(&w->guard);
	if (w->pending)
		w = settle_dead(hands, w);
	if (!w)
		return;
	local_hang_up(&w->report);
	if (!local_settle_ending(hands, w->job, w->attempt, &ending)) {
		w->look = true;
		tick(hands, true);
		return;
	}
	tell_begun(hands, w, ending.begun_s);
	w = find_serial(hands, serial); /* the one told may have launched another */
	local_unwatch(hands, w);
	if (hands->base.config.ended)
		hands->base.config.ended(hands->base.config.ctx, &ending);
}

static void hear_report(struct local *hands, struct watched *w)
{
	char word[1 + sizeof(double)];
	double at_s;
	ssize_t n;

	if (w->pending) {
		hear_claim(hands, w);
		return;
	}
	n = read(w->report, word, sizeof(word));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	local_hang_up(&w->report);
	if (n != (ssize_t)sizeof(word) || word[0] != REPORT_BEGUN)
		return; /* it did not start: the guard is about to say why */
	memcpy(&at_s, word + 1, sizeof(at_s));
	tell_begun(hands, w, at_s);
}

static bool guard_is_dead(const struct watched *w)
{
	struct pollfd on = { w->guard, POLLIN, 0 };

	if (w->guard < 0 && w->pending) /* it was killed because it could not be watched */
		return waitpid(w->pid, NULL, WNOHANG) != 0;
	return w->guard < 0 || poll(&on, 1, 0) == 1;
}

/* What the timer looks at. */
static void look(struct local *hands, struct watched *w)
{
	struct claim_note note = { 0 };
	uint64_t serial = w->serial;
	struct err err;
	int dir;

	if (guard_is_dead(w)) {
		conclude(hands, w);
		return;
	}
	if (w->pending)
		w = has_claimed(hands, w) ? settle_claimed(hands, w) : NULL;
	if (!w)
		return;
	dir = local_open_dir(hands, w->job, w->attempt, &err);
	if (dir < 0)
		return;
	if (claim_read(dir, &note, &err) == 0) {
		tell_begun(hands, w, note.begun_s);
		claim_fini(&note);
	}
	close(dir);
	w = find_serial(hands, serial);
	if (w && w->told_begun)
		w->look = false;
}

static void look_at_all(struct local *hands)
{
	VEC(uint64_t) serials = { 0 };
	uint64_t times;
	bool more = false;

	(void)!read(hands->timer, &times, sizeof(times));
	for (size_t i = 0; i < hands->watched.n; i++) {
		if (hands->watched.at[i].look)
			vec_push(&serials, hands->watched.at[i].serial);
	}
	for (size_t i = 0; i < serials.n; i++) {
		struct watched *w = find_serial(hands, serials.at[i]);

		if (w)
			look(hands, w);
	}
	for (size_t i = 0; i < hands->watched.n; i++)
		more |= hands->watched.at[i].look;
	tick(hands, more);
	vec_fini(&serials);
}

/* One of another record has ended: its devices are looked at now, not with the next look. */
static void forget_foreign(struct local *hands)
{
	if (foreign_forget(&hands->foreign) && hands->base.config.changed)
		hands->base.config.changed(hands->base.config.ctx);
}

static void handle(struct local *hands, uint64_t what)
{
	struct watched *w = find_serial(hands, what / SOURCES);
	enum source source = (enum source)(what % SOURCES);

	if (source == FROM_TIMER)
		look_at_all(hands);
	else if (source == FROM_DEADLINE)
		end_patience(hands);
	else if (source == FROM_FOREIGN)
		forget_foreign(hands);
	else if (w && source == FROM_REPORT && w->report >= 0)
		hear_report(hands, w);
	else if (w && source == FROM_GUARD && w->guard >= 0)
		conclude(hands, w);
}

int local_poll(struct hands *self, struct err *err)
{
	struct local *hands = local_of(self);
	struct epoll_event events[EVENTS];
	int n;

	do {
		n = epoll_wait(hands->epoll, events, EVENTS, 0);
		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "cannot wait for jobs: %s", strerror(errno));
		for (int i = 0; i < n; i++)
			handle(hands, events[i].data.u64);
	} while (n == EVENTS);
	return 0;
}
