/*
 * A cluster's links as a picture: racks with their nodes on top, below them a circle of devices for every
 * kind of node.  Direct links are lines, the thicker the more; what goes by the host is dashed and
 * thin.  Devices of a socket lie side by side and are circled in one shade.
 */
#include <math.h>
#include <stdio.h>

#include "model/links.h"
#include "report/html.h"
#include "report/topology_report.h"

enum { WIDTH = 900, PANEL = 420, RADIUS = 140, BOX = 26, RACK_GAP = 10, ROW = 24 };

static void put_style(struct buf *out)
{
	buf_str(out,
		"<style>text{font:13px sans-serif;fill:#222}.t{font-weight:bold}.box{fill:#f4f4f4;stroke:#888}"
		".link{stroke:#0072b2;fill:none}.host{stroke:#999;stroke-dasharray:3 4;stroke-width:1}"
		".s0{fill:#fff;stroke:#222}.s1{fill:#f0e442;stroke:#222}.s2{fill:#cde;stroke:#222}.s3{fill:#fdc;stroke:#222}"
		"@media (prefers-color-scheme:dark){svg{background:#181818}text{fill:#eee}.box{fill:#2a2a2a}"
		".link{stroke:#56b4e9}.d{fill:#111}.host{stroke:#777}}</style>\n");
}

static void put_text(struct buf *out, double x, double y, const char *attributes, const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
	html_text(out, text);
	buf_str(out, "</text>\n");
}

/* ---- racks */

static double put_rack(const struct cluster *c, uint32_t rack, double y, struct buf *out)
{
	struct buf line = { 0 };
	double top = y;

	buf_printf(&line, "rack %s", c->racks[rack].name);
	if (c->racks[rack].up_Bps > 0)
		buf_printf(&line, ", %.3g GB/s up", c->racks[rack].up_Bps / 1e9);
	put_text(out, 30, y + 18, " class=\"t\"", line.at);
	y += ROW;
	for (uint32_t node = 0, n; node < c->nnodes; node += n) {
		const struct node *first = &c->nodes[node];

		n = topology_alike(c, node);
		if (first->rack != rack)
			continue;
		line.n = 0;
		buf_printf(&line, "%s", first->name);
		if (n > 1)
			buf_printf(&line, " to %s, %u nodes", c->nodes[node + n - 1].name, n);
		buf_printf(&line, ": %u x %s", first->devices, c->types[first->type].name);
		if (first->topology != TOPOLOGY_NONE)
			buf_printf(&line, ", linked as %s", c->topologies[first->topology].name);
		put_text(out, 50, y + 17, "", line.at);
		y += ROW;
	}
	buf_printf(out,
		"<rect class=\"box\" fill-opacity=\"0\" style=\"fill:none\" x=\"20\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"4\"/>\n",
		top, WIDTH - 40, y - top + 6);
	buf_fini(&line);
	return y + 6 + RACK_GAP;
}

/* ---- devices of a node */

struct ring {
	const struct topology *t;
	double x, y;
};

static double angle(const struct ring *r, uint32_t i)
{
	return -acos(-1) / 2 + 2 * acos(-1) * (i + 0.5) / r->t->devices;
}

static double at_x(const struct ring *r, uint32_t i)
{
	return r->x + RADIUS * cos(angle(r, i));
}

static double at_y(const struct ring *r, uint32_t i)
{
	return r->y + RADIUS * sin(angle(r, i));
}

static void put_link(const struct ring *r, uint32_t i, uint32_t j, struct buf *out)
{
	uint8_t links = topology_links(r->t, i, j);

	buf_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"",
		links ? "link" : "host", at_x(r, i), at_y(r, i), at_x(r, j), at_y(r, j));
	if (links)
		buf_printf(out, " stroke-width=\"%d\"", links > 4 ? 9 : 1 + 2 * links);
	buf_printf(out, "><title>%u-%u: %.4g GB/s", i, j, topology_Bps(r->t, i, j) / 1e9);
	if (links)
		buf_printf(out, ", %u link%s", links, links == 1 ? "" : "s");
	buf_str(out, "</title></line>\n");
}

