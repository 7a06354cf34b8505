/*
 * Epochs: what is alive goes from one core to the next by its status, whether
 * the daemon was restarted or the rules changed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/daemon_state.h"
#include "daemon/reports.h"
#include "model/quota.h"
#include "placement/placer.h"

/* A core that takes over what the record has. */
struct taking {
	struct daemon *d;
	struct core *core;
	struct err *err;
	char state[32];
	uint32_t jobs, attempts;
};

static int see_state(void *ctx, const struct record_job *job)
{
	struct taking *t = ctx;

	t->state[0] = 0;
	if (!job->live)
		snprintf(t->state, sizeof(t->state), "%s", job->state);
	return 0;
}

static const char *state_of(void *ctx, uint32_t job)
{
	struct taking *t = ctx;
	struct err ignored = { 0 };

	t->state[0] = 0;
	if (record_job(t->d->record, job, see_state, t, &ignored) < 0)
		return "CANCELLED"; /* nobody knows it: it will never end well */
	return t->state[0] ? t->state : NULL;
}

static json_t *read_status(const char *text, struct err *err)
{
	json_error_t where;
	json_t *status = json_loads(text, 0, &where);

	if (!status)
		err_set(err, ERR_FORMAT, "a status in the record is not JSON: %s", where.text);
	return status;
}

static int adopt_job(void *ctx, const struct record_job *job)
{
	struct taking *t = ctx;
	json_t *status = read_status(job->status, t->err);
	int rc;

	if (!status)
		return t->err->code;
	json_object_set_new(status, "submit_seq", json_integer((json_int_t)job->submit_seq));
	if (json_object_get(status, "after"))
		epoch_settle_after(status, state_of, t);
	rc = core_adopt_job(t->core, status, t->err);
	json_decref(status);
	t->jobs++;
	return rc < 0 ? err_prefix(t->err, "job %u", job->id) : 0;
}

/* Devices that are gone since: the attempt is asked to stop, and its job waits for other devices. */
static void give_up(struct daemon *d, const struct record_attempt *attempt, const char *why)
{
	struct holding of = { .job = attempt->job, .attempt = attempt->attempt };
	struct ending ending;
	struct err err = { 0 };
	enum claim claim;

	log_warning(d->log, "job %u, attempt %u cannot be taken over (%s): it is stopped",
		attempt->job, attempt->attempt, why);
	if (hands_claim(d->hands, &of, true, &claim, &ending, &err) == 0 && claim == CLAIM_RUNS)
		hands_stop(d->hands, attempt->job, attempt->attempt, false, &err);
}

static int adopt_attempt(void *ctx, const struct record_attempt *attempt)
{
	struct taking *t = ctx;
	json_t *status = read_status(attempt->status, t->err);
	int rc;

	if (!status)
		return t->err->code;
	rc = core_adopt_attempt(t->core, status, t->err);
	json_decref(status);
	if (rc == ERR_FORMAT) {
		give_up(t->d, attempt, t->err->text);
		*t->err = (struct err){ 0 };
		return 0;
	}
	t->attempts += rc == 0;
	return rc;
}

bool daemon_last_epoch(struct daemon *d, struct epoch *out)
{
	struct err ignored = { 0 };
	struct buf text = { 0 };
	json_t *body = NULL;
	bool found;

	if (record_meta(d->record, "epoch", &text))
		body = json_loads(text.at, 0, NULL);
	found = body && epoch_from_json(body, out, &ignored) == 0;
	json_decref(body);
	buf_fini(&text);
	return found;
}

static int open_core(struct daemon *d, struct core **out, struct err *err)
{
	struct core_config config = {
		.cluster = &d->epoch.cluster,
		.rules = d->epoch.rules,
		.tenants = &d->epoch.tenants,
		.hosts = d->epoch.hosts,
		/* What comes later is no longer as in the file. */
		.tenants_file = d->core     ? NULL
			: d->config.tenants ? d->config.tenants
					    : "tenants of the record",
		.hosts_file = d->core ? NULL : d->config.host_profiles,
		.seed = d->epoch.seed,
		.care = d->epoch.care,
		.health = &d->epoch.health,
	};
	struct taking t = { .d = d, .err = err };

	if (core_open(&config, d->last_s, &t.core, err) < 0)
		return err->code;
	if (record_live_jobs(d->record, adopt_job, &t, err) < 0 ||
		record_open_attempts(d->record, adopt_attempt, &t, err) < 0) {
		core_close(t.core);
		return err->code;
	}
	log_info(d->log, "%u job%s and %u attempt%s taken over", t.jobs, t.jobs == 1 ? "" : "s",
		t.attempts, t.attempts == 1 ? "" : "s");
	*out = t.core;
	return 0;
}

static void body_of_epoch(struct daemon *d, const char *why, struct buf *out)
{
	d->epoch.why = why;
	epoch_to_json(&d->epoch, out);
}

