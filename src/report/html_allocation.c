/*
 * What single jobs held over time: a row for each job, as high as it has
 * devices, with the look of their type.
 *
 * Every policy has the same jobs, those that changed their size most over all
 * policies, so that its pictures can be compared row by row.
 */
#include "report/html_sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "io/csv.h"
#include "report/svg_draw.h"

enum {
	ROWS_ALONE = 40, /* jobs of a single run */
	ROWS_MANY = 24,  /* and of several side by side */
	ROW_HEIGHT = 22,
	BAR_HEIGHT = 19,   /* of the widest job */
	LABEL_WIDTH = 132, /* left of the bars */
	PIECES_MAX = 200,  /* of one row; shorter ones join the one before */
	TYPES_SHOWN = 2 * SVG_COLOURS,
};

/* So many devices from then to then. */
struct piece {
	double from_s, to_s;
	uint32_t gpus;
	uint32_t type; /* of most of them */
};

struct pieces {
	struct piece *at;
	size_t n, cap;
};

/* What the pictures have in common. */
struct allocation {
	const struct comparison *c;
	const char *types[TYPES_SHOWN]; /* of the nodes */
	uint32_t ntypes;
	uint8_t *type_of;          /* by node */
	uint32_t rows[ROWS_ALONE]; /* ids of jobs */
	uint32_t nrows;
	uint32_t most;         /* devices that one of them had */
	double from_s;         /* of the run */
	double begin_s, end_s; /* since then */
};

/* ---- which types there are */

static uint32_t type_number(struct allocation *a, const char *name)
{
	for (uint32_t i = 0; i < a->ntypes; i++) {
		if (!strcmp(a->types[i], name))
			return i;
	}
	if (a->ntypes == TYPES_SHOWN)
		return TYPES_SHOWN - 1;
	a->types[a->ntypes] = name;
	return a->ntypes++;
}

static void find_types(struct allocation *a)
{
	a->type_of = mem_alloc(a->c->nnodes + 1);
	for (uint32_t i = 0; i < a->c->nnodes; i++) {
		const char *name = a->c->nodes[i].type;

		a->type_of[i] = (uint8_t)type_number(a, name ? name : "GPU");
	}
}

/* ---- pieces of a job */

/* The spans that began together are one grant; returns how many these are. */
static uint32_t piece_at(const struct allocation *a, const struct timeline *line, uint32_t first,
	struct piece *out)
{
	uint32_t of_type[TYPES_SHOWN] = { 0 }, i;

	*out = (struct piece){ line->spans[first].from_s, line->spans[first].to_s, 0, 0 };
	for (i = first; i < line->nspans && line->spans[i].from_s == out->from_s; i++) {
		uint32_t gpus = (uint32_t)__builtin_popcountll(line->spans[i].devices);
		uint32_t node = line->spans[i].node;

		out->gpus += gpus;
		if (node < a->c->nnodes)
			of_type[a->type_of[node]] += gpus;
	}
	for (uint32_t t = 1; t < a->ntypes; t++) {
		if (of_type[t] > of_type[out->type])
			out->type = t;
	}
	return i - first;
}

static bool joins(const struct piece *last, const struct piece *next, double shortest_s)
{
	if (next->from_s > last->to_s)
		return false;
	return (last->gpus == next->gpus && last->type == next->type) ||
		next->to_s - next->from_s < shortest_s;
}

/* Its devices over time; what changes nothing that can be seen is left out. */
static struct pieces pieces_of(const struct allocation *a, const struct timeline *line, double shortest_s)
{
	struct pieces pieces = { 0 };

	for (uint32_t i = 0; i < line->nspans;) {
		struct piece piece;

		i += piece_at(a, line, i, &piece);
		if (!isfinite(piece.to_s - piece.from_s))
			continue;
		if (pieces.n && joins(&pieces.at[pieces.n - 1], &piece, shortest_s))
			pieces.at[pieces.n - 1].to_s = fmax(piece.to_s, pieces.at[pieces.n - 1].to_s);
		else
			vec_push(&pieces, piece);
	}
	return pieces;
}

