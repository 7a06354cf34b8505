/*
 * Estimates of run times, and what came of them.
 *
 * What an estimate will come to is drawn from how those came out that were about
 * as long.  Each counts by how common the run time is that it stands for, against
 * the one it really was: few jobs run for weeks, so that what came of estimates of
 * days says too much of an estimate of weeks, which is more often too long.
 */
#ifndef SIM_GUESSES_H
#define SIM_GUESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/vec.h"

enum {
	GUESS_LENGTHS = 80, /* of run times, from a second on, in steps of a quarter of a logarithm */
	GUESSES_MOST = 512, /* ratios of one answer */
};

struct guess {
	double estimate_s;
	double ratio; /* what it was, over that */
};

/* A zeroed one is valid and empty. */
struct guesses {
	VEC(struct guess) at;         /* by estimate once settled */
	double common[GUESS_LENGTHS]; /* how many ran about as long, once settled */
};

void guesses_fini(struct guesses *guesses);

void guesses_add(struct guesses *guesses, double estimate_s, double run_s);
/* After the last was added, before anything is asked. */
void guesses_settle(struct guesses *guesses);

/*
 * What such an estimate may come to, as ratios above `floor`, each as likely as others.  `widely`: if
 * there are too few, also of estimates of other lengths.  Returns how many, at most GUESSES_MOST.
 */
uint32_t guesses_ratios(const struct guesses *guesses, double estimate_s, double floor, bool widely,
	struct rng *rng, double *out);

#endif
