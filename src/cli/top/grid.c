#include "cli/top/grid.h"

#include <string.h>

#include "base/glyph.h"
#include "cli/live_print.h"
#include "model/cluster.h"

enum { LABEL_MAX = 20, LABEL_NARROW = 10, NARROW = 60, GAP = 2, BAR_COLUMNS = 32 };

/* ---- types, in the order of their nodes */

struct kind {
	const char *name;
	uint32_t nodes, devices, held, down, drained;
};

struct kinds {
	struct kind at[TYPES_MAX + 1]; /* all that come after the last are counted with it */
	uint32_t n;
};

static const char *type_of(const struct view_node *node)
{
	return node->type ? node->type : "";
}

static struct kind *kind_of(struct kinds *kinds, const char *name)
{
	for (uint32_t i = 0; i < kinds->n; i++) {
		if (!strcmp(kinds->at[i].name, name))
			return &kinds->at[i];
	}
	if (kinds->n > TYPES_MAX)
		return &kinds->at[TYPES_MAX];
	kinds->at[kinds->n] = (struct kind){ .name = name };
	return &kinds->at[kinds->n++];
}

static void count_node(const struct view *view, const struct view_node *node, struct kind *kind)
{
	kind->nodes++;
	kind->devices += node->ndevices;
	for (uint32_t i = 0; i < node->ndevices; i++) {
		const struct view_device *device = &view->devices[node->first + i];

		kind->held += device->holders > 0;
		kind->down += device->down;
		kind->drained += device->drained;
	}
}

static struct kinds count_kinds(const struct view *view)
{
	struct kinds kinds = { .n = 0 };

	for (uint32_t i = 0; i < view->nnodes; i++) {
		if (view->nodes[i].ndevices)
			count_node(view, &view->nodes[i], kind_of(&kinds, type_of(&view->nodes[i])));
	}
	return kinds;
}

/* ---- plans */

static int divide_up(int a, int b)
{
	return (a + b - 1) / b;
}

static int at_most(int a, int b)
{
	return a < b ? a : b;
}

static int label_columns(const struct view *view, int columns)
{
	int most = columns < NARROW ? LABEL_NARROW : LABEL_MAX, widest = 1;

	for (uint32_t i = 0; i < view->nnodes && widest < most; i++) {
		int n = (int)glyph_columns(view->nodes[i].name);

		widest = n > widest ? n : widest;
	}
	return at_most(widest, most) + 1;
}

static int most_devices(const struct view *view)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < view->nnodes; i++)
		most = view->nodes[i].ndevices > most ? view->nodes[i].ndevices : most;
	return (int)most;
}

static int nodes_with_devices(const struct view *view)
{
	int n = 0;

	for (uint32_t i = 0; i < view->nnodes; i++)
		n += view->nodes[i].ndevices > 0;
	return n;
}

/* `cell` columns for a device; no lines: it cannot be. */
static struct grid plan_devices(const struct view *view, int columns, int cell)
{
	struct grid g = { .form = cell > 1 ? GRID_WIDE : GRID_NARROW };
	int devices = most_devices(view), room;

	g.label = label_columns(view, columns);
	room = columns - g.label;
	if (room < cell)
		return g;
	g.per = at_most(devices, room / cell);
	g.each = divide_up(devices, g.per);
	g.block = g.label + g.per * cell + GAP;
	g.blocks = g.each > 1 ? 1 : (columns + GAP) / g.block;
	g.blocks = g.blocks > 0 ? g.blocks : 1;
	g.lines = divide_up(nodes_with_devices(view), g.blocks) * g.each;
	return g;
}

static int kind_label(const struct kinds *kinds)
{
	int widest = 1;

	for (uint32_t i = 0; i < kinds->n; i++) {
		int n = (int)glyph_columns(kinds->at[i].name);

		widest = n > widest ? n : widest;
	}
	return at_most(widest, LABEL_MAX) + 1;
}

static struct grid plan_nodes(const struct kinds *kinds, int columns)
{
	struct grid g = { .form = GRID_NODES, .label = kind_label(kinds) };

	g.per = columns - g.label;
	if (g.per < 1)
		return g;
	for (uint32_t i = 0; i < kinds->n; i++)
		g.lines += divide_up((int)kinds->at[i].nodes, g.per);
	return g;
}

struct grid grid_plan(const struct view *view, int columns, int lines)
{
	struct grid tries[4];
	struct kinds kinds;

	if (!view->ndevices)
		return (struct grid){ .form = GRID_ALL };
	kinds = count_kinds(view);
	tries[0] = plan_devices(view, columns, 2);
	tries[1] = plan_devices(view, columns, 1);
	tries[2] = plan_nodes(&kinds, columns);
	tries[3] = (struct grid){ GRID_TYPES, .lines = (int)kinds.n, .label = kind_label(&kinds) };
	for (int i = 0; i < 4; i++) {
		if (tries[i].lines > 0 && tries[i].lines <= lines)
			return tries[i];
	}
	return (struct grid){ .form = GRID_ALL, .lines = 1 };
}

/* ---- signs */

enum style letter_style(char letter)
{
	return (enum style)(STYLE_JOB + letter_number(letter) % JOB_STYLES);
}

/* One character for a device that jobs share. */
static void put_shared(const struct view_device *device, char out[2])
{
	out[0] = device->holders < 10 ? (char)('0' + device->holders) : '+';
	out[1] = '\0';
}

static void draw_device(const struct view *view, const struct view_device *device,
	struct canvas *canvas, int x, int y, bool marks)
{
	const struct view_job *job = device->job < view->njobs ? &view->jobs[device->job] : NULL;
	char sign[2] = { job && job->letter ? job->letter : '#', '\0' };
	bool held = device->holders > 0;

