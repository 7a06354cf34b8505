/*
 * How devices were linked that are not there to be asked: as the last epoch's cluster says.
 *
 * A machine with a broken GPU has the links of the whole one, so that what is derived from
 * them (cells, the best devices for a job) stays what it was.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon_state.h"
#include "model/links.h"

/* Where the last epoch had a device, and its row of now. */
struct end {
	uint32_t device; /* of the machine */
	uint32_t row;    /* 1 + that of the machine's links; 0: nobody could ask */
	uint32_t node, at;
	const struct topology *links; /* of that node; NULL: not known */
};

static void find_end(const struct epoch *last, const char *uuid, struct end *out)
{
	for (uint32_t node = 0; node < last->cluster.nnodes; node++) {
		const json_t *devices = json_array_get(last->devices, node);
		uint32_t topology = last->cluster.nodes[node].topology;

		for (uint32_t i = 0; i < last->cluster.nodes[node].devices; i++) {
			const char *known = json_string_value(json_array_get(devices, i));

			if (topology == TOPOLOGY_NONE || !known || strcmp(known, uuid) != 0)
				continue;
			out->node = node;
			out->at = i;
			out->links = &last->cluster.topologies[topology];
			return;
		}
	}
}

/* Of two of which nobody knows, as slow and far as any. */
static struct machine_link link_of(const struct machine *m, const struct end *a, const struct end *b)
{
	struct machine_link link = { .near = NEAR_NODE, .Bps = 10e9 };

	if (a->row && b->row)
		return m->links[(a->row - 1) * m->nlinked + b->row - 1];
	if (a->links && b->links && a->node == b->node)
		link = (struct machine_link){
			.links = topology_links(a->links, a->at, b->at),
			.near = (uint8_t)topology_nearness(a->links, a->at, b->at),
			.Bps = topology_Bps(a->links, a->at, b->at),
		};
	return link;
}

static void link_anew(struct machine *m, const struct end *ends, uint32_t n)
{
	struct machine_link *links = mem_alloc(mem_array_size((size_t)n * n + 1, sizeof(*links)));

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			if (i != j)
				links[i * n + j] = link_of(m, &ends[i], &ends[j]);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		m->devices[ends[i].device].linked = i + 1;
	free(m->links);
	m->links = links;
	m->nlinked = n;
}

void daemon_recall_links(struct daemon *d)
{
	struct machine *m = &d->machine;
	VEC(struct end) ends = { 0 };
	struct epoch last;

	if (d->config.slurm || !daemon_last_epoch(d, &last))
		return;
	for (uint32_t i = 0; i < m->ndevices; i++) {
		struct end end = { .device = i, .row = m->devices[i].linked };

		if (machine_is_gpu(&m->devices[i]))
			find_end(&last, m->devices[i].uuid, &end);
		if (end.row || end.links)
			vec_push(&ends, end);
	}
	if (ends.n)
		link_anew(m, ends.at, (uint32_t)ends.n);
	vec_fini(&ends);
	epoch_fini(&last);
}
