/*
 * When jobs start and end.
 */
#include <math.h>

#include "daemon/forecast_json.h"
#include "daemon/forecaster.h"
#include "daemon/verbs_run.h"

/* Answered with why there is none. */
static bool has_failed(struct daemon *d, struct call *call)
{
	const char *why = forecaster_failed(d);

	if (why)
		call_problem(call, 503, 1, "no forecast: %s", why);
	return why != NULL;
}

/* A job that has ended since the moment was copied is of no interest any more. */
static bool goes_on(const void *daemon, uint32_t number)
{
	const struct live_job *job = core_job(((const struct daemon *)daemon)->core, number);

	return job && !live_ended(job);
}

void verb_forecast(struct daemon *d, struct call *call)
{
	struct track starts, finishes;
	struct json j;

	if (!forecaster_ready(d, call, 0) || has_failed(d, call))
		return;
	starts = forecaster_track(d, true);
	finishes = forecaster_track(d, false);
	call_begin(call, &j);
	json_double(&j, "now", daemon_wall_s(d, daemon_now_s(d)));
	put_track("calibration", &starts, &j);
	put_track("calibration_finish", &finishes, &j);
	/* The members of one object go into another: without its braces. */
	buf_char(&call->body, ',');
	forecast_text_put(forecaster_text(d), goes_on, d, &call->body);
	json_end(&j, '}');
}

/* Of a job that the futures have, or of one that they leave out: `absent`. */
static void put_eta(struct daemon *d, struct call *call, const struct live_job *job,
	const struct forecast_job *said, const struct forecast_absent *absent)
{
	const struct forecast *f = forecaster_last(d);
	struct track track = forecaster_track(d, said->waits);
	bool known = !absent && !said->bounded;
	double zero_s = wallclock_offset(&d->clock.wall) + f->at_s;
	struct buf reason = { 0 };
	uint32_t about;
	struct json j;

	call_begin(call, &j);
	json_int(&j, "job", job->id);
	job_put_array(job, &j);
	json_str(&j, "state", live_state_name(job->state));
	json_str(&j, "why", daemon_reason(d, job, daemon_now_s(d), &reason, &about));
	json_str(&j, "reason", reason.n ? reason.at : NULL);
	buf_fini(&reason);
	json_double(&j, "at", daemon_wall_s(d, daemon_now_s(d)));
	json_double(&j, "computed_at", forecaster_computed_at(d));
	put_futures(f->futures, f->wanted, &j);
	if (said->waits && known)
		put_moments("start", &said->start, zero_s, &j);
	else
		json_str(&j, "start", NULL);
	if (known)
		put_moments("finish", &said->finish, zero_s, &j);
	else
		json_str(&j, "finish", NULL);
	json_double(&j, "never", said->never);
	json_double(&j, "plain_start",
		said->waits && known && isfinite(said->plain_start_s) ? zero_s + said->plain_start_s
								      : NAN);
	if (!known)
		put_bound("not_before", absent ? absent->not_before_s : said->start.p10, zero_s, &j);
	put_extent(f, &j);
	put_track("calibration", &track, &j);
	json_end(&j, '}');
}

void verb_eta(struct daemon *d, struct call *call)
{
	const struct live_job *job;
	const struct forecast_job *said;
	const struct forecast_absent *absent;

	if (!call->job)
		call->job = call_job(d, call, false);
	if (!call->job)
		return;
	job = core_job(d->core, call->job);
	if (!job || live_ended(job)) {
		call_problem(call, 409, 4,
			"job %u has ended; 'stint show %u' says when, 'stint history %u' why",
			call->job, call->job, call->job);
		return;
	}
	if (!forecaster_ready(d, call, call->job) || has_failed(d, call))
		return;
	said = forecast_find(forecaster_last(d), call->job);
	absent = said ? NULL : forecast_find_absent(forecaster_last(d), call->job);
	if (said)
		put_eta(d, call, job, said, NULL);
	else if (absent)
		put_eta(d, call, job,
			&(struct forecast_job){ .number = call->job,
				.waits = true,
				.never = isinf(absent->not_before_s) },
			absent);
	else
		call_problem(call, 503, 1, "job %u is in no forecast yet; ask again", call->job);
}
