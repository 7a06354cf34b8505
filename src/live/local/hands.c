/*
 * The daemon's side: an epoll instance with a pidfd for each guard, and for those
 * that were launched and have not begun the pipe on which they say so.
 *
 * What cannot be waited for (an adopted attempt that has not begun; the last
 * processes of a guard that was killed) is looked at again by a timer that runs
 * only while there is such a thing.
 */
#include "live/local/hands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "live/local/foreign.h"
#include "live/local/guard.h"

enum { CLAIM_TIMEOUT_MS = 30000, TICK_MS = 20, EVENTS = 64 };

enum source { FROM_GUARD, FROM_REPORT, FROM_TIMER, FROM_FOREIGN };

/* An attempt under way. */
struct watched {
	uint64_t serial; /* never used again, so that a late event finds nothing */
	uint32_t job, attempt;
	int guard;  /* pidfd; -1: the guard is dead and what it left is being killed */
	pid_t pid;  /* of the guard */
	int report; /* pipe; -1: closed */
	bool told_begun;
	bool look; /* the timer has something to do for it */
};

struct local {
	struct hands base;
	struct machine_options machine;
	char *state_dir, *guard;
	struct cgroup group;
	int epoll, timer;
	uint64_t last_serial;
	bool ticking;
	VEC(struct watched) watched;
	struct foreign foreign;
};

static struct local *of_hands(const struct hands *hands)
{
	return (struct local *)hands;
}

static uint32_t local_running(const struct hands *self)
{
	return (uint32_t)of_hands(self)->watched.n;
}

static const char *local_kind(const struct hands *self)
{
	return cgroup_kind_name(of_hands(self)->group.kind);
}

static int local_fd(const struct hands *self)
{
	return of_hands(self)->epoll;
}

/* ---- directories */

/* The directory of the attempt, open; made if it is not there. */
static int open_dir(struct local *hands, uint32_t job, uint32_t attempt, struct err *err)
{
	char *dir = hands_dir(&hands->base, job, attempt);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && hands_make_dir(&hands->base, job, attempt, err) == 0) {
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			err_set(err, ERR_IO, "cannot open %s: %s", dir, strerror(errno));
	}
	free(dir);
	return fd < 0 ? ERR_IO : fd;
}

/* ---- whose */

/* This record, as it is now. */
static struct lineage_point point_at(const struct local *hands, uint64_t seq)
{
	const struct lineage *lineage = hands->base.config.lineage;
	struct lineage_point of = { .seq = seq };

	if (lineage) {
		memcpy(of.id, lineage->id, sizeof(of.id));
		of.generation = lineage->generation;
	}
	return of;
}

/* ---- watching */

static struct watched *find(struct local *hands, uint32_t job, uint32_t attempt)
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

static int listen_to(struct local *hands, int fd, uint64_t serial, enum source source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = serial * 4 + (uint64_t)source };

	return epoll_ctl(hands->epoll, EPOLL_CTL_ADD, fd, &event);
}

static void tick(struct local *hands, bool on)
{
	struct itimerspec every = { { 0, TICK_MS * 1000000 }, { 0, 1 } };

	if (on != hands->ticking)
		timerfd_settime(hands->timer, 0, on ? &every : &(struct itimerspec){ 0 }, NULL);
	hands->ticking = on;
}