/* Apart from its row, so that a restart without options goes on as it was. */
static int keep_epoch(struct daemon *d, const char *why, struct err *err)
{
	struct buf body = { 0 };
	int rc;

	body_of_epoch(d, why, &body);
	rc = record_set_meta(d->record, "epoch", body.at, err);
	buf_fini(&body);
	return rc;
}

static void row_of_epoch(struct daemon *d, const char *why)
{
	struct buf body = { 0 };

	d->epoch_s = d->last_s;
	body_of_epoch(d, why, &body);
	daemon_row(d, "epoch", 0, 0, d->last_s, body.at, false);
	buf_fini(&body);
}

static json_t *body_of_devices(uint32_t node, uint64_t devices, bool up)
{
	return json_pack("{s:I,s:I,s:b}", "node", (json_int_t)node, "devices", (json_int_t)devices,
		"up", up);
}

void daemon_tell_devices(struct daemon *d, uint32_t node, uint64_t devices, bool up)
{
	struct news news = { .kind = "devices", .body = body_of_devices(node, devices, up) };

	vec_push(&d->news, news);
}

/* Devices that are down are news to every new core, before it decides anything. */
static void apply_down(struct daemon *d, uint32_t node, uint64_t down)
{
	json_t *body = body_of_devices(node, down, false);
	char *text = json_dumps(body, JSON_COMPACT);
	struct err err = { 0 };

	if (core_apply(d->core, "devices", 0, 0, d->last_s, body, &err) == 0)
		daemon_row(d, "devices", 0, 0, d->last_s, text, false);
	else
		log_error(d->log, "devices of node %u: %s", node, err.text);
	free(text);
	json_decref(body);
}

static void tell_down(struct daemon *d)
{
	const struct cluster *cluster = &d->epoch.cluster;

	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		uint64_t down = 0;

		for (uint32_t i = 0; i < cluster->nodes[node].devices; i++) {
			uint32_t device = d->device_of[node * NODE_DEVICES_MAX + i];

			if (!d->machine.devices[device].up)
				down |= UINT64_C(1) << i;
		}
		if (down)
			apply_down(d, node, down);
	}
}

static void tell_quotas(struct daemon *d, const struct engine_config *rules)
{
	bool stated = quota_is_set(&d->epoch.tenants);

	if (stated && !rules->admission.rule->quotas && !(rules->policy.rule->traits & POLICY_QUOTAS))
		log_warning(d->log, "quotas of tenants are not kept: stint policy set --admit quota");
	if (!stated && rules->admission.rule->quotas)
		log_warning(d->log,
			"admission %s has nothing to keep: no tenant has a guarantee or a limit; "
			"stint quota set TENANT --guaranteed N",
			rules->admission.rule->name);
}

static void tell_cells(struct daemon *d, const struct engine_config *rules)
{
	bool stated = tenants_have_cells(&d->epoch.tenants);
	bool kept = placer_keeps_cells(rules->placer.rule);

	if (stated && !kept)
		log_warning(d->log,
			"cells of tenants are not kept by placer %s: stint policy set --placer hived",
			rules->placer.rule->name);
	if (!stated && kept)
		log_warning(d->log,
			"placer %s has nothing to keep: no tenant has cells, and everything is on loan; "
			"stint quota load FILE",
			rules->placer.rule->name);
}

void daemon_tell_promises(struct daemon *d)
{
	struct engine_config rules = { 0 };
	struct err ignored = { 0 };

	if (rules_choose(&d->epoch.rules, &rules, &ignored) == 0) {
		tell_quotas(d, &rules);
		tell_cells(d, &rules);
	}
	rules_release(&rules);
}

int daemon_first_epoch(struct daemon *d, struct err *err)
{
	const char *why = record_last_seq(d->record) == 0 ? "start" : "restart";
	struct err ignored = { 0 };

	if (open_core(d, &d->core, err) < 0)
		return err->code;
	row_of_epoch(d, why);
	keep_epoch(d, why, &ignored); /* if this fails it is said with the row, which waits */
	tell_down(d);
	daemon_tell_promises(d);
	return 0;
}

/*
 * The old core is brought to now and everything alive in it is written down, so that the record has what
 * the new one is made from.
 */
int daemon_new_epoch(struct daemon *d, const char *why, struct err *err)
{
	struct core *next;

	reports_flush(d, 0);
	core_note_all(d->core);
	daemon_take_notes(d);
	if (!daemon_flush(d))
		return err_set(err, ERR_IO, "%s", d->trouble);
	daemon_keep_health(d);
	if (open_core(d, &next, err) < 0)
		return err->code;
	/* Whoever asked for it is told that it is so only if the next daemon will know. */
	if (keep_epoch(d, why, err) < 0) {
		core_close(next);
		return err->code;
	}
	core_close(d->core);
	d->core = next;
	row_of_epoch(d, why);
	tell_down(d);
	return 0;
}
