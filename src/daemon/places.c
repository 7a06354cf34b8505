/*
 * Devices keep their places from one daemon to the next: what runs is known by
 * them, and so is what tenants are promised.
 *
 * A GPU of this machine that the last daemon had and that is not there any more
 * keeps its place and is down, so that a machine with a broken GPU is the same
 * machine: cells and quotas hold, and hide what is broken.  It leaves when somebody
 * says so (stint nodes forget), when another of its type is there instead, when it
 * was split or made whole, or when none of the GPUs from before is there and others are.
 * While something runs every device keeps its place, whatever it is; new ones
 * come after the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/daemon_state.h"

/* What the last daemon had, in its order. */
struct place {
	struct machine_device was;
	const struct machine_device *here; /* the same now, or what is there instead; NULL: gone */
};

struct past_places {
	VEC(struct place) at;
	bool held; /* something runs on them */
};

static int count_attempt(void *ctx, const struct record_attempt *attempt)
{
	(void)attempt;
	++*(uint32_t *)ctx;
	return 0;
}

static void set_text(char *out, size_t size, const json_t *place, const char *key)
{
	const char *text = member_text(place, key);

	snprintf(out, size, "%s", text ? text : "");
}

static struct machine_device read_place(const json_t *place)
{
	struct machine_device device = {
		.index = (int)member_int(place, "index", 0),
		.mem_bytes = member_int(place, "mem_bytes", 0),
		.forgotten = json_is_true(json_object_get(place, "forgotten")),
		.why = "not there since this daemon started",
	};

	set_text(device.uuid, sizeof(device.uuid), place, "uuid");
	set_text(device.whole, sizeof(device.whole), place, "whole");
	set_text(device.host, sizeof(device.host), place, "host");
	set_text(device.type, sizeof(device.type), place, "type");
	set_text(device.title, sizeof(device.title), place, "title");
	set_text(device.visible, sizeof(device.visible), place, "visible");
	return device;
}

static void read_places(struct daemon *d, struct past_places *out)
{
	struct buf text = { 0 };
	json_t *places = NULL;

	if (record_meta(d->record, "devices", &text))
		places = json_loads(text.at, 0, NULL);
	for (size_t i = 0; i < json_array_size(places); i++)
		vec_push(&out->at, (struct place){ .was = read_place(json_array_get(places, i)) });
	json_decref(places);
	buf_fini(&text);
}

/* ---- what became of them */

static const struct machine_device *find(const struct machine *m, const char *uuid)
{
	for (uint32_t i = 0; i < m->ndevices; i++) {
		if (!strcmp(m->devices[i].uuid, uuid))
			return &m->devices[i];
	}
	return NULL;
}

static bool is_placed(const struct past_places *past, const struct machine_device *device)
{
	for (size_t i = 0; i < past->at.n; i++) {
		if (past->at.at[i].here == device)
			return true;
	}
	return false;
}

static const char *chip_of(const struct machine_device *device)
{
	return *device->whole ? device->whole : device->uuid;
}

/* It is in the machine as other devices than before. */
static bool is_here_otherwise(const struct machine *m, const struct machine_device *was)
{
	for (uint32_t i = 0; i < m->ndevices; i++) {
		if (machine_is_gpu(&m->devices[i]) && !strcmp(chip_of(&m->devices[i]), chip_of(was)))
			return true;
	}
	return false;
}

/* Instances of which an older daemon did not write down whose they are cannot be told from those that were given up. */
static bool may_be_broken(const struct machine *m, const struct machine_device *was)
{
	return machine_is_gpu(was) && (strncmp(was->uuid, "MIG-", 4) != 0 || *was->whole) &&
		!is_here_otherwise(m, was);
}

/* A GPU that was not there before stands for one of its type that is not there now. */
static void replace(struct daemon *d, struct past_places *past)
{
	for (uint32_t i = 0; i < d->machine.ndevices; i++) {
		const struct machine_device *device = &d->machine.devices[i];

		if (!machine_is_gpu(device) || is_placed(past, device))
			continue;
		for (size_t k = 0; k < past->at.n; k++) {
			struct place *place = &past->at.at[k];

			if (place->here || strcmp(place->was.type, device->type) != 0)
				continue;
			log_notice(d->log, "device %s is gone, and %s has its place",
				place->was.uuid, device->uuid);
			place->here = device;
			break;
		}
	}
}

static bool is_other_machine(const struct machine *m, const struct past_places *past)
{
	bool any = false;

	for (size_t i = 0; i < past->at.n; i++) {
		if (past->at.at[i].here && machine_is_gpu(&past->at.at[i].was))
			return false;
	}
	for (uint32_t i = 0; i < m->ndevices; i++)
		any |= machine_is_gpu(&m->devices[i]);
	return any;
}

