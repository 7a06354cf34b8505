#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum { EXACT_POWERS = 23 }; /* 1e22 is the last power of ten that a double holds exactly */

static const double power_of_ten[EXACT_POWERS] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static const uint64_t whole_power_of_ten[] = {
	UINT64_C(1),
	UINT64_C(10),
	UINT64_C(100),
	UINT64_C(1000),
	UINT64_C(10000),
	UINT64_C(100000),
	UINT64_C(1000000),
	UINT64_C(10000000),
	UINT64_C(100000000),
	UINT64_C(1000000000),
	UINT64_C(10000000000),
	UINT64_C(100000000000),
	UINT64_C(1000000000000),
	UINT64_C(10000000000000),
	UINT64_C(100000000000000),
	UINT64_C(1000000000000000),
	UINT64_C(10000000000000000),
	UINT64_C(100000000000000000),
	UINT64_C(1000000000000000000),
	UINT64_C(10000000000000000000),
};

/* ---- buffers ---- */

void buf_fini(struct buf *buf)
{
	free(buf->at);
	*buf = (struct buf){ 0 };
}

void buf_clear(struct buf *buf)
{
	buf->n = 0;
	if (buf->at)
		buf->at[0] = '\0';
}

/* Room for n bytes and the NUL; where they go. */
static char *room(struct buf *buf, size_t n)
{
	size_t want = buf->n + n + 1;

	if (want > buf->cap) {
		size_t cap = buf->cap ? buf->cap * 2 : 64;

		if (cap < want)
			cap = want;
		buf->at = mem_resize(buf->at, cap);
		buf->cap = cap;
	}
	return buf->at + buf->n;
}

void buf_add(struct buf *buf, const char *bytes, size_t n)
{
	char *to = room(buf, n);

	if (n)
		memcpy(to, bytes, n);
	to[n] = '\0';
	buf->n += n;
}

void buf_str(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
	char few[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(few, sizeof(few), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n < sizeof(few)) {
		buf_add(buf, few, (size_t)n);
		return;
	}
	va_start(ap, fmt);
	vsnprintf(room(buf, (size_t)n), (size_t)n + 1, fmt, ap);
	va_end(ap);
	buf->n += (size_t)n;
}

/* ---- writing numbers ---- */

/* The digits of x so that they end at `end`; returns their beginning. */
static char *digits_before(char *end, uint64_t x)
{
	do {
		*--end = (char)('0' + x % 10);
		x /= 10;
	} while (x);
	return end;
}

/*
 * The nearest whole number to x * 10^k for x = m * 2^-shift; true if dividing
 * it by 10^k reads back as x, that is, if it is nearer than half the way to
 * x's neighbours.  Exact: m * 10^k stays below 2^120 for k up to 20.
 */
static bool scaled_digits(uint64_t m, int shift, int k, uint64_t *out)
{
	__extension__ unsigned __int128 spread, scaled, half, kept, off;

	spread = whole_power_of_ten[k > 19 ? 19 : k];
	if (k > 19)
		spread *= 10;
	scaled = m * spread;
	half = (unsigned __int128)1 << (shift - 1);
	kept = scaled >> shift;
	off = scaled - (kept << shift);
	if (off > half || (off == half && kept & 1)) {
		kept++;
		off = (half << 1) - off;
	}
	*out = (uint64_t)kept;
	return off * 2 < spread;
}

/* d / 10^k without an exponent and without zeros at the end. */
static size_t put_decimal(uint64_t d, int k, char out[40])
{
	char digits[24], *end = digits + sizeof(digits), *at;
	size_t n;

	for (; k > 0 && d % 10 == 0; k--)
		d /= 10;
	at = digits_before(end, d);
	while (end - at <= k)
		*--at = '0';
	n = (size_t)(end - at) - (size_t)k;
	memcpy(out, at, n);
	if (!k)
		return n;
	out[n] = '.';
	memcpy(out + n + 1, at + n, (size_t)k);
	return n + 1 + (size_t)k;
}

/*
 * Writes x in [1e-4, 1e15) with the fewest digits of 15, 16 or 17 that read
 * back equal, as %.15g and so on would, at a tenth of their time: a result
 * table has millions of numbers.  Returns 0 where it would take more care: the
 * lower neighbour of a power of two is nearer than the upper.
 */
static size_t short_digits(double x, char out[40])
{
	int exponent, tens = -4;
	uint64_t m = (uint64_t)ldexp(frexp(x, &exponent), 53), d;

	if (m == UINT64_C(1) << 52)
		return 0;
	while (tens < 0 ? x >= 1 / power_of_ten[-tens - 1] : x >= power_of_ten[tens + 1])
		tens++;
	for (int k = 14 - tens;; k++) {
		if (scaled_digits(m, 53 - exponent, k, &d) || k == 16 - tens)
			return put_decimal(d, k, out);
	}
}

static void shortest_printf(struct buf *buf, double x)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, x);
		if (strtod(text, NULL) == x)
			break;
	}
	buf_str(buf, text);
}

