/*
 * The wall clock.
 *
 * Record time goes by CLOCK_BOOTTIME and never back.  Wall time is record time plus an offset that is read in every
 * cycle, at the latest every DAEMON_LOOK_S, and at once where the kernel tells of a clock that was set.  An offset that
 * has changed is an input of the core, which moves the deadlines and begins that users gave as wall time.
 *
 * After a boot only the wall clock says how long the machine was off, and it may be years ahead.  Record time then goes
 * on by a day at most, so that a wrong clock neither prunes the record nor lets all use fade; the rest is a change of
 * the offset.  Jobs of Slurm run on while this machine is off: there all of it is record time.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/daemon_state.h"

#define CLOCK_STEP_S 1.0  /* smaller changes wait until they add up */
#define CLOCK_GAP_S 0.05  /* two clocks read further apart than this are read again */
#define CLOCK_FAR_S 100e6 /* three years: a timer that never fires by itself */
#define CLOCK_AWAY_S \
	86400. /* at a boot record time goes on by a day at most, whatever the wall clock shows */
#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

double daemon_wall_s(const struct daemon *d, double at_s)
{
	return wallclock_s(&d->clock.wall, at_s);
}

/*
 * A guard's clock is read once and then goes by CLOCK_BOOTTIME, so its moments are in the offset of the launch.
 * Slurm's driver does the same from the daemon's start on.
 */
double daemon_told_s(const struct daemon *d, const struct attempt *a, double wall_s)
{
	double at_s = wall_s -
		(d->config.slurm || !a || isnan(a->launched_s)
				? d->opened_offset_s
				: wallclock_offset_at(&d->clock.wall, a->launched_s));

	if (a && !isnan(a->launched_s))
		at_s = fmax(at_s, a->launched_s);
	return fmin(at_s, fmax(d->last_s, d->clock.boot_s + clock_boot_s()));
}

static void read_boot_id(char *to)
{
	int fd = open(BOOT_ID_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, BOOT_ID_MAX - 1);

	if (fd >= 0)
		close(fd);
	to[n > 0 ? n : 0] = 0;
	to[strcspn(to, " \n")] = 0;
}

int daemon_open_clock(struct daemon *d, struct err *err)
{
	struct buf text = { 0 };
	char boot[BOOT_ID_MAX];
	bool same, booted;
	int rc;

	record_clock_read(d->record, &d->clock);
	read_boot_id(boot);
	same = boot[0] && !strcmp(boot, d->clock.boot);
	booted = boot[0] && d->clock.boot[0] && !same;
	d->clock.boot_s = wallclock_resume(same ? d->clock.boot_s : NAN, d->last_s,
		wallclock_offset(&d->clock.wall), clock_real_s(), clock_boot_s(),
		booted && !d->config.slurm ? CLOCK_AWAY_S : INFINITY);
	snprintf(d->clock.boot, sizeof(d->clock.boot), "%s", boot);
	d->opened_offset_s = d->clock_seen_s = wallclock_offset(&d->clock.wall);
	record_clock_text(&d->clock, &text);
	rc = record_set_meta(d->record, "clock", text.at, err);
	buf_fini(&text);
	return rc;
}

void daemon_arm_clock(struct daemon *d)
{
	struct itimerspec when = { 0 };
	uint64_t count;
	ssize_t n = read(d->clock_fd, &count, sizeof(count));

	/* Armed anew at the start, after a set clock and after it has fired: nothing to read otherwise. */
	if (n < 0 && errno == EAGAIN && d->clock_armed)
		return;
	when.it_value.tv_sec = (time_t)(clock_real_s() + CLOCK_FAR_S);
	d->clock_armed = timerfd_settime(d->clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
				 &when, NULL) == 0;
}

/* Wall time minus record time now; NAN: the machine was too busy to read both clocks at one moment. */
static double offset_now_s(const struct daemon *d)
{
	enum { TRIES = 5 };

	for (int i = 0; i < TRIES; i++) {
		double before_s = clock_boot_s(), real_s = clock_real_s(), after_s = clock_boot_s();

		if (after_s - before_s < CLOCK_GAP_S)
			return real_s - (d->clock.boot_s + before_s);
	}
	return NAN;
}

static void log_change(struct daemon *d, double before_s, double now_s)
{
	double by_s = now_s - before_s;

	if (fabs(now_s - d->clock_seen_s) > CLOCK_STEP_S)
		log_warning(d->log,
			"the machine's clock jumped %s by %.0f s; shown times, deadlines and begin times follow it, time limits do not change",
			by_s > 0 ? "forward" : "back", fabs(by_s));
	else
		log_info(d->log, "the machine's clock has drifted by %.1f s", by_s);
}

/* Deadlines of jobs in the engine are fixed: it begins anew with those that hold now. */
static bool engine_has_deadlines(const struct daemon *d)
{
	size_t n;
	const struct live_job *const *jobs = core_jobs(d->core, &n);

	for (size_t i = 0; i < n; i++) {
		if (isfinite(jobs[i]->deadline_s) && jobs[i]->engine_id != JOB_NONE &&
			!live_ended(jobs[i]))
			return true;
	}
	return false;
}

static void apply_change(struct daemon *d, double before_s, double now_s)
{
	json_t *body = json_pack("{s:f,s:f,s:f}", "offset_s", now_s, "was_s", before_s, "shift_s",
		before_s - now_s);
	char *text = json_dumps(body, JSON_COMPACT);
	struct err err = { 0 };

	if (core_apply(d->core, "clock", 0, 0, d->last_s, body, &err) == 0) {
		daemon_row(d, "clock", 0, 0, d->last_s, text, false);
		wallclock_step(&d->clock.wall, d->last_s, now_s);
		d->clock_moved = true;
		daemon_take_notes(d);
		if (engine_has_deadlines(d) && daemon_new_epoch(d, "clock", &err) < 0)
			log_error(d->log, "deadlines of running jobs do not follow the clock yet: %s",
				err.text);
	} else {
		log_error(d->log, "the clock's jump is not taken: %s", err.text);
	}
	free(text);
	json_decref(body);
}

void daemon_read_clock(struct daemon *d)
{
	double before_s = wallclock_offset(&d->clock.wall), now_s = offset_now_s(d);

	if (isnan(now_s))
		return;
	if (fabs(now_s - before_s) > CLOCK_STEP_S) {
		log_change(d, before_s, now_s);
		apply_change(d, before_s, now_s);
	}
	d->clock_seen_s = now_s;
}
