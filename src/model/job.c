/*
 * Jobs: where one stands at a moment, and the words for its states.
 */
#include "model/job.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"

void job_init(struct job *job)
{
	memset(job, 0, sizeof(*job));
	job->id = JOB_NONE;
	job->tenant = NAME_NONE;
	job->model = NAME_NONE;
	job->gpus = 1;
	job->weight = 1;
	job->deadline_s = INFINITY;
	job->work_est = NAN;
	job->nominal_rate = 1;
	job->efficiency = 1;
	job->reason.other = JOB_NONE;
	job->start_s = NAN;
	job->finish_s = NAN;
	job->held_s = NAN;
	job->ready_s = NAN;
	job->counted_s = NAN;
	job->turn_end_s = INFINITY;
}

void job_take_belief(struct job *job, const struct job *from)
{
	job->saved = from->saved;
	job->work_est = from->work_est;
	job->nominal_rate = from->nominal_rate;
	if (job->gpus != from->gpus) /* it asks for fewer since they were all that fit */
		job->nominal_rate *= (double)job->gpus / from->gpus;
	job->by_steps = from->by_steps;
	job->stop_loses = from->stop_loses;
	job->start_cost_s = from->start_cost_s;
	job->resume_cost_s = from->resume_cost_s;
	job->regime = from->regime;
}

bool job_met_deadline(const struct job *job)
{
	return job->state == JOB_FINISHED &&
		job->finish_s <= job->deadline_s + 1e-9 * fmax(1, fabs(job->deadline_s));
}

/* Seconds of steps that the totals do not hold yet. */
static double stepping_s(const struct job *job, double now_s)
{
	double from_s = fmax(job->ready_s, job->counted_s);

	if (job->state != JOB_RUNNING || !(now_s > from_s))
		return 0;
	return fmax(0, fmin(now_s, job->turn_end_s) - from_s);
}

double job_done(const struct job *job, double now_s)
{
	double s = stepping_s(job, now_s);

	if (job->state == JOB_RUNNING && now_s >= job->turn_end_s)
		return job->done + job->turn_steps;
	/* A rate that is not known yet (NAN) must not spoil what is. */
	return s > 0 ? job->done + s * job->rate : job->done;
}

double job_ran_s(const struct job *job, double now_s)
{
	return job->ran_s + stepping_s(job, now_s);
}

double job_served_s(const struct job *job, double now_s)
{
	double gpus = job->grant ? (double)job->grant->gpus - job->lent_gpus : job->gpus;

	return job->served_s + gpus * stepping_s(job, now_s);
}

double job_occupied_s(const struct job *job, double now_s)
{
	if (job->state != JOB_RUNNING || !(now_s > job->counted_s))
		return job->occupied_s;
	return job->occupied_s + (now_s - job->counted_s) * (job->grant->gpus - job->lent_gpus);
}

double job_waited_s(const struct job *job, double now_s)
{
	if (job->state != JOB_PENDING || !(now_s > job->wait_since_s))
		return job->waited_s;
	return job->waited_s + (now_s - job->wait_since_s);
}

double job_limit_left_s(const struct job *job, double now_s)
{
	double held_s = job->ran_s + job->overhead_s;

	if (!(job->limit_s > 0))
		return INFINITY;
	if (isfinite(job->counted_s))
		held_s += fmax(0, now_s - job->counted_s);
	return job->limit_s - held_s;
}

double job_at_stake_s(const struct job *job, double now_s)
{
	if (!job->stop_loses || job->state != JOB_RUNNING || !(job->rate > 0))
		return 0;
	return fmax(0, job_done(job, now_s) - job->saved) / job->rate;
}

double job_run_s(const struct job *job)
{
	return job->work_est / job->nominal_rate;
}

double job_remaining_s(const struct job *job, double now_s)
{
	return (job->work_est - job_done(job, now_s)) / job->nominal_rate;
}

const char *job_state_name(enum job_state state)
{
	static const char *const names[] = {
		[JOB_FUTURE] = "future",
		[JOB_HELD] = "held",
		[JOB_PENDING] = "pending",
		[JOB_RUNNING] = "running",
		[JOB_FINISHED] = "finished",
		[JOB_REJECTED] = "rejected",
		[JOB_UNFINISHED] = "unfinished",
		[JOB_WITHDRAWN] = "withdrawn",
	};

	return (unsigned)state <= JOB_WITHDRAWN ? names[state] : "?";
}

uint32_t job_rounded_on(const struct job *job, uint32_t type, uint32_t gpus)
{
	uint32_t unit = job_unit_on(job, type), most = (uint32_t)job->max_gpus / unit * unit;
	uint32_t up = (gpus + unit - 1) / unit * unit;

	if (up > most)
		up = most;
	return up > unit ? up : unit;
}