	if (device->holders > 1)
		put_shared(device, sign);
	if (held)
		canvas_put(canvas, x, y, 1,
			device->holders > 1 ? STYLE_STRONG : letter_style(sign[0]), sign);
	else if (device->down)
		canvas_put(canvas, x, y, 1, STYLE_ALERT, "x");
	else if (device->drained)
		canvas_put(canvas, x, y, 1, STYLE_FAINT, "/");
	else
		canvas_put(canvas, x, y, 1, STYLE_FAINT, canvas->utf8 ? "·" : ".");
	if (!marks || !held)
		return;
	if (device->down)
		canvas_put(canvas, x + 1, y, 1, STYLE_ALERT, "x");
	else if (job && job->idle)
		canvas_put(canvas, x + 1, y, 1, STYLE_ALERT, "!");
	else if (device->drained)
		canvas_put(canvas, x + 1, y, 1, STYLE_PLAIN, "/");
}

/* How much of a node is held, as a sign. */
static void draw_node_sign(const struct view *view, const struct view_node *node,
	struct canvas *canvas, int x, int y)
{
	static const char *const blocks[] = { "▁", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	struct kind k = { 0 };
	char digit[2] = { 0 };
	int eighths;

	count_node(view, node, &k);
	eighths = (int)((k.held * 8 + k.devices - 1) / k.devices);
	digit[0] = (char)('0' + eighths);
	if (k.down == k.devices)
		canvas_put(canvas, x, y, 1, STYLE_ALERT, "x");
	else if (!k.held)
		canvas_put(canvas, x, y, 1, STYLE_FAINT,
			k.drained == k.devices ? "/"
				: canvas->utf8 ? "·"
					       : ".");
	else
		canvas_put(canvas, x, y, 1, STYLE_PLAIN, canvas->utf8 ? blocks[eighths] : digit);
}

/* ---- drawing */

static void draw_devices(const struct grid *g, const struct view *view, struct canvas *canvas, int y)
{
	int cell = g->form == GRID_WIDE ? 2 : 1, shown = 0;

	for (uint32_t i = 0; i < view->nnodes; i++) {
		const struct view_node *node = &view->nodes[i];
		int x = shown % g->blocks * g->block, top = y + shown / g->blocks * g->each;

		if (!node->ndevices)
			continue;
		shown++;
		canvas_put(canvas, x, top, g->label - 1, STYLE_PLAIN, node->name);
		for (int k = 0; k < (int)node->ndevices; k++)
			draw_device(view, &view->devices[(int)node->first + k], canvas,
				x + g->label + k % g->per * cell, top + k / g->per, cell > 1);
	}
}

static void draw_nodes(const struct grid *g, const struct view *view, struct canvas *canvas, int y)
{
	struct kinds kinds = count_kinds(view);

	for (uint32_t k = 0; k < kinds.n; k++) {
		int shown = 0;

		canvas_put(canvas, 0, y, g->label - 1, STYLE_PLAIN, kinds.at[k].name);
		for (uint32_t i = 0; i < view->nnodes; i++) {
			const struct view_node *node = &view->nodes[i];

			if (!node->ndevices || strcmp(type_of(node), kinds.at[k].name) != 0)
				continue;
			draw_node_sign(view, node, canvas, g->label + shown % g->per,
				y + shown / g->per);
			shown++;
		}
		y += divide_up((int)kinds.at[k].nodes, g->per);
	}
}

static void draw_bar(const struct kind *kind, int label, struct canvas *canvas, int y)
{
	struct term term = { .utf8 = canvas->utf8 };
	int columns = at_most(BAR_COLUMNS, (canvas->columns - label) / 2), x = label;
	struct buf text = { 0 };

	canvas_put(canvas, 0, y, label - 1, STYLE_PLAIN, kind->name);
	if (columns > 2)
		live_bar(kind->devices ? (double)kind->held / kind->devices : 0, columns, &term, &text);
	buf_printf(&text, " %u of %u held", kind->held, kind->devices);
	if (kind->down)
		buf_printf(&text, ", %u down", kind->down);
	if (kind->drained)
		buf_printf(&text, ", %u drained", kind->drained);
	canvas_put(canvas, x, y, canvas->columns - x, STYLE_PLAIN, text.at);
	buf_fini(&text);
}

static void draw_kinds(const struct grid *g, const struct view *view, struct canvas *canvas, int y)
{
	struct kinds kinds = count_kinds(view);

	for (uint32_t i = 0; i < kinds.n; i++)
		draw_bar(&kinds.at[i], g->label, canvas, y + (int)i);
}

static void draw_all(const struct view *view, struct canvas *canvas, int y)
{
	struct kind all = { .name = "devices" };

	for (uint32_t i = 0; i < view->nnodes; i++)
		count_node(view, &view->nodes[i], &all);
	draw_bar(&all, (int)strlen(all.name) + 1, canvas, y);
}

void grid_draw(const struct grid *g, const struct view *view, struct canvas *canvas, int y)
{
	if (!g->lines)
		return;
	switch (g->form) {
	case GRID_WIDE:
	case GRID_NARROW:
		draw_devices(g, view, canvas, y);
		break;
	case GRID_NODES:
		draw_nodes(g, view, canvas, y);
		break;
	case GRID_TYPES:
		draw_kinds(g, view, canvas, y);
		break;
	case GRID_ALL:
		draw_all(view, canvas, y);
		break;
	}
}
