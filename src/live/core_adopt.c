/*
 * A person says that a process which runs already is an attempt of this record: the attempt gets the devices
 * that the process uses, whatever the policy had given it.
 *
 * The engine is not asked.  It forgets the job here, and knows it on those devices with the next epoch, which
 * the caller begins at once.
 */
#include <stdlib.h>

#include "live/core_state.h"

static int check_devices(const struct core *c, const struct live_job *job,
	const struct grant *grant, struct err *err)
{
	uint32_t least = job_least_on(&job->base, grant->type),
		 most = job_most_on(&job->base, grant->type);

	if (job_is_fraction(&job->base))
		return err_set(err, ERR_REFUSED,
			"job %u has a part of a device, which others may share: it cannot be taken over",
			job->id);
	if (grant->mixed || grant->gpus < least || grant->gpus > most)
		return err_set(err, ERR_REFUSED,
			"what runs has %u devices, and job %u runs on %u to %u of one type",
			grant->gpus, job->id, least, most);
	for (size_t i = 0; i < c->attempts.n; i++) {
		const struct attempt *b = c->attempts.at[i];

		if (b->job != job->id && b->phase != PHASE_OVER &&
			(core_overlap(grant, b->grant) || core_overlap(grant, b->next) ||
				core_overlap(grant, b->wish)))
			return err_set(err, ERR_REFUSED,
				"attempt %u of job %u has one of its devices: cancel it first",
				b->number, b->job);
	}
	return 0;
}

/* The attempt that it is taken for, or NULL where the job would make it next; < 0: neither. */
static int find_place(const struct core *c, const struct live_job *job, uint32_t number,
	struct attempt **out, struct err *err)
{
	struct attempt *a = core_alive(c, job->id);
	char name[LIVE_NAME_SIZE];

	live_name(job, name);
	*out = a;
	if (a && a->number == number && a->stop)
		return err_set(err, ERR_REFUSED, "attempt %u of job %u is about to stop (%s)",
			number, job->id, stop_name(a->stop));
	if (!a && job->held)
		return err_set(err, ERR_REFUSED,
			"job %s is held, and would run: release it first ('stint release %s')",
			name, name);
	if (a ? a->number == number : job->attempt + 1 == number)
		return 0;
	return err_set(err, ERR_REFUSED,
		"attempt %u of job %u is not the one that this record has or would make next (%u)",
		number, job->id, a ? a->number : job->attempt + 1);
}

static void drop_grants(struct attempt *a)
{
	free(a->grant);
	free(a->next);
	free(a->wish);
	a->grant = a->next = a->wish = NULL;
	a->next_told = false;
}

int core_adopted(struct core *c, uint32_t id, uint32_t number, const json_t *body, struct err *err)
{
	struct live_job *job = core_find(c, id);
	struct attempt *a;
	struct grant *grant;

	if (!job || live_ended(job))
		return err_set(err, ERR_MISSING, "job %u has ended, or is not in this record", id);
	if (find_place(c, job, number, &a, err) < 0 ||
		grant_from_json(json_object_get(body, "grant"), c->cluster, &grant, err) < 0)
		return err->code;
	if (check_devices(c, job, grant, err) < 0) {
		free(grant);
		return err->code;
	}
	core_withdraw(c, job);
	if (!a) {
		a = core_new_attempt(c, job, grant, ",\"rule\":\"adopted\"");
		free(grant);
	} else {
		drop_grants(a);
		a->grant = grant;
	}
	if (a->phase == PHASE_WAITING) {
		a->phase = PHASE_LAUNCHED;
		a->launched_s = c->now_s;
	}
	core_restate(c, job);
	core_note(c, NOTE_STATE, id, number, NULL);
	return 0;
}
