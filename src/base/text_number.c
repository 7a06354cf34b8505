/*
 * Numbers read strictly, fast and correctly rounded.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/mem.h"
#include "base/text.h"

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
