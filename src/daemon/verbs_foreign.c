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

static const struct foreign_attempt *find_foreign(const struct daemon *d, uint32_t job, uint32_t attempt)
{
	size_t n;
	const struct foreign_attempt *at = hands_foreign(d->hands, &n);

	for (size_t i = 0; i < n; i++) {
		if (at[i].job == job && at[i].attempt == attempt)
			return &at[i];
	}
	return NULL;
}

/* ---- taking one over */

/* Its place in the cluster; false: no device has that name. */
static bool place_device(const struct daemon *d, struct slice word, uint32_t *node, uint32_t *device)
{
	const struct cluster *cluster = &d->epoch.cluster;

	for (*node = 0; *node < cluster->nnodes; ++*node) {
		for (*device = 0; *device < cluster->nodes[*node].devices; ++*device) {
			uint32_t at = d->device_of[*node * NODE_DEVICES_MAX + *device];
			const struct machine_device *is = &d->machine.devices[at];

			if (slice_is(word, is->visible) || slice_is(word, is->uuid))
				return true;
		}
	}
	return false;
}

/* Devices as bits, by node; false: one of them is not here, or there are none. */
static bool place_all(const struct daemon *d, const char *devices, uint64_t *of)
{
	struct slice left = slice_of(devices);
	uint32_t node, device;
	bool all = left.n > 0;

	while (all && left.n) {
		all = place_device(d, slice_cut(&left, ','), &node, &device);
		if (all)
			of[node] |= UINT64_C(1) << device;
	}
	return all;
}

/* A grant of what the process uses, and of hosts what the job asked for; NULL: a device is not known. */
static struct grant *grant_of(const struct daemon *d, const char *devices)
{
	const struct cluster *cluster = &d->epoch.cluster;
	uint64_t *of = mem_alloc(mem_array_size(cluster->nnodes + 1u, sizeof(*of)));
	struct grant *grant = NULL;

	if (place_all(d, devices, of)) {
		grant = mem_alloc(
			sizeof(*grant) + mem_array_size(cluster->nnodes, sizeof(grant->slots[0])));
		grant->share = 1;
		for (uint32_t node = 0; node < cluster->nnodes; node++) {
			if (!of[node])
				continue;
			grant->slots[grant->nslots++] = (struct slot){ node, of[node] };
			grant->gpus += (uint32_t)__builtin_popcountll(of[node]);
		}
		grant_set_type(grant, cluster);
	}
	free(of);
	return grant;
}

static bool has_devices(const struct daemon *d, const struct attempt *a, const char *devices)
{
	struct buf given = { 0 };
	bool same;

	buf_str(&given, "");
	daemon_devices(d, a->grant, device_word, &given);
	same = !strcmp(devices, given.at);
	buf_fini(&given);
	return same;
}

static int apply_recorded(struct daemon *d, const char *input, uint32_t job, uint32_t attempt,
	const char *text, struct err *err)
{
	json_t *body = json_loads(text, 0, NULL);
	int rc = core_apply(d->core, input, job, attempt, d->last_s, body, err);

	json_decref(body);
	if (rc < 0)
		return rc;
	daemon_row(d, input, job, attempt, d->last_s, text, false);
	daemon_take_notes(d);
	return daemon_flush(d) ? 0 : err_set(err, ERR_IO, "%s", d->trouble);
}

/* The attempt has the devices that the process uses, in the record, before the process is its own. */
static int give_devices(struct daemon *d, const struct foreign_attempt *one, uid_t by, struct err *err)
{
	struct grant *grant = grant_of(d, one->devices);
	struct buf body = { 0 };
	int rc;

	if (!grant)
		return err_set(err, ERR_REFUSED,
			"attempt %u of job %u runs on %s, which is not known here: let it end, or end it with 'stint "
			"foreign end %u/%u'",
			one->attempt, one->job, one->devices[0] ? one->devices : "no device",
			one->job, one->attempt);
	buf_printf(&body, "{\"by\":%u,\"grant\":", (unsigned)by);
	grant_to_json(grant, &d->epoch.cluster, &body);
	buf_char(&body, '}');
	rc = apply_recorded(d, "adopted", one->job, one->attempt, body.at, err);
	free(grant);
	buf_fini(&body);
	return rc;
}

/* The engine knows the job on its devices with the next epoch, in which they are up. */
static void begin_with_it(struct daemon *d)
{
	struct err err = { 0 };

	hands_refresh(d->hands, &d->machine);
	if (daemon_new_epoch(d, "adopted", &err) == 0)
		return;
	d->epoch_due = true;
	log_warning(d->log, "the core could not be made anew: %s", err.text);
}

static int adopt(struct daemon *d, uint32_t job, uint32_t attempt, uid_t by, struct err *err)
{
	const struct foreign_attempt *one = find_foreign(d, job, attempt);
	const struct attempt *a = core_attempt(d->core, job, attempt);
	bool given = one && !one->elsewhere &&
		!(a && a->phase != PHASE_WAITING && has_devices(d, a, one->devices));
	struct err ignored = { 0 };
	int rc;

	if (given && !core_job(d->core, job))
		return err_set(err, ERR_REFUSED,
			"job %u is not in this record, or has ended in it, so there is no attempt that it could be taken "
			"for: let it end, or end it with 'stint foreign end %u/%u'",
			job, job, attempt);
	rc = given ? give_devices(d, one, by, err) : 0;
	if (rc < 0 && rc != ERR_IO)
		return rc; /* nothing was changed */
	if (rc == 0)
		rc = hands_adopt_foreign(d->hands, job, attempt, err);
	if (rc < 0 && given) /* it stays foreign, and the job goes on when that has ended */
		apply_recorded(d, "requeue", job, 0, "{}", &ignored);
	if (rc < 0)
		return rc;
	if (given)
		begin_with_it(d);
	daemon_errand(d, ERRAND_FIND_OUT, job, attempt);
	return 0;
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
		rc = adopt(d, job, attempt, call->caller.uid, &err);
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
