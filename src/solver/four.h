/*
 * Four doubles side by side, computed at once on machines that can and in halves
 * on others.  Each lane is ordinary arithmetic, so results depend neither on the
 * machine nor on the compiler.
 *
 * Vectors have `many` numbers at a place: four, or fewer at the end.  The lanes
 * beyond work on the first number once more, and are neither stored nor counted.
 */
#ifndef SOLVER_FOUR_H
#define SOLVER_FOUR_H

#include <stdint.h>
#include <string.h>

/* Nothing that takes or returns a vector is more than inline: there is no ABI to change. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef double four __attribute__((vector_size(32), aligned(16)));
typedef int64_t four_mask __attribute__((vector_size(32), aligned(16)));

/* Four in a row of doubles. */
typedef double four_anywhere __attribute__((vector_size(32), aligned(8), may_alias));

#define FOUR_INLINE static inline __attribute__((always_inline))

/*
 * A file that is worth it is compiled twice: as it is, and by a file that includes
 * it after solver/four_wide.h, for machines with registers that wide.  Its entry
 * points are named by FOUR_NAME(); who calls them asks FOUR_CHOOSE().
 */
#ifdef FOUR_WIDE
#define FOUR_NAME(name) name##_wide
#else
#define FOUR_NAME(name) name##_narrow
#endif

#ifdef __x86_64__
#define FOUR_CHOOSE(name) (__builtin_cpu_supports("avx2") ? name##_wide : name##_narrow)
#else
#define FOUR_CHOOSE(name) (name##_narrow)
#endif

FOUR_INLINE four four_of(double value)
{
	return (four){ value, value, value, value };
}

FOUR_INLINE four four_load(const double *from, uint32_t many)
{
	if (many < 4)
		return (four){ from[0], from[many > 1 ? 1 : 0], from[many > 2 ? 2 : 0], from[0] };
	return *(const four_anywhere *)from;
}

FOUR_INLINE void four_store(double *to, four v, uint32_t many)
{
	if (many == 4) {
		*(four_anywhere *)to = v;
		return;
	}
	to[0] = v[0];
	if (many > 1)
		to[1] = v[1];
	if (many > 2)
		to[2] = v[2];
}

/* What counts in a sum. */
FOUR_INLINE four four_counted(four v, uint32_t many)
{
	if (many == 4)
		return v;
	return (four){ many > 0 ? v[0] : 0, many > 1 ? v[1] : 0, many > 2 ? v[2] : 0, 0 };
}

FOUR_INLINE double four_sum(four v)
{
	return (v[0] + v[2]) + (v[1] + v[3]);
}

FOUR_INLINE four four_larger(four a, four b)
{
#ifdef FOUR_WIDE
	return (four)__builtin_ia32_maxpd256(a, b); /* a > b ? a : b */
#else
	four_mask first = a > b;

	return (four)((first & (four_mask)a) | (~first & (four_mask)b));
#endif
}

FOUR_INLINE double four_largest(four v)
{
	double even = v[0] > v[2] ? v[0] : v[2], odd = v[1] > v[3] ? v[1] : v[3];

	return even > odd ? even : odd;
}

#endif