static const struct {
	const char *name, *meaning;
} whys[WHY_COUNT] = {
	[WHY_NONE] = { "none", "no reason stated" },
	[WHY_NEW] = { "new", "nobody has decided yet" },
	[WHY_BUSY] = { "busy", "too few devices are free" },
	[WHY_FRAGMENTED] = { "fragmented", "enough are free, but scattered" },
	[WHY_BEHIND] = { "behind", "a job ahead does not fit" },
	[WHY_RESERVED] = { "reserved", "would delay a reservation" },
	[WHY_OUTRANKED] = { "outranked", "another job ranks higher" },
	[WHY_SHARE] = { "share", "its tenant is above its fair share" },
	[WHY_ROUND] = { "round", "waits for the next round" },
	[WHY_TURN] = { "turn", "others are owed the devices first" },
	[WHY_ADMISSION] = { "admission", "held back by admission" },
	[WHY_DEPENDENCY] = { "dependency", "another job must end first" },
	[WHY_NODE_LOST] = { "node-lost", "its node failed" },
	[WHY_DOWN] = { "down", "too few nodes are up" },
	[WHY_TOO_LARGE] = { "too-large", "larger than the cluster" },
	[WHY_NO_TYPE] = { "no-type", "no device here is of a type it can run on" },
	[WHY_NO_HOST] = { "no-host", "no node has the CPUs or memory" },
	[WHY_ORPHANED] = { "orphaned", "the job it follows will never finish" },
	[WHY_YIELDED] = { "yielded", "it gave its devices back by itself" },
	[WHY_DEADLINE] = { "deadline", "its deadline cannot be promised" },
	[WHY_RECALLED] = { "recalled", "its node was borrowed and went back" },
	[WHY_DRAINED] = { "drained", "devices are drained" },
	[WHY_AVOIDS] = { "avoids", "it failed on the devices that are free" },
	[WHY_OUTSIDE] = { "outside", "another scheduler has not started it" },
	[WHY_QUOTA] = { "quota", "its tenant's quota has no room for it" },
	[WHY_CELLS] = { "cells", "its tenant's cells are in use" },
	[WHY_CLOSER] = { "closer", "waits for a closer place" },
	[WHY_RECLAIMED] = { "reclaimed", "its devices were borrowed and taken back" },
};

const char *why_name(enum why why)
{
	return (unsigned)why < WHY_COUNT ? whys[why].name : "?";
}

const char *why_meaning(enum why why)
{
	return (unsigned)why < WHY_COUNT ? whys[why].meaning : "?";
}

/* "1.5 h from now"; without a now, "at 2.5 h". */
static const char *moment_text(double at_s, double now_s, char out[48])
{
	char time[32];

	if (isnan(now_s))
		snprintf(out, 48, "at %s", text_duration(at_s, time));
	else
		snprintf(out, 48, "%s from now", text_duration(at_s - now_s, time));
	return out;
}

/* What would make it fit: time, or devices. */
static void deadline_text(const struct reason *reason, double now_s, struct buf *out)
{
	char moment[48];

	buf_str(out,
		reason->need > 0 ? "its deadline cannot be promised beside those promised already"
				 : "its deadline is sooner than it can run even alone");
	if (reason->at_s > 0 && isfinite(reason->at_s) && !(reason->at_s <= now_s))
		buf_printf(out, "; one %s could be", moment_text(reason->at_s, now_s, moment));
	if (reason->need > 0)
		buf_printf(out, "; so could this one with %d device%s throughout, of which %d %s left",
			reason->need, reason->need == 1 ? "" : "s", reason->have,
			reason->have == 1 ? "is" : "are");
}

/* "its tenant has had 130 % of its fair share, that of job 7 70 %": the proof, where it is known. */
static void share_text(const struct reason *reason, const char *other, struct buf *out)
{
	if (!(reason->share > 0)) {
		buf_str(out, "its tenant is above its fair share");
		return;
	}
	buf_printf(out, "its tenant has had %.3g %% of its fair share", 100 * reason->share);
	if (reason->against >= 0 && reason->other != JOB_NONE)
		buf_printf(out, ", that of %s %.2g %%", other, 100 * reason->against);
}

/* "job 7 is owed the devices first, 3 min against 1 min": likewise. */
static void turn_text(const struct reason *reason, const char *other, struct buf *out)
{
	char owed[32], own[32];

	if (reason->other == JOB_NONE) {
		buf_str(out, "others are owed the devices first");
		return;
	}
	buf_printf(out, "%s is owed the devices first", other);
	if (reason->against > 0)
		buf_printf(out, ", %s against %s", text_duration(reason->against, owed),
			text_duration(reason->share, own));
}

/* What it needs, and which limit stands against it: its tenant's (or one above), or what others keep for themselves. */
static void quota_text(const struct reason *reason, struct buf *out)
{
	int need = reason->need, have = reason->have;

	buf_printf(out, "it needs %d device%s and its tenant's quota has room for %d", need,
		need == 1 ? "" : "s", have);
	if (reason->share > 0)
		buf_printf(out, ": %.4g of at most %.4g are in use or asked for", reason->share,
			fmax(0, reason->against));
	else if (reason->against != 0)
		buf_printf(out, ": it can never have more than %.4g", fmax(0, reason->against));
	else
		buf_str(out, ": others keep the rest of what is free for themselves");
}