/* ---- which jobs are shown */

static const struct timeline *line_of(const struct picture *p, uint32_t id)
{
	uint32_t lo = 0, hi = p->lines.n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (p->lines.at[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->lines.n && p->lines.at[lo].id == id ? &p->lines.at[lo] : NULL;
}

/* A job that might be shown. */
struct candidate {
	uint32_t id;
	uint64_t resizes;
	double held_s;
};

static int more_telling_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->resizes != y->resizes)
		return x->resizes < y->resizes ? 1 : -1;
	if (x->held_s != y->held_s)
		return x->held_s < y->held_s ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void add_line(struct candidate *candidate, const struct timeline *line)
{
	candidate->resizes += line->resizes;
	for (uint32_t k = 0; k < line->nspans; k++) {
		double held_s = line->spans[k].to_s - line->spans[k].from_s;

		if (isfinite(held_s))
			candidate->held_s += held_s;
	}
}

/* The longest jobs are the same under every policy, so those of the first will do. */
static void choose_rows(struct allocation *a)
{
	const struct comparison *c = a->c;
	const struct timelines *first = &c->policies[0].picture.lines;
	uint32_t room = c->npolicies > 1 ? ROWS_MANY : ROWS_ALONE, n = first->n;
	struct candidate *all = mem_alloc(mem_array_size(n + 1, sizeof(*all)));

	for (uint32_t i = 0; i < n; i++) {
		all[i].id = first->at[i].id;
		for (uint32_t p = 0; p < c->npolicies; p++) {
			const struct timeline *line = line_of(&c->policies[p].picture, all[i].id);

			if (line)
				add_line(&all[i], line);
		}
	}
	qsort(all, n, sizeof(*all), more_telling_first);
	for (uint32_t i = 0; i < n && a->nrows < room; i++) {
		if (all[i].held_s > 0)
			a->rows[a->nrows++] = all[i].id;
	}
	qsort(a->rows, a->nrows, sizeof(a->rows[0]), by_id);
	free(all);
}

static void measure_line(struct allocation *a, const struct timeline *line)
{
	struct pieces pieces = pieces_of(a, line, 0);

	a->begin_s = fmin(a->begin_s, line->arrival_s - a->from_s);
	for (size_t i = 0; i < pieces.n; i++) {
		a->end_s = fmax(a->end_s, pieces.at[i].to_s - a->from_s);
		a->most = pieces.at[i].gpus > a->most ? pieces.at[i].gpus : a->most;
	}
	vec_fini(&pieces);
}

static void measure(struct allocation *a)
{
	a->begin_s = INFINITY;
	a->most = 1;
	for (uint32_t p = 0; p < a->c->npolicies; p++) {
		for (uint32_t r = 0; r < a->nrows; r++) {
			const struct timeline *line = line_of(&a->c->policies[p].picture, a->rows[r]);

			if (line)
				measure_line(a, line);
		}
	}
	/* Time begins with the run unless that would leave much of the picture empty. */
	if (!(a->begin_s > 0.15 * a->end_s))
		a->begin_s = 0;
	if (!(a->end_s > a->begin_s))
		a->end_s = a->begin_s + 1;
}

/* ---- a picture */

/* The square root, so that one device can be seen beside a job of a hundred. */
static double height_of(const struct allocation *a, uint32_t gpus)
{
	return fmax(2, BAR_HEIGHT * sqrt((double)gpus / a->most));
}

static void put_bar(const struct svg_scale *x, const struct piece *piece, double from_s,
	double bottom, double height, struct buf *out)
{
	double left = svg_at(x, piece->from_s - from_s);
	double width = fmax(svg_at(x, piece->to_s - from_s) - left, 0.6);

	buf_char(out, 'M');
	svg_put_point(out, left, bottom - height);
	buf_char(out, 'h');
	svg_put(out, width);
	buf_char(out, 'V');
	svg_put(out, bottom);
	buf_char(out, 'h');
	svg_put(out, -width);
	buf_char(out, 'z');
}

static void put_title(const struct timeline *line, const struct pieces *pieces, struct buf *out)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (size_t i = 0; i < pieces->n; i++) {
		least = pieces->at[i].gpus < least ? pieces->at[i].gpus : least;
		most = pieces->at[i].gpus > most ? pieces->at[i].gpus : most;
	}
	buf_str(out, "<title>");
	html_text(out, line->label);
	if (line->model) {
		buf_str(out, " (");
		html_text(out, line->model);
		buf_char(out, ')');
	}
	if (!pieces->n)
		buf_str(out, ": never had devices");
	else if (least < most)
		buf_printf(out, ": %u to %u devices", (unsigned)least, (unsigned)most);
	else
		buf_printf(out, ": %u device%s", (unsigned)most, most == 1 ? "" : "s");
	buf_printf(out, ", resized %u time%s, restarted %u time%s</title>", (unsigned)line->resizes,
		line->resizes == 1 ? "" : "s", (unsigned)line->restarts,
		line->restarts == 1 ? "" : "s");
}

