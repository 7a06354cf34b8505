/*
 * Logarithm and exponential by their series after reduction to a small range.
 */
#include "base/real.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const double ln2 = 0x1.62e42fefa39efp-1;
static const double ln2_head = 0x1.62e42feep-1; /* times a small integer: exact */
static const double ln2_tail = 0x1.a39ef35793c76p-33;

/* A table, since a division takes longer than the rest of a term. */
static const double over_odd[] = { 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15,
	1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23 };

/* frexp() of a positive number and ldexp() of one about 1: the library's are calls, and see to all others. */
static double real_split(double x, int *k)
{
	uint64_t bits, exponent;

	memcpy(&bits, &x, sizeof(bits));
	exponent = bits >> 52;
	if (exponent - 1 >= 0x7fe)
		return frexp(x, k);
	*k = (int)exponent - 1022;
	bits = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1022) << 52;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static double real_scale(double x, int k)
{
	uint64_t bits = (uint64_t)(k + 1023) << 52;
	double factor;

	if (k < -1020 || k > 1020)
		return ldexp(x, k);
	memcpy(&factor, &bits, sizeof(factor));
	return x * factor;
}

/* Of a positive number: x = m * 2^k, log m = 2 atanh((m - 1) / (m + 1)) as a series. */
double real_log(double x)
{
	int k;
	double m = real_split(x, &k), s, z, sum = 0;

	if (m < 0x1.6a09e667f3bcdp-1) { /* the root of one half: keeps |s| below 0.172 */
		m *= 2;
		k--;
	}
	s = (m - 1) / (m + 1);
	z = s * s;
	for (int i = 10; i >= 0; i--)
		sum = (sum + over_odd[i]) * z;
	return k * ln2_head + (k * ln2_tail + 2 * s * sum + 2 * s);
}

/* One term of e^r; the divisor is known where it stands. */
static inline double exp_term(double rest, double r, double i)
{
	return 1 + rest * r / i;
}

/* x = k log 2 + r, e^r as a series. */
double real_exp(double x)
{
	double x_whole, k, r, sum;

	if (x > 710)
		return INFINITY;
	if (x < -746)
		return 0;
	x_whole = x / ln2 + 0.5;
	k = (double)(int)x_whole;
	k -= k > x_whole;
	r = x - k * ln2_head - k * ln2_tail;
	sum = exp_term(exp_term(exp_term(1, r, 14), r, 13), r, 12);
	sum = exp_term(exp_term(exp_term(sum, r, 11), r, 10), r, 9);
	sum = exp_term(exp_term(exp_term(sum, r, 8), r, 7), r, 6);
	sum = exp_term(exp_term(exp_term(sum, r, 5), r, 4), r, 3);
	sum = exp_term(exp_term(sum, r, 2), r, 1);
	return real_scale(sum, (int)k);
}

/* 1 / i! for i = 0 .. 14 */
static const double over_factorial[] = { 1, 1, 0x1p-1, 0x1.5555555555555p-3, 0x1.5555555555555p-5,
	0x1.1111111111111p-7, 0x1.6c16c16c16c17p-10, 0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-16,
	0x1.71de3a556c734p-19, 0x1.27e4fb7789f5cp-22, 0x1.ae64567f544e4p-26, 0x1.1eed8eff8d898p-29,
	0x1.6124613a86d09p-33, 0x1.93974a8c07c9dp-37 };

/* As real_exp() without its divisions, which are most of its time; differs from it in the last bits. */
double real_pow(double x, double y)
{
	double e = y * real_log(x), k, r, sum = 0;

	if (!(fabs(e) < 700))
		return real_exp(e);
	k = (double)(int)(e / ln2 + (e < 0 ? -0.5 : 0.5));
	r = e - k * ln2_head - k * ln2_tail;
	for (int i = 14; i >= 0; i--)
		sum = sum * r + over_factorial[i];
	return real_scale(sum, (int)k);
}
