/*
 * Durations and sizes with units: read, and written for people.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"

/* Splits the letters at the end off; "1e5" has none, as a digit is last. */
static struct slice split_unit(struct slice *s)
{
	struct slice unit = { s->at + s->n, 0 };

	while (s->n && isalpha((unsigned char)s->at[s->n - 1])) {
		unit.at--;
		unit.n++;
		s->n--;
	}
	return unit;
}

static double seconds_in(struct slice unit)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 }, { "w", 604800 },
		{ "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 }, { "sec", 1 }, { "secs", 1 },
		{ "second", 1 }, { "seconds", 1 }, { "min", 60 }, { "mins", 60 }, { "minute", 60 },
		{ "minutes", 60 }, { "hr", 3600 }, { "hrs", 3600 }, { "hour", 3600 }, { "hours", 3600 },
		{ "day", 86400 }, { "days", 86400 }, { "week", 604800 }, { "weeks", 604800 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (slice_is_nocase(unit, units[i].name))
			return units[i].seconds;
	}
	return 0;
}

static size_t count_of(struct slice s, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.at[i] == c;
	return n;
}

/* A field of a clock: digits below `limit`; seconds, which come last, may have a fraction. */
static bool clock_field(struct slice s, double limit, bool fraction, double *out)
{
	if (!s.n || !is_digit(*s.at) || !is_digit(s.at[s.n - 1]))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!is_digit(s.at[i]) && !(fraction && s.at[i] == '.'))
			return false;
	}
	return slice_double(s, out) && *out < limit;
}

/* "[D-]H:M:S", "M:S", "D-H" and "D-H:M": Slurm's forms.  All fields but the first have a limit. */
static bool read_clock(struct slice s, double *out)
{
	static const double size[] = { 86400, 3600, 60, 1 }, limit[] = { 1e12, 24, 60, 60 };
	bool days = count_of(s, '-') > 0;
	size_t colons = count_of(s, ':');
	size_t first = days ? 0 : 3 - colons;
	double sum = 0;

	if (colons > 2)
		return false;
	for (size_t i = first, last = days ? 1 + colons : 3; i <= last; i++) {
		struct slice field = slice_cut(&s, i == 0 ? '-' : ':');
		double x;

		if (!clock_field(field, i == first ? limit[0] : limit[i], i == 3, &x))
			return false;
		sum += x * size[i];
	}
	*out = sum;
	return true;
}

bool slice_seconds(struct slice s, double *out)
{
	struct slice unit;
	double x, size;

	s = slice_trim(s);
	if (slice_double(s, out))
		return true;
	if (s.n && is_digit(*s.at) && is_digit(s.at[s.n - 1]))
		return read_clock(s, out);
	unit = split_unit(&s);
	size = seconds_in(unit);
	if (size == 0 || !slice_double(s, &x) || !isfinite(x * size))
		return false;
	*out = x * size;
	return true;
}

/* "K", "KB" and "KiB" alike mean 1024; 0 if it is no unit. */
static double bytes_in(struct slice unit)
{
	static const char letters[] = "kmgtpe";
	const char *found;
	struct slice rest = unit;

	if (!unit.n || slice_is_nocase(unit, "b"))
		return 1;
	found = strchr(letters, tolower((unsigned char)*unit.at));
	if (!found)
		return 0;
	rest.at++;
	rest.n--;
	if (rest.n && !slice_is_nocase(rest, "b") && !slice_is_nocase(rest, "ib"))
		return 0;
	return ldexp(1, 10 * (int)(found - letters + 1));
}

bool slice_bytes(struct slice s, int64_t *out)
{
	double x, size;
	int64_t whole;

	s = slice_trim(s);
	if (slice_int(s, &whole)) { /* exact, where a double might not be */
		if (whole < 0)
			return false;
		*out = whole;
		return true;
	}
	size = bytes_in(split_unit(&s));
	if (size == 0 || !slice_double(s, &x))
		return false;
	x = floor(x * size + 0.5);
	if (!(x >= 0 && x < 0x1p63))
		return false;
	*out = (int64_t)x;
	return true;
}

