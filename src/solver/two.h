/*
 * Two doubles side by side, computed at once on every machine that can.  Each
 * lane is ordinary arithmetic, so results do not depend on the compiler.
 *
 * Vectors have `many` numbers left at a place: two, or one at an odd end, which
 * is then worked on twice and stored once.
 */
#ifndef SOLVER_TWO_H
#define SOLVER_TWO_H

#include <stdint.h>
#include <string.h>

typedef double two __attribute__((vector_size(16)));
typedef int64_t two_mask __attribute__((vector_size(16)));

#define TWO_INLINE static inline __attribute__((always_inline))

TWO_INLINE two two_load(const double *from, uint32_t many)
{
	two v;

	if (many == 1)
		return (two){ from[0], from[0] };
	memcpy(&v, from, sizeof(v));
	return v;
}

TWO_INLINE void two_store(double *to, two v, uint32_t many)
{
	if (many == 1)
		to[0] = v[0];
	else
		memcpy(to, &v, sizeof(v));
}

/* What counts in a sum. */
TWO_INLINE two two_counted(two v, uint32_t many)
{
	return many == 1 ? (two){ v[0], 0 } : v;
}

TWO_INLINE double two_sum(two v)
{
	return v[0] + v[1];
}

TWO_INLINE two two_larger(two a, two b)
{
	two_mask first = a > b;

	return (two)((first & (two_mask)a) | (~first & (two_mask)b));
}

TWO_INLINE double two_largest(two v)
{
	return v[0] > v[1] ? v[0] : v[1];
}

#endif
