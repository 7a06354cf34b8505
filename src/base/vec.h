/*
 * Growable arrays: VEC(int) numbers = { 0 }; vec_push(&numbers, 3); numbers.at[0]; vec_fini(&numbers).
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define VEC(type) \
	struct { \
		type *at; \
		size_t n, cap; \
	}

#define vec_reserve(v, want) \
	do { \
		size_t vec_want_ = (want); \
		if (vec_want_ > (v)->cap) { \
			size_t vec_cap_ = (v)->cap ? (v)->cap * 2 : 8; \
			if (vec_cap_ < vec_want_) \
				vec_cap_ = vec_want_; \
			(v)->at = mem_resize((v)->at, mem_array_size(vec_cap_, sizeof(*(v)->at))); \
			(v)->cap = vec_cap_; \
		} \
	} while (0)

#define vec_push(v, ...) \
	do { \
		vec_reserve((v), (v)->n + 1); \
		(v)->at[(v)->n] = (__VA_ARGS__); \
		(v)->n++; \
	} while (0)

/* Grows to `want` elements, zeroing the new ones; never shrinks. */
#define vec_grow_zero(v, want) \
	do { \
		size_t vec_n_ = (want); \
		if (vec_n_ > (v)->n) { \
			vec_reserve((v), vec_n_); \
			memset((v)->at + (v)->n, 0, (vec_n_ - (v)->n) * sizeof(*(v)->at)); \
			(v)->n = vec_n_; \
		} \
	} while (0)

#define vec_fini(v) \
	do { \
		free((v)->at); \
		(v)->at = NULL; \
		(v)->n = (v)->cap = 0; \
	} while (0)

#endif
