/*
 * What is known of devices goes from one epoch to the next: by their identity, so
 * that a device that was drained stays so wherever it stands now.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon_state.h"

/* What the record has last. */
struct last_health {
	uint64_t epoch_seq;
	json_t *devices, *health; /* as the epoch names them, and of these */
};

static int see_epoch(void *ctx, const struct record_event *event)
{
	struct last_health *last = ctx;
	json_t *body = json_loads(event->body, 0, NULL);

	last->epoch_seq = event->seq;
	last->devices = json_incref(json_object_get(body, "devices"));
	last->health = json_incref(json_object_get(body, "health"));
	json_decref(body);
	return 0;
}

static int see_health(void *ctx, const struct record_event *event)
{
	struct last_health *last = ctx;
	json_t *body;

	if (event->seq < last->epoch_seq)
		return 0;
	body = json_loads(event->body, 0, NULL);
	json_decref(last->health);
	last->health = json_incref(json_object_get(body, "health"));
	json_decref(body);
	return 0;
}

static void read_last(struct daemon *d, struct last_health *out)
{
	struct err ignored = { 0 };

	if (record_last_of_kind(d->record, "epoch", d->last_seq, see_epoch, out, &ignored) == 0)
		record_last_of_kind_from(d->record, "health", out->epoch_seq, d->last_seq,
			see_health, out, &ignored);
}

static const struct machine_device *device_at(const struct daemon *d, uint32_t node, uint32_t device)
{
	return &d->machine.devices[d->device_of[node * NODE_DEVICES_MAX + device]];
}

/* Where the device of that identity is now; false: it is not here. */
static bool find_device(const struct daemon *d, const char *uuid, uint32_t *node, uint32_t *device)
{
	const struct cluster *cluster = &d->epoch.cluster;

	for (*node = 0; uuid && *node < cluster->nnodes; ++*node) {
		for (*device = 0; *device < cluster->nodes[*node].devices; ++*device) {
			if (!strcmp(device_at(d, *node, *device)->uuid, uuid))
				return true;
		}
	}
	return false;
}

static void place_anew(const struct daemon *d, const struct last_health *last)
{
	const json_t *one;
	size_t i;

	json_array_foreach(last->health, i, one)
	{
		const json_t *node = json_array_get(last->devices, (size_t)member_int(one, "node", 0));
		const json_t *id = json_array_get(node, (size_t)member_int(one, "device", 0));
		uint32_t to_node, to_device;
		bool here = find_device(d, json_string_value(id), &to_node, &to_device);

		json_object_set_new((json_t *)one, "node",
			json_integer(here ? (json_int_t)to_node : -1));
		json_object_set_new((json_t *)one, "device",
			json_integer(here ? (json_int_t)to_device : -1));
	}
}

static json_t *identities(const struct daemon *d)
{
	const struct cluster *cluster = &d->epoch.cluster;
	json_t *nodes = json_array();

	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		json_t *devices = json_array();

		for (uint32_t i = 0; i < cluster->nodes[node].devices; i++)
			json_array_append_new(devices, json_string(device_at(d, node, i)->uuid));
		json_array_append_new(nodes, devices);
	}
	return nodes;
}

void daemon_find_health(struct daemon *d)
{
	struct last_health last = { 0 };

	read_last(d, &last);
	place_anew(d, &last);
	health_from_json(last.health, &d->epoch.cluster, &d->epoch.health);
	json_decref(last.health);
	json_decref(last.devices);
	d->epoch.devices = identities(d);
	d->epoch.care = d->config.care;
}

void daemon_keep_health(struct daemon *d)
{
	health_fini(&d->epoch.health);
	health_copy(core_health(d->core), &d->epoch.health);
}
