/*
 * Draining devices and giving them back; forgetting those that are gone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/verbs_run.h"

/* Devices of each node of the cluster, as bits. */
struct chosen {
	uint64_t *of;
	uint32_t n;
	bool down; /* only such as are down can be meant */
};

static struct machine_device *device_at(const struct daemon *d, uint32_t node, uint32_t device)
{
	return &d->machine.devices[d->device_of[node * NODE_DEVICES_MAX + device]];
}

static int index_of(const struct daemon *d, uint32_t node, uint32_t device)
{
	return device_at(d, node, device)->index;
}

static bool can_be(const struct daemon *d, const struct chosen *chosen, uint32_t node, uint32_t device)
{
	return !chosen->down || !device_at(d, node, device)->up;
}

static bool is_meant(const struct daemon *d, const struct call *call, uint32_t node)
{
	const struct cluster *cluster = &d->epoch.cluster;
	const char *name = member_text(call->args, "name"), *type = member_text(call->args, "type");

	return name && !strcmp(cluster->nodes[node].name, name) &&
		(!type || !strcmp(cluster->types[cluster->nodes[node].type].name, type));
}

static void choose_all(const struct daemon *d, const struct call *call, struct chosen *out)
{
	const struct cluster *cluster = &d->epoch.cluster;

	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		for (uint32_t i = 0; is_meant(d, call, node) && i < cluster->nodes[node].devices; i++) {
			if (!can_be(d, out, node, i))
				continue;
			out->of[node] |= UINT64_C(1) << i;
			out->n++;
		}
	}
}

/* The device that people call so; answered with why not if it is none, or several. */
static bool choose_one(const struct daemon *d, struct call *call, int64_t index, struct chosen *out)
{
	const struct cluster *cluster = &d->epoch.cluster;
	uint32_t found = 0;

	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		for (uint32_t i = 0; is_meant(d, call, node) && i < cluster->nodes[node].devices; i++) {
			if (index_of(d, node, i) != index || !can_be(d, out, node, i))
				continue;
			out->of[node] |= UINT64_C(1) << i;
			found++;
		}
	}
	if (!found)
		call_problem(call, 404, 3, "there is no device %ld %s; 'stint nodes' lists them",
			(long)index, out->down ? "that is down" : "there");
	else if (found > 1)
		call_problem(call, 400, 2,
			"%u devices are called %ld; say the type of the one you mean", found,
			(long)index);
	out->n += found;
	return found == 1;
}

static bool choose_range(const struct daemon *d, struct call *call, struct slice word,
	struct chosen *out)
{
	struct slice last = word, first = slice_cut(&last, '-');
	int64_t from, to;

	if (!slice_int(first, &from) || from < 0 || (last.n && !slice_int(last, &to)) ||
		(last.n && (to < from || to - from > 4096))) {
		call_problem(call, 400, 2, "devices: '%.*s' is not understood; write 0,2-3",
			(int)word.n, word.at);
		return false;
	}
	for (int64_t i = from; i <= (last.n ? to : from); i++) {
		if (!choose_one(d, call, i, out))
			return false;
	}
	return true;
}

static bool has_node(const struct daemon *d, struct call *call)
{
	for (uint32_t node = 0; node < d->epoch.cluster.nnodes; node++) {
		if (is_meant(d, call, node))
			return true;
	}
	if (d->machine.nhosts)
		call_problem(call, 404, 3, "there is no such node; 'stint nodes' lists them");
	else
		call_problem(call, 404, 3, "there is no such node; this one is called %s",
			d->machine.host);
	return false;
}

static bool choose(const struct daemon *d, struct call *call, struct chosen *out)
{
	const char *devices = member_text(call->args, "devices");
	struct slice left = slice_of(devices ? devices : "");

	if (!has_node(d, call))
		return false;
	if (!left.n)
		choose_all(d, call, out);
	while (left.n) {
		if (!choose_range(d, call, slice_trim(slice_cut(&left, ',')), out))
			return false;
	}
	return true;
}

static bool apply_node(struct daemon *d, struct call *call, const char *input, uint32_t node,
	uint64_t devices)
{
	const char *reason = member_text(call->args, "reason");
	json_t *body = json_pack("{s:I,s:I,s:I}", "node", (json_int_t)node, "devices",
		(json_int_t)devices, "by", (json_int_t)call->caller.uid);
	bool fine;

	if (reason)
		json_object_set_new(body, "reason", json_string(reason));
	fine = call_apply(d, call, input, 0, 0, body);
	json_decref(body);
	return fine;
}

