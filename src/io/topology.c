/*
 * Links inside a node.
 */
#include "io/topology.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "io/units.h"
#include "model/links.h"

/* A pair of devices (0-1, 0-2, …, 1-2, …) has so many links; "0" goes through the host. */
const struct topology_preset topology_presets[] = {
	{ "nvlink-dgx1", 8,
		"1122000"
		"210200"
		"20010"
		"0001"
		"112"
		"21"
		"2",
		25e9, 10e9 },
	{ "nvlink-dgx1-p100", 8,
		"1111000"
		"110100"
		"10010"
		"0001"
		"111"
		"11"
		"1",
		20e9, 10e9 },
	{ "nvlink-summit", 6,
		"22000"
		"2000"
		"000"
		"22"
		"2",
		25e9, 10e9 },
	{ "nvlink-pairs-4", 4,
		"100"
		"00"
		"1",
		50e9, 10e9 },
	{ "nvlink-pairs-8", 8,
		"1000000"
		"000000"
		"10000"
		"0000"
		"100"
		"00"
		"1",
		50e9, 10e9 },
	{ 0 },
};

const struct topology_preset *topology_preset_find(const char *name)
{
	for (const struct topology_preset *p = topology_presets; p->name; p++)
		if (!strcasecmp(p->name, name))
			return p;
	return NULL;
}

static void link_pair(struct topology *t, uint32_t i, uint32_t j,
	const struct topology_preset *preset, uint8_t links)
{
	topology_link(t, i, j, links ? links * preset->link_Bps : preset->others_Bps);
	topology_say_links(t, i, j, links);
}

uint32_t topology_preset_add(const struct topology_preset *preset, struct cluster *cluster,
	const char *name)
{
	uint32_t index = cluster_add_topology(cluster, name, preset->devices);
	struct topology *t = &cluster->topologies[index];
	const char *links = preset->links;

	for (uint32_t i = 0; i < t->devices; i++)
		for (uint32_t j = i + 1; j < t->devices; j++, links++)
			link_pair(t, i, j, preset, (uint8_t)(*links - '0'));
	return index;
}

/* ---- links as text */

/* Cuts " x2" off the end. */
static bool cut_count(struct slice *text, uint8_t *links)
{
	size_t n = text->n;
	int64_t count;

	*links = LINKS_UNSAID;
	while (n > 0 && text->at[n - 1] != 'x')
		n--;
	if (n < 2 || text->at[n - 2] != ' ')
		return true;
	if (!slice_int((struct slice){ text->at + n, text->n - n }, &count) || count < 0 ||
		count >= LINKS_UNSAID)
		return false;
	*links = (uint8_t)count;
	*text = slice_trim((struct slice){ text->at, n - 1 });
	return true;
}

/* Both are devices of the node, and not the same. */
static bool are_ends(const struct topology *t, int64_t i, int64_t j, struct buf *why)
{
	int64_t wrong = i < 0 || i >= t->devices ? i : j;

	if (wrong < 0 || wrong >= t->devices)
		buf_printf(why, "names device %lld, but there are 0 to %u", (long long)wrong,
			t->devices - 1);
	else if (i == j)
		buf_printf(why, "joins device %lld to itself; name two devices", (long long)i);
	else
		return true;
	return false;
}

static bool was_seen(uint64_t seen[NODE_DEVICES_MAX], int64_t i, int64_t j)
{
	uint64_t other = UINT64_C(1) << j;
	bool was = seen[i] & other;

	seen[i] |= other;
	seen[j] |= UINT64_C(1) << i;
	return was;
}

bool topology_read_link(struct topology *t, struct slice text, uint64_t seen[NODE_DEVICES_MAX],
	struct buf *why)
{
	struct slice rest = slice_trim(text), first, second;
	int64_t i, j;
	uint8_t links;
	double Bps;

	bool counted = cut_count(&rest, &links);

