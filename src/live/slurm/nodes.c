/*
 * The nodes of a Slurm cluster as devices to run on.
 */
#include "live/slurm/nodes.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"

enum { GPUS_MAX = 1024 }; /* of one node: more is a slip in somebody's gres.conf */

void nodes_fini(struct nodes *nodes)
{
	vec_fini(&nodes->at);
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

/* ---- reading */

static bool is_among(const json_t *names, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(names, i, one)
	{
		if (json_is_string(one) && !strcmp(json_string_value(one), name))
			return true;
	}
	return false;
}

/* A node of two types is the one that it has most of: a job pinned to it cannot be told which it gets. */
static void read_gpus(struct slurm_node *node, const json_t *gpus)
{
	const json_t *one;
	uint32_t all = 0;
	size_t i;

	json_array_foreach(gpus, i, one)
	{
		int64_t count = member_int(one, "count", 0);
		const char *type = member_text(one, "type");

		if (count <= 0 || count > GPUS_MAX)
			continue;
		all += (uint32_t)count;
		if ((uint32_t)count <= node->gpus)
			continue;
		node->gpus = (uint32_t)count;
		node->untyped = !type || !*type;
		copy_text(node->type, sizeof(node->type), node->untyped ? "gpu" : type);
	}
	node->others = all - node->gpus;
}

static bool is_dead(const char *state)
{
	return strcmp(state, "IDLE") != 0 && strcmp(state, "MIXED") != 0 &&
		strcmp(state, "ALLOCATED") != 0;
}

static void say_why(struct slurm_node *node, const json_t *from, const char *state)
{
	const char *reason = member_text(from, "reason");
	const char *what = node->dead ? state
		: member_bool(from, "drained", false)
		? "drained"
		: "not taking jobs (not responding, reserved or powered down)";

	if (reason && *reason)
		snprintf(node->why, sizeof(node->why), "Slurm: %s: %.70s", what, reason);
	else
		snprintf(node->why, sizeof(node->why), "Slurm: %s", what);
}

static bool read_node(struct slurm_node *node, const json_t *from)
{
	const char *name = member_text(from, "name"), *state = member_text(from, "state");

	memset(node, 0, sizeof(*node)); /* with what lies between: they are compared */
	if (!name || !*name || strlen(name) >= sizeof(node->name))
		return false;
	copy_text(node->name, sizeof(node->name), name);
	read_gpus(node, json_object_get(from, "gpus"));
	node->cpus = (uint32_t)member_int(from, "cpus", 0);
	node->used = (uint32_t)member_int(from, "used", 0);
	node->mem_bytes = member_int(from, "mem_mb", 0) * (INT64_C(1) << 20);
	node->dead = !state || is_dead(state);
	node->usable = !node->dead && member_bool(from, "usable", true);
	if (!node->usable)
		say_why(node, from, state ? state : "UNKNOWN");
	return true;
}

static bool differ(const struct nodes *a, const struct nodes *b)
{
	if (a->at.n != b->at.n)
		return true;
	for (size_t i = 0; i < a->at.n; i++) {
		if (memcmp(&a->at.at[i], &b->at.at[i], offsetof(struct slurm_node, used)) != 0)
			return true;
	}
	return false;
}

/* In the same order as before nearly always. */
static void keep_times(struct nodes *fresh, const struct nodes *before)
{
	for (size_t i = 0; i < fresh->at.n && i < before->at.n; i++) {
		if (!strcmp(fresh->at.at[i].name, before->at.at[i].name))
			fresh->at.at[i].unexplained_s = before->at.at[i].unexplained_s;
	}
}

bool nodes_read(struct nodes *nodes, const json_t *answer, const json_t *names)
{
	struct nodes fresh = { 0 };
	const json_t *one;
	bool differs;
	size_t i;

	if (!member_bool(answer, "changed", true))
		return false;
	json_array_foreach(json_object_get(answer, "nodes"), i, one)
	{
		struct slurm_node node;

		if (read_node(&node, one) && (!names || is_among(names, node.name)))
			vec_push(&fresh.at, node);
	}
	differs = differ(&fresh, nodes);
	keep_times(&fresh, nodes);
	nodes_fini(nodes);
	*nodes = fresh;
	return differs;
}

/* ---- for people */

void nodes_notices(const struct nodes *nodes, struct buf *out)
{
	uint32_t untyped = 0;

	for (size_t i = 0; i < nodes->at.n; i++) {
		const struct slurm_node *node = &nodes->at.at[i];

		untyped += node->untyped;
		if (node->others)
			buf_printf(out,
				"node %s has GPUs of several types: its %u %s are used and the other %u are "
				"not, since Slurm cannot be told by node which of them a job shall get\n",
				node->name, node->gpus, node->type, node->others);
	}
	if (untyped)
		buf_printf(out,
			"the GPUs of %u nodes have no type, so they are taken for one type, \"gpu\"; to "
			"tell them apart write Gres=gpu:a100:4 in slurm.conf and Type=a100 in gres.conf\n",
			untyped);
}

/* ---- as a machine */

static struct machine_device device_of(const struct slurm_node *node, uint32_t index)
{
	struct machine_device device = { .index = (int)index, .up = node->usable };

	snprintf(device.uuid, sizeof(device.uuid), "%.70s/gpu/%u", node->name, index);
	copy_text(device.host, sizeof(device.host), node->name);
	copy_text(device.type, sizeof(device.type), node->type);
	copy_text(device.title, sizeof(device.title), node->type);
	copy_text(device.why, sizeof(device.why), node->why);
	return device;
}

static void add_node(struct machine *machine, const struct slurm_node *node)
{
	struct machine_host *host = &machine->hosts[machine->nhosts++];

	copy_text(host->name, sizeof(host->name), node->name);
	host->cpus = node->cpus;
	host->mem_bytes = node->mem_bytes;
	machine->cpus = node->cpus > machine->cpus ? node->cpus : machine->cpus;
	machine->mem_bytes = node->mem_bytes > machine->mem_bytes ? node->mem_bytes
								  : machine->mem_bytes;
	for (uint32_t i = 0; i < node->gpus; i++)
		machine->devices[machine->ndevices++] = device_of(node, i);
}

int nodes_machine(const struct nodes *nodes, const char *cluster, const char *version,
	struct machine *out, struct err *err)
{
	struct machine machine = { .has_gpus = true };
	uint32_t gpus = 0;

	for (size_t i = 0; i < nodes->at.n; i++)
		gpus += nodes->at.at[i].gpus;
	if (!gpus)
		return err_set(err, ERR_MISSING,
			"none of the %zu nodes has GPUs that Slurm knows of: GresTypes=gpu and Gres=gpu:… "
			"in slurm.conf, and gres.conf, say which there are",
			nodes->at.n);
	machine.hosts = mem_alloc(mem_array_size(nodes->at.n, sizeof(*machine.hosts)));
	machine.devices = mem_alloc(mem_array_size(gpus, sizeof(*machine.devices)));
	for (size_t i = 0; i < nodes->at.n; i++) {
		if (nodes->at.at[i].gpus)
			add_node(&machine, &nodes->at.at[i]);
	}
	copy_text(machine.host, sizeof(machine.host), cluster);
	snprintf(machine.driver, sizeof(machine.driver), "Slurm %.80s", version);
	*out = machine;
	return 0;
}

/* ---- what is up */

/* The devices of one host, as places [first, end): they are listed together. */
struct range {
	uint32_t first, end;
};

static struct range range_of(const struct machine *machine, const char *host)
{
	struct range r = { 0, 0 };

	for (uint32_t i = 0; i < machine->ndevices; i++) {
		if (strcmp(machine->devices[i].host, host) != 0)
			continue;
		if (r.end == 0)
			r.first = i;
		r.end = i + 1;
	}
	return r;
}

static const struct slurm_node *find(const struct nodes *nodes, const char *name)
{
	for (size_t i = 0; i < nodes->at.n; i++) {
		if (!strcmp(nodes->at.at[i].name, name))
			return &nodes->at.at[i];
	}
	return NULL;
}

static bool set(struct machine_device *device, bool up, const char *why)
{
	bool differs = device->up != up;

	device->up = up;
	copy_text(device->why, sizeof(device->why), up ? "" : why);
	return differs;
}

static const char guest_word[] = "used by ";

static bool has_guest(const struct machine_device *device)
{
	return !device->up && !strncmp(device->why, guest_word, sizeof(guest_word) - 1);
}

/* Which device a guest gets: one that has one already, else the last that is free; -1: none is left. */
static int64_t seat(const struct machine *machine, struct range r, const bool *taken)
{
	for (uint32_t i = r.end; i-- > r.first;) {
		if (!taken[i] && has_guest(&machine->devices[i]))
			return i;
	}
	for (uint32_t i = r.end; i-- > r.first;) {
		if (!taken[i])
			return i;
	}
	return -1;
}

static bool seat_guests(struct machine *machine, struct range r, const char *host,
	const struct nodes_guest *guests, size_t n, bool *taken)
{
	bool differs = false;
	char why[96];

	for (size_t g = 0; g < n; g++) {
		if (strcmp(guests[g].node, host) != 0)
			continue;
		snprintf(why, sizeof(why), "%s%.50s, which Stint does not manage", guest_word,
			guests[g].who);
		for (uint32_t k = 0; k < guests[g].gpus; k++) {
			int64_t at = seat(machine, r, taken);

			if (at < 0)
				return differs;
			taken[at] = true;
			differs |= set(&machine->devices[at], false, why);
		}
	}
	return differs;
}

static bool refresh_host(const struct slurm_node *node, struct machine *machine, struct range r,
	const struct nodes_guest *guests, size_t n, const bool *held, bool *taken)
{
	bool differs = false;

	for (uint32_t i = r.first; i < r.end; i++)
		taken[i] = (held && held[i]) || !node || i - r.first >= node->gpus;
	if (node && node->usable)
		differs = seat_guests(machine, r, node->name, guests, n, taken);
	for (uint32_t i = r.first; i < r.end; i++) {
		struct machine_device *device = &machine->devices[i];
		bool mine = held && held[i];

		if (!node)
			differs |= set(device, false, "Slurm does not know this node any more");
		else if (i - r.first >= node->gpus)
			differs |= set(device, false, "Slurm says that the node has fewer GPUs now");
		else if (!node->usable && (node->dead || !mine))
			differs |= set(device, false, node->why);
		else if (mine || !taken[i])
			differs |= set(device, true, "");
	}
	return differs;
}

/* One that the machine has no place for. */
static bool is_new(const struct machine *machine, const struct slurm_node *node)
{
	struct range r = range_of(machine, node->name);

	return node->gpus > r.end - r.first;
}

int nodes_refresh(const struct nodes *nodes, const struct nodes_guest *guests, size_t nguests,
	const bool *held, struct machine *machine)
{
	bool *taken = mem_alloc(mem_array_size(machine->ndevices + 1u, sizeof(*taken)));
	int what = 0;

	for (uint32_t i = 0; i < machine->nhosts; i++) {
		const char *host = machine->hosts[i].name;

		if (refresh_host(find(nodes, host), machine, range_of(machine, host), guests,
			    nguests, held, taken))
			what |= MACHINE_UP;
	}
	for (size_t i = 0; i < nodes->at.n && !(what & MACHINE_NEW); i++) {
		if (is_new(machine, &nodes->at.at[i]))
			what |= MACHINE_NEW;
	}
	free(taken);
	return what;
}
