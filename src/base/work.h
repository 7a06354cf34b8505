/*
 * Independent pieces of work on several threads.  Results go to places named
 * by the piece, so that the outcome does not depend on the number of threads.
 */
#ifndef BASE_WORK_H
#define BASE_WORK_H

#include <stddef.h>

int work_cores(void);
/* Calls run(ctx, 0..n-1), each once, on up to `threads` threads (0: all cores); returns when all are done. */
void work_each(size_t n, int threads, void (*run)(void *ctx, size_t piece), void *ctx);

#endif
