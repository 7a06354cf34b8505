/*
 * Attempts of other records that run here: showing them, ending them, and taking them over where the
 * record has such an attempt itself.
 */
#include "base/log.h"
#include "daemon/verbs_run.h"

static void put_one(const struct foreign_attempt *one, struct json *j)
{
	json_begin_object(j, NULL);
	json_int(j, "job", one->job);
	json_int(j, "attempt", one->attempt);
	if (one->of.id[0]) {
		json_str(j, "record", one->of.id);
		json_int(j, "generation", one->of.generation);
		json_int(j, "seq", (int64_t)one->of.seq);
	}
	json_int(j, "guard", one->guard);
	if (one->uid != (uid_t)-1)
		json_int(j, "uid", one->uid);
	if (one->begun_s > 0)
		json_double(j, "begun", one->begun_s);
	json_str(j, "devices", one->devices);
	json_str(j, "reason",
		one->elsewhere ? "it runs in another state directory, of which this one is a copy"
			: one->of.id[0] ? "another record, or another history of this one, began it"
					: "it was begun before records had ids");
	json_end(j, '}');
}

void verb_foreign(struct daemon *d, struct call *call)
{
	const struct lineage *lineage = record_identity(d->record);
	const struct foreign_attempt *at;
	struct json j;
	size_t n;

	at = hands_foreign(d->hands, &n);
	call_begin(call, &j);
	json_str(&j, "record", lineage->id);
	json_int(&j, "generation", lineage->generation);
	json_begin_array(&j, "attempts");
	for (size_t i = 0; i < n; i++)
		put_one(&at[i], &j);
	json_end(&j, ']');
	json_end(&j, '}');
}

static const char *devices_of_foreign(const struct daemon *d, uint32_t job, uint32_t attempt)
{
	size_t n;
	const struct foreign_attempt *at = hands_foreign(d->hands, &n);

	for (size_t i = 0; i < n; i++) {
		if (at[i].job == job && at[i].attempt == attempt)
			return at[i].devices;
	}
	return NULL;
}

/* The record would count other devices as held than those that the process uses. */
static int same_devices(const struct daemon *d, const struct attempt *a, struct err *err)
{
	const char *runs_on = devices_of_foreign(d, a->job, a->number);
	struct buf given = { 0 };
	int rc = 0;

	buf_str(&given, "");
	daemon_devices(d, a->grant, device_word, &given);
	if (runs_on && strcmp(runs_on, given.at) != 0)
		rc = err_set(err, ERR_REFUSED,
			"attempt %u of job %u runs on %s, and this record has given that attempt %s: other jobs would "
			"run on the same devices; end it with 'stint foreign end %u/%u', and the job starts again",
			a->number, a->job, *runs_on ? runs_on : "no device",
			given.n ? given.at : "none", a->job, a->number);
	buf_fini(&given);
	return rc;
}

static int adopt(struct daemon *d, uint32_t job, uint32_t attempt, struct err *err)
{
	const struct attempt *a = core_attempt(d->core, job, attempt);
	int rc;

	if (!a || a->phase == PHASE_OVER || a->phase == PHASE_WAITING)
		return err_set(err, ERR_REFUSED,
			"this record has no attempt %u of job %u that runs or is about to, so there is nothing that "
			"it could be taken for: let it end, or end it with 'stint foreign end %u/%u'",
			attempt, job, job, attempt);
	rc = same_devices(d, a, err);
	if (rc == 0)
		rc = hands_adopt_foreign(d->hands, job, attempt, err);
	if (rc == 0)
		daemon_errand(d, ERRAND_FIND_OUT, job, attempt);
	return rc;
}

void verb_set_foreign(struct daemon *d, struct call *call)
{
	uint32_t job = (uint32_t)member_int(call->args, "job", 0);
	uint32_t attempt = (uint32_t)member_int(call->args, "attempt", 0);
	const char *what = member_text(call->args, "action");
	struct err err = { 0 };
	struct json j;
	int rc;

	if (what && !strcmp(what, "end"))
		rc = hands_end_foreign(d->hands, job, attempt,
			json_is_true(json_object_get(call->args, "now")), &err);
	else if (what && !strcmp(what, "adopt"))
		rc = adopt(d, job, attempt, &err);
	else
		rc = err_set(&err, ERR_USAGE, "action: end or adopt");
	if (rc < 0) {
		call_fail(call, rc, err.text);
		return;
	}
	log_notice(d->log, "attempt %u of job %u of another record: %s, by user %u", attempt, job,
		!strcmp(what, "end") ? "asked to end" : "taken over", (unsigned)call->caller.uid);
	call_begin(call, &j);
	json_int(&j, "job", job);
	json_int(&j, "attempt", attempt);
	json_str(&j, "action", what);
	json_end(&j, '}');
}
