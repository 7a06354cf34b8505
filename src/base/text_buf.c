/*
 * Growable buffers, and doubles as their shortest decimals.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/mem.h"
#include "base/text.h"

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

/* The digits of x so that they end at `end`; returns their beginning. */
static char *digits_before(char *end, uint64_t x)
{
	do {
		*--end = (char)('0' + x % 10);
		x /= 10;
	} while (x);
	return end;
}

void buf_int(struct buf *buf, int64_t x)
{
	char text[24], *end = text + sizeof(text);
	char *at = digits_before(end, x < 0 ? -(uint64_t)x : (uint64_t)x);

	if (x < 0)
		*--at = '-';
	buf_add(buf, at, (size_t)(end - at));
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
