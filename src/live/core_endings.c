/*
 * How an attempt ended, and what that means for its job: it is done, it failed,
 * it gave way, or it runs again from what it saved.
 */
#include <math.h>

#include "live/core_state.h"

struct over {
	bool known, timed_out;
	bool bounced;     /* it never began, through no fault of its own */
	bool node_failed; /* its node died under it */
	bool over_memory; /* it was killed for having more than its label */
	double ran_s;
	int code, signal;
	const char *text;
	bool avoids; /* it shall run elsewhere */
};

enum { EXIT_NOT_STARTED = 126, EXIT_NOT_FOUND = 127 };

/* What it says of its devices: nothing if it was asked to stop, or its command is not there. */
static bool judge(struct core *c, struct live_job *job, const struct attempt *a, const struct over *over)
{
	bool fine = over->code == 0 && !over->signal;

	/* The exit code of a shell on a terminal is that of the last thing typed. */
	if (job->pty)
		return false;
	if (!over->known || a->stop || over->timed_out || over->bounced || over->node_failed ||
		over->over_memory || over->code == EXIT_NOT_STARTED || over->code == EXIT_NOT_FOUND)
		return false;
	return core_judge_devices(c, job, a, !fine && over->code != EXIT_CHECKPOINTED, over->ran_s);
}

/* What of its work is safe now that the attempt is over. */
static double safe_work(const struct core *c, struct live_job *job, const struct over *over)
{
	if (over->code == EXIT_CHECKPOINTED) {
		job->base.stop_loses = false;
		job->base.saved = job->base.by_steps ? fmax(job->progress.step, job->base.saved)
						     : job_done(core_engine_job(c, job), c->now_s);
	}
	return job->base.saved;
}

/* Back to the queue with what it saved, or out of it if the engine did not expect this. */
static void run_again(struct core *c, struct live_job *job, const struct over *over)
{
	double safe = safe_work(c, job, over);

	if (job->held) {
		core_stop_attempts(c, job, STOP_HOLD); /* one that was ordered meanwhile */
		core_withdraw(c, job);
	}
	if (job->engine_id == JOB_NONE) {
		job->base.done = safe;
		core_wait_outside(c, job);
	} else if (core_engine_job(c, job)->state == JOB_RUNNING && !core_alive(c, job->id)) {
		core_tell(c, (struct event){ .kind = EV_YIELD, .job = job->engine_id, .value = safe },
			NULL);
	} else {
		core_tell_progress(c, job, safe);
	}
}

/* It saved and left by itself.  One that does so again and again has to wait a little longer each time. */
static void yield(struct core *c, struct live_job *job, const struct over *over)
{
	enum { SHORT_S = 10, DOUBLINGS = 8 };

	job->yields = over->ran_s < SHORT_S ? job->yields + 1 : 1;
	if (job->yields > 1) {
		safe_work(c, job, over);
		core_withdraw(c, job);
		job->begin_s = c->now_s +
			ldexp(1, job->yields - 2 < DOUBLINGS ? (int)job->yields - 2 : DOUBLINGS);
		job->paused = true;
	}
	run_again(c, job, over);
}

static void fail(struct core *c, struct live_job *job, const struct over *over)
{
	bool again = job->failed < (uint32_t)job->retries;

	job->failed++;
	/* What a job avoids is fixed while it is in the engine: it comes in anew. */
	if (again && over->avoids)
		core_withdraw(c, job);
	if (again)
		run_again(c, job, over);
	else
		core_end(c, job, LIVE_FAILED, over->text);
}

/*
 * Its label was too small: once more with the largest, as another demand, so that it comes to the engine anew.
 * Who needs more than that has failed.
 */
static void enlarge(struct core *c, struct live_job *job, const struct over *over)
{
	if (job->base.mem_bytes >= job->mem_most) {
		job->failed++;
		core_end(c, job, LIVE_FAILED, over->text);
		return;
	}
	core_withdraw(c, job); /* which takes over what the engine knew, its demand too */
	job->base.mem_bytes = job->mem_most;
	run_again(c, job, over);
}

/* Machines fail now and then; a job whose guard is lost each time would go on for ever. */
static bool may_be_lost_again(struct live_job *job)
{
	enum { LOST_MAX = 8 };

	return job->lost++ < LOST_MAX;
}