void reason_text(const struct reason *reason, const char *other, struct buf *out)
{
	reason_text_at(reason, other, NAN, out);
}

void reason_text_at(const struct reason *reason, const char *other, double now_s, struct buf *out)
{
	char time[32], moment[48];
	int need = reason->need, have = reason->have;

	if (!other)
		other = "another job";
	switch (reason->why) {
	case WHY_NONE:
		buf_str(out, "nothing holds it back");
		break;
	case WHY_NEW:
		buf_str(out, "it has just arrived; nobody has decided yet");
		break;
	case WHY_BUSY:
		buf_printf(out, "it needs %d device%s and %d %s free", need, need == 1 ? "" : "s",
			have, have == 1 ? "is" : "are");
		break;
	case WHY_FRAGMENTED:
		buf_printf(out,
			"it needs %d device%s where the placer wants them; %d are free elsewhere",
			need, need == 1 ? "" : "s", have);
		break;
	case WHY_BEHIND:
		buf_printf(out, "%s is ahead of it and does not fit; the queue keeps its order", other);
		break;
	case WHY_RESERVED:
		buf_printf(out, "starting it now would delay the reservation of %s", other);
		break;
	case WHY_OUTRANKED:
		buf_printf(out, "%s ranks higher and holds the devices", other);
		break;
	case WHY_SHARE:
		share_text(reason, other, out);
		break;
	case WHY_ROUND:
		buf_str(out, "it waits for the next round");
		if (reason->at_s > now_s)
			buf_printf(out, ", %s from now", text_duration(reason->at_s - now_s, time));
		break;
	case WHY_TURN:
		turn_text(reason, other, out);
		break;
	case WHY_ADMISSION:
		buf_str(out, "admission holds it back");
		break;
	case WHY_DEPENDENCY:
		buf_printf(out, "%s must end first", other);
		break;
	case WHY_NODE_LOST:
		buf_str(out, "its node failed; it waits for devices to start again");
		break;
	case WHY_DOWN:
		buf_printf(out, "it needs %d device%s and only %d %s on nodes that are up", need,
			need == 1 ? "" : "s", have, have == 1 ? "is" : "are");
		break;
	case WHY_TOO_LARGE:
		buf_printf(out, "it needs %d device%s and the cluster can never give more than %d",
			need, need == 1 ? "" : "s", have);
		break;
	case WHY_NO_TYPE:
		buf_str(out, "no device of the cluster is of a type it can run on");
		break;
	case WHY_NO_HOST:
		buf_str(out, "no nodes have the CPUs and memory it needs where the placer wants it");
		break;
	case WHY_DEADLINE:
		deadline_text(reason, now_s, out);
		break;
	case WHY_RECALLED:
		buf_str(out, "its node was borrowed and went back; it waits for devices to go on");
		break;
	case WHY_DRAINED:
		buf_printf(out, "it needs %d device%s and only %d %s up and not drained", need,
			need == 1 ? "" : "s", have, have == 1 ? "is" : "are");
		break;
	case WHY_AVOIDS:
		buf_printf(out, "it needs %d device%s other than those free, on which it failed",
			need, need == 1 ? "" : "s");
		break;
	case WHY_OUTSIDE:
		buf_str(out, "another scheduler has not started it");
		break;
	case WHY_QUOTA:
		quota_text(reason, out);
		break;
	case WHY_CELLS:
		buf_printf(out, "it needs %d device%s of its tenant's cells, where %d %s left",
			need, need == 1 ? "" : "s", have, have == 1 ? "is" : "are");
		break;
	case WHY_CLOSER:
		buf_str(out, "it waits for devices that lie closer together");
		if (reason->at_s > 0 && isfinite(reason->at_s))
			buf_printf(out, ", and takes others %s",
				moment_text(reason->at_s, now_s, moment));
		break;
	case WHY_RECLAIMED:
		if (reason->share > 0 && reason->share <= reason->against)
			buf_printf(out,
				"its tenant has a right to %.4g device%s of any type; %s had one to those it had",
				reason->against, reason->against == 1 ? "" : "s", other);
		else if (reason->share > 0)
			buf_printf(out,
				"its tenant had %.4g device%s and is guaranteed %.4g; %s had a right to what it had borrowed",
				reason->share, reason->share == 1 ? "" : "s", reason->against, other);
		else
			buf_printf(out, "its devices were borrowed; %s had a right to them", other);
		break;
	case WHY_YIELDED:
		buf_str(out, "it gave its devices back and waits to go on");
		break;
	case WHY_ORPHANED:
		buf_printf(out, "%s, which it follows, will never finish", other);
		break;
	case WHY_COUNT:
		break;
	}
}