/* About three digits, with an exponent only where nobody would count the digits. */
static const char *with_unit(double x, const char *unit, char out[32])
{
	if (isnan(x))
		snprintf(out, 32, "-");
	else if (isinf(x))
		snprintf(out, 32, x < 0 ? "-inf" : "inf");
	else if (fabs(x) >= 1e15)
		snprintf(out, 32, "%.3g %s", x, unit);
	else if (fabs(x) >= 99.95)
		snprintf(out, 32, "%.0f %s", x, unit);
	else
		snprintf(out, 32, "%.3g %s", x, unit);
	return out;
}

/* Two units at most, and none that is zero: "2h10m", "7d". */
static const char *in_units(double seconds, char out[32])
{
	static const struct {
		const char *unit;
		double s;
	} units[] = { { "d", 86400 }, { "h", 3600 }, { "m", 60 }, { "s", 1 } };
	double left = fabs(seconds);
	size_t first = left < 3599.5 ? 2 : left < 86370 ? 1 : 0, n;
	double whole;

	/* Rounded to the second of the two units. */
	left = floor(left / units[first + 1].s + 0.5) * units[first + 1].s;
	whole = floor(left / units[first].s);
	n = (size_t)snprintf(out, 32, "%s%.0f%s", seconds < 0 ? "-" : "", whole, units[first].unit);
	left -= whole * units[first].s;
	if (left > 0 && n < 32)
		snprintf(out + n, 32 - n, "%.0f%s", left / units[first + 1].s, units[first + 1].unit);
	return out;
}

static const char *less_than_a_minute(double seconds, char out[32])
{
	double size = fabs(seconds);

	if (size > 0 && size < 0.9995e-3)
		snprintf(out, 32, "%.3gus", seconds * 1e6);
	else if (size > 0 && size < 0.9995)
		snprintf(out, 32, "%.3gms", seconds * 1e3);
	else
		snprintf(out, 32, "%.3gs", seconds);
	return out;
}

const char *text_duration(double seconds, char out[32])
{
	double size = fabs(seconds);

	if (!isfinite(seconds))
		snprintf(out, 32, isnan(seconds) ? "-" : seconds < 0 ? "-inf" : "inf");
	else if (size >= 1e15)
		snprintf(out, 32, "%.3gd", seconds / 86400);
	else
		return size < 59.95 ? less_than_a_minute(seconds, out) : in_units(seconds, out);
	return out;
}

const char *text_lasts(double seconds, char out[32])
{
	double s = floor(fabs(seconds));
	const char *sign = seconds <= -1 ? "-" : "";

	if (!isfinite(seconds))
		snprintf(out, 32, "-");
	else if (s < 60)
		snprintf(out, 32, "%s%.0fs", sign, s);
	else if (s < 3600)
		snprintf(out, 32, "%s%.0fm%02.0fs", sign, floor(s / 60), fmod(s, 60));
	else if (s < 86400)
		snprintf(out, 32, "%s%.0fh%02.0fm", sign, floor(s / 3600), floor(fmod(s, 3600) / 60));
	else if (s < 100 * 86400.)
		snprintf(out, 32, "%s%.0fd%02.0fh", sign, floor(s / 86400),
			floor(fmod(s, 86400) / 3600));
	else if (s < 1e15)
		snprintf(out, 32, "%s%.0fd", sign, floor(s / 86400));
	else
		snprintf(out, 32, "%s%.3gd", sign, s / 86400);
	return out;
}

const char *text_size(double bytes, char out[32])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	size_t i = 0;

	while (fabs(bytes) >= 1023.5 && i + 1 < sizeof(units) / sizeof(*units)) {
		bytes /= 1024;
		i++;
	}
	return with_unit(bytes, units[i], out);
}