/* From arrival to end: where there is no bar on it, the job waits. */
static void put_life(const struct allocation *a, const struct timeline *line,
	const struct svg_scale *x, double y, struct buf *out)
{
	double end_s = isfinite(line->finish_s) ? line->finish_s - a->from_s : a->end_s;

	buf_str(out, "<path class=\"life\" d=\"M");
	svg_put_point(out, svg_at(x, line->arrival_s - a->from_s), y);
	buf_char(out, 'H');
	svg_put(out, svg_at(x, end_s));
	buf_str(out, "\"/>");
}

/* Its pieces as they can be seen on that scale. */
static struct pieces visible_pieces(const struct allocation *a, const struct timeline *line,
	const struct svg_scale *x)
{
	double end_s = isfinite(line->finish_s) ? line->finish_s - a->from_s : a->end_s;
	double life_s = end_s - (line->arrival_s - a->from_s);
	double pixel_s = (x->hi - x->lo) / (x->to - x->from);

	return pieces_of(a, line, fmax(pixel_s / 2, life_s / PIECES_MAX));
}

static double bottom_of(uint32_t row)
{
	return 2 + (double)(row + 1) * ROW_HEIGHT;
}

/* Everything but the bars; what is said where the pointer is. */
static void put_row(const struct allocation *a, const struct timeline *line,
	const struct svg_scale *x, uint32_t row, struct buf *out)
{
	struct pieces pieces = visible_pieces(a, line, x);
	double bottom = bottom_of(row);

	buf_str(out, "<g>");
	put_title(line, &pieces, out);
	buf_printf(out, "<rect class=\"row\" x=\"0\" y=\"%g\" width=\"%d\" height=\"%d\"/>",
		bottom - ROW_HEIGHT + 1, HTML_FULL, ROW_HEIGHT);
	svg_text(&(struct svg_text){ LABEL_WIDTH - 6, bottom - 4, NULL, "end", 20 }, line->label, out);
	put_life(a, line, x, bottom - 0.5, out);
	buf_str(out, "</g>\n");
	vec_fini(&pieces);
}

/* The bars of one type, of all rows in one path: hatchings make each path large in print. */
static void put_bars(const struct allocation *a, const struct picture *p, uint32_t type,
	const struct svg_scale *x, struct buf *out)
{
	buf_printf(out, "<path class=\"piece h%u\" d=\"", (unsigned)type);
	for (uint32_t r = 0; r < a->nrows; r++) {
		const struct timeline *line = line_of(p, a->rows[r]);
		struct pieces pieces = { 0 };

		if (line)
			pieces = visible_pieces(a, line, x);
		for (size_t i = 0; i < pieces.n; i++) {
			if (pieces.at[i].type == type)
				put_bar(x, &pieces.at[i], a->from_s, bottom_of(r),
					height_of(a, pieces.at[i].gpus), out);
		}
		vec_fini(&pieces);
	}
	buf_str(out, "\"/>\n");
}

