/*
 * Stride scheduling of gangs.
 */
#include "model/stride.h"

#include <math.h>
#include <stdlib.h>

/* Passes are sums: below this they are equal. */
#define PASS_UNIT 1e-6

double stride_of(const struct stride *s)
{
	return s->gpus / s->tickets;
}

bool stride_before(const struct stride *a, const struct stride *b)
{
	double x = rint(a->pass / PASS_UNIT), y = rint(b->pass / PASS_UNIT);

	return x < y || (x == y && a->id < b->id);
}

static int by_pass(const void *a, const void *b)
{
	return stride_before(a, b) ? -1 : stride_before(b, a);
}

uint32_t stride_choose(struct stride *all, uint32_t n, uint32_t free)
{
	qsort(all, n, sizeof(*all), by_pass);
	for (uint32_t i = 0; i < n; i++) {
		all[i].runs = all[i].gpus <= free;
		if (all[i].runs)
			free -= all[i].gpus;
	}
	return free;
}

double stride_least(const struct stride *all, uint32_t n, double none)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < n; i++)
		least = fmin(least, all[i].pass);
	return n ? least : none;
}

/* Whoever asks for less than its part gets that, and the rest is divided again: at most n times. */
void stride_shares(const double *tickets, const double *demand, uint32_t n, double total, double *share)
{
	for (uint32_t i = 0; i < n; i++)
		share[i] = 0;
	for (bool again = true; again;) {
		double left = total, sum = 0, part;

		for (uint32_t i = 0; i < n; i++) {
			if (share[i] >= demand[i])
				left -= demand[i];
			else
				sum += tickets[i];
		}
		again = false;
		part = sum > 0 ? left / sum : 0;
		for (uint32_t i = 0; i < n; i++) {
			if (share[i] >= demand[i])
				continue;
			again |= demand[i] <= part * tickets[i];
			share[i] = fmin(demand[i], part * tickets[i]);
		}
		if (!again)
			break;
		for (uint32_t i = 0; i < n; i++) {
			if (share[i] < demand[i])
				share[i] = 0;
		}
	}
}
