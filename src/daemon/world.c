/*
 * The world that the daemon runs jobs in: what it tells, and what it has.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/daemon_state.h"
#include "live/local/hands.h"
#include "live/slurm/hands.h"
#include "live/slurm/observer.h"

#define LOCAL_WORLD "this machine"

enum { SITE_DIGITS = 12 };

/* ---- what the hands tell */

/* Begin and end are by one clock, whatever it shows: the run's length is right, and its begin is known. */
static double ended_at_s(const struct daemon *d, const struct ending *e)
{
	const struct attempt *a = core_attempt(d->core, e->job, e->attempt);
	double begun_s;

	if (!a || !(e->begun_s > 0))
		return daemon_told_s(d, a, e->ended_s);
	begun_s = isnan(a->begun_s) ? daemon_told_s(d, a, e->begun_s) : a->begun_s;
	return begun_s + fmax(0, e->ended_s - e->begun_s);
}

static void news_of_ending(struct daemon *d, const struct ending *e)
{
	json_t *body = json_pack("{s:b,s:i,s:i,s:b,s:b,s:f,s:f,s:f,s:I}", "known", e->known, "code",
		e->code, "signal", e->signal, "asked", e->asked, "timed_out", e->timed_out, "begun",
		e->begun_s, "ended", e->ended_s, "cpu_s", e->cpu_s, "rss_bytes",
		(json_int_t)e->rss_bytes);
	struct news news = { .kind = "exit", .job = e->job, .attempt = e->attempt, .body = body };

	/* By the guard's clock: we may hear of it much later. */
	if (e->known && e->begun_s > 0)
		json_object_set_new(body, "ran_s", json_real(fmax(0, e->ended_s - e->begun_s)));
	else
		json_object_set_new(body, "ran_s", json_real(0));
	if (e->known && e->ended_s > 0)
		json_object_set_new(body, "ended_at_s", json_real(ended_at_s(d, e)));
	if (e->known && e->asked_s > 0)
		json_object_set_new(body, "grace_s", json_real(fmax(0, e->ended_s - e->asked_s)));
	if (e->bounced)
		json_object_set_new(body, "bounced", json_true());
	if (e->over_memory)
		json_object_set_new(body, "over_memory", json_true());
	if (e->node_failed)
		json_object_set_new(body, "node_failed", json_true());
	if (e->text[0])
		json_object_set_new(body, "text", json_string(e->text));
	else if (!e->known)
		json_object_set_new(body, "text",
			json_string("its guard is gone and left no word (reboot, or killed)"));
	else if (e->timed_out)
		json_object_set_new(body, "text", json_string(ENDING_TIME_OVER));
	vec_push(&d->news, news);
}

/* Attempts that ended so fast that their begin was never told, began all the same. */
void daemon_hands_begun(void *ctx, uint32_t job, uint32_t attempt, double at_s)
{
	struct daemon *d = ctx;
	struct news news = {
		.kind = "begun",
		.job = job,
		.attempt = attempt,
		.body = json_pack("{s:f,s:f}", "at", at_s, "at_s",
			daemon_told_s(d, core_attempt(d->core, job, attempt), at_s)),
	};

	vec_push(&d->news, news);
}

void daemon_hands_ended(void *ctx, const struct ending *ending)
{
	struct daemon *d = ctx;
	const struct attempt *a = core_attempt(d->core, ending->job, ending->attempt);

	if (a && a->phase == PHASE_LAUNCHED && ending->begun_s > 0)
		daemon_hands_begun(d, ending->job, ending->attempt, ending->begun_s);
	news_of_ending(d, ending);
}

/* Somebody submitted outside: the same way as if they had asked us, under the key by which the world knows it. */
struct newcomer {
	struct daemon *d;
	char *key;
};

static void answer_newcomer(void *ctx, int status, struct buf *body)
{
	struct newcomer *n = ctx;
	json_t *answer = json_loads(body->at ? body->at : "{}", 0, NULL);
	const json_t *job = json_array_get(json_object_get(answer, "jobs"), 0);
	const char *why = member_text(answer, "detail");

	/* What cannot be written down now is told again. */
	if (status < 400)
		hands_taken(n->d->hands, n->key, (uint32_t)member_int(job, "id", 0), NULL);
	else if (status < 500)
		hands_taken(n->d->hands, n->key, 0, why ? why : "it was refused");
	json_decref(answer);
	buf_fini(body);
	free(n->key);
	free(n);
}

static void hands_arrived(void *ctx, const struct arrival *a)
{
	struct daemon *d = ctx;
	struct caller caller = { .uid = a->uid, .gid = a->gid, .admin = true, .outside = true };
	struct newcomer *n = mem_alloc(sizeof(*n));
	json_t *args = json_deep_copy(a->submission);

	*n = (struct newcomer){ d, mem_strdup(a->key) };
	json_object_set_new(args, "key", json_string(a->key));
	if (a->at_s > 0)
		json_object_set_new(args, "submitted", json_real(a->at_s));
	if (a->tenant)
		json_object_set_new(args, "tenant", json_string(a->tenant));
	daemon_call(d, verb_find("submit"), &caller, args, answer_newcomer, n);
}

static void hands_told(void *ctx, const char *input, uint32_t job, json_t *body)
{
	struct daemon *d = ctx;
	struct news news = { .kind = input, .job = job, .body = body };

	vec_push(&d->news, news);
}

static void hands_changed(void *ctx)
{
	struct daemon *d = ctx;

	d->looked_s = -INFINITY;
}

static void hands_say(void *ctx, int level, const char *text)
{
	struct daemon *d = ctx;

	log_at(d->log, (enum log_level)level, "%s", text);
}