/* What an ending means, by why it was asked to stop and how it went. */
static void conclude(struct core *c, struct live_job *job, enum stop stop, const struct over *over)
{
	bool lost = !over->known || over->node_failed;
	bool fine = !lost && !over->bounced && over->code == 0 && !over->signal;

	if (stop == STOP_CANCEL)
		core_end(c, job, LIVE_CANCELLED, over->text);
	else if (over->bounced)
		run_again(c, job, over);
	else if (fine)
		core_end(c, job, LIVE_COMPLETED, NULL);
	else if (over->timed_out)
		core_end(c, job, LIVE_TIMEOUT, over->text);
	else if (over->over_memory && !stop)
		enlarge(c, job, over);
	else if ((lost || stop == STOP_LOST) && !(job->requeue && may_be_lost_again(job)))
		core_end(c, job, LIVE_NODE_FAIL, over->text);
	else if (((stop == STOP_PREEMPT || stop == STOP_MOVE) && !job->requeue) || (stop && job->pty))
		core_end(c, job, LIVE_PREEMPTED, over->text);
	else if (!stop && over->known && over->code == EXIT_CHECKPOINTED && !job->pty)
		yield(c, job, over);
	else if (stop || lost)
		run_again(c, job, over);
	else
		fail(c, job, over);
}

/* A job that ended by itself before the stop reached it has ended as it did. */
static enum stop stop_that_counts(const struct attempt *a, const struct over *over, bool reached)
{
	bool by_itself = over->known && !reached && !over->timed_out && !over->node_failed &&
		!over->bounced;

	return by_itself && a->stop != STOP_CANCEL && a->stop != STOP_LOST ? STOP_NONE : a->stop;
}

static void learn_grace(struct core *c, struct live_job *job, const struct attempt *a, double took_s)
{
	if (!isnan(a->asked_s))
		job->base.resume_cost_s = fmax(0, isnan(took_s) ? c->now_s - a->asked_s : took_s) +
			(isnan(c->start_cost_s) ? 0 : c->start_cost_s);
}

/* It ended when its guard says so; a daemon that was away hears of it late. */
static void set_back(struct core *c, struct live_job *job, struct attempt *a, double ended_s)
{
	double from_s = isnan(a->begun_s) ? c->now_s : a->begun_s;
	double late_s = c->now_s - fmin(c->now_s, fmax(from_s, ended_s));

	a->over_s = c->now_s - late_s;
	if (!live_ended(job) || late_s == 0)
		return;
	job->end_s = c->now_s - late_s;
	job->base.ran_s = fmax(0, job->base.ran_s - late_s);
	job->base.served_s = fmax(0, job->base.served_s - late_s * a->grant->gpus);
	job->base.occupied_s = fmax(0, job->base.occupied_s - late_s * a->grant->gpus);
	if (!job->base.by_steps)
		job->base.done = fmax(0, job->base.done - late_s * job->base.rate);
}

int core_exit(struct core *c, uint32_t id, uint32_t number, const json_t *body, struct err *err)
{
	struct live_job *job = core_find(c, id);
	struct attempt *a = core_find_attempt(c, id, number);
	struct over over = {
		.known = member_bool(body, "known", false),
		.timed_out = member_bool(body, "timed_out", false),
		.bounced = member_bool(body, "bounced", false),
		.node_failed = member_bool(body, "node_failed", false),
		.over_memory = member_bool(body, "over_memory", false),
		.code = (int)member_int(body, "code", -1),
		.signal = (int)member_int(body, "signal", 0),
		.ran_s = member_number(body, "ran_s", INFINITY),
		.text = member_text(body, "text"),
	};

	if (!job || !a || a->phase == PHASE_OVER || a->phase == PHASE_WAITING)
		return err_set(err, ERR_MISSING, "no attempt %u of job %u is under way", number, id);
	if (!over.text)
		over.text = a->text; /* why it was asked to stop */
	a->code = over.code;
	a->signal = over.signal;
	core_retire(c, a, over.text);
	job->code = over.code;
	job->signal = over.signal;
	/* As its guard measured it: the daemon, or the machine, may have been away in between. */
	if (!isnan(a->begun_s))
		job->used_s += member_number(body, "ran_s", c->now_s - a->begun_s);
	job->begun_s = job->idle_since_s = NAN;
	learn_grace(c, job, a, member_number(body, "grace_s", NAN));
	c->gates_moved = true;
	over.avoids = judge(c, job, a, &over);
	if (!live_ended(job))
		conclude(c, job, stop_that_counts(a, &over, member_bool(body, "asked", true)), &over);
	set_back(c, job, a, member_number(body, "ended_at_s", c->now_s));
	core_restate(c, job);
	if (!live_ended(job))
		core_note(c, NOTE_STATE, id, 0, NULL);
	return 0;
}