static void answer(struct daemon *d, struct call *call, const struct chosen *chosen)
{
	struct json j;

	call_begin(call, &j);
	json_str(&j, "node", member_text(call->args, "name"));
	json_begin_array(&j, "devices");
	for (uint32_t node = 0; node < d->epoch.cluster.nnodes; node++) {
		for (uint64_t left = chosen->of[node]; left; left &= left - 1)
			json_int(&j, NULL, index_of(d, node, (uint32_t)__builtin_ctzll(left)));
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

static void change(struct daemon *d, struct call *call, const char *input)
{
	uint32_t n = d->epoch.cluster.nnodes;
	struct chosen chosen = { .of = mem_alloc(sizeof(*chosen.of) * (n + 1)) };
	bool fine = choose(d, call, &chosen);

	for (uint32_t node = 0; fine && node < n; node++)
		fine = !chosen.of[node] || apply_node(d, call, input, node, chosen.of[node]);
	if (fine) {
		log_notice(d->log, "%u device%s: %s", chosen.n, chosen.n == 1 ? "" : "s", input);
		answer(d, call, &chosen);
	}
	free(chosen.of);
}

void verb_drain(struct daemon *d, struct call *call)
{
	change(d, call, "drain");
}

void verb_resume(struct daemon *d, struct call *call)
{
	change(d, call, "resume");
}

/* ---- forgetting */

static void mark(struct daemon *d, const struct chosen *chosen, bool forgotten)
{
	for (uint32_t node = 0; node < d->epoch.cluster.nnodes; node++) {
		for (uint64_t left = chosen->of[node]; left; left &= left - 1)
			device_at(d, node, (uint32_t)__builtin_ctzll(left))->forgotten = forgotten;
	}
}

/* Whether the rules could keep their promises without those that are forgotten. */
static int try_without(const struct daemon *d, struct err *err)
{
	struct machine left = d->machine;
	struct engine_config rules = { 0 };
	struct cluster cluster = { 0 };
	uint32_t *device_of = NULL;
	int rc;

	left.devices = mem_alloc(mem_array_size(left.ndevices + 1u, sizeof(*left.devices)));
	left.ndevices = 0;
	for (uint32_t i = 0; i < d->machine.ndevices; i++) {
		if (d->machine.devices[i].up || !d->machine.devices[i].forgotten)
			left.devices[left.ndevices++] = d->machine.devices[i];
	}
	rc = machine_cluster(&left, &cluster, &device_of, err);
	if (rc == 0)
		rc = rules_choose(&d->epoch.rules, &rules, err);
	rules.cluster = &cluster;
	if (rc == 0)
		rc = rules_suit(&rules, &d->epoch.tenants, err);
	rules_release(&rules);
	cluster_fini(&cluster);
	free(device_of);
	free(left.devices);
	return rc;
}

/* Of those chosen who is not forgotten yet: if this is refused the others stay so. */
static struct chosen not_forgotten(struct daemon *d, const struct chosen *chosen)
{
	uint32_t n = d->epoch.cluster.nnodes;
	struct chosen fresh = { .of = mem_alloc(sizeof(*fresh.of) * (n + 1)) };

	for (uint32_t node = 0; node < n; node++) {
		for (uint64_t left = chosen->of[node]; left; left &= left - 1) {
			if (!device_at(d, node, (uint32_t)__builtin_ctzll(left))->forgotten)
				fresh.of[node] |= left & -left;
		}
	}
	return fresh;
}

static void forget(struct daemon *d, struct call *call, const struct chosen *chosen)
{
	struct chosen fresh = not_forgotten(d, chosen);
	struct err err = { 0 };

	mark(d, &fresh, true);
	if (try_without(d, &err) < 0) {
		call_problem(call, 409, 4,
			"without %s the next daemon could not start: %s; other promises first (stint quota load FILE), or a placer without any (stint policy set --placer first-fit)",
			chosen->n == 1 ? "it" : "them", err.text);
		mark(d, &fresh, false);
	} else if (daemon_remember_places(d, &err) < 0) {
		call_fail(call, err.code, err.text);
		mark(d, &fresh, false);
	} else {
		log_notice(d->log, "%u device%s that %s down: forgotten from the next start on",
			chosen->n, chosen->n == 1 ? "" : "s", chosen->n == 1 ? "is" : "are");
		answer(d, call, chosen);
	}
	free(fresh.of);
}

/* What runs is known by the places of devices, so they go with the next daemon. */
void verb_forget(struct daemon *d, struct call *call)
{
	uint32_t n = d->epoch.cluster.nnodes;
	struct chosen chosen = { .of = mem_alloc(sizeof(*chosen.of) * (n + 1)), .down = true };

	if (d->config.slurm)
		call_problem(call, 409, 4, "which devices there are is Slurm's to say");
	else if (choose(d, call, &chosen) && !chosen.n)
		call_problem(call, 404, 3, "no device there is down; 'stint nodes' lists them");
	else if (chosen.n && !call->status)
		forget(d, call, &chosen);
	free(chosen.of);
}