/*
 * The beginning of the record's id, in the keys of jobs that are submitted elsewhere: jobs of another record are
 * never taken for ours.  Records from before there were ids have a random word of their own.
 */
static int find_site(struct daemon *d, struct buf *out, struct err *err)
{
	if (record_meta(d->record, "site", out))
		return 0;
	buf_add(out, record_identity(d->record)->id, SITE_DIGITS);
	return record_set_meta(d->record, "site", out->at, err);
}

/* What one world began another cannot go on with. */
static int check_world(struct daemon *d, const char *world, struct err *err)
{
	struct buf before = { 0 };
	bool known = record_meta(d->record, "world", &before);
	int rc = 0;

	if (!known && record_last_seq(d->record) > 0)
		buf_str(&before, LOCAL_WORLD); /* records of older daemons say nothing */
	if (before.n && strcmp(before.at, world) != 0)
		rc = err_set(err, ERR_REFUSED,
			"%s has the record of a daemon for %s, and this one is for %s: choose another directory with --state",
			d->config.state_dir, before.at, world);
	buf_fini(&before);
	return rc;
}

static int open_local(struct daemon *d, const struct hands_config *config, struct err *err)
{
	struct local_options local = {
		.guard = d->config.guard,
		.cgroups = d->config.cgroups,
		.machine = d->config.machine,
	};

	if (check_world(d, LOCAL_WORLD, err) < 0 || local_hands_open(config, &local, &d->hands, err) < 0)
		return err->code;
	return record_set_meta(d->record, "world", LOCAL_WORLD, err);
}

static int open_slurm(struct daemon *d, const struct hands_config *config, struct err *err)
{
	struct slurm_options options = *d->config.slurm;
	struct buf site = { 0 };
	const char *world = d->config.observe ? "Slurm, looking on" : "Slurm";
	int rc = check_world(d, world, err);

	if (rc == 0)
		rc = find_site(d, &site, err);
	options.site = site.at;
	if (rc == 0)
		rc = d->config.observe ? slurm_observer_open(config, &options, &d->hands, err)
				       : slurm_hands_open(config, &options, &d->hands, err);
	if (rc == 0)
		rc = record_set_meta(d->record, "world", world, err);
	buf_fini(&site);
	return rc;
}

int daemon_open_hands(struct daemon *d, struct err *err)
{
	struct hands_config config = {
		.state_dir = d->config.state_dir,
		.ctx = d,
		.launched = daemon_hands_launched,
		.begun = daemon_hands_begun,
		.ended = daemon_hands_ended,
		.arrived = hands_arrived,
		.told = hands_told,
		.changed = hands_changed,
		.say = hands_say,
	};
	struct buf foreign = { 0 };
	int rc;

	daemon_tell_identity(d, &config, &foreign);
	rc = d->config.slurm ? open_slurm(d, &config, err) : open_local(d, &config, err);
	buf_fini(&foreign);
	return rc;
}

/* ---- devices */

uint32_t daemon_places(const struct daemon *d, const struct grant *grant, uint32_t *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		for (uint64_t left = grant->slots[i].devices; left; left &= left - 1)
			out[n++] = d->device_of[grant->slots[i].node * NODE_DEVICES_MAX +
				(uint32_t)__builtin_ctzll(left)];
	}
	return n;
}

/* Of a node, the devices whose `up` is another than before, those that are up now or those that are not. */
static uint64_t changed_on(const struct daemon *d, uint32_t node, const bool *before, bool up)
{
	uint64_t devices = 0;

	for (uint32_t bit = 0; bit < d->epoch.cluster.nodes[node].devices; bit++) {
		uint32_t at = d->device_of[node * NODE_DEVICES_MAX + bit];

		if (d->machine.devices[at].up == up && before[at] != up)
			devices |= UINT64_C(1) << bit;
	}
	return devices;
}

/* That others use devices of a cluster is nothing to worry about. */
static void tell_change(struct daemon *d, uint32_t node, uint64_t devices, bool up)
{
	uint32_t first = d->device_of[node * NODE_DEVICES_MAX + (uint32_t)__builtin_ctzll(devices)];
	const struct machine_device *device = &d->machine.devices[first];
	int n = __builtin_popcountll(devices);
	bool usual = up ? d->machine.nhosts > 0 : !strncmp(device->why, "used by", 7);

	if (n == 1)
		log_at(d->log, usual ? LEVEL_INFO : LEVEL_WARNING, "device %d (%s) is %s%s%s",
			device->index, device->uuid, up ? "back" : "gone",
			device->why[0] ? ": " : "", device->why);
	else
		log_at(d->log, usual ? LEVEL_INFO : LEVEL_WARNING, "%d devices of %s are %s%s%s", n,
			d->epoch.cluster.nodes[node].name, up ? "back" : "gone",
			device->why[0] ? ": " : "", device->why);
	daemon_tell_devices(d, node, devices, up);
}

void daemon_look_at_machine(struct daemon *d)
{
	const struct cluster *cluster = &d->epoch.cluster;
	bool *before;

	if (clock_wall_s() < d->looked_s + DAEMON_LOOK_S)
		return;
	d->looked_s = clock_wall_s();
	before = mem_alloc(d->machine.ndevices + 1u);
	for (uint32_t i = 0; i < d->machine.ndevices; i++)
		before[i] = d->machine.devices[i].up;
	if (hands_refresh(d->hands, &d->machine) & MACHINE_UP) {
		for (uint32_t node = 0; node < cluster->nnodes; node++) {
			uint64_t gone = changed_on(d, node, before, false);
			uint64_t back = changed_on(d, node, before, true);

			if (gone)
				tell_change(d, node, gone, false);
			if (back)
				tell_change(d, node, back, true);
		}
	}
	free(before);
}
