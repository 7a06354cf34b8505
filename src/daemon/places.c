/*
 * Devices keep their places from one daemon to the next: what runs is known by
 * them.  A device that is not there any more while something runs keeps its
 * place and is down; new ones come after the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/daemon_state.h"

static int count_attempt(void *ctx, const struct record_attempt *attempt)
{
	(void)attempt;
	++*(uint32_t *)ctx;
	return 0;
}

static json_t *known_places(struct daemon *d)
{
	struct buf text = { 0 };
	json_t *places = NULL;

	if (record_meta(d->record, "devices", &text))
		places = json_loads(text.at, 0, NULL);
	buf_fini(&text);
	return places;
}

static void set_text(char *out, size_t size, const json_t *place, const char *key)
{
	const char *text = member_text(place, key);

	snprintf(out, size, "%s", text ? text : "");
}

/* A device that was there before and is not now. */
static struct machine_device absent(const json_t *place)
{
	struct machine_device device = {
		.index = (int)member_int(place, "index", 0),
		.mem_bytes = member_int(place, "mem_bytes", 0),
	};

	set_text(device.uuid, sizeof(device.uuid), place, "uuid");
	set_text(device.type, sizeof(device.type), place, "type");
	set_text(device.title, sizeof(device.title), place, "title");
	set_text(device.visible, sizeof(device.visible), place, "visible");
	return device;
}

static const struct machine_device *find(const struct machine *m, const char *uuid)
{
	for (uint32_t i = 0; i < m->ndevices; i++) {
		if (!strcmp(m->devices[i].uuid, uuid))
			return &m->devices[i];
	}
	return NULL;
}

static bool has_place(const json_t *places, const char *uuid)
{
	for (size_t i = 0; i < json_array_size(places); i++) {
		const char *known = member_text(json_array_get(places, i), "uuid");

		if (known && !strcmp(known, uuid))
			return true;
	}
	return false;
}

/* Those with a place in the old order, then the others. */
static void put_in_order(struct daemon *d, const json_t *places)
{
	struct machine *m = &d->machine;
	VEC(struct machine_device) ordered = { 0 };

	for (size_t i = 0; i < json_array_size(places); i++) {
		const json_t *place = json_array_get(places, i);
		const char *uuid = member_text(place, "uuid");
		const struct machine_device *here = uuid ? find(m, uuid) : NULL;

		if (!here)
			log_warning(d->log, "device %s is gone since the last daemon",
				uuid ? uuid : "?");
		vec_push(&ordered, here ? *here : absent(place));
	}
	for (uint32_t i = 0; i < m->ndevices; i++) {
		if (!has_place(places, m->devices[i].uuid))
			vec_push(&ordered, m->devices[i]);
	}
	free(m->devices);
	m->devices = ordered.at;
	m->ndevices = (uint32_t)ordered.n;
}

static int remember_places(struct daemon *d, struct err *err)
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
		json_str(&j, "type", device->type);
		json_str(&j, "title", device->title);
		json_str(&j, "visible", device->visible);
		json_int(&j, "index", device->index);
		json_int(&j, "mem_bytes", device->mem_bytes);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	rc = record_set_meta(d->record, "devices", text.at, err);
	buf_fini(&text);
	return rc;
}

int daemon_keep_places(struct daemon *d, struct err *err)
{
	json_t *places = known_places(d);
	uint32_t open = 0;

	if (record_open_attempts(d->record, count_attempt, &open, err) < 0) {
		json_decref(places);
		return err->code;
	}
	if (open && places)
		put_in_order(d, places);
	json_decref(places);
	return remember_places(d, err);
}
