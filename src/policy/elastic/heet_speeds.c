#include "policy/elastic/heet_speeds.h"

#include <math.h>
#include <string.h>

#include "solver/tensor.h"

#define LEAST 0.05
#define MOST 1.1 /* of an estimate, against a single device of the type */

struct filling {
	struct heet_speeds *speeds;
	const struct heet_row *rows;
	struct heet_source source;
	struct tensor_entry *known;
	uint32_t nknown;
	bool *covered;  /* [type][count]: somebody has measured it */
	bool *measured; /* [row][type][count] */
};

static double *entry(const struct heet_speeds *s, uint32_t row, uint32_t type, uint32_t count)
{
	return &s->efficiency[((size_t)row * s->types + type) * s->counts + count];
}

static uint32_t first_type(uint32_t types)
{
	return (uint32_t)__builtin_ctz(types);
}

/* The next type after `type` that is in the set, going round. */
static uint32_t next_type(uint32_t types, uint32_t type, uint32_t ntypes)
{
	do
		type = (type + 1) % ntypes;
	while (!(types >> type & 1));
	return type;
}

static uint32_t count_of(uint32_t gpus)
{
	return 31 - (uint32_t)__builtin_clz(gpus);
}

/* Asks for one entry, unless it is known. */
static void measure(struct filling *f, uint32_t row, uint32_t type, uint32_t count)
{
	double *e, speed;
	uint32_t gpus = UINT32_C(1) << count;

	if (count >= f->speeds->counts)
		return;
	e = entry(f->speeds, row, type, count);
	if (*e > 0)
		return;
	speed = f->source.speed(f->source.ctx, row, type, gpus);
	if (!(speed > 0) || !isfinite(speed))
		return;
	*e = speed / (gpus * f->speeds->single[row]);
	f->covered[type * f->speeds->counts + count] = true;
	f->measured[e - f->speeds->efficiency] = true;
	f->known[f->nknown++] = (struct tensor_entry){ { row, type, count }, *e };
}

/* One device on two types, one size of several devices, and what it runs on. */
static void measure_row(struct filling *f, uint32_t row)
{
	const struct heet_row *r = &f->rows[row];
	uint32_t first = first_type(r->types), sizes = count_of(r->most);
	uint32_t other = first;

	for (uint32_t i = 0; i <= r->tag % f->speeds->types; i++)
		other = next_type(r->types, other, f->speeds->types);
	measure(f, row, first, 0);
	measure(f, row, other, 0);
	if (sizes > 0)
		measure(f, row, r->tag % 2 ? other : first, 1 + r->tag % sizes);
	if (r->now > 0)
		measure(f, row, r->type, count_of(r->now));
}

static void measure_all(struct filling *f, uint32_t row)
{
	for (uint32_t type = 0; type < f->speeds->types; type++) {
		for (uint32_t c = 0; c <= count_of(f->rows[row].most); c++) {
			if (f->rows[row].types >> type & 1)
				measure(f, row, type, c);
		}
	}
}

/* What nobody has measured yet the first does who may. */
static void cover(struct filling *f, uint32_t row)
{
	for (uint32_t type = 0; type < f->speeds->types; type++) {
		for (uint32_t c = 0; c <= count_of(f->rows[row].most); c++) {
			if ((f->rows[row].types >> type & 1) &&
				!f->covered[type * f->speeds->counts + c])
				measure(f, row, type, c);
		}
	}
}

/* The best that was measured of more devices: with fewer it cannot be worse. */
static double measured_beyond(const double *efficiency, const bool *measured, uint32_t c, uint32_t counts)
{
	double best = 0;

	for (uint32_t d = c + 1; d < counts; d++) {
		if (measured[d])
			best = fmax(best, efficiency[d]);
	}
	return best;
}

void heet_tidy(double *efficiency, const bool *measured, uint32_t counts)
{
	double single = efficiency[0];

	for (uint32_t c = 1; c < counts; c++) {
		double least = fmax(LEAST * single, measured_beyond(efficiency, measured, c, counts));
		double most = fmin(MOST * single, efficiency[c - 1]);

		if (!measured[c])
			efficiency[c] = fmax(least, fmin(efficiency[c], most));
	}
}

/* Estimates where nothing is known; a single device first, which the others are held to. */
static void complete(struct filling *f, const struct cp *cp, uint32_t row)
{
	struct heet_speeds *s = f->speeds;

	for (uint32_t type = 0; type < s->types; type++) {
		for (uint32_t c = 0; c < s->counts; c++) {
			double *e = entry(s, row, type, c);

			if (!(*e > 0))
				*e = cp ? cp_at(cp, row, type, c) : 0;
		}
		if (!(*entry(s, row, type, 0) > LEAST))
			*entry(s, row, type, 0) = LEAST;
		heet_tidy(entry(s, row, type, 0),
			&f->measured[entry(s, row, type, 0) - s->efficiency], s->counts);
	}
}

static void find_singles(struct filling *f)
{
	for (uint32_t row = 0; row < f->speeds->rows; row++) {
		double speed = f->source.speed(f->source.ctx, row, first_type(f->rows[row].types), 1);

		f->speeds->single[row] = speed > 0 && isfinite(speed) ? speed : 1;
	}
}

static void prepare(struct filling *f, uint32_t nrows, uint32_t ntypes, struct arena *arena)
{
	struct heet_speeds *s = f->speeds;
	size_t n;

	*s = (struct heet_speeds){ .rows = nrows, .types = ntypes, .counts = 1 };
	for (uint32_t row = 0; row < nrows; row++) {
		uint32_t counts = count_of(f->rows[row].most) + 1;

		s->counts = counts > s->counts ? counts : s->counts;
	}
	n = (size_t)nrows * ntypes * s->counts;
	s->single = arena_array(arena, double, nrows);
	s->efficiency = arena_array(arena, double, n);
	f->known = arena_array(arena, struct tensor_entry, n);
	f->covered = arena_array(arena, bool, (size_t)ntypes * s->counts);
	f->measured = arena_array(arena, bool, n);
}

void heet_speeds_fill(struct heet_speeds *speeds, const struct heet_row *rows, uint32_t nrows,
	uint32_t ntypes, const struct heet_options *options, struct heet_source source,
	struct arena *arena)
{
	struct cp_options how = { options->rank, options->ridge, options->sweeps, 0 };
	struct filling f = { .speeds = speeds, .rows = rows, .source = source };
	struct tensor tensor;
	struct cp cp;

	prepare(&f, nrows, ntypes, arena);
	find_singles(&f);
	for (uint32_t row = 0; row < nrows; row++) {
		if (options->all)
			measure_all(&f, row);
		else
			measure_row(&f, row);
	}
	for (uint32_t row = 0; row < nrows; row++)
		cover(&f, row);
	tensor = (struct tensor){ { nrows, ntypes, speeds->counts }, f.known, f.nknown };
	if (!options->all)
		cp_fit(&tensor, &how, &cp);
	for (uint32_t row = 0; row < nrows; row++)
		complete(&f, options->all ? NULL : &cp, row);
	if (!options->all)
		cp_fini(&cp);
}

double heet_speed(const struct heet_speeds *speeds, uint32_t row, uint32_t type, uint32_t gpus)
{
	uint32_t c = count_of(gpus), low = UINT32_C(1) << c;
	double e = *entry(speeds, row, type, c < speeds->counts ? c : speeds->counts - 1);

	if (gpus > low && c + 1 < speeds->counts)
		e += (*entry(speeds, row, type, c + 1) - e) * (gpus - low) / low;
	return e * gpus * speeds->single[row];
}
