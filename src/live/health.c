/*
 * A sorted list of devices, and the same as JSON.
 */
#include "live/health.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/members.h"

static void device_fini(struct health_device *d)
{
	free(d->drained);
	vec_fini(&d->failed);
}

void health_fini(struct health *h)
{
	for (size_t i = 0; i < h->devices.n; i++)
		device_fini(&h->devices.at[i]);
	vec_fini(&h->devices);
	*h = (struct health){ 0 };
}

void health_copy(const struct health *from, struct health *to)
{
	for (size_t i = 0; i < from->devices.n; i++) {
		const struct health_device *d = &from->devices.at[i];
		struct health_device copy = {
			.node = d->node,
			.device = d->device,
			.drained = d->drained ? mem_strdup(d->drained) : NULL,
			.by_itself = d->by_itself,
			.since_s = d->since_s,
		};

		for (size_t k = 0; k < d->failed.n; k++)
			vec_push(&copy.failed, d->failed.at[k]);
		vec_push(&to->devices, copy);
	}
}

/* Of the first that is not before it. */
static size_t place_of(const struct health *h, uint32_t node, uint32_t device)
{
	size_t i = 0;

	while (i < h->devices.n &&
		(h->devices.at[i].node < node ||
			(h->devices.at[i].node == node && h->devices.at[i].device < device)))
		i++;
	return i;
}

static bool is_at(const struct health *h, size_t i, uint32_t node, uint32_t device)
{
	return i < h->devices.n && h->devices.at[i].node == node && h->devices.at[i].device == device;
}

const struct health_device *health_find(const struct health *h, uint32_t node, uint32_t device)
{
	size_t i = place_of(h, node, device);

	return is_at(h, i, node, device) ? &h->devices.at[i] : NULL;
}

struct health_device *health_at(struct health *h, uint32_t node, uint32_t device)
{
	size_t i = place_of(h, node, device);

	if (!is_at(h, i, node, device)) {
		vec_push(&h->devices, (struct health_device){ 0 });
		memmove(&h->devices.at[i + 1], &h->devices.at[i],
			(h->devices.n - 1 - i) * sizeof(h->devices.at[0]));
		h->devices.at[i] = (struct health_device){ .node = node, .device = device };
	}
	return &h->devices.at[i];
}

uint64_t health_drained(const struct health *h, uint32_t node)
{
	uint64_t devices = 0;

	for (size_t i = 0; i < h->devices.n; i++) {
		if (h->devices.at[i].node == node && h->devices.at[i].drained)
			devices |= UINT64_C(1) << h->devices.at[i].device;
	}
	return devices;
}

bool health_any_drained(const struct health *h)
{
	for (size_t i = 0; i < h->devices.n; i++) {
		if (h->devices.at[i].drained)
			return true;
	}
	return false;
}

void health_trim(struct health *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->devices.n; i++) {
		if (h->devices.at[i].drained || h->devices.at[i].failed.n)
			h->devices.at[kept++] = h->devices.at[i];
		else
			device_fini(&h->devices.at[i]);
	}
	h->devices.n = kept;
}

/* ---- JSON */

static void put_device(const struct health_device *d, struct json *j)
{
	json_begin_object(j, NULL);
	json_int(j, "node", d->node);
	json_int(j, "device", d->device);
	if (d->drained) {
		json_str(j, "drained", d->drained);
		json_double(j, "since_s", d->since_s);
	}
	if (d->by_itself)
		json_bool(j, "itself", true);
	json_begin_array(j, "failed");
	for (size_t i = 0; i < d->failed.n; i++) {
		json_begin_array(j, NULL);
		json_int(j, NULL, d->failed.at[i].job);
		json_int(j, NULL, (int64_t)d->failed.at[i].who);
		if (d->failed.at[i].uid != HEALTH_NOBODY)
			json_int(j, NULL, d->failed.at[i].uid);
		json_end(j, ']');
	}
	json_end(j, ']');
	json_end(j, '}');
}

void health_to_json(const struct health *h, const char *key, struct json *j)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < h->devices.n; i++)
		put_device(&h->devices.at[i], j);
	json_end(j, ']');
}

static void get_device(const json_t *json, struct health_device *d)
{
	const char *drained = member_text(json, "drained");
	const json_t *failed = json_object_get(json, "failed"), *one;
	size_t i;

	free(d->drained); /* one that stands twice: the last counts */
	d->drained = drained ? mem_strdup(drained) : NULL;
	d->by_itself = member_bool(json, "itself", false);
	d->since_s = member_number(json, "since_s", 0);
	d->failed.n = 0;
	json_array_foreach(failed, i, one)
	{
		const json_t *uid = json_array_get(one, 2);
		struct health_failure failure = {
			(uint32_t)json_integer_value(json_array_get(one, 0)),
			(uint64_t)json_integer_value(json_array_get(one, 1)),
			uid ? (uint32_t)json_integer_value(uid) : HEALTH_NOBODY,
		};

		vec_push(&d->failed, failure);
	}
}

void health_from_json(const json_t *list, const struct cluster *cluster, struct health *out)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		int64_t node = member_int(one, "node", -1), device = member_int(one, "device", -1);

		if (node < 0 || node >= cluster->nnodes || device < 0 ||
			device >= cluster->nodes[node].devices)
			continue;
		get_device(one, health_at(out, (uint32_t)node, (uint32_t)device));
	}
}