static void put_axis(const struct svg_scale *x, double bottom, struct buf *out)
{
	double ticks[TICKS_MAX];
	size_t n = svg_ticks(x, UNIT_SECONDS, 11, ticks);
	struct buf label = { 0 };

	buf_str(out, "<path class=\"grid\" d=\"");
	for (size_t i = 0; i < n; i++) {
		buf_char(out, 'M');
		svg_put_point(out, svg_at(x, ticks[i]), 2);
		buf_char(out, 'V');
		svg_put(out, bottom);
	}
	buf_str(out, "\"/>");
	for (size_t i = 0; i < n; i++) {
		buf_clear(&label);
		svg_tick_label(UNIT_SECONDS, ticks[i], n > 1 ? ticks[1] - ticks[0] : 0, &label);
		svg_text(&(struct svg_text){ svg_at(x, ticks[i]), bottom + 14, NULL, "middle", 0 },
			label.at, out);
	}
	buf_fini(&label);
}

static void put_picture(const struct allocation *a, uint32_t policy, struct buf *out)
{
	const struct compare_policy *p = &a->c->policies[policy];
	struct svg_scale x = { a->begin_s, a->end_s, LABEL_WIDTH, HTML_FULL - 14, false };
	double bottom = 4 + (double)a->nrows * ROW_HEIGHT;
	struct buf id = { 0 }, summary = { 0 };
	uint64_t resizes = 0;

	for (uint32_t r = 0; r < a->nrows; r++) {
		const struct timeline *line = line_of(&p->picture, a->rows[r]);

		resizes += line ? line->resizes : 0;
	}
	buf_printf(&id, "allocation-%u", (unsigned)policy);
	buf_printf(&summary, "%s: devices of %u jobs over time; they were resized %llu times",
		p->label, (unsigned)a->nrows, (unsigned long long)resizes);
	html_figure(p->label, NULL, true, out);
	svg_begin(&(struct svg_chart){ id.at, "Allocation of jobs over time", summary.at, HTML_FULL, 0 },
		(int)bottom + 22, "chart", out);
	put_axis(&x, bottom, out);
	for (uint32_t r = 0; r < a->nrows; r++) {
		const struct timeline *line = line_of(&p->picture, a->rows[r]);

		if (line)
			put_row(a, line, &x, r, out);
	}
	for (uint32_t t = 0; t < a->ntypes; t++)
		put_bars(a, &p->picture, t, &x, out);
	svg_end(out);
	html_figure_end(true, out);
	buf_fini(&id);
	buf_fini(&summary);
}

/* ---- what the bars mean */

/* One, two, four, … devices up to the most, of which there are `n`. */
static uint32_t example_sizes(const struct allocation *a, uint32_t sizes[8])
{
	uint32_t n = 0;

	for (uint32_t gpus = 1; gpus < a->most && n < 7; gpus *= 2)
		sizes[n++] = gpus;
	sizes[n++] = a->most;
	return n;
}

/* How high so many devices are. */
static void put_heights(const struct allocation *a, struct buf *out)
{
	enum { SAMPLE = 12, APART = 44 };
	uint32_t sizes[8], n = example_sizes(a, sizes);

	buf_printf(out,
		"<li><svg class=\"key\" viewBox=\"0 0 %u %d\" role=\"img\" "
		"aria-label=\"Bars are as high as the square root of the job's devices, up to %u\">",
		(unsigned)n * APART, BAR_HEIGHT + 1, (unsigned)a->most);
	for (uint32_t i = 0; i < n; i++) {
		struct buf number = { 0 };
		unsigned x = i * APART;

		buf_printf(out, "<path class=\"piece h0\" d=\"M%u %dv", x, BAR_HEIGHT + 1);
		svg_put(out, -height_of(a, sizes[i]));
		buf_printf(out, "h%dV%dz\"/>", SAMPLE, BAR_HEIGHT + 1);
		buf_printf(&number, "%u", (unsigned)sizes[i]);
		svg_text(&(struct svg_text){ x + SAMPLE + 4, BAR_HEIGHT - 2, NULL, NULL, 0 },
			number.at, out);
		buf_fini(&number);
	}
	buf_str(out, "</svg><span>devices</span></li>\n");
}