/*
 * Where nothing runs only GPUs that may be broken keep their places, and with all there the machine is as it was
 * found.
 */
static void let_go(struct daemon *d, struct past_places *past)
{
	bool keeps = !d->config.slurm && !d->config.machine.no_gpus &&
		!is_other_machine(&d->machine, past);
	size_t n = 0, gone = 0;

	for (size_t i = 0; i < past->at.n && keeps; i++) {
		const struct place *place = &past->at.at[i];

		if (!machine_is_gpu(&place->was))
			continue;
		if (place->here || (!place->was.forgotten && may_be_broken(&d->machine, &place->was)))
			past->at.at[n++] = *place;
		else
			log_notice(d->log, "device %s is gone, and known no longer", place->was.uuid);
	}
	past->at.n = n;
	if (keeps)
		replace(d, past);
	for (size_t i = 0; i < n; i++)
		gone += !past->at.at[i].here;
	if (!gone)
		past->at.n = 0;
}

/* ---- the machine with all of them */

enum { GPUS = 1, SLOTS = 2 };

struct devices {
	struct machine_device *at;
	size_t n, cap;
};

static bool is_of(const struct machine_device *device, unsigned kinds)
{
	return kinds & (machine_is_gpu(device) ? GPUS : SLOTS);
}

static void add_known(struct daemon *d, const struct past_places *past, struct devices *out)
{
	for (size_t i = 0; i < past->at.n; i++) {
		const struct place *place = &past->at.at[i];
		struct machine_device device = place->here ? *place->here : place->was;

		device.index = place->was.index; /* people know it by that */
		if (!place->here)
			log_warning(d->log,
				"device %d (%s) is gone since the last daemon: it is down, and known until it is back or forgotten (stint nodes forget :%d)",
				device.index, device.uuid, device.index);
		vec_push(out, device);
	}
}

static bool is_taken(const struct devices *devices, const struct machine_device *device)
{
	for (size_t i = 0; i < devices->n; i++) {
		if (machine_is_gpu(&devices->at[i]) && devices->at[i].index == device->index &&
			!strcmp(devices->at[i].host, device->host))
			return true;
	}
	return false;
}

static void add_new(const struct daemon *d, const struct past_places *past, unsigned kinds,
	struct devices *out)
{
	for (uint32_t i = 0; i < d->machine.ndevices; i++) {
		struct machine_device device = d->machine.devices[i];

		if (!is_of(&device, kinds) || is_placed(past, &d->machine.devices[i]))
			continue;
		while (!d->config.slurm && machine_is_gpu(&device) && is_taken(out, &device))
			device.index++;
		vec_push(out, device);
	}
}

/* While something runs nobody moves, also no slot for a new GPU. */
static void put_in_order(struct daemon *d, const struct past_places *past)
{
	struct machine *m = &d->machine;
	struct devices ordered = { 0 };

	add_known(d, past, &ordered);
	add_new(d, past, GPUS, &ordered);
	add_new(d, past, SLOTS, &ordered);
	free(m->devices);
	m->devices = ordered.at;
	m->ndevices = (uint32_t)ordered.n;
	for (uint32_t i = 0; i < m->ndevices; i++)
		m->has_gpus |= machine_is_gpu(&m->devices[i]);
	daemon_recall_links(d);
}

int daemon_remember_places(struct daemon *d, struct err *err)
{
	struct buf text = { 0 };
	struct json j;
	int rc;

	json_init(&j, &text, false);
	json_begin_array(&j, NULL);
	for (uint32_t i = 0; i < d->machine.ndevices; i++) {
		const struct machine_device *device = &d->machine.devices[i];

		json_begin_object(&j, NULL);
		json_str(&j, "uuid", device->uuid);
		if (*device->whole)
			json_str(&j, "whole", device->whole);
		if (*device->host)
			json_str(&j, "host", device->host);
		json_str(&j, "type", device->type);
		json_str(&j, "title", device->title);
		json_str(&j, "visible", device->visible);
		json_int(&j, "index", device->index);
		json_int(&j, "mem_bytes", device->mem_bytes);
		if (device->forgotten)
			json_bool(&j, "forgotten", true);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	rc = record_set_meta(d->record, "devices", text.at, err);
	buf_fini(&text);
	return rc;
}

int daemon_keep_places(struct daemon *d, struct err *err)
{
	struct past_places past = { 0 };
	uint32_t open = 0;

	if (record_open_attempts(d->record, count_attempt, &open, err) < 0)
		return err->code;
	past.held = open > 0;
	read_places(d, &past);
	for (size_t i = 0; i < past.at.n; i++)
		past.at.at[i].here = find(&d->machine, past.at.at[i].was.uuid);
	if (!past.held)
		let_go(d, &past);
	if (past.at.n)
		put_in_order(d, &past);
	vec_fini(&past.at);
	return daemon_remember_places(d, err);
}
