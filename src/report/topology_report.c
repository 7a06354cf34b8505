/*
 * Links as text and JSON.
 */
#include "report/topology_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/links.h"

uint32_t topology_alike(const struct cluster *cluster, uint32_t node)
{
	const struct node *a = &cluster->nodes[node];
	uint32_t n = 1;

	for (; node + n < cluster->nnodes; n++) {
		const struct node *b = &cluster->nodes[node + n];

		if (a->type != b->type || a->devices != b->devices || a->rack != b->rack ||
			a->topology != b->topology)
			break;
	}
	return n;
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- the tree */

/* A line of a tree begins with this. */
static void branch(const struct term *term, const char *before, bool last, struct buf *out)
{
	buf_str(out, before);
	if (term->utf8)
		buf_str(out, last ? "└─ " : "├─ ");
	else
		buf_str(out, last ? "`- " : "|- ");
}

static const char *stem(const struct term *term, bool last)
{
	if (last)
		return "   ";
	return term->utf8 ? "│  " : "|  ";
}

static void node_line(const struct cluster *c, uint32_t node, uint32_t n, struct buf *out)
{
	const struct node *first = &c->nodes[node];

	buf_str(out, first->name);
	if (n > 1)
		buf_printf(out, " to %s (%u nodes)", c->nodes[node + n - 1].name, n);
	buf_printf(out, ": %u x %s%s", first->devices, c->types[first->type].name,
		n > 1 ? " each" : "");
	if (first->topology != TOPOLOGY_NONE)
		buf_printf(out, ", linked as %s", c->topologies[first->topology].name);
	buf_char(out, '\n');
}

static uint32_t next_in_rack(const struct cluster *c, uint32_t rack, uint32_t from)
{
	while (from < c->nnodes && c->nodes[from].rack != rack)
		from++;
	return from;
}

static void rack_tree(const struct cluster *c, uint32_t rack, const struct term *term, struct buf *out)
{
	buf_printf(out, "rack %s", c->racks[rack].name);
	if (c->racks[rack].up_Bps > 0)
		buf_printf(out, ", %.3g GB/s up", c->racks[rack].up_Bps / 1e9);
	buf_char(out, '\n');
	for (uint32_t node = next_in_rack(c, rack, 0), next; node < c->nnodes; node = next) {
		uint32_t n = topology_alike(c, node);

		next = next_in_rack(c, rack, node + n);
		branch(term, "", next == c->nnodes, out);
		node_line(c, node, n, out);
	}
}

static void device_list(uint64_t devices, struct buf *out)
{
	for (const char *gap = ""; devices; devices &= devices - 1, gap = " ")
		buf_printf(out, "%s%u", gap, (unsigned)__builtin_ctzll(devices));
}

static uint64_t on_switch(const struct topology *t, uint32_t i)
{
	uint64_t devices = 0;

	for (uint32_t j = 0; j < t->devices; j++)
		devices |= t->near[i * t->devices + j] == NEAR_SWITCH ? UINT64_C(1) << j : 0;
	return devices;
}

/* Its switches only where they were said: direct links are shown by the matrix. */
static void socket_tree(const struct topology *t, uint64_t socket, const char *before,
	const struct term *term, struct buf *out)
{
	uint32_t first = (uint32_t)__builtin_ctzll(socket);

	if (!t->grouped || on_switch(t, first) == socket) {
		buf_str(out, ": ");
		device_list(socket, out);
		buf_char(out, '\n');
		return;
	}
	buf_char(out, '\n');
	while (socket) {
		uint64_t devices = on_switch(t, (uint32_t)__builtin_ctzll(socket)) & socket;

		socket &= ~devices;
		branch(term, before, !socket, out);
		buf_str(out, "switch: ");
		device_list(devices, out);
		buf_char(out, '\n');
	}
}

static void node_tree(const struct topology *t, const struct term *term, struct buf *out)
{
	uint64_t left = t->devices < 64 ? (UINT64_C(1) << t->devices) - 1 : UINT64_MAX;

	buf_printf(out, "%s: %u device%s%s\n", t->name, t->devices, plural(t->devices),
		t->grouped ? "" : ", sockets guessed");
	for (uint32_t number = 0; left; number++) {
		uint64_t socket = topology_socket(t, (uint32_t)__builtin_ctzll(left)) & left;

		left &= ~socket;
		branch(term, "", !left, out);
		buf_printf(out, "socket %u", number);
		socket_tree(t, socket, stem(term, !left), term, out);
	}
}

/* ---- the matrix */

/* "NV2" for two direct links, else the nearest thing in common. */
static void link_word(const struct topology *t, uint32_t i, uint32_t j, char out[8])
{
	static const char *const
		by_host[] = { [NEAR_SWITCH] = "PIX", [NEAR_SOCKET] = "SOC", [NEAR_NODE] = "SYS" };
	uint8_t links = topology_links(t, i, j);

	if (i == j)
		snprintf(out, 8, "X");
	else if (links)
		snprintf(out, 8, "NV%u", links);
	else
		snprintf(out, 8, "%s", by_host[topology_nearness(t, i, j)]);
}

static void matrix(const struct topology *t, const struct term *term, struct buf *out)
{
	char word[8];

	buf_printf(out, "%6s", "");
	for (uint32_t j = 0; j < t->devices; j++)
		buf_printf(out, "%5u", j);
	for (uint32_t i = 0; i < t->devices; i++) {
		buf_printf(out, "\n%6u", i);
		for (uint32_t j = 0; j < t->devices; j++) {
			bool direct = i != j && topology_links(t, i, j) > 0;

			link_word(t, i, j, word);
			buf_printf(out, "%s%5s%s", term->colour && direct ? "\033[32m" : "", word,
				term->colour && direct ? "\033[0m" : "");
		}
	}
	buf_char(out, '\n');
}

/* The word of every kind of link there is, once, with its speed. */
static void legend(const struct topology *t, struct buf *out)
{
	static const struct {
		const char *word, *meaning;
	} words[] = { { "PIX", "by one switch" }, { "SOC", "by the socket" },
		{ "SYS", "across sockets" } };
	char seen[64][24], word[8], text[24];
	uint32_t nseen = 0;

	for (uint32_t i = 0; i < t->devices; i++) {
		for (uint32_t j = i + 1; j < t->devices; j++) {
			uint32_t k = 0;

			link_word(t, i, j, word);
			snprintf(text, sizeof(text), "%s %.4g", word, topology_Bps(t, i, j) / 1e9);
			while (k < nseen && strcmp(seen[k], text) != 0)
				k++;
			if (k < nseen || nseen == 64)
				continue;
			snprintf(seen[nseen++], sizeof(seen[0]), "%s", text);
			buf_printf(out, "%s%s: ", nseen > 1 ? "; " : "", word);
			if (word[0] == 'N')
				buf_printf(out, "%u direct link%s", topology_links(t, i, j),
					plural(topology_links(t, i, j)));
			for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
				buf_str(out, strcmp(words[w].word, word) ? "" : words[w].meaning);
			buf_printf(out, ", %.4g GB/s", topology_Bps(t, i, j) / 1e9);
		}
	}
	buf_char(out, '\n');
}

static void rings(const struct topology *t, struct buf *out)
{
	buf_str(out, "widest ring, GB/s by devices:");
	for (uint32_t n = 2; n <= t->devices; n++)
		buf_printf(out, "%s %u: %.4g", n > 2 ? "," : "", n, topology_best_ring_Bps(t, n) / 1e9);
	buf_char(out, '\n');
}

void topology_text(const struct cluster *c, const struct topology_host *host,
	const struct term *term, struct buf *out)
{
	if (host->name && host->cores)
		buf_printf(out, "%s: %u socket%s, %u core%s, %u thread%s, %u NUMA node%s\n",
			host->name, host->sockets, plural(host->sockets), host->cores,
			plural(host->cores), host->threads, plural(host->threads), host->numa_nodes,
			plural(host->numa_nodes));
	buf_printf(out, "%s: %u device%s on %u node%s in %u rack%s", c->spec ? c->spec : "cluster",
		c->devices, plural(c->devices), c->nnodes, plural(c->nnodes), c->nracks,
		plural(c->nracks));
	if (c->net_Bps > 0)
		buf_printf(out, ", %.3g GB/s between nodes", c->net_Bps / 1e9);
	buf_str(out, "\n\n");
	for (uint32_t i = 0; i < c->nracks; i++)
		rack_tree(c, i, term, out);
	for (uint32_t i = 0; i < c->ntopologies; i++) {
		const struct topology *t = &c->topologies[i];

		buf_char(out, '\n');
		node_tree(t, term, out);
		if (t->devices < 2)
			continue;
		buf_char(out, '\n');
		matrix(t, term, out);
		legend(t, out);
		rings(t, out);
	}
	if (!c->ntopologies)
		buf_str(out,
			"\nNothing is known of links inside nodes: every choice of devices is as good.\n");
}

/* ---- JSON */

static void json_rows(const struct topology *t, const char *key, struct json *j)
{
	char word[8];

	json_begin_array(j, key);
	for (uint32_t i = 0; i < t->devices; i++) {
		json_begin_array(j, NULL);
		for (uint32_t k = 0; k < t->devices; k++) {
			link_word(t, i, k, word);
			if (!strcmp(key, "Bps"))
				json_double(j, NULL, topology_Bps(t, i, k));
			else if (!strcmp(key, "links"))
				json_int(j, NULL, i == k ? 0 : topology_links(t, i, k));
			else
				json_str(j, NULL, nearness_names[topology_nearness(t, i, k)]);
		}
		json_end(j, ']');
	}
	json_end(j, ']');
}

static void json_topology(const struct topology *t, struct json *j)
{
	uint64_t left = t->devices < 64 ? (UINT64_C(1) << t->devices) - 1 : UINT64_MAX;

	json_begin_object(j, NULL);
	json_str(j, "name", t->name);
	json_int(j, "devices", t->devices);
	json_bool(j, "guessed", !t->grouped);
	json_begin_array(j, "sockets");
	while (left) {
		uint64_t socket = topology_socket(t, (uint32_t)__builtin_ctzll(left)) & left;

		left &= ~socket;
		json_begin_array(j, NULL);
		for (; socket; socket &= socket - 1)
			json_int(j, NULL, __builtin_ctzll(socket));
		json_end(j, ']');
	}
	json_end(j, ']');
	json_rows(t, "Bps", j);
	json_rows(t, "links", j);
	json_rows(t, "near", j);
	json_begin_array(j, "ring_Bps");
	for (uint32_t n = 1; n <= t->devices; n++)
		json_double(j, NULL, n > 1 ? topology_best_ring_Bps(t, n) : NAN);
	json_end(j, ']');
	json_end(j, '}');
}

static void json_host(const struct topology_host *host, struct json *j)
{
	if (!host->name)
		return;
	json_begin_object(j, "host");
	json_str(j, "name", host->name);
	json_int(j, "sockets", host->sockets);
	json_int(j, "numa_nodes", host->numa_nodes);
	json_int(j, "cores", host->cores);
	json_int(j, "threads", host->threads);
	json_end(j, '}');
}

static void json_node(const struct cluster *c, const struct node *n, struct json *j)
{
	json_begin_object(j, NULL);
	json_str(j, "name", n->name);
	json_str(j, "type", c->types[n->type].name);
	json_int(j, "devices", n->devices);
	json_str(j, "rack", c->racks[n->rack].name);
	json_str(j, "topology", n->topology == TOPOLOGY_NONE ? NULL : c->topologies[n->topology].name);
	json_end(j, '}');
}

void topology_json(const struct cluster *c, const struct topology_host *host, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "topology/1");
	json_str(&j, "spec", c->spec);
	json_double(&j, "net_Bps", c->net_Bps > 0 ? c->net_Bps : NAN);
	json_host(host, &j);
	json_begin_array(&j, "racks");
	for (uint32_t i = 0; i < c->nracks; i++) {
		json_begin_object(&j, NULL);
		json_str(&j, "name", c->racks[i].name);
		json_double(&j, "up_Bps", c->racks[i].up_Bps > 0 ? c->racks[i].up_Bps : NAN);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_begin_array(&j, "nodes");
	for (uint32_t i = 0; i < c->nnodes; i++)
		json_node(c, &c->nodes[i], &j);
	json_end(&j, ']');
	json_begin_array(&j, "topologies");
	for (uint32_t i = 0; i < c->ntopologies; i++)
		json_topology(&c->topologies[i], &j);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
}
