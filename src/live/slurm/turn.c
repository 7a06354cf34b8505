/*
 * Nodes of each type, from the part of a scheduler on.
 */
#include "live/slurm/turn.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/parsync.h"

/* Devices `from` on that are of one host and type with the first. */
static uint32_t node_end(const struct machine *m, uint32_t from)
{
	uint32_t to = from + 1;

	while (to < m->ndevices && !strcmp(m->devices[to].host, m->devices[from].host) &&
		!strcmp(m->devices[to].type, m->devices[from].type))
		to++;
	return to;
}

static uint32_t count_nodes(const struct machine *m, const char *type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->ndevices; i = node_end(m, i))
		n += !strcmp(m->devices[i].type, type);
	return n;
}

/* The type's nodes with numbers from..to-1 among their kind, at the end of `out`. */
static uint32_t copy_nodes(const struct machine *m, const char *type, uint32_t from, uint32_t to,
	struct machine_device *out, uint32_t n)
{
	uint32_t number = 0;

	for (uint32_t i = 0, end; i < m->ndevices; i = end) {
		end = node_end(m, i);
		if (strcmp(m->devices[i].type, type) != 0)
			continue;
		if (number >= from && number < to) {
			memcpy(&out[n], &m->devices[i], (end - i) * sizeof(*out));
			n += end - i;
		}
		number++;
	}
	return n;
}

static bool seen_before(const struct machine *m, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++) {
		if (!strcmp(m->devices[i].type, m->devices[at].type))
			return true;
	}
	return false;
}

void machine_turn(struct machine *m, uint32_t k, uint32_t n)
{
	struct parsync_plan plan = { .schedulers = n, .partitions = n, .period_s = 1 };
	struct machine_device *turned;
	uint32_t done = 0;

	if (n < 2)
		return;
	turned = mem_alloc(mem_array_size(m->ndevices + 1, sizeof(*turned)));
	for (uint32_t i = 0; i < m->ndevices; i = node_end(m, i)) {
		const char *type = m->devices[i].type;
		uint32_t nodes = count_nodes(m, type);
		uint32_t first = parsync_first(nodes, n, parsync_offset(&plan, k));

		if (seen_before(m, i))
			continue;
		done = copy_nodes(m, type, first, nodes, turned, done);
		done = copy_nodes(m, type, 0, first, turned, done);
	}
	memcpy(m->devices, turned, m->ndevices * sizeof(*turned));
	free(turned);
}
