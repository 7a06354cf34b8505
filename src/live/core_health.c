/*
 * Devices that are drained, and those on which jobs fail: what the core remembers
 * of them, and what it makes of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "live/core_state.h"

enum { QUICK_S = 300 }; /* who fails later has shown that the device worked for a while */

static const char *node_name(const struct core *c, uint32_t node)
{
	return c->cluster->nodes[node].name;
}

/* The engine is told all of a node at once, and the record all there is to know. */
static void tell_node(struct core *c, uint32_t node)
{
	core_tell(c,
		(struct event){
			.kind = EV_DEVICES_DRAINED,
			.job = JOB_NONE,
			.node = node,
			.devices = health_drained(&c->health, node),
		},
		NULL);
}

void core_tell_drained(struct core *c)
{
	for (uint32_t node = 0; node < c->cluster->nnodes; node++) {
		if (health_drained(&c->health, node))
			tell_node(c, node);
	}
}

/* The whole of it, so that the last one in the record is enough to go on. */
static void note_health(struct core *c)
{
	struct buf body = { 0 };
	struct json j;

	health_trim(&c->health);
	json_init(&j, &body, false);
	json_begin_object(&j, NULL);
	health_to_json(&c->health, "health", &j);
	json_end(&j, '}');
	core_note(c, NOTE_HEALTH, 0, 0, body.at);
	buf_fini(&body);
}

static void note_devices(struct core *c, enum note_kind kind, uint32_t node, uint64_t devices,
	const char *text)
{
	struct buf body = { 0 };
	struct json j;

	json_init(&j, &body, false);
	json_begin_object(&j, NULL);
	json_str(&j, "name", node_name(c, node));
	json_int(&j, "node", node);
	json_int(&j, "devices", (int64_t)devices);
	json_str(&j, "text", text);
	json_end(&j, '}');
	core_note(c, kind, 0, 0, body.at);
	buf_fini(&body);
}

/* ---- draining */

static void drain(struct core *c, uint32_t node, uint64_t devices, const char *why, bool by_itself)
{
	for (uint64_t left = devices; left; left &= left - 1) {
		struct health_device *d = health_at(&c->health, node, (uint32_t)__builtin_ctzll(left));

		free(d->drained);
		d->drained = mem_strdup(why);
		d->by_itself = by_itself;
		d->since_s = c->now_s;
	}
	tell_node(c, node);
	note_devices(c, NOTE_DRAINED, node, devices, why);
}

/* The node and the devices that an input names. */
static int read_devices(const struct core *c, const json_t *body, uint32_t *node, uint64_t *devices,
	struct err *err)
{
	int64_t number = member_int(body, "node", -1);

	if (number < 0 || number >= c->cluster->nnodes)
		return err_set(err, ERR_FORMAT, "node %ld is not here", (long)number);
	*node = (uint32_t)number;
	*devices = (uint64_t)member_int(body, "devices", 0) & node_all(&c->cluster->nodes[*node]);
	return *devices ? 0 : err_set(err, ERR_FORMAT, "no device of node %u is named", *node);
}

int core_drain(struct core *c, const json_t *body, struct err *err)
{
	const char *why = member_text(body, "reason");
	uint64_t devices;
	uint32_t node;

	if (read_devices(c, body, &node, &devices, err) < 0)
		return err->code;
	drain(c, node, devices, why ? why : "", false);
	note_health(c);
	return 0;
}

/* One that waits and avoided them asks anew; one that runs has no use for it before it waits again. */
static void forgive(struct core *c, uint32_t node, uint64_t devices)
{
	for (size_t i = 0; i < c->jobs.n; i++) {
		struct live_job *job = c->jobs.at[i];

		if (live_ended(job) || !live_job_forgive(job, node, devices))
			continue;
		if (!core_alive(c, job->id) && job->engine_id != JOB_NONE) {
			core_withdraw(c, job);
			core_wait_outside(c, job);
		}
		core_note(c, NOTE_STATE, job->id, 0, NULL);
	}
}

int core_resume(struct core *c, const json_t *body, struct err *err)
{
	uint64_t devices;
	uint32_t node;

	if (read_devices(c, body, &node, &devices, err) < 0)
		return err->code;
	for (uint64_t left = devices; left; left &= left - 1) {
		struct health_device *d = health_at(&c->health, node, (uint32_t)__builtin_ctzll(left));

		free(d->drained);
		d->drained = NULL;
		d->by_itself = false;
		d->failed.n = 0;
	}
	tell_node(c, node);
	note_devices(c, NOTE_RESUMED, node, devices, "");
	forgive(c, node, devices);
	note_health(c);
	return 0;
}

/* ---- failures */

static uint64_t who_of(const struct live_job *job)
{
	uint64_t hash = hash_u64(HASH_START, job->uid);

	/* The record has whole numbers of 64 bits with a sign. */
	return hash_bytes(hash, job->name, strlen(job->name)) & INT64_MAX;
}

static bool lists(const struct health_device *d, uint64_t who)
{
	for (size_t i = 0; i < d->failed.n; i++) {
		if (d->failed.at[i].who == who)
			return true;
	}
	return false;
}

