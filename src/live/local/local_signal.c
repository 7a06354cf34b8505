/*
 * What guards are asked to do: stop, pass on a signal, hold output; and the limits of a control group.
 */
#include "live/local/local_internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/local/guard.h"

static int send_to_guard(struct local *hands, uint32_t job, uint32_t attempt, int number, int value,
	struct err *err)
{
	const struct watched *w = local_find(hands, job, attempt);
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

int local_stop(struct hands *self, uint32_t job, uint32_t attempt, bool now, struct err *err)
{
	struct local *hands = local_of(self);
	int rc = send_to_guard(hands, job, attempt, now ? GUARD_KILL : GUARD_STOP, 0, err);

	/* A job may have stopped its own guard. */
	return rc < 0 ? rc : send_to_guard(hands, job, attempt, SIGCONT, 0, err);
}

int local_signal(struct hands *self, uint32_t job, uint32_t attempt, int signal, struct err *err)
{
	struct local *hands = local_of(self);
	if (signal < 1 || signal >= NSIG)
		return err_set(err, ERR_USAGE, "there is no signal %d", signal);
	return send_to_guard(hands, job, attempt, GUARD_PASS, signal, err);
}

int local_limit(struct hands *self, uint32_t job, uint32_t attempt, double cpus, int64_t mem_bytes,
	struct err *err)
{
	struct cgroup_limits limits = { .cpus = cpus, .mem_bytes = mem_bytes };
	struct claim_note note;
	int rc = local_read_claim(local_of(self), job, attempt, &note, err);

	if (rc < 0)
		return rc;
	if (!note.elsewhere)
		cgroup_limit(&note.group, &limits);
	claim_fini(&note);
	return 0;
}

int local_hold_output(struct hands *self, uint32_t job, uint32_t attempt, bool hold, struct err *err)
{
	const struct watched *w = local_find(local_of(self), job, attempt);

	if (!w || w->guard < 0)
		return err_set(err, ERR_MISSING, "attempt %u of job %u has no guard", attempt, job);
	return send_to_guard(local_of(self), job, attempt, GUARD_HOLD, hold, err);
}
