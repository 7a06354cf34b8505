/*
 * How a job ended, in a few words.
 */
#include <string.h>

#include "live/hands.h"
#include "live/live_job.h"

static bool ran_out_of_memory(const struct live_job *job)
{
	return job->end_text &&
		!strncmp(job->end_text, ENDING_OUT_OF_MEMORY, strlen(ENDING_OUT_OF_MEMORY));
}

/* Whether its text has more than the state says. */
static bool has_text(const struct live_job *job)
{
	return live_ended(job) && job->end_text && *job->end_text &&
		!(job->state == LIVE_TIMEOUT && !strcmp(job->end_text, ENDING_TIME_OVER));
}

/* "signal 9 (KILL)", "exit 3" */
static void put_code(const struct live_job *job, struct buf *out)
{
	if (job->signal > 0)
		buf_printf(out, "signal %d (%s)", job->signal, signal_name(job->signal));
	else if (job->code >= 0)
		buf_printf(out, "exit %d", job->code);
}

void live_job_ending(const struct live_job *job, struct buf *out)
{
	bool says_all = ran_out_of_memory(job);
	size_t before = out->n;
	char limit[32];

	if (job->state == LIVE_FAILED && !says_all)
		put_code(job, out);
	if (job->state == LIVE_TIMEOUT) {
		buf_str(out, "timed out");
		if (job->time_s > 0)
			buf_printf(out, " after %s", text_duration(job->time_s, limit));
	}
	if (job->state == LIVE_PREEMPTED)
		buf_str(out, "preempted, and it must not run again");
	if (job->state == LIVE_NODE_FAIL && !job->end_text)
		buf_str(out, "lost with its machine");
	if (has_text(job))
		buf_printf(out, "%s%s", out->n > before ? ": " : "", job->end_text);
}