void buf_double(struct buf *buf, double x)
{
	double size = fabs(x);
	char text[40], *end = text + sizeof(text), *at;
	size_t n;

	if (size < 1e15 && size == (double)(int64_t)size) {
		at = digits_before(end, (uint64_t)size);
		if (signbit(x))
			*--at = '-';
		buf_add(buf, at, (size_t)(end - at));
	} else if (size >= 1e-4 && size < 1e15 && (n = short_digits(size, text)) > 0) {
		if (x < 0)
			buf_char(buf, '-');
		buf_add(buf, text, n);
	} else {
		shortest_printf(buf, x);
	}
}

/* ---- slices ---- */

struct slice slice_of(const char *text)
{
	return (struct slice){ text, strlen(text) };
}

static inline bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

struct slice slice_trim(struct slice s)
{
	while (s.n && is_space(s.at[s.n - 1]))
		s.n--;
	while (s.n && is_space(*s.at)) {
		s.at++;
		s.n--;
	}
	return s;
}

bool slice_is(struct slice s, const char *text)
{
	size_t n = strlen(text);

	return s.n == n && (!n || !memcmp(s.at, text, n));
}

bool slice_is_nocase(struct slice s, const char *text)
{
	size_t n = strlen(text);

	return s.n == n && (!n || !strncasecmp(s.at, text, n));
}

/* ---- reading numbers ---- */

struct decimal {
	uint64_t digits; /* value = digits * 10^exponent, exact if n <= 19 */
	int n;           /* significant digits seen */
	int exponent;
	bool negative;
};

static bool read_exponent(const char *at, const char *end, int *exponent)
{
	bool negative = false;
	int e = 0;

	if (at < end && (*at == '+' || *at == '-'))
		negative = *at++ == '-';
	if (at == end)
		return false;
	for (; at < end; at++) {
		if (!is_digit(*at))
			return false;
		if (e < 100000)
			e = e * 10 + (*at - '0');
	}
	*exponent += negative ? -e : e;
	return true;
}

/* [sign] digits [. digits] [e [sign] digits], with a digit before or after the point. */
static bool read_decimal(struct slice s, struct decimal *d)
{
	const char *at = s.at, *end = s.at + s.n, *start, *point = NULL;
	uint64_t digits = 0;
	int zeros = 0;

	if (at < end && (*at == '+' || *at == '-'))
		d->negative = *at++ == '-';
	start = at;
	for (; at < end; at++) {
		unsigned char c = (unsigned char)(*at - '0');

		if (c < 10) {
			digits = digits * 10 + c; /* wraps after 19, which n tells */
			if (!digits && !d->n)
				zeros++;
			else
				d->n++;
		} else if (*at == '.' && !point) {
			point = at;
		} else {
			break;
		}
	}
	if (d->n + zeros == 0 || at - start > 100000)
		return false;
	d->digits = digits;
	d->exponent = point ? -(int)(at - point - 1) : 0;
	if (at == end)
		return true;
	return (*at == 'e' || *at == 'E') && read_exponent(at + 1, end, &d->exponent);
}

