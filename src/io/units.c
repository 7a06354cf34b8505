/*
 * Quantities of hardware with their units.
 */
#include "io/units.h"

#include <math.h>
#include <string.h>

/* k, M, … as a factor, 0 for another letter. */
static double scale_of(char prefix, bool binary)
{
	static const char letters[] = "kMGTP";
	double scale = 1;

	if (prefix == 'K')
		prefix = 'k';
	for (const char *l = letters; *l; l++) {
		scale *= binary ? 1024 : 1000;
		if (*l == prefix)
			return scale;
	}
	return 0;
}

/* A number and what follows it. */
static bool split_number(struct slice s, double *x, struct slice *unit)
{
	size_t n = s.n;

	while (n > 0 && !memchr("0123456789.", s.at[n - 1], 11))
		n--;
	*unit = slice_trim((struct slice){ s.at + n, s.n - n });
	return slice_double((struct slice){ s.at, n }, x);
}

/* Takes k, M, G, T or P, with an i for powers of 1024, off the unit. */
static double take_scale(struct slice *unit)
{
	bool binary = unit->n > 1 && unit->at[1] == 'i';
	double scale = unit->n ? scale_of(unit->at[0], binary) : 0;
	size_t used = scale == 0 ? 0 : binary ? 2 : 1;

	unit->at += used;
	unit->n -= used;
	return scale == 0 ? 1 : scale;
}

bool unit_speed(struct slice s, double *out)
{
	struct slice unit;
	double x;

	if (!split_number(slice_trim(s), &x, &unit) || !(x >= 0))
		return false;
	x *= take_scale(&unit);
	if (slice_is(unit, "b/s") || slice_is(unit, "bps") || slice_is(unit, "bit/s"))
		x /= 8;
	else if (unit.n && !slice_is(unit, "B/s") && !slice_is(unit, "Bps"))
		return false;
	*out = x;
	return isfinite(x);
}

bool unit_flops(struct slice s, double *out)
{
	struct slice unit;
	double x;

	if (!split_number(slice_trim(s), &x, &unit) || !(x >= 0))
		return false;
	x *= take_scale(&unit);
	if (unit.n && !slice_is_nocase(unit, "flops") && !slice_is_nocase(unit, "flop/s"))
		return false;
	*out = x;
	return isfinite(x);
}
