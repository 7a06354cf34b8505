/*
 * Starting an attempt: its guard is started with the order and says what becomes of the claim.
 */
#include "live/local/local_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLAIM_TIMEOUT_MS = 30000 };

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
	local_hang_up(&ends[1]);
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
		(local_read_claim(hands, l->job, l->attempt, &note, &ignored) == 0 &&
			note.guard.pid == pid);
	claim_fini(&note);
	if (!claimed)
		return err_set(err, ERR_IO, "cannot launch job %u: %s did not answer", l->job,
			hands->guard);
	local_watch(hands,
		(struct watched){ .job = l->job, .attempt = l->attempt, .guard = -1, .report = -1 });
	return 0;
}

int local_launch(struct hands *self, const struct launch *launch, struct err *err)
{
	struct local *hands = local_of(self);
	struct order order = { .launch = *launch,
		.base = hands->group,
		.of = local_point_at(hands, launch->seq) };
	struct watched w = { .job = launch->job, .attempt = launch->attempt, .report = -1 };
	/* Kept open to have room for the pidfd: a guard that cannot be watched would have to go. */
	int room = local_open_dir(hands, launch->job, launch->attempt, err), word;
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
		local_watch(hands, w);
		return 0;
	}
	close(w.report);
	return dismiss(hands, launch, pid, word, why, err);
}
