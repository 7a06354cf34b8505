/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the controller may be called: at its pace, and not while it is away.
 *
 * libslurm tries a connection again each second until the time-out, and ends the program where
 * there is no configuration.  So the first is asked in a child that may end, and before a call
 * after some silence a ping, which does not wait, tells whether anybody is there.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"

#define PAUSE_FIRST_S 0.1
#define PAUSE_LAST_S 5.0
#define SILENCE_S 1.0 /* after which one asks first */
#define FATAL_MAX 300

static struct {
	double rate;
	int timeout_s;
	bool begun;      /* libslurm has read its configuration */
	double tokens;   /* calls that may be made now */
	double filled_s; /* when tokens were last counted */
	double pause_s;  /* 0 while all is well */
	double until_s;  /* end of the present pause */
	double heard_s;  /* when it last answered */
} self;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void controller_init(double rate, int timeout_s)
{
	self.rate = rate;
	self.timeout_s = timeout_s;
	self.filled_s = now_s();
	self.heard_s = -1e9;
}

/* A tenth of a second's calls may be made at once; with what is refilled meanwhile no second has more
 * than the rate. */
static void take_turn(void)
{
	double most = self.rate / 10 > 1 ? self.rate / 10 : 1;
	double refill = self.rate > most ? self.rate - most : self.rate;
	double now = now_s();

	self.tokens += (now - self.filled_s) * refill;
	self.filled_s = now;
	if (self.tokens > most)
		self.tokens = most;
	self.tokens -= 1;
	if (self.tokens >= 0)
		return;
	double wait = -self.tokens / refill;
	struct timespec t = { (time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9) };
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static void pause_more(void)
{
	self.pause_s = self.pause_s > 0 ? self.pause_s * 2 : PAUSE_FIRST_S;
	if (self.pause_s > PAUSE_LAST_S)
		self.pause_s = PAUSE_LAST_S;
	self.until_s = now_s() + self.pause_s;
}

static void heard(void)
{
	self.pause_s = 0;
	self.heard_s = now_s();
}

/* What a child that reads the configuration has to say before it ends; true if it does not end. */
static bool try_config(char said[FATAL_MAX])
{
	int pipes[2], status = 0;
	size_t n = 0;
	ssize_t got;
	char rest[256];

	said[0] = 0;
	if (pipe(pipes) < 0)
		return true;
	pid_t child = fork();
	if (child == 0) {
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		alarm((unsigned)self.timeout_s);
		slurm_init(NULL);
		slurm_ping(0);
		_exit(0);
	}
	close(pipes[1]);
	while ((got = read(pipes[0], n < FATAL_MAX - 1 ? said + n : rest,
			n < FATAL_MAX - 1 ? FATAL_MAX - 1 - n : sizeof(rest))) > 0) {
		if (n < FATAL_MAX - 1)
			n += (size_t)got;
	}
	said[n] = 0;
	close(pipes[0]);
	if (child > 0)
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
	return !WIFEXITED(status) || WEXITSTATUS(status) == 0;
}

static bool begin(struct failure *f)
{
	char said[FATAL_MAX];

	if (self.begun)
		return true;
	if (!try_config(said)) {
		said[strcspn(said, "\n")] = 0;
		pause_more();
		return fail(f, "unreachable", 0,
			"libslurm cannot begin (%s): is there a slurm.conf? SLURM_CONF says where",
			said);
	}
	/* Lists of an array's tasks in full. */
	setenv("SLURM_BITSTR_LEN", "0", 1);
	slurm_init(NULL);
	unlisted_set_timeout(self.timeout_s);
	self.begun = true;
	return true;
}

/* A failure that says the controller is away begins a pause. */
static bool failed(int code, struct failure *f)
{
	fail_slurm(f, code);
	if (!strcmp(f->kind, "unreachable") || !strcmp(f->kind, "timeout"))
		pause_more();
	else if (strcmp(f->kind, "auth"))
		heard();
	return false;
}

bool controller_ping(struct failure *f)
{
	take_turn();
	if (slurm_ping(0) == SLURM_SUCCESS) {
		heard();
		return true;
	}
	failed(slurm_get_errno(), f);
	/* Nothing was asked of it yet, so nothing can have been done. */
	if (!strcmp(f->kind, "timeout") || !strcmp(f->kind, "refused"))
		f->kind = "unreachable";
	return false;
}

bool controller_ready(struct failure *f)
{
	double now = now_s();

	if (self.pause_s > 0 && now < self.until_s)
		return fail(f, "unreachable", SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR,
			"the controller was away a moment ago; it is asked again in %.1f s",
			self.until_s - now);
	if (!begin(f))
		return false;
	if (now - self.heard_s > SILENCE_S && !controller_ping(f))
		return false;
	take_turn();
	return true;
}

bool controller_result(int rc, struct failure *f)
{
	if (rc == SLURM_SUCCESS) {
		heard();
		return true;
	}
	return failed(rc > 0 ? rc : slurm_get_errno(), f);
}
