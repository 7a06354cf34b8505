#include "daemon/launch_retry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/daemon_state.h"

static const double first_pause_s = 0.5, longest_pause_s = 30;

static struct failed_launch *find(const struct daemon *d, uint32_t job, uint32_t attempt)
{
	for (size_t i = 0; i < d->failed_launches.n; i++) {
		struct failed_launch *f = &d->failed_launches.at[i];

		if (f->job == job && f->attempt == attempt)
			return f;
	}
	return NULL;
}

bool launch_is_due(const struct daemon *d, uint32_t job, uint32_t attempt)
{
	const struct failed_launch *f = find(d, job, attempt);

	return !f || clock_wall_s() >= f->due_s;
}

/* In the log once for each reason; a launch that fails for days writes no more than that. */
static void say_failed(struct daemon *d, const struct failed_launch *f, bool is_news)
{
	log_at(d->log, is_news ? LEVEL_WARNING : LEVEL_DEBUG,
		"job %u, attempt %u could not be launched (%s): trying again, with pauses of up to %.0f s",
		f->job, f->attempt, f->why, longest_pause_s);
}

void launch_failed(struct daemon *d, uint32_t job, uint32_t attempt, const char *why)
{
	struct failed_launch *f = find(d, job, attempt);
	bool is_news = !f || strncmp(f->why, why, sizeof(f->why) - 1) != 0;

	if (!f) {
		vec_push(&d->failed_launches, (struct failed_launch){ .job = job, .attempt = attempt });
		f = &d->failed_launches.at[d->failed_launches.n - 1];
	}
	f->tries++;
	f->due_s = clock_wall_s() +
		fmin(ldexp(first_pause_s, (int)fmin(f->tries - 1, 16)), longest_pause_s);
	snprintf(f->why, sizeof(f->why), "%s", why);
	say_failed(d, f, is_news);
}

void launch_settled(struct daemon *d, uint32_t job, uint32_t attempt, bool worked)
{
	struct failed_launch *f = find(d, job, attempt);

	if (f) {
		if (worked)
			log_notice(d->log, "job %u, attempt %u was launched at last, after %u failures",
				job, attempt, f->tries);
		*f = d->failed_launches.at[--d->failed_launches.n];
	}
	for (size_t i = 0; worked && i < d->failed_launches.n; i++)
		d->failed_launches.at[i].due_s = 0;
}

const struct failed_launch *launch_trouble(const struct daemon *d, uint32_t job)
{
	for (size_t i = 0; i < d->failed_launches.n; i++) {
		if (d->failed_launches.at[i].job == job)
			return &d->failed_launches.at[i];
	}
	return NULL;
}
