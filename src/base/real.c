/*
 * Logarithm and exponential by their series after reduction to a small range.
 */
#include "base/real.h"

#include <math.h>

static const double ln2 = 0x1.62e42fefa39efp-1;
static const double ln2_head = 0x1.62e42feep-1; /* times a small integer: exact */
static const double ln2_tail = 0x1.a39ef35793c76p-33;

/* Of a positive number: x = m * 2^k, log m = 2 atanh((m - 1) / (m + 1)) as a series. */
double real_log(double x)
{
	int k;
	double m = frexp(x, &k), s, z, sum = 0;

	if (m < 0x1.6a09e667f3bcdp-1) { /* the root of one half: keeps |s| below 0.172 */
		m *= 2;
		k--;
	}
	s = (m - 1) / (m + 1);
	z = s * s;
	for (int i = 23; i >= 3; i -= 2)
		sum = (sum + 1.0 / i) * z;
	return k * ln2_head + (k * ln2_tail + 2 * s * sum + 2 * s);
}

/* x = k log 2 + r, e^r as a series. */
double real_exp(double x)
{
	double k, r, sum = 1;

	if (x > 710)
		return INFINITY;
	if (x < -746)
		return 0;
	k = floor(x / ln2 + 0.5);
	r = x - k * ln2_head - k * ln2_tail;
	for (int i = 14; i >= 1; i--)
		sum = 1 + sum * r / i;
	return ldexp(sum, (int)k);
}
