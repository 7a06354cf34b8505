#include "daemon/launch_retry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "daemon/daemon_state.h"
#include "daemon/reasons.h"

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

static bool is_ending(const struct daemon *d, uint32_t number)
{
	const struct live_job *job = core_job(d->core, number);

	return job && job->state == LIVE_COMPLETING;
}

/* In the log once for each reason; a launch that fails for days writes no more than that. */
static void say_failed(struct daemon *d, const struct failed_launch *f, bool is_news)
{
	log_at(d->log, is_news ? LEVEL_WARNING : LEVEL_DEBUG,
		"job %u, attempt %u could not be %s (%s): trying again, with pauses of up to %.0f s",
		f->job, f->attempt, is_ending(d, f->job) ? "ended" : "launched", f->why,
		longest_pause_s);
}

static void put_reason(const struct daemon *d, const struct failed_launch *f, const char *next,
	struct buf *text)
{
	if (is_ending(d, f->job))
		buf_printf(text, "cannot be ended: %s; %s; mend the cause", f->why, next);
	else
		buf_printf(text,
			"cannot be launched: %s; %s; mend the cause, or end the job with: stint cancel %u",
			f->why, next, f->job);
}

/* For 'stint history': without the moment of the next try, which soon is past. */
static void keep_reason(struct daemon *d, const struct failed_launch *f)
{
	struct buf text = { 0 };

	put_reason(d, f, "tried again until it works", &text);
	if (!d->reasons)
		d->reasons = reasons_create();
	reasons_keep(d->reasons, f->job, daemon_now_s(d), LAUNCH_REASON, text.at);
	buf_fini(&text);
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
	if (is_news)
		keep_reason(d, f);
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

const char *launch_reason(const struct daemon *d, const struct live_job *job, struct buf *text)
{
	const struct failed_launch *f = launch_trouble(d, job->id);
	char time[32], next[64];

	if (!f)
		return NULL;
	snprintf(next, sizeof(next), "next try in %s",
		text_duration(ceil(fmax(1, f->due_s - clock_wall_s())), time));
	put_reason(d, f, next, text);
	return LAUNCH_REASON;
}
