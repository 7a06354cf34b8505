/*
 * Starting an attempt: its guard is started with the order.  What becomes of the claim the guard reports later
 * (local_watch.c): the daemon never waits for it here.
 */
#include "live/local/local_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Starts the guard with its order; `report` is the pipe on which it reports, which never blocks. */
static int start_guard(struct local *hands, const struct order *order, int *report, pid_t *pid,
	struct err *err)
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
	rc = ends[1] < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0
		? err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno))
		: spawn_guard(hands, fd, ends[1], pid, err);
	local_hang_up(&ends[1]);
	close(fd);
	if (rc < 0)
		close(ends[0]);
	else
		*report = ends[0];
	return rc;
}

int local_launch(struct hands *self, const struct launch *launch, struct err *err)
{
	struct local *hands = local_of(self);
	struct order order = { .launch = *launch,
		.base = hands->group,
		.of = local_point_at(hands, launch->seq) };
	struct watched w = { .job = launch->job,
		.attempt = launch->attempt,
		.pending = true,
		.until_s = proc_monotonic_s() + hands->claim_timeout_s };
	int room, rc;

	if (local_find(hands, launch->job, launch->attempt))
		return local_refused(launch->job, launch->attempt, err);
	/* Kept open to have room for the pidfd: a guard that cannot be watched has to go. */
	room = local_open_dir(hands, launch->job, launch->attempt, err);
	if (room < 0)
		return room;
	order.dir = hands_dir(&hands->base, launch->job, launch->attempt);
	rc = start_guard(hands, &order, &w.report, &w.pid, err);
	free(order.dir);
	close(room);
	if (rc < 0)
		return rc;
	w.guard = (int)syscall(SYS_pidfd_open, w.pid, 0);
	if (w.guard < 0)
		kill(w.pid, SIGKILL);
	local_watch(hands, w);
	return LAUNCH_PENDING;
}
