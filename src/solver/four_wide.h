/*
 * What follows is for machines with registers of four doubles; on others, nothing
 * is to follow (FOUR_WIDE is not defined).  Ends with solver/four_wide_end.h.
 */
#ifdef __x86_64__
#define FOUR_WIDE
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#endif