static double two_to(int k)
{
	uint64_t bits = (uint64_t)(k + 1023) << 52;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * w / 10^k rounded once.  Both are shifted to the left end of a word, so that
 * the quotient has 63 or 64 bits; a remainder only has to be seen (its lowest
 * bit is far below the one that rounding looks at).
 */
static double exact_quotient(uint64_t w, int k)
{
	uint64_t divisor = whole_power_of_ten[k], quotient;
	int up = __builtin_clzll(w), down = __builtin_clzll(divisor);
	__extension__ unsigned __int128 dividend = (unsigned __int128)(w << up) << 63;

	divisor <<= down;
	quotient = (uint64_t)(dividend / divisor);
	quotient |= dividend != (unsigned __int128)quotient * divisor;
	return (double)quotient * two_to(down - up - 63);
}

/* Many or extreme digits.  The program never sets a locale, so strtod reads the "C" form. */
static bool read_slowly(struct slice s, double *out)
{
	char few[128], *text = s.n < sizeof(few) ? few : mem_resize(NULL, s.n + 1);

	memcpy(text, s.at, s.n);
	text[s.n] = '\0';
	*out = strtod(text, NULL);
	if (text != few)
		free(text);
	return isfinite(*out);
}

bool slice_double(struct slice s, double *out)
{
	struct decimal d = { 0 };
	double x;

	s = slice_trim(s);
	if (!read_decimal(s, &d))
		return false;
	if (d.n > 19)
		x = NAN;
	else if (d.digits <= UINT64_C(1) << 53 && d.exponent >= -22 && d.exponent <= 22)
		x = d.exponent < 0 ? (double)d.digits / power_of_ten[-d.exponent]
				   : (double)d.digits * power_of_ten[d.exponent];
	else if (d.digits && d.exponent >= -19 && d.exponent <= 0)
		x = exact_quotient(d.digits, -d.exponent);
	else
		x = NAN;
	if (isnan(x)) {
		if (!read_slowly(s, &x))
			return false;
	} else if (d.negative) {
		x = -x;
	}
	*out = x;
	return true;
}

bool slice_int(struct slice s, int64_t *out)
{
	bool negative = false;
	uint64_t x = 0, limit = INT64_MAX;

	s = slice_trim(s);
	if (s.n && (*s.at == '-' || *s.at == '+')) {
		negative = *s.at++ == '-';
		s.n--;
	}
	limit += negative;
	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)(s.at[i] - '0');

		if (c > 9 || x > (limit - c) / 10)
			return false;
		x = x * 10 + c;
	}
	*out = (int64_t)(negative ? -x : x);
	return true;
}

/* ---- units ---- */

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

/* Cuts the piece before the first c off the front; all of it if there is no c. */
static struct slice cut_at(struct slice *s, char c)
{
	const char *found = s->n ? memchr(s->at, c, s->n) : NULL;
	struct slice piece = { s->at, found ? (size_t)(found - s->at) : s->n };