static uint32_t socket_number(const struct topology *t, uint32_t device)
{
	uint64_t before = 0;
	uint32_t number = 0;

	for (uint32_t i = 0; !(topology_socket(t, device) >> i & 1); i++) {
		number += !(before >> i & 1);
		before |= topology_socket(t, i);
	}
	return number;
}

static void put_device(const struct ring *r, uint32_t i, struct buf *out)
{
	char number[16];

	buf_printf(out, "<circle class=\"d s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>\n",
		socket_number(r->t, i) % 4, at_x(r, i), at_y(r, i), BOX / 2);
	snprintf(number, sizeof(number), "%u", i);
	put_text(out, at_x(r, i), at_y(r, i) + 5, " text-anchor=\"middle\"", number);
}

static void put_node(const struct topology *t, double x, double y, struct buf *out)
{
	struct ring r = { t, x + PANEL / 2.0, y + 60 + RADIUS };
	struct buf line = { 0 };

	buf_printf(&line, "%s: %u devices", t->name, t->devices);
	put_text(out, r.x, y + 24, " class=\"t\" text-anchor=\"middle\"", line.at);
	for (int direct = 0; direct < 2; direct++) {
		for (uint32_t i = 0; i < t->devices; i++) {
			for (uint32_t j = i + 1; j < t->devices; j++) {
				if ((topology_links(t, i, j) > 0) == direct)
					put_link(&r, i, j, out);
			}
		}
	}
	for (uint32_t i = 0; i < t->devices; i++)
		put_device(&r, i, out);
	line.n = 0;
	buf_str(&line, "widest ring, GB/s:");
	for (uint32_t n = 2; n <= t->devices && n <= 8; n++)
		buf_printf(&line, " %u: %.4g", n, topology_best_ring_Bps(t, n) / 1e9);
	put_text(out, r.x, y + 60 + 2 * RADIUS + 40, " text-anchor=\"middle\"", line.at);
	buf_fini(&line);
}

static uint32_t rack_rows(const struct cluster *c)
{
	uint32_t rows = c->nracks;

	for (uint32_t node = 0; node < c->nnodes; node += topology_alike(c, node))
		rows++;
	return rows;
}

void topology_svg(const struct cluster *c, struct buf *out)
{
	double y = 50, panel = 2 * RADIUS + 120;
	double height = y + rack_rows(c) * ROW + c->nracks * (RACK_GAP + 6) + 20;

	height += (c->ntopologies + 1) / 2 * panel + (c->ntopologies ? 30 : 0);
	buf_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\">\n<title>",
		WIDTH, height, WIDTH, height);
	html_text(out, c->spec ? c->spec : "cluster");
	buf_printf(out,
		"</title>\n<desc>%u device%s on %u node%s in %u rack%s; lines are direct links, thicker where there are more, dashed lines go by the host.</desc>\n",
		c->devices, c->devices == 1 ? "" : "s", c->nnodes, c->nnodes == 1 ? "" : "s",
		c->nracks, c->nracks == 1 ? "" : "s");
	put_style(out);
	put_text(out, 20, 30, " class=\"t\" style=\"font-size:16px\"", c->spec ? c->spec : "cluster");
	for (uint32_t i = 0; i < c->nracks; i++)
		y = put_rack(c, i, y, out);
	for (uint32_t i = 0; i < c->ntopologies; i++)
		put_node(&c->topologies[i], 20 + i % 2 * (WIDTH / 2.0), y + i / 2 * panel, out);
	if (c->ntopologies)
		put_text(out, 20, height - 12, "",
			"Solid: direct links, thicker where there are more. Dashed: by the host. One shade: one socket.");
	buf_str(out, "</svg>\n");
}