static void put_legend(const struct allocation *a, struct buf *out)
{
	buf_str(out, "<ul class=\"legend\">\n");
	for (uint32_t t = 0; t < a->ntypes; t++) {
		buf_str(out, "<li>");
		svg_part_sample(t, out);
		buf_str(out, "<span>");
		html_text(out, a->types[t]);
		buf_str(out, "</span></li>\n");
	}
	put_heights(a, out);
	buf_str(out, "</ul>\n");
}

static void line_csv(const struct allocation *a, const char *policy, const struct timeline *line,
	struct buf *out)
{
	struct pieces pieces = pieces_of(a, line, 0);

	for (size_t i = 0; i < pieces.n; i++) {
		csv_write_text(out, policy);
		buf_char(out, ',');
		csv_write_text(out, line->label);
		buf_char(out, ',');
		csv_write_text(out, line->model ? line->model : "");
		buf_printf(out, ",%.7g,%.7g,%u,", pieces.at[i].from_s, pieces.at[i].to_s,
			(unsigned)pieces.at[i].gpus);
		csv_write_text(out, a->types[pieces.at[i].type]);
		buf_char(out, '\n');
	}
	vec_fini(&pieces);
}

static void put_data(const struct allocation *a, struct buf *out)
{
	struct buf csv = { 0 };

	buf_str(&csv, "policy,job,model,from_s,to_s,gpus,type\n");
	for (uint32_t p = 0; p < a->c->npolicies; p++) {
		for (uint32_t r = 0; r < a->nrows; r++) {
			const struct timeline *line = line_of(&a->c->policies[p].picture, a->rows[r]);

			if (line)
				line_csv(a, a->c->policies[p].label, line, &csv);
		}
	}
	buf_str(out, "<details><summary>Data</summary>");
	html_download("allocation.csv", &csv, out);
	buf_str(out, "</details>\n");
	buf_fini(&csv);
}

static void put_note(const struct allocation *a, struct buf *out)
{
	const struct picture *first = &a->c->policies[0].picture;
	bool cut = false;

	for (uint32_t i = 0; i < a->c->npolicies; i++)
		cut |= a->c->policies[i].picture.lines.cut;
	buf_str(out, "<p class=\"note\">");
	if (a->nrows < first->lines.elastic)
		buf_printf(out,
			"Of %u jobs that may change their size or batch, the %u%s that changed most, by arrival. ",
			(unsigned)first->lines.elastic, (unsigned)a->nrows,
			first->lines.elastic > TIMELINES_MAX ? " long ones" : "");
	else
		buf_str(out, "Jobs that may change their size or batch, by arrival. ");
	buf_str(out,
		"The more devices a job has, the higher its bar; a thin line alone means that it waits.");
	if (a->c->nseeds > 1)
		buf_str(out, " With the first seed.");
	if (cut)
		buf_str(out, " The run was too long to be recorded whole: later bars are missing.");
	buf_str(out, "</p>\n");
}

/* ---- the section */

bool allocation_shows(const struct comparison *c)
{
	for (uint32_t i = 0; c->nnodes && i < c->npolicies; i++) {
		const struct timelines *lines = &c->policies[i].picture.lines;

		for (uint32_t k = 0; k < lines->n; k++) {
			if (lines->at[k].nspans && lines->at[k].max_gpus > lines->at[k].min_gpus)
				return true;
		}
	}
	return false;
}

void html_allocation(const struct comparison *c, struct buf *out)
{
	struct allocation a = { .c = c };

	if (!allocation_shows(c))
		return;
	a.from_s = c->policies[0].picture.from_s;
	find_types(&a);
	choose_rows(&a);
	measure(&a);
	html_section("allocation", "Allocation of jobs over time", NULL, out);
	put_note(&a, out);
	put_legend(&a, out);
	for (uint32_t i = 0; i < c->npolicies; i++)
		put_picture(&a, i, out);
	put_data(&a, out);
	html_section_end(out);
	free(a.type_of);
}