	s->at += piece.n + !!found;
	s->n -= piece.n + !!found;
	return piece;
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
		struct slice field = cut_at(&s, i == 0 ? '-' : ':');
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

/* ---- slips ---- */

enum { WORD_MAX = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters added, dropped, changed or swapped with their neighbour to get from a to b. */
static size_t slips_between(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= nb; j++)
		last[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *spare = before;

		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			bool same = same_letter(a[i - 1], b[j - 1]);

			now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
				same_letter(a[i - 2], b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[nb];
}

int text_nearest(const char *word, const char *const *candidates, size_t n)
{
	size_t length = strlen(word), best_slips = 1 + length / 5;
	int best = -1;

	if (!length || length > WORD_MAX)
		return -1;
	for (size_t i = 0; i < n; i++) {
		size_t size = strlen(candidates[i]), slips;

		if (size > WORD_MAX)
			continue;
		slips = slips_between(word, length, candidates[i], size);
		if (length >= 3 && size > length && !strncasecmp(word, candidates[i], length))
			slips = 1; /* the rest was left out */
		/* A short word has nothing in common with one that differs in every letter. */
		if (slips < least(length, size) &&
			(best < 0 ? slips <= best_slips : slips < best_slips)) {
			best = (int)i;
			best_slips = slips;
		}
	}
	return best;
}

/* ---- for people ---- */

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

const char *text_duration(double seconds, char out[32])
{
	double size = fabs(seconds);

	if (size == 0 || (size >= 1 && size < 600))
		return with_unit(seconds, "s", out);
	if (size < 1e-3)
		return with_unit(seconds * 1e6, "us", out);
	if (size < 1)
		return with_unit(seconds * 1e3, "ms", out);
	if (size < 3600)
		return with_unit(seconds / 60, "min", out);
	if (size < 48 * 3600)
		return with_unit(seconds / 3600, "h", out);
	return with_unit(seconds / 86400, "d", out);
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

/* ---- time stamps ---- */

/* Days since 1970-01-01 in the Gregorian calendar; years begin in March, so that leap days come last. */
static int64_t days_from_civil(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = y / 400, year_of_era = y % 400; /* y >= 0 here */
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
		day_of_year - 719468;
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

/* Takes exactly n digits off the front. */
static bool take_digits(struct slice *s, size_t n, int *out)
{
	int x = 0;

	if (s->n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(s->at[i]))
			return false;
		x = x * 10 + (s->at[i] - '0');
	}
	s->at += n;
	s->n -= n;
	*out = x;
	return true;
}

static bool take_char(struct slice *s, char c)
{
	if (!s->n || *s->at != c)
		return false;
	s->at++;
	s->n--;
	return true;
}

/* HH:MM[:SS[.fraction]]; a leap second counts as the first of the next minute. */
static bool take_time(struct slice *s, double *seconds)
{
	int h, m, sec = 0;
	double fraction = 0;

	if (!take_digits(s, 2, &h) || !take_char(s, ':') || !take_digits(s, 2, &m))
		return false;
	if (take_char(s, ':')) {
		if (!take_digits(s, 2, &sec))
			return false;
		if (s->n && *s->at == '.') {
			struct slice part = { s->at, 1 };

			while (part.n < s->n && is_digit(part.at[part.n]))
				part.n++;
			if (!slice_double(part, &fraction))
				return false;
			s->at += part.n;
			s->n -= part.n;
		}
	}
	*seconds = h * 3600 + m * 60 + sec + fraction;
	return h < 24 && m < 60 && sec <= 60;
}

/* Nothing, Z, or +hh, +hhmm, +hh:mm, with or without a space before it. */
static bool take_zone(struct slice *s, double *ahead_s)
{
	bool west;
	int h, m = 0;

	while (take_char(s, ' '))
		;
	*ahead_s = 0;
	if (!s->n || take_char(s, 'Z') || take_char(s, 'z'))
		return true;
	west = *s->at == '-';
	if (!take_char(s, '+') && !take_char(s, '-'))
		return false;
	if (!take_digits(s, 2, &h))
		return false;
	take_char(s, ':');
	if (s->n && !take_digits(s, 2, &m))
		return false;
	*ahead_s = (west ? -1 : 1) * (h * 3600 + m * 60);
	return h < 24 && m < 60;
}

bool slice_timestamp(struct slice s, double *out)
{
	int year, month, day;
	double seconds = 0, ahead_s = 0;

	s = slice_trim(s);
	if (!take_digits(&s, 4, &year) || !take_char(&s, '-') || !take_digits(&s, 2, &month) ||
		!take_char(&s, '-') || !take_digits(&s, 2, &day))
		return false;
	if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
		return false;
	if (s.n) {
		if (!take_char(&s, 'T') && !take_char(&s, 't') && !take_char(&s, ' '))
			return false;
		if (!take_time(&s, &seconds) || !take_zone(&s, &ahead_s) || s.n)
			return false;
	}
	*out = (double)days_from_civil(year, month, day) * 86400 + seconds - ahead_s;
	return true;
}