	first = slice_cut(&rest, '-');
	second = slice_cut(&rest, ' ');
	if (!counted || !slice_int(first, &i) || !slice_int(second, &j) || !unit_speed(rest, &Bps)) {
		buf_str(why,
			"is not understood; write two devices and the speed between them, such as 0-1 50GB/s, or 0-1 50GB/s x2 for two links");
		return false;
	}
	if (!are_ends(t, i, j, why))
		return false;
	if (was_seen(seen, i, j)) {
		buf_printf(why,
			"joins devices that were joined before; keep one, with x2 behind it if there are two links");
		return false;
	}
	topology_link(t, (uint32_t)i, (uint32_t)j, Bps);
	topology_say_links(t, (uint32_t)i, (uint32_t)j, links);
	return true;
}

void topology_write_link(const struct topology *t, uint32_t i, uint32_t j, struct buf *out)
{
	uint8_t said = t->links[i * t->devices + j];

	buf_printf(out, "%u-%u ", i, j);
	buf_double(out, topology_Bps(t, i, j));
	if (said != LINKS_UNSAID)
		buf_printf(out, " x%u", said);
}

/* ---- groups as text */

/* "0-3,6": devices, each for the first time. */
static bool read_devices(const struct topology *t, struct slice text, uint64_t *out, uint64_t *seen,
	struct buf *why)
{
	while (slice_trim(text).n) {
		struct slice last = slice_trim(slice_cut(&text, ',')), first = slice_cut(&last, '-');
		int64_t from, to;

		if (!slice_int(slice_trim(first), &from) ||
			(last.n ? !slice_int(slice_trim(last), &to) : (to = from, false)) ||
			from < 0 || to < from || to >= t->devices) {
			buf_printf(why, "devices are written as 0-3 or 0,2, from 0 to %u",
				t->devices - 1);
			return false;
		}
		for (int64_t d = from; d <= to; d++) {
			if (*seen >> d & 1) {
				buf_printf(why, "device %lld has a place already; each is in one group",
					(long long)d);
				return false;
			}
			*seen |= UINT64_C(1) << d;
			*out |= UINT64_C(1) << d;
		}
	}
	return true;
}

bool topology_read_group(struct topology *t, struct slice text, uint64_t *seen, struct buf *why)
{
	bool switches = memchr(text.at, '|', text.n) != NULL;
	uint64_t socket = 0;

	while (text.n) {
		uint64_t devices = 0;

		if (!read_devices(t, slice_cut(&text, '|'), &devices, seen, why))
			return false;
		if (!devices) {
			buf_str(why, "a switch without devices; leave it out");
			return false;
		}
		topology_group(t, devices, NEAR_SWITCH);
		socket |= devices;
	}
	if (!socket) {
		buf_str(why, "a socket without devices; leave it out");
		return false;
	}
	topology_group(t, socket, switches ? NEAR_SOCKET : NEAR_SWITCH);
	return true;
}

static uint64_t as_near(const struct topology *t, uint32_t i, enum nearness near)
{
	uint64_t devices = 0;

	for (uint32_t j = 0; j < t->devices; j++)
		devices |= t->near[i * t->devices + j] <= near ? UINT64_C(1) << j : 0;
	return devices;
}

static void write_devices(uint64_t devices, struct buf *out)
{
	for (const char *gap = ""; devices; devices &= devices - 1, gap = ",")
		buf_printf(out, "%s%u", gap, (unsigned)__builtin_ctzll(devices));
}

void topology_write_groups(const struct topology *t, struct buf *out)
{
	uint64_t seen = 0;

	if (!t->grouped)
		return;
	for (uint32_t i = 0; i < t->devices; i++) {
		uint64_t socket = as_near(t, i, NEAR_SOCKET);

		if (seen >> i & 1)
			continue;
		buf_str(out, seen ? ", \"" : "\"");
		seen |= socket;
		for (const char *gap = ""; socket; gap = " | ") {
			uint64_t on = as_near(t, (uint32_t)__builtin_ctzll(socket), NEAR_SWITCH);

			buf_str(out, gap);
			write_devices(on, out);
			socket &= ~on;
		}
		buf_char(out, '"');
	}
}