/* Draining itself must not leave the machine without devices: at most half of a type. */
static bool may_drain(const struct core *c, uint32_t type)
{
	uint32_t drained = 0;

	for (uint32_t node = 0; node < c->cluster->nnodes; node++) {
		if (c->cluster->nodes[node].type == type)
			drained += (uint32_t)__builtin_popcountll(health_drained(&c->health, node));
	}
	return (drained + 1) * 2 <= c->cluster->types[type].devices;
}

/* How many of the first `n` that failed there are jobs of the user. */
static size_t count_user(const struct health_device *d, size_t n, uint32_t uid)
{
	size_t jobs = 0;

	for (size_t i = 0; i < n; i++)
		jobs += d->failed.at[i].uid == uid;
	return jobs;
}

/* Once is chance. */
static bool fails_elsewhere(const struct core *c, const struct health_device *here, uint32_t uid)
{
	size_t jobs = 0;

	for (size_t i = 0; i < c->health.devices.n; i++) {
		const struct health_device *d = &c->health.devices.at[i];

		if (d != here)
			jobs += count_user(d, d->failed.n, uid);
	}
	return jobs > 1;
}

/*
 * Whether it is rather the device than the jobs.  Names cost nothing, so that of a user whose jobs fail on
 * several devices nothing is learnt, and where there are many users one alone proves nothing.
 */
static bool is_at_fault(const struct core *c, const struct health_device *d)
{
	int32_t jobs = 0, users = 0;

	for (size_t i = 0; i < d->failed.n; i++) {
		uint32_t uid = d->failed.at[i].uid;

		if (c->care.drain_users && fails_elsewhere(c, d, uid))
			continue;
		jobs++;
		users += !count_user(d, i, uid);
	}
	return jobs >= c->care.drain_after && users >= c->care.drain_users;
}

static void drain_failing(struct core *c, const struct health_device *d)
{
	uint32_t node = d->node;
	uint64_t device = UINT64_C(1) << d->device;
	struct buf why = { 0 };

	if (d->drained || !is_at_fault(c, d) || !may_drain(c, c->cluster->nodes[node].type))
		return;
	buf_printf(&why, "%zu different jobs failed here in a row", d->failed.n);
	drain(c, node, device, why.at, true);
	buf_fini(&why);
}

/* One that fails elsewhere too is to blame itself. */
static bool acquit_devices(struct core *c, uint64_t who)
{
	bool changed = false;

	for (size_t i = 0; i < c->health.devices.n; i++) {
		struct health_device *d = &c->health.devices.at[i];
		size_t kept = 0;

		for (size_t k = 0; k < d->failed.n; k++) {
			if (d->failed.at[k].who != who)
				d->failed.at[kept++] = d->failed.at[k];
		}
		changed |= kept < d->failed.n;
		d->failed.n = kept;
	}
	return changed;
}

/* As many as are ever asked for: a device that may not be drained would list all that come. */
static void keep_last(const struct care *care, struct health_device *d)
{
	size_t most = (size_t)(care->drain_after > care->drain_users ? care->drain_after
								     : care->drain_users);
	size_t over = d->failed.n > most ? d->failed.n - most : 0;

	d->failed.n -= over;
	memmove(d->failed.at, d->failed.at + over, d->failed.n * sizeof(*d->failed.at));
}

/* Only one device can be told to be at fault, so those of a gang are not. */
static bool blame_device(struct core *c, const struct live_job *job, const struct grant *grant)
{
	struct health_failure failure = { job->id, who_of(job),
		c->care.drain_users ? job->uid : HEALTH_NOBODY };
	struct health_device *d;

	if (grant->gpus > 1 || !c->care.drain_after)
		return false;
	if (live_job_failed_places(job) > 1)
		return acquit_devices(c, failure.who);
	d = health_at(&c->health, grant->slots[0].node,
		(uint32_t)__builtin_ctzll(grant->slots[0].devices));
	if (lists(d, failure.who))
		return false;
	vec_push(&d->failed, failure);
	keep_last(&c->care, d);
	drain_failing(c, d);
	return true;
}

static bool clear_devices(struct core *c, const struct grant *grant)
{
	bool changed = false;

	for (size_t i = 0; i < c->health.devices.n; i++) {
		struct health_device *d = &c->health.devices.at[i];

		for (uint32_t k = 0; k < grant->nslots; k++) {
			if (grant->slots[k].node != d->node ||
				!(grant->slots[k].devices >> d->device & 1))
				continue;
			changed |= d->failed.n > 0;
			d->failed.n = 0;
		}
	}
	return changed;
}

bool core_judge_devices(struct core *c, struct live_job *job, const struct attempt *a, bool failed,
	double ran_s)
{
	bool changed = false, avoids = false;

	if (!failed) {
		changed = clear_devices(c, a->grant);
	} else if (ran_s < QUICK_S) {
		avoids = live_job_fail_on(job, a->grant, c->care.avoid_after);
		changed = blame_device(c, job, a->grant);
	}
	if (changed)
		note_health(c);
	return avoids;
}

const struct health *core_health(const struct core *c)
{
	return &c->health;
}

const struct care *core_care(const struct core *c)
{
	return &c->care;
}