static void hang_up(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Takes over the descriptors.  What cannot be waited for is looked at by the timer. */
static void watch(struct local *hands, struct watched w)
{
	w.serial = ++hands->last_serial;
	if (w.report >= 0 && listen_to(hands, w.report, w.serial, FROM_REPORT) < 0)
		hang_up(&w.report);
	if (w.guard < 0 || listen_to(hands, w.guard, w.serial, FROM_GUARD) < 0)
		w.look = true;
	if (w.report < 0)
		w.look = true;
	vec_push(&hands->watched, w);
	if (w.look)
		tick(hands, true);
}

/* Those from this one on.  One that cannot be waited for is seen with the next look at the machine. */
static void watch_foreign(struct local *hands, size_t from)
{
	for (size_t i = from; i < hands->foreign.guards.n; i++)
		listen_to(hands, hands->foreign.guards.at[i], 0, FROM_FOREIGN);
}

/* Forgets it. */
static void unwatch(struct local *hands, struct watched *w)
{
	hang_up(&w->guard);
	hang_up(&w->report);
	*w = hands->watched.at[--hands->watched.n];
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
static int read_claim(struct local *hands, uint32_t job, uint32_t attempt, struct claim_note *out,
	struct err *err)
{
	int dir = open_dir(hands, job, attempt, err), rc;

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
	int dir = open_dir(hands, job, attempt, err), rc;

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
static bool settle_ending(struct local *hands, uint32_t job, uint32_t attempt, struct ending *out)
{
	struct claim_note note = { 0 };
	struct err err;
	int rc = read_ending(hands, job, attempt, out, &err);
	bool buried;

	if (rc == 0 || rc == ERR_IO)
		return rc == 0;
	if (read_claim(hands, job, attempt, &note, &err) == ERR_IO)
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
	hang_up(&w->guard);
	hang_up(&w->report);
	if (!settle_ending(hands, w->job, w->attempt, &ending)) {
		w->look = true;
		tick(hands, true);
		return;
	}
	tell_begun(hands, w, ending.begun_s);
	w = find_serial(hands, serial); /* the one told may have launched another */
	unwatch(hands, w);
	if (hands->base.config.ended)
		hands->base.config.ended(hands->base.config.ctx, &ending);
}

static void hear_report(struct local *hands, struct watched *w)
{
	char word[1 + sizeof(double)];
	double at_s;
	ssize_t n = read(w->report, word, sizeof(word));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	hang_up(&w->report);
	if (n != (ssize_t)sizeof(word) || word[0] != REPORT_BEGUN)
		return; /* it did not start: the guard is about to say why */
	memcpy(&at_s, word + 1, sizeof(at_s));
	tell_begun(hands, w, at_s);
}

static bool guard_is_dead(const struct watched *w)
{
	struct pollfd on = { w->guard, POLLIN, 0 };

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
	dir = open_dir(hands, w->job, w->attempt, &err);
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
	struct watched *w = find_serial(hands, what / 4);

	if (what % 4 == FROM_TIMER)
		look_at_all(hands);
	else if (what % 4 == FROM_FOREIGN)
		forget_foreign(hands);
	else if (w && what % 4 == FROM_REPORT && w->report >= 0)
		hear_report(hands, w);
	else if (w && what % 4 == FROM_GUARD && w->guard >= 0)
		conclude(hands, w);
}

static int local_poll(struct hands *self, struct err *err)
{
	struct local *hands = of_hands(self);
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

/* ---- launching */

static int describe_spawn(posix_spawn_file_actions_t *files, posix_spawnattr_t *how, int order,
	int report)
{
	sigset_t all;

	sigfillset(&all);
	posix_spawnattr_init(how);
	posix_spawnattr_setflags(how,
		POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	/* Born deaf: a stop that comes early waits until the guard listens. */
	posix_spawnattr_setsigmask(how, &all);
	posix_spawnattr_setsigdefault(how, &all);
	posix_spawn_file_actions_init(files);
	return posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0) |
		posix_spawn_file_actions_adddup2(files, 0, 1) |
		posix_spawn_file_actions_adddup2(files, 0, 2) |
		posix_spawn_file_actions_adddup2(files, order, GUARD_ORDER_FD) |
		posix_spawn_file_actions_adddup2(files, report, GUARD_REPORT_FD) |
		posix_spawn_file_actions_addclosefrom_np(files, GUARD_REPORT_FD + 1);
}

/* `order` and `report` must be above the numbers they get. */
static int spawn_guard(struct local *hands, int order, int report, pid_t *out, struct err *err)
{
	char *argv[] = { (char *)"stint-guard", NULL };
	char *env[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	int why = describe_spawn(&files, &how, order, report);

	if (!why)
		why = posix_spawn(out, hands->guard, &files, &how, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	if (why)
		return err_set(err, ERR_IO, "cannot start %s: %s", hands->guard, strerror(why));
	return 0;
}

static int out_of_the_way(int fd)
{
	int moved = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, GUARD_REPORT_FD + 1);

	if (fd >= 0)
		close(fd);
	return moved;
}

/* The guard's first word; `why` gets the text behind it.  0: it said nothing in time, or died. */
static int first_word(int report, char *why, size_t cap)
{
	struct pollfd on = { report, POLLIN, 0 };
	char word = 0;
	ssize_t n;
	int ready;

	while ((ready = poll(&on, 1, CLAIM_TIMEOUT_MS)) < 0 && errno == EINTR)
		;
	why[0] = '\0';
	if (ready != 1 || read(report, &word, 1) != 1)
		return 0;
	if (word != REPORT_CLAIMED && (n = read(report, why, cap - 1)) >= 0)
		why[n] = '\0';
	return word;
}

/* Starts the guard and hears what becomes of the claim. */
static int start_guard(struct local *hands, const struct order *order, int *report, pid_t *pid,
	char *why, size_t cap, struct err *err)
{
	int fd = out_of_the_way(order_send(order, err)), ends[2], rc;

	if (fd < 0)
		return err_set(err, ERR_IO, "cannot hand over the order: %s", strerror(errno));
	if (pipe2(ends, O_CLOEXEC) < 0) {
		rc = err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
		close(fd);
		return rc;
	}
	ends[1] = out_of_the_way(ends[1]);
	rc = ends[1] < 0 ? err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno))
			 : spawn_guard(hands, fd, ends[1], pid, err);
	hang_up(&ends[1]);
	close(fd);
	if (rc < 0) {
		close(ends[0]);
		return rc;
	}
	*report = ends[0];
	return first_word(ends[0], why, cap);
}

/*
 * The guard said nothing good.  It is made sure that it is dead; if it had claimed the attempt all the
 * same, then the attempt counts as started and its ending will be told.
 */
static int dismiss(struct local *hands, const struct launch *l, pid_t pid, int word,
	const char *why, struct err *err)
{
	struct claim_note note = { 0 };
	struct err ignored;
	bool claimed;

	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (word == REPORT_REFUSED)
		return err_set(err, ERR_REFUSED, "attempt %u of job %u was claimed before",
			l->attempt, l->job);
	if (word == REPORT_FAILED)
		return err_set(err, ERR_IO, "cannot launch job %u: %s", l->job, why);
	claimed = word == REPORT_CLAIMED ||
		(read_claim(hands, l->job, l->attempt, &note, &ignored) == 0 && note.guard.pid == pid);
	claim_fini(&note);
	if (!claimed)
		return err_set(err, ERR_IO, "cannot launch job %u: %s did not answer", l->job,
			hands->guard);
	watch(hands,
		(struct watched){ .job = l->job, .attempt = l->attempt, .guard = -1, .report = -1 });
	return 0;
}

static int local_launch(struct hands *self, const struct launch *launch, struct err *err)
{
	struct local *hands = of_hands(self);
	struct order order = { .launch = *launch,
		.base = hands->group,
		.of = point_at(hands, launch->seq) };
	struct watched w = { .job = launch->job, .attempt = launch->attempt, .report = -1 };
	/* Kept open to have room for the pidfd: a guard that cannot be watched would have to go. */
	int room = open_dir(hands, launch->job, launch->attempt, err), word;
	char why[256];
	pid_t pid;

	if (room < 0)
		return room;
	order.dir = hands_dir(&hands->base, launch->job, launch->attempt);
	word = start_guard(hands, &order, &w.report, &pid, why, sizeof(why), err);
	free(order.dir);
	close(room);
	if (word < 0)
		return word;
	w.guard = word == REPORT_CLAIMED ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (w.guard >= 0) {
		w.pid = pid;
		watch(hands, w);
		return 0;
	}
	close(w.report);
	return dismiss(hands, launch, pid, word, why, err);
}

/* ---- asking */

static int send_to_guard(struct local *hands, uint32_t job, uint32_t attempt, int number, int value,
	struct err *err)
{
	const struct watched *w = find(hands, job, attempt);
	siginfo_t info = { .si_signo = number, .si_code = SI_QUEUE };

	if (!w || w->guard < 0)
		return 0;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = value;
	if (syscall(SYS_pidfd_send_signal, w->guard, number, &info, 0) < 0 && errno != ESRCH)
		return err_set(err, ERR_IO, "cannot reach the guard of job %u: %s", job,
			strerror(errno));
	return 0;
}

static int local_stop(struct hands *self, uint32_t job, uint32_t attempt, bool now, struct err *err)
{
	struct local *hands = of_hands(self);
	int rc = send_to_guard(hands, job, attempt, now ? GUARD_KILL : GUARD_STOP, 0, err);

	/* A job may have stopped its own guard. */
	return rc < 0 ? rc : send_to_guard(hands, job, attempt, SIGCONT, 0, err);
}

static int local_signal(struct hands *self, uint32_t job, uint32_t attempt, int signal, struct err *err)
{
	struct local *hands = of_hands(self);
	if (signal < 1 || signal >= NSIG)
		return err_set(err, ERR_USAGE, "there is no signal %d", signal);
	return send_to_guard(hands, job, attempt, GUARD_PASS, signal, err);
}

static int local_limit(struct hands *self, uint32_t job, uint32_t attempt, double cpus,
	int64_t mem_bytes, struct err *err)
{
	struct cgroup_limits limits = { .cpus = cpus, .mem_bytes = mem_bytes };
	struct claim_note note;
	int rc = read_claim(of_hands(self), job, attempt, &note, err);

	if (rc < 0)
		return rc;
	if (!note.elsewhere)
		cgroup_limit(&note.group, &limits);
	claim_fini(&note);
	return 0;
}

static int local_hold_output(struct hands *self, uint32_t job, uint32_t attempt, bool hold,
	struct err *err)
{
	const struct watched *w = find(of_hands(self), job, attempt);

	if (!w || w->guard < 0)
		return err_set(err, ERR_MISSING, "attempt %u of job %u has no guard", attempt, job);
	return send_to_guard(of_hands(self), job, attempt, GUARD_HOLD, hold, err);
}

/* ---- after a restart */

/* Of a claim of before there were ids the first daemon that has one takes possession. */
static int take_possession(struct local *hands, int dir, struct claim_note *note, struct err *err)
{
	struct lineage_point of = point_at(hands, hands->base.config.seq);

	if (note->of.id[0] || !of.id[0])
		return 0;
	note->of = of;
	return claim_stamp(dir, &of, note->uid, err);
}

/* What to do with a claim that is not ours; 0: it is out of the way. */
static int dispossess(struct local *hands, uint32_t job, uint32_t attempt, struct claim_note *note,
	struct err *err)
{
	int guard = note->is_void ? ERR_MISSING : proc_open(&note->guard);
	char *dir;
	int rc;

	claim_fini(note);
	if (guard == ERR_IO)
		return err_set(err, ERR_IO, "cannot tell whether its guard runs: %s", strerror(errno));
	if (guard >= 0) {
		close(guard);
		return err_set(err, ERR_REFUSED,
			"attempt %u of job %u of another record runs in its place: 'stint foreign' shows it",
			attempt, job);
	}
	dir = hands_dir(&hands->base, job, attempt);
	rc = foreign_set_aside(dir, &note->of, err);
	free(dir);
	return rc;
}

/* A claim that came here with a copy of its directory: its guard, if it lives, is another daemon's. */
static int leave_elsewhere(struct local *hands, uint32_t job, uint32_t attempt,
	const struct claim_note *note, struct err *err)
{
	int guard = note->elsewhere && !note->is_void ? proc_open(&note->guard) : ERR_MISSING;
	size_t known;

	if (guard == ERR_IO)
		return err_set(err, ERR_IO, "cannot tell whether its guard runs: %s", strerror(errno));
	if (guard < 0)
		return 0;
	close(guard);
	known = hands->foreign.at.n;
	foreign_add(&hands->foreign, &hands->base.config, job, attempt);
	watch_foreign(hands, known);
	return err_set(err, ERR_REFUSED,
		"attempt %u of job %u runs in another state directory, of which this is a copy: 'stint foreign' "
		"shows it",
		attempt, job);
}

/* The claim that is there and is ours; ERR_MISSING: there is none, ERR_REFUSED: another record's runs. */
static int read_own_claim(struct local *hands, uint32_t job, uint32_t attempt, int *dir,
	struct claim_note *out, struct err *err)
{
	int rc;

	*dir = open_dir(hands, job, attempt, err);
	if (*dir < 0)
		return *dir;
	rc = claim_read(*dir, out, err);
	if (rc < 0)
		return rc;
	if (foreign_is_ours(&hands->base.config, &out->of)) {
		rc = leave_elsewhere(hands, job, attempt, out, err);
		if (rc == 0)
			return take_possession(hands, *dir, out, err);
		claim_fini(out);
		*out = (struct claim_note){ 0 };
		return rc;
	}
	hang_up(dir);
	rc = dispossess(hands, job, attempt, out, err);
	*out = (struct claim_note){ 0 };
	if (rc < 0)
		return rc;
	*dir = open_dir(hands, job, attempt, err);
	return *dir < 0 ? *dir : ERR_MISSING;
}

static int local_clear(struct hands *self, uint32_t job, uint32_t attempt, struct err *err)
{
	struct claim_note note = { 0 };
	int dir, rc = read_own_claim(of_hands(self), job, attempt, &dir, &note, err);

	hang_up(&dir);
	claim_fini(&note);
	return rc == ERR_REFUSED || rc == ERR_IO ? rc : 0;
}

/* The note of whoever owns the attempt; with `void_it` that is us if nobody else does. */
static int settle_owner(struct local *hands, uint32_t job, uint32_t attempt, bool void_it,
	struct claim_note *out, struct err *err)
{
	struct claim_note mine = { .is_void = true,
		.of = point_at(hands, hands->base.config.seq),
		.uid = (uid_t)-1 };
	int dir, rc = read_own_claim(hands, job, attempt, &dir, out, err);

	if (rc == ERR_MISSING && void_it) {
		rc = claim_make(dir, &mine, err);
		if (rc == 0)
			*out = mine;
		else if (rc == ERR_REFUSED)
			rc = claim_read(dir, out, err); /* a guard was faster */
	} else if (rc == ERR_MISSING) {
		*out = mine;
		rc = 0;
	} else if (rc == ERR_FORMAT) {
		*out = (struct claim_note){ 0 }; /* cut short by a crash: somebody's who is dead */
		rc = 0;
	}
	hang_up(&dir);
	return rc;
}

static int local_claim(struct hands *self, const struct holding *of, bool void_it, enum claim *out,
	struct ending *ending, struct err *err)
{
	struct local *hands = of_hands(self);
	uint32_t job = of->job, attempt = of->attempt;
	struct watched w = { .job = job, .attempt = attempt, .report = -1 };
	struct claim_note note = { 0 };
	int rc;

	*out = CLAIM_RUNS;
	if (find(hands, job, attempt))
		return 0;
	rc = settle_owner(hands, job, attempt, void_it, &note, err);
	if (rc == ERR_REFUSED) {
		*out = CLAIM_FOREIGN;
		return 0;
	}
	if (rc < 0)
		return err_prefix(err, "attempt %u of job %u", attempt, job);
	w.guard = note.is_void ? -1 : proc_open(&note.guard);
	w.pid = note.guard.pid;
	claim_fini(&note);
	if (note.is_void)
		*out = CLAIM_NEVER;
	else if (w.guard == ERR_IO)
		return err_set(err, ERR_IO, "cannot tell whether attempt %u of job %u runs: %s",
			attempt, job, strerror(errno));
	else if (w.guard < 0 && settle_ending(hands, job, attempt, ending))
		*out = CLAIM_ENDED; /* its guard was looked for first: what it had to say, it has said */
	else
		watch(hands, w);
	return 0;
}

/* ---- looking */

static void local_find_guards(const struct hands *self, struct hands_use *of, size_t n)
{
	struct local *hands = of_hands(self);
	for (size_t i = 0; i < n; i++) {
		const struct watched *w = find(hands, of[i].job, of[i].attempt);

		of[i].guard = w && w->guard >= 0 ? w->pid : -1;
	}
}

/* ---- what there is */

static int local_discover(struct hands *self, struct machine *out, struct err *err)
{
	int rc = machine_discover(&of_hands(self)->machine, out, err);

	if (rc == 0)
		foreign_hold(&of_hands(self)->foreign, out);
	return rc;
}

static int local_refresh(struct hands *self, struct machine *machine)
{
	int changed = machine->has_gpus ? machine_refresh(machine) : 0;

	return changed | foreign_hold(&of_hands(self)->foreign, machine);
}

static int local_busy(const struct hands *self, const struct machine *machine, uint32_t device)
{
	(void)self;
	return machine_busy(machine, device);
}

/* ---- other records' */

static const struct foreign_attempt *local_foreign(const struct hands *self, size_t *n)
{
	const struct foreign *foreign = &of_hands(self)->foreign;

	*n = foreign->at.n;
	return foreign->at.at;
}

static bool local_newest(const struct hands *self, struct lineage_point *out, uint32_t *job,
	uint32_t *attempt)
{
	const struct foreign *foreign = &of_hands(self)->foreign;

	*out = foreign->newest;
	*job = foreign->newest_job;
	*attempt = foreign->newest_attempt;
	return foreign->newest_job > 0;
}

static int local_end_foreign(struct hands *self, uint32_t job, uint32_t attempt, bool now,
	struct err *err)
{
	return foreign_end(&of_hands(self)->foreign, job, attempt, now, err);
}

static int local_adopt_foreign(struct hands *self, uint32_t job, uint32_t attempt, struct err *err)
{
	struct local *hands = of_hands(self);
	struct lineage_point of = point_at(hands, hands->base.config.seq);
	int dir, rc = foreign_find(&hands->foreign, job, attempt, err);

	if (rc < 0)
		return rc;
	if (hands->foreign.at.at[rc].elsewhere)
		return err_set(err, ERR_REFUSED,
			"attempt %u of job %u runs in another state directory, of which this is a copy, and how it "
			"ends is written there: let it end, or end it with 'stint foreign end %u/%u'",
			attempt, job, job, attempt);
	dir = open_dir(hands, job, attempt, err);
	if (dir < 0)
		return dir;
	rc = claim_stamp(dir, &of, hands->foreign.at.at[rc].uid, err);
	close(dir);
	if (rc == 0)
		foreign_drop(&hands->foreign, job, attempt);
	return rc;
}

/* ---- the whole */

static int prepare(struct local *hands, struct err *err)
{
	char *jobs = mem_printf("%s/jobs", hands->base.config.state_dir);
	int rc = hands_make_path(jobs, err);

	free(jobs);
	if (rc < 0)
		return rc;
	hands->epoll = epoll_create1(EPOLL_CLOEXEC);
	hands->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (hands->epoll < 0 || hands->timer < 0 || listen_to(hands, hands->timer, 0, FROM_TIMER) < 0)
		return err_set(err, ERR_IO, "cannot watch processes: %s", strerror(errno));
	if (access(hands->guard, X_OK) < 0)
		return err_set(err, ERR_MISSING, "cannot execute %s: %s", hands->guard,
			strerror(errno));
	return 0;
}

static void local_close(struct hands *self)
{
	struct local *hands = of_hands(self);

	while (hands->watched.n)
		unwatch(hands, &hands->watched.at[hands->watched.n - 1]);
	vec_fini(&hands->watched);
	foreign_fini(&hands->foreign);
	hang_up(&hands->timer);
	hang_up(&hands->epoll);
	cgroup_tidy(&hands->group);
	cgroup_fini(&hands->group);
	free(hands->guard);
}

static const struct hands_table local_table = {
	.name = "local",
	.close = local_close,
	.fd = local_fd,
	.poll = local_poll,
	.discover = local_discover,
	.refresh = local_refresh,
	.busy = local_busy,
	.launch = local_launch,
	.stop = local_stop,
	.signal = local_signal,
	.limit = local_limit,
	.hold_output = local_hold_output,
	.claim = local_claim,
	.clear = local_clear,
	.foreign = local_foreign,
	.newest = local_newest,
	.end_foreign = local_end_foreign,
	.adopt_foreign = local_adopt_foreign,
	.find_guards = local_find_guards,
	.running = local_running,
	.kind = local_kind,
	.in_place = true,
};

int local_hands_open(const struct hands_config *config, const struct local_options *options,
	struct hands **out, struct err *err)
{
	struct local *hands = mem_alloc(sizeof(*hands));
	int rc;

	hands_init(&hands->base, &local_table, config);
	hands->machine = options->machine;
	hands->guard = mem_strdup(options->guard);
	hands->epoll = hands->timer = -1;
	rc = prepare(hands, err);
	if (rc < 0) {
		hands_close(&hands->base);
		return rc;
	}
	if (options->cgroups)
		cgroup_find(&hands->group, CGROUP_NONE);
	foreign_look(&hands->foreign, &hands->base.config);
	watch_foreign(hands, 0);
	*out = &hands->base;
	return 0;
}
